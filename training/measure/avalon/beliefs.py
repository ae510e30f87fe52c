"""The belief of a viewer of a recorded game: where it starts, and how it takes in an event."""

from __future__ import annotations

from parlour.envs.avalon.belief import ONLOOKER, AvalonBelief, AvalonHabits
from parlour.envs.core import Event
from parlour.training.measure.avalon.games import AnalysedGame


def opening_belief(game: AnalysedGame, viewer: int, habits: AvalonHabits) -> AvalonBelief:
    """The belief of a viewer before the first event."""
    guesser = game.rules.role_names[game.rules.guesser]
    if viewer == ONLOOKER:
        return AvalonBelief(game.rules.roles, ONLOOKER, "", (), habits, guesser)
    knows = game.rules.night(game.states[-1].standing.roles, viewer)
    return AvalonBelief(game.rules.roles, viewer, game.roles[viewer], knows, habits, guesser)


def take_in(belief: AvalonBelief, event: Event) -> None:
    """Let a belief see an event, its words included."""
    belief.see(event.seat, *event.move)
