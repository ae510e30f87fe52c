"""How the knowledge graph grows: time to build index and PageRank, and time of one shallow retrieval.

python scripts/bench/knowledge_graph.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from parlour.envs import english
from parlour.envs.mediated_qa import corpus as corpora
from parlour.envs.mediated_qa.corpus import Corpus, Passage
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.envs.mediated_qa.retrieve import Search

SIZES = (1_000, 10_000, 100_000)
"""Sentences."""


@dataclass(frozen=True)
class Measured:
    """One size."""

    sentences: int
    nodes: int
    edges: int
    build: float
    """Seconds for graph, index and PageRank together."""
    link: float
    """Milliseconds to link a question, median."""
    shallow: float
    """Milliseconds of a shallow retrieval, median over questions that were not asked before."""
    shallow_95: float
    """The same, 95th percentile."""


def bench(sizes: tuple[int, ...] = SIZES, questions: int = 200) -> Iterator[Measured]:
    """Measure one size after the other."""
    for size in sizes:
        corpus = _corpus(size, questions)
        began = time.perf_counter()
        graph = KnowledgeGraph(corpus.passages)
        build = time.perf_counter() - began
        link, shallow = _times(graph, [question.text for question in corpus.questions])
        yield Measured(
            sum(len(passage.sentences) for passage in corpus.passages),
            len(graph),
            graph.graph.number_of_edges(),
            build,
            1000 * statistics.median(link),
            1000 * statistics.median(shallow),
            1000 * float(np.percentile(shallow, 95)),
        )


def _corpus(sentences: int, questions: int) -> Corpus:
    """Whole corpora of 20,000 questions at most, with the words of each made different, until there are enough."""
    passages: list[Passage] = []
    asked = corpora.generate(seed=0, size=questions, difficulty="medium").questions
    total = part = 0
    while total < sentences:
        few = min(sentences - total, 40_000)
        made = corpora.generate(seed=part, size=max(1, min(20_000, few // 4)), difficulty="medium")
        for passage in made.passages:
            if total < sentences:
                passages.append(passage if part == 0 else _elsewhere(passage, part))
                total += len(passage.sentences)
        asked = made.questions[:questions] if part == 0 else asked
        part += 1
    return Corpus(tuple(passages), asked)


def _elsewhere(passage: Passage, part: int) -> Passage:
    """The same article of another world, where every name ends in another letter."""
    mark = chr(ord("a") + part % 26)

    def renamed(text: str) -> str:
        for name in sorted(english.proper_names(text), key=len, reverse=True):
            text = text.replace(name, name + mark)
        return text

    return Passage(passage.title + mark, tuple(map(renamed, passage.sentences)))


def _times(graph: KnowledgeGraph, questions: list[str]) -> tuple[list[float], list[float]]:
    search, link, shallow = Search(), [], []
    for question in questions:
        began = time.perf_counter()
        starts = graph.link(question)
        linked = time.perf_counter()
        search.evidence(graph, starts, question, "shallow")
        link.append(linked - began)
        shallow.append(time.perf_counter() - linked)
    return link, shallow


def main() -> None:
    """Print the growth."""
    print("sentences    nodes    edges   build s   link ms   shallow ms   95 %")
    for one in bench():
        print(
            f"{one.sentences:9} {one.nodes:8} {one.edges:8} {one.build:9.2f} {one.link:9.2f} "
            f"{one.shallow:12.2f} {one.shallow_95:6.2f}"
        )


if __name__ == "__main__":
    main()
