"""What may be known about a question before anything is paid for, in numbers: its signals, its words, its links, its path.

| group | features |
|---|---|
| signals | whether it is linked, and the five raw signals of `signals.py` |
| question | form; words, content words, words of the relation, names, genitives, years; how rare its words are in the graph |
| links | documents meant, names that mean none or not exactly one, degrees, reliabilities, titles that hold a name and more |
| path | score, nodes by kind, titles, words met, weights, candidates of the wanted kind on its sentences |

The path is the shallow path of the signals. The answer, what a reader says, how sure it is, what a memory
holds, how famous a subject is and the question's number are no part of it. Lists of features are ours; the published
mediator sees the state alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Final, Protocol

from parlour.envs.language import english
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.graph import CONCEPT, DOCUMENT, ENTITY, SENTENCE, KnowledgeGraph
from parlour.envs.mediated_qa.retrieve import Path, Search, pieces_of
from parlour.envs.mediated_qa.signals import Signals
from parlour.envs.mediated_qa.vocabulary import FORMS, PATH_FEATURES, SIGNAL_FEATURES

_PATTERNS: Final = {
    "both": r"^(?:are|were|is|was|did|do|does|has|have)\b.*\bboth\b",
    "yes_no": r"^(?:are|were|is|was|did|do|does|has|have|can|could)\b",
    "choice": r"\bor\b",
    "when": r"\bwhen\b|\byear\b|\bdate\b",
    "how_many": r"\bhow (?:many|much|long|far|old|big|large|tall)\b",
    "who": r"\bwho\b|\bwhom\b|\bwhose\b",
    "where": r"\bwhere\b|\bcity\b|\btown\b|\bplace\b|\bcountry\b|\briver\b",
    "which": r"\bwhich\b|\bwhat\b",
    "other": r"",
}
_RELATIVE: Final = re.compile(r"\b(?:that|who|whom|whose|which|where|when|what)\b", re.IGNORECASE)
_FORMS: Final = {form: re.compile(pattern, re.IGNORECASE | re.DOTALL) for form, pattern in _PATTERNS.items()}


class Measured(Protocol):
    """What a context is taken from, as `parlour.envs.mediated_qa.pipeline.Pipeline` has it."""

    graph: KnowledgeGraph
    search: Search

    def text(self, number: int) -> str: ...
    def starts(self, number: int) -> list[int]: ...
    def signals(self, number: int) -> Signals | None: ...


def context_of(pipeline: Measured, number: int) -> tuple[float, ...]:
    """The features of a question, in the order of `vocabulary.FEATURES`; those that cannot be measured are 0."""
    return measure(
        pipeline.graph, pipeline.search, pipeline.text(number), pipeline.starts(number), pipeline.signals(number)
    )


def measure(
    graph: KnowledgeGraph, search: Search, question: str, starts: Sequence[int], signals: Signals | None
) -> tuple[float, ...]:
    """The features of a question that is linked to these documents and has these signals."""
    path = search.path(graph, starts[0], question, "shallow") if starts else None
    measured = (0.0,) * len(SIGNAL_FEATURES) if signals is None else (float(bool(starts)), *signals)
    form = form_of(question)
    forms = tuple(float(form == other) for other in FORMS)
    return (
        *measured,
        *forms,
        *_of_question(graph, question),
        *_of_links(graph, question, starts),
        *_of_path(graph, question, path),
    )


def form_of(question: str) -> str:
    """The form of a question.

    >>> form_of("Who was born first, Edda Marlow or Jon Reed?"), form_of("When did it open?")
    ('choice', 'when')
    """
    return next(form for form in FORMS if _FORMS[form].search(question))


def _of_question(graph: KnowledgeGraph, question: str) -> tuple[float, ...]:
    stems = english.stems(question)
    counts = [len(graph.postings[word]) for word in stems if word in graph.postings]
    rarity = sum(log(len(graph) / count) for count in counts) / max(1, len(counts))
    return (
        float(len(question.split())),
        float(len(stems)),
        float(len(reading.relation(question))),
        float(len(english.proper_names(question))),
        float(len(re.findall(r"\bof\b|['’]s\b", question))),
        float(max(0, len(_RELATIVE.findall(question)) - 1)),  # the first one asks
        float(len(english.years(question))),
        rarity,
        1 - len(counts) / max(1, len(stems)),
    )


def _of_links(graph: KnowledgeGraph, question: str, starts: Sequence[int]) -> tuple[float, ...]:
    names = [english.normal(name) for name in english.proper_names(question)]
    titles = {english.normal(graph.text[start]) for start in starts}
    degrees = [log(1 + graph.degree(start)) for start in starts[:2]]
    reliable = [graph.reliability[start] for start in starts[:2]]
    about = [[node for node in graph.graph.adj[start] if graph.kind[node] == ENTITY] for start in starts[:2]]
    mentions = [log(1 + sum(map(graph.degree, named))) for named in about]  # how often what it is about is named
    rivals = sum(max(0, _holding(graph, title) - 1) for title in titles)
    return (
        float(len(starts)),
        float(max(0, len(names) - len(starts))),
        float(sum(title not in names for title in titles)),
        log(1 + rivals),
        *_two(degrees),
        *_two(reliable),
        *_two(mentions),
    )


def _holding(graph: KnowledgeGraph, title: str) -> int:
    """How many documents have all words of a title in theirs."""
    stems = english.stems(title)
    postings = [graph.postings[word] for word in stems if word in graph.postings]
    shared = set.intersection(*postings) if postings else set()
    return sum(graph.kind[node] == DOCUMENT for node in shared)


def _two(values: Sequence[float]) -> tuple[float, float]:
    first, second, *_ = (*values, 0.0, 0.0)
    return first, second


def _of_path(graph: KnowledgeGraph, question: str, path: Path | None) -> tuple[float, ...]:
    if path is None:
        return (0.0,) * len(PATH_FEATURES)
    pieces = pieces_of(graph, path)
    kinds = Counter(graph.kind[node] for node in path.nodes)
    weights = [graph.graph.edges[edge]["weight"] for edge in zip(path.nodes, path.nodes[1:], strict=False)]
    subjects = [english.normal(name) for name in english.proper_names(question)]
    titles = {english.normal(piece.title) for piece in pieces}
    offered = [reading.candidates(piece, question) for piece in pieces]
    cued = [reading.candidates(piece, question, strict=True) for piece in pieces]
    wanted = set(reading.relation(question))
    degrees = [log(1 + graph.degree(node)) for node in path.nodes if graph.kind[node] in (DOCUMENT, ENTITY)]
    reliable = [graph.reliability[node] for node in path.nodes]
    matches = [wanted.intersection(english.stems(piece.sentence)) for piece in pieces]
    return (
        path.score,
        float(len(path.nodes)),
        *(float(kinds[kind]) for kind in (SENTENCE, DOCUMENT, ENTITY, CONCEPT)),
        float(len(titles)),
        _met(graph, question, path.nodes),
        path.weight / max(1, len(weights)),
        min(weights, default=0.0),
        _met(graph, question, [node for node in path.nodes if graph.kind[node] == SENTENCE]),
        float(sum(name in titles for name in subjects)),
        sum(map(bool, offered)) / max(1, len(pieces)),
        float(len({name for names in offered for name in names})),
        float(len({name for names in cued for name in names})),
        float(sum(bool(english.years(piece.sentence)) for piece in pieces)),
        float(sum(map(bool, matches))),
        float(len(wanted.difference(*matches))),
        float(bool(matches and matches[-1])),
        float(len(offered[-1]) if offered else 0),
        float(len(cued[-1]) if cued else 0),
        float(len(reading.joined(pieces, english.proper_names(question)))),
        sum(degrees) / max(1, len(degrees)),
        degrees[-1] if degrees else 0.0,
        sum(reliable) / len(reliable),
        min(reliable),
    )


def _met(graph: KnowledgeGraph, question: str, nodes: Sequence[int]) -> float:
    """Share of the question's words that these nodes hold, of those that the graph holds."""
    postings = [graph.postings[word] for word in english.stems(question) if word in graph.postings]
    return sum(not posting.isdisjoint(nodes) for posting in postings) / len(postings) if postings else 0.0
