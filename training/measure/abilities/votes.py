"""What a seat's words do to the votes of the others: each vote, beside the vote if the seat had been silent before the proposal.

    effect  =  1 if the words won the vote for the speaker's side, -1 if they lost it, 0 if it is the same vote without them

A vote for the speaker's side approves a team that suits it, clean for a good seat and with an evil member for an evil one, or rejects
another team. The game is played again from its seed up to the vote, with the policy of the voter. Then the voter decides with the
same draws, once with the words that the seat spoke since the last vote and once without them. Only voters whose moves follow from
what they saw and their seed can be played again: heuristics, trained networks and random players. Others do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Move
from parlour.policies import Policy, asks_a_model, make_policy
from parlour.policies.heuristic import HeuristicPolicy
from parlour.policies.mixture import MixedPolicy
from parlour.policies.random import RandomPolicy
from parlour.policies.trained import TrainedSeat
from parlour.training.measure.abilities.beliefs import mean_by_game
from parlour.training.measure.abilities.moments import is_players, who_sat
from parlour.training.measure.analysis.games import AnalysedGame
from parlour.training.measure.statistics import Estimate

_SILENCE = Move(speech.SILENT)


class VoteEffect(NamedTuple):
    """What the words of a seat of the player did to a vote of another seat."""

    speaker: int
    voter: int
    evil: bool
    """Whether the speaker is evil."""
    effect: int
    """1, 0 or -1."""


@dataclass(frozen=True)
class VotesWon:
    """Votes that words won minus votes that they lost, as a share of the votes that could be played again."""

    good: Estimate | None
    """Good speakers; None without a vote that could be played again."""
    evil: Estimate | None
    changed: Estimate | None
    """Share of votes that are different without the words, both sides together."""


def votes_won(games: Sequence[AnalysedGame], rng: np.random.Generator) -> VotesWon:
    """The effects of the player's words in some games.

    Args:
        games: Games of a benchmark.
        rng: Draws games for the intervals.
    """
    by_game = [list(vote_effects(game)) for game in games]
    good, evil = ([[vote.effect for vote in of if vote.evil == side] for of in by_game] for side in (False, True))
    changed = [[float(vote.effect != 0) for vote in of] for of in by_game]
    return VotesWon(*(mean_by_game(of, rng) for of in (good, evil, changed)))


def vote_effects(played: AnalysedGame) -> Iterator[VoteEffect]:
    """The effects on each vote, one for each other seat of the player that spoke before it."""
    for ballot in replayed_votes(played):
        view, vote = ballot.view, ballot.move == game.APPROVE
        suits_evil = bool(played.evil & set(view.team))
        for speaker in _speakers(played, view):
            without = ballot.again(_silenced(view, speaker)) == game.APPROVE
            evil = speaker in played.evil
            towards = 1 if suits_evil == evil else -1
            yield VoteEffect(speaker, view.seat, evil, towards * (int(vote) - int(without)))


@dataclass(frozen=True)
class ReplayedVote:
    """A vote of a seat whose policy was played again up to it, and voted as it is recorded."""

    view: AvalonView
    move: Move
    voter: _Voter
    draws: Mapping[str, Any]
    """State of the voter's generator before the vote."""

    def again(self, view: AvalonView) -> Move:
        """The vote of the same seat, with the same draws, if it had seen something else."""
        twin = self.voter.twin
        twin.reset(view.seat, self.voter.seed)
        twin.rng.bit_generator.state = self.draws
        return self.voter.decided(twin, view)


def replayed_votes(played: AnalysedGame) -> Iterator[ReplayedVote]:
    """The votes of a game that can be played again, in order.

    A seat counts up to the first of its moves that is not the recorded one: another policy chose that move.
    """
    voters = {seat: _Voter(played, seat) for seat in range(played.seats) if not asks_a_model(who_sat(played, seat))}
    voters = {seat: voter for seat, voter in voters.items() if voter.follows_from_view}
    for moment in played.moments():
        voter = voters.get(moment.view.seat)
        if voter is None:
            continue
        draws = voter.policy.rng.bit_generator.state
        if voter.decided(voter.policy, moment.view) != moment.move._replace(words=""):
            del voters[moment.view.seat]
        elif moment.move.kind == game.BALLOT:
            yield ReplayedVote(moment.view, moment.move, voter, draws)


class _Voter:
    """The policy of a seat, and another of the same kind to ask what it would do elsewhere."""

    def __init__(self, game: AnalysedGame, seat: int) -> None:
        self.seed = int(game.transcript.header["seed"])
        self._catalogue = game.rules.catalogue
        self._number = {move: number for number, move in enumerate(self._catalogue)}
        self._heuristic = game.transcript.spec.heuristic
        self.policy, self.twin = (self._seated(game, seat) for _ in range(2))

    def _seated(self, game: AnalysedGame, seat: int) -> Policy:
        policy = make_policy(who_sat(game, seat), game.transcript.header["game"], dict(game.rules.config))
        policy.reset(seat, self.seed)
        return policy.player if isinstance(policy, MixedPolicy) else policy

    @property
    def follows_from_view(self) -> bool:
        """Whether what the seat saw and its draws decide its moves."""
        return isinstance(self.policy, HeuristicPolicy | TrainedSeat | RandomPolicy)

    def decided(self, policy: Policy, view: AvalonView) -> Move:
        legal = [self._number[move] for move in view.legal]
        info = {"view": view, "legal": legal, "heuristic": self._heuristic, "features": ""}
        return self._catalogue[int(policy.act({}, info))]


def _speakers(played: AnalysedGame, view: AvalonView) -> list[int]:
    """The player's seats that spoke since the last vote, without the voter."""
    said = [event for event in view.events[_begin(view) :] if event.move.kind in game.ACTS]
    spoke = {event.seat for event in said if event.move.kind != speech.SILENT or event.move.words}
    return [seat for seat in sorted(spoke) if seat != view.seat and is_players(played, seat)]


def _begin(view: AvalonView) -> int:
    """Where the events after the last vote begin."""
    return max((k + 1 for k, event in enumerate(view.events) if event.move.kind == game.VOTES), default=0)


def _silenced(view: AvalonView, speaker: int) -> AvalonView:
    """The View with silence for what a seat said since the last vote."""
    begin = _begin(view)
    events = [
        event._replace(move=_SILENCE) if event.seat == speaker and event.move.kind in game.ACTS else event
        for event in view.events[begin:]
    ]
    return view._replace(events=(*view.events[:begin], *events))
