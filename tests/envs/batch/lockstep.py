"""Kernels beside the scalar game: every table of a batch is played again, move by move, by the scalar rules.

A yardstick for the tests of `parlour.envs.batch`: the same deals and actions go to both, and actors, masks, features,
rewards and ends are compared after every step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from parlour.envs.core import NATURE, OVER, Move

Drawn = Callable[[Any, int], Move]
"""(tables, b) -> the move of nature that the kernel made at table b."""


class Mirror:
    """The scalar games beside B tables.

    Args:
        tables: Batch tables that `reset` or `deal` has begun.
        dealt: What nature began game b with.
        drawn: What nature did in the course of game b, where the game has such moves.
    """

    def __init__(self, tables: Any, dealt: Drawn, drawn: Drawn | None = None) -> None:
        self.tables, self.game, self.spec = tables, tables.game, tables.spec
        self._dealt, self._drawn = dealt, drawn
        self._numbers = {move: number for number, move in enumerate(self.game.catalogue)}
        self.states = [self._begin(b) for b in range(tables.num_envs)]
        self.turns = self.games = self.features = 0

    def _begin(self, b: int) -> Any:
        state = self.game.apply(self.game.initial(), self._dealt(self.tables, b))
        encoders = [self.spec.encoder(self.game).of_seat(self.tables.features) for _ in range(self.game.seats)]
        if b == 0 and not hasattr(self, "encoders"):
            self.encoders = [[] for _ in range(self.tables.num_envs)]
        self.encoders[b] = encoders
        return state

    def compare(self, turns: Any, tolerance: float = 1e-5, every: int = 1) -> None:
        """Whose turn it is, what is legal; what is seen at every so manieth table."""
        for b, state in enumerate(self.states):
            actor = self.game.actor(state)
            assert turns.actor[b] == actor, f"table {b}"
            legal = [self._numbers[move] for move in self.game.legal(state)]
            mask = np.zeros(self.tables.actions, np.uint8)
            mask[self.tables.frame.own[actor, legal]] = 1
            np.testing.assert_array_equal(turns.mask[b], mask)
            if b % every:
                continue
            self.features += 1
            expected = self.encoders[b][actor](self.game.view(state, actor))
            worst = int(np.abs(turns.observation[b] - expected).argmax())
            difference = abs(float(turns.observation[b, worst] - expected[worst]))
            assert difference <= tolerance, (
                f"table {b}, {self.tables.names[worst]}: {turns.observation[b, worst]}, scalar {expected[worst]}; {state}"
            )

    def step(self, actions: Any) -> Any:
        """Let both play; compare rewards, ends and winners, and begin anew what is over."""
        moves = [
            self.game.catalogue[self.tables.frame.order[self.game.actor(state), action]]
            for state, action in zip(self.states, actions, strict=True)
        ]
        turns = self.tables.step(actions)
        for b, move in enumerate(moves):
            self._follow(b, move, turns)
        self.turns += len(moves)
        return turns

    def _follow(self, b: int, move: Move, turns: Any) -> None:
        state = self.game.apply(self.states[b], move)
        while self.game.actor(state) == NATURE:
            state = self.game.apply(state, self._drawn(self.tables, b))
        self.states[b] = state
        outcome = self.game.outcome(state)
        assert turns.terminated[b] == (self.game.actor(state) == OVER)
        if outcome is None:
            assert not turns.rewards[b].any()
            assert self.tables.winner[b] == -1
            return
        np.testing.assert_array_equal(turns.rewards[b], np.float32(outcome.returns))
        assert self.tables.winner[b] == (
            self.spec.sides.index(outcome.winner) if outcome.winner in self.spec.sides else -1
        )
        self.games += 1
        self.states[b] = self._begin(b)


def random_actions(mask: Any, rng: np.random.Generator) -> Any:
    """A legal action of each row, each as likely as the others."""
    return (rng.random(mask.shape) * mask).argmax(axis=1)
