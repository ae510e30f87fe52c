"""What AIWolf's server sends to an agent, from the View of its seat alone: `gameInfo`, `gameSetting`, talks and whispers.

Agents are numbered from 1. An executed player is dead at once; in AIWolf's own server it counts as alive until the next day, and
`latestExecutedAgent` names it. The wolves alone learn who was attacked; all learn who was found dead.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from parlour.envs.core import Event, Move
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import (
    CHECKED,
    CHOSEN,
    DAWN,
    EXECUTED,
    GUARDS,
    NO_VOTE,
    VOTES,
    WEREWOLF,
    WerewolfView,
)

from parlour_aiwolf.claims import utterance_of
from parlour_aiwolf.language import AIWOLF_ROLES, write
from parlour_aiwolf.vocabulary import (
    ATTACK_VOTES,
    BODYGUARD,
    IDENTIFIED,
    MEDIUM,
    REMARK,
    TALK_OVER,
    AIWolfRules,
)

as_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""A value as JSON; `json.dumps` would make an encoder for every call."""
SKIP: Final = "Skip"
OVER: Final = "Over"
_SPOKEN: Final = frozenset({*speech.ACTS, REMARK, TALK_OVER})


class LineKey(NamedTuple):
    """A line of a game: its day, whether it is a whisper, the turn of its talk from 0, and the seat that says it."""

    day: int
    whisper: bool
    turn: int
    seat: int


@dataclass
class SaidLines:
    """What AIWolf's agents said in a game, in their own words: others of them get these and not parlour's English.

    A line is made and encoded once, and goes to all who hear it.
    """

    texts: dict[LineKey, str] = field(default_factory=dict)
    _lines: dict[LineKey, dict[str, Any]] = field(default_factory=dict)
    _claimed: dict[int, str] = field(default_factory=dict)
    """Seat -> the role that it claimed last."""
    _encoded: dict[tuple[int, bool, int, int], str] = field(default_factory=dict)
    """Day, whether whispers, first line and end -> the lines as JSON."""
    _counts: dict[tuple[int, bool, int], Counter[int]] = field(default_factory=dict)
    """Day, whether whispers, and end -> how many lines each agent has said."""

    def line(self, key: LineKey, number: int, move: Move, roles: Sequence[str]) -> dict[str, Any]:
        """A line in AIWolf's form; `number` counts the lines of its talk from 0."""
        if key not in self._lines:
            if move.kind == speech.CLAIM_ROLE:
                self._claimed[key.seat] = roles[move.args[0]]
            text = self.text(key, move, roles, medium=self._claimed.get(key.seat) == MEDIUM)
            line = {"idx": number, "day": key.day, "turn": key.turn, "agent": key.seat + 1, "text": text}
            self._lines[key] = line
        return self._lines[key]

    def history(self, day: int, lines: Sequence[dict[str, Any]], begin: int, *, whisper: bool) -> str:
        """The lines of a day's talk, or of its whispers, from one on as JSON."""
        key = day, whisper, begin, len(lines)
        if key not in self._encoded:
            self._encoded[key] = as_json(lines[begin:])
        return self._encoded[key]

    def counts(self, day: int, lines: Sequence[dict[str, Any]], *, whisper: bool) -> Counter[int]:
        """How many lines each agent has said in a day's talk, or in its whispers; pauses are none."""
        key = day, whisper, len(lines)
        if key not in self._counts:
            self._counts[key] = Counter(line["agent"] for line in lines if line["text"] not in (SKIP, OVER))
        return self._counts[key]

    def text(self, key: LineKey, move: Move, roles: Sequence[str], *, medium: bool = False) -> str:
        """A line as an AIWolf agent hears it. A remark of another player is a skip: its words are not AIWolf's.

        `medium`: whether the speaker claims to be the medium.
        """
        if move.kind == TALK_OVER:
            return OVER
        own = self.texts.get(key)
        if own is not None:
            return own
        if move.kind in (speech.SILENT, REMARK):
            return SKIP
        if move.kind == speech.CLAIM_ROLE:
            move = move._replace(args=(AIWOLF_ROLES.index(roles[move.args[0]].upper()),))
        return write(utterance_of(move, key.seat, medium=medium))


class SeatRecord:
    """What one seat has been shown in a game, in AIWolf's form. It reads each event once.

    Args:
        view: A View of the seat, after the deal.
        said: The lines of AIWolf's agents.
        rules: The preset.
    """

    def __init__(self, view: WerewolfView, said: SaidLines, rules: AIWolfRules) -> None:
        self._said, self._rules, self._roles = said, rules, view.role_names
        self._seen, self._day, self._alive = 0, 0, [True] * len(view.roles)
        self._wolves = _wolves(view)
        in_play = {name.upper() for name in view.roles}
        self._existing = [role for role in AIWOLF_ROLES if role in in_play]
        self._guards = view.role == BODYGUARD
        self._facts = _Facts()
        self._parties = self._counted()
        self._lines: tuple[list[dict[str, Any]], list[dict[str, Any]]] = [], []

    @property
    def talks(self) -> list[dict[str, Any]]:
        """The lines of this day's talk."""
        return self._lines[0]

    @property
    def whispers(self) -> list[dict[str, Any]]:
        """The whispers of this day's night."""
        return self._lines[1]

    @property
    def voted(self) -> bool:
        """Whether there was a vote on this day, or among the wolves in its night."""
        return self._day in self._facts.votes or self._day in self._facts.attack_votes

    def turn(self, *, whisper: bool) -> int:
        """Number of the turn of talk, or of whispers, that comes next."""
        return len(self._lines[whisper]) // self._parties[whisper]

    def read(self, view: WerewolfView) -> None:
        """Read what is new in a later View of the seat."""
        for event in view.events[self._seen :]:
            if event.seat >= 0 and event.move.kind in _SPOKEN:
                self._hear(event)
            else:
                self._note(event.move)
        self._seen = len(view.events)

    def info(self, view: WerewolfView) -> dict[str, Any]:
        """`gameInfo` of the seat, as far as it has read; `view` says its role."""
        facts, day, seat = self._facts, self._day, view.seat
        living = [j + 1 for j, lives in enumerate(self._alive) if lives]
        talks, whispers = (self._said.counts(day, self._lines[k], whisper=k) for k in (False, True))
        most = self._rules.talk_lines
        return {
            "agent": seat + 1,
            "day": day,
            "statusMap": {str(j + 1): "ALIVE" if lives else "DEAD" for j, lives in enumerate(self._alive)},
            "roleMap": {str(j + 1): self._roles[role].upper() for j, role in _known_roles(view).items()},
            "talkList": list(self.talks),
            "whisperList": list(self.whispers),
            "voteList": _votes(facts.votes.get(day - 1, ()), day - 1),
            "latestVoteList": _votes(facts.votes.get(day, ()), day),
            "attackVoteList": _votes(facts.attack_votes.get(day - 1, ()), day - 1),
            "latestAttackVoteList": _votes(facts.attack_votes.get(day, ()), day),
            "executedAgent": facts.executed.get(day - 1, -1),
            "latestExecutedAgent": facts.executed.get(day, -1),
            "attackedAgent": facts.chosen.get(day - 1, -1),
            "guardedAgent": facts.guarded.get(day - 1, -1),
            "lastDeadAgentList": facts.dead.get(day, []),
            "cursedFox": -1,
            "divineResult": _judged(facts.divined.get(day), day, seat),
            "mediumResult": _judged(facts.identified.get(day), day, seat),
            "remainTalkMap": {str(agent): most - talks[agent] for agent in living},
            "remainWhisperMap": {str(j + 1): most - whispers[j + 1] for j in self._wolves if self._alive[j]},
            "existingRoleList": self._existing,
        }

    def info_json(self, view: WerewolfView, **known: Any) -> str:
        """`info` as JSON; `known` replaces some of its fields. Lines that several seats hear are encoded once."""
        fields = self.info(view) | known
        said, day = self._said, self._day
        fields.pop("talkList"), fields.pop("whisperList")
        talks = said.history(day, self.talks, 0, whisper=False)
        whispers = said.history(day, self.whispers, 0, whisper=True)
        return f'{{"talkList":{talks},"whisperList":{whispers},{as_json(fields)[1:]}'

    def _counted(self) -> tuple[int, int]:
        """How many talk, and how many whisper."""
        return sum(self._alive), sum(self._alive[j] for j in self._wolves)

    def _hear(self, event: Event) -> None:
        whisper = event.to is not None
        lines = self._lines[whisper]
        key = LineKey(self._day, whisper, len(lines) // self._parties[whisper], event.seat)
        lines.append(self._said.line(key, len(lines), event.move, self._roles))

    def _note(self, move: Move) -> None:
        """An announcement, or the seat's own choice."""
        facts, day = self._facts, self._day
        kind, args, _ = move
        if kind == DAWN:
            self._day = args[0]
            facts.dead[self._day] = [seat + 1 for seat in args[1:]]
            self._lines = [], []
        elif kind == VOTES:
            facts.votes[day] = args[1:]
        elif kind == ATTACK_VOTES:
            facts.attack_votes[day] = args
        elif kind == EXECUTED:
            facts.executed[day] = args[0] + 1
        elif kind == CHOSEN:
            facts.chosen[day] = args[0] + 1
        elif kind == GUARDS and args and self._guards:
            facts.guarded[day] = args[0] + 1
        elif kind == CHECKED:
            facts.divined[day] = args
        elif kind == IDENTIFIED:
            facts.identified[day] = args
        for seat in args[1:] if kind == DAWN else args if kind == EXECUTED else ():
            self._alive[seat] = False
            self._parties = self._counted()


def game_setting(rules: AIWolfRules, time_limit: float) -> dict[str, Any]:
    """`gameSetting` of a table; `time_limit` in seconds."""
    dealt = Counter(map(str.upper, rules.roles))
    return {
        "playerNum": rules.players,
        "roleNumMap": {role: dealt[role] for role in AIWOLF_ROLES},
        "maxTalk": rules.talk_lines,
        "maxTalkTurn": rules.talk_turns,
        "maxWhisper": rules.talk_lines,
        "maxWhisperTurn": rules.talk_turns,
        "maxSkip": rules.skips,
        "maxRevote": rules.revotes,
        "maxAttackRevote": rules.revotes,
        "enableNoAttack": False,
        "enableNoExecution": False,
        "enableRoleRequest": True,
        "talkOnFirstDay": False,
        "validateUtterance": True,
        "votableInFirstDay": False,
        "voteVisible": True,
        "whisperBeforeRevote": False,
        "randomSeed": 0,
        "timeLimit": round(1000 * time_limit),
    }


@dataclass
class _Facts:
    """What was announced to a seat, by day; agents are numbered from 1."""

    votes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    attack_votes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    executed: dict[int, int] = field(default_factory=dict)
    chosen: dict[int, int] = field(default_factory=dict)
    guarded: dict[int, int] = field(default_factory=dict)
    dead: dict[int, list[int]] = field(default_factory=dict)
    divined: dict[int, tuple[int, ...]] = field(default_factory=dict)
    identified: dict[int, tuple[int, ...]] = field(default_factory=dict)


def _votes(cast: tuple[int, ...], day: int) -> list[dict[str, int]]:
    """Votes as AIWolf sends them; abstentions are left out."""
    return [{"day": day, "agent": seat + 1, "target": vote + 1} for seat, vote in enumerate(cast) if vote > NO_VOTE]


def _judged(result: tuple[int, ...] | None, day: int, seat: int) -> dict[str, Any] | None:
    if result is None:
        return None
    about, wolf = result
    return {"day": day, "agent": seat + 1, "target": about + 1, "result": "WEREWOLF" if wolf else "HUMAN"}


def _known_roles(view: WerewolfView) -> dict[int, int]:
    """Its own role, and to a wolf those of its fellows."""
    wolf = view.role_names.index(WEREWOLF)
    fellows = {seat: wolf for known in view.knows for seat in known.seats}
    return dict(sorted({view.seat: view.role_names.index(view.role), **fellows}.items()))


def _wolves(view: WerewolfView) -> tuple[int, ...]:
    """All wolves, as a wolf knows them; nobody for others."""
    if view.role != WEREWOLF:
        return ()
    return tuple(sorted({view.seat, *(seat for known in view.knows for seat in known.seats)}))
