"""Open tables: names of parlour, to which installed packages add theirs by entry points.

A package declares in its pyproject.toml what it brings, for instance

    [project.entry-points."parlour.policies"]
    mine = "my_package.players:MINE"

and the table of that group has `mine` from then on. Whatever is here is found first: no package replaces a name. What is
behind a name is imported when it is looked up. A package that cannot be loaded costs one warning, and its names.
The form of entry points: https://packaging.python.org/en/latest/specifications/entry-points/.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from importlib.metadata import Distribution, EntryPoint, PackageNotFoundError, entry_points, version
from typing import Final, Generic, TypeVar, cast

from parlour.envs.common import dotted
from parlour.envs.core import ParlourError, value_shown

GROUPS: Final[Mapping[str, str]] = {
    "parlour.games": "id of a game -> its `GameSpec`",
    "parlour.batch": "id of a game -> the class of its tables with kernels, a subclass of `BatchTables`",
    "parlour.redealt": "id of a game whose rules hold secrets -> `(game, seat, events, rng) -> game`, with other secrets",
    "parlour.policies": "name of a player -> its `PolicyKind`",
    "parlour.experts": "name of the package -> the `Path` of a folder with networks and cards",
    "parlour.strongest": "id of a game without experts -> a string, its strongest player as `--policy` takes it",
    "parlour.histories": "id of a game -> `(game, view) -> History, ...`: all that a seat holds possible, for search",
    "parlour.voices": "id of a game -> `(view, habits=None) -> Mind`: the belief of a seat and its reasons, for speech",
    "parlour.prompts": "name -> the `Path` of a folder with prompts, laid out as `--prompts` takes it",
    "parlour.records": "name of a format -> its `RecordFormat`",
    "parlour.metrics": "id of a game -> `folder -> dict`, with a function `tables(found)` beside it",
    "parlour.conventions": "id of a game -> `(views, seat) -> (measure, of, value), ...`: votes and claims of a seat",
    "parlour.papers": "name of a table -> its `PaperTable`",
    "parlour.replay_pages": "id of a game -> `PlayedGame -> GameMatter`: what a replay page shows beside the record",
    "parlour.commands": "the words of a command -> its function, with typed parameters, which returns a `Report` or None",
}
"""Group of entry points -> what it expects: the name, then the object at `module:ATTRIBUTE`."""

_LOG: Final = logging.getLogger(__name__)
_TOLD: Final[set[str]] = set()
"""Packages that had their warning."""
T = TypeVar("T")


def packages(group: str) -> dict[str, EntryPoint]:
    """Name -> the entry point of a group, with the package that declares it."""
    return {entry_point.name: entry_point for entry_point in _accepted(group)}


def offered(group: str) -> dict[str, list[str]]:
    """Name -> the places (`module:ATTRIBUTE`) that installed packages offer under it, in a group of entry points."""
    places: dict[str, set[str]] = {}
    for entry_point in _accepted(group):
        places.setdefault(entry_point.name, set()).add(entry_point.value)
    return {name: sorted(values) for name, values in places.items()}


def _accepted(group: str) -> list[EntryPoint]:
    """The entry points of a group, except those of packages made for another version of parlour; each costs one warning."""
    accepted = []
    for entry_point in declared(group, tuple(sys.path)):
        wanted = _other_version(entry_point.dist) if entry_point.dist else ""
        if wanted:
            warn_once(package_of(entry_point), wanted)
        else:
            accepted.append(entry_point)
    return accepted


@cache
def declared(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group in the packages on `path`, which is `sys.path`. Read once: it opens a file of every package."""
    return tuple(entry_points(group=group))


def package_of(entry_point: EntryPoint) -> str:
    """The name of the package that declares an entry point."""
    return entry_point.dist.name if entry_point.dist else entry_point.name


def _other_version(package: Distribution) -> str:
    """Why a package does not accept this version of parlour; empty if it does."""
    from packaging.requirements import Requirement

    try:
        here = version("parlour")
    except PackageNotFoundError:  # used from its sources
        return ""
    for line in package.requires or ():
        wanted = Requirement(line)
        if wanted.name == "parlour" and not wanted.marker and not wanted.specifier.contains(here, prereleases=True):
            return f"it needs {line}, and this is parlour {here}"
    return ""


def _load(group: str, name: str, kind: type) -> object:
    """What a package offers under a name.

    Args:
        group: The group of entry points.
        name: A name of `offered`.
        kind: The class of what is offered.

    Raises:
        ParlourError: It cannot be loaded, is something else, or two packages offer it.
    """
    place = _only(group, name, offered(group)[name])
    try:
        value = dotted.load(place, name)
    except Exception as error:  # whatever the module raises
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ParlourError(f"{name!r} of {group} cannot be loaded from {value_shown(place)}: {reason}") from error
    if not isinstance(value, kind):
        raise ParlourError(f"{name!r} of {group} at {value_shown(place)} is not accepted; accepted: {kind.__name__}")
    return value


def warn_once(package: str, why: str) -> None:
    """Tell that what a package offers is left out: the first time, and no more of this package."""
    if package not in _TOLD:
        _TOLD.add(package)
        _LOG.warning("%s is left out: %s", package, why)


def brought() -> dict[str, dict[str, list[str]]]:
    """Installed package with its version -> group -> the names that it offers there. Nothing is imported."""
    here: dict[str, dict[str, list[str]]] = {}
    for group in GROUPS:
        for entry_point in sorted(_accepted(group)):
            if entry_point.dist and entry_point.dist.name != "parlour":
                package = f"{entry_point.dist.name} {entry_point.dist.version}"
                here.setdefault(package, {}).setdefault(group, []).append(entry_point.name)
    return here


class Places(MutableMapping[str, str]):
    """Name -> `module:ATTRIBUTE`: parlour's names, added names, then names of installed packages. Nothing is imported.

    Args:
        group: The group of entry points.
        own: The table without packages.

    Raises:
        ParlourError: On looking up a name that two packages offer.
    """

    def __init__(self, group: str, own: Mapping[str, str]) -> None:
        self.group, self._own = group, dict(own)

    def __getitem__(self, name: str) -> str:
        return self._own[name] if name in self._own else _only(self.group, name, offered(self.group)[name])

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._own, *offered(self.group))))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __setitem__(self, name: str, place: str) -> None:
        self._own[name] = place

    def __delitem__(self, name: str) -> None:
        del self._own[name]


def _only(group: str, name: str, places: list[str]) -> str:
    """The one place of a name. Raises `ParlourError` if there are more."""
    if len(places) > 1:
        raise ParlourError(f"{name!r} of {group} is offered by {' and by '.join(places)}; accepted: one of them")
    return places[0]


class OpenTable(MutableMapping[str, T], Generic[T]):
    """Name -> value: those given, those added, then the values of installed packages, which are loaded when they are looked up.

    A name whose value cannot be loaded is left out where the table is gone through, with one warning for its package.

    Args:
        group: The group of entry points.
        kind: The class of every value.
        own: The table without packages.

    Raises:
        ParlourError: On looking up a name whose value cannot be loaded.
    """

    def __init__(self, group: str, kind: type[T], own: Mapping[str, T] | None = None) -> None:
        self.group, self._kind = group, kind
        self._own: dict[str, T] = dict(own or {})
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name in self._own:
            return self._own[name]
        if name not in self._loaded:
            if name not in offered(self.group):
                raise KeyError(name)
            self._loaded[name] = cast(T, _load(self.group, name, self._kind))
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in offered(self.group)

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        for name, entry_point in packages(self.group).items():
            if name in self._own:
                continue
            try:
                self[name]
            except ParlourError as error:
                warn_once(package_of(entry_point), str(error))
                continue
            yield name

    def __len__(self) -> int:
        return len(list(iter(self)))

    def here(self) -> Mapping[str, T]:
        """The table without packages: what was given and added."""
        return self._own

    def __setitem__(self, name: str, value: T) -> None:
        self._own[name] = value

    def __delitem__(self, name: str) -> None:
        del self._own[name]
