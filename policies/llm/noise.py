"""How readers err, as a setting: what they misread, miss, overstate and forget of what others say.

An instrument of parlour's own, not a published method: methods that read the same words are compared at rates of error that
are known. Whether a statement is misread is drawn from the game, the reader's seat and the statement, never from the
statement alone, so that the same sentence is not misread alike in every game; where `each` is `"reading"`, from the question
as well. What it means to misread a statement is for each game's questions to say (`Ask.misheard`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, Final, Literal, TypeVar

from parlour.envs.core import ParlourError, accept, check_one_of

T = TypeVar("T")
Each = Literal["statement", "reading"]
EACH: Final = ("statement", "reading")
RATES: Final = ("misread", "miss", "overconfident", "forget")
FORM: Final = "misread=RATE, miss=RATE, overconfident=RATE, forget=RATE, each=statement|reading, players=NAME+NAME"


@dataclass(frozen=True)
class ReadingNoise:
    """Rates of error of readers, each a probability.

    Raises:
        ParlourError: A value is not accepted.
    """

    misread: float = 0.0
    """That a statement is taken for another: said about somebody else, or for the contrary."""
    miss: float = 0.0
    """That a statement is not heard."""
    overconfident: float = 0.0
    """That what an answer says about a player is put at its extreme: certainty, or the highest score."""
    forget: float = 0.0
    """That a statement is out of mind a day later, for each day."""
    each: Each = "statement"
    """Whether an error is made once for a statement, or again at each reading of it."""
    players: tuple[str, ...] = ()
    """Names of the players that err, without their settings; empty: all that ask a model."""

    def __post_init__(self) -> None:
        for name in RATES:
            value = getattr(self, name)
            if not (math.isfinite(value) and 0 <= value <= 1):
                raise accept(f"noise {name}", value, "a number 0..1")
        check_one_of("noise each", self.each, EACH)

    @classmethod
    def parse(cls, text: str) -> ReadingNoise:
        """The noise in words, such as `misread=0.1,miss=0.05,each=reading`. Raises `ParlourError` for other words."""
        given: dict[str, Any] = {}
        for pair in filter(None, map(str.strip, text.split(","))):
            key, equals, value = pair.partition("=")
            if key in given or not equals or key not in {field.name for field in fields(cls)}:
                raise ParlourError(f"noise {pair!r} is not accepted; accepted: {FORM}, each once")
            given[key] = _value(key, value)
        return cls(**given)

    def __str__(self) -> str:
        """The shortest words for it, which `parse` reads; empty where nobody errs.

        >>> str(ReadingNoise.parse("miss=.05, misread=0.10, forget=0"))
        'misread=0.1,miss=0.05'
        """
        if not self:
            return ""
        rates = [f"{name}={getattr(self, name):g}" for name in RATES if getattr(self, name)]
        rates += [f"each={self.each}"] if self.each != "statement" else []
        return ",".join([*rates, *([f"players={'+'.join(self.players)}"] if self.players else [])])

    def __bool__(self) -> bool:
        """Whether anybody errs."""
        return any(getattr(self, name) for name in RATES)

    def reaches(self, player: str) -> bool:
        """Whether the player of this name errs."""
        return bool(self) and (not self.players or player in self.players)


def _value(key: str, value: str) -> Any:
    if key == "players":
        return tuple(dict.fromkeys(filter(None, value.split("+"))))
    if key == "each":
        return value
    try:
        return float(value)
    except ValueError:
        raise accept(f"noise {key}", value, "a number 0..1") from None


class MisreadingModel:
    """With what errors one seat reads one question. Its draws are functions of their keys: their order does not matter.

    Args:
        noise: The rates.
        game: The game's seed.
        seat: The reader's number; -1 for a reader without a seat. question: Distinguishes this question from the seat's others.
    """

    def __init__(self, noise: ReadingNoise, game: int, seat: int, question: str) -> None:
        self.noise, self.seat = noise, seat
        self._whose, self._question = f"{game} {seat}", question
        self.told: list[tuple[str, str]] = []
        """What was said, and what was heard in its place; empty where a statement was not heard."""

    def misses(self, statement: str, days: int = 0) -> bool:
        """Whether a statement does not reach the reader: it was missed, or forgotten in the days that have passed since."""
        return self._draw(statement, "miss") < self.noise.miss or self.forgets(statement, days)

    def forgets(self, statement: str, days: int = 1) -> bool:
        """Whether a statement is out of mind so many days later."""
        return self._draw(statement, "forget") < 1 - (1 - self.noise.forget) ** max(0, days)

    def misreads(self, statement: str) -> bool:
        """Whether a statement is taken for another."""
        return self._draw(statement, "misread") < self.noise.misread

    def overstates(self, what: str) -> bool:
        """Whether a part of the answer is put at its extreme. Each answer has its own draw, whatever `each` says."""
        return self._draw(f"{self._question} {what}", "overconfident") < self.noise.overconfident

    def pick(self, statement: str, what: str, options: Sequence[T]) -> T:
        """One of several things that a statement may be taken for, all alike."""
        return options[int(self._draw(statement, f"pick {what}") * len(options))]

    def hears(self, said: str, misread: str) -> None:
        """Note for the transcript what was heard instead of what was said."""
        self.told.append((said, misread))

    def _draw(self, statement: str, what: str) -> float:
        """A number in [0, 1)."""
        occasion = self._question if self.noise.each == "reading" else ""
        digest = sha256("\0".join((self._whose, what, statement, occasion)).encode()).digest()
        return (int.from_bytes(digest[:8]) >> 11) / 2**53
