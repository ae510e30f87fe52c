"""Corpora of your own, read from files into `parlour.envs.mediated_qa.corpus.Corpus`; docs/howto/corpora.md has the fields.

`load` reads questions and documents in each of `FORMS`, from JSON Lines, JSON, or what the library `datasets` saves. What says
which sentences are the right ones (supporting facts) is left alone, so that
nothing of it can get into a graph.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError, check_from, check_one_of
from parlour.envs.mediated_qa.corpora.documents import read_documents
from parlour.envs.mediated_qa.corpora.fields import LINES, entries, is_table
from parlour.envs.mediated_qa.corpora.forms import READERS, form_of_fields, questions_in, with_decoys
from parlour.envs.mediated_qa.corpus import Corpus, CorpusQuestion, Passage

AUTO: Final = "auto"
QUESTIONS: Final = tuple(f"questions{ending}" for ending in (*LINES, ".json", ".parquet"))
"""Names of the file of questions in a folder that holds a corpus; its documents are in the folder `DOCUMENTS`."""
DOCUMENTS: Final = "documents"
_WHOLE: Final = ("hotpotqa", "2wikimultihopqa")
"""Forms with whole articles, each title once."""
FORMS: Final = (AUTO, *READERS)
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
    form = form_of(path) if form == AUTO else form
    questions: list[CorpusQuestion] = []
    articles: dict[Passage | str, Passage] = (
        {} if folder is None else {document: document for document in read_documents(folder)}
    )
    for question, context in questions_in(file, form, limit):
        questions.append(question)
        for article in context:
            articles.setdefault(article.title if form in _WHOLE else article, article)
    if not questions:
        raise ParlourError(f"{str(file)!r} has no questions; accepted: at least one")
    if not any(article.sentences for article in articles.values()):
        raise ParlourError(
            f"{str(file)!r} has no documents with sentences; accepted: documents, or a context for each question"
        )
    return Corpus(tuple(articles.values()), with_decoys(questions))


def form_of(path: str | Path) -> str:
    """The form of a corpus, by its first question: a name of `FORMS`, but `auto`.

    Raises:
        ParlourError: It is in none of the forms that are known.
    """
    file, _ = _parts(Path(path), None)
    first = next(entries(file, 1), None)
    form = "" if first is None else form_of_fields(first.fields)
    if not form:
        raise ParlourError(f"{str(file)!r} is in no form that is known; accepted: {', '.join(FORMS[1:])}")
    return form


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
