"""The messages between a table and a browser: JSON objects, one for each message of the WebSocket, distinguished by `type`.

From the table:

    waiting  the game has not begun: title, the rules in lines and in full, the seat's own name, which people have come, how many
             other players there are; to the host, a name, link and QR code for everybody who is missing, and for watchers (no name);
             whether these links work on this machine alone (`near`)
    table    a game begins: number, games, title, agents, seat (null: watching), language, clock, whether there is a `coach`; `session`: which process serves the
             table, for the numbers of turns begin again with it
    who      the first section of the seat's View, cut into what is its own and the rules (their end); what the seats are
             called, where they have names besides those of the agents
    told     lines of the record from number `from` on, none at the beginning of some games: text, speaker's seat (-1: the moderator), kind, whether secret
    board    what lies on the table for all to see, and what the seat knows about the others: phase, tracks, marks of the seats,
             seconds left for those for whom the table waits
    asked    it is the seat's turn: number of the turn, question, what it is `about`, options, whether free words are taken, seconds left, and what
             the coach says, where there is one
    reading  what words that were typed would be taken as: the words, the claim as a sentence (empty: no claim), or why they
             are no move
    taken    the turn is over; `by`: "you", or "table" with the reason; again for a move that comes again, or too late
    refused  a message that was not taken, and why; `turn`: the turn of a move that was not taken, null for other messages
    pong     the answer to `ping`
    replaced the last message: the same page has opened another connection
    over     the game is over: how, also for each seat; who was who, everything that happened, where the replay is and at
             which step the game turned; the games of the evening so far
    review   the coach's view of the game: the decisions of the seat that cost most, each with its step of the replay
    gone     the last message: why the connection ends

Sections and lines come from `parlour.envs.language.text.render`: put together they equal the seat's View in words. From a
browser: `sit` with its key and a name that the page made up for itself (the first message), `move` with the number of the turn and an
option's number or words, `reading` with words that are not said yet, `next` to begin another game, `ping` to see whether the connection
is alive. A move may be sent again until it is answered: it counts once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from parlour.envs import replay
from parlour.envs.common.json_values import json_value
from parlour.envs.core import NATURE, Event, GameText, ParlourError, View
from parlour.envs.language.english import name
from parlour.envs.language.free_words import FreeWords
from parlour.envs.language.text import end_of, was
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from parlour_table.board import Board
from parlour_table.coach import CostlyMove

Message = dict[str, Any]

SAID, DID, TOLD = "said", "did", "told"
_MOST_NUMBER: Final = 10**9


class _FromBrowser(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Sit(_FromBrowser):
    """Take a place."""

    type: Literal["sit"]
    key: str = Field(max_length=200)
    page: str = Field(default="", max_length=64)
    """The same for all connections of one page; empty: a page with one connection."""
    address: str = Field(default="", max_length=2000)
    """Where the browser found the page, up to its last `/`; empty: it does not say."""


class MoveMade(_FromBrowser):
    """A move: the number of an option, or words."""

    type: Literal["move"]
    turn: int = Field(ge=0, le=_MOST_NUMBER)
    option: int | None = Field(default=None, ge=0, le=_MOST_NUMBER)
    words: str | None = None


class Typed(_FromBrowser):
    """Words that are not said yet: what would they be taken as?"""

    type: Literal["reading"]
    turn: int = Field(ge=0, le=_MOST_NUMBER)
    words: str


class Next(_FromBrowser):
    """Begin the game after the one with this number."""

    type: Literal["next"]
    game: int = Field(ge=0, le=_MOST_NUMBER)


class Ping(_FromBrowser):
    """Is anybody there?"""

    type: Literal["ping"]


FromBrowser = Sit | MoveMade | Typed | Next | Ping
_READ: Final[TypeAdapter[FromBrowser]] = TypeAdapter(Annotated[FromBrowser, Field(discriminator="type")])


def read(text: str) -> FromBrowser:
    """A message of a browser. Raises `ParlourError` for an invalid message, in one line."""
    try:
        return _READ.validate_python(json_value(text))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the message"
        raise ParlourError(f"{where}: {first['msg']}; accepted: the messages of this page") from None
    except ValueError as error:
        raise ParlourError(f"the message is not JSON ({error}); accepted: the messages of this page") from None


def who(text: GameText[Any], view: View) -> Message:
    """The first section of a View."""
    whole = text.who(view)
    own = whole.removesuffix("\n").removesuffix(rules_of(text))
    own = whole if own == whole.removesuffix("\n") else own
    return {"type": "who", "own": own, "rules": whole[len(own) :], "names": names_of(view)}


def names_of(view: View) -> list[str]:
    """What the seats are called, as every View tells in a game with characters; empty in others."""
    return list(getattr(view, "names", ()))


def rules_of(text: GameText[Any]) -> str:
    """The rules of a table, with which the first section ends; empty where they do not stand apart."""
    return text.rules.removesuffix("\n")


def told(text: GameText[Any], events: Iterable[Event], spoken: frozenset[str], start: int) -> Message:
    """Lines of the record, the first of them number `start`; `spoken` are the kinds of moves that take words."""
    lines = [_told(text, event, spoken) for event in events]
    return {"type": "told", "from": start, "lines": lines}


def _told(text: GameText[Any], event: Event, spoken: frozenset[str] = frozenset()) -> Message:
    said = SAID if event.move.words or event.move.kind in spoken else DID
    return _line(
        event.seat, TOLD if event.seat < 0 else said, event.to is not None, FreeWords.as_said(text.line(event))
    )


def board(laid: Board, view: View | None) -> Message:
    """What lies on the table, with what the seat of the View knows about the others; None: for a watcher."""
    seats = [
        {"marks": [vars(mark) for mark in marks], "acts": seat in laid.waits, "away": bool(laid.out and laid.out[seat])}
        for seat, marks in enumerate(laid.seats)
    ]
    own, dealt = getattr(view, "role", ""), getattr(view, "roles", ())
    for fact in getattr(view, "knows", ()):
        roles = [role for role in fact.roles if role != own or dealt.count(role) > 1]
        for seat in fact.seats:
            known = {"text": " or ".join(roles), "kind": "secret", "title": "known to you alone"}
            seats[seat]["marks"].insert(0, known)
    return {"type": "board", "phase": laid.phase, "tracks": laid.as_json()["tracks"], "seats": seats}


def refused(why: object, turn: int | None = None) -> Message:
    """A message was not taken; `turn` is that of a move."""
    return {"type": "refused", "why": str(why), "turn": turn}


PONG: Final[Message] = {"type": "pong"}
REPLACED: Final[Message] = {"type": "replaced"}


def gone(why: str) -> Message:
    """The connection ends."""
    return {"type": "gone", "why": why}


def review(number: int, decisions: Iterable[CostlyMove]) -> Message:
    """The coach's view of game `number`, to one seat."""
    return {"type": "review", "number": number, "decisions": [decision.as_json() for decision in decisions]}


@dataclass(frozen=True)
class Place:
    """A seat, once the game is over."""

    agent: str
    player: str
    """Who played it."""
    was: str
    """Who it was, in one sentence; empty in a game without roles."""
    role: str
    side: str
    returned: float | None
    """None for a game that was given up."""
    told: str = ""
    """How the game ended for it, in one sentence."""


@dataclass(frozen=True)
class Ending:
    """How a game was."""

    end: str
    """In one sentence."""
    places: tuple[Place, ...]
    lines: tuple[Message, ...]
    """Everything that happened, secrets included."""
    turned: Any | None
    """Where the game turned, if its replay page says so."""
    replay: str = ""
    """Path of its replay on the server."""

    def message(self, games: int | None, evening: Sequence[Ending]) -> Message:
        """What browsers are sent; `evening` are the games up to this one."""
        seats = [{**vars(place), **scores(evening, seat)} for seat, place in enumerate(self.places)]
        message = {"type": "over", "number": len(evening), "games": games, "end": self.end, "replay": self.replay}
        turned = None if self.turned is None else vars(self.turned)
        games_so_far = [{"end": game.end, "replay": game.replay} for game in evening]
        return {**message, "turned": turned, "seats": seats, "lines": list(self.lines), "evening": games_so_far}


def scores(evening: Sequence[Ending], seat: int) -> Message:
    """What a seat has from the games of an evening: the sum of its returns, and how many games it won."""
    returns = [game.places[seat].returned or 0.0 for game in evening]
    return {"total": sum(returns), "wins": sum(value > 0 for value in returns)}


def ending(transcript: replay.Transcript, players: Sequence[str], turned: Any | None, replay_path: str) -> Ending:
    """The ending of a game that is over, from its transcript.

    Args:
        transcript: As read from the file.
        players: Who played, by seat.
        turned: Where it turned.
        replay_path: Path of its replay on the server.
    """
    game, text = transcript.game(), transcript.spec.text(transcript.game())
    states = list(transcript.states())
    outcome = transcript.outcome
    views = [game.view(states[-1], seat) for seat in range(game.seats)]
    places = tuple(
        Place(
            agent,
            player,
            was(text, view),
            str(getattr(view, "role", "")),
            str(getattr(view, "side", "")),
            None if outcome is None else outcome.returns[view.seat],
            "" if outcome is None else end_of(text, outcome, view.seat),
        )
        for agent, player, view in zip(game.agent_names or map(name, range(game.seats)), players, views, strict=True)
    )
    why = f"The game was given up: {transcript.closing.get('unfinished', '')}"
    end = why if outcome is None else end_of(text, outcome)
    return Ending(end, places, tuple(_lines(transcript, text, states)), turned, replay_path)


def _lines(transcript: replay.Transcript, text: GameText[Any], states: Sequence[Any]) -> list[Message]:
    """All that was shown to anybody, and the moves that were shown to nobody at the time."""
    moved = [entry for entry in transcript.entries if entry.move is not None]
    lines = []
    for before, after, entry in zip(states, states[1:], moved, strict=False):
        new = after.log[len(before.log) :]
        if not new and entry.seat != NATURE and entry.move is not None:
            lines.append(_line(entry.seat, DID, True, text.say(entry.move)))
        for event in new:
            lines.append(_told(text, event))
    return lines


def _line(seat: int, kind: str, secret: bool, text: str) -> Message:
    return {"seat": seat, "kind": kind, "secret": secret, "text": text}
