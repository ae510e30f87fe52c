"""Games of a run that are worth reading, chosen by rule: the biggest swing of a belief, the most misleading claim, the worst blunder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from parlour.envs.english import name
from parlour.envs.replay import text_of
from parlour.training.measure.abilities.beliefs import Chances, loss
from parlour.training.measure.abilities.moments import BeliefMoment
from parlour.training.measure.abilities.persuasion import claim_effects
from parlour.training.measure.analysis.games import AnalysedGame


class WorthReading(NamedTuple):
    """A game, and why."""

    why: str
    game: str
    """Name of the transcript."""
    what: str
    """What happened, in a sentence."""


def worth_reading(
    games: Sequence[AnalysedGame], moments: Sequence[BeliefMoment], stated: Sequence[Chances]
) -> tuple[WorthReading, ...]:
    """At most one game for each rule; the first of several that are equal.

    Args:
        games: The games of a run.
        moments: The player's moments in them.
        stated: What the player stated at each.
    """
    candidates = (_swing(moments), _lie(games), _blunder(moments, stated))
    return tuple(candidate for candidate in candidates if candidate is not None)


def _others(moment: BeliefMoment) -> list[int]:
    return [seat for seat in range(moment.info["seats"]) if seat != moment.seat]


def _side(moment: BeliefMoment, place: int) -> str:
    return "evil" if moment.truth[place] else "good"


def _swing(moments: Sequence[BeliefMoment]) -> WorthReading | None:
    """Where the exact posterior of a seat about another changed most from one quest to the next."""
    changes = [(np.abs(np.array(after.exact) - before.exact), before, after) for before, after in _following(moments)]
    if not changes:
        return None
    change, before, after = max(changes, key=lambda row: float(row[0].max()))
    place = int(change.argmax())
    what = (
        f"{name(after.seat)} could conclude about {name(_others(after)[place])}, who is {_side(after, place)}: evil "
        f"with {before.exact[place]:.2f} before a quest, {after.exact[place]:.2f} after it"
    )
    return WorthReading("The biggest swing of a belief", after.game, what)


def _following(moments: Sequence[BeliefMoment]) -> Iterator[tuple[BeliefMoment, BeliefMoment]]:
    """Moments of the same seat that follow each other."""
    seats: dict[tuple[str, int], list[BeliefMoment]] = {}
    for moment in moments:
        seats.setdefault((moment.game, moment.seat), []).append(moment)
    for of in seats.values():
        yield from pairwise(of)


def _lie(games: Sequence[AnalysedGame]) -> WorthReading | None:
    """The claim of an evil seat that led good listeners furthest from the truth."""
    claims = ((float(np.mean(claim.effects)), game, claim) for game in games for claim in claim_effects(game))
    misleading = [row for row in claims if row[2].evil and row[0] > 0]
    if not misleading:
        return None
    effect, game, claim = max(misleading, key=lambda row: row[0])
    event = game.log[claim.event]
    said = text_of(game.transcript).say(event.move)
    what = f"{name(event.seat)}, who is evil: {said!r} took good listeners {effect:.3f} nats from the truth"
    return WorthReading("The most misleading claim", game.name, what)


def _blunder(moments: Sequence[BeliefMoment], stated: Sequence[Chances]) -> WorthReading | None:
    """The statement that was furthest behind the exact posterior."""
    behind = [
        loss(chances, moment.truth) - loss(moment.exact, moment.truth)
        for moment, chances in zip(moments, stated, strict=True)
    ]
    worst = int(np.argmax(behind))
    if behind[worst] <= 0:
        return None
    moment, chances = moments[worst], stated[worst]
    place = int(np.argmax(np.abs(np.array(chances) - moment.truth)))
    what = (
        f"{name(moment.seat)} says that {name(_others(moment)[place])}, who is {_side(moment, place)}, is evil with "
        f"{chances[place]:.2f}; the exact posterior is {moment.exact[place]:.2f}"
    )
    return WorthReading("The worst blunder", moment.game, what)
