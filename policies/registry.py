"""`REGISTRY`: the players by name, and `make_policy`, which makes one. A player's module is imported when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from parlour.envs.common.dotted import is_dotted
from parlour.envs.common.extras import not_installed
from parlour.envs.core import ParlourError
from parlour.envs.plugins import OpenTable
from parlour.policies.names import EXPERT, HEURISTIC, LOGIC, MCTS, MIXED, RANDOM, SUFFIX

if TYPE_CHECKING:
    from parlour.envs.settings import Settings
    from parlour.policies.base import Policy
    from parlour.policies.llm.model import Model
    from parlour.policies.seating import Seating

_MIXTURE: Final = "mixture"

Group = Literal["plain", "file", "asking", "modules", "library"]


@dataclass(frozen=True)
class PolicyKind:
    """Policies of one name: which class plays, and what is shown of it."""

    name: str
    home: str | type[Policy]
    """`module:class` of the player, imported when it is needed; or the class."""
    group: Group = "plain"
    """`plain`: asks nobody; `file`: plays what a file holds; `asking`: asks the model; `modules`: for the mediated game;
    `library`: another library's player."""
    extra: str = ""
    """The extra of parlour that the module needs."""
    settings: str = ""
    """`module:class` of its settings, where the player's module needs a library; otherwise the player's own say which."""
    bare: bool = False
    """Whether nothing may follow the name."""
    first: str = ""
    """The setting that may be given as a value alone, such as `folder` in `mixture:FOLDER`."""
    shown: str = ""
    """How lists show it; its name by default."""
    about: str = ""
    """One sentence for `parlour list`, where the name does not say it."""

    @property
    def cls(self) -> type[Policy]:
        """The class of the player. Raises `ParlourError` where the packages of its extra are not installed."""
        if not isinstance(self.home, str):
            return self.home
        try:
            made: type[Policy] = _imported(self.home)
        except ModuleNotFoundError as error:
            if not self.extra:
                raise
            raise not_installed(error.name, self.extra) from None
        return made

    @property
    def asks(self) -> bool:
        """Whether the model answers it."""
        return self.group == "asking"

    def settings_for(self, game: str = "") -> type[Settings]:
        """What may be set in a game."""
        kind: type[Settings] = _imported(self.settings) if self.settings else self.cls.settings_for(game)
        return kind

    def read(self, words: Mapping[str, str], game: str = "") -> Any:
        """Its settings from the words behind the name.

        Args:
            words: Key -> value.
            game: The game to be played, whose player may have settings of its own.

        Raises:
            ParlourError: A setting is unknown or missing, or a value is not accepted.
        """
        try:
            return self.settings_for(game).from_words(words)
        except ParlourError as error:
            raise ParlourError(f"policy {self.name!r}: {error}") from None

    def make(self, words: Mapping[str, str], at: Seating) -> Policy:
        """The player for a seat. Raises `ParlourError` for settings or a table that are not accepted."""
        settings = self.read(words, at.game)
        return self.cls.make(settings, at)


REGISTRY: Final[OpenTable[PolicyKind]] = OpenTable("parlour.policies", PolicyKind)
"""Name on the command line -> its policies; packages add theirs. Anything else is the path of a trained seat, or `module:attribute`."""


def register(kind: PolicyKind) -> None:
    """Have policies found by a name. Raises `ParlourError` if it is taken."""
    if kind.name in REGISTRY:
        raise ParlourError(f"policy {kind.name!r} is registered already; accepted: another name")
    REGISTRY[kind.name] = kind


def names_of(*groups: Group) -> tuple[str, ...]:
    """The names of these groups, in order."""
    return tuple(kind.name for kind in REGISTRY.values() if kind.group in groups)


FOREIGN: Final = ("sb3", "rllib", "openspiel", "hf")
"""Players of other libraries; the extra is called the same."""


def _imported(home: str) -> Any:
    module, _, attribute = home.partition(":")
    return getattr(import_module(module), attribute)


_HERE: Final = "parlour.policies."
_ASKING: Final[Mapping[str, str]] = {
    "chat": "agents.chat.player:ChatPlayer",
    "avalon_agent": "agents.avalon:AvalonAgent",
    "avalon_baseline": "agents.avalon:BaselineAgent",
    "werewolf_window": "agents.werewolf:WindowAgent",
    "werewolf_rag": "agents.werewolf:RetrievalAgent",
    "werewolf_rerank": "agents.werewolf:RerankAgent",
    "gratr": "agents.werewolf.gratr:GratrAgent",
    "questum": "agents.murder_mystery:QuestumAgent",
    "player_star": "agents.murder_mystery:PlayerStarAgent",
    "mystery_werewolf": "agents.murder_mystery:MysteryWerewolfAgent",
    "mystery_ocot": "agents.murder_mystery:MysteryOCoTAgent",
    "mystery_thinkthrice": "agents.murder_mystery:MysteryThinkThriceAgent",
    "mystery_none": "agents.murder_mystery:MysteryNoneAgent",
}


def _kind(name: str, home: str, group: Group = "plain", **more: Any) -> PolicyKind:
    return PolicyKind(name, f"{_HERE}{home}", group, **more)


def _foreign(name: str, home: str, settings: str, first: str = "file") -> PolicyKind:
    return _kind(name, home, "library", extra=name, settings=f"{_HERE}{settings}", first=first)


for kind in (
    _kind(RANDOM, "random:RandomPolicy", bare=True),
    _kind(HEURISTIC, "heuristic.policy:HeuristicPolicy"),
    _kind("human", "human:HumanPolicy", bare=True),
    _kind(EXPERT, "experts.catalogue:ExpertSeat", "file"),
    _kind(_MIXTURE, "mixture:MixturePolicy", "file", first="folder", shown="mixture:FOLDER"),
    _kind(MIXED, "mixture:MixedPolicy", "file", first="players", shown="mixed:heuristic+expert"),
    _kind("search", "search.policy:SearchPolicy", "file", extra="batch", first="player", shown="search:expert"),
    _kind(LOGIC, "zoo.policy:LogicPolicy", "file", extra="batch"),
    _kind(MCTS, "zoo.policy:MctsPolicy", "file", extra="batch"),
    *(_kind(name, home, "asking") for name, home in _ASKING.items()),
    _kind("grace", "agents.mediated_qa:GraceMediator", "modules"),
    _kind("obedient", "agents.mediated_qa:ObedientModule", "modules"),
    _foreign("sb3", "adapters.sb3:Sb3Seat", "adapters.settings:Sb3Settings"),
    _foreign("rllib", "adapters.rllib:RLlibPolicy", "adapters.settings:RLlibSettings"),
    _foreign("openspiel", "adapters.openspiel:TabularSeat", "adapters.settings:OpenSpielSettings"),
    _foreign("hf", "adapters.hf:HfPlayer", "local_lm.settings:CheckpointSettings", "dir"),
):
    register(kind)


def import_players() -> None:
    """Import every player, and so every question that one may put: `parlour.policies.llm.ask.ASKS` is complete then."""
    for kind in REGISTRY.values():
        if kind.asks:
            _ = kind.cls


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
            game or configuration, there is no expert for this one, or `module:attribute` is not a player.
        Exception: What a module of somebody else's raises, as it is.
    """
    plain, colon, _ = name.partition(":")
    kind = REGISTRY.get(plain)
    if kind is not None and not (kind.bare and colon):
        from parlour.policies.llm.model import OfflineModel
        from parlour.policies.seating import Seating

        return kind.make(settings_of(name), Seating(game, config, model or OfflineModel()))
    if _is_file(name):
        from parlour.policies.trained import TrainedSeat

        return TrainedSeat.load_for(name, game, config)
    if kind is None and is_dotted(name):
        from parlour.policies.adapters import callables

        return callables.load(name, model)
    shown = [entry.shown or entry.name for entry in REGISTRY.values()]
    accepted = ", ".join((*shown, f"a trained {SUFFIX} file", "module:attribute"))
    raise ParlourError(f"policy {name!r} is not accepted; accepted: {accepted}")


def table_of(name: str) -> tuple[str, Mapping[str, Any]] | None:
    """The table that a policy's files were trained for: the game, and its configuration. None for players of any table.

    Raises:
        ParlourError: The file, or a file of the mixture, holds no trained seat.
    """
    plain = name.partition(":")[0]
    if plain == _MIXTURE:
        mixture: Any = REGISTRY[_MIXTURE].cls
        table: tuple[str, Mapping[str, Any]] = mixture(settings_read(name).folder).table
        return table
    if plain in REGISTRY or not _is_file(name):
        return None
    from parlour.policies.trained import TrainedSeat

    return TrainedSeat.load(name).table


def options_of(name: str) -> Mapping[str, Any]:
    """Options of a game without which the player cannot sit at its table: what the policy of a mediator sees.

    Raises:
        ParlourError: The file of the policy cannot be read.
    """
    if name.partition(":")[0] != "grace":
        return {}
    from parlour.policies.agents.mediated_qa import policy_file

    file = settings_of(name).get("file")
    contextual = None if file is None else policy_file.read(Path(file)).contextual
    return {} if contextual is None else {"mediator_sees": contextual.sees}


def _is_file(name: str) -> bool:
    """Whether a name that is not in `REGISTRY` is the path of a trained seat."""
    return name.endswith(SUFFIX) or Path(name).exists()


def players_of(game: str, config: Mapping[str, Any]) -> list[str]:
    """The players for a table that need neither a file nor a person, by name: players of any game, the expert if one
    ships for the table, and the agents of the game. `chat` is not among them: without a language model it plays at
    random.

    Args:
        game: The game's id.
        config: Its configuration.
    """
    from parlour.policies.agents.seat import GameSeat
    from parlour.policies.experts.catalogue import card_for

    asking = [kind.cls for kind in REGISTRY.values() if kind.asks]
    agents = [seat.name for seat in asking if issubclass(seat, GameSeat) and seat.plays[1] == game]
    return [RANDOM, HEURISTIC, *([EXPERT] if card_for(game, config) is not None else []), *agents]


def asks_a_model(name: str) -> bool:
    """Whether the policy called `name` asks the model that `make_policy` is given. Raises as `make_policy` does."""
    plain = name.partition(":")[0]
    if plain in REGISTRY:
        return REGISTRY[plain].asks
    if _is_file(name) or not is_dotted(name):
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


def settings_read(name: str, game: str = "") -> Any:
    """The settings of the policy called `name`, which `REGISTRY` has, for a game. Raises `ParlourError` as `make_policy`."""
    return REGISTRY[name.partition(":")[0]].read(settings_of(name), game)


def checkpoint_settings(name: str) -> dict[str, str] | None:
    """The settings of the policy called `name` if a checkpoint of transformers answers for it, else None. Raises as `make_policy`."""
    return settings_of(name) if name.partition(":")[0] == "hf" else None
