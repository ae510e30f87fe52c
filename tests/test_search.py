"""`search:PLAYER`: histories behind a View, their posterior under a network, continuations, and the player that chooses by them."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.histories import histories
from parlour.envs.core import NATURE, Move, ParlourError
from parlour.envs.turn import take_turn
from parlour.policies import make_policy
from parlour.policies.search import SearchPolicy, SearchSettings
from parlour.policies.search.continuations import Continuations
from parlour.policies.search.network import SearchTable
from parlour.policies.search.others import OWN, others_of
from parlour.policies.search.posterior import posterior
from parlour.policies.trained import TrainedSeat
from parlour.training import cli

DEEPROLE = {"num_players": 5, "rules": "official", "roles": "deeprole", "talk": False}
TABLES = (DEEPROLE, {"num_players": 6, "rules": "paper"}, {"num_players": 7, "rules": "official", "talk": False})


def game_of(options):
    return registry["avalon_v0"].raw_env(**options).game


def indifferent(options=DEEPROLE, hidden: int = 4) -> TrainedSeat:
    """A network that takes every legal move equally often."""
    env = registry["avalon_v0"].raw_env(features="belief", **options)
    sizes = (env.encoder.size, hidden, len(env.game.catalogue))
    layers = [(np.zeros((b, a), np.float32), np.zeros(b, np.float32)) for a, b in pairwise(sizes)]
    return TrainedSeat("avalon_v0", env.game.config, layers, features="belief", sample=True)


def played(game, roles, *moves):
    """The state after a deal with seat 0 as leader, and moves."""
    numbers = tuple(game.role_names.index(role) for role in roles)
    state = game.apply(game.initial(), Move(avalon.DEALT, (*numbers, 0)))
    for move in moves:
        state = game.apply(state, move)
    return state


ROLES = (avalon.SERVANT, avalon.ASSASSIN, avalon.MINION, avalon.MERLIN, avalon.SERVANT)
APPROVED = (avalon.APPROVE,) * 5


@pytest.mark.parametrize("options", TABLES, ids=["deeprole", "talk", "seven"])
def test_the_true_history_is_one_of_those_that_a_seat_holds_possible(options):
    env = registry["avalon_v0"].raw_env(info="full", **options)
    env.reset(seed=4)
    players = [make_policy("heuristic", "avalon_v0", env.game.config) for _ in range(env.game.seats)]
    for seat, player in enumerate(players):
        player.reset(seat, 4)
    looked = 0
    while env.outcome is None:
        if len(env.moves) % 23 == 1:
            state = env.game.initial()
            for move in env.moves:
                state = env.game.apply(state, move)
            possible = list(histories(env.game, env.game.view(state, env.seat)))
            deal, *rest = env.moves
            assert any(h.deal == deal.args and [m for _, m in h.moves] == rest[: len(h.moves)] for h in possible)
            looked += 1
        take_turn(env, players[env.seat])
    assert looked >= 2


@pytest.mark.parametrize(("seat", "count"), [(0, 24), (1, 3), (2, 3), (3, 2)])
def test_after_the_deal_a_seat_holds_all_deals_possible_that_the_night_allows(seat, count):
    # a Servant: 4! orders of the four others; an evil seat: who of three is Merlin; Merlin: which of two is the Assassin
    game = game_of(DEEPROLE)
    assert len(list(histories(game, game.view(played(game, ROLES), seat)))) == count


def test_every_history_leads_to_what_the_seat_sees():
    game = game_of(DEEPROLE)
    moves = (Move(avalon.TEAM, (1, 2)), *APPROVED, avalon.SUCCESS, avalon.FAIL)
    view = game.view(played(game, ROLES, *moves), 0)
    for history in histories(game, view):
        state = game.apply(game.initial(), Move(avalon.DEALT, history.deal))
        for _, move in history.moves:
            state = game.apply(state, move)
        assert game.view(state, 0).events == view.events


def test_one_fail_of_two_evil_members_has_two_histories():
    # seat 3, Merlin, knows that both are evil: two orders of Assassin and Minion, times who of them failed
    game = game_of(DEEPROLE)
    moves = (Move(avalon.TEAM, (1, 2)), *APPROVED, avalon.SUCCESS, avalon.FAIL)
    possible = list(histories(game, game.view(played(game, ROLES, *moves), 3)))
    assert Counter(dict(h.moves[-2:])[1] for h in possible) == {avalon.SUCCESS: 2, avalon.FAIL: 2}


def test_votes_of_the_present_round_are_not_part_of_a_history():
    game = game_of(DEEPROLE)
    state = played(game, ROLES, Move(avalon.TEAM, (0, 1)), avalon.REJECT, avalon.REJECT)
    assert {len(h.moves) for h in histories(game, game.view(state, 2))} == {1}


def test_the_posterior_is_bayes_rule_with_the_moves_of_the_network():
    # seat 0 leads (0, 1), the quest succeeds. An indifferent network plays success as evil in half of the cases, as good
    # always: seat 1 is evil in 12 of 24 deals, so P(evil) = 12/2 / (12/2 + 12) = 1/3
    game = game_of(DEEPROLE)
    state = played(game, ROLES, Move(avalon.TEAM, (0, 1)), *APPROVED, avalon.SUCCESS, avalon.SUCCESS)
    table, view = SearchTable(indifferent()), game.view(state, 0)
    known = posterior(table, view, others_of((OWN,), table.network, 0.02), np.random.default_rng(0))
    evil = [h.deal[1] in game.evil_roles for h in histories(game, view)]
    assert known.probability[np.array(evil)].sum() == pytest.approx(1 / 3)


def test_continuations_of_the_same_move_are_the_same_games():
    game = game_of(DEEPROLE)
    table, view = SearchTable(indifferent()), game.view(played(game, ROLES), 0)
    others = others_of((OWN,), table.network, 0.02)
    known = posterior(table, view, others, np.random.default_rng(0))
    returns = Continuations(table, others, known, 0).play(np.array([0, 0, 1]), 50, np.random.default_rng(1))
    assert (returns[0] == returns[1]).all()
    assert (returns[0] != returns[2]).any()


def test_a_fail_that_wins_the_game_has_win_rate_1():
    # two quests have failed, and the Assassin is on the third team
    game, team = game_of(DEEPROLE), Move(avalon.TEAM, (0, 1))
    failed = (avalon.SUCCESS, avalon.FAIL)
    moves = [team, *APPROVED, *failed, Move(avalon.TEAM, (0, 1, 4)), *APPROVED, *failed, avalon.SUCCESS]
    state = played(game, ROLES, *moves, team, *APPROVED, avalon.SUCCESS)
    view = game.view(state, 1)
    policy = SearchPolicy(indifferent(), SearchSettings(continuations=200))
    policy.reset(1, 0)
    chosen = policy.act({}, {"view": view, "legal": [0, 1], "options": ["success", "fail"]})
    told = dict(zip(policy.notes()["search"]["moves"], policy.notes()["search"]["win_rate"], strict=True))
    assert (chosen, told["fail"]) == (1, 1.0)
    assert told["success"] < 1


@pytest.mark.slow
def test_a_game_with_search_is_the_same_for_the_same_seed_and_after_pickling():
    policy = SearchPolicy(indifferent(), SearchSettings(continuations=20))

    def moves(player):
        env = registry["avalon_v0"].raw_env(info="full", features="belief", **DEEPROLE)
        env.reset(seed=3)
        player.reset(0, 3)
        others = make_policy("heuristic", "avalon_v0", env.game.config)
        while env.outcome is None:
            others.reset(env.seat, 3 + len(env.moves))
            take_turn(env, player if env.seat == 0 else others)
        return env.moves

    first = moves(policy)
    assert moves(policy) == first
    assert moves(pickle.loads(pickle.dumps(policy))) == first


def test_where_nature_drew_a_team_search_plays_as_the_network():
    # the published code lets nature name a whole team in place of a short one, which array tables cannot repeat
    options = {"num_players": 6, "rules": "reference", "talk": False}
    game = game_of(options)
    roles = [game.role_names[number] for number in game.deck]
    drawn = Move(avalon.DRAWN, (0, 1))
    state = played(game, roles, Move(avalon.TEAM, (0,)), *(avalon.APPROVE,) * 6, drawn)
    assert state.actor != NATURE
    policy = SearchPolicy(indifferent(options))
    policy.reset(state.actor, 0)
    while state.options.legal and len(state.options.legal) == 1:
        state = game.apply(state, state.options.legal[0])
    view = game.view(state, state.actor)
    policy.act({}, {"view": view, "legal": list(range(len(view.legal)))})
    assert list(policy.notes()["search"]) == ["not searched"]


def test_other_games_and_unknown_settings_are_refused_in_one_line(capsys):
    rules = registry["avalon_v0"].raw_env(num_players=5, rules="multi_round").game
    network = TrainedSeat("avalon_v0", rules.config, [(np.zeros((1, 1)), np.zeros(1))], features="belief")
    with pytest.raises(ParlourError, match="search does not play avalon_v0 at this table"):
        SearchPolicy(network)
    assert cli.run(["play", "avalon_v0", "--policy", "search:expert,width=3"]) == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    assert "width" in line
    assert "continuations" in line
