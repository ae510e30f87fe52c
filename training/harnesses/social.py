"""Rewards beside a game's return, after "Training Language Models for Social Deduction with Multi-Agent RL" (Sarkar et al. 2025).

    listening  =  loss(what the night showed) - loss(stated belief)     how much better the seat knows who is evil
    speaking   =  mean effect of its claims on the belief of the good seats that heard them

Both are in nats a seat, by the measures of `parlour.training.measure.avalon`: log loss against the truth, and the exact belief with
a claim beside that without it. A good seat earns by speaking if belief moves towards the truth, an evil seat if it moves
away. Only good seats are asked, because evil seats know each other. The paper trains listening by its gradient; here it
is a reward of the answer's tokens. Avalon.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.envs import replay
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.vocabulary import EVIL_ROLES, GOOD, AvalonView
from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.language.english import name
from parlour.envs.language.entries import Entry
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.measure.avalon.measures import GAME
from parlour.training.measure.avalon.moments import OPPONENT
from parlour.training.measure.avalon.persuasion import claim_effects
from parlour.training.measure.avalon.stated import LEAST, loss
from parlour.wrappers.conversation import ConversationSeat

_OBJECT: Final = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class SeatEnd:
    """What the rewards of one seat are computed from, at the end of a game."""

    others: tuple[str, ...]
    """The other players, in order of seats."""
    truth: tuple[bool, ...]
    """Whether each of them is evil."""
    prior: tuple[float, ...]
    """How likely each of them was to be evil after the night."""
    good: bool
    """Whether the seat is good, and so can be asked."""
    speaking: float
    """The mean effect of its claims, 0.0 if it made none that a good seat heard."""

    @property
    def question(self) -> str:
        """What the seat is asked in private."""
        example = ", ".join(f'"{player}": 0.5' for player in self.others)
        return (
            "Privately, and without a move: how likely is each other player to be evil? Answer with a JSON object of "
            f"probabilities, such as {{{example}}}.\n"
        )

    def stated(self, words: str) -> tuple[float, ...] | None:
        """The probabilities in an answer; None if it does not give one from 0 to 1 for each of the others."""
        objects = _OBJECT.findall(words)
        try:
            given: Any = json_value(objects[-1].encode()) if objects else {}
        except ValueError:
            return None
        chances = [given.get(player) for player in self.others]
        readable = all(type(chance) in (int, float) and 0 <= chance <= 1 for chance in chances)
        return tuple(map(float, chances)) if readable else None

    def listening(self, words: str) -> float:
        """The reward of an answer. An answer that cannot be read counts as wrong about everybody, so that silence never pays."""
        chances = self.stated(words)
        if chances is None:
            chances = tuple(LEAST if evil else 1 - LEAST for evil in self.truth)
        return loss(self.prior, self.truth) - loss(chances, self.truth)


def seat_end(env: GameEnv, agent: str) -> SeatEnd:
    """Look at a seat when its game is over.

    Args:
        env: The game, at its end.
        agent: The seat, by agent's name.

    Raises:
        ParlourError: The game is another than Avalon, or is not over.
    """
    check_one_of("game of listening and speaking", env.spec.id, (GAME,))
    if env.outcome is None:
        raise ParlourError("a game in progress is not accepted; accepted: a game that is over")
    view = _view(env, env.seat_of[agent])
    others = [seat for seat in range(env.game.seats) if seat != view.seat]
    prior = AvalonBelief(view.roles, view.seat, view.role, view.knows, guesser=view.guesser).evil_chance()
    roles = [_view(env, seat).role for seat in others]
    effects = [effect for claim in claim_effects(_analysed(env, agent)) for effect in claim.effects]
    return SeatEnd(
        tuple(map(name, others)),
        tuple(role in EVIL_ROLES for role in roles),
        tuple(float(prior[seat]) for seat in others),
        view.side == GOOD,
        float(np.mean(effects)) if effects else 0.0,
    )


def end_of_talk(seat: ConversationSeat) -> SeatEnd:
    """The same for the seat of a conversation that is over. Raises as `seat_end`."""
    return seat_end(seat.conversation.game_env, seat.agent)


def _view(env: GameEnv, seat: int) -> AvalonView:
    view = env.view(seat)
    assert isinstance(view, AvalonView)  # the game is Avalon
    return view


def _analysed(env: GameEnv, agent: str) -> AnalysedGame:
    """The game as the measures take it, with one seat as the measured player."""
    rules: Any = env.game
    players = {other: agent if other == agent else f"{other}{OPPONENT}" for other in env.possible_agents}
    header = {"game": env.spec.id, "config": rules.config, "players": players}
    states = tuple(replay.states(rules, tuple(env.moves)))
    entries = tuple(Entry(rules.actor(state), move, None) for state, move in zip(states, env.moves, strict=False))
    return AnalysedGame(agent, replay.Transcript(header, entries, env.outcome), rules, states)
