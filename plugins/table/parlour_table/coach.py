"""Hints for a person at a table: what the exact belief says, what a strong player would do and why; and what cost most.

Hints rest on the View of the seat alone. The review of a finished game knows all cards: at each decision it plays the
rest of the game from the move that was made and from the adviser's move, many times, with the heuristic at every seat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from operator import itemgetter
from typing import Any, Final

import numpy as np
from parlour.envs.common import dotted
from parlour.envs.core import NATURE, OVER, Move, ParlourError, View
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.language.entries import TextAction
from parlour.envs.spec import GameSpec
from parlour.policies import Policy, make_policy
from parlour.policies.experts.catalogue import strongest
from parlour.policies.trained import TrainedSeat
from parlour.policies.voice.evidence import Mind
from parlour.policies.voice.phrases import SeatPhrases
from parlour.policies.voice.spoken import mind_of

from parlour_table.board import board_of
from parlour_table.outlook import outlook

FIRST, MORE = 12, 48
"""Games that are played from each move of a decision, and from those that seem to have cost most."""
SHOWN: Final = 3
LIKELY: Final = 0.05
"""Least probability of a move of the expert that is shown."""
NOBODY: Final = "no player comes with this game that could give hints; they need an expert, or a heuristic"


def adviser_of(spec: GameSpec, config: Mapping[str, Any]) -> tuple[str, Policy | None]:
    """The strongest player of a table, by name: its expert, the strongest player named for its game, its heuristic; or nobody."""
    chosen = strongest(spec, config)
    return (chosen, make_policy(chosen, spec.id, config)) if chosen else ("", None)


@dataclass(frozen=True)
class SeatHint:
    """What the belief says about a seat."""

    seat: str
    percent: int
    """Probability that it is evil."""
    because: str
    """The fact of the record that moved the belief most towards this probability; empty if none did."""


@dataclass(frozen=True)
class Hint:
    """The coach's advice at a turn. Plain values in JSON."""

    seats: tuple[SeatHint, ...] = ()
    """The other seats; to a player of the evil side, who knows its own, all seats as an onlooker sees them (`looks`)."""
    by: str = ""
    """The adviser's name."""
    best: str = ""
    """What it would do, in the game's words."""
    why: str = ""
    others: tuple[str, ...] = ()
    """Its other moves, each with its probability."""
    note: str = ""
    """Why there is no hint."""
    looks: bool = False

    def as_json(self) -> dict[str, Any]:
        """For a browser."""
        return asdict(self)

    def lines(self) -> list[str]:
        """For a terminal."""
        says = "looks evil" if self.looks else "evil"
        seats = [
            f"  {seat.seat}: {says} with {seat.percent} %{f' ({seat.because})' if seat.because else ''}"
            for seat in self.seats
        ]
        why = f" ({self.why})" if self.why else ""
        best = [f"  {self.by} would choose: {self.best}{why}"] if self.best else []
        others = [f"  also: {', '.join(self.others)}"] if self.others else []
        return ["Coach:", *seats, *best, *others, *([f"  {self.note}"] if self.note else [])]


class Coach:
    """Hints for one seat of one game.

    Args:
        env: The table.
        seat: The seat.
    """

    def __init__(self, env: Any, seat: int) -> None:
        self._spec, self._text, self.seat = env.spec, env.text, seat
        self.by, self._adviser = adviser_of(env.spec, env.game.config)
        self._mind: Mind[Any] | None = None
        self._phrases = SeatPhrases(np.random.default_rng(seat), seat)

    def reset(self, seed: int) -> None:
        """A new game begins."""
        self._mind = None
        if self._adviser is not None:
            self._adviser.reset(self.seat, seed)

    def hint(self, observation: Any, info: Mapping[str, Any]) -> Hint:
        """The hint at the seat's turn; arguments as of `Policy.act`."""
        view: View = info["view"]
        mind = self._mind_of(view)
        looks = mind is not None and mind.deceives(view)
        seats = () if mind is None else self._seats(mind, looks=looks)
        if self._adviser is None:
            return Hint(seats, note=NOBODY, looks=looks)
        move = chosen(self._adviser, observation, info)
        if move is None:
            return Hint(seats, note=f"{self.by} has no move to recommend here", looks=looks)
        return Hint(
            seats,
            self.by,
            self._text.say(Move(move.kind, move.args)),
            "" if mind is None else outlook(mind, view, move),
            self._others(view, move),
            looks=looks,
        )

    def _mind_of(self, view: View) -> Mind[Any] | None:
        if self._mind is None:
            self._mind = mind_of(self._spec.id, view)
        if self._mind is not None:
            self._mind.see(view)
        return self._mind

    def _seats(self, mind: Mind[Any], *, looks: bool) -> tuple[SeatHint, ...]:
        ledger = mind.public if looks else mind.own
        chance = {seat: float(share) for seat, share in enumerate(ledger.chance()) if looks or seat != self.seat}
        usual = sum(chance.values()) / len(chance)
        return tuple(
            SeatHint(name(seat), round(100 * share), self._because(mind.facts(seat), ledger, share - usual))
            for seat, share in chance.items()
        )

    def _because(self, facts: Sequence[Any], ledger: Any, apart: float) -> str:
        """The fact that moved a belief most in the direction in which it lies `apart` from that about the average seat."""
        lifts = [(ledger.lift(fact), fact) for fact in facts if fact.pieces and not fact.lie]
        fitting = [(abs(lift), fact) for lift, fact in lifts if lift * fact.points > 0 and lift * apart > 0]
        best = max(fitting, key=itemgetter(0))[1] if fitting else None
        return "" if best is None else self._phrases.readings(best)[0]

    def _others(self, view: View, best: Move) -> tuple[str, ...]:
        if not isinstance(self._adviser, TrainedSeat):
            return ()
        chance = self._adviser.chances(view)
        order = [k for k in np.argsort(-chance)[:SHOWN].tolist() if chance[k] >= LIKELY]
        return tuple(f"{self._text.say(view.legal[k])} ({chance[k]:.0%})" for k in order if view.legal[k] != best)


def chosen(adviser: Policy, observation: Any, info: Mapping[str, Any]) -> Move | None:
    """The move of a player, a network's most probable one; None for words, which a table would have to read."""
    if isinstance(adviser, TrainedSeat):
        best: Move = info["view"].legal[int(np.argmax(adviser.chances(info["view"])))]
        return best
    answer = adviser.act(observation, dict(info))
    if isinstance(answer, TextAction):
        return answer.move
    move: Move | None = None if isinstance(answer, str) else info["view"].legal[info["legal"].index(answer)]
    return move


# -- after the game -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CostlyMove:
    """A decision of a finished game."""

    step: int
    """Number of the move in the record."""
    made: str
    better: str
    """What the adviser would have done."""
    cost: float
    """Mean return lost, on the scale of the game's returns."""
    error: float
    """Half of its 95 % interval."""
    in_points: bool = False
    """Whether the returns are 1 for a win and -1 for a loss."""
    when: str = ""
    """Where the game was, as the board says; empty for a board without phases."""

    def as_json(self) -> dict[str, Any]:
        """For a browser."""
        return {**asdict(self), "shown": self.shown}

    @property
    def shown(self) -> str:
        """In one sentence."""
        if self.in_points:
            lost = f"{50 * self.cost:.0f} points of win rate (plus or minus {50 * self.error:.0f})"
        else:
            lost = f"{self.cost:.2f} of the return (plus or minus {self.error:.2f})"
        when = f"{self.when}. " if self.when else ""
        return f"{when}You: {self.made} The coach: {self.better} The difference: {lost}."


def costly_moves(spec: GameSpec, game: Any, moves: tuple[Move, ...], seat: int) -> list[CostlyMove]:
    """The decisions of a seat that cost most against its adviser's moves, the worst first; only those that cost something.

    Talk is left out. Each number is the mean difference of games that are played to their end from both moves with the
    same chance, heuristics at all seats.

    Args:
        spec: The game.
        game: Its rules at this table.
        moves: All moves of the finished game, nature's included.
        seat: Whose decisions.
    """
    text = spec.text(game)
    _, adviser = adviser_of(spec, game.config)
    if adviser is None:
        return []
    adviser.reset(seat, 0)
    hints = []
    for step, (state, move) in enumerate(
        zip(accumulate(moves, game.apply, initial=game.initial()), moves, strict=False)
    ):
        if game.actor(state) != seat or len(game.legal(state)) < 2 or move.kind in speech.ACTS:
            continue
        view = game.view(state, seat)
        legal = tuple(range(len(view.legal)))
        info = {
            "view": view,
            "legal": legal,
            "options": tuple(map(text.say, view.legal)),
            "heuristic": spec.heuristic,
            "features": "",
        }
        better = chosen(adviser, {}, info)
        made = Move(move.kind, move.args)
        if better is not None and Move(better.kind, better.args) != made:
            hints.append(
                (step, state, made, better, _differences(spec, game, state, (made, better), seat, range(FIRST)))
            )
    hints.sort(key=lambda hint: -float(np.mean(hint[-1])))
    costly = []
    for step, state, made, better, first in hints[: 2 * SHOWN]:
        gained = np.array([*first, *_differences(spec, game, state, (made, better), seat, range(FIRST, FIRST + MORE))])
        error = 1.96 * float(gained.std(ddof=1)) / len(gained) ** 0.5
        when = board_of(spec, game.view(state, seat), game.seats).phase
        said = text.say(made), text.say(better)
        costly.append(CostlyMove(step, *said, float(gained.mean()), error, bool(spec.sides), when))
    return sorted((hint for hint in costly if hint.cost > hint.error), key=lambda hint: -hint.cost)[:SHOWN]


def _differences(
    spec: GameSpec, game: Any, state: Any, moves: tuple[Move, Move], seat: int, seeds: Sequence[int]
) -> list[float]:
    """The return after the second move minus that after the first, once for each seed."""
    ends = [[played_out(spec, game, game.apply(state, move), seed)[seat] for move in moves] for seed in seeds]
    return [better - made for made, better in ends]


def played_out(spec: GameSpec, game: Any, state: Any, seed: int) -> Sequence[float]:
    """The returns of a game that heuristics, or in games without any random players, play from a state to its end."""
    rng = np.random.default_rng(seed)
    make = dotted.load(spec.heuristic, "heuristic") if spec.heuristic else None
    players: dict[int, Any] = {}
    while (seat := game.actor(state)) != OVER:
        if seat == NATURE:
            state = game.apply(state, game.nature(state, rng))
            continue
        view = game.view(state, seat)
        if make is not None and seat not in players:
            players[seat] = make(view, rng)
        legal = view.legal
        move = legal[int(rng.integers(len(legal)))] if make is None else players[seat].act(view)
        state = game.apply(state, move)
    outcome = game.outcome(state)
    if outcome is None:
        raise ParlourError("a game that is over has no outcome; accepted: a game that passes the conformance suite")
    returns: Sequence[float] = outcome.returns
    return returns
