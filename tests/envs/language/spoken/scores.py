"""How far a reader of claims agrees with the labelled statements: pairs of kind and target, and statements read exactly."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from tests import ROOT
from tests.envs.language.spoken.sample import Statement, statements

LABELS = Path(__file__).with_name("labels.jsonl")
GAMES = ROOT / ".." / "shared" / "data" / "gpt51_avalon"
KINDS = ("accuse", "defend", "propose", "defer", "promise", "claim_role")

Pairs = frozenset[tuple[str, "int | str"]]
Reader = Callable[[str, int, int], Pairs]
"""Words, speaker, number of seats -> pairs of kind and target."""


class Labelled(NamedTuple):
    """A labelled statement: its half, who speaks at how many seats, the words, and the pairs of the labels."""

    half: str
    speaker: int
    seats: int
    words: str
    pairs: Pairs


class Agreement(NamedTuple):
    """Pairs of a kind that are in both, only in the reader's, only in the labels."""

    both: int
    read: int
    missed: int

    @property
    def precision(self) -> float:
        return self.both / (self.both + self.read) if self.both + self.read else 0.0

    @property
    def recall(self) -> float:
        return self.both / (self.both + self.missed) if self.both + self.missed else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.both / max(1, 2 * self.both + self.read + self.missed)


def paraphrases() -> list[Labelled]:
    """The 200 statements in our own words."""
    return [_labelled(row, row["paraphrase"]) for row in rows()]


def originals(folder: Path = GAMES) -> list[Labelled]:
    """The 200 statements as they were said, with `player_N` for names."""
    said = {(statement.source, statement.place): statement for _, statement in statements(folder)}
    return [_labelled(row, renamed(said[row["source"], row["place"]])) for row in rows()]


def renamed(statement: Statement) -> str:
    """The words with the seats' names as players' names."""
    names = "|".join(map(re.escape, statement.names))
    return re.sub(rf"\b(?:{names})\b", lambda match: f"player_{statement.names.index(match[0])}", statement.words)


def agreement(reader: Reader, labelled: Iterable[Labelled]) -> tuple[dict[str, Agreement], float]:
    """By kind and of all kinds (`all`), and the share of statements with exactly the labelled pairs."""
    pairs = [(reader(statement.words, statement.speaker, statement.seats), statement.pairs) for statement in labelled]
    by_kind = {kind: _counted([(_of(a, kind), _of(b, kind)) for a, b in pairs]) for kind in KINDS}
    return {**by_kind, "all": _counted(pairs)}, sum(a == b for a, b in pairs) / len(pairs)


def rows() -> list[dict]:
    """The labels, a row for each statement."""
    return [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]


def _labelled(row: dict, words: str) -> Labelled:
    pairs = frozenset((kind.removesuffix("_one_of"), target) for kind, ones in row["labels"].items() for target in ones)
    return Labelled(row["half"], row["speaker"], row["seats"], words, pairs)


def _of(pairs: Pairs, kind: str) -> Pairs:
    return frozenset(pair for pair in pairs if pair[0] == kind)


def _counted(pairs: list[tuple[Pairs, Pairs]]) -> Agreement:
    return Agreement(*(sum(map(len, ones)) for ones in zip(*((a & b, a - b, b - a) for a, b in pairs), strict=True)))
