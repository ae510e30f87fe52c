"""What a seat may do at each of its decisions, who sees it, and in which cycle of a night it is asked.

Speeches are laid out once. Options with targets depend on who lives: they are kept as they come up, those that were
asked for last, so that memory stays small.

The cycles of a night (`parlour.envs.adapters.moment`; source: ours) are a function of a seat's View. The rules let the wolves
whisper and vote one after another, then wake guard, witch and seer. The length of the night must not reveal how many of them
live. So it has a cycle for each wolf of the table to whisper in; one for the hunt, or one for each wolf where votes are
seen as they are cast; with the last hunter decide guard and seer, who hear of nothing before their turns; then the witch saves,
and in a last cycle she poisons.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import compress
from typing import Final

from parlour.envs.core import NATURE, Move
from parlour.envs.hidden_roles.rules import Options, shown
from parlour.envs.language import speech
from parlour.envs.werewolf.presets import WerewolfRules
from parlour.envs.werewolf.state import NOBODY, Living, WerewolfPhase, WerewolfStanding
from parlour.envs.werewolf.vocabulary import (
    ACTS,
    ATTACKED,
    BALLOT,
    CHECKS,
    GIVE,
    GUARD,
    GUARDS,
    HEALS,
    KEEP,
    KILL,
    NIGHT,
    POISONS,
    SEER,
    SHOOTS,
    TARGETED,
    WEREWOLF,
    WHISPERS,
    WITCH,
    WerewolfView,
    living_wolves,
)

_KEPT: Final = 20_000
"""Options that are kept: more than come up at ten seats."""
_OF_GUARD: Final = frozenset((WerewolfPhase.PROTECT,))


class Choices:
    """The catalogue of one table, and the part of it that is open to a seat."""

    def __init__(self, *, seats: int, roles: int, rules: WerewolfRules, talk: bool, hunter: bool = False) -> None:
        self._rules = rules
        every = range(seats)
        talks = speech.speeches(ACTS, seats, roles) if talk else ()
        whispers = speech.speeches(WHISPERS, seats, 0)[1:] if talk else ()  # silence stands among the talks
        aims = {kind: tuple(Move(kind, args) for args in ((), *((j,) for j in every))) for kind in (*TARGETED, SHOOTS)}
        self.catalogue = (*talks, *whispers, *(move for kind in TARGETED for move in aims[kind]), KEEP, GIVE)
        self.catalogue += aims[SHOOTS] * hunter  # last: the numbers of the others are those of a table without
        self.talks = [shown(i, None, [m for m in talks if speech.sayable(m, i)]) for i in every]
        healing = [shown(i, (i,), (KEEP, GIVE)) for i in every]
        self._fixed = {WerewolfPhase.TALK: self.talks, WerewolfPhase.LAST: self.talks, WerewolfPhase.SAVE: healing}
        # by kind: nobody (in a whisper: silence), then each seat
        self._aims = aims | {speech.RECOMMEND: (*talks[:1], *whispers)}
        self._secret_ballot = rules.votes_shown != "as_cast"
        self._of_all = frozenset((WerewolfPhase.VOTE,) if self._secret_ballot else ())
        wolves_matter = rules.hunt_shown == "as_cast" or not rules.hunt_wolves
        self._of_wolves = frozenset(
            (WerewolfPhase.WHISPER, WerewolfPhase.HUNT) if wolves_matter else (WerewolfPhase.WHISPER,)
        )

    def of(self, phase: WerewolfPhase, seat: int, standing: WerewolfStanding) -> Options:
        """The options of `seat` in `phase`; their `legal` is the same object as long as they are the same."""
        fixed = self._fixed.get(phase)
        if fixed is not None:
            return fixed[seat]
        chooser = NATURE if phase in self._of_all else seat
        guarded = standing.guarded if phase in _OF_GUARD else None
        wolves = standing.living.wolves if phase in self._of_wolves else NOBODY
        return self._with_targets(phase, chooser, standing.alive, guarded, wolves)

    @lru_cache(maxsize=_KEPT)  # noqa: B019 - bounded, and tables of rules live as long as their environments
    def _with_targets(
        self, phase: WerewolfPhase, seat: int, alive: tuple[bool, ...], guarded: int | None, wolves: tuple[int, ...]
    ) -> Options:
        rules = self._rules
        if phase == WerewolfPhase.VOTE:
            ballots = self._aim(BALLOT, alive)
            return Options(ballots) if self._secret_ballot else shown(seat, None, ballots)
        if phase == WerewolfPhase.SHOOT:
            return shown(seat, None, self._aim(SHOOTS, alive))
        if phase in (WerewolfPhase.WHISPER, WerewolfPhase.HUNT):
            to = wolves if phase == WerewolfPhase.WHISPER or rules.hunt_shown == "as_cast" else (seat,)
            kind = speech.RECOMMEND if phase == WerewolfPhase.WHISPER else KILL
            return shown(seat, to, self._aim(kind, alive, () if rules.hunt_wolves else wolves))
        if phase == WerewolfPhase.PROTECT:
            barred = () if rules.guard_may_repeat or guarded is None else (guarded,)
            return shown(seat, (seat,), self._aim(GUARDS, alive, barred))
        if phase == WerewolfPhase.POISON:
            return shown(seat, (seat,), self._aim(POISONS, alive))
        return shown(seat, (seat,), self._aim(CHECKS, alive, (seat,)))

    def _aim(self, kind: str, alive: tuple[bool, ...], spared: tuple[int, ...] = ()) -> tuple[Move, ...]:
        """Nobody, or one of the living who are not spared; the same object for the same answer.

        Wordings are recognised by it.
        """
        return self._aimed(kind, tuple([lives and j not in spared for j, lives in enumerate(alive)]))

    @lru_cache(maxsize=_KEPT)  # noqa: B019
    def _aimed(self, kind: str, aimed: tuple[bool, ...]) -> tuple[Move, ...]:
        nobody, *seats = self._aims[kind]
        return nobody, *compress(seats, aimed)


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
        wolves = living_wolves(view)
        phase = self._phase(view, wolves, cycle)
        if phase is None:
            return ()
        standing = WerewolfStanding(alive=view.alive, guarded=view.guarded, living=Living(wolves=wolves))
        return self._choices.of(phase, view.seat, standing).legal

    def _phase(self, view: WerewolfView, wolves: tuple[int, ...], cycle: int) -> WerewolfPhase | None:
        """As what the seat is asked; None if it waits."""
        if view.role == WEREWOLF:
            place = wolves.index(view.seat)
            if cycle < self._whispers:
                return WerewolfPhase.WHISPER if cycle == place and len(wolves) > 1 else None
            after = len(wolves) - 1 - place if self._one_by_one else 0
            return WerewolfPhase.HUNT if cycle == self._last_hunt - after else None
        if view.role == WITCH:
            return _of_witch(view, cycle - self._last_hunt)
        return (
            {GUARD: WerewolfPhase.PROTECT, SEER: WerewolfPhase.CHECK}.get(view.role)
            if cycle == self._last_hunt
            else None
        )


def _of_witch(view: WerewolfView, after_hunt: int) -> WerewolfPhase | None:
    """She saves whom she hears to be dying, and poisons unless she knows that she dies herself."""
    attacked: tuple[int, ...] = ()
    saved = False
    for _, move, _ in reversed(view.events):
        if move.kind == NIGHT:
            break
        attacked = move.args if move.kind == ATTACKED else attacked
        saved = saved or (move.kind == HEALS and move.args == (1,))
    if after_hunt == 1:
        return WerewolfPhase.SAVE if view.antidote and attacked else None
    return WerewolfPhase.POISON if after_hunt == 2 and view.poison and (saved or attacked != (view.seat,)) else None
