"""Werewolf's phases, moves, states and views as plain values; what they mean in play is in `rules.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from parlour.envs.core import Event
from parlour.envs.hidden_roles.rules import Options

# Phases, in the order of play.
DEAL: Final = 0
WHISPER: Final = 1  # the wolves talk among themselves
HUNT: Final = 2
TIE: Final = 3  # nature draws among the tied targets of the wolves
PROTECT: Final = 4
SAVE: Final = 5
POISON: Final = 6
CHECK: Final = 7
TALK: Final = 8
VOTE: Final = 9
LAST: Final = 10  # last words of the executed
DONE: Final = 11
NOBODY: Final[tuple[int, ...]] = ()

_new = tuple.__new__  # builds a NamedTuple without its keyword machinery, at half the cost


class Living(NamedTuple):
    """The living, as the rules ask for them: found when somebody dies, not at every turn."""

    speakers: tuple[int, ...]
    """All, in the order in which they talk and vote."""
    wolves: tuple[int, ...]
    """The werewolves, ascending."""
    guard: tuple[int, ...]
    """His seat; empty if he is dead, or not in play. The same for the witch and the seer."""
    witch: tuple[int, ...]
    seer: tuple[int, ...]

    def of(self, alive: Sequence[bool]) -> Living:
        """The living players among them, by seat."""
        speakers, wolves, guard, witch, seer = self
        return _new(
            Living,
            (
                tuple([j for j in speakers if alive[j]]),
                tuple([j for j in wolves if alive[j]]),
                guard if guard and alive[guard[0]] else NOBODY,
                witch if witch and alive[witch[0]] else NOBODY,
                seer if seer and alive[seer[0]] else NOBODY,
            ),
        )


class WerewolfStanding(NamedTuple):
    """What changes at dawn and at dusk, or by the use of a power, only."""

    roles: tuple[int, ...]
    """Role number of each seat, an index into `Werewolf.role_names`; empty before the deal."""
    order: tuple[int, ...]
    """The seats in the order in which they talk and vote; fixed by the deal."""
    alive: tuple[bool, ...]
    """By seat, as everybody knows it: who dies at night is alive until dawn."""
    day: int
    """Number of the night and of the day after it, from 1; 0 before the deal."""
    antidote: bool
    """Whether the witch still has it."""
    poison: bool
    """Whether the witch still has it."""
    guarded: int | None
    """The player protected in the latest night in which the guard was asked; None if nobody."""
    checks: tuple[tuple[int, bool], ...]
    """What the seer learnt: seat and whether it is a werewolf, oldest first."""
    reason: str
    """Why the game ended; empty while it has not."""
    living: Living
    """Who `alive` are."""


class Darkness(NamedTuple):
    """What has been done this night; empty by day."""

    victim: int | None
    """The wolves' target, before the guard and the witch."""
    protected: int | None
    saved: bool
    poisoned: int | None

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


CALM: Final = Darkness(None, None, False, None)


class WerewolfState(NamedTuple):
    """Everything about a game in progress. Hashable; never changed."""

    phase: int
    actor: int
    """The seat to move, `NATURE`, or `OVER`."""
    queue: tuple[int, ...]
    """Who moves after the actor in this phase."""
    secret: tuple[int, ...]
    """Votes of this phase so far, in the order of voting, -1 for nobody; on a tie the tied targets."""
    dark: Darkness
    standing: WerewolfStanding
    options: Options
    """Options of the seat to move; `NOTHING` if there is none."""
    log: tuple[Event, ...]
