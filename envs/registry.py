"""Which games there are, and how their environments are put together: the one place where the stack is assembled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

from parlour.envs.aec import GameEnv
from parlour.envs.core import GameSpec, ParlourError, accept
from parlour.envs.parallel import GameParallelEnv
from pettingzoo.utils.env import AECEnv

GAMES: Final[Mapping[str, str]] = {
    "avalon_v0": "parlour.envs.avalon",
    "mediated_qa_v0": "parlour.envs.mediated_qa",
    "murder_mystery_v0": "parlour.envs.murder_mystery",
    "template_v0": "parlour.envs._template",
    "werewolf_v0": "parlour.envs.werewolf",
}
"""Registry name -> package. A new game is one folder and one line here."""

ACTIONS: Final = ("index", "text")
_ENV_ARGUMENTS: Final = ("observation", "info", "render_mode")


class EnvModule:
    """The environments of one game, as PettingZoo's modules offer them: `env`, `raw_env`, `parallel_env`."""

    def __init__(self, spec: GameSpec) -> None:
        self.spec = spec
        self.__name__ = spec.id

    def raw_env(self, **kwargs: Any) -> GameEnv:
        """The bare AEC environment with numbers as actions. See `env` for the arguments."""
        settings = {key: kwargs.pop(key) for key in _ENV_ARGUMENTS if key in kwargs}
        return GameEnv(self.spec, build(self.spec, kwargs), **settings)

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
            on_bad: With text actions, what follows words that cannot be used: see `parlour.wrappers.TextActions`.
            tries: With `on_bad="ask_again"`, how often a seat is asked.
            max_cycles: Play in cycles, as `parallel_env` does: every seat steps once a cycle, those with nothing to
                decide have the single action `wait`; truncated after so many cycles.
            **kwargs: `observation`, `info`, `render_mode` (see `parlour.envs.aec.GameEnv`) and the game's own options.
        """
        from parlour.wrappers.text_actions import TextActions

        if action not in ACTIONS:
            raise accept("action", action, ACTIONS)
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
        """The same game with all seats stepping at once. See `parlour.envs.parallel` and `env`."""
        if action not in ACTIONS:
            raise accept("action", action, ACTIONS)
        return GameParallelEnv(self.raw_env(**kwargs), action=action, max_cycles=max_cycles)

    def __repr__(self) -> str:
        return f"<environments of {self.spec.id}>"


class _Registry(Mapping[str, EnvModule]):
    """Registry name -> environments, loaded when asked for."""

    def __getitem__(self, name: str) -> EnvModule:
        if name not in GAMES:
            raise KeyError(name)
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(GAMES)

    def __len__(self) -> int:
        return len(GAMES)


@lru_cache
def _load(name: str) -> EnvModule:
    return EnvModule(import_module(GAMES[name]).GAME)


registry: Final = _Registry()


def lookup(name: str) -> EnvModule:
    """The environments of a game. Raises `ParlourError` if there is no such game."""
    if name not in GAMES:
        raise accept("game", name, GAMES)
    return registry[name]


def make(name: str, **kwargs: Any) -> AECEnv[str, Any, Any]:
    """`env` of the game called `name`.

    >>> make("avalon_v0", num_players=5).possible_agents
    ['player_0', 'player_1', 'player_2', 'player_3', 'player_4']
    """
    return lookup(name).env(**kwargs)


def build(spec: GameSpec, config: Mapping[str, Any]) -> Any:
    """The rules of a game for a configuration. Raises `ParlourError` for an option that it does not have."""
    for key in config:
        if key not in spec.options:
            raise accept(f"option of {spec.id}", key, (*spec.options, *_ENV_ARGUMENTS, "action"))
    try:
        return _shared(spec.id, tuple((key, type(value), _hashable(value)) for key, value in sorted(config.items())))
    except TypeError:
        return spec.build(**config)  # refuses a value that cannot be hashed


@lru_cache(maxsize=64)
def _shared(name: str, config: tuple[tuple[str, type, Any], ...]) -> Any:
    """Rules never change, so that environments of the same configuration can share them."""
    return registry[name].spec.build(**{key: value for key, _, value in config})


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
