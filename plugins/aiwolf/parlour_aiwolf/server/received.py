"""A game at somebody else's server, from one seat: AIWolf's requests become the View of parlour's rules.

What a server does not send is not known. Lines that are no sentences of AIWolf's language are remarks with these words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from parlour.envs.core import NATURE, Event, Knowledge, Move, ParlourError, accept, announcement
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import (
    BALLOT,
    CHECKED,
    CHECKS,
    CHOSEN,
    DAWN,
    DAY,
    DEAD,
    EXECUTED,
    GUARDS,
    KILL,
    NIGHT,
    SEER,
    VOTES,
    WEREWOLF,
    WerewolfView,
)

from parlour_aiwolf import GAME
from parlour_aiwolf.rules import AIWolf
from parlour_aiwolf.text import AIWolfText
from parlour_aiwolf.vocabulary import (
    ATTACK_VOTES,
    BODYGUARD,
    IDENTIFIED,
    REMARK,
    TABLES,
    TALK_OVER,
    side_of,
)

ASKED: Final = {"VOTE": BALLOT, "DIVINE": CHECKS, "GUARD": GUARDS, "ATTACK": KILL, "TALK": "", "WHISPER": ""}
"""Requests that are answered by a move -> its kind; empty for a line."""
_BY_NIGHT: Final = frozenset({"DIVINE", "GUARD", "ATTACK", "WHISPER"})


@contextmanager
def reading(request: str, protocol: str = "AIWolf's protocol") -> Iterator[None]:
    """Raise `ParlourError` where the packet of a request is not as the protocol has it."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, StopIteration, AttributeError) as error:
        raise ParlourError(f"the server's {request} cannot be read ({error!r}); accepted: {protocol}") from None


def table_of(setting: Mapping[str, Any]) -> AIWolf:
    """The rules of a server's `gameSetting`. Raises `ParlourError` for a table that parlour does not have."""
    counts = {role: count for role, count in setting["roleNumMap"].items() if count}
    for players, table in TABLES.items():
        if counts == {role.upper(): table.roles.count(role) for role in table.roles}:
            return GAME.build(GAME.options(num_players=players))
    raise accept("the server's table", counts, f"the roles of {', '.join(map(str, TABLES))} players")


class ReceivedGame:
    """One game.

    Args:
        info: `gameInfo` of the request INITIALIZE.
        setting: Its `gameSetting`.
        game: The rules. By default `setting` gives them.

    Raises:
        ParlourError: Parlour does not have the table.
    """

    def __init__(self, info: Mapping[str, Any], setting: Mapping[str, Any], game: AIWolf | None = None) -> None:
        self.game = table_of(setting) if game is None else game
        self.text = AIWolfText(self.game)
        self.seat = int(info["agent"]) - 1
        names = self.game.role_names
        self.role = next(name for name in names if name.upper() == info["roleMap"][str(self.seat + 1)])
        self._wolves = sorted(int(agent) - 1 for agent, role in info["roleMap"].items() if role == WEREWOLF.upper())
        self._alive = [True] * self.game.seats
        self._day = 0
        self._guarded: int | None = None
        self._checks: list[tuple[int, bool]] = []
        self._events: list[Event] = [announcement(NIGHT, (0,))]
        self._known: set[tuple[str, int, Any]] = set()
        """Announcements that are in the events already: kind, day, and number of the vote."""
        self._next_line: dict[bool, int] = {}
        self._skips = 0

    def receive(self, request: str, packet: Mapping[str, Any]) -> None:
        """Read a packet. Raises `ParlourError` for a packet that cannot be read."""
        with reading(request):
            self._receive(request, packet)

    def view(self, request: str) -> WerewolfView:
        """The View of the seat when it gets a request of `ASKED`."""
        alive, wolves = tuple(self._alive), tuple(seat for seat in self._wolves if self._alive[seat])
        fellows = tuple(seat for seat in self._wolves if seat != self.seat)
        return WerewolfView(
            seat=self.seat,
            legal=self._legal(request, alive, wolves),
            events=tuple(self._events),
            role=self.role,
            roles=self.game.roles,
            role_names=self.game.role_names,
            side=side_of(self.role),
            knows=(Knowledge((WEREWOLF,), fellows),) if self.role == WEREWOLF else (),
            alive=alive,
            day=self._day,
            night=request in _BY_NIGHT,
            speakers=tuple(range(self.game.seats)),
            antidote=None,
            poison=None,
            guarded=self._guarded if self.role == BODYGUARD else None,
            checks=tuple(self._checks) if self.role == SEER else (),
            parity=True,
            reveals_all=False,
            guard_may_repeat=True,
            public_votes=False,
            max_days=self.game.seats,
        )

    def made(self, move: Move) -> None:
        """The seat has chosen this move, which nobody else sees at once."""
        if move.kind in (CHECKS, GUARDS):
            self._events.append(Event(self.seat, move, (self.seat,)))
        if move.kind == GUARDS:
            self._guarded = move.args[0] if move.args else None
        if move.kind == speech.SILENT:
            self._skips += 1
        elif move.kind not in (TALK_OVER, CHECKS, GUARDS, KILL, BALLOT):
            self._skips = 0

    # -- what a packet tells -----------------------------------------------------------------------------------

    def _receive(self, request: str, packet: Mapping[str, Any]) -> None:
        info = packet.get("gameInfo")
        if info is not None and request == "DAILY_INITIALIZE" and info["day"] > 0:
            self._morning(info)
        elif info is not None:
            self._vote(VOTES, info["day"], info.get("latestVoteList") or ())
            self._execution(info["day"], info.get("latestExecutedAgent", -1))
            self._vote(ATTACK_VOTES, info["day"], info.get("latestAttackVoteList") or ())
            self._lines(info.get("talkList") or (), whisper=False)
            self._lines(info.get("whisperList") or (), whisper=True)
        self._lines(packet.get("talkHistory") or (), whisper=False)
        self._lines(packet.get("whisperHistory") or (), whisper=True)

    def _morning(self, info: Mapping[str, Any]) -> None:
        day = int(info["day"])
        if day > 1:
            self._vote(VOTES, day - 1, info.get("voteList") or ())
            self._execution(day - 1, info.get("executedAgent", -1))
        self._vote(ATTACK_VOTES, day - 1, info.get("attackVoteList") or ())
        if self.role == WEREWOLF and info.get("attackedAgent", -1) > 0:
            self._tell(CHOSEN, (info["attackedAgent"] - 1,), private=True)
        dead = tuple(sorted(agent - 1 for agent in info.get("lastDeadAgentList") or ()))
        self._day, self._next_line, self._skips = day, {}, 0
        self._tell(DAWN, (day, *dead))
        self._alive = [info["statusMap"][str(seat + 1)] == "ALIVE" for seat in range(self.game.seats)]
        for name, kind in (("divineResult", CHECKED), ("mediumResult", IDENTIFIED)):
            if (result := info.get(name)) is not None:
                about, wolf = int(result["target"]) - 1, result["result"] == "WEREWOLF"
                self._tell(kind, (about, int(wolf)), private=True)
                if kind == CHECKED:
                    self._checks.append((about, wolf))
        self._tell(DAY, (day, self._alive.index(True)))

    def _vote(self, kind: str, day: int, votes: Sequence[Mapping[str, Any]]) -> None:
        """A vote, unless it is known: by its day and by who voted for whom."""
        cast = [DEAD] * self.game.seats
        for vote in votes:
            cast[int(vote["agent"]) - 1] = int(vote["target"]) - 1
        if votes and (kind, day, tuple(cast)) not in self._known:
            self._known.add((kind, day, tuple(cast)))
            self._tell(kind, (day, *cast) if kind == VOTES else tuple(cast), private=kind == ATTACK_VOTES)

    def _execution(self, day: int, agent: int) -> None:
        if agent > 0 and (EXECUTED, day, agent) not in self._known:
            self._known.add((EXECUTED, day, agent))
            self._tell(EXECUTED, (agent - 1,))
            self._tell(NIGHT, (day,))
            self._alive[agent - 1] = False

    def _lines(self, lines: Sequence[Mapping[str, Any]], *, whisper: bool) -> None:
        """The lines of this day that have not been heard, by their number."""
        for line in lines:
            if int(line["day"]) != self._day or int(line["idx"]) < self._next_line.get(whisper, 0):
                continue
            self._next_line[whisper] = int(line["idx"]) + 1
            seat = int(line["agent"]) - 1
            to = tuple(j for j in self._wolves if self._alive[j]) if whisper else None
            self._events.append(Event(seat, self._move(str(line["text"]), seat), to))

    def _move(self, text: str, seat: int) -> Move:
        try:
            return self.text.heard(text, seat, self._events)
        except ParlourError:
            return Move(REMARK, (), text)

    def _tell(self, kind: str, args: tuple[int, ...], *, private: bool = False) -> None:
        self._events.append(Event(NATURE, Move(kind, args), (self.seat,) if private else None))

    def _legal(self, request: str, alive: tuple[bool, ...], wolves: tuple[int, ...]) -> tuple[Move, ...]:
        choices, kind = self.game.choices, ASKED[request]
        if kind:
            return choices.aim(kind, self.seat, alive, wolves).legal
        may_skip = self._skips < self.game.rules.skips
        options = choices.talk(self.seat, may_skip) if request == "TALK" else choices.whisper(alive, wolves, may_skip)
        return options.legal
