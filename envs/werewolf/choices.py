"""What a seat may do at each of its decisions, and who sees it.

Speeches are laid out once. Options with targets depend on who lives: they are kept as they come up, and all dropped when they
are many, so that memory stays small and no game is slower for those before it.
"""

from __future__ import annotations

from itertools import compress
from typing import Final

from parlour.envs import speech
from parlour.envs.core import NATURE, Move
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

_KEPT: Final = 20_000
"""Options that are kept: more than come up at ten seats."""


class Choices:
    """The catalogue of one table, and the part of it that is open to a seat."""

    def __init__(self, *, seats: int, roles: int, rules: WerewolfRules, talk: bool) -> None:
        self._rules = rules
        every = range(seats)
        talks = speech.speeches(ACTS, seats, roles) if talk else ()
        whispers = speech.speeches(WHISPERS, seats, 0)[1:] if talk else ()  # silence stands among the talks
        aims = {kind: tuple(Move(kind, args) for args in (NOBODY, *((j,) for j in every))) for kind in TARGETED}
        self.catalogue = (*talks, *whispers, *(move for kind in TARGETED for move in aims[kind]), KEEP, GIVE)
        self.talks = [shown(i, None, [m for m in talks if speech.sayable(m, i)]) for i in every]
        healing = [shown(i, (i,), (KEEP, GIVE)) for i in every]
        self._fixed = {TALK: self.talks, LAST: self.talks, SAVE: healing}
        # by kind: nobody (in a whisper: silence), then each seat
        self._aims = aims | {speech.RECOMMEND: (*talks[:1], *whispers)}
        self._moves: dict[tuple[str, tuple[bool, ...]], tuple[Move, ...]] = {}
        self._options: dict[tuple[object, ...], Options] = {}
        self._secret_ballot = rules.votes_shown != "as_cast"
        wolves_matter = rules.hunt_shown == "as_cast" or not rules.hunt_wolves
        self._of_wolves = frozenset((WHISPER, HUNT) if wolves_matter else (WHISPER,))

    def of(self, phase: int, seat: int, standing: WerewolfStanding) -> Options:
        """The options of `seat` in `phase`; their `legal` is the same object as long as they are the same."""
        fixed = self._fixed.get(phase)
        if fixed is not None:
            return fixed[seat]
        also: object = None
        if phase == PROTECT:
            also = standing.guarded
        elif phase in self._of_wolves:
            also = standing.living.wolves
        key = phase, NATURE if phase == VOTE and self._secret_ballot else seat, standing.alive, also
        options = self._options.get(key)
        if options is None:
            if len(self._options) >= _KEPT:
                self._options.clear()
            options = self._options[key] = self._with_targets(phase, seat, standing)
        return options

    def _with_targets(self, phase: int, seat: int, standing: WerewolfStanding) -> Options:
        alive, rules = standing.alive, self._rules
        if phase == VOTE:
            ballots = self._aim(BALLOT, alive)
            return Options(ballots) if self._secret_ballot else shown(seat, None, ballots)
        if phase in (WHISPER, HUNT):
            wolves = standing.living.wolves
            to = wolves if phase == WHISPER or rules.hunt_shown == "as_cast" else (seat,)
            kind = speech.RECOMMEND if phase == WHISPER else KILL
            return shown(seat, to, self._aim(kind, alive, NOBODY if rules.hunt_wolves else wolves))
        if phase == PROTECT:
            barred = NOBODY if rules.guard_may_repeat or standing.guarded is None else (standing.guarded,)
            return shown(seat, (seat,), self._aim(GUARDS, alive, barred))
        if phase == POISON:
            return shown(seat, (seat,), self._aim(POISONS, alive))
        return shown(seat, (seat,), self._aim(CHECKS, alive, (seat,)))

    def _aim(self, kind: str, alive: tuple[bool, ...], spared: tuple[int, ...] = NOBODY) -> tuple[Move, ...]:
        """Nobody, or one of the living who are not spared; the same object for the same answer.

        Wordings are recognised by it.
        """
        aimed = tuple([lives and j not in spared for j, lives in enumerate(alive)])
        moves = self._moves.get((kind, aimed))
        if moves is None:
            if len(self._moves) >= _KEPT:
                self._moves.clear()
            nobody, *seats = self._aims[kind]
            moves = self._moves[kind, aimed] = (nobody, *compress(seats, aimed))
        return moves
