"""The reader of claims on real speech: its agreement with the labelled statements stays what was measured (docs/claims.md)."""

from __future__ import annotations

import pytest
from parlour.envs.avalon.vocabulary import ROLES
from parlour.envs.claims import DEFER, Claim, claims
from parlour.envs.speech import CLAIM_ROLE, PROMISE
from spoken import scores

FLOORS = {"accuse": 0.85, "defend": 0.78, "propose": 0.88, "defer": 0.78, "all": 0.86}
"""F1 of pairs, a little under what was measured on the half that the reader was developed on."""


def read(words: str, speaker: int, seats: int) -> scores.Pairs:
    """The pairs of kind and target that the reader finds."""
    return frozenset(pair for claim in claims(words, speaker, seats, ROLES) for pair in pairs(claim))


def pairs(claim: Claim) -> list[tuple[str, int | str]]:
    if claim.kind in (PROMISE, CLAIM_ROLE):
        return [(claim.kind, claim.value)]
    if not claim.seats:
        return [(claim.kind, "table" if claim.kind == DEFER else "team")]
    return [(claim.kind, seat) for seat in claim.seats]


def test_agreement_with_the_labels_of_the_paraphrases_is_what_was_measured() -> None:
    found, _ = scores.agreement(read, [one for one in scores.paraphrases() if one.half == "develop"])
    assert {kind: found[kind].f1 >= floor for kind, floor in FLOORS.items()} == dict.fromkeys(FLOORS, True), found


@pytest.mark.skipif(not scores.GAMES.is_dir(), reason=f"the games are not there: {scores.GAMES}")
def test_agreement_with_the_labels_of_the_statements_is_what_was_measured() -> None:
    found, _ = scores.agreement(read, [one for one in scores.originals() if one.half == "develop"])
    assert {kind: found[kind].f1 >= floor for kind, floor in FLOORS.items()} == dict.fromkeys(FLOORS, True), found
