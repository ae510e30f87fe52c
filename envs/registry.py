"""The games, and how their environments are assembled from spec, rules and wrappers.

PettingZoo and Gymnasium are imported when the first environment is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from parlour.envs import plugins
from parlour.envs.common import dotted
from parlour.envs.core import ParlourError, accept, check_one_of, value_shown
from parlour.envs.gymnasium_ids import register_seats

if TYPE_CHECKING:
    from parlour.envs.adapters.aec import GameEnv
    from parlour.envs.adapters.parallel import GameParallelEnv
    from parlour.envs.spec import GameOptions, GameSpec
    from pettingzoo.utils.env import AECEnv

GAMES: Final[Mapping[str, str]] = {
    "avalon_v0": "parlour.envs.avalon:GAME",
    "mediated_qa_v0": "parlour.envs.mediated_qa:GAME",
    "murder_mystery_v0": "parlour.envs.murder_mystery:GAME",
    "template_v0": "parlour.envs._template:GAME",
    "werewolf_v0": "parlour.envs.werewolf:GAME",
}
"""Registry name -> `module:ATTRIBUTE` of its spec. A new game of parlour is one folder and one line here."""
ENTRY_POINTS: Final = "parlour.games"
"""The group in which packages offer games of their own: `mygame_v0 = "mygame:GAME"`."""

ACTIONS: Final = ("index", "text")
_ENV_ARGUMENTS: Final = ("observation", "features", "info", "render_mode")


class EnvModule:
    """The environments of one game, as PettingZoo's modules offer them: `env`, `raw_env`, `parallel_env`."""

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec
        self.__name__ = spec.id

    def raw_env(self, **kwargs: Any) -> GameEnv:
        """The bare AEC environment with numbers as actions. See `env` for the arguments."""
        from parlour.envs.adapters.aec import GameEnv

        settings = {key: kwargs.pop(key) for key in _ENV_ARGUMENTS if key in kwargs}
        env = GameEnv(self.spec, build(self.spec, kwargs), **settings)
        env.game_name = name_of(self.spec)
        return env

    def env(
        self,
        *,
        action: str = "index",
        on_bad: str | None = None,
        tries: int | None = None,
        max_cycles: int | None = None,
        **kwargs: Any,
    ) -> AECEnv[str, Any, Any]:
        """The AEC environment.

        Args:
            action: `"index"`: `Discrete` over the catalogue; `"text"`: words, and no mask in observations and info.
            on_bad: With text actions, handling of text that cannot be used: see `parlour.wrappers.TextActions`.
            tries: With `on_bad="ask_again"`, how often a seat is asked.
            max_cycles: Play in cycles, as `parallel_env` does: every seat steps once a cycle, those with nothing to
                decide have the single action `wait`; truncated after `max_cycles` cycles.
            **kwargs: `observation`, `features`, `info`, `render_mode` (see `parlour.envs.adapters.aec.GameEnv`) and the game's own options.
        """
        from parlour.wrappers.text_actions import TextActions

        check_one_of("action", action, ACTIONS)
        reads_words = action == "text" and max_cycles is None
        if not reads_words and (on_bad is not None or tries is not None):
            raise ParlourError(
                "on_bad and tries are not accepted here; accepted: with action='text', without max_cycles"
            )
        if max_cycles is not None:
            from pettingzoo.utils.conversions import parallel_to_aec

            return parallel_to_aec(self.parallel_env(action=action, max_cycles=max_cycles, **kwargs))
        if action == "index":
            return self.raw_env(**kwargs)
        on_bad, tries = "ask_again" if on_bad is None else on_bad, 3 if tries is None else tries
        return TextActions(self.raw_env(**kwargs), on_bad=on_bad, tries=tries)

    def parallel_env(self, *, action: str = "index", max_cycles: int | None = None, **kwargs: Any) -> GameParallelEnv:
        """The same game with all seats stepping at once. See `parlour.envs.adapters.parallel` and `env`."""
        from parlour.envs.adapters.parallel import GameParallelEnv

        check_one_of("action", action, ACTIONS)
        return GameParallelEnv(self.raw_env(**kwargs), action=action, max_cycles=max_cycles)

    def __repr__(self) -> str:
        return f"<environments of {self.spec.id}>"


class _Registry(Mapping[str, EnvModule]):
    """Registry name -> environments, loaded at first use: parlour's games, those of other packages, those registered.

    Raises `ParlourError` for a game that cannot be loaded.
    """

    def __getitem__(self, name: str) -> EnvModule:
        if name not in _LOADED:
            places = [GAMES[name]] if name in GAMES else _offered().get(name, [])
            if not places:
                raise KeyError(name)
            if len(places) > 1:
                raise ParlourError(f"game {name!r} is offered by {' and by '.join(places)}; accepted: one of them")
            _LOADED[name] = EnvModule(_spec(places[0], name))
        return _LOADED[name]

    def __contains__(self, name: object) -> bool:
        return name in GAMES or name in _LOADED or name in _offered()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*GAMES, *_offered(), *_LOADED)))

    def __len__(self) -> int:
        return len(list(iter(self)))


_LOADED: Final[dict[str, EnvModule]] = {}
_ELSEWHERE: Final[dict[str, GameSpec]] = {}
"""`module:ATTRIBUTE` -> the spec that was found there."""
registry: Final = _Registry()


def register(spec: GameSpec) -> GameSpec:
    """Add a game to the registry, and to Gymnasium's, in this process.

    Worker processes (`--ray`, `make_vec` with `"async"`, several processes of a trainer) do not see it: they find a game
    by the entry point `parlour.games` of an installed package, or by the `module:ATTRIBUTE` of its spec.

    Raises:
        ParlourError: It is not the spec of a game, or another game has this id.
    """
    _check(spec, repr(spec))
    if spec.id in registry and registry[spec.id].spec is not spec:
        raise ParlourError(f"another game has the id {spec.id!r}; accepted: an unused id")
    _LOADED.setdefault(spec.id, EnvModule(spec))
    register_seats([spec.id])
    return spec


def lookup(name: str) -> EnvModule:
    """The environments of a game, by its registry name or the `module:ATTRIBUTE` of its spec.

    Raises:
        ParlourError: No game has this name, or it cannot be loaded.
    """
    if dotted.is_dotted(name):
        _ELSEWHERE[name] = _spec(name)
        return EnvModule(_ELSEWHERE[name])
    if name not in registry:
        raise accept("game", name, (*registry, "module:ATTRIBUTE"))
    return registry[name]


def known(name: str) -> EnvModule:
    """The environments of a game that a file names: from the registry, or looked up before.

    Raises:
        ParlourError: As `lookup`; or it is a `module:ATTRIBUTE` that was not looked up: no file has a module imported.
    """
    if dotted.is_dotted(name) and name not in _ELSEWHERE:
        raise ParlourError(
            f"game {value_shown(name)}, which a file names, is not imported for it; accepted: games of the registry, or --game MODULE:ATTRIBUTE"
        )
    return EnvModule(_ELSEWHERE[name]) if name in _ELSEWHERE else lookup(name)


def name_of(spec: GameSpec) -> str:
    """The name with which `lookup` finds a game: its id, or its `module:ATTRIBUTE` outside of the registry."""
    if spec.id in _LOADED and _LOADED[spec.id].spec is spec:
        return spec.id
    return next((name for name, other in _ELSEWHERE.items() if other is spec), spec.id)


def loadable() -> list[GameSpec]:
    """The games of the registry, except those that cannot be loaded."""
    specs = []
    for name in registry:
        try:
            specs.append(registry[name].spec)
        except ParlourError:
            continue
    return specs


def _offered() -> dict[str, list[str]]:
    """Id -> `module:ATTRIBUTE` of the games of installed packages; parlour's own cannot be replaced."""
    offered = plugins.offered(ENTRY_POINTS).items()
    return {name: places for name, places in offered if name not in GAMES and _ID.fullmatch(name)}


def _spec(at: str, name: str = "") -> GameSpec:
    """The spec at `module:ATTRIBUTE`; its id must be `name`, if given."""
    try:
        spec: GameSpec = dotted.load(at, "game", lambda value: hasattr(value, "build"))
    except ParlourError:
        raise
    except Exception as error:  # whatever the module raises
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ParlourError(
            f"game {value_shown(name or at)} cannot be loaded from {value_shown(at)}: {reason}"
        ) from error
    _check(spec, repr(at))
    if name not in ("", spec.id):
        raise ParlourError(f"the entry point {name!r} names the game {spec.id!r}; accepted: an entry point with its id")
    return spec


def _check(spec: Any, label: str) -> None:
    """Raise `ParlourError` for what is not the spec of a game."""
    missing = [part for part in _PARTS if not hasattr(spec, part)]
    if missing or isinstance(spec, type):
        lacks = "it is a class" if isinstance(spec, type) else f"it has no {', '.join(missing)}"
        raise ParlourError(f"{label} is not a game, {lacks}; accepted: an instance of a subclass of GameSpec")
    if not _ID.fullmatch(str(spec.id)):
        raise accept("id of a game", spec.id, "small letters, digits and _ with a version, such as mygame_v0")


_ID: Final = re.compile(r"[a-z][a-z0-9_]*_v[0-9]+")
_PARTS: Final = ("id", "title", "options", "sides", "build", "text", "encoder", "heuristic")


def make(name: str, **kwargs: Any) -> AECEnv[str, Any, Any]:
    """`env` of the game called `name`, or of the one whose spec is at `name`, `module:ATTRIBUTE`.

    >>> make("avalon_v0", num_players=5).possible_agents
    ['player_0', 'player_1', 'player_2', 'player_3', 'player_4']
    """
    return lookup(name).env(**kwargs)


def checked_options(spec: GameSpec, config: Mapping[str, Any]) -> GameOptions:
    """The options of a game from a configuration. Raises `ParlourError` for those that it does not have or accept."""
    known = spec.options.model_fields
    for key in config:
        if key not in known:
            raise accept(f"option of {spec.id}", key, (*known, *_ENV_ARGUMENTS, "action"))
    return spec.options.from_plain(config)


def build(spec: GameSpec, config: Mapping[str, Any]) -> Any:
    """The rules of a game for a configuration. Raises `ParlourError` as `checked_options`, and as `spec.build`."""
    rules: Any = spec  # hashable, or built anew
    options = checked_options(spec, config)
    try:
        return _shared(rules, options)
    except TypeError:
        return spec.build(options)  # an option, such as a service, that cannot be hashed


@lru_cache(maxsize=64)
def _shared(spec: Any, options: GameOptions) -> Any:
    """Rules are immutable, so that environments of the same configuration share them."""
    return spec.build(options)


def kinds_of(spec: GameSpec, config: Mapping[str, Any]) -> tuple[str, ...]:
    """The kinds of features at a table of a game. Raises `ParlourError` as `build`."""
    return spec.encoder(build(spec, config)).kinds
