"""What a player's claims do to good listeners: their belief after a claim, beside their belief if the player had been silent.

    effect  =  loss(belief without the claim) - loss(belief with it)     as good: towards the truth
    effect  =  loss(belief with the claim) - loss(belief without it)     as evil: away from it

The listeners are the good seats, with the belief of the heuristic: exact under its fixed rates, in which a claim is evidence and silence
is none. Everything else that they saw is the same. Effects are in nats a seat.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits
from parlour.envs.language.speech import ACCUSE, DEFEND, RECOMMEND
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.measure.avalon.moments import is_players
from parlour.training.measure.avalon.stated import loss

_CLAIMS = (ACCUSE, DEFEND, RECOMMEND)


class ClaimEffect(NamedTuple):
    """What a claim of the player did."""

    event: int
    """Its number in the game's log."""
    evil: bool
    """Whether the speaker is evil."""
    effects: tuple[float, ...]
    """On each good listener."""


def claim_effects(game: AnalysedGame) -> Iterator[ClaimEffect]:
    """The player's claims that somebody good heard, in order."""
    habits = AvalonHabits()
    beliefs = {seat: game.opening_belief(seat, habits) for seat in range(game.seats) if seat not in game.evil}
    for number, event in enumerate(game.log):
        counts = event.move.kind in _CLAIMS and event.to is None and is_players(game, event.seat)
        evil, effects = event.seat in game.evil, []
        for listener, belief in beliefs.items():
            if event.to is not None and listener not in event.to:
                continue
            silent = _loss(game, listener, belief) if counts and listener != event.seat else None
            belief.see(event.seat, *event.move)
            if silent is not None:
                towards = silent - _loss(game, listener, belief)
                effects.append(-towards if evil else towards)
        if effects:
            yield ClaimEffect(number, evil, tuple(effects))


def _loss(game: AnalysedGame, listener: int, belief: AvalonBelief) -> float:
    others = [seat for seat in range(game.seats) if seat != listener]
    return loss(belief.evil_chance()[others].tolist(), [seat in game.evil for seat in others])
