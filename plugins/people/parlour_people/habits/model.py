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
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from parlour.envs.avalon.deals import Key
from parlour.envs.avalon.habits import (
    LEADERS,
    DealScores,
    LearnedHabits,
    Terms,
    evidence_json,
    named,
    number_of,
    read_evidence,
    terms_of,
)
from parlour.envs.hidden_roles.habit_files import HabitsByPlayers

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

    votes: float = 1.0
    teams: float = 1.0
    cards: float = 1.0


@dataclass(frozen=True)
class Conduct:
    """What seats do, learned from records: sums of terms in log-odds."""

    votes: tuple[Terms, ...]
    """By `VOTERS`, each by `VOTE_TERMS`."""
    teams: tuple[Terms, ...]
    """By `LEADERS`, each by `TEAM_TERMS`."""
    cards: Terms
    """By `CARD_TERMS`."""
    joins: float
    """Log-odds that a further evil member fails a quest that one fails."""
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class ClaimHabits:
    """What seats say about each other, learned from records: sums of terms in log-odds."""

    stances: tuple[tuple[Terms, ...], ...]
    """By `LEADERS` (kinds of speakers), each by `STANCES`, each by `CLAIM_TERMS`."""
    weight: float = 1.0
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

    def scores(self, key: Key) -> DealScores:
        """The log likelihoods of events by conduct, or their scores by evidence."""
        from parlour_people.habits.likelihoods import Likelihoods

        if self.conduct is None:
            return super().scores(key)
        return Likelihoods(key, self.conduct, self, self.words)


class PeopleHabitsFile(HabitsByPlayers[PeopleHabits]):
    """Learned habits by number of players."""

    game = "avalon_v0"

    @staticmethod
    def _as_json(habits: PeopleHabits) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if (conduct := habits.conduct) is not None:
            values["conduct"] = {
                "votes": {kind: named(VOTE_TERMS, terms) for kind, terms in zip(VOTERS, conduct.votes, strict=True)},
                "teams": {kind: named(TEAM_TERMS, terms) for kind, terms in zip(LEADERS, conduct.teams, strict=True)},
                "cards": named(CARD_TERMS, conduct.cards) | {"joins": conduct.joins},
                "weights": asdict(conduct.weights),
            }
        if (evidence := habits.evidence) is not None:
            values["evidence"] = evidence_json(evidence)
        if (words := habits.words) is not None:
            by_kind = zip(LEADERS, words.stances, strict=True)
            values["words"] = {"weight": words.weight} | {
                kind: {stance: named(CLAIM_TERMS, terms) for stance, terms in zip(STANCES, stances, strict=True)}
                for kind, stances in by_kind
            }
        return values

    @staticmethod
    def _from_json(values: Mapping[str, Any]) -> PeopleHabits:
        return PeopleHabits(
            conduct=_conduct(values["conduct"]) if "conduct" in values else None,
            evidence=read_evidence(values["evidence"]) if "evidence" in values else None,
            words=_words(values["words"]) if "words" in values else None,
        )


read_people_habits = PeopleHabitsFile.read
_WEIGHTS: Final = tuple(Weights.__dataclass_fields__)


def _conduct(values: Mapping[str, Any]) -> Conduct:
    return Conduct(
        tuple(terms_of(values["votes"][kind], VOTE_TERMS) for kind in VOTERS),
        tuple(terms_of(values["teams"][kind], TEAM_TERMS) for kind in LEADERS),
        terms_of(values["cards"], CARD_TERMS),
        number_of(values["cards"]["joins"]),
        Weights(*terms_of(values["weights"], _WEIGHTS)),
    )


def _words(values: Mapping[str, Any]) -> ClaimHabits:
    stances = tuple(tuple(terms_of(values[kind][stance], CLAIM_TERMS) for stance in STANCES) for kind in LEADERS)
    return ClaimHabits(stances, number_of(values["weight"]))
