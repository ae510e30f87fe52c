"""Games that lie in a folder: a transcript that was played to its end is read back as the game that was played.

So a killed run resumes with the missing games. What a kill left of a game is played again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from parlour.envs import replay
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import ParlourError
from parlour.envs.language.english import name
from parlour.envs.replay import Transcript
from parlour.policies.files import write_json
from parlour.training.play.decisions import FORFEIT, of_transcript
from parlour.training.play.rollout import COUNTED, Episode, Unfinished
from parlour.training.runs.folder import store_settings
from parlour.training.runs.run import Run

_REPLACED: Final = "replaced"


def stored_game(
    path: Path, env: GameEnv, seed: int, players: Sequence[str], *, given_up: bool
) -> Episode | Unfinished | None:
    """The game that was to be played, as its transcript tells; None if it has to be played.

    Args:
        path: The transcript. If it is there and the game was not finished, it is removed.
        env: The table.
        seed: Seed of the game.
        players: Who sits at each seat, by name.
        given_up: A game that was given up because a player failed is taken as it is; else it has to be played.

    Raises:
        ParlourError: The file holds another game, or something else.
    """
    if not path.exists():
        return None
    if b"\n" in path.read_bytes():  # else it was killed within the first line
        transcript = replay.Transcript.read(path)
        check_header(path, transcript, env, seed, players)
        if transcript.outcome is not None:
            return _episode(transcript, seed)
        if given_up and "unfinished" in transcript.closing:
            why, moves = str(transcript.closing["unfinished"]), len(transcript.moves)
            return Unfinished(seed, why, moves, of_transcript(transcript))
    path.unlink()
    return None


def check_header(path: Path, transcript: Transcript, env: GameEnv, seed: int, players: Sequence[str]) -> None:
    """Raise `ParlourError` unless a transcript is of this table, seed and players; the other arguments as of `stored_game`."""
    wanted = {"game": env.game_name, "config": dict(env.game.config), "seed": seed}
    wanted["players"] = dict(zip(env.possible_agents, players, strict=True))
    for key, value in json.loads(json.dumps(wanted)).items():
        if transcript.header.get(key) != value:
            raise ParlourError(f"transcript {str(path)!r} is of another game ({key}); accepted: a folder of its own")


def _episode(transcript: Transcript, seed: int) -> Episode:
    assert transcript.outcome is not None
    game = transcript.game()
    state = list(replay.states(game, transcript.moves))[-1]
    views = tuple(game.view(state, seat) for seat in range(game.seats))
    return Episode(
        seed,
        transcript.outcome,
        len(transcript.moves),
        _faults(transcript, game.seats),
        views,
        of_transcript(transcript),
    )


def _faults(transcript: Transcript, seats: int) -> dict[str, dict[str, int]]:
    counts: dict[int, Counter[str]] = {seat: Counter() for seat in range(seats)}
    for entry in transcript.entries:
        if entry.seat >= 0:
            what = _REPLACED if entry.replaced or entry.fault == FORFEIT else entry.fault
            counts[entry.seat][what] += 1
    return {name(seat): {kind: of[kind] for kind in COUNTED} for seat, of in counts.items()}


@contextmanager
def games_folder(
    out: Path | None, env: GameEnv, command: str, settings: Mapping[str, Any], *, resume: bool
) -> Iterator[None]:
    """Hold the folder of a command's games, if there is one, as the directory of a run.

    Args:
        out: The folder; None: nothing is stored.
        env: The table.
        command: Part of the name of the settings file: several commands may store games in one folder.
        settings: What decides the games, as plain values.
        resume: Continue a run with the same settings. Otherwise the folder may hold games under other names.

    Raises:
        ParlourError: There is nothing to resume, another run is at work in the folder, or the folder holds a run with other
        settings.
    """
    if out is None:
        if resume:
            raise ParlourError("--resume goes with --out")
        yield
        return
    game = env.game_name
    file, settings_file = f"{game}-{command}.json", {"game": game, "config": dict(env.game.config), **settings}
    with Run(out).opened() as folder:
        if resume:
            store_settings(folder, settings_file, file=file)
            yield
            return
        before = set(folder.glob("*.jsonl"))
        new = not (folder / file).exists() or not before
        if new:
            write_json(folder / file, settings_file)
        try:
            yield
        except ParlourError:
            if new and set(folder.glob("*.jsonl")) == before:  # refused before its first game
                (folder / file).unlink(missing_ok=True)
            raise
