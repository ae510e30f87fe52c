"""Recorded games played again at array tables: every decision as what the seat saw, its mask and what it did.

Games of one configuration are played side by side. Only games whose one move of nature is the deal can be played so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.envs import batch, replay
from parlour.envs.core import NATURE, Move, ParlourError
from parlour.envs.replay import Transcript

from parlour_people.cloned import GAME

HOLD: Final = -1

_TABLES: Final = 1024
"""Games played side by side."""


class ReplayableGame(NamedTuple):
    """One game, as its transcript holds it."""

    number: int
    """Among the games of its folder, by name."""
    config: dict[str, Any]
    deal: tuple[int, ...]
    moves: tuple[Move, ...]
    """Moves of the seats, without words."""
    own: tuple[bool, ...]
    """Whether a seat made the move itself: not the table, a heuristic, or a reader of records."""


class RecordedTurn(NamedTuple):
    """The same turn of some games of one table."""

    tables: Any
    turns: Any
    rows: NDArray[np.int32]
    """Tables where a seat is to make a recorded move of its own that is not the only one, shape (m,)."""
    games: NDArray[np.int32]
    """Number of the game at each of these, shape (m,)."""
    actions: NDArray[np.int32]
    """What was done there, in the frame of the seat, shape (m,)."""
    number: int
    """Number of the move in its game, the deal left aside."""


def read_games(folder: str | Path) -> list[ReplayableGame]:
    """The games of a folder of transcripts of Avalon, in the order of their names.

    Raises:
        ParlourError: A file is no transcript of Avalon, or begins with another move than a deal.
    """
    games = []
    for number, path in enumerate(replay.Transcript.files(folder)):
        transcript = replay.Transcript.read(path)
        if transcript.header["game"] != GAME:
            raise ParlourError(f"{str(path)!r} is a game of {transcript.header['game']}; accepted: {GAME}")
        games.append(_read(transcript, number, path))
    return games


def _read(transcript: Transcript, number: int, path: Path) -> ReplayableGame:
    made = [(k, entry) for k, entry in enumerate(transcript.entries) if entry.move is not None]
    seats = [entry.seat == NATURE for _, entry in made]
    if not seats or not seats[0] or any(seats[1:]):
        raise ParlourError(f"{str(path)!r} has moves of nature after the deal; accepted: games without them")
    lines, assumed = transcript.lines, transcript.assumed_moves()
    deal, *moves = (Move(*entry.move[:2]) for _, entry in made if entry.move is not None)
    own = [
        not entry.replaced and not (lines and "by" in lines[k]) and at not in assumed
        for at, (k, entry) in enumerate(made)
    ]
    return ReplayableGame(number, dict(transcript.header["config"]), deal.args, tuple(moves), tuple(own[1:]))


def replayed(games: Sequence[ReplayableGame], features: str) -> Iterator[RecordedTurn]:
    """Play games of one configuration again, turn after turn; the arrays are used again by the next turn.

    Raises:
        ParlourError: A game makes a move that is not legal, or the table has no kernels.
    """
    for start in range(0, len(games), _TABLES):
        block = games[start : start + _TABLES]
        tables = batch.make(GAME, num_envs=len(block), features=features, autoreset=None, **block[0].config)
        yield from _block(tables, block)


def _block(tables: Any, games: Sequence[ReplayableGame]) -> Iterator[RecordedTurn]:
    numbers = {move: number for number, move in enumerate(tables.game.catalogue)}
    own, count = tables.frame.own, len(games)
    tables.reset([game.number for game in games])
    turns = tables.deal(np.array([game.deal for game in games]))
    which = np.array([game.number for game in games], np.int32)
    for at in range(max(len(game.moves) for game in games)):
        actions = np.full(count, HOLD, np.int32)
        chosen = np.zeros(count, np.bool_)
        for b, game in enumerate(games):
            if at < len(game.moves):
                actions[b] = own[turns.actor[b], numbers[game.moves[at]]]
                chosen[b] = game.own[at]
        rows = np.flatnonzero(chosen & (turns.mask.sum(axis=1) > 1)).astype(np.int32)
        if len(rows):
            yield RecordedTurn(tables, turns, rows, which[rows], actions[rows], at)
        turns = tables.step(actions)
