"""Observation -> action: the players that parlour brings, and how they are found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.dotted import is_dotted
from parlour.policies.agents.advised import AdvisedPlayer
from parlour.policies.agents.avalon import AvalonAgent, BaselineAgent
from parlour.policies.agents.chat import ChatPlayer
from parlour.policies.agents.mediated_qa import GraceMediator, ObedientModule
from parlour.policies.agents.murder_mystery import AGENTS as MYSTERY_AGENTS
from parlour.policies.agents.murder_mystery import PlayerStarAgent, QuestumAgent
from parlour.policies.agents.seat import AskingPolicy, GameSeat
from parlour.policies.agents.spoken import ReadClaims
from parlour.policies.agents.werewolf import RerankAgent, RetrievalAgent, WindowAgent
from parlour.policies.agents.werewolf.gratr import GratrAgent
from parlour.policies.base import Policy
from parlour.policies.cloned import CLONE, ClonedPlayer
from parlour.policies.experts import EXPERT, expert, has_expert
from parlour.policies.heuristic import HeuristicPolicy
from parlour.policies.human import HumanPolicy
from parlour.policies.llm.model import Model, OfflineModel
from parlour.policies.mixture import MIXTURE, MixturePolicy
from parlour.policies.random import RandomPolicy
from parlour.policies.trained import SUFFIX, TrainedSeat

__all__ = [
    "AdvisedPlayer",
    "AvalonAgent",
    "BaselineAgent",
    "ChatPlayer",
    "ClonedPlayer",
    "GraceMediator",
    "GratrAgent",
    "HeuristicPolicy",
    "HumanPolicy",
    "MixturePolicy",
    "ObedientModule",
    "OfflineModel",
    "PlayerStarAgent",
    "Policy",
    "QuestumAgent",
    "RandomPolicy",
    "ReadClaims",
    "RerankAgent",
    "RetrievalAgent",
    "TrainedSeat",
    "WindowAgent",
    "asks_a_model",
    "expert",
    "make_policy",
    "players_of",
]

POLICIES: Final[Mapping[str, Callable[[], Policy]]] = {
    RandomPolicy.name: RandomPolicy,
    HeuristicPolicy.name: HeuristicPolicy,
    HumanPolicy.name: HumanPolicy,
}
"""Name on the command line -> policy that asks nobody. Anything in no list is the path of a trained seat."""

_ASKING: Final[tuple[type[AskingPolicy], ...]] = (
    ChatPlayer,
    AvalonAgent,
    BaselineAgent,
    WindowAgent,
    RetrievalAgent,
    RerankAgent,
    GratrAgent,
    *MYSTERY_AGENTS,
    AdvisedPlayer,
)

AGENTS: Final[Mapping[str, Callable[[Mapping[str, str], Model], Policy]]] = {
    **{agent.name: agent.from_settings for agent in _ASKING},
    GraceMediator.name: lambda settings, _: GraceMediator.from_settings(settings),
    ObedientModule.name: lambda settings, _: ObedientModule.from_settings(settings),
}
"""Name -> policy that takes settings and may ask a model; they follow the name, as in `avalon_agent:without=plan`."""

ASKING: Final = tuple(agent.name for agent in _ASKING)
"""Those of `AGENTS` that a model answers; the others only have settings."""

CHECKPOINT: Final = "hf"
"""A language model of transformers, as in `hf:DIR`."""
FOREIGN: Final[Mapping[str, str]] = {
    name: f"parlour.policies.adapters.{name}"
    for name in ("sb3", "rllib", "torchrl", "tianshou", "agilerl", "openspiel", CHECKPOINT)
}
"""Name -> the module that seats another library's players, imported when asked for; the extra is called the same.

They take settings, as in `sb3:file=model.zip`; each module has `from_settings(settings, game, config) -> Policy`.
"""


CLONED: Final = f"{CLONE}:FILE"
"""How a player cloned from records is named."""
MIXED: Final = f"{MIXTURE}:FOLDER"
"""How a mixture of trained seats is named."""


def make_policy(name: str, game: str, config: Mapping[str, Any], model: Model | None = None) -> Policy:
    """The policy called `name`, or the trained seat in the file of that name, for a table of `game`.

    A name of `POLICIES`, `AGENTS` or `FOREIGN` always means that player, and a file that is there that file; whatever
    else has the form `module:attribute` is looked up in that module.

    Args:
        name: A name of `POLICIES`; `heuristic:habits=FILE`; `expert`, the trained seat for this table that comes with parlour;
            `clone:FILE`, a player cloned from records; `mixture:FOLDER`, in each game one of its trained
            seats; one of `AGENTS` or `FOREIGN`, with settings `key=value,...` behind a colon or without; the path of a trained seat; or
            `module:attribute`, see `parlour.policies.adapters.callables`.
        game: The game's id.
        config: Its configuration.
        model: Who answers the questions of an agent; the heuristics by default.

    Raises:
        ParlourError: There is no such policy or setting, its library is not installed, the file holds one for another
            game or configuration, there is no expert for this one, or what stands at `module:attribute` is no player.
        Exception: What a module of somebody else's raises, as it is.
    """
    if name in POLICIES:
        return POLICIES[name]()
    if name == EXPERT:
        return expert(game, config)
    plain, _, settings = name.partition(":")
    if plain == HeuristicPolicy.name and settings:
        return HeuristicPolicy.from_settings(_settings(name, settings), game, config.get("num_players"))
    if plain == CLONE:
        return ClonedPlayer.for_game(_settings(name, settings, first="file"), game)
    if plain == MIXTURE:
        return MixturePolicy.from_settings(mixture_settings(name), game, config)
    if plain in AGENTS:
        made = AGENTS[plain](_settings(name, settings), model or OfflineModel())
        if isinstance(made, AdvisedPlayer):
            made.sit_at(game, config)
        return made
    if plain in FOREIGN:
        own = checkpoint_settings(name) or _settings(name, settings)
        policy: Policy = _adapter(plain).from_settings(own, game, config)
        return policy
    if not name.endswith(SUFFIX) and not Path(name).exists():
        if plain not in (*POLICIES, EXPERT) and is_dotted(name):
            from parlour.policies.adapters import callables

            return callables.load(name, model)
        accepted = ", ".join(
            (*POLICIES, EXPERT, CLONED, MIXED, *AGENTS, *FOREIGN, f"a trained {SUFFIX} file", "module:attribute")
        )
        raise ParlourError(f"policy {name!r} is not accepted; accepted: {accepted}")
    return TrainedSeat.load_for(name, game, config)


def players_of(game: str, config: Mapping[str, Any]) -> list[str]:
    """The players for a table that need neither a file nor a person, by name: those of any game, the expert where there is
    one for the table, and the agents of the game. `chat` is not among them: without a language model it plays at random.

    Args:
        game: The game's id.
        config: Its configuration.
    """
    agents = [one.name for one in _ASKING if issubclass(one, GameSeat) and one.plays[1] == game]
    return [RandomPolicy.name, HeuristicPolicy.name, *([EXPERT] if has_expert(game, config) else []), *agents]


def asks_a_model(name: str) -> bool:
    """Whether the policy called `name` asks the model that `make_policy` is given. Raises as `make_policy` does."""
    plain = name.partition(":")[0]
    if plain in (*POLICIES, EXPERT, CLONE, MIXTURE, *AGENTS, *FOREIGN) or name.endswith(SUFFIX) or Path(name).exists():
        silent = plain == AdvisedPlayer.name and f"speaker={HeuristicPolicy.name}" in name
        return plain in ASKING and not silent
    if not is_dotted(name):
        return False
    from parlour.policies.adapters import callables

    return callables.asks_a_model(name)


def checkpoint_settings(name: str) -> dict[str, str] | None:
    """The settings of the policy called `name` if a checkpoint of transformers answers for it, else None. Raises as `make_policy`."""
    plain, _, settings = name.partition(":")
    return _settings(name, settings, first="dir") if plain == CHECKPOINT else None


def mixture_settings(name: str) -> dict[str, str]:
    """The settings of the mixture called `name`. Raises `ParlourError` as `make_policy` does."""
    return _settings(name, name.partition(":")[2], first="folder")


def _adapter(name: str) -> Any:
    """The module of `FOREIGN`. Raises `ParlourError` where its library is not installed."""
    try:
        return import_module(FOREIGN[name])
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[{name}]'") from None


def _settings(name: str, text: str, first: str = "") -> dict[str, str]:
    """Settings from `key=value,...`; the first one may be a value alone if `first` says of which key."""
    given = [pair for pair in text.split(",") if pair]
    if first and given and "=" not in given[0]:
        given[0] = f"{first}={given[0]}"
    pairs = [pair.partition("=") for pair in given]
    named = {key for key, _, _ in pairs}
    if not all(key and equals and value for key, equals, value in pairs) or len(named) < len(pairs):
        raise ParlourError(
            f"policy {name!r} is not accepted; accepted: settings as NAME:key=value,key=value, each key once"
        )
    return {key: value for key, _, value in pairs}
