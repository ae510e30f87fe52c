"""What every policy can do: take a seat, act, be saved and loaded, be called like a function."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, accept, in_short
from parlour.envs.settings import Settings
from parlour.policies.files import atomic_write

if TYPE_CHECKING:
    from parlour.policies.seating import Seating


class Policy(ABC):
    """Observation -> action. It gets what any PettingZoo agent gets and nothing more; it never sees a State.

    A policy is picklable, and callable with `(observation, info)`, so that other MARL code can seat it.
    """

    name: ClassVar[str]
    """What it is called on the command line and in tables."""
    wants: ClassVar[str] = "both"
    """What it reads: `"text"`, `"features"`, `"both"`, or `"view"` if it reads `info["view"]` alone."""
    settings_type: ClassVar[type[Settings]] = Settings
    """What may be set."""
    habits: str | None = None
    """The file of habits by which it believes; None: the fixed rates, or it has no belief."""

    @property
    def reads_prose(self) -> bool:
        """Whether the whole prose of a seat is enough for it, though it wants something else."""
        return False

    @classmethod
    def settings_for(cls, game: str) -> type[Settings]:
        """What may be set in a game."""
        return cls.settings_type

    @classmethod
    def make(cls, settings: Any, at: Seating) -> Policy:
        """The policy for a seat; here from its settings alone.

        Args:
            settings: Of `settings_for` the game.
            at: The table, and who answers its questions.

        Raises:
            ParlourError: It cannot sit there.
        """
        return cls(**settings.plain())

    def __init__(self) -> None:
        self.seat = 0
        self.rng = np.random.default_rng(0)

    def reset(self, seat: int, seed: int) -> None:
        """A new game begins: take this seat; all chance comes from `seed` and the seat."""
        self.seat = seat
        self.rng = np.random.default_rng((seed, seat))

    @abstractmethod
    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """The action: a number of the catalogue, or words."""

    def notes(self) -> dict[str, Any]:
        """What the transcript adds to the last answer, such as the calls of a model. Asked for after each `act`."""
        return {}

    def state_belief(self, observation: Any, info: dict[str, Any]) -> Sequence[float] | None:
        """The probability that each seat is of the hidden side, as the policy states it in private; None: it states none.

        The question costs no move. It is put at any moment of a game, played or recorded, after `reset`.

        Args:
            observation: `text`, the whole prose of the seat.
            info: `view`, `rules`, `heuristic` as of a turn; `side`, the name of the side that is looked for; `members`, how many of
                the other seats are of it; `seats`, how many play.
        """
        return None

    def __call__(self, observation: Any, info: dict[str, Any]) -> Any:
        return self.act(observation, info)

    def settings(self) -> dict[str, Any]:
        """The keyword arguments that make the same policy again; plain values."""
        return {}

    def save(self, path: str | Path) -> None:
        """Write the policy to a file."""
        atomic_write(path, json.dumps({"policy": self.name, "settings": self.settings()}, indent=2) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy that `save` wrote. Raises `ParlourError` if the file holds none of this kind."""
        try:
            stored = json_value(Path(path).read_bytes())
            kind, settings = stored["policy"], stored["settings"]
        except (OSError, ValueError, KeyError, TypeError):
            raise ParlourError(f"{str(path)!r} is not a saved policy; accepted: a file that `save` wrote") from None
        if kind != cls.name:
            raise accept("policy in file", kind, (cls.name,))
        if not isinstance(settings, dict):
            raise accept("settings in file", settings, "an object")
        try:
            return cls(**settings)
        except TypeError as error:
            raise ParlourError(
                f"{str(path)!r} is not a saved policy ({error}); accepted: a file that `save` wrote"
            ) from None


class TablePolicy(Policy):
    """A policy for one game in one configuration: `table`, or None where it is not known."""

    table: tuple[str, Mapping[str, Any]] | None = None
    """Registry name of the game, and `game.config`."""
    origin: ClassVar[str] = "the policy was trained on"
    """For messages: what ties it to the table."""

    def check_table(self, game: str, config: Mapping[str, Any]) -> None:
        """Raise `ParlourError` if it is known to be for another table."""
        if self.table is not None and not same_table(self.table, (game, config)):
            own, own_config = self.table
            raise ParlourError(
                f"{self.origin} {in_short(own)} with {in_short(str(dict(own_config)))} "
                f"and cannot play {game} with {dict(config)}"
            )

    @classmethod
    def load_for(cls, path: str | Path, game: str, config: Mapping[str, Any]) -> Self:
        """Read a policy for this table. Raises `ParlourError` as `load` and `check_table` do."""
        policy = cls.load(path)
        policy.check_table(game, config)
        return policy


def same_table(*tables: tuple[str, Mapping[str, Any]]) -> bool:
    """Whether tables, each a game and its configuration, are the same as files hold them, where tuples are lists."""
    plain = [json.loads(json.dumps((game, dict(config)))) for game, config in tables]
    return all(table == plain[0] for table in plain)


def legal_numbers(observation: Any, info: dict[str, Any]) -> Any:
    """The numbers of the legal actions, from `info["legal"]` or from the mask in either place."""
    if "legal" in info:
        return info["legal"]
    mask = info.get("action_mask")
    if mask is None:
        mask = observation["action_mask"]
    return np.flatnonzero(mask)
