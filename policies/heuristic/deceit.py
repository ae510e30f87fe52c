"""How a werewolf lies, for players by heuristic: one rule, whatever a player makes of the others. Of parlour's own.

With chance `deceit` a werewolf's words are a lie, and its vote is one cast for show. Lies: it counters a claim to be
the seer with its own claim. It clears a suspected fellow with an invented check. Otherwise it frames the player with
the most trust: with an invented check, or with an accusation if a fellow is the false seer. The vote
goes with the village, fellows included, until the werewolves are few votes short of a majority; then it turns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from parlour.envs import speech
from parlour.envs.core import Move, accept

SHORT: Final = 1
"""By how many the village may outnumber the werewolves when they stop voting with it."""


class Liar(NamedTuple):
    """The knowledge that a lying werewolf uses; all players it names are alive."""

    trusted: int
    """The villager with the most trust at the table."""
    rivals: Sequence[int]
    """Who of the village claims to see, latest last."""
    suspected: int | None
    """A fellow under suspicion."""
    told: Collection[int]
    """Players on which it has reported."""
    fellow_sees: bool
    """Whether another werewolf claims to see."""


def lies(given: Liar) -> list[Move]:
    """What it says: wishes, the best first.

    >>> [(one.kind, one.args) for one in lies(Liar(trusted=3, rivals=(4,), suspected=1, told=(), fellow_sees=False))]
    [('report', (4, 1)), ('report', (1, 0)), ('report', (3, 1)), ('accuse', (3,))]
    """
    rivals = list(reversed(given.rivals))
    if given.fellow_sees:
        return [Move(speech.ACCUSE, (rival,)) for rival in (*rivals[:1], given.trusted)]
    checks = [(rival, 1) for rival in rivals]
    checks += [] if given.suspected is None else [(given.suspected, 0)]
    checks.append((given.trusted, 1))
    reports = [Move(speech.REPORT, check) for check in checks if check[0] not in given.told]
    return [*reports, Move(speech.ACCUSE, (given.trusted,))]


def turns(wolves: int, villagers: int) -> bool:
    """Whether it is late enough for werewolves to vote as such, by how many of both live.

    >>> turns(wolves=3, villagers=5), turns(wolves=3, villagers=4)
    (False, True)
    """
    return villagers <= wolves + SHORT


def deceit_of(value: float | str) -> float:
    """The setting `deceit`, in words or as a number. Raises `ParlourError` for what is no number 0..1."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise accept("deceit", value, "a number 0..1")
    return number
