"""TorchRL (0.14): its actors as policies at our tables, and our policies as the actors of its rollouts.

Keys are those that `torchrl.envs.PettingZooWrapper` gives to an environment inside `parlour.wrappers.MaskInInfo`; a group
of the AEC interface is one agent and called like it. For a group of n agents, after the batch of environments if any:
`(group, "observation")` float32 (n, features); `(group, "action_mask")` bool (n, actions); `(group, "mask")` bool (n,),
who acts now; `(group, "action")` int64 (n,). Without MaskInInfo the numbers are in `(group, "observation",
"observation")`. All this was read in the wrapper's source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
import torch
from parlour.envs.core import TABLE, ParlourError, accept, check_one_of
from parlour.envs.turn import read_words
from parlour.policies.adapters.scored import file_in, read_sample
from parlour.policies.adapters.trained_on import TrainedOn, seated
from parlour.policies.base import Policy, TablePolicy
from parlour.policies.files import reading
from tensordict import TensorDict, TensorDictBase
from tensordict.nn import TensorDictModule, TensorDictModuleBase
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor

LEARNER: Final = "learner_0"
"""The group of the one learner of `parlour.wrappers.LearnerSeats`."""
SETTINGS: Final = ("file", "sample")
_META: Final = "parlour_actor"

Key = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ActorConfig:
    """What decides the network of an actor, and where it was trained; saved with it."""

    game: str
    """Registry name of the game."""
    config: Mapping[str, Any]
    """The game's configuration, as `game.config`."""
    features: int
    actions: int
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers."""
    kind: str = TABLE
    """The kind of the features, one of `GameSpec.features`; files before 0.3 have `"table"`."""

    @classmethod
    def of(cls, env: Any, hidden: tuple[int, ...] = (64, 64)) -> Self:
        """For the table inside an AEC environment of parlour, in wrappers or not."""
        base = _game_env(env)
        shown = {"features": base.encoder.size, "actions": len(base.game.catalogue), "kind": base.features}
        return cls(game=base.spec.id, config=base.game.config, hidden=hidden, **shown)


def make_actor(config: ActorConfig, group: str = LEARNER) -> ProbabilisticActor:
    """A multi-layer perceptron with tanh from the features to the logits of a `MaskedCategorical`.

    It writes `(group, "action")` and the action's log-probability `(group, "log_prob")`.
    """
    network = MLP(config.features, config.actions, num_cells=list(config.hidden))
    return ProbabilisticActor(
        TensorDictModule(network, in_keys=[(group, "observation")], out_keys=[(group, "logits")]),
        in_keys={"logits": (group, "logits"), "mask": (group, "action_mask")},
        out_keys=[(group, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(group, "log_prob"),
    )


def save_actor(path: str | Path, actor: Any, config: ActorConfig) -> None:
    """Write the weights of an actor that `make_actor(config)` made, and `config`."""
    torch.save({_META: json.dumps(asdict(config)), "state": actor.state_dict()}, path)


# -- theirs at our tables --------------------------------------------------------------------------------------


class TorchRLPlayer(TablePolicy):
    """Plays by an actor: the most probable legal action, or one drawn from its probabilities.

    Never illegally: probabilities of illegal moves are set aside, and an illegal action of an actor without
    probabilities is replaced by a random legal one and counted.

    Args:
        actor: A TensorDictModule; it may be shared between players. It reads nothing but the keys named above, and
            writes `(group, "action")`: a number, or one-hot.
        group: Under which name it was trained; None: its keys are bare, without a dimension for agents.
        sample: Draw. Only for actors that have `get_dist`.
        config: Where it was trained, if it is one of `make_actor`.

    Raises:
        ParlourError: The actor reads other keys, or cannot be sampled from.
    """

    name: ClassVar[str] = "torchrl"
    wants: ClassVar[str] = "features"
    origin: ClassVar[str] = "the actor was trained on"

    def __init__(
        self, actor: Any, *, group: str | None = LEARNER, sample: bool = False, config: ActorConfig | None = None
    ) -> None:
        super().__init__()
        self.actor, self.group, self.sample, self.config = actor, group, sample, config
        self.table = None if config is None else (config.game, config.config)
        prefix: Key = () if group is None else (group,)
        self._nested = (*prefix, "observation", "observation") in actor.in_keys
        observation: Key = ("observation",) * (1 + self._nested)
        offered = [_key(*prefix, *observation), _key(*prefix, "action_mask"), _key(*prefix, "mask")]
        for key in actor.in_keys:
            check_one_of("key that the actor reads", key, offered)
        self._action = _key(*prefix, "action")
        self._has_dist = hasattr(actor, "get_dist")
        if sample and not self._has_dist:
            raise ParlourError("sample=True is not accepted with this actor; accepted: actors with get_dist")
        self.replaced = 0
        """Turns at which an actor without probabilities chose an illegal move; over all games."""

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if the network does not take what this table shows."""
        mask = observation["action_mask"]
        try:
            scores = self._ask(observation["observation"], mask)
        except RuntimeError as error:
            seen = f"{observation['observation'].size} features and {mask.size} actions"
            raise ParlourError(f"the actor does not take a table with {seen}: {error}") from error
        if self._has_dist:
            return self._pick(np.where(mask == 1, scores, 0.0), mask)
        chosen = int(scores.argmax()) if scores.size > 1 else int(scores.item())
        if 0 <= chosen < mask.size and mask[chosen]:
            return chosen
        self.replaced += 1
        return int(self.rng.choice(np.flatnonzero(mask)))

    def save(self, path: str | Path) -> None:
        """Raises `ParlourError` unless the actor is one of `make_actor`."""
        if self.config is None:
            raise ParlourError("this actor is saved by TorchRL's own means; accepted: actors of `make_actor`")
        save_actor(path, self.actor, self.config)

    @classmethod
    def load(cls, path: str | Path, *, sample: bool = False) -> Self:
        """Read what `save_actor` wrote; no code in the file is run. Raises `ParlourError` for another file."""
        with reading(path, "actor file", "is not a saved actor; accepted: a file of `save_actor`"):
            stored = torch.load(path, map_location="cpu", weights_only=True)
            meta = json.loads(stored[_META])
            config = ActorConfig(**meta | {"hidden": tuple(meta["hidden"])})
            actor = make_actor(config)
            actor.load_state_dict(stored["state"])
        return cls(actor, sample=sample, config=config)

    # -- inside ------------------------------------------------------------------------------------------------

    def _ask(self, features: Any, mask: Any) -> np.ndarray[Any, Any]:
        """The probabilities of all actions, shape (actions,); without `get_dist` the action, a number or one-hot."""
        seen: Any = torch.as_tensor(features)
        parts: dict[str, Any] = {"action_mask": torch.as_tensor(mask, dtype=torch.bool), "mask": torch.tensor(True)}
        parts["observation"] = TensorDict({"observation": seen}) if self._nested else seen
        asked = TensorDict(parts)
        if self.group is not None:
            asked = TensorDict({self.group: asked.unsqueeze(0)})  # one agent
        with torch.no_grad():
            output = self.actor.get_dist(asked).probs if self._has_dist else self.actor(asked)[self._action]
        answer: np.ndarray[Any, Any] = output.reshape(-1).double().numpy()
        return answer

    def _pick(self, chances: np.ndarray[Any, Any], mask: Any) -> int:
        if not self.sample:
            return int(np.where(mask == 1, chances, -1.0).argmax())
        weights = chances if chances.any() else mask.astype(np.float64)
        return int(self.rng.choice(len(weights), p=weights / weights.sum()))


def from_settings(settings: Mapping[str, str], game: str, config: Mapping[str, Any]) -> Policy:
    """The actor of `file=PATH[,sample=true|false]`, for a table of `game`.

    Raises `ParlourError` for another setting or value, for a file that is none of `save_actor`, and for one of another
    game or configuration.
    """
    file = file_in("torchrl", settings, SETTINGS, "an actor; accepted: torchrl:file=PATH[,sample=true]")
    player = TorchRLPlayer.load(file, sample=read_sample(settings))
    player.check_table(game, config)
    assert player.config is not None
    return seated(player, TrainedOn(game, config, player.config.kind), game, config)


def _game_env(env: Any) -> Any:
    """The `GameEnv` within. Raises `ParlourError` if there is none."""
    base = getattr(env.unwrapped, "game_env", env.unwrapped)
    if not hasattr(base, "observe_as"):
        raise accept("env", type(env.unwrapped).__name__, "an AEC environment of parlour, or its LearnerSeats")
    return base


def _key(*parts: str) -> str | Key:
    return parts[0] if len(parts) == 1 else parts


# -- ours in their code ----------------------------------------------------------------------------------------


class PolicyTensorDictModule(TensorDictModuleBase):
    """Policies of parlour as the actor of one group, in `rollout` and in collectors; it is not trained.

    A policy that reads features finds them in the tensordict. All others read `env` themselves, because TorchRL takes
    no strings in infos. They see the table's text, options and View at that moment, so the module works only with this
    environment, in this process. With `env`, policies are reset at each new game.

    Args:
        players: A player for each agent of the group, in the group's order; in a batch of environments (without `env`),
        for each agent of each environment.
        group: The group's name.
        env: The PettingZoo environment inside TorchRL's: an AEC environment of parlour, in wrappers or not.
        agents: The group's agents, as `group_map[group]`; by default one agent, called like the group.
        seed: Seed of the players.

    Words of a player become the move that they say; words that cannot be used, the move that the rules prescribe then,
    counted in `replaced`.

    Raises:
        ParlourError: A player reads more than features and there is no `env`; the numbers of players and agents differ.
    """

    def __init__(
        self,
        players: Sequence[Policy],
        group: str = LEARNER,
        *,
        env: Any = None,
        agents: Sequence[str] | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.players, self.group = list(players), group
        self.agents = [group] if agents is None else list(agents)
        self.rng = np.random.default_rng(seed)
        self.table = None if env is None else _Table(env)
        self.replaced = 0
        self.in_keys = [(group, "action_mask")]
        self.out_keys = [(group, "action")]
        if self.table is None:
            self.in_keys.append((group, "observation"))
            for k, player in enumerate(self.players):
                if player.wants != "features":
                    raise ParlourError(
                        f"{player.name!r} reads {player.wants!r}, which TorchRL does not hand on; accepted: env=, the "
                        "environment to look at"
                    )
                player.reset(k, int(self.rng.integers(2**30)))
        elif len(self.players) != len(self.agents):
            raise ParlourError(f"{len(self.players)} players; accepted: one for each of {', '.join(self.agents)}")

    def forward(self, tensordict: TensorDictBase) -> TensorDictBase:
        """Write the actions of those who act; 0 for everybody else."""
        legal = tensordict.get((self.group, "action_mask"))
        acting = tensordict.get((self.group, "mask"), None)
        if acting is None:
            acting = torch.ones(legal.shape[:-1], dtype=torch.bool)
        if acting.numel() != len(self.players):
            raise ParlourError(f"{len(self.players)} players; accepted: {acting.numel()}, one for each agent")
        masks = legal.reshape(-1, legal.shape[-1]).numpy().astype(np.int8)
        action = torch.zeros(acting.numel(), dtype=torch.int64)
        for k in acting.reshape(-1).nonzero().flatten().tolist():
            if self.table is None:
                seen = {"observation": self._features(tensordict)[k], "action_mask": masks[k]}
                action[k] = int(self.players[k].act(seen, {"action_mask": masks[k]}))
            else:
                action[k] = self._act_at(self.table, self.agents[k], self.players[k])
        tensordict.set((self.group, "action"), action.reshape(acting.shape))
        return tensordict

    # -- inside ------------------------------------------------------------------------------------------------

    def _features(self, tensordict: TensorDictBase) -> Any:
        seen = tensordict.get((self.group, "observation"))
        seen = seen if isinstance(seen, torch.Tensor) else seen.get("observation")
        return seen.reshape(-1, seen.shape[-1]).numpy()

    def _act_at(self, table: _Table, agent: str, player: Policy) -> int:
        if table.has_new_game():
            seed = int(self.rng.integers(2**30))
            for own, seated in zip(self.agents, self.players, strict=True):
                seated.reset(table.seat_of(own), seed)
        action = player.act(*table.show(agent, player.wants))
        if not isinstance(action, str):
            return int(action)
        number, usable = table.read(action, player.rng)
        self.replaced += not usable
        return number


class _Table:
    """The game inside a PettingZoo environment of parlour, seen by who sits there."""

    def __init__(self, env: Any) -> None:
        self._env, self._game_env = env.unwrapped, _game_env(env)
        self._moves: object = None

    def has_new_game(self) -> bool:
        """Whether a game has begun since this was asked last: an environment keeps a new list of moves for each."""
        before, self._moves = self._moves, self._game_env.moves
        return before is not self._moves

    def seat_of(self, agent: str) -> int:
        seats: Mapping[str, int] = getattr(self._env, "seats", self._game_env.seat_of)
        return seats[agent]

    def show(self, agent: str, wants: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Observation and full info of the agent whose turn it is."""
        base, seat = self._game_env, self.seat_of(agent)
        own = base.possible_agents[seat]
        view = base.view(seat)
        info = {
            "action_mask": base.infos[own]["action_mask"],
            "options": tuple(base.text.say(move) for move in view.legal),
            "legal": tuple(base.number(move) for move in view.legal),
            "view": view,
            "heuristic": base.spec.heuristic,
            "features": base.features,
        }
        return {} if wants == "view" else base.observe_as(own, wants), info

    def read(self, words: str, rng: np.random.Generator) -> tuple[int, bool]:
        """The number of the move for the words of the seat to move, and whether they could be used."""
        base = self._game_env
        move, usable = read_words(base.text, words, base.view(base.seat), rng)
        return int(base.number(move)), usable
