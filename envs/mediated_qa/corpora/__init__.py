"""Corpora of one's own, read from files into `parlour.envs.mediated_qa.corpus.Corpus`; docs/corpora.md has the fields.

`load` reads questions and documents in each of `FORMS`, from JSON Lines, JSON, or what the library `datasets` saves. What says
which sentences are the right ones (supporting facts, decompositions, positions of the answer) is left alone, so that
nothing of it can get into a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError, check_from, check_one_of
from parlour.envs.mediated_qa.corpora.documents import read_documents
from parlour.envs.mediated_qa.corpora.fields import LINES, FileEntry, entries, is_table, whole
from parlour.envs.mediated_qa.corpora.multihop import WIKI_KINDS, hotpot_question, musique_question, wiki_question
from parlour.envs.mediated_qa.corpora.own import Asked, own_question, with_decoys
from parlour.envs.mediated_qa.corpora.single_hop import natural_question, squad_questions
from parlour.envs.mediated_qa.corpus import Corpus, CorpusQuestion, Passage

AUTO: Final = "auto"
SQUAD: Final = "squad2"
QUESTIONS: Final = tuple(f"questions{ending}" for ending in (*LINES, ".json", ".parquet"))
"""Names of the file of questions in a folder that holds a corpus; its documents are in the folder `DOCUMENTS`."""
DOCUMENTS: Final = "documents"

_READERS: Final[Mapping[str, Callable[[FileEntry], Asked | None]]] = {
    "own": own_question,
    "hotpotqa": hotpot_question,
    "2wikimultihopqa": wiki_question,
    "musique": musique_question,
    "natural_questions": natural_question,
}
_WHOLE: Final = ("hotpotqa", "2wikimultihopqa")
"""Forms with whole articles, each title once."""
FORMS: Final = (AUTO, *_READERS, SQUAD)
"""Forms of a corpus; `auto` looks at the first question."""


def load(path: str | Path, documents: str | Path | None = None, form: str = AUTO, limit: int | None = None) -> Corpus:
    """Questions with their documents; documents with equal title and text are there once, of HotpotQA and 2WikiMultihopQA those with equal title.

    Args:
        path: A file of questions; or a folder that holds one (`QUESTIONS`) and its documents in the folder `DOCUMENTS`.
        documents: A folder or a file of documents, besides those that come with the questions.
        form: One of `FORMS`.
        limit: Number of entries to read, from the beginning; None for all.

    Raises:
        ParlourError: Something is not as described; the message names file, line and field.
    """
    check_one_of("form", form, FORMS)
    if limit is not None:
        check_from("limit", limit, 1)
    file, folder = _parts(Path(path), documents)
    known = form_of(path) if form == AUTO else form
    found: list[CorpusQuestion] = []
    kept: dict[Passage | str, Passage] = {one: one for one in (() if folder is None else read_documents(folder))}
    for question, context in _read(file, known, limit):
        found.append(question)
        for one in context:
            kept.setdefault(one.title if known in _WHOLE else one, one)
    if not found:
        raise ParlourError(f"{str(file)!r} has no questions; accepted: at least one")
    if not any(one.sentences for one in kept.values()):
        raise ParlourError(
            f"{str(file)!r} has no documents with sentences; accepted: documents, or a context for each question"
        )
    return Corpus(tuple(kept.values()), with_decoys(found))


def form_of(path: str | Path) -> str:
    """The form of a corpus, by its first question: a name of `FORMS`, but `auto`.

    Raises:
        ParlourError: It is in none of the forms that are known.
    """
    file, _ = _parts(Path(path), None)
    value = whole(file) if file.suffix.lower() == ".json" and not is_table(file) else []
    if isinstance(value, dict) and "data" in value:
        return SQUAD
    first = next(entries(file, 1), None)
    form = "" if first is None else _form_of_fields(first.fields)
    if not form:
        raise ParlourError(f"{str(file)!r} is in no form that is known; accepted: {', '.join(FORMS[1:])}")
    return form


def _form_of_fields(fields: Mapping[str, Any]) -> str:
    """The form of an entry; empty if it is none."""
    if "annotations" in fields and "question_text" in fields:
        return "natural_questions"
    if "question" not in fields:
        return ""
    if "paragraphs" in fields:
        return "musique"
    if isinstance(fields.get("answers"), dict) and "title" in fields:
        return SQUAD
    if "supporting_facts" in fields or ("_id" in fields and "type" in fields):
        told = fields.get("type")
        wiki = "evidences" in fields or (isinstance(told, str) and told in WIKI_KINDS and told != "comparison")
        return "2wikimultihopqa" if wiki else "hotpotqa"
    return "own"


def _read(file: Path, form: str, limit: int | None) -> Iterator[Asked]:
    if form == SQUAD:
        yield from squad_questions(file, limit)
        return
    yield from filter(None, map(_READERS[form], entries(file, limit)))


def _parts(path: Path, documents: str | Path | None) -> tuple[Path, Path | None]:
    """The file of questions, and where documents are."""
    folder = None if documents is None else Path(documents)
    if not path.exists():
        raise ParlourError(f"{str(path)!r} is not there; accepted: a file of questions, or a folder that holds one")
    if not path.is_dir() or is_table(path):
        return path, folder
    file = next((path / name for name in QUESTIONS if (path / name).is_file()), None)
    if file is None:
        raise ParlourError(f"{str(path)!r} has no file of questions; accepted: {', '.join(QUESTIONS)}")
    inner = path / DOCUMENTS
    return file, folder or (inner if inner.exists() else None)
