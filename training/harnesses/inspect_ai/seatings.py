"""Which games a task plays: the deals, and in each the seats that the model takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from parlour.envs.aec import GameEnv
from parlour.envs.core import GameSpec, ParlourError, accept, check_from, listed
from parlour.training.play import seeds

ONE: Final = "one"
EACH: Final = "each"
ALL: Final = "all"
MIXED: Final = "mixed"
"""The side of seats that are on several sides."""


@dataclass(frozen=True)
class TaskGame:
    """One game: its deal, and who the model is in it."""

    seed: int
    agents: tuple[str, ...]
    """The seats that the model takes."""
    side: str
    """Theirs; `"mixed"` where they are on several, empty in a game without sides."""
    role: str
    """Theirs, by seat, separated by commas; empty in a game without roles."""
    name: str
    """Tells the game from the others of its task."""


def seeds_of(deals: int | Sequence[int], first: int) -> list[int]:
    """The seeds: so many of `parlour.training.play.seeds.HELD_OUT`, counted from `first`; or those that are given.

    Raises:
        ParlourError: There are none, or one of them is no seed.
    """
    if isinstance(deals, int):
        check_from("deals", deals, 1)
        check_from("seed", first, 0)
        return list(seeds.HELD_OUT[first : first + deals])
    given = list(deals)
    for seed in given:
        check_from("seed", seed, 0)
    if not given or len(set(given)) < len(given):
        raise ParlourError(f"deals {listed(given)} are not accepted; accepted: a number, or seeds, each once")
    return given


def seatings(
    base: GameEnv, dealt: Sequence[int], seats: str | Sequence[str] = ONE, sides: str | Sequence[str] | None = None
) -> list[TaskGame]:
    """The games of a task.

    Args:
        base: The table; each seed is dealt at it.
        dealt: The seeds.
        seats: `"one"`: one seat in each deal, the k-th deal's is seat k modulo the number of seats, or the first after it on
            the side; `"each"`: every seat in a game of its own; `"all"`: all seats together in one game; or the names of
            seats, which the model takes together.
        sides: Only seats of these sides, each side in a game of its own; None: sides do not matter.

    Raises:
        ParlourError: There is no such seat or side.
    """
    wanted = _sides(base.spec, sides)
    named = _named(base, seats)
    if named and wanted:
        raise ParlourError("seats by name are not accepted with sides; accepted: either, or seats one, each, all")
    found = []
    for number, seed in enumerate(dealt):
        base.reset(seed=seed)
        views: list[Any] = [base.view(seat) for seat in range(base.game.seats)]
        groups = [("+".join(named), named)] if named else list(_groups(base, views, str(seats), wanted, number))
        found += [_seating(base, views, seed, name, agents) for name, agents in groups]
    return found


def _sides(spec: GameSpec, sides: str | Sequence[str] | None) -> list[str]:
    wanted = [] if sides is None else [sides] if isinstance(sides, str) else list(sides)
    for side in wanted:
        if side not in spec.sides:
            raise accept(f"side of {spec.id}", side, spec.sides or "none, as the game has no sides")
    return wanted


def _named(base: GameEnv, seats: str | Sequence[str]) -> tuple[str, ...]:
    """The seats that are given by name; empty for a rule."""
    given = [seats] if isinstance(seats, str) else list(seats)
    if given in ([ONE], [EACH], [ALL]):
        return ()
    for agent in given:
        if agent not in base.seat_of:
            raise accept("seats", agent, (ONE, EACH, ALL, *base.possible_agents))
    return tuple(agent for agent in base.possible_agents if agent in given)


def _groups(
    base: GameEnv, views: Sequence[Any], rule: str, wanted: Sequence[str], number: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of one deal: what each game is called, and the seats that the model takes in it."""
    agents = base.possible_agents
    first = number % len(agents)
    for side in wanted or (None,):
        mine = [agent for agent in agents if side is None or views[base.seat_of[agent]].side == side]
        if rule == ALL:
            yield side or ALL, tuple(mine)
        elif rule == EACH:
            yield from ((agent, (agent,)) for agent in mine)
        else:
            taken = next(agent for agent in (*agents[first:], *agents) if agent in mine)
            yield taken, (taken,)


def _seating(base: GameEnv, views: Sequence[Any], seed: int, name: str, agents: tuple[str, ...]) -> TaskGame:
    own = [views[base.seat_of[agent]] for agent in agents]
    sides = {view.side for view in own} if base.spec.sides else {""}
    roles = [view.role for view in own if hasattr(view, "role")]
    return TaskGame(seed, agents, sides.pop() if len(sides) == 1 else MIXED, ", ".join(roles), f"{seed}-{name}")
