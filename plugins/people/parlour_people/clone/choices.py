"""The decisions of recorded games of Avalon: each with its legal moves in numbers, what was chosen, and rules of thumb; and settings.

All numbers come from the View that the seat had (`policies/cloned`), never from a state. A statement in words counts as the
speeches that say the same of one seat, in equal shares, or as silence. Decisions with one legal move, and moves that
nobody made himself (the table's, a heuristic's, those that an importer assumed), are no choices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Move, ParlourError
from parlour.envs.replay import Transcript
from parlour.envs.settings import Settings
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.runs.progress import Stage, no_progress
from pydantic import Field

from parlour_people.cloned.features import SPEECH, decision_of, described, group_of
from parlour_people.cloned.record import SeatRecord, acts_of
from parlour_people.multi_round.player import MultiRoundPlayer
from parlour_people.multi_round.rules import CONSULT

Method = Literal["choice", "networks"]


class CloneConfig(Settings):
    """How a clone is learned and tested."""

    folds: int = Field(default=5, ge=2)
    """Number of folds of the games; each is held out once."""
    hidden: int = Field(default=16, ge=0)
    """Hidden units of each of the averaged networks; 0: a plain logistic model."""
    members: int = Field(default=4, ge=2)
    """Number of averaged networks; each stops early on another part of the training games."""
    steps: int = Field(default=240, ge=1)
    """Most training steps."""
    seed: int = Field(default=0, ge=0)
    """The same seed gives the same result."""
    method: Method = "choice"
    """`choice`: one choice model for all tables, cross-validated; `networks`: one network for each number of players, without talk,
    which plays over arrays."""
    held_out: float = Field(default=0.2, gt=0, lt=1)
    """Networks: share of the games, the last by name, that are held out."""
    epochs: int = Field(default=40, ge=1)
    """Networks: passes over the games."""


Rows = np.ndarray[Any, np.dtype[np.float32]]

DRAWS: Final = {game.BALLOT: 100, game.CARD: 100, game.TEAM: 40, game.GUESS: 20, SPEECH: 20}
"""How often the heuristic is asked at each decision of a kind."""


@dataclass(frozen=True, eq=False)
class ImitatedChoice:
    """One decision."""

    game: int
    """Number of the game in its folder."""
    kind: str
    """Which head decides it: one of `DECISIONS`."""
    what: str
    """What it is called in tables: the kind, or `CONSULT`, which the head `guess` decides."""
    role: str
    group: int
    """Number in `GROUPS`."""
    players: int
    rows: Rows
    """The legal moves in numbers, shape (moves, columns)."""
    taken: NDArray[np.float64]
    """Shares of what was done, shape (moves,); they sum to 1."""
    heuristic: NDArray[np.float64]
    """How often the heuristic did each of them, of `DRAWS`, shape (moves,); it sums to 1."""
    sorts: np.ndarray[Any, np.dtype[np.intp]]
    """Sort of each move, shape (moves,): approve or reject; with the leader on the team or without; success or fail;
    a seat known to be evil, another one or nobody; the act of a speech."""


def read_choices(folder: str | Path, seed: int, progress: Callable[..., None] = no_progress) -> list[ImitatedChoice]:
    """The choices of all games of a folder of transcripts, by name.

    Args:
        folder: With `*.jsonl`.
        seed: Seed of the heuristic.
        progress: Called with the number of games read.

    Raises:
        ParlourError: A file is no transcript of Avalon, or there is nothing to learn from.
    """
    choices: list[ImitatedChoice] = []
    paths = Transcript.files(folder)
    for number, path in enumerate(Stage("Reading games", len(paths), "games").counted(paths, progress)):
        choices += choices_of(AnalysedGame.read(path), number, seed)
    if not choices:
        raise ParlourError(
            f"{str(folder)!r} holds no decision; accepted: transcripts of games of Avalon that were played"
        )
    return choices


def choices_of(played: AnalysedGame, number: int, seed: int) -> Iterator[ImitatedChoice]:
    """The choices of one game, in order. `number` is what they call the game, and part of the seed of the draws."""
    seats: dict[int, tuple[SeatRecord, MultiRoundPlayer]] = {}
    assumed, lines = played.transcript.assumed_moves(), played.transcript.lines
    made = [(k, entry) for k, entry in enumerate(played.transcript.entries) if entry.move is not None]
    own = [not (entry.replaced or (lines and "by" in lines[k])) for k, entry in made]  # made by the seat itself
    for moment in played.moments():
        view = moment.view
        if view.seat not in seats:
            rng = np.random.default_rng((seed, number, view.seat))
            seats[view.seat] = SeatRecord(view), MultiRoundPlayer(view, rng)
        if own[moment.number] and moment.number not in assumed and len(view.legal) > 1:
            yield _choice(number, view, moment.move, *seats[view.seat])


def _choice(number: int, view: AvalonView, move: Move, seen: SeatRecord, heuristic: MultiRoundPlayer) -> ImitatedChoice:
    """A decision by what the seat has seen, with the heuristic in its place."""
    seen.read(view)
    kind = decision_of(view.legal)
    taken = acts_of(move, view.seat, len(view.roles), view.legal) if kind == SPEECH else (move,)
    shares = np.zeros(len(view.legal))
    for act in taken:
        shares[view.legal.index(Move(act.kind, act.args))] += 1 / len(taken)
    rows = described(view, seen).astype(np.float32)
    drawn = Counter(heuristic.act(view) for _ in range(DRAWS[kind]))
    return ImitatedChoice(
        number,
        kind,
        move.kind if move.kind == CONSULT else kind,
        view.role,
        group_of(view),
        len(view.roles),
        rows,
        shares,
        np.array([drawn[option] / DRAWS[kind] for option in view.legal]),
        _sorts(view, seen),
    )


def _sorts(view: AvalonView, seen: SeatRecord) -> np.ndarray[Any, np.dtype[np.intp]]:
    kind = decision_of(view.legal)
    if kind == game.TEAM:
        return np.array([int(view.seat in move.args) for move in view.legal])
    if kind == game.GUESS:
        known = seen.own.evil_chance() > 0.999
        return np.array([int(known[move.args[0]]) if move.args else 2 for move in view.legal])
    if kind == SPEECH:
        return np.array([game.ACTS.index(move.kind) for move in view.legal])
    return np.array([move.args[0] for move in view.legal])


def by_kind(choices: Sequence[ImitatedChoice]) -> Mapping[str, list[ImitatedChoice]]:
    """The choices of each head, in order."""
    kinds = dict.fromkeys(choice.kind for choice in choices)
    return {kind: [choice for choice in choices if choice.kind == kind] for kind in kinds}
