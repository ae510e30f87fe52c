"""How seats of Avalon behave, as a belief supposes: fixed rates, and habits learned from recorded games.

`AvalonHabits` holds fixed rates, the same at every table. `LearnedHabits` adds conduct learned from records (`parlour train habits`):
log-odds that depend on what all have seen, by kind of seat; `conduct.py` lists the events. They come in a file, one set for each
number of players:

    {"parlour_habits": 1, "game": "avalon_v0", "players": {"5": {"conduct": {"votes": {"evil, dirty": {"always": 3.1, ...}, ...},
     "teams": {...}, "cards": {...}, "weights": {...}}, "words": {"weight": 0.6, "Merlin": {"propose": {"always": 1.0, ...},
     "defend": {...}, "accuse": {...}}, ...}, "evidence": {...}}, ...}, ...}

Every other key of the file is a note of who wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from parlour.envs.habit_files import HabitsByPlayers

_LARGEST: Final = 50.0
"""No term is larger: beyond it log-odds are certainty."""
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
LEADERS: Final = ("evil", "Merlin", "good", "Oberon")
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

Terms = tuple[float, ...]


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
class PublicEvidence:
    """What public events tell about the evil side: coefficients of scores (`evidence.py`)."""

    votes: tuple[Terms, ...]
    """By `CLASSES`, each by `EVIDENCE_VOTES`."""
    teams: tuple[Terms, ...]
    """By `CLASSES`, each by `EVIDENCE_TEAMS`."""
    cards: Terms
    """By `EVIDENCE_CARDS`."""


@dataclass(frozen=True)
class LearnedHabits(AvalonHabits):
    """Habits with what records taught; where that is None, the fixed rates count."""

    conduct: Conduct | None = None
    evidence: PublicEvidence | None = None
    """What events tell, instead of the likelihoods of conduct; None: these."""
    words: ClaimHabits | None = None
    """What words tell, beside conduct; None: words tell nothing."""


class HabitsFile(HabitsByPlayers[LearnedHabits]):
    """Learned habits by number of players."""

    game = "avalon_v0"

    @staticmethod
    def _as_json(habits: LearnedHabits) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if (conduct := habits.conduct) is not None:
            values["conduct"] = {
                "votes": {kind: _named(VOTE_TERMS, terms) for kind, terms in zip(VOTERS, conduct.votes, strict=True)},
                "teams": {kind: _named(TEAM_TERMS, terms) for kind, terms in zip(LEADERS, conduct.teams, strict=True)},
                "cards": _named(CARD_TERMS, conduct.cards) | {"joins": conduct.joins},
                "weights": asdict(conduct.weights),
            }
        if (evidence := habits.evidence) is not None:
            values["evidence"] = {
                "votes": {kind: _named(EVIDENCE_VOTES, row) for kind, row in zip(CLASSES, evidence.votes, strict=True)},
                "teams": {kind: _named(EVIDENCE_TEAMS, row) for kind, row in zip(CLASSES, evidence.teams, strict=True)},
                "cards": _named(EVIDENCE_CARDS, evidence.cards),
            }
        if (words := habits.words) is not None:
            by_kind = zip(LEADERS, words.stances, strict=True)
            values["words"] = {"weight": words.weight} | {
                kind: {stance: _named(CLAIM_TERMS, terms) for stance, terms in zip(STANCES, stances, strict=True)}
                for kind, stances in by_kind
            }
        return values

    @staticmethod
    def _from_json(values: Mapping[str, Any]) -> LearnedHabits:
        return LearnedHabits(
            conduct=_conduct(values["conduct"]) if "conduct" in values else None,
            evidence=_evidence(values["evidence"]) if "evidence" in values else None,
            words=_words(values["words"]) if "words" in values else None,
        )


read_habits = HabitsFile.read
_WEIGHTS: Final = tuple(Weights.__dataclass_fields__)


def _named(names: tuple[str, ...], terms: Terms) -> dict[str, float]:
    return dict(zip(names, terms, strict=True))


def _conduct(values: Mapping[str, Any]) -> Conduct:
    return Conduct(
        tuple(_terms(values["votes"][kind], VOTE_TERMS) for kind in VOTERS),
        tuple(_terms(values["teams"][kind], TEAM_TERMS) for kind in LEADERS),
        _terms(values["cards"], CARD_TERMS),
        _number(values["cards"]["joins"]),
        Weights(*_terms(values["weights"], _WEIGHTS)),
    )


def _evidence(values: Mapping[str, Any]) -> PublicEvidence:
    return PublicEvidence(
        tuple(_terms(values["votes"][kind], EVIDENCE_VOTES) for kind in CLASSES),
        tuple(_terms(values["teams"][kind], EVIDENCE_TEAMS) for kind in CLASSES),
        _terms(values["cards"], EVIDENCE_CARDS),
    )


def _words(values: Mapping[str, Any]) -> ClaimHabits:
    stances = tuple(tuple(_terms(values[kind][stance], CLAIM_TERMS) for stance in STANCES) for kind in LEADERS)
    return ClaimHabits(stances, _number(values["weight"]))


def _terms(values: Mapping[str, Any], names: tuple[str, ...]) -> Terms:
    return tuple(_number(values[name]) for name in names)


def _number(value: Any) -> float:
    """Raises `ValueError` for anything but a finite number of a size that a likelihood can have."""
    # NaN is not <= anything
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _LARGEST:
        raise ValueError(value)
    return float(value)
