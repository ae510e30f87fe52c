"""States are values, `chances` tells nature's moves, and `parlour.envs.adapters.moment` tells who decides at the same time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from parlour.envs.adapters.moment import before_moderator, certain_moment, moment
from parlour.envs.adapters.wording import own_numbers
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.core import NATURE, Move
from parlour.envs.registry import lookup, registry
from parlour.envs.testing.table import random_playout
from scipy.stats import chisquare


def test_every_state_of_a_game_is_another_one(small_table, playout):
    states = playout(small_table.game, 5).states
    assert len(set(states)) == len(states) > 3


@pytest.mark.parametrize("name", ["avalon_v0", "werewolf_v0"])
def test_a_table_has_one_set_of_own_numbers(name):
    spec = registry[name].spec
    game, other = spec.build(spec.options(num_players=8)), spec.build(spec.options(num_players=9))
    assert own_numbers(spec, game) is own_numbers(spec, game)
    assert own_numbers(spec, game) is not own_numbers(spec, other)


CHANCES: dict[str, tuple[str, dict[str, Any], list[Move], int]] = {
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


@pytest.mark.parametrize("case", CHANCES)
def test_nature_draws_from_exactly_the_told_chances(case):
    name, options, moves, count = CHANCES[case]
    game = registry[name].raw_env(**options).game
    state = game.initial()
    for move in moves:
        state = game.apply(state, move)
    assert game.actor(state) == NATURE
    chances = dict(game.chances(state))
    assert len(chances) == count == len(list(game.chances(state)))
    assert list(game.chances(state)) == list(chances.items())
    assert sum(chances.values()) == pytest.approx(1)
    for move in chances:
        game.apply(state, move)  # each is a move that may be made
    rng = np.random.default_rng(7)
    drawn = Counter(game.nature(state, rng) for _ in range(20 * count))
    assert set(drawn) <= set(chances)
    expected = [20 * count * p for p in chances.values()]
    assert chisquare([drawn[move] for move in chances], expected).pvalue > 1e-3


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


MOMENTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in sorted(registry)),
    *(("avalon_v0", {"num_players": 7, "rules": rules}) for rules in ("paper", "reference", "official")),
    *(("werewolf_v0", {"num_players": 8, "rules": rules}) for rules in ("paper", "reference", "official")),
    ("werewolf_v0", {"num_players": 10, "rules": "official", "talk": False}),
    ("murder_mystery_v0", {"case": "seed:3", "rules": "player", "hearing": "two"}),
    ("mediated_qa_v0", {"modules": True}),
]


def states(game: Any, seed: int) -> list[Any]:
    """The states of a random game, in which a seat is to move."""
    return [state for state in random_playout(game, seed, words=0.0).states if game.actor(state) >= 0]


@pytest.mark.parametrize(("name", "options"), MOMENTS, ids=str)
def test_every_turn_of_a_certain_moment_comes_with_the_view_that_was_foreseen(name, options):
    """Whatever is played: the turns come in the order foreseen, and each seat sees then what it was told before."""
    game = lookup(name).raw_env(**options).game
    for seed in range(6):
        foreseen: list[tuple[int, Any]] = []
        for state in states(game, seed):
            if not foreseen:
                foreseen = [(seat, game.view(later, seat)) for seat, later in certain_moment(game, state)]
            seat, view = foreseen.pop(0)
            assert (game.actor(state), game.view(state, seat)) == (seat, view)
        assert foreseen == []


@pytest.mark.parametrize(
    ("name", "options"), [moment for moment in MOMENTS if moment[0] in ("avalon_v0", "werewolf_v0")], ids=str
)
def test_turns_before_the_moderator_speaks_come(name, options):
    """Whatever is played. Views of a seat grow until then by what players say and do, and by nothing else."""
    game = lookup(name).raw_env(**options).game
    for seed in range(3):
        played = states(game, seed)
        for k, state in enumerate(played[:-1]):
            for seat in before_moderator(game, state):
                turn = next(later for later in played[k:] if game.actor(later) == seat)
                seen = len(game.view(state, seat).events)
                assert all(event.seat >= 0 for event in game.view(turn, seat).events[seen:])


def test_speakers_hear_nothing_but_players_until_they_speak():
    game = lookup("avalon_v0").raw_env(num_players=5).game
    talk = states(game, 1)[0]
    assert before_moderator(game, talk) == [(game.actor(talk) + k) % 5 for k in range(5)]


def test_all_seats_vote_on_a_team_at_the_same_moment():
    game = lookup("avalon_v0").raw_env(num_players=5, talk=False).game
    ballots = [state for state in states(game, 1) if avalon.APPROVE in game.legal(state)]
    assert [seat for seat, _ in certain_moment(game, ballots[0])] == [0, 1, 2, 3, 4]
    assert [seat for seat, _ in certain_moment(game, ballots[2])] == [2, 3, 4]  # seats 0 and 1 have voted


def test_the_witch_is_not_foreseen_while_the_wolves_may_choose_her():
    """Whom the wolves attack does not act again; by their first choices alone the witch would be among those who decide."""
    game = lookup("werewolf_v0").raw_env(num_players=8, rules="paper").game
    hunts = [state for seed in range(30) for state in states(game, seed) if game.legal(state)[0].kind == "hunt"]
    kinds = {
        look: {game.legal(later)[0].kind for state in hunts for _, later in look(game, state)}
        for look in (moment, certain_moment)
    }
    assert "poison" in kinds[moment]
    assert "poison" not in kinds[certain_moment]
