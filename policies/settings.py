"""Settings of players: a frozen dataclass states each one once, and one reader makes it from `key=value` words."""

from __future__ import annotations

import math
import re
import types
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final, Literal, Self, TypeVar

from parlour.envs.core import ParlourError, accept

S = TypeVar("S", bound="Settings")
_ACCEPTS: Final = "accepts"
_NEEDS: Final = "needs"
_IN_WORDS: Final = "in words"
_SPARSE: Final = "sparse"
_WHOLE: Final = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True)
class Accepted:
    """What a setting accepts."""

    read: Callable[[str], Any]
    """The value of words. Raises `ValueError` if they are none."""
    fits: Callable[[Any], bool]
    """Whether a value is accepted."""
    says: object
    """What is accepted, for error messages: a text, a range or names."""

    def value(self, name: str, words: str) -> Any:
        """The value of words for the setting `name`. Raises `ParlourError`."""
        try:
            value = self.read(words)
        except ValueError:
            raise accept(name, words, self.says) from None
        if not self.fits(value):
            raise accept(name, words, self.says)
        return value


def whole(least: int | None = None, most: int | None = None, says: object = None) -> Accepted:
    """Whole numbers within bounds."""

    def read(words: str) -> int:
        if not _WHOLE.fullmatch(words):
            raise ValueError(words)
        return int(words)

    def fits(value: Any) -> bool:
        plain = isinstance(value, int) and not isinstance(value, bool)
        return plain and (least is None or value >= least) and (most is None or value <= most)

    if least is None:
        usual: object = "a whole number"
    else:
        usual = f"a whole number from {least}" if most is None else range(least, most + 1)
    return Accepted(read, fits, says or usual)


def number(least: float | None = None, most: float | None = None, says: str = "", *, below: bool = False) -> Accepted:
    """Finite numbers within bounds; with `below`, the upper bound itself is not accepted."""

    def fits(value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return False
        inside = most is None or (value < most if below else value <= most)
        return inside and (least is None or value >= least)

    if least is None:
        usual = "a number"
    else:
        usual = f"a number from {least:g}" if most is None else f"a number {least:g}..{most:g}"
    return Accepted(float, fits, says or (f"{usual}, below {most:g}" if below else usual))


def one_of(*names: str) -> Accepted:
    """One of these words."""
    return Accepted(str, lambda value: value in names, names)


def yes_or_no(yes: str = "yes", no: str = "no") -> Accepted:
    """True and False in words."""

    def read(words: str) -> bool:
        if words not in (yes, no):
            raise ValueError(words)
        return words == yes

    return Accepted(read, lambda value: isinstance(value, bool), (yes, no))


def several(*names: str) -> Accepted:
    """Some of these words, joined by +."""
    return Accepted(lambda words: words.split("+"), lambda values: set(values) <= set(names), names)


def anything(read: Callable[[str], Any] = str) -> Accepted:
    """Whatever `read` makes of words; it raises `ParlourError` for what it refuses."""
    return Accepted(read, lambda _: True, "")


def setting(
    default: Any = MISSING,
    accepts: Accepted | None = None,
    *,
    factory: Any = MISSING,
    in_words: bool = True,
    sparse: bool = False,
    needs: str = "",
) -> Any:
    """A field of settings.

    Args:
        default: Its value where none is given; without one, the setting must be given.
        accepts: What it accepts; by default whatever its type does.
        factory: Makes the default, if that is no constant.
        in_words: Whether the command line may give it.
        sparse: Whether `Settings.as_json` leaves it out where it has its default.
        needs: What the error says that the player needs, and what is accepted, where it is missing.
    """
    metadata = {_ACCEPTS: accepts, _IN_WORDS: in_words, _SPARSE: sparse, _NEEDS: needs}
    return field(default=default, default_factory=factory, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """Settings that check themselves. None stands for what a factory makes.

    >>> @dataclass(frozen=True)
    ... class Window(Settings):
    ...     window: int = setting(15, whole(1, 200))
    ...     choice: str = setting("sample", one_of("sample", "best"))
    >>> read_settings(Window, {"window": "7"}, "window")
    Window(window=7, choice='sample')

    Raises:
        ParlourError: A value is not accepted.
    """

    def __post_init__(self) -> None:
        for each in fields(self):
            value, accepts = getattr(self, each.name), each.metadata.get(_ACCEPTS)
            optional = value is None and each.default is None
            if value is None and each.default_factory is not MISSING:
                object.__setattr__(self, each.name, each.default_factory())
                continue
            if accepts is not None and not optional and not accepts.fits(value):
                raise accept(each.name, value, accepts.says)

    @classmethod
    def words(cls) -> tuple[str, ...]:
        """The settings that the command line may give."""
        return tuple(each.name for each in fields(cls) if each.metadata.get(_IN_WORDS, True))

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> Self:
        """From words of settings that there are. Raises `ParlourError`."""
        return cls(**cls.values_of(words))

    @classmethod
    def values_of(cls, words: Mapping[str, str]) -> dict[str, Any]:
        """The values that words of settings mean. Raises `ParlourError`."""
        hints = typing.get_type_hints(cls)
        stated = {each.name: each.metadata.get(_ACCEPTS) for each in fields(cls)}
        return {key: (stated[key] or _by_type(hints[key])).value(key, value) for key, value in words.items()}

    def as_json(self) -> dict[str, Any]:
        """The settings as plain values, as files hold them."""
        hidden = {
            each.name
            for each in fields(self)
            if each.metadata.get(_SPARSE) and getattr(self, each.name) == each.default
        }
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in hidden}
        return {key: value.as_json() if hasattr(value, "as_json") else value for key, value in values.items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """From what `as_json` gave. Raises `TypeError` for other names, `ParlourError` for values that are not accepted."""
        hints = typing.get_type_hints(cls)
        return cls(**{key: _from_json(hints.get(key), value) for key, value in values.items()})


def check_settings(name: str, settings: Mapping[str, str], accepted: Collection[str]) -> None:
    """Refuse a setting that the policy called `name` does not have. Raises `ParlourError`."""
    for key in settings:
        if key not in accepted:
            raise accept(f"setting of {name}", key, accepted or "none")


def read_settings(kind: type[S], words: Mapping[str, str], player: str) -> S:
    """Settings from words, as the command line takes them.

    Args:
        kind: Which settings.
        words: Key -> value.
        player: The name of the policy, for errors.

    Raises:
        ParlourError: A setting is unknown or missing, or a value is not accepted.
    """
    check_settings(player, words, kind.words())
    for each in fields(kind):
        if each.default is MISSING and each.default_factory is MISSING and each.name not in words:
            usual = f"{each.name}; accepted: {player}:{each.name}=..."
            raise ParlourError(f"{player} needs {each.metadata.get(_NEEDS) or usual}")
    return kind.from_words(words)


def _from_json(hint: Any, value: Any) -> Any:
    """The value of a field with this type, from what is stored; None only where the type has it."""
    kind = _bare(hint)
    if not hasattr(kind, "from_json") or (value is None and kind is not hint):
        return value
    return kind.from_json(value)


def _bare(hint: Any) -> Any:
    """A type without its `| None`."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return next(part for part in typing.get_args(hint) if part is not type(None))
    return hint


def _by_type(hint: Any) -> Accepted:
    """What a field accepts that states nothing."""
    hint = _bare(hint)
    if typing.get_origin(hint) is Literal:
        return one_of(*typing.get_args(hint))
    return {int: whole(), float: number(), bool: yes_or_no("true", "false")}.get(hint, anything())
