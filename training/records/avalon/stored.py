"""Transcripts of Avalon in a folder: imported records and games that were played here, finished or not."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from parlour.envs import replay
from parlour.envs.avalon import GAME
from parlour.envs.core import ParlourError, accept
from parlour.envs.replay import Transcript


def assumed_moves(transcript: Transcript) -> frozenset[int]:
    """The numbers of the moves, from 0 and nature's included, that the record of an imported game does not tell.

    Empty for all games but some of the format `proavalon`. Whoever counts cards or guesses, or learns from them, leaves
    these out.

    Raises:
        ParlourError: The header's `record.assumed` is no list of whole numbers.
    """
    record = transcript.header.get("record")
    numbers = record.get("assumed", []) if isinstance(record, Mapping) else []
    if not isinstance(numbers, list) or any(type(number) is not int for number in numbers):
        raise accept("record.assumed", numbers, "a list of whole numbers, as `import` writes")
    return frozenset(numbers)


def read_transcripts(folder: str | Path) -> list[Transcript]:
    """The transcripts of a folder (`*.jsonl`), in the order of their names, with games that were not finished.

    Raises:
        ParlourError: The folder has none, or a file in it is no transcript of Avalon; the message names the file.
    """
    found = []
    for path in replay.transcript_files(folder):
        transcript = replay.read(path)
        if transcript.header["game"] != GAME.id:
            raise ParlourError(f"{str(path)!r}: {accept('game', transcript.header['game'], GAME.id)}")
        found.append(transcript)
    return found
