"""Conventions of Werewolf, counted in a short game that is written down here."""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs.core import Move
from parlour.envs.werewolf import GAME
from parlour.training.measure.conventions import ConventionTally, convention_rows

WOLF, SEER, FIRST, SECOND, VICTIM = range(5)
"""player_0 is the wolf, player_1 the seer, the others are villagers; they speak by number."""
CLAIM_SEER = Move("claim_role", (1,))
GOOD, EVIL = 0, 1


def views(**options: str) -> list[Any]:
    """Two days: the wolf kills player_4, then player_3; the seer checks the wolf, then player_2; votes are tied."""
    rules = GAME.build(GAME.options(num_players=5, **options))
    moves = [
        Move("deal", (0, 1, 2, 2, 2, 0, 1, 2, 3, 4)),
        *(Move("hunt", (VICTIM,)), Move("check", (WOLF,))),
        Move("report", (SECOND, EVIL)),  # the wolf
        Move("report", (WOLF, EVIL)),  # the seer: it is so, and he saw it
        Move("report", (WOLF, EVIL)),  # a villager: it is so, and he did not see it
        CLAIM_SEER,  # a villager
        *(Move("vote", (target,)) for target in (SEER, WOLF, SECOND, FIRST)),
        *(Move("hunt", (SECOND,)), Move("check", (FIRST,))),
        Move("silent"),
        Move("report", (WOLF, EVIL)),  # the seer, once more
        Move("accuse", (WOLF,)),
    ]
    state = rules.initial()
    for move in moves:
        state = rules.apply(state, move)
    return [rules.view(state, seat) for seat in range(5)]


def counts(seat: int, of: str, **options: str) -> dict[str, tuple[float, int]]:
    """Measure -> hits of a rate, or the mean of a number, and the cases, of one seat in the game."""
    tally = ConventionTally("werewolf_v0")
    tally.add(views(**options), seat)
    estimates = {row.measure: row.players["x"] for row in convention_rows("", {"x": [tally]}) if row.of == of}
    return {name: (e.value if e.hits is None else e.hits, e.n) for name, e in estimates.items() if e is not None}


@pytest.mark.parametrize("sees", ["side", "character"])
def test_a_seer_reports_a_result_first_and_then_again(sees) -> None:
    # Both reports are true. After the first the listener gives the truth more: before, it took the wolf for the seer. After
    # the second more still, because a villager said the same and the seer has now said it twice.
    assert counts(SEER, "role: Seer", seer=sees) == {
        "claims a game": (2, 1),
        "false claims": (0, 2),
        "claims known to be false": (0, 2),
        "misleading claims": (0, 2),
        "reports a game": (2, 1),
        "reports of no check": (0, 2),
        "first true reports a game": (1, 1),
        "repeated or false reports a game": (1, 1),
    }


def test_a_right_report_of_a_check_that_was_not_made_is_not_false_and_misleads() -> None:
    # The wolf is one, but the listener now believes that player_2 is the seer. The later accusation of the wolf is right.
    assert counts(FIRST, "village") == {
        "claims a game": (2, 1),
        "false claims": (0, 2),
        "claims known to be false": (1, 2),  # he saw no check
        "misleading claims": (1, 2),
        "reports a game": (1, 1),
        "reports of no check": (1, 1),
    }


@pytest.mark.parametrize(
    ("seat", "of", "no_check"),
    [(WOLF, "werewolf", (1, 1)), (SECOND, "role: Villager", None)],
)
def test_a_wolf_that_reports_a_villager_and_a_villager_who_claims_to_be_the_seer_mislead(seat, of, no_check) -> None:
    counted = counts(seat, of)
    assert (counted["false claims"], counted["misleading claims"]) == ((1, 1), (1, 1))
    assert counted["claims known to be false"] == (1, 1)
    assert counted.get("reports of no check") == no_check


def test_who_dies_before_the_first_day_has_a_game_without_claims() -> None:
    assert counts(VICTIM, "village") == {"claims a game": (0, 1), "reports a game": (0, 1)}
