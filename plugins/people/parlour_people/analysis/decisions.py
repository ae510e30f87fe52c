"""Each decision of a recorded game: how surprising it is under habits, and what the heuristic does at the same View.

Surprise is -log2 of the likelihood that habits give the decision, for what the seat itself knew: its role, its night,
and its belief after all that it had seen: the mean over the deals, by the seat's own belief, of what the habits say about it
(`AvalonBelief.own_chances`). For a team fixed rates tell only whether it is clean, learned conduct which of all it is. For a
guess it is the seat's own probability that the one named is Merlin.

Right is a good seat's vote that approves a team without an evil member or rejects one with, and a guess that names
Merlin. Other decisions are neither right nor wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2
from typing import Any, Final

import numpy as np
from parlour.envs.avalon import vocabulary as said
from parlour.envs.avalon.habits import AvalonHabits
from parlour.envs.core import Move
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.play import seeds

from parlour_people.multi_round.player import MultiRoundPlayer, take_gathering

TEAM, VOTE, CARD, GUESS, SPEECH = "team", "vote", "card", "guess", "speech"
_LEAST: Final = 1e-12
_CALLED: Final[Mapping[str, str]] = {said.TEAM: TEAM, said.BALLOT: VOTE, said.CARD: CARD, said.GUESS: GUESS}


@dataclass(frozen=True)
class Decision:
    """What a seat did, and what could be known about it."""

    number: int
    """Number of the move, as in `Moment`."""
    seat: int
    role: str
    side: str
    kind: str
    """`TEAM`, `VOTE`, `CARD`, `GUESS` or `SPEECH`."""
    move: Move
    ours: Move
    """The heuristic's move at the same View, with the same habits."""
    quest: int
    """0-4."""
    proposal: int
    """Proposals of this quest that count, this one among them."""
    team: tuple[int, ...]
    """The team that is proposed, voted on, or on the quest; empty without one."""
    clean: float | None
    """How likely the seat thought that team to be clean before it decided; None without a team."""
    bits: float | None
    """Surprise; None where habits say nothing, 0 where there was no choice."""
    choices: int
    """Legal moves; 1 where a vote or a card could change nothing."""
    right: bool | None
    """None where a decision is neither right nor wrong."""
    ours_right: bool | None
    chance: float | None = None
    """For a guess: the probability that a random good seat is Merlin."""


def decisions_of(game: AnalysedGame, habits: AvalonHabits, seed: int = 0) -> tuple[Decision, ...]:
    """All decisions of the seats, in order.

    Args:
        game: The game.
        habits: Habits behind the beliefs, the surprise and the heuristic.
        seed: The heuristic draws from it, wherever it draws.
    """
    followers: dict[int, _Follower] = {}
    decisions = []
    for moment in game.moments():
        seat = moment.view.seat
        if seat not in followers:
            followers[seat] = _Follower(game, seat, habits, seeds.derive(seed, seat))
        decisions.append(followers[seat].decision(moment))
    return tuple(decisions)


class _Follower:
    """Follows one seat through a game, as its own belief and as a heuristic in its place."""

    def __init__(self, game: AnalysedGame, seat: int, habits: AvalonHabits, seed: int) -> None:
        self._game, self._habits, self._seat = game, habits, seat
        self._belief = game.opening_belief(seat, habits)
        self._rng = np.random.default_rng(seed)
        self._player: MultiRoundPlayer | None = None
        self._seen = 0

    def decision(self, moment: Any) -> Decision:
        """What the seat did at a moment; moments come in order."""
        view, move = moment.view, moment.move
        for event in view.events[self._seen :]:
            self._belief.see(event.seat, *event.move)
            take_gathering(self._belief, event.move)
        self._seen = len(view.events)
        if self._player is None:
            self._player = MultiRoundPlayer(view, self._rng, self._habits)
        ours = self._player.act(view)
        kind = _CALLED.get(move.kind, SPEECH)
        team = move.args if kind == TEAM else view.team
        idle = kind == VOTE and view.counted >= view.limit and not view.last_rejection_loses
        choices = 1 if idle else len(view.legal)
        return Decision(
            number=moment.number,
            seat=self._seat,
            role=view.role,
            side=view.side,
            kind=kind,
            move=move,
            ours=ours,
            quest=view.quest,
            proposal=view.counted + (kind == TEAM),
            team=team,
            clean=self._belief.clean_chance(team) if team else None,
            bits=0.0 if choices == 1 else self._surprise(kind, move),
            choices=choices,
            right=self._right(kind, move, choices, view.team),
            ours_right=self._right(kind, ours, choices, view.team),
            chance=1 / (self._game.seats - len(self._game.evil)) if kind == GUESS and move.args else None,
        )

    def _right(self, kind: str, move: Move, choices: int, team: tuple[int, ...]) -> bool | None:
        game = self._game
        if kind == GUESS:
            return move.args == (game.merlin,) if move.args else None
        if kind != VOTE or choices == 1 or self._seat in game.evil:
            return None
        return bool(move.args[0]) != bool(game.evil.intersection(team))

    # -- surprise ----------------------------------------------------------------------------------------------

    def _surprise(self, kind: str, move: Move) -> float | None:
        belief = self._belief
        if kind == GUESS:
            likely = float(belief.merlin_chance()[move.args[0]]) if move.args else None
        else:
            chances = belief.own_chances(move.kind, move.args)
            likely = None if chances is None else float(belief.weights @ chances)
        return None if likely is None else abs(log2(min(max(likely, _LEAST), 1.0)))
