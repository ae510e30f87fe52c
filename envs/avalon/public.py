"""What all have seen of a game of Avalon: its stage, and what the quests' cards alone tell; and the kinds of seats in each deal."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from parlour.envs.avalon.deals import Array
from parlour.envs.avalon.habits import AvalonHabits


class Public:
    """Public knowledge of a game: its stage, and the evidence of the quest cards about the evil side.

    Args:
        sides: All evil sides, 0/1 of shape (E, n).
    """

    def __init__(self, sides: Array) -> None:
        self.sides = sides
        self.by_cards: Array = np.ones(len(sides))
        """How likely the cards are under each side, shape (E,)."""
        self.quest = self.proposals = self.good = self.evil = 0
        self.kept: tuple[int, ...] = ()
        """Members of the last quest that succeeded."""
        self.again: tuple[int, ...] = ()
        """Of the last team of this quest that was rejected."""
        self._team: tuple[int, ...] = ()

    def lead(self, quest: int) -> None:
        """A proposal begins."""
        new = quest != self.quest
        self.proposals = 1 if new else self.proposals + 1
        self.again = () if new else self._team
        self.quest = quest

    def propose(self, team: Sequence[int]) -> None:
        """A team is named."""
        self._team = tuple(team)

    def see_cards(self, team: Sequence[int], fails: int) -> None:
        """The cards of a quest are shown."""
        chance = plain_chances(len(team), fails)
        self.by_cards = self.by_cards * chance[self.sides[:, list(team)].sum(axis=1).astype(int)]
        self.by_cards = self.by_cards / self.by_cards.max()

    def score(self, good: int, evil: int) -> None:
        """Quests won so far."""
        if good > self.good:
            self.kept = self._team
        self.good, self.evil = good, evil

    def doubts(self, clean: Array) -> Array:
        """The term `doubt` of every seat and team: shape (n, teams).

        Args:
            clean: 1 where a team has no member of a side, shape (E, teams).
        """
        if_good = (1 - self.sides) * self.by_cards[:, None]
        chance: Array = (if_good.T @ clean) / np.maximum(if_good.sum(axis=0), 1e-300)[:, None]
        doubt: Array = 1 - chance / np.maximum(chance.max(axis=1, keepdims=True), 1e-300)
        return doubt

    def stage(self) -> tuple[float, ...]:
        """Terms that are the same for all voters, from `second quest` on."""
        return (
            float(self.quest == 1),
            float(self.quest > 1),
            float(self.proposals > 1),
            float(self.evil == 2),
            float(self.good == 2),
        )


def plain_chances(size: int, fails: int) -> Array:
    """The basis of `doubt`: fails by the number of evil members, if each fails at today's fixed rate, shape (size + 1,)."""
    rate = AvalonHabits().fail
    chance = [comb(k, fails) * rate**fails * (1 - rate) ** max(0, k - fails) for k in range(size + 1)]
    return np.array(chance).clip(min=1e-6)
