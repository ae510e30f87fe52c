"""What a seat is asked in each cycle of a night: a function of its View (`parlour.envs.moment`). Source: ours.

The rules let the wolves whisper and vote one after another, then wake guard, witch and seer. How many of them live must not
be told by the length of the night. So it has a cycle for each wolf of the table to whisper in; one for the hunt, or one for
each wolf where votes are seen as they are cast; with the last hunter decide guard and seer, who hear of nothing before
their turns; then the witch saves, and in a last cycle she poisons.
"""

from __future__ import annotations

from parlour.envs.core import Move
from parlour.envs.werewolf.choices import Choices
from parlour.envs.werewolf.presets import WerewolfRules
from parlour.envs.werewolf.state import CHECK, HUNT, NOBODY, POISON, PROTECT, SAVE, WHISPER, Living, WerewolfStanding
from parlour.envs.werewolf.vocabulary import (
    ATTACKED,
    GUARD,
    HEALS,
    NIGHT,
    SEER,
    WEREWOLF,
    WITCH,
    WerewolfView,
)


class Night:
    """The nights of one table.

    Args:
        roles: In play.
        rules: The preset.
        talk: Whether the wolves whisper.
        choices: What is legal at each decision.
    """

    def __init__(self, roles: tuple[str, ...], rules: WerewolfRules, talk: bool, choices: Choices) -> None:
        wolves = roles.count(WEREWOLF)
        self._choices = choices
        self._whispers = wolves if talk and wolves > 1 else 0
        self._one_by_one = rules.hunt_shown == "as_cast"
        self._last_hunt = self._whispers + (wolves if self._one_by_one else 1) - 1
        self.cycles = self._last_hunt + 1 + 2 * (WITCH in roles)
        """How many a night has."""

    def asked(self, view: WerewolfView, cycle: int) -> tuple[Move, ...]:
        """What the seat may choose from in a cycle of the night; empty if it waits."""
        if not view.alive[view.seat]:
            return ()
        wolves = _wolves(view)
        phase = self._phase(view, wolves, cycle)
        if phase is None:
            return ()
        living = Living(NOBODY, wolves, NOBODY, NOBODY, NOBODY)
        standing = WerewolfStanding(
            (), view.speakers, view.alive, view.day, True, True, view.guarded, view.checks, "", living
        )
        return self._choices.of(phase, view.seat, standing).legal

    def _phase(self, view: WerewolfView, wolves: tuple[int, ...], cycle: int) -> int | None:
        """As what the seat is asked; None if it waits."""
        if view.role == WEREWOLF:
            place = wolves.index(view.seat)
            if cycle < self._whispers:
                return WHISPER if cycle == place and len(wolves) > 1 else None
            after = len(wolves) - 1 - place if self._one_by_one else 0
            return HUNT if cycle == self._last_hunt - after else None
        if view.role == WITCH:
            return _of_witch(view, cycle - self._last_hunt)
        return {GUARD: PROTECT, SEER: CHECK}.get(view.role) if cycle == self._last_hunt else None


def _wolves(view: WerewolfView) -> tuple[int, ...]:
    """The living wolves as a wolf knows them, ascending; nobody for others."""
    if view.role != WEREWOLF:
        return NOBODY
    every = {view.seat, *(seat for known in view.knows for seat in known.seats)}
    return tuple(seat for seat in sorted(every) if view.alive[seat])


def _of_witch(view: WerewolfView, after_hunt: int) -> int | None:
    """She saves whom she hears to be dying, and poisons unless she knows that she dies herself."""
    attacked, saved = NOBODY, False
    for _, move, _ in reversed(view.events):
        if move.kind == NIGHT:
            break
        attacked = move.args if move.kind == ATTACKED else attacked
        saved = saved or (move.kind == HEALS and move.args == (1,))
    if after_hunt == 1:
        return SAVE if view.antidote and attacked else None
    return POISON if after_hunt == 2 and view.poison and (saved or attacked != (view.seat,)) else None
