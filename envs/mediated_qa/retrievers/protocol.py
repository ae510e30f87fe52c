"""What a retriever is: a question and a depth in, evidence out; and how many sentences the rankings give.

A retriever of one's own has one method, `evidence`; the pipeline caches what it gives. One that ranks sentences can be fused
with others (`parlour.envs.mediated_qa.retrievers.fused`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, Protocol, runtime_checkable

from parlour.envs.core import check_one_of
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.corpus import Passage
from parlour.envs.mediated_qa.reading import Piece

Depth = Literal["shallow", "deep"]
SENTENCES: Final[dict[str, int]] = {"shallow": 3, "deep": 8}
"""At most so many sentences are the evidence of a ranking."""


@runtime_checkable
class Retriever(Protocol):
    """Finds evidence. What it gives depends on question and depth alone, the same each time."""

    def evidence(self, question: str, depth: Depth) -> str:
        """The evidence, as `reading.join` writes it: each sentence with its title; empty if nothing is found."""


class RankingRetriever(Protocol):
    """Orders sentences by how well they go with a question."""

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        """At most `count` sentences, best first, each once; of equal ones the first of the corpus comes first."""


def first_sentences(by: RankingRetriever, question: str, depth: Depth) -> str:
    """The evidence of a ranking: its first `SENTENCES[depth]`, the best one last, where a way through the graph has its end.

    (The offline reader takes the last of equally good sentences: so read, BM25's evidence gave 5 to 20 % more right
    answers.)

    Raises:
        ParlourError: The depth is not accepted.
    """
    check_one_of("depth", depth, SENTENCES)
    return reading.join(tuple(reversed(by.ranked(question, SENTENCES[depth]))))


def pieces_of_passages(passages: Iterable[Passage]) -> tuple[Piece, ...]:
    """All sentences with their titles, in the order of the corpus, each once."""
    return tuple(dict.fromkeys(Piece(title, sentence) for title, sentences in passages for sentence in sentences))
