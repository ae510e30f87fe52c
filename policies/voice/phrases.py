"""Claims, facts and answers as sentences, by the patterns of a language file (`data/en.toml`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from parlour.envs.core import Move
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.language.language_files import LanguageTable, read_language
from parlour.policies.voice.evidence import SeatFact

_PACKAGE: Final = "parlour.policies.voice"
_SELF: Final = "recommend_self"
_VERDICTS: Final = ("good", "evil")
_WILL: Final = ("will not", "will")


class ClaimPatterns(LanguageTable):
    """How a kind of claim is said."""

    canonical: str
    """The sentence of the table."""
    patterns: tuple[str, ...]


class Forms(LanguageTable):
    """How claims, reasons and answers are put together."""

    alone: tuple[str, ...]
    early: tuple[str, ...]
    reason: tuple[str, ...]
    both: tuple[str, ...]
    answer: tuple[str, ...]
    reply: tuple[str, ...]


class Numbers(LanguageTable):
    """Small words."""

    words: tuple[str, ...]
    fail: str
    fails: str
    # a list of players, the speaker as an object and as a subject
    last: str
    me: str
    subject: str


class Phrases(LanguageTable):
    """The content of a language file."""

    claims: dict[str, ClaimPatterns]
    forms: Forms
    answers: dict[str, tuple[str, ...]]
    reasons: dict[str, tuple[str, ...]]
    numbers: Numbers


class SeatPhrases:
    """Draws sentences, and draws no pattern again before all others of its kind have been said.

    Args:
        rng: The source of chance.
        me: The seat that speaks.
    """

    def __init__(self, rng: np.random.Generator, me: int) -> None:
        self.phrases = read_language(_PACKAGE, "en", Phrases)
        self._rng, self._me = rng, me
        self._left: dict[str, list[int]] = {}

    def claim(self, move: Move, option: str) -> str | None:
        """A claim in the middle of a sentence; None if the table gives the move another meaning, by its sentence `option`."""
        kind = _kind(move, self._me)
        slots = None if kind is None else self._claim_slots(kind, move, option)
        if kind is None or slots is None:
            return None
        return self._draw(f"claims {kind}", self.phrases.claims[kind].patterns).format(**slots)

    def alone(self, claim: str) -> str:
        """A claim without a reason, as a sentence."""
        return self._form("alone", claim=claim)

    def because(self, claim: str, reasons: Sequence[str], *, early: bool = False) -> str:
        """A claim and its reasons, one or two; `early`: words about the lack of reasons."""
        if early:
            return self._form("early", claim=claim, reason=reasons[0])
        return self._form("reason", claim=claim, reason=self._both(reasons))

    def answer(self, kind: str, other: int, reason: str) -> str:
        """A reply to whoever spoke to the speaker; without a reason, its beginning alone."""
        opener = self._draw(f"answers {kind}", self.phrases.answers[kind]).format(other=name(other))
        return self._form("answer", opener=opener, reason=_capital(reason)) if reason else opener

    def reply(self, topic: str, other: int, facts: Sequence[str]) -> str:
        """The beginning of an answer to a question on `topic`, and what it says, if it says it without a claim."""
        opener = self._draw(f"answers {topic}", self.phrases.answers[topic]).format(other=name(other))
        return self._form("reply", opener=opener, reason=_capital(self._both(facts))) if facts else opener

    def fact(self, fact: SeatFact) -> str:
        """A fact in the middle of a sentence."""
        return self._draw(f"reasons {fact.kind}", self.readings(fact))

    def readings(self, fact: SeatFact) -> list[str]:
        """All sentences in which `fact` may be said."""
        return [reason.format(**self._fact_slots(fact)) for reason in self.phrases.reasons[fact.kind]]

    # -- inside ------------------------------------------------------------------------------------------------

    def _both(self, parts: Sequence[str]) -> str:
        return parts[0] if len(parts) == 1 else self._form("both", first=parts[0], second=parts[1])

    def _form(self, kind: str, **parts: str) -> str:
        pattern = self._draw(f"forms {kind}", getattr(self.phrases.forms, kind))
        text = pattern.format(**parts)
        return _capital(text) if kind != "both" else text

    def _draw(self, kind: str, patterns: Sequence[str]) -> str:
        left = self._left.get(kind) or list(range(len(patterns)))
        number = left.pop(int(self._rng.integers(len(left))))
        self._left[kind] = left
        return patterns[number]

    def _claim_slots(self, kind: str, move: Move, option: str) -> dict[str, str] | None:
        """What the patterns of a claim name; None if its sentence at the table is not the canonical one."""
        canonical = self.phrases.claims[kind].canonical
        if kind == speech.CLAIM_ROLE:
            before, after = canonical.split("{role}")
            role = option.removeprefix(before).removesuffix(after)
            return {"role": role} if option == canonical.format(role=role) else None
        slots = {"seat": name(move.args[0])}
        if kind == speech.REPORT:
            slots["verdict"] = _VERDICTS[move.args[1]]
        if kind == speech.PROMISE:
            slots = {"will": _WILL[move.args[0]]}
        return slots if option == canonical.format(**slots) else None

    def _fact_slots(self, fact: SeatFact) -> dict[str, str]:
        small = self.phrases.numbers
        slots = {
            "who": small.subject if fact.about == self._me else name(fact.about),
            "whom": small.me if fact.about == self._me else name(fact.about),
        }
        for key, value in fact.slots.items():
            slots[key] = self._slot(key, value)
        return slots

    def _slot(self, key: str, value: Any) -> str:
        small = self.phrases.numbers
        if key == "team":
            return self._listed(value)
        if key == "other":
            return small.me if value == self._me else name(value)
        if key == "fails":
            return (small.fail if value == 1 else small.fails).format(count=small.words[value])
        return small.words[value] if key == "count" else str(value)

    def _listed(self, seats: Sequence[int]) -> str:
        small = self.phrases.numbers
        *first, last = [name(seat) for seat in seats if seat != self._me] + [small.me] * (self._me in seats)
        return small.last.format(first=", ".join(first), last=last) if first else last


def _kind(move: Move, me: int) -> str | None:
    """The patterns of a claim; None for moves that claim nothing."""
    if move.kind == speech.RECOMMEND and move.args == (me,):
        return _SELF
    return move.kind if move.kind in speech.ACTS and move.kind != speech.SILENT else None


def _capital(text: str) -> str:
    """A sentence begins with a capital letter; a seat's name stays as it is."""
    return text if text.startswith(name(0)[:-1]) else text[:1].upper() + text[1:]
