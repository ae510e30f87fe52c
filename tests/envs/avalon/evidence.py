"""Evidence of Avalon that nobody learned: any coefficients."""

from __future__ import annotations

import numpy as np
from parlour.envs.avalon.habits import (
    CLASSES,
    EVIDENCE_CARDS,
    EVIDENCE_TEAMS,
    EVIDENCE_VOTES,
    LearnedHabits,
    PublicEvidence,
)


def drawn_evidence(seed: int, scale: float = 0.5) -> LearnedHabits:
    """Habits with coefficients from a normal distribution."""
    rng = np.random.default_rng(seed)

    def row(names: tuple[str, ...]) -> tuple[float, ...]:
        return tuple(rng.normal(0, scale, len(names)).tolist())

    votes, teams = (tuple(row(names) for _ in CLASSES) for names in (EVIDENCE_VOTES, EVIDENCE_TEAMS))
    return LearnedHabits(evidence=PublicEvidence(votes, teams, row(EVIDENCE_CARDS)))
