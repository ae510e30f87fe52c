"""The options of a murder mystery."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from parlour.envs.settings import Accepts, OneOf
from parlour.envs.spec import GameOptions
from pydantic import Field

RULES: Final[Mapping[str, str]] = {"questum": "half", "player": "plurality"}
"""Preset -> how a vote finds somebody: half of the votes, or most votes; a tie finds nobody."""
_CASE: Final = Accepts(
    "the name of a shipped case, seed:N[:en|zh[:PLAYERS[:VICTIMS[:SCENE[:LEVEL]]]]], a case's JSON file, a WellPlay folder"
)


class MysteryOptions(GameOptions):
    """How a case is played."""

    case: Annotated[str, _CASE] = "harbour_en"
    """The case; see `parlour.envs.murder_mystery.cases.find.find`."""
    case_sha256: Annotated[str | None, Accepts("None, or the digest that the case must have")] = None
    """Digest of the case; another case under the reference is refused."""
    rounds: int = Field(default=3, ge=1, le=10)
    """Rounds of questions."""
    questions: int = Field(default=1, ge=1, le=5)
    """Questions that a seat may ask one target at a time."""
    targets: int | None = Field(default=None, ge=1)
    """Most players that a seat may ask about one victim in one round; None: everybody."""
    hearing: Literal["all", "two"] = "all"
    """Who hears questions and answers: everybody, or only the two players who talk."""
    rules: Annotated[str, OneOf(tuple(RULES))] = "questum"
    """Preset of the rules."""

    def opens(self) -> str | None:
        from parlour.envs.murder_mystery.cases.find import is_path  # loads the makers of cases

        return self.case if is_path(self.case) else None
