"""How fast a seat's memory is: what `scripts/bench/all.py` prints of it.

The texts are made up: 10,000 segments of 50 tokens, English and Chinese in turn, of words drawn with the frequencies
of natural language (Zipf's law) from vocabularies of 5,000 words and 2,000 characters.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from parlour.policies.retrieval.embedders import Embedder, HashingEmbedder, Vectors
from parlour.policies.retrieval.memory import SEGMENT, Memory, count_tokens
from rich.table import Table

SEGMENTS = 10_000
INDEXED_WITHIN = 5.0
"""Seconds that indexing so many may take."""
ANSWERED_WITHIN = 0.005
"""Seconds that a query may take."""
_BUDGET = 4000
_QUERIES = 200


@dataclass(frozen=True)
class MemoryCost:
    """What a memory of some texts costs with one embedder, in seconds."""

    embedder: str
    texts: int
    indexed: float
    """All texts embedded and added, in one call."""
    told: float
    """The same, added one by one as talk is; quoted for as many texts, measured on a tenth."""
    searched: float
    """One query for the nearest 3, its embedding included; median."""
    slowest: float
    """The slowest of those queries."""
    retrieved: float
    """One query with a budget of 4000 tokens; median."""
    by_numpy: float
    """The nearest 3 by a product of matrices and a full sort in NumPy; median."""


def made_up(n: int, seed: int = 0) -> list[str]:
    """So many texts of 50 tokens."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, int(k))) for k in rng.integers(2, 9, 5000)]
    characters = [chr(0x4E00 + k) for k in range(2000)]
    texts = []
    for k in range(n):
        vocabulary, gap = (words, " ") if k % 2 == 0 else (characters, "")
        ranks = (rng.zipf(1.3, SEGMENT - 1) - 1) % len(vocabulary)
        texts.append(gap.join(vocabulary[rank] for rank in ranks) + (".", "。")[k % 2])
    assert all(count_tokens(text) == SEGMENT for text in texts)
    return texts


def measure(texts: Sequence[str], embedder: Embedder) -> MemoryCost:
    """Index texts and ask for others like them."""
    queries = made_up(_QUERIES, seed=1)
    memory, talk = Memory(embedder), Memory(embedder)
    memory.search(queries[0], 1)
    talk.add(queries[:1])  # loads what is loaded at first use
    indexed = _seconds(memory.add, texts)
    some = texts[: len(texts) // 10]
    told = sum(_seconds(talk.add, [text]) for text in some) * len(texts) / len(some)
    vectors = embedder.embed(texts)
    searched = [_seconds(memory.search, query, 3) for query in queries]
    return MemoryCost(
        embedder.name,
        len(texts),
        indexed,
        told,
        statistics.median(searched),
        max(searched),
        statistics.median(_seconds(memory.retrieve, query, _BUDGET) for query in queries),
        statistics.median(_seconds(_by_numpy, vectors, embedder, query) for query in queries),
    )


def table(embedder: Embedder | None = None) -> Table:
    """Measure, by default with the embedder that is always there, and set the figures against what is demanded."""
    cost = measure(made_up(SEGMENTS), embedder or HashingEmbedder())
    shown = Table(title=f"A seat's memory: {cost.texts:,} segments of {SEGMENT} tokens, {cost.embedder}")
    for heading in ("what", "takes", "share", "of"):
        shown.add_column(heading, justify="left" if heading in ("what", "of") else "right")
    limit = f"{INDEXED_WITHIN:.0f} s allowed"
    shown.add_row("index all at once", f"{cost.indexed:.2f} s", f"{cost.indexed / INDEXED_WITHIN:.0%}", limit)
    shown.add_row("index one by one", f"{cost.told:.2f} s", f"{cost.told / INDEXED_WITHIN:.0%}", limit)
    limit = f"{ANSWERED_WITHIN * 1000:.0f} ms allowed"
    for what, seconds in (
        ("query, nearest 3, median", cost.searched),
        ("query, nearest 3, slowest", cost.slowest),
        (f"query, {_BUDGET} tokens, median", cost.retrieved),
    ):
        shown.add_row(what, f"{seconds * 1000:.2f} ms", f"{seconds / ANSWERED_WITHIN:.0%}", limit)
    ratio = f"{cost.searched / cost.by_numpy:.0%}"
    shown.add_row("the same query in NumPy, median", f"{cost.by_numpy * 1000:.2f} ms", ratio, "FAISS takes of it")
    return shown


def _by_numpy(vectors: Vectors, embedder: Embedder, query: str) -> list[int]:
    return [int(k) for k in np.argsort(-(vectors @ embedder.embed([query])[0]), kind="stable")[:3]]


def _seconds(function: Callable[..., object], *arguments: object) -> float:
    started = perf_counter()
    function(*arguments)
    return perf_counter() - started
