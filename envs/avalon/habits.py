"""How seats of Avalon behave, as a belief supposes: fixed rates, and habits learned from recorded games.

`AvalonHabits` holds fixed rates, the same at every table. `LearnedHabits` adds what public events tell about the evil side, learned
from records: scores that depend on what all have seen, by kind of seat (`evidence.py`). They come in a file, one set for each number
of players:

    {"parlour_habits": 1, "game": "avalon_v0", "players": {"5": {"evidence": {"votes": {"evil, none": {"always": 0.1, ...}, ...},
     "teams": {...}, "cards": {...}}}, ...}, ...}

Every other key of the file is a note of who wrote it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Protocol

from parlour.envs.avalon.deals import Array, Key
from parlour.envs.hidden_roles.habit_files import HabitsByPlayers, Named
from parlour.envs.settings import SPARSE, Accepts, Settings
from pydantic import Field

_LARGEST: Final = 50.0
"""No term is larger: beyond it log-odds are certainty."""
LEADERS: Final = ("evil", "Merlin", "good", "Oberon")
COUNTS: Final = ("none", "one", "more")
"""Evil seats on a team that a seat knows."""
CLASSES: Final = tuple(f"{kind}, {count}" for kind in LEADERS for count in COUNTS)
"""What the coefficients of evidence depend on: what a seat is, and how many evil seats that it knows are on the team."""
EVIDENCE_VOTES: Final = (
    *(
        "always",
        "own",
        "on team",
        "doubt",
        "second quest",
        "later quest",
        "again",
        "proposals",
        "last proposal",
        "evil two",
        "good two",
    ),
    *(
        "leader failed",
        "team failed",
        "others",
        "others at last",
        "habit",
        "failed",
        "succeeded",
        "backed fails",
        "blocked successes",
    ),
)
"""Terms of the score of a vote; see `evidence.Watched.votes`."""
EVIDENCE_TEAMS: Final = (
    *(
        "always",
        "self",
        "doubt",
        "kept",
        "again",
        "later proposal",
        "first quest",
        "second quest",
        "evil two",
        "good two",
    ),
    *("team failed", "leader failed", "leader backed fails"),
)
"""Terms of the score of a team; see `evidence.Watched.team`."""
EVIDENCE_CARDS: Final = tuple(
    f"{evil} evil, {fails} fails, {stage} quest, {size}"
    for evil in ("no", "one", "two", "more")
    for fails in ("no", "one", "more")
    for stage in ("first", "second", "later")
    for size in ("pair", "larger")
)
"""Cells of the score of the cards of a quest."""

NUMBERS: Final = f"numbers from -{_LARGEST:g} to {_LARGEST:g}"
"""What files hold."""
Term = Annotated[float, Field(ge=-_LARGEST, le=_LARGEST)]
Terms = tuple[Term, ...]


@dataclass(frozen=True)
class AvalonHabits:
    """How often seats do what, as the inference supposes. Fractions."""

    approve_dirty_evil: float = 0.75
    """An evil seat that knows its fellows approves a team with an evil member."""
    approve_clean_evil: float = 0.35
    """... and a team without one."""
    approve_dirty_merlin: float = 0.15
    approve_clean_merlin: float = 0.85
    approve_blind: float = 0.55
    """A seat that knows nobody approves any team."""
    fail: float = 0.8
    """An evil member of a team plays fail."""
    good_fails: float = 0.001
    """A good member plays fail (only some rules allow it)."""
    evil_on_own_team: float = 0.9
    """An evil leader takes a seat of its side, itself as a rule."""
    clean_team_merlin: float = 0.9
    """Merlin leads a team that he knows to be clean."""
    accuse_evil: float = 0.6
    """A good seat's accusation hits an evil one."""
    evil_accuses_evil: float = 0.15
    """An evil seat's accusation hits an evil one."""
    defend_evil: float = 0.25
    """A good seat's defence or recommendation goes to an evil one."""
    evil_defends_evil: float = 0.55
    """An evil seat's does."""


@dataclass(frozen=True)
class PublicEvidence:
    """What public events tell about the evil side: coefficients of scores (`evidence.py`)."""

    votes: Annotated[tuple[Annotated[Terms, Named(EVIDENCE_VOTES)], ...], Named(CLASSES)]
    """By `CLASSES`, each by `EVIDENCE_VOTES`."""
    teams: Annotated[tuple[Annotated[Terms, Named(EVIDENCE_TEAMS)], ...], Named(CLASSES)]
    """By `CLASSES`, each by `EVIDENCE_TEAMS`."""
    cards: Annotated[Terms, Named(EVIDENCE_CARDS)]
    """By `EVIDENCE_CARDS`."""


class DealScores(Protocol):
    """Scores of the events of one game under all deals of a belief: log weights of shape (H,)."""

    def copied(self) -> DealScores:
        """The same for another belief of the same deals."""
        ...

    def lead(self, quest: int) -> None:
        """A proposal begins."""
        ...

    def score(self, good: int, evil: int) -> None:
        """Quests won so far."""
        ...

    def words(self, speaker: int, words: str, *, reason: bool) -> Array | None:
        """A seat speaks to all, `reason`: with a team; None where words are no evidence."""
        ...

    def team(self, leader: int, team: Sequence[int]) -> Array:
        """A leader names a team; to itself its own tells nothing."""
        ...

    def votes(self, team: Sequence[int], votes: Sequence[int], without: Sequence[int] = ()) -> Array:
        """All votes on a team are shown; to itself a seat's own vote tells nothing, and the votes of `without` are left out."""
        ...

    def cards(self, team: Sequence[int], fails: int, own_card: int | None) -> Array:
        """The fails of a quest are shown; `own_card` is that of the seat itself, if it was on the team."""
        ...

    def own_team(self, team: Sequence[int]) -> Array:
        """How likely the seat, as leader, is to name a team."""
        ...

    def own_vote(self, team: Sequence[int], vote: int) -> Array:
        """How likely the seat is to vote so on a team."""
        ...

    def own_card(self, team: Sequence[int], card: int) -> Array:
        """How likely the seat is to play a card (1 success)."""
        ...


@dataclass(frozen=True)
class LearnedHabits(AvalonHabits):
    """Habits with what records taught; where that is None, the fixed rates count."""

    evidence: PublicEvidence | None = None

    @property
    def learned(self) -> bool:
        """Whether events are scored, not judged by the fixed rates."""
        return self.evidence is not None

    def scores(self, key: Key) -> DealScores:
        """What scores the events of a game under the deals of a key, where habits other than evidence are `learned`."""
        raise NotImplementedError


class LearnedForm(Settings):
    """What a file holds of `LearnedHabits`."""

    called = "habits"

    evidence: Annotated[PublicEvidence | None, Accepts(NUMBERS), SPARSE] = None
    """What public events tell."""


class HabitsFile(HabitsByPlayers[LearnedHabits]):
    """Learned habits by number of players."""

    game, kind, form = "avalon_v0", LearnedHabits, LearnedForm


read_habits = HabitsFile.read
