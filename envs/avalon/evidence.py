"""What public events tell about the evil side, as records teach it: a score for each deal, not a model of conduct.

A likelihood says how seats behave. A score says how much an event speaks for a deal, whatever else was seen: its coefficients are
fitted so that the deals' posterior, the exponential of all scores so far, gives the true deal the greatest probability.
`habits.PublicEvidence` holds them.

A vote scores `vote - USUAL` times a sum of terms (`EVIDENCE_VOTES`), whose coefficients depend on what the voter is and on how many
evil seats that it knows are on the team. A team scores a sum of terms (`EVIDENCE_TEAMS`) in the same way. The cards of a quest score
by the number of evil members, of fails, and the stage of the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Final

import numpy as np
from parlour.envs.avalon.deals import Array, Key, Numbers, teams
from parlour.envs.avalon.habits import COUNTS, EVIDENCE_CARDS, EVIDENCE_VOTES, AvalonHabits, PublicEvidence
from parlour.envs.avalon.public import Public

USUAL: Final = 0.55
"""The share of votes that approve, about."""
IMPOSSIBLE: Final = -30.0
"""The score of more fails than evil members."""
_OTHERS: Final = [EVIDENCE_VOTES.index("others"), EVIDENCE_VOTES.index("others at last")]
_MOST: Final = len(COUNTS) - 1
_CARD_COUNTS, _CARD_FAILS, _STAGES, _PAIRS = 4, 3, 3, 2


class Watched:
    """What all have seen of a game, as far as evidence depends on it.

    Args:
        key: Whose deals; what the seat itself knows does not matter here.
    """

    def __init__(self, key: Key) -> None:
        self._all = key._replace(seat=-1, role="", knows=())
        self.n = len(key.roles)
        self.public = Public(self._all.sides()[0])
        self._approved: Array = np.zeros(self.n)
        self._ballots = 0
        self._failed: Array = np.zeros(self.n)
        self._succeeded: Array = np.zeros(self.n)
        self._backed: Array = np.zeros(self.n)
        self._blocked: Array = np.zeros(self.n)
        self._leader = 0
        self._votes: Array = np.zeros(self.n)

    def copied(self) -> Watched:
        """The same for another belief; arrays are replaced, never changed."""
        other = copy(self)
        other.public = copy(self.public)
        return other

    def team(self, leader: int, team: Sequence[int]) -> Array:
        """A leader names a team: its terms, by `EVIDENCE_TEAMS`."""
        self._leader = leader
        self.public.propose(team)
        members, doubts = list(team), self._doubts(team)
        size = max(len(team), 1)  # some rules let a leader name nobody
        kept, again = (len(set(members) & set(team)) / size for members in (self.public.kept, self.public.again))
        public = self.public
        return np.array(
            [
                1.0,
                float(leader in team),
                doubts[leader],
                kept,
                again,
                float(public.proposals > 1),
                float(public.quest == 0),
                float(public.quest == 1),
                float(public.evil == 2),
                float(public.good == 2),
                self._failed[members].max(initial=0.0),
                self._failed[leader],
                self._backed[leader],
            ]
        )

    def votes(self, team: Sequence[int], votes: Sequence[int]) -> Array:
        """All votes on it are shown: the terms of each voter, by `EVIDENCE_VOTES`, times how far its vote is from the usual;
        shape (n, terms).
        """
        n, public = self.n, self.public
        cast = np.array(votes, dtype=np.float64)
        own, on_team = np.zeros(n), np.zeros(n)
        on_team[list(team)] = 1.0
        own[self._leader], on_team[self._leader] = 1.0, 0.0
        others = (cast.sum() - cast) / (n - 1) - 0.5
        habit = (self._approved + 1) / (self._ballots + 2) - 0.5
        last = float(public.proposals == 5)
        second, later, again, *two = public.stage()
        failed = self._failed[self._leader], self._failed[list(team)].max(initial=0.0)
        of_table = (second, later, again, (public.proposals - 1) / 4, last, *two, *failed)
        stage = np.broadcast_to(of_table, (n, len(of_table)))
        terms = np.column_stack(
            [
                np.ones(n),
                own,
                on_team,
                self._doubts(team),
                stage,
                others,
                others * last,
                habit,
                self._failed,
                self._succeeded,
                self._backed,
                self._blocked,
            ]
        )
        self._approved, self._ballots, self._votes = self._approved + cast, self._ballots + 1, cast
        return terms * (cast - USUAL)[:, None]

    def cards(self, team: Sequence[int], fails: int) -> int:
        """The cards of a quest are shown: the cell in `EVIDENCE_CARDS` for no evil member."""
        stage, pair = min(self.public.quest, _STAGES - 1), int(len(team) > _PAIRS)
        self.public.see_cards(team, fails)
        return (min(fails, _CARD_FAILS - 1) * _STAGES + stage) * 2 + pair

    def score(self, team: Sequence[int], good: int, evil: int) -> None:
        """Quests won so far; the last one had this team."""
        on = np.zeros(self.n)
        on[list(team)] = 1.0
        if good > self.public.good:
            self._succeeded, self._blocked = self._succeeded + on, self._blocked + (1 - self._votes)
        else:
            self._failed, self._backed = self._failed + on, self._backed + self._votes
        self.public.score(good, evil)

    def _doubts(self, team: Sequence[int]) -> Array:
        size = len(team)
        number = teams(self.n, size).index(tuple(sorted(team)))
        return self.public.doubts(self._all.clean(size))[:, number]


CARD_STRIDE: Final = _CARD_FAILS * _STAGES * 2
"""From the scores of one number of evil members to the next."""
assert len(EVIDENCE_CARDS) == _CARD_COUNTS * CARD_STRIDE


class EventScores:
    """The scores of the events of one game under all deals of a belief, each of shape (H,).

    Args:
        key: Whose deals.
        evidence: The coefficients.
    """

    def __init__(self, key: Key, evidence: PublicEvidence) -> None:
        self._key = key
        self._kinds, self._known = key.known_evil()
        self._evil = self._known[-1]
        self._votes, self._teams = np.array(evidence.votes), np.array(evidence.teams)
        self._cards = np.array(evidence.cards)
        self.watched = Watched(key)
        self._team: tuple[int, ...] = ()

    def copied(self) -> EventScores:
        """The same for another belief of the same deals."""
        other = copy(self)
        other.watched = self.watched.copied()
        return other

    def lead(self, quest: int) -> None:
        """A proposal begins."""
        self.watched.public.lead(quest)

    def score(self, good: int, evil: int) -> None:
        """Quests won so far."""
        self.watched.score(self._team, good, evil)

    def words(self, speaker: int, words: str, *, reason: bool) -> None:
        """Words are no evidence."""

    def team(self, leader: int, team: Sequence[int]) -> Array:
        """A leader names a team; to itself its own tells nothing."""
        self._team = tuple(team)
        terms = self.watched.team(leader, team)
        if leader == self._key.seat:
            return np.zeros(len(self._evil))
        return (self._teams @ terms)[self._classes(team)[:, leader]]

    def votes(self, team: Sequence[int], votes: Sequence[int], without: Sequence[int] = ()) -> Array:
        """All votes on a team are shown; to itself a seat's own vote tells nothing, and the votes of `without` are left out."""
        by_class = self.watched.votes(team, votes) @ self._votes.T
        if self._key.seat >= 0:
            by_class[self._key.seat] = 0.0
        by_class[list(without)] = 0.0
        scores: Array = by_class[np.arange(len(by_class)), self._classes(team)].sum(axis=1)
        return scores

    def cards(self, team: Sequence[int], fails: int, own_card: int | None) -> Array:
        """The fails of a quest are shown; `own_card` is that of the seat itself, if it was on the team."""
        evil = self._evil[:, list(team)].sum(axis=1)
        scores = self._cards[np.minimum(evil, _CARD_COUNTS - 1) * CARD_STRIDE + self.watched.cards(team, fails)]
        possible = fails <= evil
        if own_card is not None and self._key.seat in team:
            others = evil - self._evil[:, self._key.seat]
            possible = (fails - (1 - own_card) >= 0) & (fails - (1 - own_card) <= others)
        return np.where(possible, scores, IMPOSSIBLE)

    # -- the seat's own moves, before they are made, beside those under other deals: in (0, 1], shape (H,) -----------------

    def own_team(self, team: Sequence[int]) -> Array:
        """That the seat, as leader, names a team."""
        me = self._key.seat
        scores = (self._teams @ self.watched.copied().team(me, team))[self._classes(team)[:, me]]
        chances: Array = np.exp(scores - scores.max())
        return chances

    def own_vote(self, team: Sequence[int], vote: int) -> Array:
        """That the seat votes so on a team, if half of the others approve."""
        me, n = self._key.seat, len(self._key.roles)
        terms = self.watched.copied().votes(team, (1,) * n)[me] / (1 - USUAL)
        terms[_OTHERS] = 0.0
        odds = (self._votes @ terms)[self._classes(team)[:, me]]
        chances: Array = 1 / (1 + np.exp(-odds if vote else odds))
        return chances

    def own_card(self, _team: Sequence[int], card: int) -> Array:
        """That the seat plays a card (1 success): the same under all deals, because they agree on its side."""
        habits = AvalonHabits()
        fails = habits.fail if self._evil[0, self._key.seat] else habits.good_fails
        return np.full(len(self._evil), fails if card == 0 else 1 - fails)

    def _classes(self, team: Sequence[int]) -> Numbers:
        """Which coefficients count for each seat in each deal, shape (H, n)."""
        counts = np.minimum(self._known[:, :, list(team)].sum(axis=2), _MOST)
        deals = np.arange(counts.shape[1])[:, None]
        classes: Numbers = self._kinds * len(COUNTS) + counts[self._kinds, deals]
        return classes
