"""What is learned from game to game: for each role a strategy, suggestions, and what is known of the other roles.

It belongs to a role, not to a seat: the next seat with the role plays by it (the code published with arXiv 2310.14985 does
the same). The file is JSON that a person can read and edit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from parlour.envs.core import ParlourError
from parlour.policies.agents.avalon.lines import first_strategy
from parlour.policies.files import read_json, write_json


@dataclass(frozen=True)
class Lesson:
    """What is known about playing one role."""

    strategy: str
    suggestions: tuple[str, ...] = ()
    """From the last game in the role."""
    others: str = ""
    """Strategies of the other roles."""
    games: int = 0
    """How many games it comes from."""


class RoleStore(ABC):
    """What is learned for each role from game to game, in a file that a person can read and edit."""

    FORMAT: ClassVar[str]
    HOLDS: ClassVar[str]
    """What an error calls the content."""

    def save(self, path: str | Path) -> None:
        """Write the file, whole or not at all."""
        write_json(path, self.as_json())

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"format": self.FORMAT, "roles": dict(sorted(self._plain().items()))}

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """From what `as_json` gave. Raises `ParlourError` if it is something else."""
        try:
            if stored["format"] != cls.FORMAT:
                raise ValueError(f"format {stored['format']!r}")
            return cls._read(stored["roles"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            reason = " ".join(str(error).split())
            raise ParlourError(f"no {cls.HOLDS} ({reason}); accepted: what `parlour train avalon` writes") from None

    @abstractmethod
    def _plain(self) -> dict[str, Any]:
        """Role -> plain values."""

    @classmethod
    @abstractmethod
    def _read(cls, roles: Any) -> Self:
        """From what `_plain` gave."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` wrote, or a person. Raises `ParlourError` if it cannot be used."""
        stored = read_json(path)
        try:
            return cls.from_json(stored)
        except ParlourError as error:
            raise ParlourError(f"file {str(path)!r} cannot be used: {error}") from None


@dataclass
class Experience(RoleStore):
    """The lessons of all roles. Shared by the seats of a team; it changes only between games."""

    FORMAT: ClassVar[str] = "parlour avalon experience 1"
    HOLDS: ClassVar[str] = "experience"

    lessons: dict[str, Lesson] = field(default_factory=dict)

    def of(self, role: str) -> Lesson:
        """What is known about a role; its first strategy if nothing yet."""
        return self.lessons.get(role) or Lesson(first_strategy(role))

    def _plain(self) -> dict[str, Any]:
        return {role: {**asdict(one), "suggestions": list(one.suggestions)} for role, one in self.lessons.items()}

    @classmethod
    def _read(cls, roles: Any) -> Self:
        return cls({role: _lesson(told) for role, told in roles.items()})


def _lesson(told: dict[str, Any]) -> Lesson:
    if set(told) != {"strategy", "suggestions", "others", "games"} or not isinstance(told["suggestions"], list):
        raise ValueError("a lesson has strategy, suggestions (a list), others and games")
    lesson = Lesson(told["strategy"], tuple(told["suggestions"]), told["others"], told["games"])
    texts = (lesson.strategy, lesson.others, *lesson.suggestions)
    if not all(isinstance(text, str) for text in texts) or type(lesson.games) is not int or lesson.games < 0:
        raise ValueError("a lesson has texts and a number of games")
    return lesson
