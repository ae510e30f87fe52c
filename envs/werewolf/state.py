"""Werewolf's phases, moves, states and views as plain values; what they mean in play is in `rules.py`."""

from __future__ import annotations

from typing import Final, NamedTuple

from parlour.envs import speech
from parlour.envs.core import Event, Knowledge, Move

# Phases, in the order of play.
DEAL: Final = 0
WHISPER: Final = 1  # the wolves talk among themselves
HUNT: Final = 2
TIE: Final = 3  # nature draws among the tied targets of the wolves
PROTECT: Final = 4
SAVE: Final = 5
POISON: Final = 6
CHECK: Final = 7
TALK: Final = 8
VOTE: Final = 9
LAST: Final = 10  # last words of the executed
DONE: Final = 11

# Moves of the seats. For those with a target args are (seat,), or () for nobody.
KILL: Final = "hunt"  # a wolf's vote
GUARDS: Final = "protect"
HEALS: Final = "save"  # args: (1,) the antidote is given, (0,) it is kept
POISONS: Final = "poison"
CHECKS: Final = "check"
BALLOT: Final = "vote"
TARGETED: Final = (KILL, GUARDS, POISONS, CHECKS, BALLOT)
KEEP, GIVE = Move(HEALS, (0,)), Move(HEALS, (1,))

# Moves of nature and announcements of the moderator; to everybody where nothing else is said.
DEALT: Final = "deal"  # args: role number of each seat, then the seats in the order of talk
DRAWN: Final = "draw"  # args: (seat,) killed by the wolves after a tie, or ()
NIGHT: Final = "night"  # args: number of the night, from 1
CHOSEN: Final = "wolves"  # to the living wolves; args: (seat,) chosen, or ()
ATTACKED: Final = "attacked"  # to the witch; args: (seat,)
CHECKED: Final = "checked"  # to the seer; args: seat, 1 if a werewolf else 0
DAWN: Final = "dawn"  # args: number of the day, then the seats that died, ascending
REVEALED: Final = "revealed"  # args: seat, role number
DAY: Final = "day"  # args: number of the day, seat that speaks first
VOTES: Final = "votes"  # args: number of the day, then for each seat: seat voted for, -1 nobody, -2 dead
EXECUTED: Final = "executed"  # args: (seat,), or ()

NO_VOTE: Final = -1
DEAD: Final = -2

ACTS: Final = (speech.SILENT, speech.ACCUSE, speech.DEFEND, speech.CLAIM_ROLE, speech.REPORT)
"""What is said by day and as last words."""
WHISPERS: Final = (speech.SILENT, speech.RECOMMEND)
"""What the wolves say among themselves at night; to recommend a seat is to propose it as the victim."""
NOBODY: Final[tuple[int, ...]] = ()


class WerewolfStanding(NamedTuple):
    """What changes at dawn and at dusk, or by the use of a power, only."""

    roles: tuple[int, ...]
    """Role number of each seat, an index into `Werewolf.role_names`; empty before the deal."""
    order: tuple[int, ...]
    """The seats in the order in which they talk and vote; fixed by the deal."""
    alive: tuple[bool, ...]
    """By seat, as everybody knows it: who dies at night is alive until dawn."""
    day: int
    """Number of the night and of the day after it, from 1; 0 before the deal."""
    antidote: bool
    """Whether the witch still has it."""
    poison: bool
    """Whether the witch still has it."""
    guarded: int | None
    """Whom the guard protected in the latest night in which he was asked; None if nobody."""
    checks: tuple[tuple[int, bool], ...]
    """What the seer learnt: seat and whether it is a werewolf, oldest first."""
    reason: str
    """Why the game ended; empty while it has not."""


class Darkness(NamedTuple):
    """What has been done this night; empty by day."""

    victim: int | None
    """Whom the wolves kill, before the guard and the witch."""
    protected: int | None
    saved: bool
    poisoned: int | None

    @property
    def killed(self) -> int | None:
        """Whom the wolves kill after the guard and the antidote. Protection is against the wolves only."""
        return None if self.saved or self.victim == self.protected else self.victim


class Options:
    """What one seat may do at one kind of decision: the one source of legality. Equal if the moves are the same."""

    __slots__ = ("_hash", "events", "legal")

    def __init__(self, legal: tuple[Move, ...], events: dict[Move, tuple[Event, ...]]) -> None:
        self.legal = legal
        """In catalogue order."""
        self.events = events
        """For each legal move what it adds to the log: the move itself, or nothing yet for a secret vote."""
        self._hash = hash(legal)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Options) and self.legal == other.legal)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<{len(self.legal)} options>"


NOTHING: Final = Options((), {})
CALM: Final = Darkness(None, None, False, None)


class WerewolfState(NamedTuple):
    """Everything about a game in progress. Hashable; never changed."""

    phase: int
    actor: int
    """The seat to move, `NATURE`, or `OVER`."""
    queue: tuple[int, ...]
    """Who moves after the actor in this phase."""
    secret: tuple[int, ...]
    """Votes of this phase so far, in the order of voting, -1 for nobody; on a tie the tied targets."""
    dark: Darkness
    standing: WerewolfStanding
    options: Options
    """Of the seat to move; `NOTHING` if none is."""
    log: tuple[Event, ...]


class WerewolfView(NamedTuple):
    """What one seat may know of a game of Werewolf. Satisfies `parlour.envs.core.View`."""

    seat: int
    """The seat whose knowledge this is."""
    legal: tuple[Move, ...]
    """What it may do now; empty when it is not its turn."""
    events: tuple[Event, ...]
    """What it has seen, oldest first."""
    role: str
    """Its own role; empty before the deal."""
    side: str
    """`"village"` or `"werewolf"`; empty before the deal."""
    knows: tuple[Knowledge, ...]
    """For a werewolf: which other seats are werewolves."""
    roles: tuple[str, ...]
    """The roles in play, one for each seat, in no order of seats."""
    role_names: tuple[str, ...]
    """The different roles in play; role numbers in moves and events are indices into it."""
    alive: tuple[bool, ...]
    """By seat. The executed seat is dead already while it speaks its last words."""
    day: int
    """Number of the night and of the day after it, from 1; 0 before the deal."""
    night: bool
    """Whether it is night."""
    speakers: tuple[int, ...]
    """All seats in the order in which they talk and vote by day, the dead ones among them."""
    antidote: bool | None
    """Whether it still has the antidote; None for everybody but the witch."""
    poison: bool | None
    """Whether it still has the poison; None for everybody but the witch."""
    guarded: int | None
    """Whom it protected in the latest night in which it was asked; None for nobody and for everybody but the guard."""
    checks: tuple[tuple[int, bool], ...]
    """What the seer learnt: seat and whether it is a werewolf, oldest first; empty for everybody else."""
    parity: bool
    """Whether the wolves win as soon as they are as many as the others; if not, only when no other lives."""
    reveals_all: bool
    """Whether the roles of all dead are shown; if not, only of those who died in the first night."""
    guard_may_repeat: bool
    """Whether the guard may protect the same seat in two nights running."""
    public_votes: bool
    """Whether each vote by day is seen as it is cast; if not, all are shown at once."""
    max_days: int
    """The game is a draw after so many days."""
