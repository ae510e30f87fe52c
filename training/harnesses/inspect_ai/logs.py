"""Inspect's logs as our transcripts: each game is played again from its seed and its words, and must come out the same.

A log may come from anybody: its games are looked up in the registry, and it opens no file and loads no player but those that
the caller names.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from inspect_ai.log import EvalLog, EvalSample, read_eval_log
from parlour.envs.core import ParlourError, in_short, value_shown
from parlour.envs.registry import known
from parlour.envs.replay import Transcript
from parlour.training.harnesses.inspect_ai.played import STORED, StoredGame, play_again

SUFFIXES: Final = (".eval", ".json")
PLAIN_OPPONENTS: Final = ("heuristic", "random", "expert")
"""Players that a log may name: they load nothing but what comes with parlour."""
_NOT_NEEDED: Final = {"messages", "events", "attachments"}


@dataclass(frozen=True)
class ReadLog:
    """What became of the games of a log."""

    paths: tuple[Path, ...]
    """The transcripts, in the order of the log."""
    left_out: Mapping[str, str]
    """Sample -> why there is no game of it."""


def transcripts_of_log(path: Path, out: Path, *, opponents: str | None = None, folders: Iterable[Path] = ()) -> ReadLog:
    """Write a transcript of each game of a log, or none.

    Args:
        path: The log, `.eval` or `.json`.
        out: Folder for the transcripts, `GAME-1.jsonl` and so on.
        opponents: The our players that sat at the table, where the log names others than `PLAIN_OPPONENTS`.
        folders: Paths that a game's options may name, such as that of a case, and folders of such; nothing else is opened.

    Raises:
        ParlourError: The file is no log, holds no game, or a game does not come out as the log says; or a transcript exists.
    """
    log = _read(path)
    games, left_out = [], {}
    for sample in log.samples or []:
        called = f"sample {sample.id}, epoch {sample.epoch}"
        if STORED in sample.store:
            games.append((called, sample))
        else:
            left_out[called] = "no game was played" if sample.error is None else in_short(sample.error.message)
    if not games:
        raise ParlourError(f"{str(path)!r} holds no game; accepted: a log of a task of parlour, with its samples")
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out, prefix=".inspect-log-") as kept:
        written, may_open = [], tuple(folders)
        for number, (called, sample) in enumerate(games, 1):
            try:
                game = _game_of(sample, opponents, may_open)
                target = Path(kept) / f"{known(game.table.game).spec.id}-{number}.jsonl"
                play_again(game, target, _header(log, sample, game))
            except ParlourError as error:
                raise ParlourError(f"{str(path)!r}, {called}: {error}") from None
            written.append(target)
        paths = [out / transcript.name for transcript in written]
        for target in paths:
            if target.exists():
                raise ParlourError(f"transcript {str(target)!r} exists; accepted: another folder")
        for transcript, target in zip(written, paths, strict=True):
            transcript.rename(target)
    return ReadLog(tuple(paths), left_out)


def _read(path: Path) -> EvalLog:
    if not path.is_file() or path.suffix not in SUFFIXES:
        raise ParlourError(f"{str(path)!r} is not accepted; accepted: a log of Inspect, a file *.eval or *.json")
    try:
        return read_eval_log(path, exclude_fields=_NOT_NEEDED)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, zipfile.BadZipFile) as error:
        why = in_short(" ".join(str(error).split()))
        raise ParlourError(
            f"{str(path)!r} cannot be read as a log of Inspect ({why}); accepted: a complete log"
        ) from None


def _game_of(sample: EvalSample, opponents: str | None, folders: tuple[Path, ...]) -> StoredGame:
    """The game of a sample. Raises `ParlourError` for one that would load or open what nobody named but the log."""
    game = StoredGame.from_plain(sample.store[STORED])
    table = game.table if opponents is None else game.table.replace(opponents=opponents)
    Transcript({"game": table.game, "config": table.options}, (), None, folders=folders).game()
    if opponents is None and table.opponents not in PLAIN_OPPONENTS:
        raise ParlourError(
            f"opponents {value_shown(table.opponents)}, which the log names, are not loaded for it; accepted: "
            f"{', '.join(PLAIN_OPPONENTS)}, or --opponents"
        )
    return game.replace(table=table)


def _header(log: EvalLog, sample: EvalSample, game: StoredGame) -> dict[str, Any]:
    """What the transcript's header tells besides the game and the seed."""
    players = {agent: game.models.get(agent, game.table.opponents) for agent in game.returns}
    source = {"task": log.eval.task, "run": log.eval.run_id, "sample": sample.id, "epoch": sample.epoch}
    return {"players": players, "inspect": {**source, "seats": list(game.own)}}
