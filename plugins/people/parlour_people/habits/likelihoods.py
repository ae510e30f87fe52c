"""How likely each public event of a game of Avalon is under every deal of a belief, by learned conduct (`conduct.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon.deals import Key, team_rows, teams
from parlour.envs.avalon.habits import AvalonHabits
from parlour.envs.avalon.public import Public
from parlour.envs.language.claims import claims

from parlour_people.habits import conduct as terms, spoken
from parlour_people.habits.model import ClaimHabits, Conduct


class Likelihoods:
    """Log likelihoods of the events of one game, each of shape (H,), times the weight of its kind of evidence.

    Args:
        key: Whose deals.
        conduct: What seats do.
        habits: For the rate at which good seats fail.
        claimed: What seats say; None: words tell nothing.
        reader: What reads words.
    """

    def __init__(
        self,
        key: Key,
        conduct: Conduct,
        habits: AvalonHabits,
        claimed: ClaimHabits | None = None,
        reader: spoken.Reader = claims,
    ) -> None:
        self._key, self._conduct, self._habits, self._claimed, self._reader = key, conduct, habits, claimed, reader
        self._all = key._replace(seat=-1, role="", knows=())
        self.public = Public(self._all.sides()[0])
        self.stance_counts = spoken.Heard(len(key.roles))
        self._leader = 0

    def copied(self) -> Likelihoods:
        """The same for another belief of the same deals."""
        other = copy(self)
        other.public, other.stance_counts = (
            copy(self.public),
            copy(self.stance_counts),
        )  # counts are replaced, never changed
        return other

    def lead(self, quest: int) -> None:
        """A proposal begins."""
        self.public.lead(quest)
        self.stance_counts.lead(quest)

    def score(self, good: int, evil: int) -> None:
        """Quests won so far."""
        self.public.score(good, evil)

    def words(self, speaker: int, words: str, *, reason: bool = False) -> NDArray[np.float64] | None:
        """A seat speaks to all, `reason`: with a team; to itself its own words tell nothing. None: no words tell anything."""
        if self._claimed is None:
            return None
        n = len(self._key.roles)
        stances, terms = (
            spoken.stances(words, speaker, n, self._reader),
            spoken.claim_terms(self.public, self.stance_counts, speaker, reason=reason),
        )
        self.stance_counts.hear(np.array(stances))
        if speaker == self._key.seat:
            return np.zeros(len(self._key.tables().evil))
        others = (np.arange(n) != speaker).astype(np.float64)
        by_kind = []
        for (rows, inverse), coefficients in zip(known(self._key), self._claimed.stances, strict=True):
            if_good = spoken.log_stances(terms, stances, coefficients)
            if_evil = spoken.log_stances(spoken.with_evil(terms, others), stances, coefficients)
            by_kind.append((if_good.sum() + rows @ (if_evil - if_good))[inverse])
        return self._claimed.weight * np.choose(self._key.kinds()[:, speaker], by_kind)

    def team(self, leader: int, team: Sequence[int]) -> NDArray[np.float64]:
        """A leader names a team; to itself its own tells nothing."""
        self._leader = leader
        self.public.propose(team)
        if leader == self._key.seat:
            return np.zeros(len(self._key.tables().evil))
        doubts = self._doubts(len(team))[leader]
        members = team_rows(len(self._key.roles), len(team))
        chosen = teams(len(self._key.roles), len(team)).index(tuple(sorted(team)))
        by_kind = [
            terms.log_team(terms.team_terms(self.public, leader, doubts, members, rows), chosen, coefficients)[inverse]
            for (rows, inverse), coefficients in zip(known(self._key), self._conduct.teams, strict=True)
        ]
        kinds = self._key.kinds()[:, leader]
        return self._conduct.weights.teams * np.choose(kinds, by_kind)

    def votes(self, team: Sequence[int], votes: Sequence[int], without: Sequence[int] = ()) -> NDArray[np.float64]:
        """All votes on a team are shown; to itself a seat's own vote tells nothing, and the votes of `without` are left out."""
        n = len(self._key.roles)
        doubts = self._doubts(len(team))[:, teams(n, len(team)).index(tuple(sorted(team)))]
        vote_terms = terms.vote_terms(self.public, self._leader, team, doubts)
        cast = np.array(votes, dtype=np.float64)
        others = (np.arange(n) != self._key.seat).astype(np.float64)[:, None]
        others[list(without)] = 0.0
        total = np.zeros((len(self._key.tables().evil), len(terms.MOODS)))
        for kind, (rows, inverse) in enumerate(known(self._key)):
            dirty = (rows[:, list(team)].sum(axis=1) > 0)[inverse]
            pair = self._log_votes(kind, vote_terms, cast)
            is_kind = (self._key.kinds() == kind).astype(np.float64)
            total += np.where(dirty[:, None], is_kind @ (others * pair[0]), is_kind @ (others * pair[1]))
        return self._conduct.weights.votes * terms.over_moods(total)

    def cards(self, team: Sequence[int], fails: int, own_card: int | None) -> NDArray[np.float64]:
        """The fails of a quest are shown; `own_card` is that of the seat itself, if it was on the team."""
        size, me = len(team), self._key.seat
        chance = terms.fails_chances(self.public, size, fails, self._conduct, self._habits)
        evil = self._key.tables().evil
        if own_card is None or me not in team:
            likely = chance[evil[:, list(team)].sum(axis=1).astype(int)]
        else:
            if evil[0, me]:
                chance = terms.others_fail(self.public, size, fails, own_card, self._conduct, self._habits)
            else:
                chance = terms.fails_chances(self.public, size, fails - 1 + own_card, self._conduct, self._habits)
            likely = chance[evil[:, [j for j in team if j != me]].sum(axis=1).astype(int)]
        self.public.see_cards(team, fails)
        logs: NDArray[np.float64] = self._conduct.weights.cards * np.log(likely)
        return logs

    # -- the seat's own moves, before they are made: chances of shape (H,), without the weight of evidence -------------

    def own_team(self, team: Sequence[int]) -> NDArray[np.float64]:
        """That the seat, as leader, names a team, of all teams of this size."""
        n, me = len(self._key.roles), self._key.seat
        chosen = teams(n, len(team)).index(tuple(sorted(team)))
        doubts, members = self._doubts(len(team))[me], team_rows(n, len(team))
        kind = int(self._key.kinds()[0, me])
        rows, inverse = known(self._key)[kind]
        features = terms.team_terms(self.public, me, doubts, members, rows)
        return np.exp(terms.log_team(features, chosen, self._conduct.teams[kind]))[inverse]

    def own_vote(self, team: Sequence[int], vote: int) -> NDArray[np.float64]:
        """That the seat votes so on a team, whatever the mood."""
        n, me = len(self._key.roles), self._key.seat
        doubts = self._doubts(len(team))[:, teams(n, len(team)).index(tuple(sorted(team)))]
        features = terms.vote_terms(self.public, self._leader, team, doubts)[me : me + 1]
        kind, cast = int(self._key.kinds()[0, me]), np.array([float(vote)])
        rows, inverse = known(self._key)[kind]
        pair = self._log_votes(kind, features, cast)
        dirty, clean = (float(np.exp(terms.over_moods(logs))[0]) for logs in pair)
        return np.where((rows[:, list(team)].sum(axis=1) > 0)[inverse], dirty, clean)

    def own_card(self, team: Sequence[int], card: int) -> NDArray[np.float64]:
        """That the seat plays a card (1 success): of k evil members with f fails a given one fails in f / k of the cases."""
        me, evil = self._key.seat, self._key.tables().evil
        if not evil[0, me]:
            fails = np.full(len(evil), self._habits.good_fails)
            return fails if card == 0 else 1 - fails
        numbers = evil[:, list(team)].sum(axis=1).astype(int)
        firm = replace(self._habits, good_fails=0.0)
        chances = [terms.fails_chances(self.public, len(team), f, self._conduct, firm) for f in range(len(team) + 1)]
        failing = sum(min(f, numbers.max()) * chance[numbers] for f, chance in enumerate(chances)) / numbers
        plays: NDArray[np.float64] = np.clip(failing if card == 0 else 1 - failing, terms.SURE, 1.0)
        return plays

    def _log_votes(
        self, kind: int, features: NDArray[np.float64], cast: NDArray[np.float64]
    ) -> list[NDArray[np.float64]]:
        """Log likelihoods of votes by one kind of voter on a dirty and on a clean team, in each mood."""
        voters = self._conduct.votes
        if kind < 2:  # evil and Merlin know, and have coefficients for either
            return [terms.log_votes(features, cast, voters[2 * kind + is_clean]) for is_clean in (0, 1)]
        hearsay = features.copy()
        hearsay[:, terms.DIRTY] = 1.0
        return [terms.log_votes(by_team, cast, voters[2 + kind]) for by_team in (hearsay, features)]

    def _doubts(self, size: int) -> NDArray[np.float64]:
        return self.public.doubts(self._all.clean(size))


@lru_cache(maxsize=64)
def known(key: Key) -> tuple[tuple[NDArray[np.float64], NDArray[np.intp]], ...]:
    """Evil seats that influence a kind of seat, by `LEADERS`: different rows 0/1 (K, n), and which each deal has (H,).

    An evil seat does not know Oberon, Merlin not Mordred; for those who know nobody it is hearsay, of all.
    """
    evil, _, blind, mordred = key.tables()
    whole = _rows(evil)
    return _rows(evil * (1 - blind)), _rows(evil * (1 - mordred)), whole, whole


def _rows(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    rows, inverse = np.unique(table, axis=0, return_inverse=True)
    return rows, inverse.ravel()
