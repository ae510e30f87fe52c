"""The content of a corpus: counts of questions, documents and the graph; and the graph around one question as a picture."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any, Final

import networkx as nx
from parlour.envs.core import ParlourError, listed
from parlour.envs.mediated_qa.corpus import Corpus, CorpusQuestion
from parlour.envs.mediated_qa.graph import CONCEPT, DOCUMENT, ENTITY, NODE_KINDS, QUESTION, SENTENCE, KnowledgeGraph
from parlour.envs.mediated_qa.retrieve import Search
from parlour.training.learn.mediators.enough import FEWEST, linked_note, questions_needed
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.report import plots
from parlour.training.report.result_table import ResultTable
from parlour.training.report.verdicts import together

SHOWN = 3
"""Number of ids and titles shown as examples."""


@dataclass(frozen=True)
class CorpusReport:
    """Counts, and examples of what may be amiss."""

    form: str
    questions: int
    unanswerable: int
    several_answers: int
    kinds: dict[str, int]
    """Questions of each kind."""
    double_ids: tuple[str, ...]
    """Ids of more than one question."""
    double_questions: int
    """Questions whose text an earlier one has."""
    documents: int
    titles: int
    """Different ones."""
    without_sentences: tuple[str, ...]
    """Titles of documents without a sentence."""
    sentences: int
    nodes: dict[str, int]
    """Nodes of the graph, by kind."""
    edges: int
    linked: int
    """Questions that are linked to a document; the others are in the state without signals."""
    links: int
    """Documents that they are linked to, in all."""
    unlinked: tuple[str, ...]
    """Questions that are not, the first ones."""


def count_corpus(corpus: Corpus, form: str, graph: KnowledgeGraph) -> CorpusReport:
    """The counts of a corpus whose graph is built."""
    questions = corpus.questions
    ids = Counter(question.id for question in questions if question.id)
    starts = [len(graph.link(question.text)) for question in questions]
    kinds = Counter(graph.kind)
    return CorpusReport(
        form,
        len(questions),
        sum(question.answer == "" for question in questions),
        sum(bool(question.others) for question in questions),
        dict(sorted(Counter(question.kind for question in questions).items())),
        tuple(name for name, count in ids.items() if count > 1),
        len(questions) - len({question.text for question in questions}),
        len(corpus.passages),
        len({passage.title for passage in corpus.passages}),
        tuple(passage.title for passage in corpus.passages if not passage.sentences),
        sum(len(passage.sentences) for passage in corpus.passages),
        {kind: kinds[kind] for kind in NODE_KINDS if kinds[kind]},
        graph.graph.number_of_edges(),
        sum(map(bool, starts)),
        sum(starts),
        tuple(question.text for question, count in zip(questions, starts, strict=True) if not count)[:SHOWN],
    )


def corpus_table(report: CorpusReport, title: str) -> ResultTable:
    """Each part of the corpus, its number, and examples or a remark."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in report.kinds.items())
    nodes = ", ".join(f"{kind} {count}" for kind, count in report.nodes.items())
    mean = f"{report.links / report.linked:.2f} documents each" if report.linked else ""
    several = f"{report.several_answers} with several answers" * bool(report.several_answers)
    rows = (
        ("questions", report.questions, kinds),
        ("answerable", report.questions - report.unanswerable, several),
        ("unanswerable", report.unanswerable, ""),
        ("double ids", len(report.double_ids), _some(report.double_ids)),
        ("double questions", report.double_questions, ""),
        ("documents", report.documents, f"different titles {report.titles}"),
        ("without sentences", len(report.without_sentences), _some(report.without_sentences)),
        ("sentences", report.sentences, ""),
        ("nodes of the graph", sum(report.nodes.values()), nodes),
        ("edges", report.edges, ""),
        ("questions linked", f"{report.linked} ({report.linked / report.questions:.1%})", mean),
        ("not linked", report.questions - report.linked, _some(report.unlinked)),
    )
    return ResultTable.plain(title, ("what", "number", "among them"), rows, wrap=True)


def advice(report: CorpusReport) -> str:
    """What to know before a mediator is trained on a corpus; empty if nothing is amiss."""
    usual = HeldOutConfig()
    note, share = linked_note(report.linked, report.questions, usual.least_linked), usual.held_out_share
    needed = questions_needed(share)
    few = f"`train grace` tests a policy from {FEWEST} held-out questions on, which is {needed} questions; there are "
    return together([f"{note}." if note else "", f"{few}{report.questions}." if report.questions < needed else ""])


def _some(items: tuple[str, ...]) -> str:
    return listed(items[:SHOWN]) + (", ..." if len(items) > SHOWN else "")


def asked_for(questions: tuple[CorpusQuestion, ...], graph: KnowledgeGraph, wanted: str | None) -> CorpusQuestion:
    """The question with an id, or with a number from 0; without either the first that is linked.

    Raises:
        ParlourError: There is none.
    """
    if wanted is None:
        return next((question for question in questions if graph.link(question.text)), questions[0])
    for question in questions:
        if question.id == wanted:
            return question
    if wanted.isdecimal() and len(wanted) < 10 and int(wanted) < len(questions):
        return questions[int(wanted)]
    raise ParlourError(
        f"question {wanted!r} is not accepted; accepted: an id, or a number from 0 to {len(questions) - 1}"
    )


COLOURS: Final = {DOCUMENT: "#1f5fa8", SENTENCE: "#9ec5ea", ENTITY: "#e8a33d", CONCEPT: "#bfbfbf", QUESTION: "#7a3fa0"}
AROUND: Final = 6
"""Neighbours of each node on the way that are shown as well, heaviest edges first."""
_STARTS: Final = 6
_WIDTH: Final = 24
_LONGEST: Final = 70
_PATH: Final = "#c0392b"


def draw_question(graph: KnowledgeGraph, question: CorpusQuestion, path: str | Path, depth: str = "deep") -> None:
    """Write the picture of a question as a PNG; only its text if it is not linked. `depth` is `"shallow"` or `"deep"`.

    Raises:
        ParlourError: matplotlib is not installed, or the file cannot be written.
    """
    starts = graph.link(question.text)[:_STARTS]
    ways = [Search().path(graph, start, question.text, depth).nodes for start in starts[:2]]
    important = {*starts, *(node for way in ways for node in way)}
    near = important | {other for node in sorted(important) for other, _, _ in graph.neighbours(node)[:AROUND]}
    answer = question.answer or "none: the question is unanswerable"
    with warnings.catch_warnings():
        # signs that the font lacks are drawn as boxes
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        with plots.picture(
            path,
            13,
            9,
            title=f"{question.text}\nanswer: {_short(answer, 90)}",
            who=f"Part of the knowledge graph around one question; red: the path of the {depth} search; larger dots: more reliable",
            n=f"n = {len(near)} of {len(graph.text):,} nodes",
        ) as made:
            axes = made.subplots()
            axes.set_axis_off()
            if starts:
                _draw_nodes(axes, graph, near, important, ways)
                kinds = {graph.kind[node] for node in near}
                for kind in (kind for kind in COLOURS if kind in kinds):
                    axes.scatter([], [], c=COLOURS[kind], s=80, label=kind)
                axes.plot([], [], color=_PATH, lw=2.5, label=f"{depth} path")
                plots.key(made)
            else:
                axes.text(0.5, 0.5, "not linked to any document", ha="center", va="center")


def _draw_nodes(
    axes: Any, graph: KnowledgeGraph, near: set[int], on_way: set[int], ways: list[tuple[int, ...]]
) -> None:
    part = graph.graph.subgraph(sorted(near))
    at = nx.kamada_kawai_layout(part, weight=None) if nx.is_connected(part) else nx.spring_layout(part, seed=0, k=0.6)
    steps = {frozenset(pair) for way in ways for pair in pairwise(way)}
    for start, two in part.edges:
        chosen = frozenset((start, two)) in steps
        line = {"color": _PATH, "lw": 2.5, "zorder": 2} if chosen else {"color": "0.8", "lw": 0.8, "zorder": 1}
        axes.plot([at[start][0], at[two][0]], [at[start][1], at[two][1]], **line)
    for node in part.nodes:
        important = node in on_way
        edge = _PATH if important else "white"
        size = 60 + 400 * graph.reliability[node]
        axes.scatter(*at[node], s=size, c=COLOURS[graph.kind[node]], edgecolors=edge, linewidths=1.5, zorder=3)
        text = _short(graph.text[node], _LONGEST if important else _WIDTH)
        axes.annotate(
            fill(text, _WIDTH),
            at[node],
            xytext=(0, -9),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7.5 if important else 6,
            color="black" if important else "0.35",
            zorder=4,
            bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.7},
        )
    axes.margins(0.12)


def _short(text: str, longest: int) -> str:
    """A text of so many characters at most."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
