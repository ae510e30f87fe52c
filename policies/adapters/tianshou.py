"""Tianshou (2.0): its policies at our tables, `--policy tianshou:file=PATH`, and our policies among its algorithms.

Facts about Tianshou, read in its source: its PettingZooEnv hands on `observation`, the mask and the info, no text; its
collectors stack infos into arrays; they tell a policy neither that a game begins nor, in the first info of a game, at
which environment; in a multi-agent algorithm each agent's policy sees that agent's turns only.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
import torch
from gymnasium import spaces
from parlour.envs.core import TABLE, ParlourError
from parlour.policies.adapters.scored import check_reads, file_in, number_of
from parlour.policies.adapters.trained_on import TrainedOn, seated
from parlour.policies.base import Policy, TablePolicy
from parlour.policies.files import reading
from tianshou.algorithm.algorithm_base import (
    Algorithm,
    OffPolicyAlgorithm,
    OnPolicyAlgorithm,
    Policy as TheirPolicy,
    TrainingStats,
)
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.data import Batch
from tianshou.utils.net.common import Net

# -- theirs at our tables --------------------------------------------------------------------------------------


class TianshouSeat(TablePolicy):
    """Plays by a Tianshou policy with discrete actions.

    Where its answer has `logits` for all actions (the DQN family, discrete actors), the legal action with the highest
    is played, or one is drawn from its distribution; otherwise its `act`, as it is.

    Args:
        policy: The policy, or an algorithm that has one; for a single agent.
        sample: Draw from the policy's distribution, with this player's own generator. Not with values, as of DQN.
        mask: Its observations are `{"obs", "mask"}`, as in Tianshou's PettingZooEnv; False: the bare features.

    Raises:
        ParlourError: A policy of continuous actions, or of several agents.
    """

    name: ClassVar[str] = "tianshou"
    wants: ClassVar[str] = "features"
    features: str = TABLE
    """The kind of features that it was trained on, if `save_weights` wrote it."""

    def __init__(self, policy: TheirPolicy | Algorithm, *, sample: bool = False, mask: bool = True) -> None:
        super().__init__()
        self.policy: TheirPolicy = policy.policy if isinstance(policy, Algorithm) else policy
        if hasattr(self.policy, "policies"):
            raise ParlourError(f"a policy of several agents; accepted: one of {', '.join(self.policy.policies)}")
        if not isinstance(self.policy.action_space, spaces.Discrete):
            raise ParlourError(f"a policy with actions {self.policy.action_space}; accepted: Discrete")
        self.sample, self.mask = sample, mask

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if the table has another number of actions, or there is nothing to draw from."""
        features, mask = observation["observation"], observation["action_mask"]
        if len(mask) != int(self.policy.action_space.n):
            raise ParlourError(
                f"a table with {len(mask)} actions; accepted: {self.policy.action_space.n}, as the policy has"
            )
        seen: Any = features[None]
        if self.mask:
            seen = Batch(
                obs=seen, mask=mask[None].astype(bool), agent_id=np.array([f"player_{self.seat}"], dtype=object)
            )
        self.policy.eval()
        with torch.no_grad(), torch.random.fork_rng(devices=[]):  # some draw from PyTorch's global generator
            torch.manual_seed(int(self.rng.integers(2**31)))
            answer = self.policy(Batch(obs=seen, info=Batch()))
        return self._drawn(answer, mask) if self.sample else self._best(answer, mask)

    def _best(self, answer: Any, mask: Any) -> int:
        scores = answer.get("logits")
        if scores is None or tuple(scores.shape) != (1, len(mask)):  # distributions over values, or no scores at all
            return int(answer.act[0])
        scores = scores[0].cpu().numpy().astype(np.float64)
        scores[mask == 0] = -np.inf
        return int(np.argmax(scores))

    def _drawn(self, answer: Any, mask: Any) -> int:
        if answer.get("dist") is None:
            raise ParlourError("this policy has no distribution to draw from; accepted: sample=False")
        chance = answer.dist.probs[0].cpu().numpy().astype(np.float64) * (mask != 0)
        if not chance.any():
            chance = (mask != 0).astype(np.float64)
        return int(self.rng.choice(len(mask), p=chance / chance.sum()))

    def save(self, path: str | Path) -> None:
        raise ParlourError("a Tianshou policy is not saved from its seat; accepted: adapters.tianshou.save_weights")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save_weights` wrote. Raises `ParlourError` for any other file."""
        net, actions, trained_on = _stored(path)
        seat = cls(DiscreteQLearningPolicy(model=net, action_space=spaces.Discrete(actions)))
        seat.table, seat.features = (trained_on.game, trained_on.config), trained_on.features
        return seat


def from_settings(settings: Mapping[str, str], game: str, config: Mapping[str, Any]) -> Policy:
    """The policy of `file=PATH`, a file of `save_weights`.

    Raises:
        ParlourError: Another setting, no such file, or one for another game or configuration.
    """
    needs = "a file; accepted: tianshou:file=PATH, as save_weights wrote it"
    player = TianshouSeat.load_for(file_in("tianshou", settings, ("file",), needs), game, config)
    return seated(player, TrainedOn(game, config, player.features), game, config)


def save_weights(net: Net, path: str | Path, game: str, config: Mapping[str, Any], features: str = TABLE) -> None:
    """Write the weights of a Q-network, with its sizes and what it was trained on; nothing in it is code.

    Args:
        net: A `tianshou.utils.net.common.Net` made of state_shape, action_shape and hidden_sizes alone.
        path: The file.
        game: The game's id.
        config: Its configuration, `game.config`.
        features: The kind of the features it was trained on.

    Raises:
        ParlourError: A network of another kind, which could not be made again from its sizes.
    """
    widths = [layer.weight.shape for layer in net.modules() if isinstance(layer, torch.nn.Linear)]
    sizes = {"features": widths[0][1], "hidden": [out for out, _ in widths[:-1]], "actions": widths[-1][0]}
    kinds = [[type(module) for module in of.modules()] for of in (net, _net(sizes))]
    if kinds[0] != kinds[1] or net.softmax:
        raise ParlourError(
            "this network is not accepted; accepted: Net of state_shape, action_shape and hidden_sizes alone"
        )
    trained_on = {"game": game, "config": json.dumps(dict(config), sort_keys=True), "features": features}
    torch.save({_KIND: sizes, **trained_on, "weights": net.state_dict()}, path)


_KIND: Final = "parlour_tianshou"


def _net(sizes: Mapping[str, Any]) -> Net:
    return Net(state_shape=sizes["features"], action_shape=sizes["actions"], hidden_sizes=list(sizes["hidden"]))


def _stored(path: str | Path) -> tuple[Net, int, TrainedOn]:
    """The network, how many actions it has, and what it was trained on; files before 0.3 are of the features `table`."""
    with reading(path, "policy file", "is not accepted; accepted: a file that save_weights wrote"):
        with Path(path).open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise TypeError("an older format of PyTorch's, or none")
        stored = torch.load(path, map_location="cpu", weights_only=True)
        net = _net(stored[_KIND])
        net.load_state_dict(stored["weights"])
        trained_on = TrainedOn(
            str(stored["game"]), dict(json.loads(stored["config"])), str(stored.get("features", TABLE))
        )
        return net, int(stored[_KIND]["actions"]), trained_on


# -- ours among their algorithms -------------------------------------------------------------------------------


class SeatedPolicy(TheirPolicy):
    """Policies of parlour as a Tianshou policy: one for each table that is played, reset when a new game begins there.

    The environments are `PettingZooEnv(SealedTurn(env))`, from whose `info["turn"]` it plays.

    Args:
        make: Makes a policy, once for each table.
        action_space: Action space of the environments.
    """

    def __init__(self, make: Callable[[], Policy], action_space: spaces.Space[Any]) -> None:
        super().__init__(action_space=action_space, action_bound_method=None)
        self.make = make
        self.seated: dict[tuple[str, int], tuple[int, Policy]] = {}
        """Table and seat -> number of the game, and who plays it."""

    def forward(self, batch: Any, state: Any = None, **kwargs: Any) -> Any:
        """The numbers of the actions, shape (batch,). Raises `ParlourError` where infos lack turns, or answers numbers."""
        if "turn" not in batch.info.get_keys():
            raise ParlourError("no turn in the infos; accepted: environments in parlour.wrappers.SealedTurn")
        return Batch(act=np.array([self._act(turn) for turn in batch.info.turn]), state=None)

    def _act(self, turn: Any) -> int:
        observation, info = turn.read()
        player = self._player(turn)
        check_reads(player, observation, "SealedTurn")
        answer = player.act(observation, info)
        turn.clear()  # the collector's buffer keeps the turn
        return number_of(player, answer, info)

    def _player(self, turn: Any) -> Policy:
        game, player = self.seated.get((turn.table, turn.seat), (0, None))
        if player is None or game != turn.game:
            player = self.make() if player is None else player
            player.reset(turn.seat, turn.seed)
            self.seated[turn.table, turn.seat] = (turn.game, player)
        return player


class SeatedOffPolicy(OffPolicyAlgorithm):
    """A `SeatedPolicy` that learns nothing, for `MultiAgentOffPolicyAlgorithm`. The arguments are the same."""

    def __init__(self, make: Callable[[], Policy], action_space: spaces.Space[Any]) -> None:
        super().__init__(policy=SeatedPolicy(make, action_space))

    def _update_with_batch(self, batch: Any) -> TrainingStats:
        return TrainingStats()


class SeatedOnPolicy(OnPolicyAlgorithm):
    """The same for `MultiAgentOnPolicyAlgorithm`."""

    def __init__(self, make: Callable[[], Policy], action_space: spaces.Space[Any]) -> None:
        super().__init__(policy=SeatedPolicy(make, action_space))

    def _update_with_batch(self, batch: Any, batch_size: int | None, repeat: int) -> TrainingStats:
        return TrainingStats()
