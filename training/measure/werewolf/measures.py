"""The measures of Werewolf over a folder: win rates by block, performance, reasoning, amnesia, ready for JSON.

`scores` and `amnesia` define them. Rates and means are rounded to three decimals; a rate has its
Wilson interval at 95 %. Nothing to count is None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from parlour.envs import replay
from parlour.envs.common.json_values import json_value
from parlour.envs.werewolf.vocabulary import DRAW, ROLES, VILLAGE, WOLVES
from parlour.training.measure.werewolf import scores, transcripts
from parlour.training.measure.werewolf.amnesia import KINDS, WAYS, forgot
from parlour.training.records.werewolf import published as result_store
from parlour.training.records.werewolf.played import WerewolfGame
from parlour.training.report.result_table import Cell, Column, ResultTable
from parlour.training.statistics import Estimate

DIGITS: Final = 3
OURS: Final = "all"
"""The group of games that were not published ones."""
UNNAMED: Final = "unnamed"
"""The method of seats without a named player."""

JSON = dict[str, Any]


def of_directory(directory: str | Path) -> JSON:
    """Count over all records and transcripts (`*.jsonl`) of a folder.

    Returns:
        For each group of games (`"group 1"`, as published; `"all"` for games of our own; with the methods' names where
        different ones met) the number of `games`, the wins of each side, and of each of the `methods` its measures; then
        the number of `"unfinished"` transcripts, if any.

    Raises:
        ParlourError: A file can be read neither as a record nor as a transcript of Werewolf; the message names it.
    """
    games = [_read(path) for path in replay.Transcript.files(directory)]
    finished = [game for game in games if game is not None]
    return _groups(finished) | ({"unfinished": len(games) - len(finished)} if len(finished) < len(games) else {})


def _first(path: Path) -> JSON:
    """The object in the first line of a file; empty if there is none."""
    try:
        with path.open("rb") as file:
            value = json_value(file.readline())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _read(path: Path) -> transcripts.Seen | None:
    if "parlour_record" in _first(path):
        return transcripts.Seen(result_store.read_result(path), ())
    return transcripts.read_transcript(path)


# -- groups ----------------------------------------------------------------------------------------------------


def _groups(games: Sequence[transcripts.Seen]) -> JSON:
    met: dict[str, set[tuple[str, ...]]] = {}
    for game in games:
        met.setdefault(game.game.group, set()).add(game.game.pair)
    groups: JSON = {}
    for group in sorted(met):
        for pair in sorted(met[group]):
            name = group or OURS
            label = name if len(met[group]) == 1 else f"{name}: {', '.join(method or UNNAMED for method in pair)}"
            groups[label] = of_games([game for game in games if (game.game.group, game.game.pair) == (group, pair)])
    return groups


def of_games(seen: Sequence[transcripts.Seen]) -> JSON:
    """The measures of games between the same methods."""
    games = [game.game for game in seen]
    drawn = sum(game.winner == DRAW for game in games)
    return {
        "games": len(games),
        "wins_werewolf": sum(game.winner == WOLVES for game in games),
        "wins_village": sum(game.winner == VILLAGE for game in games),
        **({"without_winner": drawn} if drawn else {}),
        "methods": {method or UNNAMED: _method(seen, games, method) for method in games[0].pair},
    }


def _method(seen: Sequence[transcripts.Seen], games: Sequence[WerewolfGame], method: str) -> JSON:
    wolves, leaders = (scores.won_as(games, method, side) for side in (WOLVES, VILLAGE))
    roles = [role for role in ROLES if any(True for game in games for _ in game.seats(method, role))]
    with_amnesia = [game for game in seen if game.amnesia]
    return {
        "as_wolves": _rate(Estimate.rate(sum(wolves), len(wolves))),
        "as_leaders": _rate(Estimate.rate(sum(leaders), len(leaders))),
        "TWR": _rate(scores.total(games, method)),
        "WWR": _rate(scores.share(games, method, WOLVES)),
        "LWR": _rate(scores.share(games, method, VILLAGE)),
        "performance": {role: _performance(games, method, role) for role in roles},
        "reasoning": {
            "total": _rate(scores.reasoning_success(games, method)),
            **{role: _rate(scores.reasoning_success(games, method, role)) for role in roles},
        },
        **({"amnesia": _amnesia(with_amnesia, method)} if with_amnesia else {}),
    }


def _performance(games: Sequence[WerewolfGame], method: str, role: str) -> JSON:
    table_3 = scores.performances(games, method, role)
    published = scores.performances(games, method, role, scores.PUBLISHED)
    return {"n": len(table_3), "table_3": _mean(table_3), "published_sign": _mean(published)}


def _amnesia(seen: Iterable[transcripts.Seen], method: str) -> JSON:
    of = [game.amnesia[seat] for game in seen for seat in game.game.seats(method)]
    return {kind: {way: _rate(forgot(of, kind, [way])) for way in WAYS} for kind in KINDS}


def _mean(values: Sequence[Fraction]) -> float | None:
    return round(float(sum(values, Fraction()) / len(values)), DIGITS) if values else None


def _rate(estimate: Estimate | None) -> JSON | None:
    if estimate is None:
        return None
    rounded = zip(("rate", "low", "high"), (estimate.value, *estimate.ends), strict=True)
    return {"hits": estimate.hits, "n": estimate.n, **{name: round(end, DIGITS) for name, end in rounded}}


# -- as tables -------------------------------------------------------------------------------------------------


def tables(measured: JSON) -> Iterator[ResultTable | str]:
    """A table for each group, as `parlour metrics` shows them."""
    for group, of in measured.items():
        if not isinstance(of, dict):
            yield f"{group}: {of}"
            continue
        totals = ", ".join(f"{key} {value}" for key, value in of.items() if key != "methods")
        methods = (Column(method, ".3f", shows=("hits", "n")) for method in of["methods"])
        rows = tuple(_rows(list(of["methods"].values())))
        yield ResultTable(f"{group}: {totals}", (Column("measure"), Column("of"), *methods), rows)


def _rows(methods: Sequence[JSON]) -> Iterator[tuple[Cell, ...]]:
    for measure in ("as_wolves", "as_leaders", "TWR", "WWR", "LWR"):
        yield (measure, "", *(_cell(of[measure]) for of in methods))
    for part in ("performance", "reasoning"):
        for role in dict.fromkeys(role for of in methods for role in of[part]):
            yield (part, role, *(_cell(of[part].get(role)) for of in methods))
    for kind, ways in methods[0].get("amnesia", {}).items():
        for way in ways:
            yield (f"{kind} amnesia", way, *(_cell(of["amnesia"][kind][way]) for of in methods))


def _cell(measured: JSON | None) -> Cell:
    if measured is None:
        return None
    if "table_3" not in measured:
        return Estimate.of_json(measured)
    if measured["table_3"] is None:
        return None
    return f"{measured['table_3']:.3f} (wrong votes added: {measured['published_sign']:.3f})  n={measured['n']}"
