"""Werewolf's kernels against Werewolf's scalar rules, move by move: actors, masks, features, beliefs, rewards, ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.core import Move, ParlourError
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.vocabulary import GUARD, HUNTER, SEER, VILLAGER, WEREWOLF, WITCH

from tests.envs.batch.lockstep import Mirror, random_actions

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")
pytestmark = pytest.mark.slow  # kernels are compiled

HUNTERS = [WEREWOLF, WEREWOLF, SEER, HUNTER, VILLAGER, VILLAGER]
SIZES = [
    *({"num_players": n} for n in (4, 5, 6, 8, 9, 12, 15)),
    {"num_players": 8, "max_days": 1},
    {"num_players": 8, "roles": [WEREWOLF] * 3 + [VILLAGER] * 5},
    {"num_players": 7, "roles": [WEREWOLF, WITCH, *[VILLAGER] * 5]},
    {"num_players": 7, "roles": [WEREWOLF, WEREWOLF, GUARD, SEER, *[VILLAGER] * 3]},
]
TABLES = [
    {**size, "rules": rules, "talk": talk}
    for size in SIZES
    for rules in ("paper", "reference", "official")
    for talk in (False, True)
] + [
    {"num_players": 6, "roles": HUNTERS, "rules": "official", "seer": "character"},
    {"num_players": 6, "roles": HUNTERS, "rules": "reference", "talk": False},
    {"num_players": 9, "roles": "hunter"},
    {"num_players": 9, "roles": "hunter", "seer": "character"},
    {"num_players": 6, "votes": "as_cast"},
    {"num_players": 6, "rules": "reference", "votes": "together"},
]


MARKED = [
    pytest.param(options, id=str(options), marks=[pytest.mark.nightly] if options["num_players"] > 8 else [])
    for options in TABLES
]


def dealt(tables: Any, b: int) -> Move:
    g, n = tables.games[b], tables.seats
    return Move(game.DEALT, (*map(int, g.roles[:n]), *map(int, g.order[:n])))


def drawn(tables: Any, b: int) -> Move:
    target = int(tables.games[b].drawn)
    return Move(game.DRAWN, () if target < 0 else (target,))


@pytest.mark.parametrize("options", MARKED)
def test_kernels_play_as_the_scalar_rules_do(options):
    tables = batch.make("werewolf_v0", num_envs=4, features="record+belief", **options)
    turns = tables.reset(seed=14)
    mirror, rng = Mirror(tables, dealt, drawn), np.random.default_rng(14)
    mirror.compare(turns)
    while mirror.games < (4 if tables.seats < 15 else 2):
        turns = mirror.step(random_actions(turns.mask, rng))
        mirror.compare(turns)


@pytest.mark.parametrize("features", ["summary", "record", "belief"])
def test_each_kind_of_features_stands_in_its_place(features):
    tables = batch.make("werewolf_v0", num_envs=8, features=features, num_players=6)
    turns = tables.reset(seed=3)
    mirror, rng = Mirror(tables, dealt, drawn), np.random.default_rng(3)
    while mirror.games < 8:
        turns = mirror.step(random_actions(turns.mask, rng))
        mirror.compare(turns)
    assert turns.observation.shape == (8, tables.size)


def test_random_play_inside_the_kernel_keeps_to_the_rules_and_draws_all_that_is_legal():
    tables = batch.make("werewolf_v0", num_envs=300, num_players=4, talk=False)
    first = tables.reset(seed=1)
    # one wolf of four hunts first: nobody or one of four seats, each in a fifth of the games
    mask = first.mask.copy()
    assert (mask.sum(axis=1) == 5).all()
    state, wolf = tables.state(), first.actor.copy()
    drawn_first = np.zeros(5)
    for _ in range(20):
        tables.play_random()
        drawn_first += np.bincount(tables.games.hunted[np.arange(300), wolf] + 1, minlength=5)
        players = tables.games.players.copy()
        tables.restore(state)
        tables.games.players = players
    # 6,000 draws of five: 1,200 each, standard deviation 31
    assert np.abs(drawn_first - 1200).max() < 5 * 31


def test_deals_are_uniform():
    tables = batch.make("werewolf_v0", num_envs=8000, num_players=4, features="summary")
    tables.reset(seed=2)
    # the wolf is as likely on each of four seats, and each seat as likely to speak first: 2,000, standard deviation 39
    for seats in (tables.side.argmax(axis=1), tables.games.order[:, 0]):
        assert np.abs(np.bincount(seats, minlength=4) - 2000).max() < 5 * 39


def test_a_given_deal_is_dealt():
    tables = batch.make("werewolf_v0", num_envs=2, num_players=4)
    tables.reset(seed=0)
    deck = tables.game.deck  # werewolf, seer, villager, villager
    turns = tables.deal(np.array([(*deck, 3, 2, 1, 0), (*deck[::-1], 0, 1, 2, 3)]))
    assert turns.actor.tolist() == [0, 3]
    assert tables.side.tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]
    with pytest.raises(ParlourError, match="some deal is not accepted"):
        tables.deal(np.array([(*deck, 3, 2, 1, 1)] * 2))
    with pytest.raises(ParlourError, match="deals of shape"):
        tables.deal(np.array([deck] * 2))
