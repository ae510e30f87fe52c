"""Avalon's board: quests with their team sizes, rejections, leader, team, votes as they were shown, the naming of Merlin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Event, View
from parlour.envs.language import speech
from parlour.envs.language.english import name, names

from parlour_table.board import EVIL, GOOD, NOW, PLAIN, Board, Mark, Track, TrackStep, claim_marks, public

QUESTS_TO_WIN: Final = 3


def avalon_board(view: AvalonView) -> Board:
    """What lies on the table."""
    events = public(view)
    seats = len(view.roles)
    roles = tuple(dict.fromkeys(view.roles))
    marks = claim_marks(events, seats, roles)
    if view.leader < 0:
        return Board(tuple(map(tuple, marks)), "The roles are not dealt yet")
    starts = [at for at, event in enumerate(events) if event.move.kind == game.LEADS]
    last = events[starts[-1] :] if starts else ()  # from the last leader's announcement on
    marks[view.leader].insert(0, Mark("leader", NOW, f"{name(view.leader)} leads"))
    team, votes = _team_and_votes(last)
    for seat in team:
        marks[seat].append(Mark("team", NOW, f"{name(seat)} is on the team"))
    for seat, vote in enumerate(votes):
        marks[seat].append(
            Mark(
                "\u2713" if vote else "\u2717",
                GOOD if vote else EVIL,
                f"{name(seat)} {'approved' if vote else 'rejected'} the team",
            )
        )
    for event in events:
        if event.move.kind == game.EXPOSED:
            marks[event.move.args[1]].append(Mark("named as Merlin", EVIL))
    phase, waits = _phase(view, last, team)
    done = {event.move.args[0]: event.move.args[1:] for event in events if event.move.kind == game.FAILS}
    quests = tuple(_quest(view, quest, done.get(quest)) for quest in range(len(view.sizes)))
    tracks = Track("Quests", quests), _rejections(view, last)
    return Board(tuple(map(tuple, marks)), phase, tracks, (), waits)


def asked_about(view: View) -> str:
    """What a question is about, which stands elsewhere on the page: the team of a vote; empty for other questions and games."""
    if isinstance(view, AvalonView) and view.legal[0].kind == game.BALLOT:
        return f"The team: {names(view.team)}."
    return ""


def _team_and_votes(last: Sequence[Event]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The team and the votes on it, as far as they are shown; before a team is named, the votes on the one before are gone."""
    team: tuple[int, ...] = ()
    votes: tuple[int, ...] = ()
    for event in last:
        if event.move.kind in (game.TEAM, game.DRAWN):
            team = event.move.args
        elif event.move.kind == game.VOTES:
            votes = event.move.args[1:]
    return team, votes


def _phase(view: AvalonView, last: Sequence[Event], team: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
    """Where the game is, and for whom everybody sees that the table waits."""
    quest, kinds = f"Quest {view.quest + 1}", [event.move.kind for event in last]
    if game.EXPOSED in kinds:
        _, named, right = last[kinds.index(game.EXPOSED)].move.args
        return f"The {view.guesser} named {'Merlin' if right else f'{name(named)}, wrongly'}", ()
    if QUESTS_TO_WIN in (view.evil, view.good) and not (view.guess_at_end and view.good == QUESTS_TO_WIN):
        return f"{'Good' if view.good == QUESTS_TO_WIN else 'Evil'} has {QUESTS_TO_WIN} quests", ()
    if view.good == QUESTS_TO_WIN:
        return f"The {view.guesser} names Merlin", ()
    if game.FAILS in kinds:
        return f"The {view.guesser} may name Merlin", ()
    went = any(
        event.move.kind == game.DRAWN or (event.move.kind == game.VOTES and event.move.args[0]) for event in last
    )
    if went:
        return f"{quest}: the team plays its cards", team
    if game.TEAM in kinds:
        return f"{quest}: all vote on the team", tuple(range(len(view.roles)))
    speaks = _speaks(view, last)
    if speaks is None:
        return f"{quest}: {name(view.leader)} leads, team of {view.sizes[view.quest]}", ()
    what = (
        f"{name(speaks)} speaks"
        if _talked(last) < len(view.roles) and speaks != view.leader
        else f"{name(view.leader)} leads"
    )
    return f"{quest}: {what}, team of {view.sizes[view.quest]}", (speaks,)


def _talked(last: Sequence[Event]) -> int:
    return sum(event.seat >= 0 and event.move.kind in speech.ACTS for event in last)


def _speaks(view: AvalonView, last: Sequence[Event]) -> int | None:
    """Who speaks, or names a team; None where the Views do not say whether there is talk."""
    return None if view.bids else (view.leader + _talked(last)) % len(view.roles)


def _quest(view: AvalonView, quest: int, result: tuple[int, ...] | None) -> TrackStep:
    size, needed = view.sizes[quest], view.fails_needed[quest]
    title = f"Quest {quest + 1}: team of {size}, fails needed: {needed}"
    if result is not None:
        fails, success = result
        note = "success" if success else "1 fail" if fails == 1 else f"{fails} fails"
        return TrackStep(str(size), note, GOOD if success else EVIL, f"{title}; fail cards: {fails}")
    return TrackStep(str(size), f"{needed} fails" if needed > 1 else "", NOW if quest == view.quest else PLAIN, title)


def _rejections(view: AvalonView, last: Sequence[Event]) -> Track:
    """Rejected proposals of this quest; the last place says what follows."""
    rejected = last[0].move.args[3] if last else 0
    end = "evil wins" if view.last_rejection_loses else "goes"
    places = (
        TrackStep(
            str(at),
            end if at == view.limit else "",
            EVIL if at <= rejected else PLAIN,
            f"{rejected} of {view.limit} teams of this quest were rejected",
        )
        for at in range(1, view.limit + 1)
    )
    return Track("Rejected teams", tuple(places))
