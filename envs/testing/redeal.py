"""Re-deals: whatever reaches a seat, in any form, is the same in two games that it cannot distinguish.

Knowing the same means: the same words about itself, the same events in the same order, the same moves of its own. As long as
that is so, prose, features, masks, info, View, rewards and the public record must be equal at every state, bare and through
every wrapper; so must the parallel form, cycle by cycle, and what LearnerSeats gives, turn by turn. The end of a game is left
out: it names the winner, as it should.

A *re-deal* is counted for each state of a twin (`parlour.envs.testing.twins`) that was no state of the game, and at which the
seat knows what it knew there; it counts once, in however many forms the pair is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from parlour.envs.core import NATURE, Move
from parlour.envs.testing.forms import CYCLES, TURNS, Aec, Cycles, Form, Trace, forms
from parlour.envs.testing.require import require, require_equal
from parlour.envs.testing.table import ConfiguredGame
from parlour.envs.testing.twins import At, Played, Twins, new_events, redealt

BARE: Final = Aec()
IN_CYCLES: Final = Cycles("cycles, table features", observation="features")
WORDED: Final = 0.2
"""Share of the speeches with free words."""


@dataclass(frozen=True)
class Leak:
    """A difference that a seat could see."""

    form: str
    seat: int
    played: tuple[Move, ...]
    """The game, and its twin."""
    twin: tuple[Move, ...]

    def __str__(self) -> str:
        return f"seat {self.seat} is shown hidden information: {self.form} differs in games that it cannot tell apart"


@dataclass
class Redeals:
    """What was compared and found."""

    moments: int = 0
    """Re-deals, as this module counts them."""
    twins: int = 0
    cycles: int = 0
    """Cycles of the parallel form."""
    turns: int = 0
    """Turns of SeatEnv and LearnerSeats."""
    leaks: list[Leak] = field(default_factory=list)


def redeals(
    table: ConfiguredGame,
    rng: np.random.Generator,
    *,
    seats: int | None = None,
    twins: int = 2,
    others: int | None = 1,
    more: Sequence[Form] = (),
) -> Redeals:
    """Play a random game, and compare it with twins.

    Args:
        table: The game.
        rng: All chance.
        seats: For how many seats, drawn by chance; None: for all.
        twins: Twins of each seat.
        others: Number of randomly drawn forms in which each seat's twins are compared, besides the bare AEC form and cycles;
            None: in all.
        more: Further forms to draw from, in addition to `forms`.
    """
    game, result = table.game, Redeals()
    played = Played(game, tuple(table.play(int(rng.integers(2**31)), words=WORDED).moves))
    known = [*forms(table.spec, game), *more]
    for seat in rng.permutation(game.seats)[:seats].tolist():
        chosen = [BARE, IN_CYCLES, *(known[k] for k in rng.permutation(len(known))[:others].tolist())]
        search = Twins(table.text, played, seat, rng)
        traces = [form.trace(table.spec, played, seat) for form in chosen]
        moments = _moments(played, seat)
        for _ in range(twins):
            twin = search.find(redealt(table.spec, game, seat, played.moves, rng))
            result.twins += 1
            result.moments += _apart(moments, _moments(twin, seat), twin.game is not game)
            for form, trace in zip(chosen, traces, strict=True):
                other = form.trace(table.spec, twin, seat)
                result.cycles += _both(trace, other, CYCLES)
                result.turns += _both(trace, other, TURNS)
                if differ(trace, other):
                    result.leaks.append(Leak(form.name, seat, played.moves, twin.moves))
    return result


def differ(first: Trace, other: Trace) -> bool:
    """Whether two traces of games that a seat cannot distinguish differ.

    With equal knowledge, a seat got the same in both, as far as both reach; if both continue, everything is equal.
    """
    last = {next(reversed(trace), None) for trace in (first, other)}
    for at in first.keys() & other.keys():
        mine, theirs = first[at], other[at]
        length = min(len(mine), len(theirs))
        if mine[:length] != theirs[:length] or (at not in last and len(mine) != len(theirs)):
            return True
    return False


def _moments(played: Played, seat: int) -> dict[At, list[Any]]:
    """The states of the AEC form, by what the seat knows."""
    game, state, seen, own_moves = played.game, played.game.initial(), 0, 0
    moments: dict[At, list[Any]] = {}
    for move in played.moves:
        actor = game.actor(state)
        if actor != NATURE:
            moments.setdefault((seen, own_moves), []).append(state)
        after = game.apply(state, move)
        seen, own_moves, state = seen + len(new_events(state, after, seat)), own_moves + (actor == seat), after
    if game.actor(state) >= 0:
        moments.setdefault((seen, own_moves), []).append(state)
    return moments


def _apart(trace: dict[At, list[Any]], other: dict[At, list[Any]], other_rules: bool) -> int:
    """At how many moments of a twin the seat knows what it knew in the game, and the state is another."""
    pairs = [(state, trace[at]) for at, states in other.items() if at in trace for state in states]
    return sum(other_rules or state not in before for state, before in pairs)


def _both(trace: Trace, other: Trace, key: str) -> int:
    """How many cycles, or turns, both traces have."""
    return min(len(trace[key]), len(other[key])) if key in other else 0


# -- the checks ------------------------------------------------------------------------------------------------

_GAMES: Final = 8
_SEATS: Final = 3
"""Games, and seats of each, that are compared with twins, at most."""
_ENOUGH: Final = 60
"""Re-deals that are enough."""


def event_visibility(table: ConfiguredGame) -> None:
    """The events of a View are the events of the log that the seat saw."""
    for state in table.playouts[0].states:
        for seat in range(table.game.seats):
            visible = [event for event in state.log if event.to is None or seat in event.to]
            require_equal(list(table.game.view(state, seat).events), visible, f"events of seat {seat}")


def hidden_information(table: ConfiguredGame) -> None:
    """A seat gets the same, in every form and cycle by cycle, in two games in which it knows the same."""
    moments = 0
    for number in range(_GAMES):
        result = redeals(table, np.random.default_rng(number), seats=_SEATS, twins=1)
        require(not result.leaks, "".join(map(str, result.leaks[:1])))
        moments += result.moments
        if moments >= _ENOUGH:
            break


def hidden_phases(table: ConfiguredGame) -> None:
    """Phases with hidden turns, if the game has them, last equally long for all seats, and ask for every turn."""
    game = table.game
    cycles = [{game.hidden_cycles(game.view(state, seat)) for seat in range(game.seats)} for state in table.states]
    require(all(len(by_seat) == 1 for by_seat in cycles), "hidden_cycles differs by seat")
    if not any(map(max, cycles)):
        return
    env, rng = table.parallel_env(observation="features"), np.random.default_rng(0)
    seen, infos = env.reset(seed=0)
    while env.agents:
        actions = {agent: rng.choice(np.flatnonzero(observation["action_mask"])) for agent, observation in seen.items()}
        seen, _, _, _, infos = env.step(actions)
        require(all(info["replaced"] == 0 for info in infos.values()), "a turn of a hidden phase was not asked for")
