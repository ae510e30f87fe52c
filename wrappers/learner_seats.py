"""LearnerSeats: the environment of the learners alone; policies play the other seats, in the same process.

For trainers that would otherwise have to bring the other players along, or pay for each of their turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

from gymnasium.utils import seeding
from parlour.envs.aec import GameEnv
from parlour.envs.core import ParlourError, accept, check_one_of, listed, numbered
from parlour.envs.spaces import AgentSpaces
from parlour.envs.turn import take_turn
from parlour.wrappers.base import SEEDS, inner_game
from parlour.wrappers.opponents import Opponents, seated
from pettingzoo.utils.env import AECEnv

_TRIES: Final = 1000


class LearnerSeats(AgentSpaces, AECEnv[str, Any, Any]):
    """A game as an AEC environment whose agents `learner_0`, ... are some of its seats.

    With one learner every step is a whole cycle, so that `pettingzoo.utils.conversions.aec_to_parallel` takes it.

    Args:
        env: One of parlour's AEC environments with `info="full"`, from which the other seats are played.
        opponents: Who plays the other seats: a policy's name, such as `"heuristic"`; a class or a function that makes a
            policy, called for each seat; or one for each seat, in order (`parlour.wrappers.opponents`).
        seats: The number of seats, drawn anew for each game; or these seats, in this order.
        observation: As for the environments themselves: `"features"`, `"text"` or `"both"`; each with `action_mask`.
        on_illegal: What follows an action that is not legal: `"random"`: a random legal one in its place, counted in
            `info["replaced"]`; `"raise"`: the error. What is no action of the space at all always raises.

    A game that ends before a learner has moved is dealt again (`info["redeals"]`). `info["seat"]` is the learner's seat.

    Raises:
        ParlourError: A setting is not accepted.
    """

    rewards: dict[str, float]
    terminations: dict[str, bool]
    agent_selection: str
    _cumulative_rewards: dict[str, float]

    def __init__(
        self,
        env: AECEnv[str, Any, Any],
        opponents: Opponents,
        *,
        seats: int | Sequence[int] = 1,
        observation: Literal["features", "text", "both"] = "features",
        on_illegal: Literal["random", "raise"] = "random",
    ) -> None:
        super().__init__()
        base = inner_game(env, "LearnerSeats", full=True)
        check_one_of("on_illegal", on_illegal, ("random", "raise"))
        self.env, self.game_env, self.observation, self.on_illegal = env, base, observation, on_illegal
        self._fixed, count = _chosen(seats, base.game.seats)
        every = range(base.game.seats)
        self._players = seated(opponents, base)
        self.metadata = {**base.metadata, "is_parallelizable": count == 1}
        self.render_mode = base.render_mode
        self.possible_agents = [f"learner_{k}" for k in range(count)]
        self.agents: list[str] = []
        self.seats = dict(zip(self.possible_agents, self._fixed or every, strict=False))
        spec, game, features = base.spec, base.game, base.features
        own = [GameEnv(spec, game, observation=observation, features=features) for _ in range(count)]  # own spaces
        first = base.possible_agents[0]
        self.observation_spaces = {
            a: e.observation_space(first) for a, e in zip(self.possible_agents, own, strict=True)
        }
        self.action_spaces = {a: e.action_space(first) for a, e in zip(self.possible_agents, own, strict=True)}
        self.np_random, _ = seeding.np_random(None)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        if seed is not None:
            self.np_random, _ = seeding.np_random(seed)
        self.deal(seed, options)

    def deal(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """As `reset`, but with chance as it stands in `np_random`."""
        for self._redeals in range(_TRIES):
            game_seed = seed if seed is not None and self._redeals == 0 else int(self.np_random.integers(SEEDS))
            self._deal(game_seed, options)
            if self.game_env.outcome is None:
                return
        raise ParlourError(f"seat {listed(self.seats.values())} did not get to move in {_TRIES} games")

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.env.step(self._legal(agent, action))
        self._earn()
        self._let_others_play()
        self._accumulate_rewards()
        self._tell()

    def observe(self, agent: str) -> Any:
        """As the game's own environment observes, of the seat that the learner holds."""
        return self.game_env.observe_as(self._held[agent], self.observation)

    def render(self) -> Any:
        return self.game_env.render()

    def close(self) -> None:
        self.env.close()

    # -- inside ------------------------------------------------------------------------------------------------

    def _deal(self, game_seed: int, options: dict[str, Any] | None) -> None:
        """A new game up to the first move of a learner, or to its end."""
        self.seats = dict(zip(self.possible_agents, self._fixed or self._drawn(), strict=True))
        self._learner_at = {seat: agent for agent, seat in self.seats.items()}
        self._held = {agent: self.game_env.possible_agents[seat] for agent, seat in self.seats.items()}
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._replaced = dict.fromkeys(self.agents, 0)
        self._skip_agent_selection = None
        self.env.reset(seed=game_seed, options=options)
        for seat, player in enumerate(self._players):
            if seat not in self._learner_at:
                player.reset(seat, game_seed)
        self._let_others_play()
        self._tell()

    def _drawn(self) -> tuple[int, ...]:
        """The learners' seats for one game."""
        order = self.np_random.permutation(self.game_env.game.seats)
        return tuple(map(int, order[: len(self.possible_agents)]))

    def _let_others_play(self) -> None:
        base, env = self.game_env, self.env
        while base.outcome is None and base.seat not in self._learner_at:
            take_turn(env, self._players[base.seat])
            self._earn()

    def _earn(self) -> None:
        earned = self.game_env.rewards
        for agent, held in self._held.items():
            self.rewards[agent] += float(earned[held])

    def _tell(self) -> None:
        """Select the learner whose turn it is, or end the episode of all; say so in `infos`."""
        over = self.game_env.outcome is not None
        self.terminations = dict.fromkeys(self.agents, over)
        self.agent_selection = self.agents[0] if over else self._learner_at[self.game_env.seat]
        self.infos = {agent: self._info(agent) for agent in self.agents}

    def _info(self, agent: str) -> dict[str, Any]:
        mask = self.game_env.infos[self._held[agent]]["action_mask"]
        told = {"seat": self.seats[agent], "replaced": self._replaced[agent], "redeals": self._redeals}
        return {"action_mask": mask, **told}

    def _legal(self, agent: str, action: Any) -> Any:
        if isinstance(action, str):
            return action
        info = self.game_env.infos[self._held[agent]]
        moves, legal = self.game_env.catalogue_of(self.seats[agent]), info["legal"]
        number = numbered(action, len(moves))
        if number in legal:
            return number
        if self.on_illegal == "raise":
            raise accept(f"action {number},", moves[number], info["options"])
        self._replaced[agent] += 1
        return legal[int(self.np_random.integers(len(legal)))]


def _chosen(seats: int | Sequence[int], table: int) -> tuple[tuple[int, ...] | None, int]:
    """The fixed seats, or None; and how many learners there are."""
    accepted = f"how many (1..{table}), or different seats of 0..{table - 1}"
    if isinstance(seats, int):
        if not 1 <= seats <= table:
            raise accept("seats", seats, accepted)
        return None, seats
    fixed = tuple(seats)
    if not fixed or len(set(fixed)) < len(fixed) or not set(fixed) <= set(range(table)):
        raise accept("seats", fixed, accepted)
    return fixed, len(fixed)
