"""The loss of a decision: the best legal move's value minus the value of the move made, given the seat's knowledge.

The value of a guess is exact: the seat's own probability that the one named is Merlin, who decides the game then. The
value of a vote or a card is the share of games that the seat's side wins when play continues from there: deals are drawn from
the seat's own belief (its information set, not the true deal), the game is played again up to the vote or the quest under
each, all others vote and play cards as the players of the continuation do, and only this one decision is held. All
moves that are compared meet the same deals and the same random numbers. Continuations are played by the heuristic, or by
the table's expert (docs/explanation/experts.md) where there is one.

To bound the time, only these are valued: every guess, every card of an evil seat, and in each game the votes of greatest
surprise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np
from parlour.envs.avalon import vocabulary as said
from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits
from parlour.envs.avalon.state import QUEST, VOTE, AvalonState
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import NATURE, OVER, IllegalMove, Move, ParlourError, accept
from parlour.policies.experts import expert
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.policies.trained import TrainedSeat
from parlour.training.measure.analysis import decisions as made
from parlour.training.measure.analysis.beliefs import opening_belief, take_in
from parlour.training.measure.analysis.decisions import Decision
from parlour.training.measure.analysis.games import GAME, AnalysedGame
from parlour.training.play import seeds

NONE: Final = "none"
EXPERT: Final = "expert"
ROLLOUTS: Final = "rollouts"
CONTINUATIONS: Final = 16
_TRIES: Final = 20
"""Draws of a deal that fits what the seat saw, for each continuation."""

Play = Callable[[AvalonView], Move]
Seat = Callable[[AvalonView, int], Play]
"""From the View at which play continues and a seed, the policy of a seat."""


@dataclass(frozen=True)
class DecisionValue:
    """What could have been gained by a decision; values are the side's chance to win, 0..1."""

    number: int
    """Number of the move, as in `Decision`."""
    value: float
    """Value of the move made."""
    best: float
    """Value of the best legal move."""
    best_move: Move
    continuations: int
    """Played for each move; 0 where the value is exact."""
    error: float
    """Standard error of the difference, by its continuations; 0 where it is exact."""

    @property
    def loss(self) -> float:
        """How much the decision lost, 0..1."""
        return self.best - self.value


def read_values(text: str) -> tuple[str, int]:
    """How decisions are valued: the players, and the number of continuations. Raises `ParlourError` for anything else.

    >>> read_values("rollouts=32"), read_values("none")
    (('rollouts', 32), ('none', 0))
    """
    kind, equals, number = text.partition("=")
    if kind == NONE and not equals:
        return NONE, 0
    count = int(number) if number.isdecimal() and len(number) < 7 else 0
    if kind not in (EXPERT, ROLLOUTS) or (equals and not count):
        raise accept("values", text, f"{NONE}, {EXPERT}, {EXPERT}=N, {ROLLOUTS}, {ROLLOUTS}=N, N from 1")
    return kind, count or CONTINUATIONS


def players_for(game: AnalysedGame, kind: str, habits: AvalonHabits) -> tuple[str, Seat]:
    """Who plays on, by name: the table's expert if that is asked for and there is one, else the heuristic."""
    if kind == EXPERT:
        with suppress(ParlourError):
            return EXPERT, partial(_by_network, expert(GAME, dict(game.rules.config)))
    return "heuristic", _Heuristics(habits)


class _Heuristics:
    """Heuristics that play on from a moment; those who have seen the same read it once."""

    def __init__(self, habits: AvalonHabits) -> None:
        self._habits = habits
        self._readers: dict[Any, AvalonPlayer] = {}

    def __call__(self, view: AvalonView, seed: int) -> Play:
        private = tuple(event for event in view.events if event.to is not None)
        key = (len(view.events), view.seat, view.role, view.knows, private)
        if key not in self._readers:
            self._readers[key] = AvalonPlayer(view, np.random.default_rng(0), self._habits)
            self._readers[key].read(view)
        return self._readers[key].copied(np.random.default_rng(seed)).act


def _by_network(network: TrainedSeat, view: AvalonView, seed: int) -> Play:
    """A seat of the network, which draws from its probabilities."""
    own = type(network)(
        network.game,
        network.config,
        network.layers,
        features=network.features,
        activation=network.activation,
        sample=True,
    )
    own.reset(view.seat, seed)

    def act(now: AvalonView) -> Move:
        return now.legal[own.act({}, {"view": now, "legal": range(len(now.legal))})]

    return act


@dataclass(frozen=True)
class Valuing:
    """How the decisions of a game are valued."""

    game: AnalysedGame
    habits: AvalonHabits
    seat: Seat
    """Who plays on."""
    continuations: int
    votes: int
    """The most surprising votes of a game that are valued."""
    seed: int

    def values(self, decisions: Sequence[Decision]) -> Iterator[DecisionValue]:
        """The values of the decisions that are valued, in the order of the game."""
        chosen = self._chosen(decisions)
        for decision in decisions:
            if decision.kind == made.GUESS and decision.move.args:
                yield self._of_a_guess(decision)
            elif decision.number in chosen:
                value = self._by_playing_on(decision)
                if value is not None:
                    yield value

    def _chosen(self, decisions: Sequence[Decision]) -> set[int]:
        """The votes of greatest surprise, of equal ones the earlier; and all cards that were a choice of an evil seat."""
        votes = sorted(made.choices_of(decisions, made.VOTE), key=lambda choice: (-(choice.bits or 0.0), choice.number))
        cards = [choice for choice in made.choices_of(decisions, made.CARD) if choice.seat in self.game.evil]
        return {vote.number for vote in (*votes[: self.votes], *cards)}

    def _of_a_guess(self, decision: Decision) -> DecisionValue:
        belief = self._belief(self.game.states[decision.number], decision.seat)
        chance = belief.merlin_chance()
        legal = [move for move in self.game.states[decision.number].options.legal if move.args]
        best = max(legal, key=lambda move: chance[move.args[0]])
        return DecisionValue(decision.number, chance[decision.move.args[0]], chance[best.args[0]], best, 0, 0.0)

    def _belief(self, state: AvalonState, seat: int) -> AvalonBelief:
        belief = opening_belief(self.game, seat, self.habits)
        for event in self.game.rules.view(state, seat).events:
            take_in(belief, event)
        return belief

    # -- playing on ----------------------------------------------------------------------------------------------

    def _by_playing_on(self, decision: Decision) -> DecisionValue | None:
        """None if no deal could be drawn that fits what the seat saw."""
        start = self._start(decision.number)
        belief = self._belief(self.game.states[start], decision.seat)
        rng = np.random.default_rng(seeds.derive(self.seed, decision.number))
        drawn = [self._redealt(start, decision.seat, belief, rng) for _ in range(self.continuations)]
        begun = [state for state in drawn if state is not None]
        if not begun:
            return None
        legal = [Move(move.kind, move.args) for move in self.game.states[decision.number].options.legal]
        wins = np.array([self._won(state, decision, legal, number) for number, state in enumerate(begun)]).T
        means = wins.mean(axis=1)
        at, best = legal.index(Move(decision.move.kind, decision.move.args)), int(means.argmax())
        apart = wins[best] - wins[at]
        error = float(apart.std(ddof=1) / len(apart) ** 0.5) if len(apart) > 1 else 0.0
        return DecisionValue(decision.number, float(means[at]), float(means[best]), legal[best], len(begun), error)

    def _start(self, number: int) -> int:
        """The first move of the vote, or of the quest, to which a move belongs: what came since was secret."""
        states, phase = self.game.states, self.game.states[number].phase
        while states[number - 1].phase == phase and phase in (VOTE, QUEST):
            number -= 1
        return number

    def _redealt(self, start: int, seat: int, belief: AvalonBelief, rng: np.random.Generator) -> AvalonState | None:
        """The game up to a move under a deal that the seat may hold for true; None if none is found."""
        game = self.game
        seen = game.rules.view(game.states[start], seat).events
        for _ in range(_TRIES):
            roles = belief.drawn_roles(rng)
            state = self._replayed(start, seat, roles, rng)
            if state is not None and game.rules.view(state, seat).events == seen:
                return state
        return None

    def _replayed(self, start: int, seat: int, roles: Sequence[str], rng: np.random.Generator) -> AvalonState | None:
        """The moves up to one under other roles: fails of a quest fall to the evil seats that there are then."""
        rules, moves = self.game.rules, self.game.transcript.moves
        evil = [role in said.EVIL_ROLES for role in roles]
        state, cards = rules.initial(), dict[int, Move]()
        for number in range(start):
            move = moves[number]
            if move.kind == said.DEALT:
                move = Move(said.DEALT, (*map(rules.role_names.index, roles), move.args[-1]))
            elif move.kind == said.CARD:
                if self.game.states[number].turn == 0:
                    cards = self._cards(number, seat, evil, rng)
                move = cards[number]
            try:
                state = rules.apply(state, move)
            except IllegalMove:
                return None
        return state

    def _cards(self, first: int, seat: int, evil: Sequence[bool], rng: np.random.Generator) -> dict[int, Move]:
        """The cards of a quest: the seat's own, and as many fails as there were among the evil ones of the others."""
        game = self.game
        team = game.states[first].team
        played = {first + k: (member, game.transcript.moves[first + k]) for k, member in enumerate(team)}
        fails = sum(move == said.FAIL for member, move in played.values() if member != seat)
        others = [number for number, (member, _) in played.items() if member != seat]
        fallible = [number for number in others if evil[played[number][0]]]
        falls = set(rng.permutation(fallible)[:fails].tolist())
        return {
            number: move if member == seat else (said.FAIL if number in falls else said.SUCCESS)
            for number, (member, move) in played.items()
        }

    def _won(self, start: AvalonState, decision: Decision, moves: Sequence[Move], number: int) -> list[float]:
        """For each move with which the seat may begin, 1 if its side wins from a state, else 0."""
        rules = self.game.rules
        views: list[Any] = [rules.view(start, seat) for seat in range(self.game.seats)]
        seed = seeds.derive(self.seed, decision.number, number)
        drawn = [seeds.derive(seed, seat) for seat in range(self.game.seats)]
        return [self._outcome(start, decision.seat, move, views, drawn, seed) for move in moves]

    def _outcome(
        self,
        state: AvalonState,
        mine: int,
        move: Move,
        views: Sequence[AvalonView],
        drawn: Sequence[int],
        seed: int,
    ) -> float:
        """1 if the side of a seat wins when it makes a move first and all play on, else 0."""
        rules, players = self.game.rules, dict[int, Play]()
        rng = np.random.default_rng(seed)
        waiting: Move | None = move
        while state.actor != OVER:
            seat = state.actor
            if seat == NATURE:
                state = rules.apply(state, rules.nature(state, rng))
            elif waiting is not None and seat == mine:
                state, waiting = rules.apply(state, waiting), None
            else:
                if seat not in players:
                    players[seat] = self.seat(views[seat], drawn[seat])
                view: Any = rules.view(state, seat)
                state = rules.apply(state, players[seat](view))
        outcome = rules.outcome(state)
        assert outcome is not None
        return float(outcome.returns[mine] > 0)
