"""Records of games become transcripts: which format they are in, all of a file or folder or none of them.

A file is JSON Lines, one game a line, or, if its name ends in `.json`, one JSON value: a game or a list of games. Of a
folder its `*.jsonl` files are read, in the order of their names, or, if it has none, its `*.json` files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError, check_one_of
from parlour.training.avalon.records.formats import RecordFormat
from parlour.training.avalon.records.multi_round import GPT51
from parlour.training.avalon.records.proavalon import PROAVALON
from parlour.training.avalon.records.published_2023 import PUBLISHED_2023
from parlour.training.json_objects import JsonObject, named_games, read_records, write_games
from parlour.training.runs import run_directory

AUTO: Final = "auto"
FORMATS: Final[Mapping[str, RecordFormat]] = {one.name: one for one in (GPT51, PUBLISHED_2023, PROAVALON)}


def import_records(
    path: str | Path, out_dir: str | Path, logs: str | Path | None = None, *, form: str = AUTO
) -> list[Path]:
    """Write `<out_dir>/<game>.jsonl` for each game of a file or folder, all of them or none; otherwise as `transcripts`.

    Returns:
        The transcripts, in the order of the records. One that is there already, byte for byte, is left alone.

    Raises:
        ParlourError: See `transcripts`; or another file is in the way, or the folder cannot be written to.
    """
    return write_games(out_dir, transcripts(path, logs, form=form), run_directory)


def transcripts(path: str | Path, logs: str | Path | None = None, *, form: str = AUTO) -> dict[str, str]:
    """The transcript of each game of a file or folder, by the name of the game, in the order of the records.

    Args:
        path: The records.
        logs: The folder with the games' logs, for what was said, where the format has such; without it everybody is silent.
        form: The format, one of `FORMATS`, or "auto": the first record tells.

    Raises:
        ParlourError: A file cannot be read, or a record contradicts the rules, the format or its log; the message names
            the file, the line, the game, the round and the reason.
    """
    check_one_of("format", form, (AUTO, *FORMATS))
    records = read_records(path)
    chosen, records = _chosen(form, records)
    if logs is not None and not chosen.logs:
        with_logs = ", ".join(name for name, one in FORMATS.items() if one.logs)
        raise ParlourError(f"--logs does not go with the format {chosen.name}; accepted: {with_logs}")
    folder = None if logs is None else Path(logs)
    games = named_games(path, records, chosen.key, chosen.named)
    return {name: chosen.transcript(at, folder) for name, at in games}


def _chosen(form: str, records: Iterator[JsonObject]) -> tuple[RecordFormat, Iterator[JsonObject]]:
    """The format, and all records."""
    if form != AUTO:
        return FORMATS[form], records
    first = next(records, None)
    if first is None:
        return next(iter(FORMATS.values())), records
    found = [one for one in FORMATS.values() if set(one.fields) <= set(first.fields)]
    if len(found) != 1:
        told = "; ".join(f"{one.name} (with {', '.join(one.fields)})" for one in FORMATS.values())
        raise first.error("no format, or more than one, has its fields", told)
    return found[0], _again(first, records)


def _again(first: JsonObject, others: Iterator[JsonObject]) -> Iterator[JsonObject]:
    yield first
    yield from others
