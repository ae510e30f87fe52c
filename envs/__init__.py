"""The worlds: games played by talking, as PettingZoo environments.

    from parlour.envs import avalon_v0
    env = avalon_v0.env(num_players=6)

`make(name, **options)` and `registry` reach the same environments by name; `gymnasium.make("parlour/avalon-v0")` is one
seat of a game. Games of other packages are among them: see `register`, and the entry-point group `parlour.games`.
"""

from __future__ import annotations

from typing import Any

from parlour.envs.gymnasium_ids import register_when_imported
from parlour.envs.registry import EnvModule, make, register, registry

__all__ = ["EnvModule", "make", "register", "registry"]

_games = registry  # importing the submodule `registry` binds that name of the package to the module
register_when_imported(_games)


def __getattr__(name: str) -> Any:
    """The games of the registry are attributes of this package: `parlour.envs.avalon_v0`."""
    if not name.startswith("_") and "_v" in name and name in _games:
        return _games[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; games: {', '.join(_games)}")


def __dir__() -> list[str]:
    return [*__all__, *_games]
