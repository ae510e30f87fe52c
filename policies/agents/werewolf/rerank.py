"""The order in which retrieved texts are shown.

The traversal follows what SPEC says of the published reranker ("A*-style, over negative dot products, from the block
nearest to the query"): a text costs the negative dot product with the text it is reached from, added up along the way,
and is expected to cost the negative dot product with the query; the cheapest is taken next.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, Final

import numpy as np
from parlour.policies.retrieval.embedders import CachedHashing

_DIGITS: Final = 5
"""Decimals of a dot product; what differs by less is a tie, which the earlier text wins."""


def traverse(query: str, texts: Sequence[str]) -> list[int]:
    """The positions of the texts in the order of the traversal; the first is the one nearest to the query.

    Raises:
        EmbeddingFailed: A text is blank.
    """
    if not texts:
        return []
    vectors = CachedHashing().embed([*texts, query]).astype(np.float64)
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
