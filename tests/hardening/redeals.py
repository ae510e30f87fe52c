"""Re-deals: whatever reaches a seat is the same in two games that it cannot tell apart (`parlour.envs.testing.redeal`).

A try is a re-deal as that module counts them. Games of few moves are played until there are enough of them in an attempt.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from parlour.envs.core import Move
from parlour.envs.testing.redeal import Leak, redeals

from hardening.attack import Finding, Tried
from hardening.games import table_of, tables

ENOUGH = 60
"""Re-deals after which an attempt ends."""
GAMES = 40
"""Games of an attempt, at most."""


class SameKnowledge:
    """A seat gets the same, in every form and cycle by cycle, as long as it knows the same."""

    name = "redeals"
    share = 3.0

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        return tables(outside)

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        table, counts, tries = table_of(subject), Counter[str](), 0
        leaks: dict[str, Leak] = {}
        for _ in range(GAMES):
            found = redeals(table, rng, seats=1, twins=3)
            tries += found.moments
            counts.update({"twins": found.twins, "cycles": found.cycles, "turns": found.turns})
            for leak in found.leaks:
                leaks.setdefault(leak.form, leak)
            if tries >= ENOUGH:
                break
        return Tried(tries, tuple(_finding(leak) for leak in leaks.values()), dict(counts))


def _finding(leak: Leak) -> Finding:
    shown = {"seat": leak.seat, "moves": _plain(leak.played), "twin": _plain(leak.twin)}
    return Finding(f"{leak.form} tells a seat more than it knows", json.dumps(shown, ensure_ascii=False))


def _plain(moves: Sequence[Move]) -> list[list[object]]:
    """Moves as JSON, with words only where there are some."""
    return [[move.kind, list(move.args), *([move.words] if move.words else [])] for move in moves]


ATTACKS = (SameKnowledge(),)
