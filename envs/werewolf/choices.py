"""What a seat may do at each of its decisions, and who sees it.

What is kept is small, however many games are played: speeches by seat, targets by who may be aimed at. The options of a turn
are made of them anew.
"""

from __future__ import annotations

from itertools import compress
from typing import Final

from parlour.envs import speech
from parlour.envs.core import Move
from parlour.envs.hidden_roles import Options, shown
from parlour.envs.werewolf.presets import WerewolfRules
from parlour.envs.werewolf.state import (
    HUNT,
    LAST,
    NOBODY,
    POISON,
    PROTECT,
    SAVE,
    TALK,
    VOTE,
    WHISPER,
    WerewolfStanding,
)
from parlour.envs.werewolf.vocabulary import ACTS, BALLOT, CHECKS, GIVE, GUARDS, KEEP, KILL, POISONS, TARGETED, WHISPERS

_CACHED: Final = 20_000
"""Targets that are kept: more than there are at ten seats."""


class Choices:
    """The catalogue of one table, and the part of it that is open to a seat."""

    def __init__(self, *, seats: int, roles: int, wolf: int, rules: WerewolfRules, talk: bool) -> None:
        self._rules = rules
        self._wolf = wolf
        every = range(seats)
        talks = speech.speeches(ACTS, seats, roles) if talk else ()
        whispers = speech.speeches(WHISPERS, seats, 0)[1:] if talk else ()  # silence stands among the talks
        aims = {kind: tuple(Move(kind, args) for args in (NOBODY, *((j,) for j in every))) for kind in TARGETED}
        self.catalogue = (*talks, *whispers, *(move for kind in TARGETED for move in aims[kind]), KEEP, GIVE)
        self.talks = [shown(i, None, [m for m in talks if speech.sayable(m, i)]) for i in every]
        self._healing = [shown(i, (i,), (KEEP, GIVE)) for i in every]
        # by kind: nobody (in a whisper: silence), then each seat
        self._aims = aims | {speech.RECOMMEND: (*talks[:1], *whispers)}
        self._kept: dict[tuple[str, tuple[bool, ...]], tuple[Move, ...]] = {}

    def of(self, phase: int, seat: int, standing: WerewolfStanding) -> Options:
        """The options of `seat` in `phase`; their `legal` is the same object as long as they are the same."""
        if phase in (TALK, LAST):
            return self.talks[seat]
        if phase == SAVE:
            return self._healing[seat]
        alive, rules = standing.alive, self._rules
        if phase == VOTE:
            ballots = self._aim(BALLOT, alive)
            return shown(seat, None, ballots) if rules.votes_shown == "as_cast" else Options(ballots)
        if phase in (WHISPER, HUNT):
            return self._of_wolf(phase, seat, standing)
        if phase == PROTECT:
            barred = NOBODY if rules.guard_may_repeat or standing.guarded is None else (standing.guarded,)
            return shown(seat, (seat,), self._aim(GUARDS, alive, barred))
        if phase == POISON:
            return shown(seat, (seat,), self._aim(POISONS, alive))
        return shown(seat, (seat,), self._aim(CHECKS, alive, (seat,)))

    def _of_wolf(self, phase: int, seat: int, standing: WerewolfStanding) -> Options:
        wolves = self._wolves(standing)
        kind = speech.RECOMMEND if phase == WHISPER else KILL
        to = wolves if phase == WHISPER or self._rules.hunt_shown == "as_cast" else (seat,)
        return shown(seat, to, self._aim(kind, standing.alive, NOBODY if self._rules.hunt_wolves else wolves))

    def _wolves(self, standing: WerewolfStanding) -> tuple[int, ...]:
        alive, wolf = standing.alive, self._wolf
        return tuple([j for j, role in enumerate(standing.roles) if role == wolf and alive[j]])

    def _aim(self, kind: str, alive: tuple[bool, ...], spared: tuple[int, ...] = NOBODY) -> tuple[Move, ...]:
        """Nobody, or one of the living who are not spared; the same object for the same answer.

        Wordings are recognised by it.
        """
        aimed = tuple([lives and j not in spared for j, lives in enumerate(alive)]) if spared else alive
        key = kind, aimed
        moves = self._kept.get(key)
        if moves is None:
            if len(self._kept) >= _CACHED:
                self._kept.clear()
            nobody, *seats = self._aims[kind]
            moves = self._kept[key] = (nobody, *compress(seats, aimed))
        return moves
