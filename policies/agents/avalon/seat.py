"""What both Avalon agents share: a seat that notes events, and its prompt about itself and its turn.

`AvalonSelfInfo` and `AvalonSituation` are data, and plain lines that can be read back: prompts hold the lines; heuristics, also
in another process, work on the data.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

from parlour.envs.avalon.vocabulary import (
    BALLOT,
    CARD,
    EVIL_ROLES,
    FAILS,
    GUESS,
    LEADS,
    TEAM,
    AvalonView,
    night_sentence,
    shown_roles,
    side_of,
    titled,
)
from parlour.envs.core import Event, Knowledge
from parlour.envs.hidden_roles.bidding import BID
from parlour.envs.language.english import name, names, seats_named
from parlour.envs.settings import SPARSE, Settings
from parlour.policies.agents.avalon import notes
from parlour.policies.agents.avalon.lines import introduction_of
from parlour.policies.agents.seat import GameSeat, InputPart, coded
from parlour.policies.llm.ask import Ask
from pydantic import model_serializer, model_validator

_ROLE: Final = re.compile(r"You are player_(?P<seat>\d+)\. Your role is (?P<role>.+) \((?:good|evil)\)\.")
_PARTS: Final = {"introduction": "", "roles": "Roles in play: "}


class Seat(NamedTuple):
    """What a seat knows from the beginning."""

    seat: int
    """-1 for an onlooker."""
    role: str
    roles: tuple[str, ...]
    """In play, in no order of seats."""
    knows: tuple[Knowledge, ...]

    def onlooker(self) -> Seat:
        """Somebody at the table who knows nothing."""
        return Seat(-1, "", self.roles, ())


class Night(InputPart):
    """What the night showed: among the other seats exactly these hold one of these roles."""

    roles: list[str]
    players: list[int]


class AvalonSelfInfo(InputPart):
    """Who is asked: role information, as the paper calls it."""

    seat: int
    """Its number; `player_2` has number 2."""
    role: str
    introduction: str
    roles: list[str]
    """In play, in no order of seats."""
    night: list[Night]

    @property
    def knowledge(self) -> Seat:
        """The same for an estimate."""
        knows = tuple(Knowledge(tuple(night.roles), tuple(night.players)) for night in self.night)
        return Seat(self.seat, self.role, tuple(self.roles), knows)

    @property
    def fellows(self) -> list[int]:
        """The evil seats it knows, itself included; empty for good ones."""
        if self.role not in EVIL_ROLES:
            return []
        shown = {j for night in self.night if all(role in EVIL_ROLES for role in night.roles) for j in night.players}
        return sorted(shown | {self.seat})

    @model_serializer
    def _lines(self) -> list[str]:
        texts = {"introduction": self.introduction, "roles": ", ".join(self.roles) + "."}
        nights = (night_sentence(self.role, self.roles, night.players) for night in self.night)
        return [
            f"You are {name(self.seat)}. Your role is {self.role} ({side_of(self.role)}).",
            *(f"{head}{texts[part]}" for part, head in _PARTS.items()),
            *nights,
        ]

    @model_validator(mode="before")
    @classmethod
    def _from_lines(cls, lines: Any) -> Any:
        if not isinstance(lines, list):
            return lines
        texts = _texts(lines)
        first = _ROLE.fullmatch(texts[0]) if texts else None
        parts = dict(zip(_PARTS, texts[1:], strict=False))
        nights = [seats_named(line) for line in texts[1 + len(_PARTS) :]]
        if first is None or not all(part in parts and parts[part].startswith(head) for part, head in _PARTS.items()):
            raise ValueError("lines that do not tell who is asked")
        fields = {part: parts[part].removeprefix(head) for part, head in _PARTS.items()}
        role, roles = first["role"], fields["roles"].removesuffix(".").split(", ")
        if texts[1 + len(_PARTS) :] != [night_sentence(role, roles, players) for players in nights]:
            raise ValueError("lines that do not tell a night")
        shown = shown_roles(role, roles)
        return {
            "seat": int(first["seat"]),
            "role": role,
            **fields,
            "roles": roles,
            "night": [{"roles": shown, "players": players} for players in nights],
        }


_DOES: Final = {
    "speak": "Speak to the table.",
    "propose": "You lead: propose a team.",
    "vote": "Vote on the team.",
    "card": "You are on the quest: play a card.",
    "guess": "You are {guesser}: you may guess who Merlin is.",
    "bid": "Bid for the floor: the highest bid speaks next.",
}
TALK: Final = "speak"
"""What is done in words of your own."""
_GUESSES: Final = re.compile(r"You are (?P<guesser>.+): you may guess who Merlin is\.")
_LAST: Final = {False: "the last one is always accepted", True: "if the last one is rejected, evil wins"}
_FAILS_NEEDED: Final = {1: "one fail card fails", 2: "two fail cards fail"}
_SITUATION: Final = re.compile(
    r"(?P<does>.+)\n"
    r"Quest (?P<quest>\d+), proposal (?P<proposal>\d+) of (?P<limit>\d+); (?P<last>.+)\.\n"
    r"Team size (?P<size>\d+); (?P<fails>.+) the quest\.\n"
    r"Leader: player_(?P<leader>-?\d+)\. Team: (?P<team>.+)\.\n"
    r"Quests won: good (?P<good>\d+), evil (?P<evil>\d+)\."
)


class AvalonSituation(InputPart):
    """The decision that a seat has to make, and the state of the game."""

    does: Literal["speak", "propose", "vote", "card", "guess", "bid"]
    """Speak to the table, propose a team, vote on one, play a quest card, guess Merlin, or bid for the floor."""
    quest: int
    """1-5."""
    proposal: int
    """Number of the proposal in this quest, from 1."""
    limit: int
    """Proposals of a quest after which no further one is made."""
    last_rejection_loses: bool
    """Whether a rejection at the limit loses for good; if not, the team goes all the same."""
    leader: int
    """Number of the player who leads."""
    team: list[int]
    """Numbers of the players proposed or on the quest."""
    size: int
    """Players on this quest."""
    fails_needed: int
    good: int
    """Quests won by good, the one just played among them."""
    evil: int
    guesser: str = "the Assassin"
    """Who names Merlin; told at that turn alone."""

    @model_serializer
    def _lines(self) -> list[str]:
        return [
            _DOES[self.does].format(guesser=self.guesser),
            f"Quest {self.quest}, proposal {self.proposal} of {self.limit}; {_LAST[self.last_rejection_loses]}.",
            f"Team size {self.size}; {_FAILS_NEEDED[self.fails_needed]} the quest.",
            f"Leader: {name(self.leader)}. Team: {names(self.team) if self.team else 'none yet'}.",
            f"Quests won: good {self.good}, evil {self.evil}.",
        ]

    @model_validator(mode="before")
    @classmethod
    def _from_lines(cls, lines: Any) -> Any:
        if not isinstance(lines, list):
            return lines
        match = _SITUATION.fullmatch("\n".join(_texts(lines)))
        if match is None:
            raise ValueError("lines that do not tell a turn")
        fields = match.groupdict()
        del fields["does"]
        guess = _GUESSES.fullmatch(match["does"])
        named = {} if guess is None else {"guesser": guess["guesser"]}
        return {
            "does": "guess" if guess else _key(_DOES, match["does"]),
            **named,
            "last_rejection_loses": _key(_LAST, fields.pop("last")),
            "fails_needed": _key(_FAILS_NEEDED, fields.pop("fails")),
            "team": list(seats_named(fields.pop("team"))),
            **{field: int(number) for field, number in fields.items()},
        }


def _texts(lines: list[Any]) -> list[str]:
    if not all(isinstance(line, str) for line in lines):
        raise ValueError("lines that are no texts")
    return lines


def _key(phrases: dict[Any, str], phrase: str) -> Any:
    """What a phrase says."""
    if phrase not in phrases.values():
        raise ValueError(f"the phrase {phrase[:60]!r} tells nothing")
    return next(key for key, text in phrases.items() if text == phrase)


_DECISIONS: Final = (TEAM, BALLOT, CARD, GUESS, BID)


class Notes:
    """The lines of the events seen, a list for each quest (number 0: before the first)."""

    def __init__(self) -> None:
        self.read = 0
        self.rounds: list[list[str]] = [[]]
        self.score = (0, 0)
        """Quests won by good and evil, the one just played among them."""

    def take(self, events: tuple[Event, ...], role_names: tuple[str, ...], guesser: str = "the Assassin") -> None:
        """Note what is new at a table where `guesser` names Merlin."""
        for event in events[self.read :]:
            kind, args, _ = event.move
            if kind == LEADS and args[3] == 0:
                self.rounds.append([])
            if kind == FAILS:
                self.score = (self.score[0] + args[2], self.score[1] + 1 - args[2])
            line = notes.write(event, role_names, guesser)
            if line:
                self.rounds[-1].append(line)
        self.read = len(events)


class AvalonSeatSettings(Settings):
    """What can be set for both agents."""

    unclear: Annotated[Literal["paper", "code", "heuristic"] | None, SPARSE] = None
    """Who decides a vote, a card or a team where the model gave no usable answer: appendix A.4 of the paper, the published code, or
    the heuristic; None: the paper where the last team always goes, as with `rules=paper`, else the heuristic."""


class AvalonSeat(GameSeat[AvalonView]):
    """A seat of Avalon that asks a model. Needs `info="full"` and text actions."""

    plays: ClassVar[tuple[str, str]] = ("Avalon", "avalon_v0")
    view_type: ClassVar[type] = AvalonView
    chosen: AvalonSeatSettings

    def _begin(self) -> None:
        super()._begin()
        self.notes_taken = Notes()
        self.me: AvalonSelfInfo | None = None

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        view, words = self._view(info), self._say_again(info)
        if len(view.legal) == 1:
            return str(info["options"][0])  # nothing to decide, and nothing to ask
        options = coded(info)
        if words is None:
            turn = self._think(view, options)
            words = turn if isinstance(turn, str) else self._say(turn)
        return options.get(words, words)

    @abstractmethod
    def _think(self, view: AvalonView, options: dict[str, str]) -> Ask[Any] | str:
        """All that comes before the words: the question for them, with an input `refused` and an answer with `words`, or the
        code of the option that is taken. Words too may be the code of an option.
        """

    def _sit_down(self, view: AvalonView) -> None:
        self.me = _who(view)
        usual = "heuristic" if view.last_rejection_loses else "paper"
        self.seat_model.unclear = self.chosen.unclear or usual

    def _take(self, view: AvalonView) -> None:
        self.notes_taken.take(view.events, tuple(dict.fromkeys(view.roles)), titled(view.guesser))


def _who(view: AvalonView) -> AvalonSelfInfo:
    night = [Night(roles=list(fact.roles), players=list(fact.seats)) for fact in view.knows]
    return AvalonSelfInfo(
        seat=view.seat,
        role=view.role,
        introduction=introduction_of(view.role, view.guesser),
        roles=list(view.roles),
        night=night,
    )


def situation(view: AvalonView, score: tuple[int, int]) -> AvalonSituation:
    """What is asked now."""
    does = view.legal[0].kind if view.legal[0].kind in _DECISIONS else TALK
    return AvalonSituation(
        does=does,  # type: ignore[arg-type]
        quest=view.quest + 1,
        proposal=view.counted + (does in (TALK, TEAM, BID)),
        limit=view.limit,
        last_rejection_loses=view.last_rejection_loses,
        leader=view.leader,
        team=list(view.team),
        size=view.sizes[view.quest],
        fails_needed=view.fails_needed[view.quest],
        good=score[0],
        evil=score[1],
        **({"guesser": titled(view.guesser)} if does == GUESS else {}),
    )
