"""How fast a seat's memory is, against what is demanded of it.

The texts are made up: 10,000 segments of 50 tokens, English and Chinese in turn, of words drawn with the frequencies
of natural language (Zipf's law) from vocabularies of 5,000 words and 2,000 characters.

python scripts/bench/retrieval_memory.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from parlour.policies.retrieval.embedders import Embedder, HashingEmbedder, Vectors
from parlour.policies.retrieval.memory import SEGMENT, Memory, count_tokens
from timing import median, seconds, show_table

SEGMENTS = 10_000
INDEXED_WITHIN = 5.0
"""Seconds that indexing them may take."""
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
    by_one: float
    """The same, added one by one as talk is; quoted for all texts, measured on a tenth."""
    searched: float
    """One query for the nearest 3, its embedding included; median."""
    slowest: float
    """The slowest of those queries."""
    retrieved: float
    """One query with a budget of 4000 tokens; median."""
    by_numpy: float
    """The nearest 3 by a product of matrices and a full sort in NumPy; median."""


def made_up(n: int, seed: int = 0) -> list[str]:
    """`n` texts of 50 tokens."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, int(k))) for k in rng.integers(2, 9, 5000)]
    characters = [chr(0x4E00 + k) for k in range(2000)]
    texts = []
    for k in range(n):
        vocabulary, gap, end = (words, " ", ".") if k % 2 == 0 else (characters, "", "。")
        ranks = (rng.zipf(1.3, SEGMENT - 1) - 1) % len(vocabulary)
        texts.append(gap.join(vocabulary[rank] for rank in ranks) + end)
    assert all(count_tokens(text) == SEGMENT for text in texts)
    return texts


def measure(texts: Sequence[str], embedder: Embedder) -> MemoryCost:
    """Index texts and ask for others like them."""
    queries = made_up(_QUERIES, seed=1)
    memory, talk = Memory(embedder), Memory(embedder)
    memory.search(queries[0], 1)
    talk.add(queries[:1])  # loads what is loaded at first use
    indexed = seconds(memory.add, texts)
    tenth = texts[: len(texts) // 10]
    by_one = sum(seconds(talk.add, [text]) for text in tenth) * len(texts) / len(tenth)
    vectors = embedder.embed(texts)
    searched = [seconds(memory.search, query, 3) for query in queries]
    retrieved = median(seconds(memory.retrieve, query, _BUDGET) for query in queries)
    by_numpy = median(seconds(_by_numpy, vectors, embedder, query) for query in queries)
    return MemoryCost(embedder.name, len(texts), indexed, by_one, median(searched), max(searched), retrieved, by_numpy)


def _by_numpy(vectors: Vectors, embedder: Embedder, query: str) -> list[int]:
    return [int(k) for k in np.argsort(-(vectors @ embedder.embed([query])[0]), kind="stable")[:3]]


def main(segments: int = SEGMENTS) -> None:
    """Measure with the embedder that is always there, and print."""
    cost = measure(made_up(segments), HashingEmbedder())
    indexing = (("index all at once", cost.indexed), ("index one by one", cost.by_one))
    queries = (
        ("query, nearest 3, median", cost.searched),
        ("query, nearest 3, slowest", cost.slowest),
        (f"query, {_BUDGET} tokens, median", cost.retrieved),
    )
    rows = [
        *((what, f"{t:.2f} s", f"{t / INDEXED_WITHIN:.0%}", f"{INDEXED_WITHIN:.0f} s allowed") for what, t in indexing),
        *(
            (what, f"{t * 1000:.2f} ms", f"{t / ANSWERED_WITHIN:.0%}", f"{ANSWERED_WITHIN * 1000:.0f} ms allowed")
            for what, t in queries
        ),
    ]
    ratio = f"{cost.searched / cost.by_numpy:.0%}"
    rows.append(("the same query in NumPy, median", f"{cost.by_numpy * 1000:.2f} ms", ratio, "FAISS takes of it"))
    title = f"A seat's memory: {cost.texts:,} segments of {SEGMENT} tokens, {cost.embedder}"
    show_table(title, ("what", "takes", "share", "of"), rows)


if __name__ == "__main__":
    main()
