"""The reader of claims on real speech: its agreement with the labelled statements stays what was measured (docs/claims.md)."""

from __future__ import annotations

import re

import pytest
from parlour.envs.avalon.vocabulary import ROLES
from parlour.envs.claims import DEFER, Claim, claims
from parlour.envs.speech import CLAIM_ROLE, PROMISE
from spoken import scores
from spoken.sample import draw

FLOORS = {
    "develop": {"accuse": 0.88, "defend": 0.81, "propose": 0.90, "defer": 0.81, "all": 0.88},
    "score": {"accuse": 0.83, "defend": 0.61, "propose": 0.87, "defer": 0.89, "all": 0.82},
}
"""F1 of pairs on the statements, by half, as measured (docs/claims.md), rounded down."""
PARAPHRASED = {
    "develop": {"accuse": 0.87, "defend": 0.80, "propose": 0.90, "defer": 0.80, "all": 0.87},
    "score": {"accuse": 0.79, "defend": 0.71, "propose": 0.85, "defer": 0.91, "all": 0.81},
}
"""The same on the paraphrases."""


def read(words: str, speaker: int, seats: int) -> scores.Pairs:
    """The pairs of kind and target that the reader finds."""
    return frozenset(pair for claim in claims(words, speaker, seats, ROLES) for pair in pairs(claim))


def pairs(claim: Claim) -> list[tuple[str, int | str]]:
    if claim.kind in (PROMISE, CLAIM_ROLE):
        return [(claim.kind, claim.value)]
    if not claim.seats:
        return [(claim.kind, "table" if claim.kind == DEFER else "team")]
    return [(claim.kind, seat) for seat in claim.seats]


def check(labelled: list[scores.Labelled], floors: dict[str, dict[str, float]]) -> None:
    for half, least in floors.items():
        found, _ = scores.agreement(read, [one for one in labelled if one.half == half])
        assert {kind: found[kind].f1 for kind, floor in least.items() if found[kind].f1 < floor} == {}, half


def test_agreement_with_the_labels_of_the_paraphrases_is_what_was_measured() -> None:
    check(scores.paraphrases(), PARAPHRASED)


@pytest.mark.skipif(not scores.GAMES.is_dir(), reason=f"the games are not there: {scores.GAMES}")
def test_agreement_with_the_labels_of_the_statements_is_what_was_measured() -> None:
    check(scores.originals(), FLOORS)


@pytest.mark.skipif(not scores.GAMES.is_dir(), reason=f"the games are not there: {scores.GAMES}")
def test_the_labelled_statements_are_those_of_the_draw() -> None:
    drawn = [(one.source, one.place, "develop" if half else "score") for half, one in draw(scores.GAMES)]
    assert drawn == [(row["source"], row["place"], row["half"]) for row in scores.rows()]


def test_no_paraphrase_names_anybody_else_than_the_labels_may() -> None:
    for row in scores.rows():
        named = {int(number) for number in re.findall(r"player_(\d+)", row["paraphrase"])}
        assert named <= set(range(row["seats"]))
        assert row["speaker"] not in row["labels"].get("accuse", [])
