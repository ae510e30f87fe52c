"""A seat's memory, searched by content: a FAISS index over pieces of script and lines of talk.

From "Questum" and PLAYER*: scripts are cut into segments of at most 50 tokens, a question with its answer is one
text, both are kept in an index by L2 distance, and a prompt gets the nearest texts that fit into a budget of tokens
(4000 in play, 5000 at the quiz). Vectors have length 1, so that the order by L2 distance d is also that by inner
product and by cosine = 1 - d^2/2, which the Avalon baseline's pool of experience uses.

The index is exact ("flat"): what a seat recalls must depend neither on the order of insertion nor on chance, and a
seat reads thousands of texts, not millions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from parlour.envs.common.extras import one_faiss_thread
from parlour.envs.core import accept, check_from
from parlour.policies.retrieval.embedders import Embedder, Vectors, unit

SEGMENT: Final = 50
"""Tokens of a segment."""
SCRIPT, TALK = "script", "talk"
"""Tags for what a seat was given to read and for what was said; any other word will do as well."""
_DIGITS: Final = 5
"""Decimals of a squared distance. What differs by less is a tie: single precision is hardly better, and its last bits
are not the same on every processor."""

# -- tokens and segments -----------------------------------------------------------------------------------------

_TOKEN: Final = re.compile(r"[A-Za-z]{1,8}|[0-9]{1,3}|\S")
_CLOSING: Final = "\"'”’」』）)\\]】》"
_SENTENCE_END: Final = re.compile(rf"(?:[。？！…?!]|\.(?![0-9a-z]))+[{_CLOSING}]*|(?<=\S)(?=[^\S\n]*\n)")
_CLAUSE_END: Final = re.compile(rf"[，、；：,;:][{_CLOSING}]*")


def count_tokens(text: str) -> int:
    """About as many tokens as a language model reads in a text, without its tokenizer.

    One for every started eight letters of a word in ASCII, for every started three digits, and for every other
    character that is not blank, be it Chinese, accented or a mark. For English and Chinese that is near what current
    models count; for other alphabets it is too high, which keeps a budget on the safe side.

    >>> count_tokens("The butler did it."), count_tokens("管家是凶手。")
    (5, 6)
    """
    return len(_TOKEN.findall(text))


def segments(text: str, size: int = SEGMENT) -> list[str]:
    """Cut a text into pieces of at most `size` tokens.

    As many whole sentences as fit make a piece. A sentence that is too long is cut at the end of a clause, or else
    between words, or else anywhere. All but the blanks between the pieces is kept.

    >>> segments("She left. He stayed, alas!", size=4)
    ['She left.', 'He stayed,', 'alas!']
    """
    check_from("size of a segment", size, 1)
    ends = [token.end() for token in _TOKEN.finditer(text)]
    marks = [{match.end() for match in kind.finditer(text)} for kind in (_SENTENCE_END, _CLAUSE_END)]
    pieces, done, start = [], 0, 0
    while done < len(ends):
        stop = min(done + size, len(ends))
        if stop < len(ends):
            stop = _cut(text, ends, marks, done, stop)
        pieces.append(text[start : ends[stop - 1]].strip())
        done, start = stop, ends[stop - 1]
    return pieces


def _cut(text: str, ends: Sequence[int], marks: Sequence[set[int]], done: int, stop: int) -> int:
    """After how many tokens to cut, at most `stop`: after the last sentence, clause or word among those not done."""
    for ending in marks:
        for k in range(stop, done, -1):
            if ends[k - 1] in ending:
                return k
    for k in range(stop, done, -1):
        before, after = text[ends[k - 1] - 1], text[ends[k - 1]]
        if after.isspace() or (after.isalnum() and not (before + after).isascii()):  # between blanks, or characters
            return k
    return stop


# -- the memory --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Retrieved:
    """A text that came back."""

    text: str
    position: int
    """How many texts were added before it."""
    tag: str
    tokens: int
    """As `count_tokens` counts."""
    distance: float
    """Squared L2 distance between its vector and the query's, as FAISS gives it: 0 .. 4."""


@dataclass
class _Partition:
    """The texts of one tag."""

    index: Any
    positions: list[int] = field(default_factory=list)


class Memory:
    """What one seat has read. Not to be used by several threads at once; each seat of each game has its own.

    Args:
        embedder: Turns texts and queries into vectors; shared between seats.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._texts: list[str] = []
        self._tags: list[str] = []
        self._tokens: list[int] = []
        self._partitions: dict[str, _Partition] = {}

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, texts: Sequence[str], *, tag: str = TALK) -> None:
        """Keep texts, all or, if one fails, none.

        Args:
            texts: The texts to return.
            tag: What they are, such as `SCRIPT` or `TALK`.

        Raises:
            EmbeddingFailed: A text has no vector; it is named.
        """
        if isinstance(texts, str):
            raise accept("texts", texts, "a list of texts")
        vectors = unit(texts, self.embedder.embed(texts), self.embedder)
        self._put(list(texts), [tag] * len(texts), vectors)

    def search(self, query: str, k: int, *, tag: str | None = None) -> list[Retrieved]:
        """The `k` texts nearest to a query, nearest first, the earlier first of those equally near.

        Args:
            query: What to look for.
            k: How many; fewer come back if there are fewer.
            tag: Look among the texts of this tag alone; there need not be any.

        Raises:
            EmbeddingFailed: The query has no vector.
        """
        check_from("number of texts to find", k, 1)
        return self._nearest(query, k, self._among(tag))

    def retrieve(self, query: str, max_tokens: int, *, tag: str | None = None) -> list[Retrieved]:
        """The nearest texts, up to the first that no longer fits into `max_tokens` in all; in the order in which they were added.

        Args:
            query: What to look for.
            max_tokens: The budget, as `count_tokens` counts. A prompt that joins the texts with blanks or line breaks
                spends no more.
            tag: Look among the texts of this tag alone.
        """
        check_from("budget of tokens", max_tokens, 0)
        partitions = self._among(tag)
        lengths = np.sort([self._tokens[position] for partition in partitions for position in partition.positions])
        most = int(np.searchsorted(np.cumsum(lengths), max_tokens, side="right"))  # no more can fit
        chosen = []
        for hit in self._nearest(query, most, partitions):
            max_tokens -= hit.tokens
            if max_tokens < 0:
                break
            chosen.append(hit)
        return sorted(chosen, key=lambda hit: hit.position)

    def __getstate__(self) -> tuple[Any, ...]:
        return self.embedder, self._texts, self._tags, self._vectors()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        embedder, *kept = state
        Memory.__init__(self, embedder)
        self._put(*kept)

    def _put(self, texts: Sequence[str], tags: Sequence[str], vectors: Vectors) -> None:
        import faiss  # takes a tenth of a second, which `import parlour.policies` shall not

        first = len(self)
        for tag in dict.fromkeys(tags):
            rows = [k for k, other in enumerate(tags) if other == tag]
            partition = self._partitions.setdefault(tag, _Partition(faiss.IndexFlatL2(self.embedder.size)))
            partition.index.add(vectors[rows])
            partition.positions += [first + k for k in rows]
        self._texts += texts
        self._tags += tags
        self._tokens += map(count_tokens, texts)

    def _vectors(self) -> Vectors:
        """All vectors by position, shape (n, size)."""
        vectors = np.empty((len(self), self.embedder.size), np.float32)
        for partition in self._partitions.values():
            vectors[partition.positions] = partition.index.reconstruct_n(0, len(partition.positions))
        return vectors

    def _among(self, tag: str | None) -> list[_Partition]:
        return [partition for name, partition in self._partitions.items() if tag in (None, name)]

    def _nearest(self, query: str, k: int, partitions: Sequence[_Partition]) -> list[Retrieved]:
        vector = unit([query], self.embedder.embed([query]), self.embedder)
        if not k:
            return []
        ranked = sorted(pair for partition in partitions for pair in _of_partition(partition, vector, k))[:k]
        return [Retrieved(self._texts[p], p, self._tags[p], self._tokens[p], distance) for distance, p in ranked]


def _of_partition(partition: _Partition, vector: Vectors, k: int) -> list[tuple[float, int]]:
    """(squared distance, position) of the nearest `k` and of all that tie with the last of them, or of all there are."""
    asked, all_of_them = k, len(partition.positions)
    while True:
        asked = min(asked + 1, all_of_them)
        with one_faiss_thread():
            distances, rows = partition.index.search(vector, asked)
        rounded = np.round(distances[0].astype(np.float64), _DIGITS)
        if asked == all_of_them or rounded[-1] > rounded[k - 1]:
            return [(float(d), partition.positions[row]) for d, row in zip(rounded, rows[0], strict=True)]
        asked *= 2
