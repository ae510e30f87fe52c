"""Avalon by the thousand: kernels of `parlour.envs.avalon`, for 5-10 players, all role sets, talk or not.

Of the presets all but `multi_round`, whose discussion once a quest, consultation and last team without a vote they lack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

import numpy as np
from parlour.envs.avalon.belief import AvalonHabits, LearnedHabits
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.seat_encode import KINDS
from parlour.envs.avalon.vocabulary import ASSASSIN
from parlour.envs.batch.avalon import belief, loops
from parlour.envs.batch.avalon.layout import Array, game_record, numbers_of, rules_of, tables_of
from parlour.envs.batch.compiled import use_threads
from parlour.envs.batch.streams import started
from parlour.envs.batch.tables import NOBODY, BatchTables, Turns, seeds_of
from parlour.envs.core import Game, GameSpec, ParlourError, accept

_POINTS: Final = {
    "fifth_rejection": ("evil_wins", "team_goes"),
    "discussion": ("proposal",),
    "speaks_first": ("leader",),
    "consult": (False,),
    "guesser": (ASSASSIN,),
}
"""What kernels have of the points on which rules differ, where that is not all."""


class AvalonTables(BatchTables):
    """See `BatchTables`.

    Args:
        spec: The spec of Avalon.
        num_envs: B, the number of games.
        features: `"summary"`, `"record"`, `"belief"` or `"record+belief"`.
        beliefs: Whether the games keep beliefs though no feature shows them, because a heuristic will sit.
        habits: How seats behave, as the beliefs suppose; fixed rates.
        autoreset: See `BatchTables`.
        threads: See `BatchTables`.
        **config: The options of Avalon, but for points of the rules that the kernels do not have.
    """

    kinds: ClassVar[tuple[str, ...]] = KINDS
    game: Avalon

    def __init__(
        self,
        spec: GameSpec,
        *,
        num_envs: int,
        features: str = "summary",
        beliefs: bool = False,
        habits: AvalonHabits | None = None,
        autoreset: bool = True,
        threads: int = 1,
        **config: Any,
    ) -> None:
        super().__init__(spec, config, num_envs=num_envs, features=features, autoreset=autoreset, threads=threads)
        self._check_rules()
        if isinstance(habits, LearnedHabits):
            raise ParlourError("batch tables of Avalon do not know habits learned from records; accepted: AvalonHabits")
        encoder = spec.seat_encoder(self.game, features)
        self.size, self.names = encoder.size, tuple(encoder.names)
        self.hidden_size = self.seats * len(self.game.role_names)
        self.tables = tables_of(self.game)
        self.numbers = numbers_of(self.tables.acts, self.seats)
        self.rules: Any = rules_of(self.game)
        self.rules.record, self.rules.belief = "record" in features, "belief" in features
        self.rules.believes, self.rules.reset = beliefs or "belief" in features, self.autoreset
        belief.fill(self.rules, self.seats, habits or AvalonHabits())
        self.games: Any = np.zeros(num_envs, game_record(self.seats)).view(np.recarray)
        self._leaders = np.zeros(num_envs, np.int32)
        self._hidden = np.zeros((num_envs, self.hidden_size), np.float32)
        self._allocate()

    @classmethod
    def plays(cls, game: Game[Any]) -> bool:
        return all(getattr(game.rules, point) in known for point, known in _POINTS.items())  # type: ignore[attr-defined]

    def _check_rules(self) -> None:
        """Refuse a table with rules that the kernels do not have. Raises `ParlourError`."""
        for point, known in _POINTS.items():
            if (value := getattr(self.game.rules, point)) not in known:
                raise accept(f"{point} of kernels of Avalon", value, known)

    def reset(self, seed: int | Sequence[int]) -> Turns:
        seeds = seeds_of(seed, self.num_envs)
        self.games.nature, self.games.players = started(seeds, 0), started(seeds, 1)
        self._forget()
        return self._look(loops.DEAL)

    def deal(self, moves: Array) -> Turns:
        dealt = np.asarray(moves)
        if dealt.shape != (self.num_envs, self.seats + 1):
            raise ParlourError(
                f"deals of shape {dealt.shape} are not accepted; accepted: {self.num_envs, self.seats + 1}"
            )
        if (np.sort(dealt[:, :-1]) != np.sort(self.game.deck)).any() or not np.isin(
            dealt[:, -1], range(self.seats)
        ).all():
            raise ParlourError(
                "some deal is not accepted; accepted: the role number of each seat, then the first leader"
            )
        self.games.roles = dealt[:, :-1]
        self._leaders[:] = dealt[:, -1]
        self._forget()
        return self._look(loops.START)

    def observe(self) -> Turns:
        return self._look(loops.COURSE)

    def _forget(self) -> None:
        self._turns.rewards[:] = 0
        self._turns.terminated[:] = 0
        self.winner[:] = NOBODY

    def _look(self, begins: int) -> Turns:
        """Write who moves and what they see."""
        use_threads(self.threads)
        loops.look_all(self.games, self.rules, self._leaders, self.tables.masks, begins, *self._turns[:3])
        return self._turns

    def _play(self, actions: Array) -> None:
        self._advance(at_random=False)

    def _play_random(self) -> None:
        self._advance(at_random=True)

    def _advance(self, at_random: bool) -> None:
        use_threads(self.threads)
        loops.play_all(self.games, self.rules, *self.tables, self._chosen, at_random, *self._turns, self.winner)

    @property
    def roles(self) -> Array:
        roles: Array = self.games.roles
        return roles

    @property
    def side(self) -> Array:
        side: Array = self.games.side
        return side

    def hidden(self, out: Array | None = None) -> Array:
        shown = self._hidden if out is None else out
        n, b = self.seats, self.num_envs
        places = (self._turns.actor[:, None] + np.arange(n)) % n
        of = np.take_along_axis(self.games.roles, places, axis=1)
        shown[:] = (of[:, :, None] == np.arange(len(self.game.role_names))).reshape(b, -1)
        return shown

    def state(self) -> Array:
        return self.games.view(np.uint8).reshape(self.num_envs, -1).copy()

    def restore(self, state: Array) -> Turns:
        if state.shape != (self.num_envs, self.games.dtype.itemsize) or state.dtype != np.uint8:
            raise ParlourError("this state is not accepted; accepted: one of tables made with the same arguments")
        self.games = np.ascontiguousarray(state).copy().view(self.games.dtype)[:, 0].view(np.recarray)
        self._forget()
        return self.observe()
