"""Avalon on a replay page: teams and votes, quest cards, the exact posteriors of all seats, and what agents analysed.

The posterior is `parlour.envs.avalon.belief` with the heuristic's own habits, read from each seat's View as the heuristic
reads it; the onlooker's is that of who knows nobody's role and hears what everybody hears.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import ONLOOKER, AvalonBelief
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Event
from parlour.envs.language.english import listing, name
from parlour.policies.agents.avalon.asks import Analyse
from parlour.training.replay.matter import GameMatter, roles_of
from parlour.training.replay.model import (
    BeliefLines,
    ReplayColumn,
    ReplayRow,
    ReplayTable,
    Turned,
    seat_columns,
)
from parlour.training.replay.played import PlayedGame
from parlour.training.replay.tracks import Track, answer_of, exact_lines, opinions_in

_BY: Final = "The exact posterior over all deals of the roles, by the heuristic's fixed habits, from what {} was shown."
_ANALYSED: Final = {"evil": "evil", "merlin": "Merlin", "looks_evil": "looks evil"}
"""Field of an opinion -> what the line is called."""


def avalon_matter(played: PlayedGame) -> GameMatter:
    """All that a page shows of a game of Avalon beside its record."""
    views = played.last_views
    if not views[0].role:
        return GameMatter()
    beliefs = (*_exact(played, views), *_analysed(played))
    return GameMatter(
        tables=(_teams(played), _cards(played)),
        beliefs=beliefs,
        roles=roles_of(views),
        turned=_turned(played, beliefs),
    )


# -- tables ----------------------------------------------------------------------------------------------------------


def _teams(played: PlayedGame) -> ReplayTable:
    """A row for each proposal: its team, then its votes, then its fail cards, as they are shown."""
    first = ReplayColumn("quest", "number"), ReplayColumn("proposal", "number"), ReplayColumn("leader", "seat")
    last = ReplayColumn("approved", "number"), ReplayColumn("result")
    columns = (*first, *seat_columns("ballot", played.game.seats), *last)
    return ReplayTable("teams", "Teams and votes", columns, tuple(_proposals(played)))


def _proposals(played: PlayedGame) -> Iterator[ReplayRow]:
    seats = played.game.seats
    quest = leader = number = 0
    team: tuple[int, ...] = ()
    votes: tuple[int | None, ...] = (None,) * seats
    for step, event in played.shown_to_all:
        kind, args, _ = event.move
        came = ""
        if kind == game.LEADS:
            quest, leader = args[0] + 1, args[1]
            number = 1 if args[3] == 0 else number + 1
            continue
        if kind in (game.TEAM, game.DRAWN):
            team, votes = args, (None,) * seats
        elif kind == game.VOTES:
            votes = args[1:]
            came = "the team goes" if args[0] else "rejected"
        elif kind == game.FAILS:
            came = f"quest {'succeeds' if args[2] else 'fails'}, fail cards: {args[1]}"
        else:
            continue
        cells = tuple([vote, seat in team] for seat, vote in enumerate(votes))
        approved = None if votes[0] is None else sum(vote == 1 for vote in votes)
        yield ReplayRow(step, (quest, number, leader, *cells, approved, came), f"{quest}.{number}")


def _cards(played: PlayedGame) -> ReplayTable:
    """The cards of quests, each known to its seat alone."""
    rows = []
    for seat in range(played.game.seats):
        quest = 0
        for news in played.news(seat):
            for event in news.events:
                if event.move.kind == game.LEADS:
                    quest = event.move.args[0] + 1
                elif event.move.kind == game.CARD and event.seat == seat:
                    card = "success" if event.move.args[0] else "fail"
                    rows.append(ReplayRow(news.step, (quest, seat, card), to=(seat,)))
    columns = ReplayColumn("quest", "number"), ReplayColumn("player", "seat"), ReplayColumn("card")
    return ReplayTable("cards", "Quest cards", columns, tuple(sorted(rows, key=lambda row: row.step)))


# -- beliefs ---------------------------------------------------------------------------------------------------------


def _exact(played: PlayedGame, views: list[AvalonView]) -> Iterator[BeliefLines]:
    for view in views:
        belief = AvalonBelief(view.roles, view.seat, view.role, view.knows, None, view.guesser)
        yield from _followed(played, belief, view.seat, merlin=view.side == game.EVIL)
    first = views[0]
    onlooker = AvalonBelief(first.roles, ONLOOKER, "", (), None, first.guesser)
    yield from _followed(played, onlooker, None, merlin=True)


def _followed(played: PlayedGame, belief: AvalonBelief, holder: int | None, *, merlin: bool) -> Iterator[BeliefLines]:
    """The lines of one belief; who is Merlin is told of those who hunt him, and of the onlooker."""
    evil, hunted = Track(), Track()
    for news in played.news(0 if holder is None else holder):
        for seat, (kind, args, words), to in news.events:
            if holder is not None or to is None:
                belief.see(seat, kind, args, words)
        evil.at(news.step, belief.evil_chance())
        hunted.at(news.step, belief.merlin_chance())
    lines = {"evil": ("chance of being evil", evil), game.MERLIN: ("chance of being Merlin", hunted)}
    for what, (title, track) in lines.items():
        if what == "evil" or merlin:
            yield exact_lines(what, title, holder, track, played.game.seats, _BY)


def _analysed(played: PlayedGame) -> Iterator[BeliefLines]:
    """The opinions of seats that analyse, as they wrote them down; a player of whom nothing was said has no value."""
    seats = played.game.seats
    tracks: dict[tuple[int, str], Track] = {}
    for step, holder, call in played.calls():
        if call.get("ask") != Analyse.kind or (answer := answer_of(call)) is None:
            continue
        opinions = opinions_in(answer, seats)
        for key in _ANALYSED:
            track = tracks.setdefault((holder, key), Track())
            track.at(step, (opinions.get(seat, {}).get(key) for seat in range(seats)))
    for (seat, key), track in sorted(tracks.items()):
        title = {"looks_evil": "how evil it looks to the others"}.get(key, f"chance of being {_ANALYSED[key]}")
        by = f"{name(seat)}'s own analysis, from its answers in the transcript."
        line = f"recorded {key}: {name(seat)}"
        what, subjects = _ANALYSED[key], tuple(range(seats))
        yield BeliefLines(line, title, what, seat, "recorded", 0.0, 1.0, track.points, subjects, by=by)


# -- where it turned -------------------------------------------------------------------------------------------------


def _turned(played: PlayedGame, beliefs: Sequence[BeliefLines]) -> Turned | None:
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
    for step, event in played.shown_to_all:
        if event.move.kind == game.VOTES:
            sent = step, event
        elif event.move.kind == game.FAILS:
            quest = event.move.args[0] + 1
    if sent is None:
        return None
    step, event = sent
    if not event.move.args[0]:
        return Turned(step, f"The last team was rejected by {_voters(event, 0)}.")
    result = "failed" if played.outcome.winner == game.EVIL else "succeeded on"
    return Turned(step, f"{_voters(event, 1)} approved the team that {result} quest {quest}.")


def _voters(event: Event, vote: int) -> str:
    return listing(seat for seat, ballot in enumerate(event.move.args[1:]) if ballot == vote)


def _merlin_seen(played: PlayedGame, beliefs: Sequence[BeliefLines]) -> Turned | None:
    """The largest rise, before anybody named Merlin, of an onlooker's chance that Merlin is Merlin."""
    roles = [getattr(played.game.view(played.last, seat), "role", "") for seat in range(played.game.seats)]
    lines = next((belief for belief in beliefs if belief.what == game.MERLIN and belief.holder is None), None)
    if lines is None or game.MERLIN not in roles:
        return None
    merlin = roles.index(game.MERLIN)
    guesses = (
        step
        for step, entry in enumerate(played.entries)
        if entry.move is not None and entry.move.kind == game.GUESS and entry.move.args
    )
    named = next(guesses, len(played.entries))
    values = [(step, chances[merlin] or 0.0) for step, chances in lines.points if step < named]
    rises = [(after - before, step, before, after) for (_, before), (step, after) in pairwise(values)]
    if not rises:
        return None
    _, step, before, after = max(rises)
    return Turned(
        step, f"Here an onlooker's chance that {name(merlin)} is Merlin rose from {before:.0%} to {after:.0%}."
    )
