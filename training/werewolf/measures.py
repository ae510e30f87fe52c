"""The measures of Werewolf over a folder: win rates by block, performance, reasoning, amnesia, ready for JSON.

What each of them is stands in `scores` and `amnesia`. Rates and means are rounded to three decimals; a rate has its
Wilson interval at 95 %. Nothing to count is None.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.werewolf.vocabulary import DRAW, ROLES, VILLAGE, WOLVES
from parlour.training.statistics import Rate, rate
from parlour.training.werewolf import result_store, scores, transcripts
from parlour.training.werewolf.amnesia import KINDS, WAYS, forgot
from parlour.training.werewolf.played import GAME, WerewolfGame

DIGITS: Final = 3
OURS: Final = "all"
"""The group of games that were not published ones."""
UNNAMED: Final = "unnamed"
"""The method of seats for which nobody tells who played them."""

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
    paths = _paths(directory)
    if not paths:
        raise ParlourError(f"folder {str(directory)!r} holds no game; accepted: a folder with *.jsonl files")
    games = [_read(path) for path in paths]
    finished = [game for game in games if game is not None]
    return _groups(finished) | ({"unfinished": len(games) - len(finished)} if len(finished) < len(games) else {})


def are_of_werewolf(directory: str | Path) -> bool:
    """Whether a folder holds games of Werewolf. Raises `ParlourError` if it holds games of another kind besides."""
    games = {path: first.get("game") for path, first in ((path, _first(path)) for path in _paths(directory))}
    ours = [path for path, game in games.items() if game == GAME]
    others = [path for path, game in games.items() if isinstance(game, str) and game != GAME]
    if ours and others:
        both = f"{ours[0].name!r} of {GAME} and {others[0].name!r} of {games[others[0]]}"
        raise ParlourError(f"folder {str(directory)!r} holds {both}; accepted: a folder with games of one kind")
    return bool(ours)


def _paths(directory: str | Path) -> list[Path]:
    return sorted(path for path in Path(directory).glob("*.jsonl") if path.is_file())


def _first(path: Path) -> JSON:
    """The object in the first line of a file; empty if there is none."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _read(path: Path) -> transcripts.Seen | None:
    if "parlour_record" in _first(path):
        return transcripts.Seen(result_store.read_result(path), ())
    return transcripts.read_transcript(path)


# -- groups ----------------------------------------------------------------------------------------------------


def _groups(games: Sequence[transcripts.Seen]) -> JSON:
    met: dict[str, set[tuple[str, ...]]] = {}
    for one in games:
        met.setdefault(one.game.group, set()).add(one.game.pair)
    found: JSON = {}
    for group in sorted(met):
        for pair in sorted(met[group]):
            name = group or OURS
            label = name if len(met[group]) == 1 else f"{name}: {', '.join(method or UNNAMED for method in pair)}"
            found[label] = of_games([one for one in games if (one.game.group, one.game.pair) == (group, pair)])
    return found


def of_games(seen: Sequence[transcripts.Seen]) -> JSON:
    """The measures of games between the same methods."""
    games = [one.game for one in seen]
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
    told = [one for one in seen if one.amnesia]
    return {
        "as_wolves": _rate(rate(sum(wolves), len(wolves))),
        "as_leaders": _rate(rate(sum(leaders), len(leaders))),
        "TWR": _rate(scores.total(games, method)),
        "WWR": _rate(scores.share(games, method, WOLVES)),
        "LWR": _rate(scores.share(games, method, VILLAGE)),
        "performance": {role: _performance(games, method, role) for role in roles},
        "reasoning": {
            "total": _rate(scores.reasoning_success(games, method)),
            **{role: _rate(scores.reasoning_success(games, method, role)) for role in roles},
        },
        **({"amnesia": _amnesia(told, method)} if told else {}),
    }


def _performance(games: Sequence[WerewolfGame], method: str, role: str) -> JSON:
    table_3 = scores.performances(games, method, role)
    published = scores.performances(games, method, role, scores.PUBLISHED)
    return {"n": len(table_3), "table_3": _mean(table_3), "published_sign": _mean(published)}


def _amnesia(seen: Iterable[transcripts.Seen], method: str) -> JSON:
    of = [one.amnesia[seat] for one in seen for seat in one.game.seats(method)]
    return {kind: {way: _rate(forgot(of, kind, [way])) for way in WAYS} for kind in KINDS}


def _mean(values: Sequence[Fraction]) -> float | None:
    return round(float(sum(values, Fraction()) / len(values)), DIGITS) if values else None


def _rate(found: Rate | None) -> JSON | None:
    if found is None:
        return None
    rounded = {key: round(getattr(found, key), DIGITS) for key in ("rate", "low", "high")}
    return {"hits": found.hits, "n": found.n, **rounded}
