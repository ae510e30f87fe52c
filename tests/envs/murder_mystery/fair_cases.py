"""Whether a case is a fair riddle, for the tests of cases."""

from __future__ import annotations

import re

from parlour.envs.murder_mystery.cases.case import Case
from parlour.envs.murder_mystery.generate.solve import faults_of
from parlour.envs.murder_mystery.vocabulary.facts import read


def faults(case: Case) -> tuple[str, ...]:
    """Why a case with a truth is no fair riddle; empty for a proved one. See `faults_of`."""
    facts, lies = ([person.facts for person in case.characters], [character.lies for character in case.characters])
    return faults_of(case.seats, case.truth.deaths, case.public, facts, lies)


def assert_told_as_known(case: Case) -> None:
    """Each script says the facts of its seat, the briefing those of all, and nothing else."""
    for seat, character in enumerate(case.characters):
        assert set(read(character.script, case.vocabulary, seat)) == set(character.facts), (case.id, character.name)
    assert read(case.briefing, case.vocabulary) == list(case.public)


def assert_same_story(first: Case, other: Case) -> None:
    """Two cases have one truth, and their seats the same facts, lies and keys of the quiz."""
    assert (first.truth, first.public) == (other.truth, other.public)
    known = [[(person.facts, person.lies, person.murders) for person in case.characters] for case in (first, other)]
    assert known[0] == known[1]
    keys = [[[(q.id, q.keys) for q in seat] for seat in case.questions] for case in (first, other)]
    assert keys[0] == keys[1]


def sentences_of(script: str) -> list[str]:
    return re.split(r"(?<=[.。])(?<!Dr\.)(?<!Mrs\.)\s*|\n", script)
