"""Checkpoints of AgileRL at our tables: `--policy agilerl:file=agent.pt,algorithm=DQN`.

For networks that were trained on this game's numbers. A checkpoint is unpickled: loading one runs the code in it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
import torch
from parlour.envs.core import ParlourError, check_one_of
from parlour.policies.adapters.scored import ScoredSeat, Scores, check_algorithm, read_settings, unloadable
from parlour.policies.adapters.trained_on import origin, seated
from parlour.policies.base import Policy
from parlour.policies.files import reading

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the libraries that it imports
    from agilerl.algorithms import DQN, IPPO, MADDPG, MATD3, PPO, RainbowDQN

AGILERL_ALGORITHMS: Final[Mapping[str, Any]] = {
    cls.__name__: cls for cls in (IPPO, MADDPG, MATD3, PPO, DQN, RainbowDQN)
}
"""Those that have `Discrete` actions and one network for a seat."""
_MANY: Final = ("IPPO", "MADDPG", "MATD3")
_LOGITS: Final = ("IPPO", "PPO")
_VALUES: Final = ("DQN", "RainbowDQN")


class AgileRLSeat(ScoredSeat):
    """Plays by a checkpoint. Never illegally: what the checkpoint would have done instead is counted.

    IPPO and PPO: the logits of the network, without illegal moves. MADDPG and MATD3: the same, before the
    noise of their Gumbel softmax. DQN and RainbowDQN: the legal move of highest value.

    Args:
        model: The loaded algorithm.
        agent: The agent whose network plays, if the algorithm has several; by default the first in the alphabet.
        sample: Draw from the network's probabilities, as the library itself always does with the first four; otherwise
            the most probable legal move. Not with DQN and RainbowDQN.
        actions: See `ScoredSeat`.

    Raises:
        ParlourError: A setting is not accepted, or not with this algorithm.
    """

    name: ClassVar[str] = "agilerl"

    def __init__(self, model: Any, *, agent: str | None = None, sample: bool = False, actions: str = "moves") -> None:
        self.model, self.algorithm = model, type(model).__name__
        check_algorithm(self.algorithm, AGILERL_ALGORITHMS, _VALUES, sample=sample)
        if self.algorithm not in _MANY:
            if agent is not None:
                raise ParlourError(f"agent={agent} is not accepted with {self.algorithm}; accepted: no agent")
            network, observed, acted = model.actor, model.observation_space, model.action_space
        else:
            agent = model.agent_ids[0] if agent is None else agent
            check_one_of("agent", agent, model.agent_ids)
            network = model.actors[model.get_network_id(agent)]
            observed, acted = model.possible_observation_spaces[agent], model.possible_action_spaces[agent]
        if getattr(model, "recurrent", False):
            raise ParlourError("a recurrent network is not accepted; accepted: one without memory")
        super().__init__(observed, acted, sample=sample, actions=actions)
        self.agent, self.network = agent, network
        self.read_from: Mapping[str, str] | None = None
        """The settings that name its file; without a file it cannot be pickled."""

    def __reduce__(self) -> Any:
        if self.read_from is None:  # AgileRL's networks cannot be pickled
            raise ParlourError("a network in memory cannot be pickled; accepted: a player of agilerl:file=PATH")
        kept = {key: self.__dict__[key] for key in ("seat", "rng", "replaced")}
        return _read, (self.read_from,), kept

    def scores(self, seen: Any) -> Scores:
        network = self.network
        network.eval()
        with torch.no_grad():
            if self.agent is None:
                inputs = self.model.preprocess_observation(seen)
            else:
                inputs = self.model.preprocess_observation({self.agent: seen})[self.agent]
            if self.algorithm in _VALUES:
                output = network(inputs)
            else:
                latent = network.extract_features(inputs)
                head = network.head_net
                # the last layer of the others is the softmax with its noise
                output = head.wrapped(latent) if self.algorithm in _LOGITS else head.model[:-1](latent)
        scores: Scores = output.reshape(-1).cpu().numpy().astype(np.float64)
        return scores


def from_settings(settings: Mapping[str, str], game: str, config: Mapping[str, Any]) -> Policy:
    """The policy of `file=PATH[,algorithm=NAME][,agent=ID][,sample=true|false][,features=KIND][,actions=moves|ranks]`.

    The algorithm is IPPO unless it is named.

    Raises:
        ParlourError: A setting or value is not accepted; the file is no such checkpoint, or nothing says what it was trained on
            (`trained_on`); it was trained on another game or configuration.
    """
    read_settings(AgileRLSeat.name, settings, AGILERL_ALGORITHMS, ("agent",))
    where = origin(AgileRLSeat.name, settings, game, config)
    return seated(_read({**settings, "features": where.features, "actions": where.actions}), where, game, config)


def _read(settings: Mapping[str, str]) -> AgileRLSeat:
    """The network that the settings name, with all of them given."""
    file, algorithm, sample = read_settings(AgileRLSeat.name, settings, AGILERL_ALGORITHMS, ("agent",))
    algorithm = algorithm or next(iter(AGILERL_ALGORITHMS))
    with reading(file, "checkpoint", unloadable(algorithm, AGILERL_ALGORITHMS)), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the library will change; of attributes of some other algorithm
        model = AGILERL_ALGORITHMS[algorithm].load(file, device="cpu")
        if model.algo.replace(" ", "") != algorithm:
            raise ValueError("some algorithms can be loaded as others")
    player = AgileRLSeat(model, agent=settings.get("agent"), sample=sample, actions=settings["actions"])
    player.read_from = dict(settings)
    return player
