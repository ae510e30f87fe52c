"""What the messages that a baseline was given say about each player: one number, by the reading that all methods share.

What the moderator says is taken first. Then every statement of a player counts by its confidence and by how far its speaker
is believed after that, and reveals something about its speaker if its target is known. What players say about each other is
not followed from one to the next: chains of evidence are what GRATR adds. Nothing is remembered: another turn, another set of
messages, another inference. It replaces the answer of a language model, and is not one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import tanh
from typing import Final

from parlour.policies.agents.werewolf import reading
from parlour.policies.agents.werewolf.notes import HeardMessage
from parlour.policies.agents.werewolf.reading import Observer, ReadJudgement

EPSILON: Final = 0.2
"""Trust of at most this size, either way, is none: tolerance of decisions 1.1."""
STANCES: Final = ("ally", "adversary", "unsure")
ALLY, ADVERSARY, UNSURE = STANCES
_UNKNOWN: Final = 0.5
"""Trust in a speaker about which nothing is known."""
ENEMY: Final = -0.5
"""Where a werewolf's view of the others starts: they are enemies, more or less dangerous ones."""
HARMLESS: Final = -0.25
"""The most trust that a werewolf has in an enemy."""
DANGER: Final = {"seer": 0.5, "witch": 0.3, "guard": 0.2, "hunter": 0.1}
"""How much more dangerous a role is to werewolves."""
_SHARE: Final = 0.02
"""... and a point of score spent on attacking or defending a werewolf."""


def stance(trust: float) -> str:
    """The class of a number of trust (the paper's table 1).

    >>> stance(0.2), stance(-0.7)
    ('unsure', 'adversary')
    """
    return ALLY if trust > EPSILON else ADVERSARY if trust < -EPSILON else UNSURE


def infer(observer: Observer, players: int, messages: Sequence[HeardMessage], weights: Sequence[float]) -> list[float]:
    """Trust in each player, in seat order, each in [-1, 1]; 1 in oneself and in certain allies, -1 in certain adversaries.

    `weights`: how much each of the messages counts.
    """
    if observer.identity == reading.WEREWOLF:
        return _as_wolf(observer, players, messages, weights)
    said = [
        (message.speaker, weight, reading.judged_by(observer, message.speaker, _read(message, players)))
        for message, weight in zip(messages, weights, strict=True)
    ]
    certain = dict.fromkeys(observer.good, 1.0) | dict.fromkeys(observer.bad, -1.0) | {observer.seat: 1.0}
    facts = _counted(_Tally(players, certain), [statement for statement in said if statement[0] == reading.MODERATOR])
    tally = _counted(facts, said)
    return [tally.trust(seat) for seat in range(players)]


class _Tally:
    """What speaks for and against each player."""

    def __init__(self, players: int, certain: Mapping[int, float]) -> None:
        self.players, self.certain = players, certain
        self.counts: list[list[float]] = [[] for _ in range(players)]

    def trust(self, seat: int) -> float:
        """Trust in a player. An echo counts half."""
        if seat in self.certain:
            return self.certain[seat]
        total = 0.0
        for sign in (1, -1):
            counts = sorted((sign * u for u in self.counts[seat] if sign * u > 0), reverse=True)
            total += sign * sum(u * 0.5**k for k, u in enumerate(counts))
        return tanh(total)


def _read(message: HeardMessage, players: int) -> reading.ReadStatement:
    return reading.read(message.speaker, message.in_full, players)


def _counted(before: _Tally, said: Sequence[tuple[int, float, tuple[ReadJudgement, ...]]]) -> _Tally:
    """Count every statement twice: for whom it is about, by how far its speaker is believed; and for the speaker, by what
    is held of whom it is about.
    """
    after = _Tally(before.players, before.certain)
    for speaker, weight, judgements in said:
        credit = 1.0 if speaker == reading.MODERATOR else _credit(before.trust(speaker))
        for player, identity, confidence in judgements:
            u = weight * confidence / reading.MOST * (-1 if reading.is_bad(identity) else 1)
            # what a statement says of the speaker himself does not hang on whether he is believed
            after.counts[player].append(u * (_UNKNOWN if player == speaker else credit))
            if speaker not in (reading.MODERATOR, player):
                after.counts[speaker].append(u * before.trust(player))
    return after


def _credit(trust: float) -> float:
    """How far somebody is believed: 1 for an ally, a half for a stranger, -1 for an adversary; linear in between.

    >>> _credit(1.0), _credit(0.0), _credit(-1.0)
    (1.0, 0.5, -1.0)
    """
    return _UNKNOWN + (1 - _UNKNOWN if trust > 0 else 1 + _UNKNOWN) * trust


def _as_wolf(
    observer: Observer, players: int, messages: Sequence[HeardMessage], weights: Sequence[float]
) -> list[float]:
    """A werewolf knows the sides; what it infers is who is dangerous: the lower, the more."""
    wolves = {observer.seat, *observer.bad}
    danger = [0.0] * players
    for message, weight in zip(messages, weights, strict=True):
        statement = _read(message, players)
        for a, kind, b, score in statement.intents:
            if b in wolves and a not in wolves:
                danger[a] += weight * _SHARE * score * (-1 if kind == reading.DEFEND else 1)
        for player, identity, confidence in reading.judged_by(observer, message.speaker, statement):
            danger[player] += weight * DANGER.get(identity, 0.0) * confidence / reading.MOST
    return [1.0 if seat in wolves else max(-1.0, min(HARMLESS, ENEMY - danger[seat])) for seat in range(players)]
