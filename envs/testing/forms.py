"""The forms in which a game reaches a seat, each as a trace: all that the seat gets while a given game is played in it.

A trace ends where the given moves do, or with the game; the end itself is no part of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

import numpy as np
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.adapters.parallel import GameParallelEnv
from parlour.envs.core import NATURE, Move
from parlour.envs.language.entries import TextAction
from parlour.envs.spec import GameSpec
from parlour.envs.testing.table import by_nature
from parlour.envs.testing.twins import At, Played, new_events
from parlour.wrappers import (
    HistoryWindow,
    LearnerSeats,
    MaskInInfo,
    NumericFeatures,
    ObservationsKey,
    SealedTurn,
    TextActions,
    TurnInInfo,
)

CYCLES: Final = "cycles"
TURNS: Final = "turns"
Trace = dict[Any, list[Any]]
"""What a seat gets, by its knowledge, in order and without repetitions; or all in one list."""

WRAPPERS: Final[dict[str, Callable[[Any], Any]]] = {
    "TextActions": lambda env: TextActions(env, on_bad="default", mask=True),
    "HistoryWindow": lambda env: HistoryWindow(env, lines=3),
    "NumericFeatures": NumericFeatures,
    "MaskInInfo": MaskInInfo,
    "ObservationsKey": ObservationsKey,
    "TurnInInfo": lambda env: TurnInInfo(env, "both"),
    "SealedTurn": lambda env: SealedTurn(env, "both"),
}
"""Wrappers of the AEC form through which a seat may look."""


class Form(Protocol):
    """A way in which a seat gets a game."""

    @property
    def name(self) -> str: ...

    def trace(self, spec: GameSpec, played: Played, seat: int) -> Trace:
        """What the seat gets."""


def forms(spec: GameSpec, game: Any) -> list[Form]:
    """All forms of a game but the bare AEC form, and cycles with features of the table."""
    ways: list[Form] = [Aec(name, wrap=wrap) for name, wrap in WRAPPERS.items()]
    ways.append(Aec("prose alone", observation="text", info="numeric"))
    for kind in spec.encoder(game).kinds[1:]:
        ways.append(Aec(f"{kind} features", features=kind))
        ways.append(Cycles(f"cycles, {kind} features", features=kind, observation="features"))
    return [*ways, Cycles("cycles"), SeatTurns("SeatEnv", 1), SeatTurns("LearnerSeats", min(2, game.seats))]


class Aec:
    """The AEC form, polled at every state.

    Args:
        name: What it is called.
        wrap: Puts wrappers around the environment.
        settings: Settings of the environment; by default everything it offers.
    """

    def __init__(self, name: str = "the AEC form", wrap: Callable[[Any], Any] | None = None, **settings: Any) -> None:
        self.name, self._wrap = name, wrap
        self._settings = {"observation": "both", "info": "full", "render_mode": "ansi", **settings}

    def trace(self, spec: GameSpec, played: Played, seat: int) -> Trace:
        env = GameEnv(spec, played.game, **self._settings)
        outer = env if self._wrap is None else self._wrap(env)
        trace: Trace = defaultdict(list)
        for at in _played_in(outer, env, played, seat):
            got = _polled(outer, env, seat)
            if not trace[at] or trace[at][-1] != got:
                trace[at].append(got)
        return trace


def _played_in(outer: Any, env: GameEnv, played: Played, seat: int) -> Iterator[At]:
    """Play a game; at each state of it where a seat is to move, tells where `seat` is as far as it knows."""
    nature, moves = by_nature(*played)
    outer.reset(seed=0, options={"nature": nature})
    seen, own, before = 0, 0, played.game.initial()
    for move in [*moves, None]:
        if env.outcome is not None or len(env.moves) > len(played.moves):
            return  # nature went on by itself
        seen, before = seen + len(new_events(before, env.state_now, seat)), env.state_now
        yield seen, own
        if move is not None:
            own += env.seat == seat
            outer.step(TextAction(move, None))


def _polled(outer: Any, env: GameEnv, seat: int) -> Any:
    """All that a seat gets that looks at the environment now, whosever turn it is."""
    agent = env.possible_agents[seat]
    got = [outer.observe(agent), outer.infos[agent], env.rewards[agent], env._cumulative_rewards[agent]]
    got += [env.terminations[agent], env.truncations[agent], env.view(seat), env.render()]
    return frozen([*got, *(outer.last() if env.seat == seat else ())])


class Cycles:
    """The parallel form, cycle by cycle. Moves are played without their words, which numbers cannot say.

    Args:
        name: What it is called.
        settings: Settings of the environment.
    """

    def __init__(self, name: str, **settings: Any) -> None:
        self.name = name
        self._settings = {"observation": "both", "info": "full", "render_mode": "ansi", **settings}

    def trace(self, spec: GameSpec, played: Played, seat: int) -> Trace:
        env = GameParallelEnv(GameEnv(spec, played.game, **self._settings))
        nature, _ = by_nature(*played)
        queues, agent = planned(played), env.possible_agents[seat]
        seen, infos = env.reset(seed=0, options={"nature": nature})
        got: tuple[Any, ...] = (seen[agent], infos[agent])
        cycles: list[Any] = []
        while env.agents and len(env.aec.moves) <= len(played.moves):
            cycles.append(frozen([*got, env.render()]))
            parts = env.step({name: _action(env, name, queues) for name in env.agents})
            got = tuple(part[agent] for part in parts)
        return {CYCLES: cycles}


def planned(played: Played) -> list[list[tuple[int, Move]]]:
    """For each seat: its moves without words, the next one last, each with the number of events seen before."""
    game, state = played.game, played.game.initial()
    moves_of: list[list[tuple[int, Move]]] = [[] for _ in range(game.seats)]
    for made in played.moves:
        actor, move = game.actor(state), made
        if actor != NATURE:
            move = Move(made.kind, made.args)
            moves_of[actor].append((len(game.view(state, actor).events), move))
        state = game.apply(state, move)
    return [moves[::-1] for moves in moves_of]


def _action(env: GameParallelEnv, agent: str, queues: list[list[tuple[int, Move]]]) -> int:
    """What an agent does in a cycle: what was played; the first it may where it is asked for what was not; or `wait`."""
    seat = env.aec.seat_of[agent]
    view = env.shown(seat)
    if not view.legal:
        return env.wait
    moves, move = queues[seat], view.legal[0]
    if moves and moves[-1][0] == len(view.events) and moves[-1][1] in view.legal:
        move = moves.pop()[1]
    return env.aec.catalogue_of(seat).index(move)


class SeatTurns:
    """The seat's own turns, as LearnerSeats gives them, which plays the other seats (and is inside SeatEnv).

    Args:
        name: What it is called.
        learners: How many seats learn; the seat itself, and those after it.
    """

    def __init__(self, name: str, learners: int) -> None:
        self.name, self._learners = name, learners

    def trace(self, spec: GameSpec, played: Played, seat: int) -> Trace:
        game, (nature, _) = played.game, by_nature(*played)
        players = [_Replayed(game, [move for _, move in moves]) for moves in planned(played)]
        turns, trace = len(players[seat].left), list[Any]()
        if not turns:
            return {TURNS: []}
        seats = [(seat + k) % game.seats for k in range(self._learners)]
        env = GameEnv(spec, game, observation="both", info="full")
        learners = LearnerSeats(env, players, seats=seats, observation="both")
        learners.reset(seed=0, options={"nature": nature})
        while True:
            learner = learners.agent_selection
            player = players[learners.seats[learner]]
            if learner == learners.possible_agents[0]:
                trace.append(frozen(list(learners.last())))
            if len(trace) == turns or not player.left:
                return {TURNS: trace}
            learners.step(player.number())


class _Replayed:
    """Plays what was played, and when that is over the first it may."""

    wants = "view"

    def __init__(self, game: Any, moves: list[Move]) -> None:
        self._game, self.left = game, moves

    def reset(self, seat: int, seed: int) -> None:
        """Nothing of it matters."""

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        move = self.left[-1] if self.left else None
        legal: int = info["legal"][0]
        return self.number() if move in info["view"].legal else legal

    def number(self) -> int:
        """The number of the next move."""
        number: int = self._game.catalogue.index(self.left.pop())
        return number


def frozen(got: Any) -> Any:
    """As values that are equal only if they are the same byte for byte; the cells of a loop (SealedTurn's) by their content."""
    if isinstance(got, np.ndarray):
        return got.dtype.str, got.shape, got.tobytes()
    if isinstance(got, dict):
        return tuple((key, frozen(value)) for key, value in got.items())
    if type(got) in (list, tuple):
        return tuple(map(frozen, got))
    if hasattr(got, "read") and hasattr(got, "table"):
        return got.seat, frozen(got._sealed)
    return got
