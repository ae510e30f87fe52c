"""Conduct and words of Avalon learned from records, as habits that a belief takes in place of the fixed rates.

`PeopleHabits` hold conduct: log-odds that depend on what all have seen, by kind of seat; `conduct.py` lists the events. They come in
a file, one set for each number of players:

    {"parlour_habits": 1, "game": "avalon_v0", "players": {"5": {"conduct": {"votes": {"evil, dirty": {"always": 3.1, ...}, ...},
     "teams": {...}, "cards": {...}, "weights": {...}}, "words": {"weight": 0.6, "Merlin": {"propose": {"always": 1.0, ...},
     "defend": {...}, "accuse": {...}}, ...}, "evidence": {...}}, ...}, ...}

Every other key of the file is a note of who wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from parlour.envs.avalon.deals import Key
from parlour.envs.avalon.habits import (
    LEADERS,
    LearnedHabits,
    PublicEvidence,
    Term,
    Terms,
)
from parlour.envs.hidden_roles.habit_files import HabitsByPlayers, Named
from parlour.envs.settings import SPARSE, Accepts, Settings
from pydantic import BeforeValidator, SerializerFunctionWrapHandler, WrapSerializer

NUMBERS: Final = "numbers from -50 to 50"

VOTERS: Final = ("evil, dirty", "evil, clean", "Merlin, dirty", "Merlin, clean", "good", "Oberon")
"""Kinds of voters: an evil seat that knows its fellows, and Merlin, each by its knowledge about the team; good seats that know
nobody's side; Oberon."""
VOTE_TERMS: Final = (
    "always",
    "own",
    "on team",
    "doubt",
    "dirty",
    "second quest",
    "later quest",
    "again",
    "evil two",
    "good two",
    "mood",
)
"""What the log-odds of an approval are the sum of; see `conduct.vote_terms`."""
TEAM_TERMS: Final = ("self", "doubt", "dirty", "more evil", "kept", "again")
"""What the weight of a team among all of its size is the sum of; see `conduct.team_terms`."""
CARD_TERMS: Final = ("always", "first quest", "second quest", "pair", "several", "evil two", "good two")
"""What the log-odds that a quest with evil members fails are the sum of; see `conduct.card_terms`."""

STANCES: Final = ("propose", "defend", "accuse")
"""Stances of words to a seat, except none; see `spoken.py`."""
CLAIM_TERMS: Final = (
    "always",
    "self",
    "doubt",
    "evil",
    "evil and doubt",
    "against",
    "for",
    "reason",
    "later quest",
    "first quest",
)
"""What the log-odds of a stance to a seat, against saying nothing of it, are the sum of."""


@dataclass(frozen=True)
class Weights:
    """How much evidence of each kind counts: its log likelihood is multiplied by this. One is naive Bayes."""

    votes: Term = 1.0
    teams: Term = 1.0
    cards: Term = 1.0


@dataclass(frozen=True)
class Conduct:
    """What seats do, learned from records: sums of terms in log-odds."""

    votes: Annotated[tuple[Annotated[Terms, Named(VOTE_TERMS)], ...], Named(VOTERS)]
    """By `VOTERS`, each by `VOTE_TERMS`."""
    teams: Annotated[tuple[Annotated[Terms, Named(TEAM_TERMS)], ...], Named(LEADERS)]
    """By `LEADERS`, each by `TEAM_TERMS`."""
    cards: Annotated[Terms, Named(CARD_TERMS)]
    """By `CARD_TERMS`."""
    joins: Term
    """Log-odds that a further evil member fails a quest that one fails."""
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class ClaimHabits:
    """What seats say about each other, learned from records: sums of terms in log-odds."""

    stances: Annotated[
        tuple[Annotated[tuple[Annotated[Terms, Named(CLAIM_TERMS)], ...], Named(STANCES)], ...], Named(LEADERS)
    ]
    """By `LEADERS` (kinds of speakers), each by `STANCES`, each by `CLAIM_TERMS`."""
    weight: Term = 1.0
    """How much the words count, as `Weights`."""


@dataclass(frozen=True)
class PeopleHabits(LearnedHabits):
    """Habits with what records taught; where that is None, the fixed rates count. Evidence counts instead of conduct and words."""

    conduct: Conduct | None = None
    words: ClaimHabits | None = None
    """What words tell, beside conduct; None: words tell nothing."""

    @property
    def learned(self) -> bool:
        """Whether events are scored, not judged by the fixed rates."""
        return self.conduct is not None or self.evidence is not None

    @property
    def hears(self) -> bool:
        """Whether free words are evidence: the habits cover conduct and words."""
        return self.conduct is not None and self.words is not None and self.evidence is None

    def scores(self, key: Key) -> Any:
        """The log likelihoods of events by conduct, or their scores by evidence."""
        from parlour_people.habits.likelihoods import Likelihoods

        if self.conduct is None:
            return super().scores(key)
        return Likelihoods(key, self.conduct, self, self.words)


def _with_joins(conduct: Any) -> Any:
    """In files, `joins` is among the cards."""
    return {**conduct, "joins": conduct["cards"]["joins"]} if isinstance(conduct, Mapping) else conduct


def _conduct(conduct: Conduct, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
    values: dict[str, Any] = write(conduct)
    values["cards"]["joins"] = values.pop("joins")
    return values


def _with_stances(words: Any) -> Any:
    """In files, the stances lie beside their weight."""
    return {"stances": words, "weight": words["weight"]} if isinstance(words, Mapping) else words


def _words(words: ClaimHabits, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
    values = write(words)
    return {"weight": values["weight"], **values["stances"]}


class PeopleForm(Settings):
    """What a file holds of `PeopleHabits`."""

    called = "habits"

    conduct: Annotated[
        Annotated[Conduct, BeforeValidator(_with_joins), WrapSerializer(_conduct)] | None, Accepts(NUMBERS), SPARSE
    ] = None
    evidence: Annotated[PublicEvidence | None, Accepts(NUMBERS), SPARSE] = None
    words: Annotated[
        Annotated[ClaimHabits, BeforeValidator(_with_stances), WrapSerializer(_words)] | None, Accepts(NUMBERS), SPARSE
    ] = None


class PeopleHabitsFile(HabitsByPlayers[PeopleHabits]):
    """Learned habits by number of players."""

    game, kind, form = "avalon_v0", PeopleHabits, PeopleForm


read_people_habits = PeopleHabitsFile.read
