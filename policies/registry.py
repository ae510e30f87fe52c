"""`REGISTRY`: the players by name, and `make_policy`, which makes one. A player's module is imported when it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from parlour.envs.core import ParlourError
from parlour.envs.dotted import is_dotted
from parlour.envs.extras import not_installed
from parlour.envs.plugins import OpenTable
from parlour.policies.names import EXPERT, HEURISTIC, LOGIC, MCTS, MIXED, RANDOM, SUFFIX, ZOO

if TYPE_CHECKING:
    from parlour.policies.base import Policy
    from parlour.policies.llm.model import Model

_MIXTURE: Final = "mixture"

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
    """`plain`: asks nobody; `file`: plays what a file holds; `asking`: asks the model; `modules`: for the mediated game;
    `library`: another library's player."""
    home: str = ""
    """`module:class` of what is made, where it is known before, imported when it is needed."""
    settings: bool = True
    """Whether anything may follow the name."""
    first: str = ""
    """The setting that may be given as a value alone, such as `folder` in `mixture:FOLDER`."""
    shown: str = ""
    """How lists show it; its name by default."""
    about: str = ""
    """One sentence for `parlour list`, where the name does not say it."""

    @property
    def cls(self) -> type[Policy] | None:
        """What is made, where it is known before."""
        return _imported(self.home) if self.home else None

    @property
    def asks(self) -> bool:
        """Whether the model answers it."""
        return self.group == "asking"


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


FOREIGN: Final[Mapping[str, str]] = {
    name: f"parlour.policies.adapters.{name}" for name in ("sb3", "rllib", "openspiel", "hf")
}
"""Name -> the module that seats another library's players, imported when asked for; the extra is called the same.

They take settings, as in `sb3:file=model.zip`; each module has `from_settings(settings, game, config) -> Policy`.
"""


def _imported(home: str) -> Any:
    module, _, attribute = home.partition(":")
    made = import_module(module)
    return getattr(made, attribute) if attribute else made


def _made(words: Mapping[str, str], at: Wanted, *, home: str, takes: str, extra: str = "") -> Policy:
    """What `home` makes of what it takes. Raises `ParlourError` where the packages of its extra are not installed."""
    try:
        maker = _imported(home)
    except ModuleNotFoundError as error:
        if not extra:
            raise
        raise not_installed(error.name, extra) from None
    return _TAKES[takes](maker, words, at)


_TAKES: Final[Mapping[str, Callable[[Any, Mapping[str, str], Wanted], Policy]]] = {
    "nothing": lambda maker, words, at: maker(),
    "words": lambda maker, words, at: maker.from_settings(words),
    "model": lambda maker, words, at: maker.from_settings(words, at.model),
    "table": lambda maker, words, at: maker.from_settings(words, at.game, at.config),
    "size": lambda maker, words, at: maker.from_settings(words, at.game, at.config.get("num_players")),
    "style": lambda maker, words, at: maker.expert(at.game, at.config, style=maker.style_of(words)),
    LOGIC: lambda maker, words, at: maker(LOGIC, words, at.game, at.config),
    MCTS: lambda maker, words, at: maker(MCTS, words, at.game, at.config),
}
"""What a policy takes -> its maker, which is at its home; the words are those behind the name of the policy."""


def _mixed(words: Mapping[str, str], at: Wanted) -> Policy:
    from parlour.policies.mixture import MixedPolicy, MixedSettings
    from parlour.policies.settings import read_settings

    names = read_settings(MixedSettings, words, MIXED).players
    for name in names:
        if asks_a_model(name):
            raise ParlourError(f"{name!r} among the players of {MIXED} asks a model; accepted: players that ask none")
    return MixedPolicy({name: make_policy(name, at.game, at.config) for name in names})


def kind_of(name: str, takes: str, group: Group, home: str, *, extra: str = "", **more: Any) -> PolicyKind:
    """Policies that a class makes.

    Args:
        name: Their name.
        takes: What its `from_settings` takes beside the settings, in words: `"words"` nothing, `"model"` the model,
            `"table"` the game and its configuration, `"size"` the game and the number of players; `"nothing"`: it is called.
        group: See `PolicyKind`.
        home: `module:class`.
        extra: The extra of parlour that it needs.
        **more: Other fields of `PolicyKind`.
    """
    return PolicyKind(name, partial(_made, home=home, takes=takes, extra=extra), group, "" if extra else home, **more)


_HERE: Final = "parlour.policies."


def _of_extra(home: str, extra: str = "batch", takes: str = "table") -> Callable[..., Policy]:
    return partial(_made, home=f"{_HERE}{home}", takes=takes, extra=extra)


def _kind(name: str, takes: str, group: Group, home: str, **more: Any) -> PolicyKind:
    return kind_of(name, takes, group, f"{_HERE}{home}", **more)


_ASKING: Final[Mapping[str, str]] = {
    "chat": "agents.chat:ChatPlayer",
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
for kind in (
    _kind(RANDOM, "nothing", "plain", "random:RandomPolicy", settings=False),
    _kind(HEURISTIC, "size", "plain", "heuristic:HeuristicPolicy"),
    _kind("human", "nothing", "plain", "human:HumanPolicy", settings=False),
    PolicyKind(EXPERT, partial(_made, home=f"{_HERE}experts", takes="style"), "file"),
    _kind(_MIXTURE, "table", "file", "mixture:MixturePolicy", first="folder", shown="mixture:FOLDER"),
    PolicyKind(MIXED, _mixed, "file", f"{_HERE}mixture:MixedPolicy", first="players", shown="mixed:heuristic+expert"),
    PolicyKind("search", _of_extra("search:SearchPolicy"), "file", first="player", shown="search:expert"),
    *(PolicyKind(name, _of_extra("zoo:ZooPolicy", takes=name), "file") for name in ZOO),
    *(_kind(name, "model", "asking", home) for name, home in _ASKING.items()),
    _kind("grace", "words", "modules", "agents.mediated_qa:GraceMediator"),
    _kind("obedient", "words", "modules", "agents.mediated_qa:ObedientModule"),
    *(
        PolicyKind(name, _of_extra(f"adapters.{name}", name), "library", first="dir" if name == "hf" else "file")
        for name in FOREIGN
    ),
):
    register(kind)


def import_players() -> None:
    """Import every player, and so every question that one may put: `parlour.policies.llm.ask.ASKS` is complete then."""
    for kind in REGISTRY.values():
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
    if kind is not None and (kind.settings or not colon):
        from parlour.policies.llm.model import OfflineModel

        return kind.make(settings_of(name), Wanted(game, config, model or OfflineModel()))
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
        from parlour.policies.mixture import MixturePolicy, folder_of

        return MixturePolicy(folder_of(settings_of(name))).table
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
    from parlour.policies.experts import has_expert

    seats = [kind.cls for kind in REGISTRY.values() if kind.asks and kind.cls and issubclass(kind.cls, GameSeat)]
    agents = [seat.name for seat in seats if seat.plays[1] == game]
    return [RANDOM, HEURISTIC, *([EXPERT] if has_expert(game, config) else []), *agents]


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


def checkpoint_settings(name: str) -> dict[str, str] | None:
    """The settings of the policy called `name` if a checkpoint of transformers answers for it, else None. Raises as `make_policy`."""
    return settings_of(name) if name.partition(":")[0] == "hf" else None
