"""`parlour corpus`: what is in a corpus of your own, before anything is learned from it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import corpora
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.training.cli.options import Answer
from parlour.training.learn.mediators import corpus_check
from parlour.training.results import display
from parlour.training.results.result_table import plain_table


def check_corpus(
    path: Annotated[
        Path, typer.Argument(), "Questions: a file, or a folder with `questions.jsonl` and the folder `documents`."
    ],
    documents: Annotated[Path | None, "Folder or file of documents; None: those that come with the questions."] = None,
    form: Annotated[str, f"Form of the questions: {', '.join(corpora.FORMS)}."] = corpora.AUTO,
    limit: Annotated[int | None, typer.Option(min=1), "Number of entries to read; None: all."] = None,
    question: Annotated[
        str | None, "Question to draw: its id, or its number from 0; None: the first that is linked."
    ] = None,
    picture: Annotated[Path | None, "Picture of the graph around that question to write (PNG); None: none."] = None,
) -> Answer:
    """Count what is in a corpus, link its questions to the graph of its documents, and draw the graph around a
    question.

    Example: [bold]parlour corpus check questions.jsonl --documents notes --picture graph.png[/bold]
    """
    if question is not None and picture is None:
        raise ParlourError("--question says what is drawn; accepted: with --picture FILE")
    with display.progress_line("Reading the corpus"):
        form = corpora.form_of(path) if form == corpora.AUTO else form
        corpus = corpora.load(path, documents, form, limit)
        graph = KnowledgeGraph(corpus.passages)
        counts = corpus_check.report(corpus, form, graph)
        if picture is not None:
            drawn = corpus_check.asked_for(corpus.questions, graph, question)
            corpus_check.draw(graph, drawn, picture)
    rows = corpus_check.report_rows(counts)
    table = plain_table(f"{path} ({counts.form})", ("what", "number", "among them"), rows, wrap=True)
    return Answer(asdict(counts), [table, *([] if picture is None else [f"picture: {picture}"])])
