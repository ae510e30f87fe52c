"""States are values (DESIGN, the contract of a game): the same moves make equal states with equal hashes; others do not."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import NATURE, OVER
from parlour.envs.wording import own_numbers

NAMES = ("avalon_v0", "werewolf_v0", "murder_mystery_v0", "mediated_qa_v0", "template_v0")


def played(name: str, seed: int, moves: int) -> list[object]:
    """The states of a game of random moves, by a rules object of its own."""
    game = registry[name].spec.build()
    rng, s = np.random.default_rng(seed), game.initial()
    states = [s]
    while game.actor(s) != OVER and len(states) < moves:
        legal = game.legal(s)
        move = game.nature(s, rng) if game.actor(s) == NATURE else legal[int(rng.integers(len(legal)))]
        s = game.apply(s, move)
        states.append(s)
    return states


@pytest.mark.parametrize("name", NAMES)
def test_the_same_moves_make_equal_states_with_equal_hashes(name):
    one, other = played(name, 5, 30), played(name, 5, 30)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a == b
        assert hash(a) == hash(b)
        assert {a: "seen"}[b] == "seen"


@pytest.mark.parametrize("name", NAMES)
def test_every_state_of_a_game_is_another_one(name):
    states = played(name, 5, 30)
    assert len(set(states)) == len(states) > 3


@pytest.mark.parametrize("name", ["avalon_v0", "werewolf_v0"])
def test_a_table_has_one_set_of_own_numbers(name):
    spec = registry[name].spec
    game, other = spec.build(num_players=8), spec.build(num_players=9)
    assert own_numbers(spec, game) is own_numbers(spec, game)
    assert own_numbers(spec, game) is not own_numbers(spec, other)
