"""Evidence by words: BM25 over sentences with their titles, by `bm25s` (extra `retrieve`).

Robertson and Zaragoza (2009, "The probabilistic relevance framework: BM25 and beyond") in Lucene's form: a word t of the
question adds to a sentence d

    ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 (1 - b + b |d| / mean |d|))

where f is how often t stands in d, n in how many of the N sentences it stands, and |d| counts the words of d. Words are
stems of content words, as everywhere in this game (`parlour.envs.english.stemmed`). Sums are of 64 bits and compared at a
fixed number of decimals, so that ties are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np
from parlour.envs import english
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpus import Passage
from parlour.envs.mediated_qa.reading import Piece
from parlour.envs.mediated_qa.retrievers.protocol import Depth, first_sentences, pieces_of_passages

K1: Final = 1.5
B: Final = 0.75
_DIGITS: Final = 9


class BM25Retriever:
    """Satisfies `Retriever` and `RankingRetriever`.

    Args:
        passages: The articles.

    Raises:
        ParlourError: `bm25s` is not installed.
    """

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._pieces = pieces_of_passages(passages)
        texts = [english.stemmed(f"{title} {sentence}") for title, sentence in self._pieces]
        self._numbers = {word: k for k, word in enumerate(dict.fromkeys(word for text in texts for word in text))}
        index = _library().BM25(k1=K1, b=B, method="lucene", dtype="float64", backend="numpy", auto_compile=False)
        if self._numbers:
            numbered = [[self._numbers[word] for word in text] for text in texts]
            index.index((numbered, dict(self._numbers)), create_empty_token=False, show_progress=False)
        self._index = index

    def evidence(self, question: str, depth: Depth) -> str:
        """Sentences that share a word with the question, the best last; empty if none does."""
        return first_sentences(self, question, depth)

    def ranked(self, question: str, count: int) -> Sequence[Piece]:
        scores = self.scores(question)
        order = np.argsort(-scores, kind="stable")[:count]
        return [self._pieces[k] for k in order.tolist() if scores[k] > 0]

    def scores(self, question: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The score of each sentence, shape (sentences,), in the order of the corpus; 0 where no word is shared."""
        known = [self._numbers[word] for word in english.stems(question) if word in self._numbers]
        if not known:
            return np.zeros(len(self._pieces))
        scores: np.ndarray[Any, np.dtype[np.float64]] = np.round(self._index.get_scores_from_ids(known), _DIGITS)
        return scores


def _library() -> Any:
    try:
        return import_module("bm25s")
    except ModuleNotFoundError:
        raise ParlourError("bm25s is not installed; accepted: pip install 'parlour[retrieve]'") from None
