"""Corpora of one's own, read from files into `parlour.envs.mediated_qa.corpus.Corpus`; docs/corpora.md has the fields.

`load` reads questions and documents in each of `FORMS`. What says which sentences are the right ones (supporting facts,
decompositions, positions of the answer) is left alone, so that nothing of it can get into a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError, check_from, check_one_of
from parlour.envs.mediated_qa.corpora.documents import read_documents
from parlour.envs.mediated_qa.corpora.fields import LINES, FileEntry, entries
from parlour.envs.mediated_qa.corpora.own import own_question
from parlour.envs.mediated_qa.corpus import Corpus, CorpusQuestion, Passage

AUTO: Final = "auto"
QUESTIONS: Final = tuple(f"questions{ending}" for ending in (*LINES, ".json"))
"""Names of the file of questions in a folder that holds a corpus; its documents are in the folder `DOCUMENTS`."""
DOCUMENTS: Final = "documents"

_READERS: Final[Mapping[str, Callable[[FileEntry], tuple[CorpusQuestion, list[Passage]]]]] = {"own": own_question}
FORMS: Final = (AUTO, *_READERS)
"""Forms of a corpus; `auto` looks at the file."""


def load(path: str | Path, documents: str | Path | None = None, form: str = AUTO, limit: int | None = None) -> Corpus:
    """Questions with their documents; documents with equal title and text are there once.

    Args:
        path: A file of questions; or a folder that holds one (`QUESTIONS`) and its documents in the folder `DOCUMENTS`.
        documents: A folder or a file of documents, besides those that come with the questions.
        form: One of `FORMS`.
        limit: Number of questions to read, from the beginning; None for all.

    Raises:
        ParlourError: Something is not as described; the message names file, line and field.
    """
    check_one_of("form", form, FORMS)
    if limit is not None:
        check_from("limit", limit, 1)
    file, folder = _parts(Path(path), documents)
    found: list[CorpusQuestion] = []
    passages: dict[Passage, None] = {} if folder is None else dict.fromkeys(read_documents(folder))
    for question, context in _read(file, form_of(path) if form == AUTO else form, limit):
        found.append(question)
        passages |= dict.fromkeys(context)
    if not found:
        raise ParlourError(f"{str(file)!r} has no questions; accepted: at least one")
    if not any(passage.sentences for passage in passages):
        raise ParlourError(f"{str(file)!r} has no documents with sentences; accepted: documents, or a context for each")
    return Corpus(tuple(passages), tuple(found))


def form_of(path: str | Path) -> str:
    """The form of a corpus, by its first question.

    Raises:
        ParlourError: It is in none of the forms that are known.
    """
    file, _ = _parts(Path(path), None)
    first = next(entries(file, 1), None)
    if first is None or "question" not in first.fields:
        raise ParlourError(f"{str(file)!r} is in no form that is known; accepted: {', '.join(FORMS[1:])}")
    return "own"


def _read(file: Path, form: str, limit: int | None) -> Iterable[tuple[CorpusQuestion, list[Passage]]]:
    return map(_READERS[form], entries(file, limit))


def _parts(path: Path, documents: str | Path | None) -> tuple[Path, Path | None]:
    """The file of questions, and where documents are."""
    folder = None if documents is None else Path(documents)
    if not path.exists():
        raise ParlourError(f"{str(path)!r} is not there; accepted: a file of questions, or a folder that holds one")
    if not path.is_dir():
        return path, folder
    file = next((path / name for name in QUESTIONS if (path / name).is_file()), None)
    if file is None:
        raise ParlourError(f"{str(path)!r} has no file of questions; accepted: {', '.join(QUESTIONS)}")
    inner = path / DOCUMENTS
    return file, folder or (inner if inner.exists() else None)
