"""The order in which retrieved texts are told, and how texts become vectors offline.

The traversal follows what SPEC says of the published reranker ("A*-style, over negative dot products, from the block
nearest to the query"): a text costs the negative dot product with the text it is reached from, added up along the way,
and is expected to cost the negative dot product with the query; the cheapest is taken next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import Any, Final

import numpy as np
from parlour.policies.retrieval.embedders import HashingEmbedder, Vectors

_DIGITS: Final = 5
"""Decimals of a dot product; what differs by less is a tie, which the earlier text wins."""


class KeptVectors(HashingEmbedder):
    """Feature hashing that keeps the vectors of texts: all seats of a table embed the same ones."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return super().embed(texts)
        return np.stack([_vector(text) for text in texts])


@lru_cache(maxsize=8192)
def _vector(text: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    row: np.ndarray[Any, np.dtype[np.float32]] = HashingEmbedder().embed([text])[0]
    row.setflags(write=False)
    return row


def traverse(query: str, texts: Sequence[str]) -> list[int]:
    """The positions of the texts in the order of the traversal; the first is the one nearest to the query.

    Raises:
        EmbeddingFailed: A text is blank.
    """
    if not texts:
        return []
    vectors = KeptVectors().embed([*texts, query]).astype(np.float64)
    return order(vectors[:-1] @ vectors[:-1].T, vectors[:-1] @ vectors[-1])


def order(between: np.ndarray[Any, Any], to_query: np.ndarray[Any, Any]) -> list[int]:
    """The traversal itself.

    Args:
        between: Dot products of the texts with each other, shape (n, n).
        to_query: Dot products of the texts with the query, shape (n,).
    """
    between, to_query = np.round(between, _DIGITS), np.round(to_query, _DIGITS)
    start = int(np.argmax(to_query))
    heap: list[tuple[float, int, float]] = [(-float(to_query[start]), start, 0.0)]
    taken: list[int] = []
    while heap:
        _, at, spent = heappop(heap)
        if at in taken:
            continue
        taken.append(at)
        for k in range(len(to_query)):
            if k not in taken:
                cost = spent - float(between[at, k])
                heappush(heap, (cost - float(to_query[k]), k, cost))
    return taken
