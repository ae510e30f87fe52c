"""Werewolf's board: night or day, who lives, how the dead died and what they were, votes as they were shown, claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from parlour.envs.core import Event
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.vocabulary import WerewolfView

from parlour_table.board import EVIL, NOW, PLAIN, Board, Mark, claim_marks, public


def werewolf_board(view: WerewolfView) -> Board:
    """What lies on the table."""
    events = public(view)
    seats = len(view.roles)
    marks = claim_marks(events, seats, view.role_names)
    died = _deaths(events)
    for seat, (when, role) in died.items():
        marks[seat][:0] = [Mark(when), *([Mark(f"was {view.role_names[role]}")] if role is not None else [])]
    today = _since(events, game.DAY)
    for seat, target in _votes(today).items():
        on = name(target) if target >= 0 else "nobody"
        marks[seat].append(Mark(f"\u2192 {on}", EVIL if target >= 0 else PLAIN, f"{name(seat)} votes for {on}"))
    phase, waits = _phase(view, events, today, died)
    for seat in waits[:1] if len(waits) == 1 else ():
        marks[seat].insert(0, Mark("now", NOW, f"the table waits for {name(seat)}"))
    return Board(tuple(map(tuple, marks)), phase, (), tuple(seat in died for seat in range(seats)), waits)


def _since(events: Sequence[Event], kind: str) -> Sequence[Event]:
    """The events behind the last announcement of a kind, with it; none before it, and none once the next night has come."""
    for at in reversed(range(len(events))):
        if events[at].move.kind == game.NIGHT:
            return ()
        if events[at].move.kind == kind:
            return events[at:]
    return ()


def _deaths(events: Sequence[Event]) -> dict[int, tuple[str, int | None]]:
    """Seat -> how it died, and the number of its role where it was shown."""
    deaths: dict[int, tuple[str, int | None]] = {}
    day = 0
    for event in events:
        kind, args = event.move.kind, event.move.args
        if kind == game.DAWN:
            day = args[0]
            deaths |= dict.fromkeys(args[1:], (f"died, night {day}", None))
        elif kind == game.EXECUTED and args:
            deaths[args[0]] = (f"executed, day {day}", None)
        elif kind == game.SHOOTS:
            deaths |= dict.fromkeys(args, (f"shot by {name(event.seat)}, day {day}", None))
        elif kind == game.REVEALED and args[0] in deaths:
            deaths[args[0]] = (deaths[args[0]][0], args[1])
    return deaths


def _votes(today: Sequence[Event]) -> dict[int, int]:
    """Seat -> the seat it votes for, -1 for nobody, as far as that was shown."""
    votes: dict[int, int] = {}
    for event in today:
        if event.move.kind == game.BALLOT:
            votes[event.seat] = event.move.args[0] if event.move.args else game.NO_VOTE
        elif event.move.kind == game.VOTES:
            votes = {seat: vote for seat, vote in enumerate(event.move.args[1:]) if vote != game.DEAD}
    return votes


def _phase(
    view: WerewolfView, events: Sequence[Event], today: Sequence[Event], died: Mapping[int, object]
) -> tuple[str, tuple[int, ...]]:
    """Where the game is, and for whom everybody sees that the table waits."""
    if not events or events[-1].move.kind == game.DEALT:
        return "The roles are not dealt yet", ()
    nights = [event.move.args[0] for event in events if event.move.kind == game.NIGHT]
    if not today:
        return (f"Night {nights[-1]}" if nights else "Before the first night"), ()
    day = f"Day {today[0].move.args[0]}"
    kinds = [event.move.kind for event in today]
    if game.EXECUTED in kinds:
        fallen = next(event.move.args for event in today if event.move.kind == game.EXECUTED)
        spoke = today[-1].seat in fallen
        return (
            f"{day}: last words of {name(fallen[0])}" if fallen and not spoke else f"{day} ends"
        ), () if spoke else fallen
    living = tuple(seat for seat in view.speakers if seat not in died)
    if len(today[0].move.args) == 1 and not any(event.move.kind == game.VOTES for event in today):
        return f"{day}: talk and vote", tuple(sorted(living))  # they bid for the floor, and nobody sees a bid
    first = view.speakers.index(today[0].move.args[-1]) if len(today[0].move.args) > 1 else 0
    order = [seat for seat in (*view.speakers[first:], *view.speakers[:first]) if seat not in died]
    spoken = sum(event.seat >= 0 and event.move.kind in speech.ACTS for event in today)
    ballots = sum(event.move.kind == game.BALLOT for event in today)
    if not spoken and not any(event.seat >= 0 and event.move.kind in speech.ACTS for event in events):
        return day, ()  # whether they talk first is not known before anybody has spoken
    if spoken < len(order) and not ballots:
        return f"{day}: talk", (order[spoken],)
    waits = tuple(order[ballots : ballots + 1]) if view.public_votes else tuple(sorted(order))
    return f"{day}: vote", () if game.VOTES in kinds else waits
