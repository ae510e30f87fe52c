"""Observation -> action: the players that parlour brings, and `REGISTRY`, by which they are found by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from parlour.envs.core import ParlourError
from parlour.envs.dotted import is_dotted
from parlour.policies.agents.advised import AdvisedPlayer
from parlour.policies.agents.avalon import AvalonAgent, BaselineAgent
from parlour.policies.agents.chat import ChatPlayer
from parlour.policies.agents.mediated_qa import GraceMediator, ObedientModule
from parlour.policies.agents.murder_mystery import AGENTS as MYSTERY_AGENTS
from parlour.policies.agents.murder_mystery import QuestumAgent
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
    "Policy",
    "PolicyKind",
    "QuestumAgent",
    "RandomPolicy",
    "RerankAgent",
    "RetrievalAgent",
    "TrainedSeat",
    "WindowAgent",
    "asks_a_model",
    "expert",
    "make_policy",
    "players_of",
    "register",
]

Group = Literal["plain", "file", "asking", "modules", "library"]


class Wanted(NamedTuple):
    """Where a policy is to sit, and who answers its questions."""

    game: str
    """The game's id."""
    config: Mapping[str, Any]
    """Its configuration."""
    model: Model


@dataclass(frozen=True)
class PolicyKind:
    """Policies of one name: how they are made from the settings `key=value,...` behind the name."""

    name: str
    make: Callable[[Mapping[str, str], Wanted], Policy]
    """Raises `ParlourError` for settings that are not accepted."""
    group: Group = "plain"
    """`plain`: asks nobody; `file`: plays what a file holds; `asking`: asks the model; `modules`: of the mediated game;
    `library`: another library's player."""
    cls: type[Policy] | None = None
    """What is made, where it is known before."""
    settings: bool = True
    """Whether anything may follow the name."""
    first: str = ""
    """The setting that may be given as a value alone, such as `file` in `clone:FILE`."""
    shown: str = ""
    """How lists show it; its name by default."""

    @property
    def asks(self) -> bool:
        """Whether the model answers it."""
        return self.group == "asking"


QUESTIONS: Final = (ReadClaims,)
"""Questions that every process knows, besides those of the players here: who imports this can answer them."""
REGISTRY: Final[dict[str, PolicyKind]] = {}
"""Name on the command line -> its policies. Anything in no list is the path of a trained seat, or `module:attribute`."""


def register(kind: PolicyKind) -> None:
    """Have policies found by a name. Raises `ParlourError` if it is taken."""
    if kind.name in REGISTRY:
        raise ParlourError(f"policy {kind.name!r} is registered already; accepted: another name")
    REGISTRY[kind.name] = kind


def names_of(*groups: Group) -> tuple[str, ...]:
    """The names of these groups, in order."""
    return tuple(kind.name for kind in REGISTRY.values() if kind.group in groups)


FOREIGN: Final[Mapping[str, str]] = {
    name: f"parlour.policies.adapters.{name}"
    for name in ("sb3", "rllib", "torchrl", "tianshou", "agilerl", "openspiel", "hf")
}
"""Name -> the module that seats another library's players, imported when asked for; the extra is called the same.

They take settings, as in `sb3:file=model.zip`; each module has `from_settings(settings, game, config) -> Policy`.
"""


def _heuristic(words: Mapping[str, str], at: Wanted) -> Policy:
    if not words:
        return HeuristicPolicy()
    return HeuristicPolicy.from_settings(words, at.game, at.config.get("num_players"))


def _advised(words: Mapping[str, str], at: Wanted) -> Policy:
    player = AdvisedPlayer.from_settings(words, at.model)
    player.sit_at(at.game, at.config)
    return player


def _adapted(library: str, words: Mapping[str, str], at: Wanted) -> Policy:
    """A player of another library. Raises `ParlourError` where it is not installed."""
    try:
        module: Any = import_module(FOREIGN[library])
    except ModuleNotFoundError as error:
        raise ParlourError(f"{error.name} is not installed; accepted: pip install 'parlour[{library}]'") from None
    policy: Policy = module.from_settings(words, at.game, at.config)
    return policy


def _asking(cls: type[AskingPolicy]) -> PolicyKind:
    return PolicyKind(cls.name, lambda words, at: cls.from_settings(words, at.model), "asking", cls)


_ASKING: Final[tuple[type[AskingPolicy], ...]] = (
    *(ChatPlayer, AvalonAgent, BaselineAgent, WindowAgent, RetrievalAgent, RerankAgent, GratrAgent),
    *MYSTERY_AGENTS,
)
for _kind in (
    PolicyKind(RandomPolicy.name, lambda *_: RandomPolicy(), cls=RandomPolicy, settings=False),
    PolicyKind(HeuristicPolicy.name, _heuristic, cls=HeuristicPolicy),
    PolicyKind(HumanPolicy.name, lambda *_: HumanPolicy(), cls=HumanPolicy, settings=False),
    PolicyKind(EXPERT, lambda _, at: expert(at.game, at.config), "file", settings=False),
    PolicyKind(
        CLONE,
        lambda words, at: ClonedPlayer.for_game(words, at.game),
        "file",
        ClonedPlayer,
        first="file",
        shown=f"{CLONE}:FILE",
    ),
    PolicyKind(
        MIXTURE,
        lambda words, at: MixturePolicy.from_settings(words, at.game, at.config),
        "file",
        MixturePolicy,
        first="folder",
        shown=f"{MIXTURE}:FOLDER",
    ),
    *map(_asking, _ASKING),
    PolicyKind(AdvisedPlayer.name, _advised, "asking", AdvisedPlayer),
    PolicyKind(GraceMediator.name, lambda words, _: GraceMediator.from_settings(words), "modules", GraceMediator),
    PolicyKind(ObedientModule.name, lambda words, _: ObedientModule.from_settings(words), "modules", ObedientModule),
    *(
        PolicyKind(library, partial(_adapted, library), "library", first="dir" if library == "hf" else "")
        for library in FOREIGN
    ),
):
    register(_kind)


def make_policy(name: str, game: str, config: Mapping[str, Any], model: Model | None = None) -> Policy:
    """The policy called `name`, or the trained seat in the file of that name, for a table of `game`.

    A name of `REGISTRY` always means that player, and a file that is there that file; whatever else has the form
    `module:attribute` is looked up in that module.

    Args:
        name: A name of `REGISTRY`, with settings `key=value,...` behind a colon or without; the path of a trained seat; or
            `module:attribute`, see `parlour.policies.adapters.callables`.
        game: The game's id.
        config: Its configuration.
        model: Who answers the questions of an agent; the heuristics by default.

    Raises:
        ParlourError: There is no such policy or setting, its library is not installed, the file holds one for another
            game or configuration, there is no expert for this one, or what stands at `module:attribute` is no player.
        Exception: What a module of somebody else's raises, as it is.
    """
    plain, colon, _ = name.partition(":")
    kind = REGISTRY.get(plain)
    if kind is not None and (kind.settings or not colon):
        return kind.make(settings_of(name), Wanted(game, config, model or OfflineModel()))
    if name.endswith(SUFFIX) or Path(name).exists():
        return TrainedSeat.load_for(name, game, config)
    if kind is None and is_dotted(name):
        from parlour.policies.adapters import callables

        return callables.load(name, model)
    shown = [one.shown or one.name for one in REGISTRY.values()]
    accepted = ", ".join((*shown, f"a trained {SUFFIX} file", "module:attribute"))
    raise ParlourError(f"policy {name!r} is not accepted; accepted: {accepted}")


def players_of(game: str, config: Mapping[str, Any]) -> list[str]:
    """The players for a table that need neither a file nor a person, by name: those of any game, the expert where there is
    one for the table, and the agents of the game. `chat` is not among them: without a language model it plays at random.

    Args:
        game: The game's id.
        config: Its configuration.
    """
    seats = [kind.cls for kind in REGISTRY.values() if kind.asks and kind.cls and issubclass(kind.cls, GameSeat)]
    agents = [seat.name for seat in seats if seat.plays[1] == game]
    return [RandomPolicy.name, HeuristicPolicy.name, *([EXPERT] if has_expert(game, config) else []), *agents]


def asks_a_model(name: str) -> bool:
    """Whether the policy called `name` asks the model that `make_policy` is given. Raises as `make_policy` does."""
    plain = name.partition(":")[0]
    if plain in REGISTRY:
        silent = plain == AdvisedPlayer.name and f"speaker={HeuristicPolicy.name}" in name
        return REGISTRY[plain].asks and not silent
    if name.endswith(SUFFIX) or Path(name).exists() or not is_dotted(name):
        return False
    from parlour.policies.adapters import callables

    return callables.asks_a_model(name)


def settings_of(name: str) -> dict[str, str]:
    """The settings behind the name of a policy, as words. Raises `ParlourError` for words of another form."""
    plain, _, text = name.partition(":")
    first = REGISTRY[plain].first if plain in REGISTRY else ""
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


def checkpoint_settings(name: str) -> dict[str, str] | None:
    """The settings of the policy called `name` if a checkpoint of transformers answers for it, else None. Raises as `make_policy`."""
    return settings_of(name) if name.partition(":")[0] == "hf" else None
