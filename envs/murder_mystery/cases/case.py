"""A case: one murder mystery as data. Versioned JSON, checked by a schema, frozen.

The parts follow section 3 of the Questum paper and section 2 of the PLAYER* paper: characters with a private script
and objectives, victims, roles r_ik, and the three sorts of questions with 10, 5 and 2 points.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from parlour.envs.common.json_values import json_value
from parlour.envs.common.terminal import printable
from parlour.envs.core import ParlourError, accept, in_short
from parlour.envs.murder_mystery.vocabulary.facts import CaseVocabulary, Fact, Language, check_fact
from parlour.envs.murder_mystery.vocabulary.quiz import SORTS, QuizQuestion
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

FORMAT: Final = 1
"""The version of the format that is read and written."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Character(_Frozen):
    """One player of a case, with all that is private to it."""

    name: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    """What else it is called."""
    script: str
    """Its story, private."""
    objectives: tuple[str, ...] = ()
    """What it wants in this game, private."""
    murders: tuple[bool, ...]
    """Per victim: whether it is a murderer of that victim."""
    facts: tuple[Fact, ...] = ()
    """What the script says, as data. Empty for cases that are prose only."""
    lies: tuple[Fact, ...] = ()
    """False facts that it plans to tell: a murderer, or one with a secret (`Case.liars`)."""


class Victim(_Frozen):
    """A victim who died before the game begins."""

    name: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()


class Death(_Frozen):
    """How one victim died, in numbers of the vocabulary."""

    murderer: int
    place: int
    time: int
    means: int
    motive: int
    found: int
    """Place where the body was found."""

    @property
    def manner(self) -> tuple[int, int, int]:
        """Place, time and means."""
        return self.place, self.time, self.means


class Truth(_Frozen):
    """All that is true in a generated case."""

    deaths: tuple[Death, ...]
    """Per victim."""
    timeline: tuple[tuple[int, ...], ...]
    """Per person (seats, then victims) and time: the place; -1 for the dead."""
    facts: tuple[Fact, ...]
    """Whatever else holds, each once: relations, feelings, motives, access, thefts. Public or known to some."""


class Case(_Frozen):
    """One murder mystery."""

    format: Literal[1] = 1
    id: str = Field(min_length=1)
    title: str = Field(min_length=1)
    language: Language
    briefing: str
    """What all know: who died, who is there, the words of the case."""
    places: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    means: tuple[str, ...] = ()
    motives: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    public: tuple[Fact, ...] = ()
    """What the briefing says, as data."""
    characters: tuple[Character, ...] = Field(min_length=2)
    """Seats 0.., in turn order."""
    victims: tuple[Victim, ...] = Field(min_length=1)
    questions: tuple[tuple[QuizQuestion, ...], ...]
    """Per seat."""
    omniscient: tuple[QuizQuestion, ...] = ()
    """For a reader of all scripts."""
    truth: Truth | None = None
    """Generated cases only."""
    liars: int = Field(default=0, ge=0)
    """Number of innocents who may state their `lies`, and keep silent; everybody knows the number."""

    @cached_property
    def vocabulary(self) -> CaseVocabulary:
        """The words of the case; public."""
        people: tuple[Character | Victim, ...] = (*self.characters, *self.victims)
        names, aliases = tuple(person.name for person in people), tuple(person.aliases for person in people)
        words = (self.places, self.times, self.means, self.motives, self.relations, self.items)
        return CaseVocabulary(self.language, names, aliases, self.seats, *words)

    @property
    def seats(self) -> int:
        """How many play."""
        return len(self.characters)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the characters, in turn order."""
        return tuple(character.name for character in self.characters)

    def may_lie(self, seat: int, victim: int) -> bool:
        """Whether a seat may say what is not so about a victim: its murderer, and in tougher cases who has a secret."""
        character = self.characters[seat]
        return character.murders[victim] or (self.liars > 0 and bool(character.lies) and not any(character.murders))

    def murderers(self, victim: int) -> tuple[int, ...]:
        """Seats of the players who murdered a victim; may be none or several."""
        return tuple(seat for seat, character in enumerate(self.characters) if character.murders[victim])

    def counts(self) -> dict[str, int]:
        """How many questions of each sort the seats are asked together, and `"total"`."""
        rows = [question.sort for seat in self.questions for question in seat]
        return {sort: rows.count(sort) for sort in SORTS.values()} | {"total": len(rows)}

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """All fields; a case without liars as before there were any, so that its digest stays."""
        value: dict[str, Any] = write(self)
        if not self.liars:
            value.pop("liars", None)
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Case:
        names = [*self.names, *(victim.name for victim in self.victims)]
        for name in names:
            _require(names.count(name) == 1, f"name {name!r} is used twice")
        victims, lists, lying = len(self.victims), len(self.questions), 0
        for character in self.characters:
            _require(
                len(character.murders) == victims,
                f"{character.name}: {len(character.murders)} murders for {victims} victims",
            )
            lying += bool(character.lies) and not any(character.murders)
        _require(lists == self.seats, f"{lists} lists of questions for {self.seats} characters")
        several = f"{lying} characters who murdered nobody have lies; the case tells of {self.liars}"
        _require(not self.liars or lying <= self.liars, several)
        for question in (*self.omniscient, *(question for seat in self.questions for question in seat)):
            known = question.victim is None or 0 <= question.victim < victims
            _require(known, f"question {question.id}: no victim {question.victim}")
        truth = () if self.truth is None else self.truth.facts
        known_by = (fact for character in self.characters for fact in (*character.facts, *character.lies))
        for fact in (*self.public, *known_by, *truth):
            check_fact(fact, self.vocabulary)
        if self.truth is not None:
            deaths = self.truth.deaths
            _require(len(deaths) == victims, f"{len(deaths)} deaths for {victims} victims")
            for victim, death in enumerate(deaths):
                murderers = self.murderers(victim)
                fault = f"victim {victim}: murderer {death.murderer} in the truth, {murderers} told"
                _require(murderers == (death.murderer,), fault)
        return self


def _require(fits: bool, fault: str) -> None:
    if not fits:
        raise ValueError(fault)


def load(source: Path | str | Mapping[str, Any]) -> Case:
    """A case from a JSON file or from the value of one.

    Raises:
        ParlourError: It cannot be read, or is not a case of a version that is read; in one line.
    """
    name, value = "case", source
    if not isinstance(source, Mapping):
        name = str(source)
        try:
            value = json_value(Path(source).read_bytes())
        except (OSError, ValueError) as error:
            raise ParlourError(f"case {name!r} cannot be read: {error}") from None
    if not isinstance(value, Mapping):
        raise ParlourError(f"{name} is not a case: a JSON object is expected")
    if value.get("format", FORMAT) != FORMAT:
        raise accept(f"{name}: format", value["format"], [FORMAT])
    try:
        return Case.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = in_short(printable(".".join(str(part) for part in first["loc"])))
        raise ParlourError(f"{name} is not a case: {where + ': ' if where else ''}{first['msg']}") from None


def dump(case: Case) -> str:
    """A case as JSON text that `load` reads again: what has its default value is left out."""
    value = {"format": FORMAT, **case.model_dump(mode="json", exclude_defaults=True)}
    return _written(value, 0) + "\n"


def _written(value: Any, depth: int) -> str:
    """JSON in which a line holds as much as it can: whatever fits into it, else one part of it."""
    flat = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not isinstance(value, dict | list) or (depth and len(flat) <= _LINE):
        return flat
    inside = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_written(part, depth + 1)}" for key, part in value.items()]
    else:
        parts = [_written(part, depth + 1) for part in value]
    body = ",\n".join(inside + part for part in parts)
    return ("{\n%s\n%s}" if isinstance(value, dict) else "[\n%s\n%s]") % (body, " " * depth)


_LINE: Final = 400
"""Characters of JSON that are put into one line."""


def digest(case: Case) -> str:
    """SHA-256 of the canonical JSON of a case, in hexadecimal."""
    canonical = json.dumps(case.model_dump(mode="json"), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()
