"""`chances` tells nature's moves: each once, with the probability with which `nature` draws it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import NATURE, Move
from scipy.stats import chisquare

CASES: dict[str, tuple[str, dict[str, Any], list[Move], int]] = {
    "a coin": ("template_v0", {}, [], 2),
    "Avalon's deal": ("avalon_v0", {"num_players": 5}, [], 600),
    "Avalon's team in place of a short one": (
        "avalon_v0",
        {"num_players": 5, "rules": "reference", "talk": False},
        [Move("deal", (0, 1, 2, 3, 4, 0)), Move("propose", (1,)), *[Move("vote", (1,))] * 5],
        10,
    ),
    "Werewolf's deal": ("werewolf_v0", {"num_players": 4}, [], 288),
    "Werewolf's deal with two of a kind on both sides": (
        "werewolf_v0",
        {"num_players": 5, "roles": ("Werewolf", "Werewolf", "Villager", "Villager", "Villager")},
        [],
        1200,
    ),
    "a tied hunt": (
        "werewolf_v0",
        {"num_players": 6, "talk": False},
        [Move("deal", (0, 0, 1, 2, 3, 4, *range(6))), Move("hunt"), Move("hunt", (3,))],
        2,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_nature_draws_from_exactly_the_told_chances(case):
    name, options, moves, count = CASES[case]
    game = registry[name].raw_env(**options).game
    state = game.initial()
    for move in moves:
        state = game.apply(state, move)
    assert game.actor(state) == NATURE
    told = dict(game.chances(state))
    assert len(told) == count == len(list(game.chances(state)))
    assert list(game.chances(state)) == list(told.items())
    assert sum(told.values()) == pytest.approx(1)
    for move in told:
        game.apply(state, move)  # each is a move that may be made
    rng = np.random.default_rng(7)
    drawn = Counter(game.nature(state, rng) for _ in range(20 * count))
    assert set(drawn) <= set(told)
    expected = [20 * count * p for p in told.values()]
    assert chisquare([drawn[move] for move in told], expected).pvalue > 1e-3


@pytest.mark.parametrize("name", ["template_v0", "avalon_v0", "werewolf_v0"])
def test_where_a_seat_is_to_move_nature_has_no_chances(name):
    game = registry[name].raw_env().game
    state = game.initial()
    state = game.apply(state, next(game.chances(state))[0])
    assert game.actor(state) >= 0
    assert list(game.chances(state)) == []


def test_chances_are_told_one_by_one_because_deals_can_be_very_many():
    game = registry["werewolf_v0"].raw_env(num_players=15).game
    move, chance = next(game.chances(game.initial()))
    assert 0 < chance < 1e-15
    game.apply(game.initial(), move)
