"""The whole tree of a small game, which OpenSpiel then plays in C++: its CFR runs a hundred times faster there.

The tree is written in Gambit's format for extensive games (https://gambitproject.readthedocs.io, "The extensive game
(.efg) file format") and read by OpenSpiel's `efg_game`. Information sets are the adapter's, numbered as they are met.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyspiel
from parlour.envs.core import ParlourError
from parlour.wrappers.openspiel.state import Moment

MOST: Final = 2_000_000
"""Nodes of the largest tree that is written."""

Rows = dict[str, list[float]]
"""Information set -> probabilities of the legal actions, ascending by number."""


class Tree:
    """A game of `openspiel_game` as a tree.

    Args:
        game: With explicit chance.

    Raises:
        ParlourError: Chance is sampled, or the tree has more than `MOST` nodes.
    """

    def __init__(self, game: Any) -> None:
        if not game.table.explicit:
            raise ParlourError(f"chance is sampled at this table ({game}); accepted: tables with explicit chance")
        self._numbers: dict[tuple[int, str], int] = {}
        """(player, information set) -> number, from 1, for each player."""
        self._met = [0] * game.num_players()
        self.nodes = 0
        players = " ".join(f'"{k}"' for k in range(game.num_players()))
        self.text = "\n".join([f'EFG 2 R "{game.name}" {{ {players} }}', *self._lines(game.table.root)]) + "\n"
        self.game = pyspiel.load_efg_game(self.text)
        """OpenSpiel's game."""

    @property
    def infosets(self) -> int:
        """How many there are, of all players."""
        return len(self._numbers)

    def rows(self, policy: Any) -> Rows:
        """A policy of `self.game`, for instance `average_policy()` of a C++ solver, in terms of the adapter's game."""
        rows: Rows = {}
        for (player, known), number in self._numbers.items():
            # OpenSpiel numbers the tree's actions as they are met, and at each node takes its k-th smallest number for
            # the k-th branch, whatever the label says: the order is what counts
            chances = policy.action_probabilities(f"{player}-{player}-{number}-")
            rows[known] = [chance for _, chance in sorted(chances.items())]
        return rows

    def _lines(self, at: Moment) -> Iterator[str]:
        self.nodes += 1
        if self.nodes > MOST:
            raise ParlourError(f"the tree has more than {MOST} nodes; accepted: a smaller table")
        table = at.table
        if at.player == pyspiel.PlayerId.TERMINAL:
            returns = table.game.outcome(at.state).returns
            yield f't "" {self.nodes} "" {{ {" ".join(map(repr, returns))} }}'
            return
        if at.player == pyspiel.PlayerId.CHANCE:
            chances = table.chances(at.state)
            text = " ".join(f'"c{k}" {p!r}' for k, (_, p) in enumerate(chances))
            yield f'c "" {self.nodes} "" {{ {text} }} 0'
            moves = [move for move, _ in chances]
        else:
            key = (at.player, at.infoset(at.player))
            if key not in self._numbers:
                self._met[at.player] += 1
                self._numbers[key] = self._met[at.player]
            text = " ".join(f'"{action}"' for action in at.legal)
            yield f'p "" {at.player + 1} {self._numbers[key]} "" {{ {text} }} 0'
            moves = [table.game.catalogue[action] for action in at.legal]
        for move in moves:
            yield from self._lines(at.after(move))
