"""What a network was trained on, in a small file beside it, so that `--policy` seats it without a guess.

    model.save("model.zip")
    save_beside("model.zip", env)  # model.parlour.json: game, configuration, features, frame, actions

Features other than `"table"` count seats from the seat that moves, and so do the actions: what was trained on one kind cannot
play by another. `OwnFeatures` gives a network its own kind at any table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from parlour.envs.core import TABLE, ParlourError, accept, check_one_of
from parlour.policies.adapters.scored import ACTIONS
from parlour.policies.adapters.settings import CheckpointFile
from parlour.policies.base import Policy, TablePolicy
from parlour.policies.files import read_json, write_json
from parlour.policies.seating import Seating
from parlour.policies.trained import ViewReader

SUFFIX: Final = ".parlour.json"
_GAME: Final = ("game_env", "tables")
_WRAPPED: Final = ("venv", "envs", "env", "_env", "aec_env", "par_env")
"""Where our environments keep the game's own, and where wrappers, ours and other libraries', keep what they wrap."""
_RANKS: Final = ("LegalRanks", "ParallelLegalRanks")
_FRAMES: Final = {True: "table", False: "seat"}
"""Whether the features are `"table"` -> in whose frame observations and actions are."""


@dataclass(frozen=True)
class TrainedOn:
    """Where a network was trained.

    Raises:
        ParlourError: `actions` is neither `"moves"` nor `"ranks"`.
    """

    game: str
    """Registry name."""
    config: Mapping[str, Any]
    """The game's configuration, as `game.config`."""
    features: str = TABLE
    """The kind of its features, one of `Encoders.kinds`; `"table"` is in the frame of the table, all others in the seat's."""
    actions: str = ACTIONS[0]
    """`"moves"`, or `"ranks"` if it was trained in `parlour.wrappers.LegalRanks`."""

    def __post_init__(self) -> None:
        check_one_of("actions", self.actions, ACTIONS)


def describe(env: Any) -> TrainedOn:
    """What an environment shows a network.

    Args:
        env: An environment or tables of parlour, in wrappers or not: parlour's, Gymnasium's, PettingZoo's, or a vectorised
            environment of stable-baselines3 in this process.

    Raises:
        ParlourError: There is no environment of parlour inside.
    """
    layers = list(_layers(env))
    inside = layers[-1]
    if not _is_whole(inside):
        raise accept("env", type(env).__name__, "an environment or tables of parlour, in wrappers or not")
    ranks = any(type(layer).__name__ in _RANKS for layer in layers)
    return TrainedOn(inside.spec.id, dict(inside.game.config), inside.features, ACTIONS[ranks])


def _layers(env: Any) -> Iterator[Any]:
    """The environment, what is inside it, and so on."""
    inside: Any = env
    while inside is not None:
        yield inside
        names = _WRAPPED if _is_whole(inside) else (*_GAME, *_WRAPPED)
        kept = next((name for name in names if getattr(inside, name, None) is not None), "")
        inside = getattr(inside, kept, None)
        inside = inside[0] if kept == "envs" else inside


def _is_whole(env: Any) -> bool:
    return all(hasattr(env, name) for name in ("spec", "game", "features"))


def beside(path: str | Path) -> Path:
    """Where the description of a network file is.

    >>> beside("runs/model.zip").name, beside("runs/model").name
    ('model.parlour.json', 'model.parlour.json')
    """
    return Path(path).with_name(Path(path).name.removesuffix(".zip") + SUFFIX)


def save_beside(path: str | Path, env: Any) -> Path:
    """Write what a network was trained on beside its file. Raises `ParlourError` as `describe` does.

    Args:
        path: The network's file or directory, under the name that it is saved by.
        env: See `describe`.

    Returns:
        The file that was written.
    """
    table = describe(env)
    stored = {"game": table.game, "config": dict(table.config), "features": table.features, "actions": table.actions}
    write_json(beside(path), stored | {"frame": _FRAMES[table.features == TABLE]})
    return beside(path)


def read_beside(path: str | Path) -> TrainedOn | None:
    """What is beside a network file; None if nothing is. Raises `ParlourError` for a file that `save_beside` did not write."""
    file = beside(path)
    if not file.exists():
        return None
    stored = read_json(file)
    frame = stored.pop("frame", None)
    try:
        table = TrainedOn(**stored)
        usable = all(isinstance(x, str) for x in (table.game, table.features)) and isinstance(table.config, dict)
    except TypeError:
        usable = False
    if not usable or frame != _FRAMES[table.features == TABLE]:
        raise ParlourError(f"file {str(file)!r} cannot be used; accepted: what save_beside wrote")
    return table


def origin(name: str, settings: CheckpointFile, at: Seating) -> TrainedOn:
    """What a network was trained on.

    Args:
        name: The library's, for messages.
        settings: The file, and what was said about it.
        at: The table, for a network with nothing beside it.

    Raises:
        ParlourError: Nothing is beside the file and `features` is not named, or one contradicts the other.
    """
    file, table = settings.file, read_beside(settings.file)
    if table is None and settings.features is None:
        raise ParlourError(
            f"{beside(file).name!r} is not beside {file!r}, so that nothing says which features it was trained on; accepted: "
            f"{name}:file={file},features=KIND (and actions=ranks, if it was trained in LegalRanks), or the file of "
            "parlour.policies.adapters.trained_on.save_beside(path, env)"
        )
    if table is None:
        return TrainedOn(at.game, at.config, settings.features or TABLE, settings.actions or ACTIONS[0])
    for key in ("features", "actions"):
        named, written = getattr(settings, key), getattr(table, key)
        if named not in (None, written):
            raise accept(f"{key} of {file!r}", named, (written,))
    return table


class OwnFeatures(TablePolicy):
    """Seats a network at any table of its game: it sees the features that it was trained on, and acts in their frame.

    Args:
        player: A `Policy` that reads features, or any callable with `(observation, info)`. `observation` has `observation`,
            float32 (features,), and `action_mask`, int8 (actions,); the answer is the number of a legal action.
        trained_on: Where it was trained.

    Raises:
        ParlourError: The game has no such features.
    """

    name: ClassVar[str] = "own_features"
    wants: ClassVar[str] = "features"

    def __init__(self, player: Callable[[Any, dict[str, Any]], Any], trained_on: TrainedOn) -> None:
        super().__init__()
        self.player, self.trained_on = player, trained_on
        self.table = trained_on.game, trained_on.config
        self._reader = ViewReader(trained_on.game, trained_on.config, trained_on.features)

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        if hasattr(self.player, "reset"):
            self.player.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if the answer is not a legal action.

        Without a View (`info="numeric"`) the observation is taken to be of the network's own kind.
        """
        if "view" not in info or info.get("features", TABLE) == self.trained_on.features:
            return int(self.player(observation, info))
        own, mask = self._reader.numbers(info["view"])
        seen = {"observation": self._reader.observed(info["view"]), "action_mask": mask}
        seat_info = {"action_mask": mask, "legal": tuple(own), "features": self.trained_on.features}
        chosen = int(self.player(seen, seat_info))
        check_one_of("action", chosen, own)
        return int(info["legal"][own.index(chosen)])

    def notes(self) -> dict[str, Any]:
        notes = getattr(self.player, "notes", None)
        return dict(notes()) if callable(notes) else {}

    def save(self, path: str | Path) -> None:
        """Save the player. Raises `ParlourError` where it is no `Policy`, or is saved by its own library."""
        if isinstance(self.player, Policy):
            self.player.save(path)
            return
        raise ParlourError(
            "a network is saved by its own library; accepted: save_beside(path, env) for what it was trained on"
        )


def seated(player: Any, trained_on: TrainedOn, game: str, config: Mapping[str, Any]) -> OwnFeatures:
    """A network for a table of `game`. Raises `ParlourError` if it was trained on another game or configuration."""
    seat = OwnFeatures(player, trained_on)
    seat.check_table(game, config)
    return seat
