"""Settings: frozen pydantic models that say each setting once, and everything that is made from their fields.

A field holds the name, type, bounds and default of a setting; the docstring below it describes it. The constructor, the words
of `name:key=value`, the values of `--set`, TOML and JSON, what files store, and the one line of a refusal come from there.

Defaults are given by keyword, `Field(default=15, ge=1)`: mypy takes a field without `default=` for a required one. Names that another
value holds are `Annotated[str, OneOf(tuple(PRESETS))]`. Checks across fields are validators of the mode `"after"` that raise
`ParlourError`; its text is the refusal.
"""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import pairwise
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self, Union, get_args, get_origin

from parlour.envs.core import ParlourError, accept, listed
from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
)
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

BETWEEN_ITEMS: Final = "+"
"""Between the items of a list in words."""
NO_ITEMS: Final = "none"
"""An empty list in words."""


@dataclass(frozen=True)
class Accepts:
    """What a field accepts, in words, where its type does not say it: `Annotated[str, Accepts("a path of a case")]`."""

    words: str


@dataclass(frozen=True)
class OneOf:
    """A field accepts these values, which some other value holds: `Annotated[str, OneOf(tuple(PRESETS))]`."""

    names: tuple[str | int, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.chain_schema([handler(source), core_schema.literal_schema(list(self.names))])


@dataclass(frozen=True)
class _Mark:
    name: str


SPARSE: Final = _Mark("sparse")
"""In the annotation of a field: files do not store the setting where it has its default."""
COMMON: Final = _Mark("common")
"""In the annotation of a field, or of a command's parameter: one of the options that `--help` lists where a command has many."""


class Settings(BaseModel):
    """Settings that check themselves.

    >>> from pydantic import Field
    >>> class Window(Settings):
    ...     width: int = Field(default=15, ge=1, le=200)
    ...     choice: Literal["sample", "best"] = "sample"
    >>> Window.from_words({"width": "7"})
    Window(width=7, choice='sample')
    >>> Window(width=0)
    Traceback (most recent call last):
        ...
    parlour.envs.core.ParlourError: width 0 is not accepted; accepted: 1..200
    >>> Window(width=9).plain(sparse=True)
    {'width': 9}

    Raises:
        ParlourError: A value is not accepted.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        protected_namespaces=(),
    )
    called: ClassVar[str] = "setting"
    """What refusals call a setting."""

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**{name: _of_python(value) for name, value in values.items()})
        except ValidationError as error:
            raise refusal(error, type(self)) from None

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # JSON is validated as JSON, not as Python values

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> Self:
        """From the words of `name:key=value`; the items of a list are joined by `+`, and `none` is an empty list.

        Raises:
            ParlourError: A setting is unknown or missing, or a value is not accepted.
        """
        known = cls.model_fields
        return cls(
            **{name: of_word(name, known[name], word) if name in known else word for name, word in words.items()}
        )

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Self:
        """From plain values, as JSON, TOML and `--set` have them: a list is a tuple, an object is settings.

        Raises:
            ParlourError: A setting is unknown or missing, or a value is not accepted.
        """
        try:
            text = json.dumps(values, ensure_ascii=False).encode()
        except (TypeError, ValueError):
            return cls(**values)  # no plain value, which is refused by name or is an object that a field accepts
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise refusal(error, cls) from None

    def plain(self, *, sparse: bool = False) -> dict[str, Any]:
        """The settings as JSON values, in the order of the fields.

        Args:
            sparse: Leave out every setting that has its default, not only those marked `SPARSE`.
        """
        return self.model_dump(mode="json", exclude_defaults=sparse)

    @model_serializer(mode="wrap")
    def _without_sparse(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = write(self)
        for name, field in type(self).model_fields.items():
            if SPARSE in field.metadata and getattr(self, name) == field.default:
                values.pop(name, None)
        return values

    def replace(self, **changes: Any) -> Self:
        """The same settings with changes. Raises `ParlourError` for those that are not accepted."""
        return type(self)(**{name: getattr(self, name) for name in type(self).model_fields} | changes)


def refusal(error: ValidationError, model: type[BaseModel]) -> ParlourError:
    """The first fault of settings in one line, an unknown name before others: which setting, its value, and what is accepted.

    Args:
        error: What pydantic found.
        model: The settings.
    """
    faults = sorted(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    first = faults[0]
    same = [fault for fault in faults if fault["loc"][:1] == first["loc"][:1]]
    fault = max(same, key=lambda each: len(each["loc"]))  # of the forms that a value may have, the one that fits best
    own = fault.get("ctx", {}).get("error")
    if isinstance(own, ParlourError):
        return own
    unknown = fault["type"] == "extra_forbidden"
    names, holder, field = _field_at(model, fault["loc"], unknown=unknown)
    name = ".".join(names)
    if unknown:
        return accept(getattr(holder, "called", "setting"), name, [*holder.model_fields] or "none")
    if field is None:
        return accept("settings", fault["input"], f"an object with {', '.join(holder.model_fields) or 'no entries'}")
    if fault["type"] == "missing" and str(fault["loc"][-1]) == names[-1]:
        return ParlourError(f"{name} is missing; accepted: {accepted(field)}")
    return accept(name, fault["input"], own or accepted(field))


def descriptions(model: type[Settings]) -> dict[str, str]:
    """What the docstring below each field says, "" where there is none.

    Read where somebody asks: pydantic's own reading looks through all loaded modules for each class on Python 3.11
    and 3.12, a twelfth of the time that a short command takes.

    >>> descriptions(Settings)
    {}
    """
    texts: dict[str, str] = {}
    for each in reversed(model.__mro__):
        if issubclass(each, Settings):
            texts |= _docstrings(each)
    return {name: field.description or texts.get(name, "") for name, field in model.model_fields.items()}


@cache
def _docstrings(model: type[Settings]) -> dict[str, str]:
    """Of the fields that a class declares itself; none where Python has no source, as in a console."""
    try:
        (declared,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    except (OSError, TypeError):
        return {}
    body = declared.body if isinstance(declared, ast.ClassDef) else []
    return {
        field.target.id: inspect.cleandoc(text.value.value)
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and isinstance(text.value.value, str)
    }


def accepted(field: FieldInfo) -> str:
    """What a field accepts, in words.

    >>> from pydantic import Field
    >>> class Table(Settings):
    ...     seats: int = Field(default=6, ge=5, le=10)
    ...     share: float | None = Field(default=None, gt=0)
    >>> [accepted(field) for field in Table.model_fields.values()]
    ['5..10', 'None, or a number above 0']
    """
    return _accepted(field.annotation, field.metadata)


def _accepted(annotation: Any, marks: list[Any]) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _accepted(parts[0], [*parts[1:], *marks])
    marks = list(_flat(marks))
    for mark in marks:
        if isinstance(mark, Accepts | OneOf):
            return mark.words if isinstance(mark, Accepts) else listed(mark.names)
    if origin in (Union, types.UnionType):
        *first, last = sorted(parts, key=lambda part: part is not type(None))
        words = ", ".join(_accepted(part, marks) for part in first)
        return f"{words}, {'' if _is_names(last) else 'or '}{_accepted(last, marks)}"
    if origin is Literal:
        return listed(parts)
    if origin is tuple:
        return _accepted_items(parts, marks)
    return _accepted_class(origin or annotation, marks)


def _accepted_items(parts: tuple[Any, ...], marks: list[Any]) -> str:
    """What a tuple accepts."""
    each = [_accepted(part, []) for part in parts if part is not Ellipsis]
    if Ellipsis not in parts and len(set(each)) > 1:
        return f"a list of {'; '.join(each)}"
    least, most = _limit(marks, "min_length"), _limit(marks, "max_length")
    if Ellipsis not in parts:
        least = most = len(each)
    if least is None and most is None:
        return f"a list of: {each[0]}" if _is_names(parts[0]) else f"a list, each {each[0]}"
    number = str(most) if least == most else f"{least or 0}..{most}" if most is not None else f"{least} or more"
    return f"a list of {number}, each {each[0]}"


def _is_names(annotation: Any) -> bool:
    """Whether an annotation lists what it accepts."""
    marked = get_origin(annotation) is Annotated and any(isinstance(mark, OneOf) for mark in get_args(annotation))
    return marked or get_origin(annotation) is Literal or annotation is bool


def _accepted_class(kind: Any, marks: list[Any]) -> str:
    """What a plain class accepts."""
    if kind is type(None):
        return "None"
    if kind is bool:
        return "True, False"
    if kind is int:
        return _bounded("a whole number", marks, dots=True)
    if kind is float:
        return _bounded("a number", marks, dots=False)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return listed([member.value for member in kind])
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"an object with {', '.join(kind.model_fields)}"
    named = {str: "a text", Path: "a path", dict: "names and values", Mapping: "names and values"}
    return named.get(kind) or f"an object of the class {getattr(kind, '__name__', kind)}"


def _bounded(kind: str, marks: list[Any], *, dots: bool) -> str:
    least, most, above, below = (_limit(marks, name) for name in ("ge", "le", "gt", "lt"))
    if dots and least is not None and most is not None:
        return f"{least}..{most}"
    words = [("from", least), ("to", most), ("above", above), ("below", below)]
    if least is None and most is not None:
        words[1] = ("of at most", most)
    return " ".join([kind, *(f"{word} {limit:g}" for word, limit in words if limit is not None)])


def _limit(marks: list[Any], name: str) -> Any:
    return next((value for mark in marks if (value := getattr(mark, name, None)) is not None), None)


def _flat(marks: list[Any]) -> Iterator[Any]:
    """Marks of an annotation; those in `Field(...)` one by one."""
    for mark in marks:
        yield from _flat(mark.metadata) if isinstance(mark, FieldInfo) else (mark,)


def _field_at(
    model: type[BaseModel], place: tuple[int | str, ...], *, unknown: bool
) -> tuple[list[str], type[BaseModel], FieldInfo | None]:
    """The names on the way to the field at a place of an error, the model that has it or lacks it, and the field itself.

    Places in lists and forms of a value are no names; with `unknown`, the last part is a name that the model lacks.
    """
    names: list[str] = []
    holder, field = model, None
    for number, part in enumerate(place, 1):
        inner = model if field is None else _model_of(field.annotation)
        if inner is None:
            break
        if part in inner.model_fields or (unknown and number == len(place)):
            holder, field = inner, inner.model_fields.get(str(part))
            names.append(str(part))
    return names, holder, field


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """The settings that a field holds, alone or in a list, if it holds settings."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_of, get_args(annotation))), None)


def _of_python(value: Any) -> Any:
    """A value as pydantic's strict mode has it: lists are tuples, NumPy's numbers are Python's."""
    if type(value) in (list, tuple):
        return tuple(map(_of_python, value))
    if type(value) in (bool, int, float) or isinstance(value, Enum):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def of_word(name: str, field: FieldInfo, word: str, between: str = BETWEEN_ITEMS) -> Any:
    """The value of a word by the type of the field; whether the value is accepted, the constructor says.

    Args:
        name: The setting, for errors.
        field: What the settings say about it.
        word: What somebody wrote.
        between: What is written between the items of a list.

    Raises:
        ParlourError: The word is no value of this type.
    """
    try:
        return _read(field.annotation, word, between)
    except (ValidationError, PydanticUserError):
        raise accept(name, word, accepted(field)) from None


def _read(annotation: Any, word: str, between: str) -> Any:
    parts = [part for part in get_args(annotation) if part is not type(None)]
    if get_origin(annotation) is Annotated:
        return _read(parts[0], word, between)
    if get_origin(annotation) in (Union, types.UnionType) and any(map(_is_list, parts)):
        return next(_read(part, word, between) for part in parts if _is_list(part))
    if get_origin(annotation) is tuple:
        items = () if word == NO_ITEMS else filter(None, word.split(between))
        return tuple(_read(parts[0], item, between) for item in items)
    if isinstance(annotation, type) and not issubclass(annotation, int | float | str | Path | Enum):
        return word  # the name of a file, say, which the field's own validator reads
    if get_origin(annotation) is Literal:
        return next((part for part in parts if str(part) == word), word)
    return TypeAdapter(annotation).validate_strings(word)


def _is_list(annotation: Any) -> bool:
    bare = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return get_origin(bare) is tuple
