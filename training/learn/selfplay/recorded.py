"""Recorded games as decisions to imitate: the transcripts of a folder, played again by the rules.

What was said in a published game that was imported without its log is not known: nobody imitates that silence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parlour.envs import replay
from parlour.envs.batch.tables import BatchTables
from parlour.envs.core import NATURE, OVER, TABLE, Move, ParlourError
from parlour.envs.speech import ACTS
from parlour.training.learn.selfplay.collect import Experience


def decisions(folder: Path, tables: BatchTables) -> tuple[Experience, int]:
    """All decisions of the finished games of a folder, one game after the other, and how many games they are.

    Args:
        folder: Folder of transcripts.
        tables: Tables of the imitating network: game, configuration and features.

    Raises:
        ParlourError: No finished game of this configuration is among them, or a transcript cannot be read.
    """
    rows: list[_Decision] = []
    games = 0
    for path in replay.transcript_files(folder):
        transcript = replay.read(path)
        finished = replay.finished(transcript, tables.spec.id)
        if finished is None or dict(finished[0].config) != dict(tables.game.config):
            continue
        rows += _of_game(finished[0], finished[1], transcript, tables)
        games += 1
    if not games:
        raise ParlourError(
            f"{str(folder)!r} holds no finished game of {tables.spec.id} with {dict(tables.game.config)}"
        )
    count = len(rows)
    return (
        Experience(
            np.array([row.observation for row in rows], np.float32),
            np.array([row.hidden for row in rows], np.float32),
            np.array([row.mask for row in rows], np.uint8),
            np.array([row.action for row in rows], np.int64),
            np.zeros(count, np.float32),
            np.arange(count, dtype=np.int32)[:, None],
            np.array([[row.seat] for row in rows], np.int32),
            np.array([[row.rewards] for row in rows], np.float32),
            np.array([[row.last] for row in rows], np.uint8),
        ),
        games,
    )


class _Decision:
    """One move of a seat, in its frame."""

    def __init__(self, tables: BatchTables, view: Any, move: Move, observation: Any, roles: NDArray[np.int64]) -> None:
        n, self.seat = tables.seats, view.seat
        own = tables.frame.own[self.seat]
        numbers = {move: k for k, move in enumerate(tables.game.catalogue)}
        self.observation = observation
        self.mask = np.zeros(tables.actions, np.uint8)
        self.mask[[own[numbers[Move(move.kind, move.args)]] for move in view.legal]] = 1
        self.action = int(own[numbers[Move(move.kind, move.args)]])
        turned = any((order != tables.frame.order[0]).any() for order in tables.frame.order)
        of = roles[(np.arange(n) + self.seat) % n] if turned else roles
        self.hidden = (of[:, None] == np.arange(tables.hidden_size // n)).ravel()
        self.rewards = [0.0] * n
        self.last = 0


def _of_game(game: Any, states: list[Any], transcript: replay.Transcript, tables: BatchTables) -> list[_Decision]:
    spec, seats = tables.spec, range(tables.seats)
    table_wide = tables.features == TABLE
    encoders = [spec.encoder(game) if table_wide else spec.seat_encoder(game, tables.features) for _ in seats]
    labels = list(getattr(game, "role_names", spec.sides))
    views = [game.view(states[-1], seat) for seat in seats]
    roles = np.array([labels.index(getattr(view, "role", "") or view.side) for view in views])
    rows = []
    for state, move in zip(states, transcript.moves, strict=False):
        seat = game.actor(state)
        if seat in (NATURE, OVER) or (move.kind in ACTS and not transcript.heard):
            continue
        view = game.view(state, seat)
        rows.append(_Decision(tables, view, move, encoders[seat](view), roles))
    if rows and transcript.outcome is not None:
        rows[-1].rewards, rows[-1].last = list(transcript.outcome.returns), 1
    return rows
