"""Records of games become transcripts: which format they are in, all of a file or folder or none of them.

A file is JSON Lines, one game a line, or, if its name ends in `.json`, one JSON value: a game or a list of games. Of a
folder its `*.jsonl` files are read, in the order of their names, or, if it has none, its `*.json` files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError, check_one_of
from parlour.training.records.formats import RecordFormat
from parlour.training.records.json_objects import JsonObject, named_games, read_records

AUTO: Final = "auto"


def read_as(formats: Sequence[RecordFormat], path: str | Path, logs: str | Path | None, form: str) -> dict[str, str]:
    """What is written of each game of a file or folder, by the name of the game, in the order of the records.

    Args:
        formats: Those of the game.
        path: The records.
        logs: The folder with the games' logs, for what was said, where the format has such; without it everybody is silent.
        form: The format by name, or "auto": the first record tells.

    Raises:
        ParlourError: A file cannot be read, or a record contradicts the rules, the format or its log; the message names
            the file, the line, the game, the place in it and the reason.
    """
    check_one_of("format", form, (AUTO, *(one.name for one in formats)))
    chosen, records = _chosen(formats, form, read_records(path))
    if logs is not None and not chosen.logs:
        with_logs = ", ".join(one.name for one in formats if one.logs)
        raise ParlourError(f"--logs does not go with the format {chosen.name}; accepted: {with_logs}")
    folder = None if logs is None else Path(logs)
    games = named_games(path, records, chosen.key, chosen.named, chosen.other)
    return {f"{chosen.prefix}{name}": chosen.transcript(at, folder) for name, at in games}


def _chosen(
    formats: Sequence[RecordFormat], form: str, records: Iterator[JsonObject]
) -> tuple[RecordFormat, Iterator[JsonObject]]:
    """The format, and all records."""
    if form != AUTO:
        return next(one for one in formats if one.name == form), records
    first = next(records, None)
    if first is None:
        return formats[0], records
    found = [one for one in formats if set(one.fields) <= set(first.fields)]
    if len(found) != 1:
        told = "; ".join(f"{one.name} (with {', '.join(one.fields)})" for one in formats)
        raise first.error("no format, or more than one, has its fields", told)
    return found[0], chain([first], records)
