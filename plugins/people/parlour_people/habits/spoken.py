"""How likely public words of Avalon are under each deal: what a seat says about each seat, by conduct learned from records.

What a statement claims (`parlour.envs.language.claims`) becomes one stance to each seat, by `STANCES`: accuse, else defend, else propose, else
nothing is said about it; claims about some of several seats count half, and yield to a whole one. Speech depends on the speaker's
kind and on public events and words. Terms of a stance, in log-odds against saying nothing, by `CLAIM_TERMS`:

    always          1, of other seats
    self            1, of the speaker
    doubt           log-odds that the seat is evil as the speaker would see it if it were good and went by the quests' cards alone,
                    less those before the first quest; 0 of the speaker
    evil            the seat is evil, as far as the speaker knows (hearsay for good seats and Oberon, of all)
    evil and doubt  their product
    against, for    the share of the statements heard in this quest that accused the seat, and that proposed or defended it
    reason          the words of a leader with a team
    later quest, first quest
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon.habits import Terms
from parlour.envs.avalon.public import Public
from parlour.envs.avalon.vocabulary import TEAM
from parlour.envs.language.claims import claims
from parlour.envs.language.speech import ACCUSE, DEFEND

from parlour_people.habits.conduct import SURE
from parlour_people.habits.model import CLAIM_TERMS

NOTHING, PROPOSED, DEFENDED, ACCUSED = range(4)
_STANCE_OF = {TEAM: PROPOSED, DEFEND: DEFENDED, ACCUSE: ACCUSED}
_EVIL, _EVIL_AND_DOUBT, _DOUBT = (CLAIM_TERMS.index(term) for term in ("evil", "evil and doubt", "doubt"))
_CERTAIN = 0.98
"""No doubt is taken to be larger."""


Reader = Callable[[str, int, int], tuple[Any, ...]]
"""Words, who speaks, how many players -> what is claimed; `parlour.envs.language.claims.claims`, or a language model."""


class Heard:
    """What was said about each seat in the quest so far.

    Args:
        players: How many sit at the table.
    """

    def __init__(self, players: int) -> None:
        self.of_seats: NDArray[np.float64] = np.zeros((4, players))
        """By stance and seat: how many statements."""
        self.statements = 0
        self._quest = -1

    def lead(self, quest: int) -> None:
        """A proposal begins; with a new quest what was said is over."""
        if quest != self._quest:
            self.of_seats, self.statements, self._quest = np.zeros_like(self.of_seats), 0, quest

    def hear(self, stances: NDArray[np.intp]) -> None:
        """A statement with these stances to the seats, shape (n,)."""
        self.of_seats = self.of_seats + (np.arange(4)[:, None] == stances)
        self.statements += 1


@lru_cache(maxsize=1 << 14)
def stances(words: str, speaker: int, players: int, reader: Reader = claims) -> tuple[int, ...]:
    """The stance of a statement to each seat, a number; never an accusation of the speaker."""
    strength = np.zeros((4, players))
    for claim in reader(words, speaker, players):
        row = _STANCE_OF.get(claim.kind, NOTHING)
        for seat in claim.seats:
            strength[row, seat] = max(strength[row, seat], 0.5 if claim.some else 1.0)
    accused = (strength[ACCUSED] > 0) & (strength[ACCUSED] >= strength[[PROPOSED, DEFENDED]].max(axis=0))
    other = np.where(strength[DEFENDED] > 0, DEFENDED, np.where(strength[PROPOSED] > 0, PROPOSED, NOTHING))
    return tuple(int(stance) for stance in np.where(accused, ACCUSED, other))


def claim_terms(public: Public, counts: Heard, speaker: int, *, reason: bool) -> NDArray[np.float64]:
    """The terms of the speaker's stance to each seat except for `evil`, which is 0 here; shape (n, terms).

    Args:
        public: What all have seen.
        counts: What was said before.
        speaker: Who speaks.
        reason: Whether the words come with a team.
    """
    n = public.sides.shape[1]
    own = np.arange(n) == speaker
    shares = counts.of_seats / max(1, counts.statements)
    stage = np.broadcast_to((float(reason), float(public.quest > 1), float(public.quest == 0)), (n, 3))
    nothing = np.zeros(n)
    return np.column_stack(
        [
            ~own,
            own,
            _doubts(public, speaker),
            nothing,
            nothing,
            shares[ACCUSED],
            shares[PROPOSED] + shares[DEFENDED],
            stage,
        ]
    ).astype(np.float64)


def with_evil(terms: NDArray[np.float64], evil: NDArray[np.float64]) -> NDArray[np.float64]:
    """The terms where these seats are evil as far as the speaker knows, 0/1 of shape (n,)."""
    rows = terms.copy()
    rows[:, _EVIL] = evil
    rows[:, _EVIL_AND_DOUBT] = evil * terms[:, _DOUBT]
    return rows


def log_stances(
    terms: NDArray[np.float64], chosen: Sequence[int], coefficients: Sequence[Terms]
) -> NDArray[np.float64]:
    """Log likelihood of the stance to each seat, shape (n,), by coefficients for `STANCES`."""
    odds = np.column_stack([np.zeros(len(terms)), terms @ np.array(coefficients).T])
    top = odds.max(axis=1)
    total = top + np.log(np.exp(odds - top[:, None]).sum(axis=1))
    logs: NDArray[np.float64] = odds[np.arange(len(terms)), np.array(chosen)] - total
    return logs.clip(min=log(SURE))


def _doubts(public: Public, speaker: int) -> NDArray[np.float64]:
    sides = public.sides
    if_good = (1 - sides[:, speaker]) * public.by_cards
    chance = ((if_good @ sides) / max(float(if_good.sum()), 1e-300)).clip(1 - _CERTAIN, _CERTAIN)
    before = float(sides[0].sum()) / (sides.shape[1] - 1)
    doubts: NDArray[np.float64] = np.log(chance / (1 - chance)) - log(before / (1 - before))
    doubts[speaker] = 0.0
    return doubts
