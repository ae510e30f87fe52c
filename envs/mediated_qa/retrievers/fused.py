"""Several rankings as one, by reciprocal rank fusion (Cormack, Clarke and Buettcher 2009): a sentence scores the sum of
1 / (60 + its place) over the rankings that hold it, places counted from 1. Of equal ones the earlier ranking's come first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from parlour.envs.mediated_qa.reading import Piece
from parlour.envs.mediated_qa.retrievers.protocol import Depth, RankingRetriever, first_sentences

CONSTANT: Final = 60
DEEPER: Final = 3
"""Each ranking is read to so many times the sentences wanted."""


@dataclass(frozen=True)
class FusedRetriever:
    """Satisfies `Retriever` and `RankingRetriever`."""

    rankings: tuple[RankingRetriever, ...]

    def evidence(self, question: str, depth: Depth) -> str:
        """The sentences that the rankings agree on best; empty if none of them finds any."""
        return first_sentences(self, question, depth)

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        scores: dict[Piece, Fraction] = defaultdict(Fraction)  # exact: sums tie as they should
        for ranking in self.rankings:
            for place, piece in enumerate(ranking.ranked(question, DEEPER * count), 1):
                scores[piece] += Fraction(1, CONSTANT + place)
        return sorted(scores, key=scores.__getitem__, reverse=True)[:count]  # sorting is stable
