"""Werewolf's phases, moves, states and views as plain values; what they mean in play is in `rules.py`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from parlour.envs.core import Event
from parlour.envs.hidden_roles.rules import NOTHING, Options


class WerewolfPhase(IntEnum):
    """Phases, in the order of play; then the phases of tables with bids, and of tables with a hunter."""

    DEAL = 0
    WHISPER = 1
    """The wolves talk among themselves."""
    HUNT = 2
    TIE = 3
    """Nature draws among the tied targets of the wolves."""
    PROTECT = 4
    SAVE = 5
    POISON = 6
    CHECK = 7
    TALK = 8
    VOTE = 9
    LAST = 10
    """Last words of the executed."""
    DONE = 11
    BID = 12
    FLOOR_TIE = 13
    """Nature draws among equal bids."""
    SHOOT = 14
    """The hunter, who has just died, shoots."""


NOBODY: Final[tuple[int, ...]] = ()


class Living(NamedTuple):
    """The living, as the rules ask for them: found when somebody dies, not at every turn."""

    speakers: tuple[int, ...] = NOBODY
    """All, in the order in which they talk and vote."""
    wolves: tuple[int, ...] = NOBODY
    """The werewolves, ascending."""
    guard: tuple[int, ...] = NOBODY
    """His seat; empty if he is dead, or not in play. The same for the witch, the seer and the hunter."""
    witch: tuple[int, ...] = NOBODY
    seer: tuple[int, ...] = NOBODY
    hunter: tuple[int, ...] = NOBODY

    def of(self, alive: Sequence[bool]) -> Living:
        """The living players among them, by seat."""
        return Living._make(tuple([seat for seat in seats if alive[seat]]) for seats in self)


class WerewolfStanding(NamedTuple):
    """What changes at dawn and at dusk, or by the use of a power, only."""

    alive: tuple[bool, ...]
    """By seat, as everybody knows it: who dies at night is alive until dawn."""
    roles: tuple[int, ...] = NOBODY
    """Role number of each seat, an index into `Werewolf.role_names`; empty before the deal."""
    order: tuple[int, ...] = NOBODY
    """The seats in the order in which they talk and vote; fixed by the deal."""
    day: int = 0
    """Number of the night and of the day after it, from 1; 0 before the deal."""
    antidote: bool = True
    """Whether the witch still has it."""
    poison: bool = True
    """Whether the witch still has it."""
    guarded: int | None = None
    """The player protected in the latest night in which the guard was asked; None if nobody."""
    checks: tuple[tuple[int, bool], ...] = ()
    """What the seer learnt: seat and whether it is a werewolf, oldest first."""
    reason: str = ""
    """Why the game ended; empty while it has not."""
    living: Living = Living()
    """Who `alive` are."""


class Darkness(NamedTuple):
    """What has been done this night; empty by day, except while a hunter shoots who died by night."""

    victim: int | None = None
    """The wolves' target, before the guard and the witch."""
    protected: int | None = None
    saved: bool = False
    poisoned: int | None = None

    @property
    def killed(self) -> int | None:
        """The wolves' victim, after the guard and the antidote. Protection is against the wolves only."""
        return None if self.saved or self.victim == self.protected else self.victim

    @property
    def dead(self) -> tuple[int, ...]:
        """Who dies of this night, ascending."""
        killed, poisoned = self.killed, self.poisoned
        if killed is None or poisoned is None:
            victim = killed if poisoned is None else poisoned
            return NOBODY if victim is None else (victim,)
        return (killed,) if killed == poisoned else (min(killed, poisoned), max(killed, poisoned))


CALM: Final = Darkness()


class WerewolfState(NamedTuple):
    """Everything about a game in progress. Hashable; never changed."""

    phase: WerewolfPhase
    actor: int
    """The seat to move, `NATURE`, or `OVER`."""
    standing: WerewolfStanding
    queue: tuple[int, ...] = NOBODY
    """Who moves after the actor in this phase."""
    secret: tuple[int, ...] = NOBODY
    """Votes of this phase so far, in the order of voting, -1 for nobody; on a tie the tied targets."""
    dark: Darkness = CALM
    options: Options = NOTHING
    """Options of the seat to move; `NOTHING` if there is none."""
    log: tuple[Event, ...] = ()
