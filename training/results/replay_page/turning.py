"""Where a game turned: the vote, or the moment, that decided it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.core import Event
from parlour.envs.english import listing, name
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.training.results.replay_page.model import BeliefLines, Turned
from parlour.training.results.replay_page.played import PlayedGame


def avalon_turned(played: PlayedGame, beliefs: Sequence[BeliefLines]) -> Turned | None:
    """The vote that sent the deciding team; where Merlin was named, the step at which an onlooker's belief in Merlin rose most.

    Args:
        played: The game.
        beliefs: The beliefs that its page shows.
    """
    if played.outcome is None:
        return None
    if played.outcome.reason == "assassination":
        return _merlin_seen(played, beliefs)
    sent: tuple[int, Event] | None = None
    quest = 0
    for step, event in shown_to_all(played):
        if event.move.kind == avalon.VOTES:
            sent = step, event
        elif event.move.kind == avalon.FAILS:
            quest = event.move.args[0] + 1
    if sent is None:
        return None
    step, event = sent
    if not event.move.args[0]:
        return Turned(step, f"The last team was rejected by {_voters(event, 0)}.")
    result = "failed" if played.outcome.winner == avalon.EVIL else "succeeded on"
    return Turned(step, f"{_voters(event, 1)} approved the team that {result} quest {quest}.")


def _voters(event: Event, vote: int) -> str:
    return listing(seat for seat, ballot in enumerate(event.move.args[1:]) if ballot == vote)


def _merlin_seen(played: PlayedGame, beliefs: Sequence[BeliefLines]) -> Turned | None:
    """The largest rise of what an onlooker holds for the chance that Merlin is Merlin."""
    roles = [getattr(played.game.view(played.last, seat), "role", "") for seat in range(played.game.seats)]
    lines = next((belief for belief in beliefs if belief.what == avalon.MERLIN and belief.holder is None), None)
    if lines is None or avalon.MERLIN not in roles:
        return None
    merlin = roles.index(avalon.MERLIN)
    values = [(step, chances[merlin] or 0.0) for step, chances in lines.points]
    rises = [(after - before, step, before, after) for (_, before), (step, after) in pairwise(values)]
    if not rises:
        return None
    _, step, before, after = max(rises)
    return Turned(
        step, f"Here an onlooker's chance that {name(merlin)} is Merlin rose from {before:.0%} to {after:.0%}."
    )


def werewolf_turned(played: PlayedGame) -> Turned | None:
    """The last vote that executed a villager, if the werewolves won; the first that executed a werewolf, if the village won."""
    if played.outcome is None or played.outcome.winner == werewolf.DRAW:
        return None
    lost = werewolf.VILLAGE if played.outcome.winner == werewolf.WOLVES else werewolf.WOLVES
    sides = [getattr(played.game.view(played.last, seat), "side", "") for seat in range(played.game.seats)]
    executed = [
        (step, event.move.args[0])
        for step, event in shown_to_all(played)
        if event.move.kind == werewolf.EXECUTED and event.move.args and sides[event.move.args[0]] == lost
    ]
    if not executed:
        return None
    step, seat = executed[-1 if lost == werewolf.VILLAGE else 0]
    return Turned(step, f"The table executed {name(seat)}, who was on the side that lost.")


def shown_to_all(played: PlayedGame) -> list[tuple[int, Event]]:
    """What everybody was shown, with the steps."""
    return [(news.step, event) for news in played.news(0) for event in news.events if event.to is None]
