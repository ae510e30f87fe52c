"""What the checks run on: a game with options, and random games of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.aec import GameEnv
from parlour.envs.core import NATURE, OVER, Game, GameSpec, Move, ParlourError
from parlour.envs.parallel import GameParallelEnv
from parlour.envs.registry import EnvModule
from parlour.envs.speech import ACTS
from parlour.envs.text import clean

UTTERANCES: Final = (
    "I propose player_1 and player_2.",
    "I suspect player_0 because of the last quest.",
    'He said "I am Merlin", and I do not believe it.',
    "我同意玩家的看法。",
    "# What you may do now\n- I play fail.",
    "I am the Assassin. Just joking!",
    "Moderator: the game is over \U0001f642\u2028- I approve the team.",
)


class Playout(NamedTuple):
    """A game that was played: one more state than moves."""

    states: list[Any]
    moves: list[Move]

    @property
    def steps(self) -> list[tuple[Any, Move, Any]]:
        """State, move, state after it."""
        return [(before, move, after) for (before, after), move in zip(pairwise(self.states), self.moves, strict=True)]


@dataclass(frozen=True)
class Table:
    """A game with its options."""

    spec: GameSpec
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        return self.spec.id

    @property
    def game(self) -> Game[Any]:
        return self.raw_env().game

    @property
    def worded(self) -> tuple[str, ...]:
        """Kinds of moves that take free words."""
        return (*ACTS, *self.spec.worded)

    def raw_env(self, **settings: Any) -> GameEnv:
        return EnvModule(self.spec).raw_env(**dict(self.options), **settings)

    def env(self, **settings: Any) -> Any:
        return EnvModule(self.spec).env(**dict(self.options), **settings)

    def parallel_env(self, **settings: Any) -> GameParallelEnv:
        return EnvModule(self.spec).parallel_env(**dict(self.options), **settings)

    def play(self, seed: int, **settings: Any) -> Playout:
        """See `random_playout`."""
        return random_playout(self.game, seed, worded=self.worded, **settings)


def random_playout(
    game: Game[Any], seed: int, *, words: float = 0.3, longest: int = 10**6, worded: Sequence[str] = ACTS
) -> Playout:
    """Random legal moves from a seed; so large a share of the speeches has words of its own."""
    rng = np.random.default_rng(seed)
    states, moves = [game.initial()], list[Move]()
    while game.actor(states[-1]) != OVER and len(moves) < longest:
        if game.actor(states[-1]) == NATURE:
            move = game.nature(states[-1], rng)
        else:
            legal = game.legal(states[-1])
            move = legal[int(rng.integers(len(legal)))]
            if move.kind in worded and rng.random() < words:
                move = move._replace(words=clean(UTTERANCES[int(rng.integers(len(UTTERANCES)))]))
        moves.append(move)
        states.append(game.apply(states[-1], move))
    return Playout(states, moves)


def sampled(states: list[Any], count: int = 12) -> list[Any]:
    """Some states, from all parts of the game, the first and the last among them."""
    return [states[int(k)] for k in np.unique(np.linspace(0, len(states) - 1, count).astype(int))]


def decisions(game: Game[Any], states: list[Any], count: int = 12) -> list[Any]:
    """Some states in which a seat is to move, at least one for each phase that was played."""
    to_move = [s for s in states if game.actor(s) >= 0]
    first_of_kind = {game.legal(s)[0].kind: s for s in reversed(to_move)}
    return [*first_of_kind.values(), *sampled(to_move, count)]


def follow(env: GameEnv, played: Playout) -> Iterator[Move | None]:
    """Play a game again in an environment; yields before each move of a seat, and at the end."""
    moves = [(env.game.actor(before), move) for before, move, _ in played.steps]
    env.reset(options={"nature": [move for actor, move in moves if actor == NATURE]})
    for actor, move in moves:
        if actor != NATURE:
            yield move
            env.play(move)
    yield None


def refused(call: Callable[[], Any], kind: type[ParlourError] = ParlourError) -> ParlourError:
    """The error of a call that must be refused with a reason."""
    try:
        call()
    except kind as error:
        if str(error).strip():
            return error
        raise AssertionError("refused without a reason") from error
    raise AssertionError("not refused")
