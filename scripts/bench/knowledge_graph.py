"""How the knowledge graph grows: time to build index and PageRank, and time of one shallow retrieval.

python scripts/bench/knowledge_graph.py
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import NamedTuple

import numpy as np
from parlour.envs import english
from parlour.envs.mediated_qa import corpus as corpora
from parlour.envs.mediated_qa.corpus import Corpus, Passage
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.envs.mediated_qa.retrieve import Search
from timing import median, show_table

SIZES = (1_000, 10_000, 100_000)
"""Sentences."""


class Growth(NamedTuple):
    """One size; times of a question are medians, over questions that were not asked before."""

    sentences: int
    nodes: int
    edges: int
    build: float
    """Seconds for graph, index and PageRank together."""
    link: float
    """Milliseconds to link a question."""
    shallow: float
    """Milliseconds of a shallow retrieval."""
    shallow_95: float
    """The same, 95th percentile."""


def bench(sizes: tuple[int, ...] = SIZES, questions: int = 200) -> Iterator[Growth]:
    """Measure one size after the other."""
    for size in sizes:
        corpus = _corpus(size, questions)
        began = perf_counter()
        graph = KnowledgeGraph(corpus.passages)
        build = perf_counter() - began
        link, shallow = np.array([_times(graph, question.text) for question in corpus.questions]).T * 1000
        sentences = sum(len(passage.sentences) for passage in corpus.passages)
        slow = float(np.percentile(shallow, 95))
        edges = graph.graph.number_of_edges()
        yield Growth(sentences, len(graph), edges, build, median(link), median(shallow), slow)


def _times(graph: KnowledgeGraph, question: str) -> tuple[float, float]:
    """Seconds to link a question and to search for it."""
    began = perf_counter()
    starts = graph.link(question)
    linked = perf_counter()
    Search().evidence(graph, starts, question, "shallow")
    return linked - began, perf_counter() - linked


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


def main(sizes: tuple[int, ...] = SIZES) -> None:
    """Print the growth."""
    headings = ("sentences", "nodes", "edges", "build, s", "link, ms", "shallow, ms", "95 %")
    rows = [[*map(str, growth[:3]), *(f"{time:.2f}" for time in growth[3:])] for growth in bench(sizes)]
    show_table("Knowledge graph: time to build it, and of one shallow retrieval", headings, rows)


if __name__ == "__main__":
    main()
