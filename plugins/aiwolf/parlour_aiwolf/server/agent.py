"""A connected agent of the AIWolf contest as a policy: its seat's Views become requests, and its lines become moves.

A decision is forfeited if there is no line in time, or the line cannot be used: then the seat skips, chooses nobody, or votes for a
player that is drawn. The game continues, and the forfeits are counted. After five late answers in a row the agent is cut off: it
forfeits the rest of its decisions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar, Final

from parlour.envs.common.json_values import json_value
from parlour.envs.core import Move, ParlourError
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import BALLOT, CHECKS, GUARDS, KILL, WerewolfView
from parlour.policies import Policy

from parlour_aiwolf.language import Pause, read
from parlour_aiwolf.server.connection import NAME, AgentConnection, NoAnswer, TooLate
from parlour_aiwolf.server.game_info import (
    OVER,
    SKIP,
    LineKey,
    SaidLines,
    SeatRecord,
    as_json,
    game_setting,
)
from parlour_aiwolf.vocabulary import TALK_OVER, AIWolfRules

MOST_LATE: Final = 5
"""Late answers in a row after which an agent is cut off."""
CUT_OFF: Final = "cut off"
"""Why decisions of an agent that was cut off are forfeited."""
_REQUESTS: Final = {BALLOT: "VOTE", CHECKS: "DIVINE", GUARDS: "GUARD", KILL: "ATTACK"}
LONGEST_NAME: Final = 64
"""Characters of an agent's name that are kept."""


class AIWolfAgent(Policy):
    """One agent, game after game.

    Args:
        connection: Its lines.
        rules: The preset that is played.
        time_limit: Seconds for an answer, as in `gameSetting`.
    """

    name: ClassVar[str] = "aiwolf"
    wants: ClassVar[str] = "view"

    def __init__(self, connection: AgentConnection, rules: AIWolfRules, time_limit: float) -> None:
        super().__init__()
        self._connection, self._rules = connection, rules
        self._setting = as_json(game_setting(rules, time_limit))
        self.forfeits: Counter[str] = Counter()
        """Why decisions were forfeited, over all games."""
        self.decisions = 0
        self._late = 0
        """Late answers since the last one that came in time."""
        self._notes: dict[str, Any] = {}
        self.join(SaidLines(), lambda: None)

    def join(self, said: SaidLines, ask_all: Callable[[], None]) -> None:
        """A new game begins.

        Args:
            said: Keeps the agents' lines.
            ask_all: Calls `ask` of all agents that decide now, each with its View.
        """
        self._said, self._ask_all = said, ask_all
        self._asked: WerewolfView | None = None
        self._record: SeatRecord | None = None
        self._day = self._finished_day = 0
        self._sent = [0, 0]

    @property
    def cut_off(self) -> bool:
        """Whether it was late too often in a row."""
        return self._late >= MOST_LATE

    def introduce(self, until: float) -> tuple[str, str] | None:
        """Ask for its name and the role that it would like; empty where it does not say. None: it gives no name in time, or leaves.

        Args:
            until: When its time ends, by `time.monotonic`.
        """
        connection = self._connection
        try:
            connection.ask(NAME)
            connection.name = connection.answer(until).strip()
        except TooLate:
            return None
        except NoAnswer:
            if connection.lost:
                return None
        try:
            connection.ask("ROLE")
            role = connection.answer(until)
        except NoAnswer:
            role = ""
        shown = "".join(c for c in connection.name if c.isprintable())[:LONGEST_NAME].strip()
        return shown, role.strip().upper()

    def ask(self, view: WerewolfView) -> None:
        """Send the request of this View, unless it has been sent. After a vote it holds the whole `gameInfo`, before it the
        news of the talk.
        """
        if view == self._asked:
            return
        self._asked = view
        record = self._catch_up(view)
        fields = {"gameInfo": record.info_json(view)} if record.voted else self._news(record)
        request = _REQUESTS.get(view.legal[-1].kind) or ("WHISPER" if view.night else "TALK")
        self._connection.ask(request, **fields)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """A number of the catalogue, or the words of a line."""
        view: WerewolfView = info["view"]
        if view != self._asked:
            self._ask_all()
        self._asked = None
        self._notes = {}
        self.decisions += 1
        if view.legal[-1].kind in _REQUESTS:
            return info["legal"][view.legal.index(self._target(view))]
        return self._line(view)

    def notes(self) -> dict[str, Any]:
        return self._notes

    def finish(self, view: WerewolfView, roles: dict[str, str]) -> None:
        """The game is over.

        Args:
            view: The seat's last View.
            roles: AIWolf's role of every agent, by its number from 1 as a text.
        """
        info = self._catch_up(view).info_json(view, roleMap=roles)
        self._connection.tell("FINISH", gameInfo=info)

    def close(self) -> None:
        """Close its connection."""
        self._connection.close()

    # -- what happened since it was last asked -----------------------------------------------------------------

    def _catch_up(self, view: WerewolfView) -> SeatRecord:
        """The requests without an answer that come before this moment: days begin and end. The dead hear none."""
        record = self._record
        if record is None:
            record = self._record = SeatRecord(view, self._said, self._rules)
            for request in ("INITIALIZE", "DAILY_INITIALIZE"):
                self._inform(request, record.info_json(view))
            self._connection.tell("DAILY_FINISH", talkHistory="[]", whisperHistory="[]")
        record.read(view)
        if not view.alive[view.seat]:
            return record
        if view.day > self._day:
            self._day, self._sent = view.day, [0, 0]
            self._inform("DAILY_INITIALIZE", record.info_json(view))
        speaks = any(move.kind == TALK_OVER for move in view.legal)
        if view.day > self._finished_day and (view.night or not speaks):
            self._finished_day = view.day
            self._connection.tell("DAILY_FINISH", **self._news(record))
        return record

    def _inform(self, request: str, info: str) -> None:
        self._connection.tell(request, gameInfo=info, gameSetting=self._setting)

    def _news(self, record: SeatRecord) -> dict[str, str]:
        """The lines of the day that it has not been sent, as JSON."""
        talks, whispers = record.talks, record.whispers
        said, day, (talk, whisper) = self._said, self._day, self._sent
        news = {
            "talkHistory": said.history(day, talks, talk, whisper=False),
            "whisperHistory": said.history(day, whispers, whisper, whisper=True),
        }
        self._sent = [len(talks), len(whispers)]
        return news

    # -- its answers -------------------------------------------------------------------------------------------

    def _answer(self) -> str:
        """Its line. Raises `NoAnswer`."""
        if self.cut_off:
            raise NoAnswer(CUT_OFF)
        try:
            answer = self._connection.answer()
        except TooLate:
            self._late += 1
            if self.cut_off:
                self.close()
            raise
        except NoAnswer:
            self._late = 0
            raise
        self._late = 0
        return answer

    def _target(self, view: WerewolfView) -> Move:
        try:
            return _target_of(self._answer(), view)
        except NoAnswer as error:
            return self._forfeit(str(error), view)

    def _line(self, view: WerewolfView) -> str:
        """A line of AIWolf's language; a skip for what is none."""
        try:
            text = self._answer().strip() or SKIP
            utterance = read(text)
        except (NoAnswer, ParlourError) as error:
            self._count(str(error) if isinstance(error, NoAnswer) else "no sentence of AIWolf's language")
            text, utterance = SKIP, Pause()
        if isinstance(utterance, Pause) and (utterance.over or Move(speech.SILENT) not in view.legal):
            text = OVER
        assert self._record is not None
        turn = self._record.turn(whisper=view.night)
        self._said.texts[LineKey(view.day, view.night, turn, view.seat)] = text
        return text

    def _forfeit(self, why: str, view: WerewolfView) -> Move:
        self._count(why)
        nobody = Move(view.legal[-1].kind)
        return nobody if nobody in view.legal else view.legal[int(self.rng.integers(len(view.legal)))]

    def _count(self, why: str) -> None:
        self.forfeits[why] += 1
        self._notes = {"forfeit": why}


def _target_of(answer: str, view: WerewolfView) -> Move:
    """The move of an answer such as `{"agentIdx":3}`; -1 and null choose nobody, where that is legal.

    Raises:
        NoAnswer: It is not of that form, or the player cannot be chosen.
    """
    try:
        value = json_value(answer.encode())
    except (ValueError, RecursionError):
        raise NoAnswer("no JSON") from None
    number = value.get("agentIdx") if isinstance(value, dict) else -1 if value is None else value
    if not isinstance(number, int) or isinstance(number, bool):
        raise NoAnswer("no agentIdx")
    kind = view.legal[-1].kind
    move = Move(kind, () if number == -1 else (number - 1,))
    if move not in view.legal:
        raise NoAnswer("a player that cannot be chosen")
    return move
