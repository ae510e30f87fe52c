"""Files of habits, one set for each number of players: `{"parlour_habits": 1, "game": ..., "players": {"5": {...}, ...}, ...notes}`.

A file may come from anybody: it is read as `json_values` has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError
from parlour.envs.settings import Settings
from pydantic import GetCoreSchemaHandler, SerializerFunctionWrapHandler
from pydantic_core import CoreSchema, core_schema

HABITS_FORMAT: Final = 1
_OWN_KEYS: Final = ("parlour_habits", "game", "players")
H = TypeVar("H")


@dataclass(frozen=True)
class Named:
    """In files a tuple is an object with these names: `Annotated[tuple[float, ...], Named(("first", "second"))]`."""

    names: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = core_schema.wrap_serializer_function_ser_schema(self._object)
        return core_schema.no_info_before_validator_function(self._values, handler(source), serialization=written)

    def _values(self, value: Any) -> Any:
        return tuple(value[name] for name in self.names) if isinstance(value, Mapping) else value

    def _object(self, values: Any, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return dict(zip(self.names, write(values), strict=True))


@dataclass(frozen=True)
class HabitsByPlayers(Generic[H]):
    """Habits of one game by number of players, and notes of who wrote them."""

    game: ClassVar[str]
    """Registry name."""
    kind: ClassVar[type[Any]]
    """Class of the habits for one number of players."""
    form: ClassVar[type[Settings]]
    """Fields of that class as files hold them."""
    by_players: Mapping[int, H]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def of(self, num_players: int) -> H:
        """The habits for a table. Raises `ParlourError` where the file has none."""
        if num_players not in self.by_players:
            known = ", ".join(map(str, sorted(self.by_players)))
            raise ParlourError(f"habits of {num_players} players are not in the file; accepted: {known} players")
        return self.by_players[num_players]

    def as_json(self) -> dict[str, Any]:
        """What `read` reads."""
        names = self.form.model_fields
        forms = {n: self.form(**{name: getattr(of, name) for name in names}) for n, of in self.by_players.items()}
        players = {str(n): forms[n].plain() for n in sorted(forms)}
        return {"parlour_habits": HABITS_FORMAT, "game": self.game, **self.notes, "players": players}

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a file of habits. Raises `ParlourError` if it cannot be read or holds something else."""
        refused = f"habits {str(path)!r} cannot be used"
        try:
            content = json_value(Path(path).read_bytes())
        except (OSError, ValueError) as error:
            raise ParlourError(f"{refused}: {error}") from None
        if (
            not isinstance(content, dict)
            or content.get("parlour_habits") != HABITS_FORMAT
            or content.get("game") != cls.game
        ):
            raise ParlourError(f"{str(path)!r} holds no habits of {cls.game}; accepted: a file of them")
        try:
            players = {
                int(n): cls.kind(**dict(cls.form.from_plain(habits))) for n, habits in content["players"].items()
            }
        except ParlourError as error:
            raise ParlourError(f"{refused}: {error}") from None
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ParlourError(f"{refused}: {error!r} is missing or no finite number") from None
        return cls(players, {key: value for key, value in content.items() if key not in _OWN_KEYS})
