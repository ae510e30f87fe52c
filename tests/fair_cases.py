"""Whether a case is a fair riddle, for the tests of cases."""

from __future__ import annotations

from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.generate.solve import faults_of


def faults(case: Case) -> tuple[str, ...]:
    """Why a case with a truth is no fair riddle; empty for a proved one. See `faults_of`."""
    facts, lies = ([character.facts for character in case.characters], [one.lies for one in case.characters])
    return faults_of(case.seats, case.truth.deaths, case.public, facts, lies)
