"""Transcripts of Avalon in a folder: imported records and games that were played here, finished or not."""

from __future__ import annotations

from pathlib import Path

from parlour.envs import replay
from parlour.envs.avalon import GAME
from parlour.envs.core import ParlourError, accept
from parlour.envs.replay import Transcript


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
