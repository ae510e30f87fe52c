"""The results file of a benchmark: everything that is needed to run it again, and the same bytes when it is.

What is measured (seconds, tokens that a server had cached) and what decides nothing (a cache's file, retries) is not in it.
Points are listed deal by deal, so that two files can be compared; the scores in it are for readers, and are recomputed from the
points. `scores` is null, with the reason in `no_score`, where too few decisions were the player's own.
"""

from __future__ import annotations

import json
import platform
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies import REGISTRY, asks_a_model
from parlour.policies.experts.catalogue import card_for
from parlour.policies.files import read_json, reading
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.make import ModelConfig
from parlour.policies.registry import settings_read
from parlour.training.report.verdicts import DecidedBy

from parlour_bench.played import WON, Candidate, PlayedTable
from parlour_bench.result import Points, plain, points_of, scores
from parlour_bench.suite import EARLIER, FULL, QUICK, REPLACED, SUITES, Suite, opponent_at

EXPERT: Final = "expert"
MIXED: Final = "mixed"

RESULTS: Final = "benchmark.json"
"""In the directory of a run."""
ABILITIES: Final = "abilities.json"
"""Beside it, once `parlour benchmark abilities` has measured them."""
REFERENCES: Final = Path(__file__).parent / "data"
"""The files of players that come with parlour, SUITE-NAME.json."""
REFERENCE_PLAYERS: Final = ("trained", "heuristic", "random")
_UNTOLD: Final = ("seconds", "cached")
"""What is measured of decisions: the same game takes others."""
_DECIDE_NOTHING: Final = (
    *("key_env", "timeout", "max_retries", "concurrency", "cache", "cache_mode"),
    *("max_dollars", "max_calls", "max_seconds"),
)
"""Settings of a model on which the result does not depend."""
_WITH_EXPERTS: Final = (EXPERT, MIXED)
"""Players that sit with the expert of the table."""
_UNUSABLE: Final = "is not accepted; accepted: what `parlour benchmark` wrote"
_LIBRARIES: Final = ("parlour", "numpy", "openai")


@dataclass(frozen=True)
class BenchmarkResult:
    """A results file that was read."""

    name: str
    """Name of the player."""
    suite: Suite
    points: Points
    own: tuple[int, int] | None = None
    """How many of its decisions were its own, and all of them; None where that is not stored."""

    @property
    def no_score(self) -> str:
        """Why the player has no score; empty where it has one."""
        return "" if self.own is None else DecidedBy(self.name, *self.own).no_score

    @property
    def doubt(self) -> str:
        """What is said beside the score, or instead of it; empty where the decisions were the player's own."""
        return "" if self.own is None else DecidedBy(self.name, *self.own).doubt


# -- writing -----------------------------------------------------------------------------------------------------------


def decided_by(suite: Suite, candidate: Candidate, on_failure: str) -> dict[str, Any]:
    """Everything that decides the result, as plain values; the directory of a run has to agree with it."""
    seated = candidate.seated(suite)
    asking = any(map(asks_a_model, seated))
    return {
        "suite": {
            **({"published": suite.published} if suite.published else {}),
            "name": suite.name,
            "version": suite.version,
            "sha256": suite.digest,
            **({"day": suite.day} if suite.day else {}),
        },
        "tables": [table.name for table in suite.tables],
        "policy": candidate.policy,
        "otherwise": candidate.otherwise,
        "model": _settings(candidate.model) if asking else None,
        "on_failure": on_failure,
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in _LIBRARIES}},
        "sha256": _hashes(suite, seated, candidate.model),
    }


def results(
    suite: Suite, candidate: Candidate, played: Sequence[PlayedTable], on_failure: str, name: str
) -> dict[str, Any]:
    """The results file, as plain values.

    Args:
        suite: The suite that was played.
        candidate: The player.
        played: The games of its tables.
        on_failure: What followed when a player failed.
        name: What tables call the player.
    """
    points, made = points_of(played), sum((part.decisions for part in played), Decisions())
    return {
        "player": name,
        **decided_by(suite, candidate, on_failure),
        "command": command(suite, candidate),
        **_scored(suite, points, name, made),
        "seated": {part.table.name: part.player for part in played},
        "deals": {part.table.name: [part.table.numbers()[0], part.table.deals] for part in played},
        "decisions": {part.table.name: _counts(part.decisions) for part in played},
        "all decisions": _counts(made),
        "points": {
            table: {
                opponent: {side: list(map(int, of)) for side, of in sides.items()} for opponent, sides in by.items()
            }
            for table, by in points.items()
        },
    }


def _scored(suite: Suite, points: Points, name: str, made: Decisions) -> dict[str, Any]:
    """The scores, or why there are none; what throws doubt on them."""
    refused, doubted = (
        DecidedBy(name, made.own, made.decisions).no_score,
        DecidedBy(name, made.own, made.decisions).doubt,
    )
    if refused:
        return {"scores": None, "no_score": refused}
    return {"scores": plain(scores(suite, points)), **({"doubt": doubted} if doubted else {})}


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


def _counts(made: Decisions) -> dict[str, Any]:
    return {key: value for key, value in made.as_json().items() if key not in _UNTOLD}


def _settings(model: Any) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(json.dumps(model.settings()))
    return {key: value for key, value in settings.items() if key not in _DECIDE_NOTHING}


def command(suite: Suite, candidate: Candidate) -> str:
    """The command that runs a benchmark again, without its directory and what does not decide the result."""
    words = ["parlour", "benchmark"]
    whole = SUITES.get(suite.name)
    if suite.name == QUICK.name:
        words.append("--quick")
    elif suite.name != FULL.name:
        words += ["--suite", suite.name]
    if suite.day:
        words += ["--fresh", suite.day]
    if whole is not None and suite.usual.tables != whole.tables:
        words += [word for table in suite.tables for word in ("--table", table.name)]
    words += ["--policy", candidate.policy]
    if candidate.otherwise is not None:
        words += ["--otherwise", candidate.otherwise]
    if candidate.model.name != "offline":
        words += _model_options(_settings(candidate.model))
    return shlex.join(words)


def _model_options(settings: Mapping[str, Any]) -> list[str]:
    words = []
    for name, default in ModelConfig().plain().items():
        value = settings.get(name)
        if value is None or value == default:
            continue
        values = value if name == "stop" else [",".join(map(str, value)) if isinstance(value, list) else str(value)]
        words += [word for value in values for word in (f"--{name.replace('_', '-')}", value)]
    return words


# -- hashes ------------------------------------------------------------------------------------------------------------


def _hashes(suite: Suite, seated: Iterable[str], model: Any) -> dict[str, str]:
    """SHA-256 of the files that played: experts, whatever the players name, and the prompts of the user's own."""
    digests: dict[str, str] = {}
    for table, player in zip(suite.tables, seated, strict=True):
        at = table.configured()
        for name in (player, *(opponent_at(opponent, *at) for opponent in table.opponents)):
            plain_name, _, words = name.partition(":")
            if plain_name in _WITH_EXPERTS:
                style = REPLACED if words.endswith(REPLACED) else ""
                style = settings_read(name).style if plain_name == EXPERT and words else style
                card = card_for(*at, style=style)
                digests |= {card.name: card.sha256} if card else {}
    paths = [part for player in sorted(set(seated)) for part in _paths(player)]
    prompts = model.settings().get("prompts")
    return digests | {path: _digest(Path(path)) for path in (*paths, *([prompts] if prompts else []))}


def _paths(policy: str) -> list[str]:
    """The files and folders that the name of a player names."""
    plain_name, _, settings = policy.partition(":")
    if not settings:
        return [] if plain_name in REGISTRY or not Path(policy).exists() else [policy]
    return [part for part in re.split("[,=]", settings) if Path(part).exists()]


def _digest(path: Path) -> str:
    """Of a file, or of all files below a folder with their names."""
    if path.is_file():
        return sha256(path.read_bytes()).hexdigest()
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lines = [f"{file.relative_to(path)} {sha256(file.read_bytes()).hexdigest()}\n" for file in files]
    return sha256("".join(lines).encode()).hexdigest()


# -- reading -----------------------------------------------------------------------------------------------------------


def read_result(path: Path) -> BenchmarkResult:
    """A results file, or that of a directory.

    Raises:
        ParlourError: There is none, its suite is not known, or it is something else.
    """
    file = path / RESULTS if path.is_dir() else path
    if not file.exists():
        raise ParlourError(f"there is no results file {str(file)!r}; accepted: what `parlour benchmark` wrote")
    with reading(file, "results file", _UNUSABLE):
        fields = read_json(file)
        name, stored, points = str(fields["player"]), fields["suite"], fields["points"]
        made = fields.get("all decisions")
        own = None if made is None else (int(made["own"]), int(made["decisions"]))
        suite = _suite(stored, [str(name) for name in fields["tables"]])
        if suite is not None:
            _check(suite, points)
    if suite is None:
        versions = ", ".join(map(str, (*SUITES.values(), *EARLIER)))
        raise ParlourError(f"{str(file)!r} is of another suite or version of it; accepted: {versions}")
    return BenchmarkResult(name, suite, points, own)


def _suite(stored: Mapping[str, Any], tables: list[str]) -> Suite | None:
    """The suite that a file names, of this version or an earlier one, with these tables; None for any other."""
    for suite in (*SUITES.values(), *EARLIER):
        if (suite.name, suite.version) == (stored["name"], stored["version"]):
            if stored.get("published", suite.published) != suite.published:
                return None
            played = suite.only(tables)
            played = played.fresh(str(stored["day"])) if "day" in stored else played
            return played if played.digest == stored["sha256"] else None
    return None


def _check(suite: Suite, points: Any) -> None:
    """Raise `ValueError`, `KeyError` or `TypeError` unless these are the points of a suite."""
    for table in suite.tables:
        for opponent in table.opponents:
            sides = points[table.name][opponent]
            if len(sides) != 2 or any(len(of) != table.deals for of in sides.values()):
                raise ValueError("points of other deals")
            if any(points not in (0.0, WON / 2, WON) for of in sides.values() for points in of):
                raise ValueError("points that no game gives")


def references(suite: Suite) -> list[BenchmarkResult]:
    """The players that come with parlour, the strongest first, on the tables of a suite.

    None for a suite of an earlier version, with the deals of a day, or that is not parlour's.
    """
    if suite.day or suite.name not in SUITES or suite.version != SUITES[suite.name].version:
        return []
    by_name = {name: read_result(reference_file(suite, name)) for name in REFERENCE_PLAYERS}
    return [BenchmarkResult(name, suite, result.points) for name, result in by_name.items()]


def reference_file(suite: Suite, name: str) -> Path:
    """Where the results of a player that comes with parlour are."""
    return REFERENCES / f"{suite.name}-{name}.json"
