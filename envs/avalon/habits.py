"""How seats of Avalon behave, as a belief supposes: the rates that beliefs go by, and what is learned from recorded games.

`AvalonHabits` holds fixed rates, the same at every table. `LearnedHabits` adds conduct learned from records (`parlour train habits`):
log-odds that depend on what all have seen, by kind of seat; `conduct.py` says of what. They come in a file, one set for each
number of players:

    {"parlour_habits": 1, "game": "avalon_v0", "players": {"5": {"conduct": {"votes": {"evil, dirty": {"always": 3.1, ...}, ...},
     "teams": {...}, "cards": {...}, "weights": {...}}, "words": {"weight": 0.6, "Merlin": {"propose": {"always": 1.0, ...},
     "defend": {...}, "accuse": {...}}, ...}}, ...}, ...}

Every other key of the file is a note of who wrote it. A file may come from anybody: it is read as `json_values` has it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.json_values import json_value

FORMAT: Final = 1
_GAME: Final = "avalon_v0"

VOTERS: Final = ("evil, dirty", "evil, clean", "Merlin, dirty", "Merlin, clean", "good", "Oberon")
"""Kinds of voters: an evil seat that knows its fellows, and Merlin, each by what it knows of the team; good seats that know nobody's
side; Oberon."""
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
"""What words may say of a seat, but for nothing; see `spoken.py`."""
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
    """What seats say of each other, learned from records: sums of terms in log-odds."""

    stances: tuple[tuple[Terms, ...], ...]
    """By `LEADERS` (kinds of speakers), each by `STANCES`, each by `CLAIM_TERMS`."""
    weight: float = 1.0
    """How much the words count, as `Weights`."""


@dataclass(frozen=True)
class LearnedHabits(AvalonHabits):
    """Habits with what records taught; where that is None, the fixed rates count."""

    conduct: Conduct | None = None
    words: ClaimHabits | None = None
    """What words tell, beside conduct; None: words tell nothing."""


@dataclass(frozen=True)
class HabitsFile:
    """Habits by number of players."""

    by_players: Mapping[int, LearnedHabits]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def of(self, num_players: int) -> LearnedHabits:
        """The habits for a table. Raises `ParlourError` where the file has none."""
        if num_players not in self.by_players:
            held = ", ".join(map(str, sorted(self.by_players)))
            raise ParlourError(f"habits of {num_players} players are not in the file; accepted: {held} players")
        return self.by_players[num_players]

    def as_json(self) -> dict[str, Any]:
        """What `read_habits` reads."""
        players = {str(n): _told(habits) for n, habits in sorted(self.by_players.items())}
        return {"parlour_habits": FORMAT, "game": _GAME, **self.notes, "players": players}


def read_habits(path: str | Path) -> HabitsFile:
    """Read a file of habits. Raises `ParlourError` if it cannot be read or holds something else."""
    try:
        found = json_value(Path(path).read_bytes())
    except (OSError, ValueError) as error:
        raise ParlourError(f"habits {str(path)!r} cannot be used: {error}") from None
    if not isinstance(found, dict) or found.get("parlour_habits") != FORMAT or found.get("game") != _GAME:
        raise ParlourError(
            f"{str(path)!r} holds no habits of {_GAME}; accepted: a file that `parlour train habits` wrote"
        )
    try:
        players = {int(n): _habits(told) for n, told in found["players"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ParlourError(f"habits {str(path)!r} cannot be used: {error!r} is missing or no finite number") from None
    return HabitsFile(players, {key: value for key, value in found.items() if key not in _OWN_KEYS})


_OWN_KEYS: Final = ("parlour_habits", "game", "players")
_WEIGHTS: Final = tuple(Weights.__dataclass_fields__)


def _told(habits: LearnedHabits) -> dict[str, Any]:
    return {
        **({} if habits.conduct is None else {"conduct": _told_conduct(habits.conduct)}),
        **({} if habits.words is None else {"words": _told_words(habits.words)}),
    }


def _told_conduct(conduct: Conduct) -> dict[str, Any]:
    return {
        "votes": {kind: _named(VOTE_TERMS, terms) for kind, terms in zip(VOTERS, conduct.votes, strict=True)},
        "teams": {kind: _named(TEAM_TERMS, terms) for kind, terms in zip(LEADERS, conduct.teams, strict=True)},
        "cards": _named(CARD_TERMS, conduct.cards) | {"joins": conduct.joins},
        "weights": {name: getattr(conduct.weights, name) for name in _WEIGHTS},
    }


def _told_words(words: ClaimHabits) -> dict[str, Any]:
    kinds = zip(LEADERS, words.stances, strict=True)
    told = {k: {s: _named(CLAIM_TERMS, t) for s, t in zip(STANCES, two, strict=True)} for k, two in kinds}
    return {"weight": words.weight, **told}


def _named(names: tuple[str, ...], terms: Terms) -> dict[str, float]:
    return dict(zip(names, terms, strict=True))


def _habits(told: Mapping[str, Any]) -> LearnedHabits:
    return LearnedHabits(
        conduct=_conduct(told["conduct"]) if "conduct" in told else None,
        words=_words(told["words"]) if "words" in told else None,
    )


def _conduct(told: Mapping[str, Any]) -> Conduct:
    return Conduct(
        tuple(_terms(told["votes"][kind], VOTE_TERMS) for kind in VOTERS),
        tuple(_terms(told["teams"][kind], TEAM_TERMS) for kind in LEADERS),
        _terms(told["cards"], CARD_TERMS),
        _number(told["cards"]["joins"]),
        Weights(*_terms(told["weights"], _WEIGHTS)),
    )


def _words(told: Mapping[str, Any]) -> ClaimHabits:
    stances = tuple(tuple(_terms(told[kind][stance], CLAIM_TERMS) for stance in STANCES) for kind in LEADERS)
    return ClaimHabits(stances, _number(told["weight"]))


def _terms(told: Mapping[str, Any], names: tuple[str, ...]) -> Terms:
    return tuple(_number(told[name]) for name in names)


def _number(value: Any) -> float:
    """Raises `ValueError` for anything but a finite number of a size that a likelihood can have."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or abs(value) > LARGEST
    ):
        raise ValueError(value)
    return float(value)


LARGEST: Final = 50.0
"""No term is larger: beyond it log-odds are certainty."""
