"""Werewolf by the thousand: kernels of `parlour.envs.werewolf`, for 4-15 players, all presets and role sets, talk or not.

Beliefs are exact at every size; what they cost grows with the sets of werewolves that there may be (`belief.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from parlour.envs.batch.compiled import use_threads
from parlour.envs.batch.streams import started
from parlour.envs.batch.tables import NOBODY, BatchTables, Turns, seeds_of
from parlour.envs.batch.werewolf import loops
from parlour.envs.batch.werewolf.belief import hypotheses_of, weights_of
from parlour.envs.batch.werewolf.layout import GAME, Array, rules_of
from parlour.envs.core import GameSpec, ParlourError
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.seat_encode import KINDS


class WerewolfTables(BatchTables):
    """See `BatchTables`.

    Args:
        spec: The spec of Werewolf.
        num_envs: B, the number of games.
        features: `"summary"`, `"record"`, `"belief"` or `"record+belief"`.
        beliefs: Whether the games keep beliefs though no feature shows them, because a heuristic will sit.
        habits: How seats behave, as the beliefs suppose.
        autoreset: See `BatchTables`.
        threads: See `BatchTables`.
        **config: `num_players`, `rules`, `roles`, `talk`, `max_days`.
    """

    kinds: ClassVar[tuple[str, ...]] = KINDS
    game: Werewolf

    def __init__(
        self,
        spec: GameSpec,
        *,
        num_envs: int,
        features: str = "summary",
        beliefs: bool = False,
        habits: WerewolfHabits | None = None,
        autoreset: bool = True,
        threads: int = 1,
        **config: Any,
    ) -> None:
        super().__init__(spec, config, num_envs=num_envs, features=features, autoreset=autoreset, threads=threads)
        encoder = spec.seat_encoder(self.game, features)
        self.size, self.names = encoder.size, tuple(encoder.names)
        self.hidden_size = self.seats * len(self.game.role_names)
        believes = beliefs or "belief" in features
        self.rules: Any = rules_of(self.game, habits or WerewolfHabits())
        self.rules.record, self.rules.belief = "record" in features, "belief" in features
        self.rules.believes, self.rules.reset = believes, self.autoreset
        self.hypotheses = hypotheses_of(self.game)
        self.games: Any = np.zeros(num_envs, GAME).view(np.recarray)
        self.weights = weights_of(self.game, num_envs, believes=believes)
        self._hidden = np.zeros((num_envs, self.hidden_size), np.float32)
        self._allocate()

    def reset(self, seed: int | Sequence[int]) -> Turns:
        seeds = seeds_of(seed, self.num_envs)
        self.games.nature, self.games.players = started(seeds, 0), started(seeds, 1)
        self._run(loops.deal_all)
        return self._anew()

    def deal(self, moves: Array) -> Turns:
        dealt, n = np.asarray(moves), self.seats
        if dealt.shape != (self.num_envs, 2 * n):
            raise ParlourError(f"deals of shape {dealt.shape} are not accepted; accepted: {self.num_envs, 2 * n}")
        if (np.sort(dealt[:, :n]) != np.sort(self.game.deck)).any() or (np.sort(dealt[:, n:]) != np.arange(n)).any():
            raise ParlourError(
                "some deal is not accepted; accepted: the role number of each seat, then the order of talk"
            )
        self.games.roles[:, :n], self.games.order[:, :n] = dealt[:, :n], dealt[:, n:]
        self._run(loops.start_all)
        return self._anew()

    def observe(self) -> Turns:
        self._run(loops.look_all)
        return self._turns

    def _anew(self) -> Turns:
        """The turns before the first step."""
        self._turns.rewards[:] = 0
        self._turns.terminated[:] = 0
        self.winner[:] = NOBODY
        return self._turns

    def _run(self, over_all: Any) -> None:
        """Run a loop over all games that writes who moves and what they see."""
        use_threads(self.threads)
        over_all(self.games, self.rules, self.weights, self.hypotheses, *self._turns[:3])

    def _play(self, actions: Array) -> None:
        use_threads(self.threads)
        loops.play_all(self.games, self.rules, self.weights, self.hypotheses, actions, *self._turns, self.winner)

    def _play_random(self) -> None:
        use_threads(self.threads)
        loops.play_random_all(self.games, self.rules, self.weights, self.hypotheses, *self._turns, self.winner)

    @property
    def roles(self) -> Array:
        roles: Array = self.games.roles[:, : self.seats]
        return roles

    @property
    def side(self) -> Array:
        return (self.roles == self.game.wolf).astype(np.int8)

    def hidden(self, out: Array | None = None) -> Array:
        shown = self._hidden if out is None else out
        use_threads(self.threads)
        loops.show_roles(self.games, self.rules, shown)
        return shown

    def state(self) -> Array:
        b = self.num_envs
        parts = (self.games.view(np.uint8).reshape(b, -1), self.weights.reshape(b, -1).view(np.uint8))
        return np.concatenate(parts, axis=1)

    def restore(self, state: Array) -> Turns:
        own = self.games.dtype.itemsize
        if state.shape != (self.num_envs, own + self.weights[0].nbytes) or state.dtype != np.uint8:
            raise ParlourError("this state is not accepted; accepted: one of tables made with the same arguments")
        self.games = state[:, :own].copy().view(self.games.dtype)[:, 0].view(np.recarray)
        self.weights = state[:, own:].copy().view(np.float64).reshape(self.weights.shape)
        self._anew()
        return self.observe()
