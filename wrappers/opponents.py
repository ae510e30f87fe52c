"""Who plays the other seats: one door for all that a caller may name, make or hand over as players."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.adapters.turn import Player
from parlour.envs.common import dotted
from parlour.envs.core import ParlourError

Opponents = str | Callable[..., Player] | Sequence[str | Player]
"""A policy's name; a class, or a function of no argument or of a seat, that makes a policy; or one of each seat, by name or made."""
_MAKE: Final = "parlour.policies:make_policy"  # by its dotted name: environments know no policies
_METHODS: Final = ("reset", "act", "wants")


def seated(opponents: Opponents, base: GameEnv) -> list[Player]:
    """A player for each seat of the table.

    Args:
        opponents: A name as `parlour.policies.make_policy` takes it; a class of policies; a function that makes one, called
            for each seat with the seat or without an argument; or a name or a policy for each seat, in order.
        base: The table.

    Raises:
        ParlourError: They are none of these, or not as many as the seats.
    """
    seats = range(base.game.seats)
    if isinstance(opponents, str):
        return [_named(opponents, base) for _ in seats]
    if _is_player(opponents):
        raise _refused(f"one {type(opponents).__name__} for all seats is", base)
    if callable(opponents):
        return [_made(opponents, seat, base) for seat in seats]
    if not isinstance(opponents, Sequence):
        raise _refused(f"opponents {opponents!r} are", base)
    if len(opponents) != len(seats):
        raise _refused(f"{len(opponents)} opponents are", base)
    return [_checked(opponent, base) for opponent in opponents]


def _checked(opponent: Any, base: GameEnv) -> Player:
    """A player of a list, made where it is named."""
    if isinstance(opponent, str):
        return _named(opponent, base)
    if not _is_player(opponent):
        raise _refused(f"opponent {opponent!r} is", base)
    return opponent  # type: ignore[no-any-return]  # it has the methods of a Player


def _named(name: str, base: GameEnv) -> Player:
    player: Player = dotted.load(_MAKE, "policy")(name, base.spec.id, base.game.config)
    return player


def _made(make: Callable[..., Any], seat: int, base: GameEnv) -> Player:
    given = () if inspect.isclass(make) else (seat,)  # a policy is told its seat by `reset`
    for arguments in (given, ()):
        if _takes(make, arguments):
            return _checked(make(*arguments), base)
    raise _refused(f"{getattr(make, '__name__', make)}, which takes other arguments, is", base)


def _takes(make: Callable[..., Any], arguments: tuple[int, ...]) -> bool:
    try:
        inspect.signature(make).bind(*arguments)
    except TypeError:
        return False
    except ValueError:  # built in, without a signature
        return True
    return True


def _is_player(opponent: Any) -> bool:
    return not inspect.isclass(opponent) and all(hasattr(opponent, name) for name in _METHODS)


def _refused(what: str, base: GameEnv) -> ParlourError:
    return ParlourError(
        f"{what} not accepted; accepted: a name such as 'heuristic' or 'random'; a class or a function that makes a policy, "
        f"without an argument or of a seat; or one for each of {base.game.seats} seats"
    )
