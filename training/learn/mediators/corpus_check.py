"""What there is in a corpus: questions, answers, documents, the graph, and how the questions hang together with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from parlour.envs.core import ParlourError, listed
from parlour.envs.mediated_qa.corpus import Corpus, CorpusQuestion
from parlour.envs.mediated_qa.graph import NODE_KINDS, KnowledgeGraph

SHOWN = 3
"""Of ids and titles as many are shown as examples."""


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
    """Of the graph, by kind."""
    edges: int
    linked: int
    """Questions that are linked to a document; the others are in the state without signals."""
    links: int
    """Documents that they are linked to, in all."""
    unlinked: tuple[str, ...]
    """Questions that are not, the first ones."""


def report(corpus: Corpus, form: str, graph: KnowledgeGraph) -> CorpusReport:
    """The counts of a corpus whose graph is built."""
    questions = corpus.questions
    ids = Counter(one.id for one in questions if one.id)
    starts = [len(graph.link(one.text)) for one in questions]
    kinds = Counter(graph.kind)
    return CorpusReport(
        form,
        len(questions),
        sum(one.answer == "" for one in questions),
        sum(bool(one.others) for one in questions),
        dict(sorted(Counter(one.kind for one in questions).items())),
        tuple(name for name, count in ids.items() if count > 1),
        len(questions) - len({one.text for one in questions}),
        len(corpus.passages),
        len({one.title for one in corpus.passages}),
        tuple(one.title for one in corpus.passages if not one.sentences),
        sum(len(one.sentences) for one in corpus.passages),
        {kind: kinds[kind] for kind in NODE_KINDS if kinds[kind]},
        graph.graph.number_of_edges(),
        sum(map(bool, starts)),
        sum(starts),
        tuple(one.text for one, count in zip(questions, starts, strict=True) if not count)[:SHOWN],
    )


def report_rows(found: CorpusReport) -> list[tuple[str, str, str]]:
    """The report as rows: what, how many, and examples or a remark."""
    answerable = found.questions - found.unanswerable
    kinds = ", ".join(f"{kind} {count}" for kind, count in found.kinds.items())
    nodes = ", ".join(f"{kind} {count}" for kind, count in found.nodes.items())
    mean = f"{found.links / found.linked:.2f} documents each" if found.linked else ""
    return [
        ("questions", str(found.questions), kinds),
        ("answerable", str(answerable), f"{found.several_answers} with several answers" * bool(found.several_answers)),
        ("unanswerable", str(found.unanswerable), ""),
        ("double ids", str(len(found.double_ids)), _some(found.double_ids)),
        ("double questions", str(found.double_questions), ""),
        ("documents", str(found.documents), f"different titles {found.titles}"),
        ("without sentences", str(len(found.without_sentences)), _some(found.without_sentences)),
        ("sentences", str(found.sentences), ""),
        ("nodes of the graph", str(sum(found.nodes.values())), nodes),
        ("edges", str(found.edges), ""),
        ("questions linked", f"{found.linked} ({found.linked / found.questions:.1%})", mean),
        ("not linked", str(found.questions - found.linked), _some(found.unlinked)),
    ]


def _some(found: tuple[str, ...]) -> str:
    return listed(found[:SHOWN]) + (", ..." if len(found) > SHOWN else "")


def asked_for(questions: tuple[CorpusQuestion, ...], graph: KnowledgeGraph, wanted: str | None) -> CorpusQuestion:
    """The question with an id, or with a number from 0; without either the first that is linked.

    Raises:
        ParlourError: There is none.
    """
    if wanted is None:
        return next((one for one in questions if graph.link(one.text)), questions[0])
    by_id = next((one for one in questions if one.id == wanted), None)
    if by_id is not None:
        return by_id
    if wanted.isdecimal() and len(wanted) < 10 and int(wanted) < len(questions):
        return questions[int(wanted)]
    raise ParlourError(
        f"question {wanted!r} is not accepted; accepted: an id, or a number from 0 to {len(questions) - 1}"
    )
