"""What a seat may do at each of its decisions, and who sees it: laid out once and cached, so that `legal` is a look-up."""

from __future__ import annotations

from typing import Final

from parlour.envs import speech
from parlour.envs.core import Move
from parlour.envs.hidden_roles import Options, shown
from parlour.envs.werewolf.presets import WerewolfRules
from parlour.envs.werewolf.state import (
    CHECK,
    HUNT,
    LAST,
    NOBODY,
    POISON,
    PROTECT,
    SAVE,
    TALK,
    WHISPER,
    WerewolfStanding,
)
from parlour.envs.werewolf.vocabulary import ACTS, BALLOT, CHECKS, GIVE, GUARDS, KEEP, KILL, POISONS, TARGETED, WHISPERS

_CACHED: Final = 20_000
_SILENT: Final = Move(speech.SILENT)


class Choices:
    """The catalogue of one table, and the part of it that is open to a seat."""

    def __init__(self, *, seats: int, roles: int, wolf: int, rules: WerewolfRules, talk: bool) -> None:
        self._rules = rules
        self._wolf = wolf
        self._wolves_matter = rules.hunt_shown == "as_cast" or not rules.hunt_wolves  # for a vote on the victim
        every = range(seats)
        talks = speech.speeches(ACTS, seats, roles) if talk else ()
        whispers = speech.speeches(WHISPERS, seats, 0)[1:] if talk else ()  # silence stands among the talks
        aims = tuple(Move(kind, args) for kind in TARGETED for args in (NOBODY, *((j,) for j in every)))
        self.catalogue = (*talks, *whispers, *aims, KEEP, GIVE)
        self.talks = [shown(i, None, [m for m in talks if speech.sayable(m, i)]) for i in every]
        self._healing = [shown(i, (i,), (KEEP, GIVE)) for i in every]
        self._aims: dict[tuple[str, tuple[int, ...]], tuple[Move, ...]] = {}
        self._asked: dict[tuple[object, ...], Options] = {}

    def of(self, phase: int, seat: int, standing: WerewolfStanding) -> Options:
        """The options of `seat` in `phase`; the same object as long as they are the same."""
        if phase in (TALK, LAST):
            return self.talks[seat]
        if phase == SAVE:
            return self._healing[seat]
        # beside who lives: the guard's memory, and who the living wolves are where they watch or spare each other
        more: object = None
        if phase == PROTECT:
            more = standing.guarded
        elif phase == WHISPER or (phase == HUNT and self._wolves_matter):
            more = self._wolves(standing)
        key = (phase, seat, standing.alive, more)
        cached = self._asked.get(key)
        if cached is None:
            if len(self._asked) >= _CACHED:
                self._asked.clear()
            cached = self._asked[key] = self._lay_out(phase, seat, standing)
        return cached

    def _lay_out(self, phase: int, seat: int, standing: WerewolfStanding) -> Options:
        living = [j for j, alive in enumerate(standing.alive) if alive]
        if phase in (WHISPER, HUNT):
            wolves = self._wolves(standing) if phase == WHISPER or self._wolves_matter else NOBODY
            prey = [j for j in living if self._rules.hunt_wolves or j not in wolves]
            if phase == WHISPER:
                return shown(seat, wolves, self._aim(speech.RECOMMEND, prey))
            return shown(seat, wolves if self._rules.hunt_shown == "as_cast" else (seat,), self._aim(KILL, prey))
        if phase == PROTECT:
            barred = None if self._rules.guard_may_repeat else standing.guarded
            return shown(seat, (seat,), self._aim(GUARDS, [j for j in living if j != barred]))
        if phase == POISON:
            return shown(seat, (seat,), self._aim(POISONS, living))
        if phase == CHECK:
            return shown(seat, (seat,), self._aim(CHECKS, [j for j in living if j != seat]))
        ballots = self._aim(BALLOT, living)
        if self._rules.votes_shown == "as_cast":
            return shown(seat, None, ballots)
        return Options(ballots)

    def _wolves(self, standing: WerewolfStanding) -> tuple[int, ...]:
        alive, wolf = standing.alive, self._wolf
        return tuple([j for j, role in enumerate(standing.roles) if role == wolf and alive[j]])

    def _aim(self, kind: str, seats: list[int]) -> tuple[Move, ...]:
        """Nobody (in a whisper: silence), or one of the seats; the same object for the same answer.

        Wordings are recognised by it.
        """
        key = (kind, tuple(seats))
        if key not in self._aims:
            if len(self._aims) >= _CACHED:
                self._aims.clear()
            nobody = _SILENT if kind == speech.RECOMMEND else Move(kind)
            self._aims[key] = (nobody, *(Move(kind, (j,)) for j in seats))
        return self._aims[key]
