"""Search in Werewolf: what a seat knows of the rounds, games drawn that fit it, and their weights."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.adapters.turn import take_turn
from parlour.envs.batch.werewolf.rounds import WerewolfRounds
from parlour.envs.core import Move
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.policies import make_policy
from parlour.policies.search.others import OWN, others_of
from parlour.policies.search.particles import GAMES, Cloud, Particles, spread
from parlour.policies.search.policy import SearchPolicy, SearchSettings
from parlour.policies.search.posterior import SearchTable

from tests.policies.networks import indifferent, moves_beside_heuristics

EIGHT = {"num_players": 8}
GUARDED = {"num_players": 4, "roles": ["Werewolf", "Guard", "Villager", "Villager"], "talk": False}
NOBODY = -1


def game_of(options):
    return registry["werewolf_v0"].raw_env(**options).game


def followed(options) -> tuple[SearchTable, Particles]:
    network = indifferent("werewolf_v0", options)
    table = SearchTable(network)
    return table, Particles(table, others_of((OWN,), network, 0.02))


def records(table, known):
    """The records of the games of a posterior."""
    kind = table.tables(GAMES).games.dtype
    return known.states[:, : kind.itemsize].copy().view(kind)[:, 0]


def dealt(game, roles):
    """A state after a deal; seats talk in their order."""
    numbers = tuple(game.role_names.index(role) for role in roles)
    return game.apply(game.initial(), Move(werewolf.DEALT, (*numbers, *range(game.seats))))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "seed"),
    [
        *(({"num_players": 8, "rules": rules}, 5) for rules in ("paper", "reference", "official")),
        ({"num_players": 9, "roles": "hunter", "seer": "character"}, 9),  # the hunter shoots on the second morning
    ],
    ids=str,
)
def test_every_drawn_game_shows_the_seat_the_dead_the_day_and_the_moves_that_it_sees(options, seed):
    table, _ = followed(options)
    env = registry["werewolf_v0"].raw_env(info="full", **options)
    seats = env.game.seats
    env.reset(seed=seed)
    players = [make_policy("heuristic", "werewolf_v0", env.game.config) for _ in range(seats)]
    particles = [Particles(table, others_of((OWN,), table.network, 0.02)) for _ in range(seats)]
    rng, looked = np.random.default_rng(0), 0
    for seat, player in enumerate(players):
        player.reset(seat, seed)
    while env.outcome is None:
        view = env.view(env.seat)
        if len(env.moves) % 3 == 1:
            games = records(table, particles[env.seat].posterior(view, rng))
            assert (games["alive"][:, :seats] == np.array(view.alive)).all()
            assert (games["day"] == view.day).all()
            assert (games["actor"] == env.seat).all()
            assert (games["roles"][:, env.seat] == env.game.role_names.index(view.role)).all()
            looked += 1
        take_turn(env, players[env.seat])
    assert looked > 20


def test_deals_give_a_werewolf_its_fellows_and_the_dead_their_shown_roles():
    game = game_of(EIGHT)
    state = dealt(game, game.roles)  # the werewolves are seats 0 to 2
    deals = WerewolfRounds(game).deals(game.view(state, 1), 60, np.random.default_rng(0))
    assert (deals[:, :3] == game.wolf).all()
    assert len(np.unique(deals[:, :8], axis=0)) == 60  # 5! / 2! orders of witch, guard, seer and two villagers


def test_hidden_moves_of_a_night_weigh_as_bayes_rule_says():
    # Nobody died. The werewolf chose nobody or one of 4, the guard likewise, each as likely: 1/5 for nobody, 4/5 x 1/5 for a
    # protected victim. So P(the werewolf chose nobody | nobody died) = (1/5) / (1/5 + 4/25) = 5/9
    game = game_of(GUARDED)
    state = dealt(game, game.roles)
    for move in (
        Move(werewolf.KILL, ()),
        Move(werewolf.GUARDS, ()),
        Move(werewolf.BALLOT, ()),
        Move(werewolf.BALLOT, ()),
    ):
        state = game.apply(state, move)
    table, particles = followed(GUARDED)
    shares = []
    for seed in range(12):
        known = particles.posterior(game.view(state, 2), np.random.default_rng(seed))
        shares.append(known.probability[records(table, known)["victim"] == NOBODY].sum())
        particles = Particles(table, others_of((OWN,), table.network, 0.02))
    assert np.mean(shares) == pytest.approx(5 / 9, abs=0.03)


def test_games_drawn_by_the_root_of_their_weights_keep_their_share_of_the_weight():
    # roots .9, .3, .2236, .2236: the first game gets .9 / 1.647 = .546 of 1,024 rows of weight .9 each, and .81 of all weight
    share = np.array([0.81, 0.09, 0.05, 0.05])
    drawn = spread(Cloud(np.arange(4)[:, None], np.log(share), np.zeros((4, 1, 1))), 1024, np.random.default_rng(0))
    rows, weight = drawn.states[:, 0], np.exp(drawn.log_weight)
    assert (rows == 0).mean() == pytest.approx(0.546, abs=0.001)
    assert np.bincount(rows, weights=weight) / weight.sum() == pytest.approx(share, abs=0.002)


def test_games_of_level_weight_are_not_drawn_anew():
    level = Cloud(np.arange(4)[:, None], np.log([0.4, 0.3, 0.2, 0.1]), np.zeros((4, 1, 1)))
    assert spread(level, 1024, np.random.default_rng(0)) is level  # 1 / .3 = 3.33 of 4 games carry the weight


def test_votes_of_the_present_round_are_drawn_anew():
    game = game_of(GUARDED)
    state = dealt(game, game.roles)
    for move in (Move(werewolf.KILL, ()), Move(werewolf.GUARDS, ()), Move(werewolf.BALLOT, (3,))):
        state = game.apply(state, move)
    table, particles = followed(GUARDED)
    known = particles.posterior(game.view(state, 1), np.random.default_rng(0))
    assert set(records(table, known)["cast"][:, 0]) == {NOBODY, 0, 1, 2, 3}


@pytest.mark.slow
def test_a_game_of_werewolf_with_search_is_the_same_for_the_same_seed():
    policy = SearchPolicy(indifferent("werewolf_v0", GUARDED), SearchSettings(continuations=20, depth=6))

    first, second = (moves_beside_heuristics(policy, "werewolf_v0", GUARDED) for _ in range(2))
    assert first == second
