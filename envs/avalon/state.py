"""Avalon's phases, moves, states and views as plain values; what they mean in play is in `rules.py`."""

from __future__ import annotations

from typing import Final, NamedTuple

from parlour.envs import speech
from parlour.envs.core import Event, Knowledge, Move

# Phases, in the order of play.
DEAL: Final = 0
TALK: Final = 1
PROPOSE: Final = 2
VOTE: Final = 3
DRAW: Final = 4
QUEST: Final = 5
HUNT: Final = 6
DONE: Final = 7

# Moves of the seats.
TEAM: Final = "propose"  # args: the seats, ascending
BALLOT: Final = "vote"  # args: (1,) approve, (0,) reject
CARD: Final = "card"  # args: (1,) success, (0,) fail
GUESS: Final = "guess"  # args: (seat,) named as Merlin, or () to pass
APPROVE, REJECT = Move(BALLOT, (1,)), Move(BALLOT, (0,))
SUCCESS, FAIL = Move(CARD, (1,)), Move(CARD, (0,))
PASS: Final = Move(GUESS)

# Moves of nature and announcements of the moderator.
DEALT: Final = "deal"  # args: role number of each seat, then the first leader
DRAWN: Final = "draw"  # args: the seats that go instead of a short team
LEADS: Final = "leads"  # args: quest 0-4, leader, team size, proposals counted so far, fails needed
VOTES: Final = "votes"  # args: (1 if the team goes else 0, 1/0 of each seat in seat order)
FAILS: Final = "fails"  # args: quest 0-4, number of fail cards, 1 if the quest succeeded
SCORE: Final = "score"  # args: quests won by good, quests won by evil
EXPOSED: Final = "exposed"  # args: the Assassin, the seat named, 1 if that is Merlin

ACTS: Final = (speech.SILENT, speech.ACCUSE, speech.DEFEND, speech.RECOMMEND, speech.CLAIM_ROLE)
NOBODY: Final[tuple[int, ...]] = ()


class AvalonStanding(NamedTuple):
    """What changes from proposal to proposal only."""

    roles: tuple[int, ...]
    """Role number of each seat, an index into `Avalon.role_names`; empty before the deal."""
    quest: int
    """0-4."""
    leader: int
    counted: int
    """Proposals of this quest that count towards the limit."""
    good: int
    evil: int
    """Quests won."""
    guessed: bool
    """Whether the Assassin has used the guess."""
    reason: str
    """Why the game ended; empty while it has not."""


class Options:
    """What one seat may do at one kind of decision: the one source of legality. Equal if the moves are the same."""

    __slots__ = ("_hash", "events", "legal")

    def __init__(self, legal: tuple[Move, ...], events: dict[Move, tuple[Event, ...]]) -> None:
        self.legal = legal
        """In catalogue order."""
        self.events = events
        """For each legal move what it adds to the log: the move itself, or nothing yet for a secret ballot."""
        self._hash = hash(legal)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Options) and self.legal == other.legal)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<{len(self.legal)} options>"


NOTHING: Final = Options((), {})


class AvalonState(NamedTuple):
    """Everything about a game in progress. Hashable; never changed."""

    phase: int
    actor: int
    """The seat to move, `NATURE`, or `OVER`."""
    turn: int
    """How many have moved in this phase."""
    team: tuple[int, ...]
    """The team proposed, then the team that goes."""
    secret: tuple[int, ...]
    """Votes or cards given so far, 1/0, shown to nobody yet; while the Assassin is asked, the quest's result."""
    standing: AvalonStanding
    options: Options
    """Of the seat to move; `NOTHING` if none is."""
    log: tuple[Event, ...]


class AvalonView(NamedTuple):
    """What one seat may know of a game of Avalon. Satisfies `parlour.envs.core.View`."""

    seat: int
    """The seat whose knowledge this is."""
    legal: tuple[Move, ...]
    """What it may do now; empty when it is not its turn."""
    events: tuple[Event, ...]
    """What it has seen, oldest first."""
    role: str
    """Its own role; empty before the deal."""
    side: str
    """`"good"` or `"evil"`; empty before the deal."""
    knows: tuple[Knowledge, ...]
    """What the night showed it."""
    roles: tuple[str, ...]
    """The roles in play, one for each seat, in no order of seats."""
    sizes: tuple[int, ...]
    """Team size of each quest."""
    fails_needed: tuple[int, ...]
    """Fail cards that make each quest fail."""
    limit: int
    """Proposals of a quest after which no further one is made."""
    last_rejection_loses: bool
    """Whether the rejection at the limit loses the game for good; if not, the team goes all the same."""
    guess_at_end: bool
    """Whether the Assassin is asked only after three successes."""
    quest: int
    """0-4."""
    leader: int
    """Who leads; -1 before the deal."""
    counted: int
    """Proposals of this quest that count towards the limit, the one on the table among them."""
    team: tuple[int, ...]
    """The team proposed or on the quest; empty while none is."""
    good: int
    evil: int
    """Quests won."""
