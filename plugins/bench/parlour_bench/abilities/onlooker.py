"""What an onlooker believes who knows how the players behave: the doubt that an evil side leaves to it, with its words and without.

    doubt(belief)  =  loss(belief after the quests) / loss(belief before the game)

The onlooker knows no role. It weighs all deals by `AvalonBelief`, with rates counted from the same two players in the games of other
deals: the evil seats are the player's, and the good seats its opponent's. So it expects lies of a liar and the truth of
a player who says the truth. If the rates supposed that all evil players lie, true words would count as deception: they would mislead
the listener most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.habits import AvalonHabits
from parlour.envs.core import Event
from parlour.envs.language import speech
from parlour.training.measure.avalon.games import AnalysedGame
from parlour.training.measure.avalon.stated import loss
from parlour.training.statistics import Estimate

from parlour_bench.abilities.doubt import DoubtLosses, doubt_change, doubt_left
from parlour_bench.abilities.moments import opponent_of
from parlour_bench.abilities.seated import is_players

ONLOOKER: Final = -1

PRIOR_CASES: Final = 2.0
"""How many cases the fixed rates count for, beside those that were counted."""
Counts = Counter[tuple[str, bool]]
"""(Name of a rate, whether it was so) -> cases."""


class OnlookerDoubt(NamedTuple):
    """What an informed onlooker is left with."""

    left: Estimate | None
    """Its doubt after the quests: 0 if it knows the evil side, 1 if it learned nothing, above 1 if it was misled."""
    by_words: Estimate | None
    """How much of that is due to the words of the evil seats: the doubt with them minus the doubt if they had been silent."""


def onlooker_doubt(games: Sequence[AnalysedGame], rng: np.random.Generator) -> OnlookerDoubt:
    """The doubt that the player's evil sides leave.

    Args:
        games: Games of a benchmark. Those in which the player is good do not count.
        rng: Draws games for the intervals.
    """
    own = [played for played in games if is_players(played, min(played.evil))]
    by_opponent = [
        _against([played for played in own if opponent_of(played) == opponent])
        for opponent in dict.fromkeys(map(opponent_of, own))
    ]
    losses = list(chain.from_iterable(by_opponent))
    with_words, without = [heard for heard, _ in losses], [unheard for _, unheard in losses]
    return OnlookerDoubt(doubt_left(with_words, rng), doubt_change(with_words, without, rng))


def _against(games: Sequence[AnalysedGame]) -> Iterator[tuple[DoubtLosses, DoubtLosses]]:
    """Each game with the words of its evil seats and without, seen with rates from the games of the other deals."""
    counted = [(played.transcript.header["seed"], rate_counts(played)) for played in games]
    for played, (deal, _) in zip(games, counted, strict=True):
        habits = counted_habits([counts for other, counts in counted if other != deal])
        yield _losses(played, habits, with_words=True), _losses(played, habits, with_words=False)


def counted_habits(counts: Sequence[Counts]) -> AvalonHabits:
    """Rates from counts; where little was counted they stay near the fixed ones."""
    total, fixed = sum(counts, Counts()), AvalonHabits()
    rates = {
        name: (total[name, True] + PRIOR_CASES * rate) / (total[name, True] + total[name, False] + PRIOR_CASES)
        for name, rate in asdict(fixed).items()
    }
    return replace(fixed, **rates)


def rate_counts(played: AnalysedGame) -> Counts:
    """The cases of each rate of `AvalonHabits` in a game whose roles are known."""
    counts, team = Counts(), tuple[int, ...]()
    for event in played.log:
        if event.move.kind == game.TEAM:
            team = event.move.args
        counts.update(_cases(played, event, team))
    return counts


def _cases(played: AnalysedGame, event: Event, team: tuple[int, ...]) -> Iterator[tuple[str, bool]]:
    seat, (kind, args, _), _ = event
    dirty = bool(played.evil & set(team))
    if kind == game.TEAM and seat in played.evil:
        yield "evil_on_own_team", dirty
    elif kind == game.TEAM and seat == played.merlin:
        yield "clean_team_merlin", not dirty
    elif kind == game.VOTES:
        yield from ((_vote_rate(played, voter, dirty=dirty), bool(vote)) for voter, vote in enumerate(args[1:]))
    elif kind == game.CARD:
        yield ("fail" if seat in played.evil else "good_fails"), args[0] == 0
    elif kind == speech.ACCUSE:
        yield ("evil_accuses_evil" if seat in played.evil else "accuse_evil"), args[0] in played.evil
    elif kind in (speech.DEFEND, speech.RECOMMEND) and args[0] != seat:
        yield ("evil_defends_evil" if seat in played.evil else "defend_evil"), args[0] in played.evil


def _vote_rate(played: AnalysedGame, voter: int, *, dirty: bool) -> str:
    role = played.roles[voter]
    team = "dirty" if dirty else "clean"
    if role == game.MERLIN:
        return f"approve_{team}_merlin"
    return f"approve_{team}_evil" if voter in played.evil and role != game.OBERON else "approve_blind"


def _losses(played: AnalysedGame, habits: AvalonHabits, *, with_words: bool) -> DoubtLosses:
    """Sums over the moments after quests; unless `with_words`, no word of an evil seat is evidence."""
    belief, truth = played.opening_belief(ONLOOKER, habits), [seat in played.evil for seat in range(played.seats)]
    before, prior, left = loss(belief.evil_chance().tolist(), truth), 0.0, 0.0
    for event in played.log:
        spoken = event.move.kind in game.ACTS and event.seat in played.evil
        if event.to is not None or (spoken and not with_words):
            continue
        belief.see(event.seat, *event.move)
        if event.move.kind == game.FAILS:
            prior += before
            left += loss(belief.evil_chance().tolist(), truth)
    return DoubtLosses(prior, left)
