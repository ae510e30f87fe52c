"""The lines of a transcript, which is JSON Lines: how they are written and read.

The first line is the header: `{"parlour": 1, "game", "config", ...}` with whatever else the
writer adds (seed, players). Then one line for every move, nature's included:

    {"n": 3, "seat": "player_1", "move": ["vote", [1]], "say": "I approve the team.", "to": ["player_1"], "raw": "aye"}

`words` holds free speech as the table saw it, `raw` the words as they came in, `to` the seats that saw the move at once
(absent: everybody). A line with `"fault"` and without `"move"` records words that were no move. A move that was not the seat's
own names its author in `by`, with the `reason`: `"table"` (`"default"`, `"random"`: what replaced words that could not
be used; `"clock"`: a person's time was over) or `"heuristic"` (why the model gave no answer). The last line of a finished game is
`{"outcome": {"returns", "winner", "reason"}, ...}`, or `{"unfinished": why, ...}` if the game was given up. A file that ends
within a line is read up to the line before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from parlour.envs.common.json_values import json_value
from parlour.envs.core import NATURE, GameText, Move, Outcome, ParlourError, value_shown
from parlour.envs.language.english import name
from parlour.envs.language.entries import Entry
from parlour.envs.language.text import MAX_WORDS

FORMAT: Final = 1
NATURE_NAME: Final = "nature"
BY_TABLE: Final = "table"
BY_HEURISTIC: Final = "heuristic"
BY_PAPER: Final = "paper"
"""The author of a move, if not the seat: the table, or the heuristic or the rule of a paper instead of the seat's model."""
_LONGEST_KIND: Final = 100
MAX_SERVICE_WORDS: Final = 100_000
"""Characters of one answer of a service that are read."""


# -- writing ---------------------------------------------------------------------------------------------------


def header_line(game_id: str, config: Mapping[str, Any], extra: Mapping[str, Any]) -> str:
    """The first line of a transcript."""
    return _line({"parlour": FORMAT, "game": game_id, "config": dict(config), **extra})


def entry_line(number: int, entry: Entry, text: GameText[Any], notes: Mapping[str, Any] | None = None) -> str:
    """The line of a move, or of words that were none. `notes` are added under their own names."""
    line: dict[str, Any] = {"n": number, "seat": seat_name(entry.seat)}
    if entry.move is not None:
        line["move"] = [entry.move.kind, list(entry.move.args)]
        if entry.seat != NATURE:
            line["say"] = text.say(entry.move)
        if entry.move.words:
            line["words"] = entry.move.words
    if entry.to is not None:
        line["to"] = [name(seat) for seat in entry.to]
    if entry.raw is not None:
        line["raw"] = entry.raw
    if entry.fault:
        line["fault"] = entry.fault
    if entry.replaced:
        line |= {"by": BY_TABLE, "reason": entry.replaced}
    return _line({**line, **(notes or {})})


def outcome_line(outcome: Outcome, notes: Mapping[str, Any] | None = None) -> str:
    """The last line of a finished game. `notes` are added under their own names."""
    values = {"returns": list(outcome.returns), "winner": outcome.winner, "reason": outcome.reason}
    return _line({"outcome": values, **(notes or {})})


def unfinished_line(why: str, notes: Mapping[str, Any] | None = None) -> str:
    """The last line of a game that was given up. `notes` are added under their own names."""
    return _line({"unfinished": why, **(notes or {})})


def _line(value: Mapping[str, Any]) -> str:
    # lone surrogates of broken input are escaped, so that every file is valid UTF-8, and so are the characters besides
    # the line break that other readers take for one
    line = json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()
    return re.sub("[\u0085\u2028\u2029]", lambda match: f"\\u{ord(match[0]):04x}", line) + "\n"


def seat_name(seat: int) -> str:
    """How lines name a seat, or nature."""
    return NATURE_NAME if seat == NATURE else name(seat)


# -- reading ---------------------------------------------------------------------------------------------------


def read_record(path: str | Path, number: int, line: bytes) -> dict[str, Any]:
    """The JSON object of a line, the `number`-th of a file. Raises `ParlourError` if it is none."""
    try:
        record, why = json_value(line), ""
    except ValueError as error:
        record, why = None, f" ({error})"
    if not isinstance(record, dict):
        raise ParlourError(f"{str(path)!r} line {number} is not a JSON object{why}; accepted: a transcript of parlour")
    return record


def read_entry(path: str | Path, number: int, record: Mapping[str, Any]) -> Entry:
    """The move, or the words that were none, of a line. Raises `ParlourError` if it holds neither."""
    try:
        seat = _seat(record["seat"])
        to = None if "to" not in record else tuple(_seat(who) for who in record["to"])
        move = None
        if "move" in record:
            kind, args = record["move"]
            if type(kind) is not str or not kind.isprintable() or len(kind) > _LONGEST_KIND or type(args) is not list:
                raise TypeError(f"move {value_shown(record['move'])}, accepted: a kind and a list of whole numbers")
            if not all(type(arg) is int for arg in args):
                raise TypeError(f"arguments {value_shown(args)}, accepted: whole numbers")
            move = Move(kind, tuple(args), _words(seat, record.get("words", "")))
        elif "fault" not in record:
            raise KeyError("move")
        replaced = str(record.get("reason", "")) if record.get("by") == BY_TABLE else ""
        return Entry(seat, move, to, record.get("raw"), str(record.get("fault", "")), replaced)
    except (KeyError, TypeError, ValueError) as error:
        raise ParlourError(f"{str(path)!r} line {number} is not a move: {error}") from None


def _words(seat: int, words: Any) -> str:
    most = MAX_SERVICE_WORDS if seat == NATURE else MAX_WORDS
    if not isinstance(words, str) or len(words) > most:
        raise ValueError(f"words of {len(words) if isinstance(words, str) else 0} characters, accepted: at most {most}")
    return words


def read_outcome(path: str | Path, number: int, line: Any) -> Outcome:
    """The outcome in a last line. Raises `ParlourError` if it is none."""
    try:
        returns, winner, reason = line["returns"], line["winner"], line["reason"]
        if not all(type(x) in (int, float) for x in returns) or type(winner) is not str or type(reason) is not str:
            raise TypeError("returns, winner and reason; accepted: numbers and two texts")
        return Outcome(tuple(map(float, returns)), winner, reason)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ParlourError(f"{str(path)!r} line {number} is not an outcome: {error}") from None


def _seat(who: Any) -> int:
    if who == NATURE_NAME:
        return NATURE
    if not isinstance(who, str) or not re.fullmatch(r"player_\d{1,6}", who):
        raise ValueError(f"seat {value_shown(who)}, accepted: {NATURE_NAME}, player_0 ...")
    return int(who.removeprefix("player_"))
