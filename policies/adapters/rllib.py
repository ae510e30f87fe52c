"""RLlib (ray[rllib] 2.60, new API stack): its RLModules as policies at our tables, and our policies as its RLModules.

Facts about RLlib, read in its source: `Columns.INFOS` is the one column that its connectors hand to a module as it
stands, neither stacked nor made a tensor; the parts of a checkpoint are directories, each with the pickle of a class and
its arguments (so that loading one runs code); a module's forward pass may return actions instead of logits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch
from gymnasium import spaces
from parlour.envs.core import ParlourError, accept
from parlour.policies.adapters.scored import ScoredSeat, Scores, check_reads, number_of
from parlour.policies.adapters.settings import RLlibSettings
from parlour.policies.adapters.trained_on import origin, seated
from parlour.policies.base import Policy
from parlour.policies.seating import Seating
from ray.rllib.connectors.connector_v2 import ConnectorV2
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec

# -- theirs at our tables --------------------------------------------------------------------------------------

_ARGUMENTS: Final = "class_and_ctor_args.pkl"
_MODULES: Final = Path("learner_group/learner/rl_module")
"""Where the modules are in an algorithm's checkpoint."""


class RLlibPolicy(ScoredSeat):
    """Plays the most probable legal action of an RLModule, or draws from its probabilities for the legal ones.

    Only the module is loaded from the checkpoint; Ray is not started. It is unpickled: load only what you trust.

    Args:
        file: Directory of an algorithm's checkpoint, of a MultiRLModule's, or of one RLModule's. The module's
            observations are `{"observations", "action_mask"}`, `{"observation", "action_mask"}` or the bare Box of
            features; its actions Discrete; it returns logits of shape (batch, actions), and has no state.
        module: Which module; needed only where there are several.
        sample: Draw, with the policy's own generator.
        actions: `"moves"`, or `"ranks"` if it was trained in `parlour.wrappers.LegalRanks`.

    Raises:
        ParlourError: There is no such checkpoint or module, or it is of another kind.
    """

    name: ClassVar[str] = "rllib"

    @classmethod
    def make(cls, settings: RLlibSettings, at: Seating) -> Policy:
        _module_in(settings.file, settings.module)
        where = origin(cls.name, settings, at)
        player = cls(settings.file, settings.module, sample=settings.sample, actions=where.actions)
        return seated(player, where, at.game, at.config)

    def __init__(self, file: str, module: str | None = None, *, sample: bool = False, actions: str = "moves") -> None:
        directory, self.id = _module_in(file, module)
        self.file, self.module = file, _load(directory)
        self.key, space = _numbers(self.module.observation_space)
        super().__init__(space, self.module.action_space, sample=sample, actions=actions)
        self.knew_mask = bool(self.key)
        if self.module.is_stateful():
            raise ParlourError("an RLModule with a state (LSTM) cannot play here; accepted: one without")

    def settings(self) -> dict[str, Any]:
        return {"file": self.file, "module": self.id, "sample": self.sample, "actions": self.actions}

    def scores(self, seen: Any) -> Scores:
        """The module's logits. Raises `ParlourError` if it returns none."""
        if self.key:
            numbers, mask = torch.from_numpy(seen["observation"])[None], torch.from_numpy(seen["action_mask"])[None]
            batch: Any = {self.key: numbers, "action_mask": mask}
        else:
            batch = torch.from_numpy(seen)[None]
        with torch.no_grad():
            out = self.module.forward_inference({Columns.OBS: batch}).get(Columns.ACTION_DIST_INPUTS)
        if out is None or out.shape != (1, self.count):
            raise ParlourError(f"this RLModule cannot play here; accepted: a module that returns {self.count} logits")
        logits: Scores = out[0].double().numpy()
        return logits


def _module_in(file: str, id: str | None) -> tuple[Path, str]:
    """The directory of one module, and the module's name."""
    root = Path(file)
    if (root / _MODULES).is_dir():
        root = root / _MODULES
    within = {path.parent.name: path.parent for path in sorted(root.glob(f"*/{_ARGUMENTS}"))}
    if not within:
        if not (root / _ARGUMENTS).is_file():
            raise ParlourError(f"{file!r} is not an RLlib checkpoint; accepted: a directory of `save_to_path`")
        within = {root.name: root}
    if id is None and len(within) == 1:
        id = next(iter(within))
    if id is None or id not in within:
        raise accept("module", id, within)
    return within[id], id


def _load(directory: Path) -> Any:
    try:
        module = RLModule.from_checkpoint(str(directory.resolve()))
    except Exception as error:  # a pickle may raise anything
        raise ParlourError(f"{str(directory)!r} cannot be loaded as an RLModule: {error}") from None
    if not isinstance(module, RLModule):
        raise ParlourError(f"{str(directory)!r} holds a {type(module).__name__}; accepted: an RLModule")
    return module


def _numbers(space: Any) -> tuple[str, spaces.Space[Any]]:
    """Under which key the module looks for the features (none: they are all it sees); its space, in our own keys."""
    key, box = "", space
    if isinstance(space, spaces.Dict):
        key = next((k for k in ("observations", "observation") if set(space.spaces) == {k, "action_mask"}), "")
        box = space[key] if key else None
    if not isinstance(box, spaces.Box) or len(box.shape) != 1:
        raise ParlourError(
            f"an RLModule that sees {space} cannot play here; accepted: a Box of one dimension, "
            "or a Dict with that Box under 'observations' (or 'observation') and an 'action_mask'"
        )
    return key, spaces.Dict({"observation": box, "action_mask": space["action_mask"]}) if key else box


# -- ours in their code ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AgentTurn:
    """What `InfosToModules` tells a module of one agent's turn."""

    episode: str
    agent: str
    info: Mapping[str, Any]
    ongoing: frozenset[str]
    """The episodes that have not ended."""


class InfosToModules(ConnectorV2):
    """Env-to-module connector: puts each agent's `AgentTurn` into the column of infos, which `PolicyRLModule` reads."""

    def __call__(
        self,
        *,
        rl_module: Any,
        batch: dict[str, Any],
        episodes: Sequence[Any],
        explore: bool | None = None,
        shared_data: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        ongoing = frozenset(episode.id_ for episode in episodes)
        # of every agent, also of learners: from the first column, RLlib reads off who is in the batch
        for agent in self.single_agent_episode_iterator(list(episodes), agents_that_stepped_only=True):
            turn = AgentTurn(agent.multi_agent_episode_id, agent.agent_id, agent.get_infos(-1) or {}, ongoing)
            self.add_batch_item(batch, Columns.INFOS, turn, agent)
        return batch


class PolicyRLModule(RLModule):
    """Policies of parlour as an RLModule that is not trained: one policy for each seat of each game in play; see `policy_spec`.

    Each game's policies draw from a seed of their own; games are numbered as they come, for each EnvRunner from 0.
    """

    framework = "torch"  # else RLlib refuses a MultiRLModule of such modules alone

    def setup(self) -> None:
        self._make, self._seed = self.model_config["make"], self.model_config["seed"]
        self._games: dict[str, int] = {}
        self._dealt = 0
        self._seated: dict[tuple[str, str], Policy] = {}
        self._idle: list[Policy] = []

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        turns: Sequence[AgentTurn] = batch.get(Columns.INFOS, ())
        if not turns:
            raise ParlourError("PolicyRLModule got no infos; accepted: env_to_module_connector with InfosToModules")
        self._forget(turns[0].ongoing)
        return {Columns.ACTIONS: np.array([self._act(turn) for turn in turns])}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        raise ParlourError("PolicyRLModule does not learn; accepted: policies_to_train without it")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to compile; RLlib asks it of modules beside PyTorch ones."""

    def _act(self, turn: AgentTurn) -> int:
        info = turn.info
        if "seat" not in info:
            raise ParlourError(
                f"no seat in the info of {turn.agent}; accepted: an environment in TurnInInfo, outermost"
            )
        player = self._seated.get((turn.episode, turn.agent)) or self._sit_down(turn)
        check_reads(player, info["observation"], "TurnInInfo")
        return number_of(player, player.act(info["observation"], dict(info)), info)

    def _sit_down(self, turn: AgentTurn) -> Policy:
        if turn.episode not in self._games:
            self._games[turn.episode] = self._dealt
            self._dealt += 1
        player: Policy = self._idle.pop() if self._idle else self._make()
        seed = np.random.SeedSequence((self._seed, self._games[turn.episode])).generate_state(1)
        player.reset(turn.info["seat"], int(seed[0]))
        self._seated[turn.episode, turn.agent] = player
        return player

    def _forget(self, ongoing: frozenset[str]) -> None:
        """The players of games that are over get up, and may sit down again."""
        if not self._games.keys() <= ongoing:
            self._games = {game: n for game, n in self._games.items() if game in ongoing}
            self._idle += [player for key, player in self._seated.items() if key[0] not in ongoing]
            self._seated = {key: player for key, player in self._seated.items() if key[0] in ongoing}


def policy_spec(make: Callable[[], Policy], seed: int = 0) -> RLModuleSpec:
    """The specification of a module that plays a policy of parlour, for `MultiRLModuleSpec`.

    It needs `InfosToModules` as env-to-module connector, and an environment in `TurnInInfo`.

    Args:
        make: Makes the policy, once for each seat of the games in play; picklable, if the algorithm is to be saved.
        seed: Seed of all policies.
    """
    return RLModuleSpec(module_class=PolicyRLModule, model_config={"make": make, "seed": seed})
