"""BatchSeatEnv: one seat of many games at once as a Gymnasium vector environment; the others are played over arrays."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from parlour.envs.batch.players import BatchPlayer, HeuristicSeats, RandomSeats, drawn
from parlour.envs.batch.tables import HOLD, SAME_STEP, Array, BatchTables, Turns
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.wrappers.base import SEEDS

OPPONENTS: Final[Mapping[str, type[HeuristicSeats] | type[RandomSeats]]] = MappingProxyType(
    {player.name: player for player in (HeuristicSeats, RandomSeats)}
)
_AUTORESET: Final = MappingProxyType({"same_step": AutoresetMode.SAME_STEP, "next_step": AutoresetMode.NEXT_STEP})
_ROUNDS: Final = 1000


class BatchSeatEnv(VectorEnv[Array, Array, Array]):
    """One learner's seat at each of B tables.

    Observations are float32 (B, F), actions whole numbers (B,), both in the frame of the seat. `infos["action_mask"]`,
    int8 (B, A), has what is legal, `infos["seat"]` the learners' seats. What a seat earns after its last move reaches it
    with that move. A game that ends before the learner has moved is dealt again (`redeals`, counted since `reset`).

    After a game that is over, the next one is shown as `autoreset` says (Gymnasium's `AutoresetMode`, in `metadata`):
    `"same_step"`: at once; `infos["final_obs"]` is zero, as nobody sees more when a game is over, and
    `infos["final_info"]` has the `return` and the `seat` of the game. `"next_step"`: first observations of zero and a
    mask of ones; then, for whatever action, the next game, with reward 0.

    Args:
        tables: What `parlour.envs.batch.make` gives, with `beliefs=True` where a heuristic sits.
        opponents: Who plays all other seats: `"heuristic"`, `"random"`, or a `parlour.envs.batch.players.BatchPlayer`.
        seat: The learner's seat, or `"random"` for another one in each game.
        autoreset: See above.
        on_illegal: What follows an action that is not legal: `"random"`: a random legal one in its place, counted in
            `infos["replaced"]` since `reset`; `"raise"`: the error. What is no action of the space at all always raises.

    Raises:
        ParlourError: A setting is not accepted.
    """

    def __init__(
        self,
        tables: BatchTables,
        opponents: BatchPlayer | Literal["heuristic", "random"] = "heuristic",
        *,
        seat: int | Literal["random"] = "random",
        autoreset: Literal["same_step", "next_step"] = "same_step",
        on_illegal: Literal["random", "raise"] = "random",
    ) -> None:
        if seat != "random" and seat not in range(tables.seats):
            raise accept("seat", seat, ("random", *range(tables.seats)))
        if tables.autoreset != SAME_STEP:
            raise ParlourError(
                f"tables with autoreset={tables.autoreset!r} are not accepted; accepted: autoreset='same_step'"
            )
        if isinstance(opponents, str):
            check_one_of("opponents", opponents, OPPONENTS)
        check_one_of("autoreset", autoreset, _AUTORESET)
        check_one_of("on_illegal", on_illegal, ("random", "raise"))
        self.metadata = {"render_modes": [], "autoreset_mode": _AUTORESET[autoreset]}
        self._same_step = autoreset == "same_step"
        self.opponents: BatchPlayer = OPPONENTS[opponents]() if isinstance(opponents, str) else opponents
        self.tables, self.seat, self.on_illegal, self.num_envs = tables, seat, on_illegal, tables.num_envs
        self.single_observation_space = spaces.Box(-1, 1, (tables.size,), np.float32)
        self.single_action_space = spaces.Discrete(tables.actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.seats: Array = np.zeros(self.num_envs, np.int64)
        """The learner's seat at each table, (B,)."""
        self._rows = np.arange(self.num_envs)
        self._actions: Array = np.full(self.num_envs, HOLD, np.int32)
        self._turns: Turns | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Deal all games again. Without a seed, the random generator continues."""
        super().reset(seed=seed)
        seeds = self.np_random.integers(SEEDS, size=self.num_envs).tolist()
        self.replaced, self.redeals = np.zeros((2, self.num_envs), np.int64)
        self._turns = self.tables.reset(seeds)
        self.opponents.reset(self.tables, seeds)
        self._draw_seats(self._rows)
        self._begin_step()
        self._ended[:] = True  # what ends before a learner has moved is no episode
        self._fresh: Array = np.zeros(self.num_envs, bool)  # tables whose next game is not shown yet
        self._let_others_play(self._turns)
        return self._turns.observation.copy(), self._infos()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        if self._turns is None:
            raise ParlourError("there is no game yet; accepted: reset() first")
        self._begin_step()
        self._actions[:] = self._legal(np.asarray(actions), self._turns.mask)
        self._actions[self._fresh] = HOLD
        self._play()
        self._let_others_play(self._turns)
        over, observed = self._ended.copy(), self._turns.observation.copy()
        if not self._same_step:
            self._fresh, observed[over] = over, 0
        infos = self._infos()
        if self._same_step and over.any():
            infos |= self._final(over)
        return observed, self._rewards.copy(), over, np.zeros_like(over), infos

    def action_masks(self) -> Array:
        """Which actions are legal, bool (B, A); before `reset`: all. As sb3-contrib's MaskablePPO asks for them."""
        if self._turns is None:
            return np.ones((self.num_envs, self.tables.actions), bool)
        masks: Array = (self._turns.mask != 0) | self._fresh[:, None]
        return masks

    def _begin_step(self) -> None:
        self._rewards: Array = np.zeros(self.num_envs, np.float32)
        self._ended: Array = np.zeros(self.num_envs, bool)
        self._last_seats = self.seats.copy()

    def _let_others_play(self, turns: Turns) -> None:
        """Until it is the learner's turn at every table; the others wait for the slowest."""
        for _ in range(_ROUNDS * self.tables.game.max_moves):
            others = np.flatnonzero(turns.actor != self.seats).astype(np.int32)
            if not len(others):
                return
            self._actions[:] = HOLD
            self.opponents.choose(turns, others, self._actions)
            self._play()
        raise ParlourError(f"the learner did not get to move at table {others[0]} in {_ROUNDS} games")

    def _play(self) -> None:
        turns = self.tables.step(self._actions)
        over = np.flatnonzero(turns.terminated)
        if len(over):
            first = over[~self._ended[over]]
            self._rewards[first] = turns.rewards[first, self.seats[first]]
            self.redeals[over[self._ended[over]]] += 1
            self._ended[first] = True
            self._draw_seats(over)

    def _draw_seats(self, rows: Array) -> None:
        drawn_now = self.seat == "random"
        self.seats[rows] = self.np_random.integers(self.tables.seats, size=len(rows)) if drawn_now else self.seat

    def _legal(self, actions: Array, mask: Array) -> Array:
        """The actions, with a legal one where one is not."""
        if actions.shape != (self.num_envs,):
            raise accept("shape of actions", actions.shape, (self.num_envs,))
        whole = np.issubdtype(actions.dtype, np.integer)
        inside = (actions >= 0) & (actions < self.tables.actions) if whole else np.zeros(self.num_envs, bool)
        outside = np.flatnonzero(~inside & ~self._fresh)
        if len(outside):
            where = f"action at table {outside[0]}"
            raise accept(where, actions[outside[0]].item(), f"a whole number 0..{self.tables.actions - 1}")
        legal = inside & (mask[self._rows, np.where(inside, actions, 0)] != 0)
        wrong = np.flatnonzero(~legal & ~self._fresh)
        if len(wrong) and self.on_illegal == "raise":
            accepted = np.flatnonzero(mask[wrong[0]]).tolist()
            raise accept(f"action at table {wrong[0]}", int(actions[wrong[0]]), accepted)
        if len(wrong):
            actions = actions.copy()
            actions[wrong] = drawn(mask[wrong], self.np_random)
            self.replaced[wrong] += 1
        return actions

    def _infos(self) -> dict[str, Any]:
        infos = {
            "action_mask": self.action_masks().astype(np.int8),
            "seat": self.seats.copy(),
            "replaced": self.replaced.copy(),
            "redeals": self.redeals.copy(),
        }
        return {**infos, **{f"_{key}": np.ones(self.num_envs, bool) for key in infos}}

    def _final(self, over: Array) -> dict[str, Any]:
        """What is told of the games that ended, in the form of Gymnasium's own vector environments."""
        last = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(over):
            last[row] = np.zeros(self.tables.size, np.float32)
        final = {"return": self._rewards.copy(), "seat": self._last_seats, "_return": over, "_seat": over}
        return {"final_obs": last, "_final_obs": over, "final_info": final, "_final_info": over}


class BatchObservationsKey(VectorEnv[dict[str, Array], Array, Array]):
    """The masks are in the observations, under the names that RLlib's modules look for.

    Observations are `{"observations": (B, F), "action_mask": (B, A)}`; infos are empty.

    Args:
        env: The tables; for RLlib with `autoreset="next_step"`, which its EnvRunners expect.
    """

    def __init__(self, env: BatchSeatEnv) -> None:
        self.env, self.num_envs, self.metadata = env, env.num_envs, env.metadata
        mask = spaces.Box(0, 1, (env.tables.actions,), np.int8)
        single = spaces.Dict({"observations": env.single_observation_space, "action_mask": mask})
        self.single_observation_space, self.single_action_space = single, env.single_action_space
        self.observation_space, self.action_space = batch_space(single, env.num_envs), env.action_space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        observed, infos = self.env.reset(seed=seed, options=options)
        return {"observations": observed, "action_mask": infos["action_mask"]}, {}

    def step(self, actions: Array) -> tuple[dict[str, Array], Array, Array, Array, dict[str, Any]]:
        observed, rewards, terminated, truncated, infos = self.env.step(actions)
        seen = {"observations": observed, "action_mask": infos["action_mask"]}
        return seen, rewards, terminated, truncated, {}
