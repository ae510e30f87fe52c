"""What a seat of Werewolf knows about itself and the moment, as the lines of a prompt and read back from them.

The sections `me` and `now` of questions are made here; `decide` and the asks read them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from parlour.envs.hidden_roles.bidding import BID
from parlour.envs.language.english import name, names, seats_named
from parlour.envs.werewolf.vocabulary import (
    BALLOT,
    CHECKS,
    GUARDS,
    HEALS,
    KILL,
    POISONS,
    SHOOTS,
    WOLVES,
)
from parlour.policies.agents.seat import InputPart
from parlour.policies.agents.werewolf import reading
from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_serializer,
    model_validator,
)

Does = Literal["speak", "last_words", "whisper", "hunt", "protect", "save", "poison", "check", "vote", "bid", "shoot"]


def _number(player: Any) -> Any:
    """The number of a player who is called by name, as `player_3`; anything else as it is."""
    match = re.fullmatch(r"player_(\d{1,4})", player) if isinstance(player, str) else None
    return player if match is None else int(match[1])


Player = Annotated[
    int,
    BeforeValidator(_number),
    PlainSerializer(name, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string"}),
]
"""The number of a player, which questions and answers call by name."""


def _matched(pattern: re.Pattern[str], lines: Any) -> dict[str, str]:
    """The named parts of lines that tell something; parts that are not told are left out. Raises `ValueError`."""
    if not all(isinstance(line, str) for line in lines):
        raise ValueError("lines that are no texts")
    match = pattern.fullmatch("\n".join(lines))
    if match is None:
        raise ValueError("lines that do not tell what was expected")
    return {who: text for who, text in match.groupdict().items() if text is not None}


class SeerCheck(InputPart):
    """What the seer learnt."""

    player: Player
    werewolf: bool


class WerewolfSelfInfo(InputPart):
    """Who is asked."""

    roles: list[str]
    """In play, in no order of players; first, as all seats of a table have them alike."""
    seat: Player
    role: str
    side: Literal["village", "werewolf"]
    fellows: list[Player]
    """The other werewolves, if it is one."""
    poisoned: tuple[int, ...] = Field(default=(), exclude=True)
    """Players that it has poisoned, if it is the witch. A model reads that in the record."""
    deceit: float = Field(default=0.0, exclude=True, ge=0, le=1)
    """How often the rule lies as a werewolf (`parlour.policies.heuristic.werewolf`). No language model sees this."""

    @model_serializer
    def _lines(self) -> list[str]:
        fellows = [f"Your fellow werewolves: {names(self.fellows)}."] if self.side == WOLVES else []
        return [
            f"Roles in play, in no order: {', '.join(self.roles)}.",
            f"You are {name(self.seat)}. Your role is {self.role} ({self.side} side).",
            *fellows,
        ]

    @model_validator(mode="before")
    @classmethod
    def _from_lines(cls, lines: Any) -> Any:
        if not isinstance(lines, list):
            return lines
        fields = _matched(_SELF, lines)
        lists = {"roles": fields.pop("roles").split(", "), "fellows": list(seats_named(fields.pop("fellows", "")))}
        return {**fields, **lists, "seat": int(fields["seat"])}


def observer_of(me: WerewolfSelfInfo, wolves: Sequence[int], innocent: Sequence[int]) -> reading.Observer:
    """Who reads, with the players whose side it knows for certain."""
    single = tuple(role.lower() for role in dict.fromkeys(me.roles) if me.roles.count(role) == 1)
    return reading.Observer(me.seat, me.role.lower(), single, tuple(wolves), tuple(innocent), me.poisoned)


_SELF: Final = re.compile(
    r"Roles in play, in no order: (?P<roles>.+)\.\n"
    r"You are player_(?P<seat>\d{1,4})\. Your role is (?P<role>.+) \((?P<side>\w+) side\)\."
    r"(?:\nYour fellow werewolves: (?P<fellows>.+)\.)?"
)
_TASKS: Final[Mapping[str, str]] = {
    "speak": "Speak to all players.",
    "last_words": "You are executed: speak your last words to all players.",
    "whisper": "Speak only to the other werewolves: propose a victim.",
    KILL: "Vote for tonight's victim.",
    GUARDS: "Choose whom to protect tonight.",
    HEALS: "Choose whether to save tonight's victim.",
    POISONS: "Choose whether to poison somebody.",
    CHECKS: "Choose whom to check tonight.",
    BALLOT: "Vote on whom to execute.",
    SHOOTS: "You are dying: choose whom to shoot before all players, or nobody.",
    BID: "Bid for the floor: the highest bid speaks next.",
}
_SITUATION: Final = re.compile(
    r"(?P<does>.+)\n"
    r"It is (?:day|night) (?P<day>\d+)\. Alive: (?P<alive>.+)\."
    r"(?:\nKnown werewolves: (?P<wolves>.+)\.)?"
    r"(?:\nKnown not to be werewolves: (?P<innocent>.+)\.)?"
    r"(?:\nYou checked: (?P<checks>.+)\.)?"
    r"(?:\nAttacked tonight: player_(?P<attacked>\d{1,4})\.)?"
)
_FOUND: Final = {True: "werewolf", False: "no werewolf"}
_CHECKED: Final = re.compile(r"player_(\d{1,4}) \((no )?werewolf\)")


class WerewolfSituation(InputPart):
    """What is asked, and what the seat knows for certain."""

    does: Does
    """Speak by day or as last words, whisper to the other wolves, hunt, protect, save, poison, check, vote, bid for the floor,
    or shoot as the hunter."""
    day: int
    """Number of the night and of the day after it, from 1."""
    alive: list[Player]
    """Numbers of the living players."""
    wolves: list[Player]
    """Players known to be werewolves, except the seat itself."""
    innocent: list[Player]
    """Players known not to be werewolves, except the seat itself."""
    checks: list[SeerCheck]
    """The seer's, oldest first."""
    attacked: Player | None
    """The target of tonight's attack, as the witch knows it."""

    @model_serializer
    def _lines(self) -> list[str]:
        when = "day" if self.does in ("speak", "last_words", BALLOT, BID, SHOOTS) else "night"
        checks = ", ".join(f"{name(check.player)} ({_FOUND[check.werewolf]})" for check in self.checks)
        certain = {
            "Known werewolves": self.wolves and names(self.wolves),
            "Known not to be werewolves": self.innocent and names(self.innocent),
            "You checked": checks,
            "Attacked tonight": "" if self.attacked is None else name(self.attacked),
        }
        return [
            _TASKS[self.does],
            f"It is {when} {self.day}. Alive: {names(self.alive)}.",
            *(f"{what}: {who}." for what, who in certain.items() if who),
        ]

    @model_validator(mode="before")
    @classmethod
    def _from_lines(cls, lines: Any) -> Any:
        if not isinstance(lines, list):
            return lines
        fields = _matched(_SITUATION, lines)
        checks = [{"player": int(seat), "werewolf": not no} for seat, no in _CHECKED.findall(fields.get("checks", ""))]
        return {
            "does": next((does for does, task in _TASKS.items() if task == fields["does"]), fields["does"]),
            "day": int(fields["day"]),
            **{who: list(seats_named(fields.get(who, ""))) for who in ("alive", "wolves", "innocent")},
            "checks": checks,
            "attacked": int(fields["attacked"]) if "attacked" in fields else None,
        }
