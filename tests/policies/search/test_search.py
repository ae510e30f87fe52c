"""`search:PLAYER`: histories behind a View, their posterior under a network, continuations, and the player that chooses by them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.adapters.turn import take_turn
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.histories import histories
from parlour.envs.core import NATURE, Move, ParlourError
from parlour.envs.language import speech
from parlour.policies import make_policy
from parlour.policies.search.continuations import Continuations, Critic, fitted
from parlour.policies.search.others import OWN, others_of, usual
from parlour.policies.search.policy import SearchPolicy, SearchSettings
from parlour.policies.search.posterior import SearchTable, posterior
from parlour.policies.trained import TrainedSeat

from tests.policies.networks import indifferent, moves_beside_heuristics

GAME = "avalon_v0"
DEEPROLE = {"num_players": 5, "rules": "official", "roles": "deeprole", "talk": False}
TABLES = (DEEPROLE, {"num_players": 6, "rules": "paper"}, {"num_players": 7, "rules": "official", "talk": False})


def game_of(options):
    return registry["avalon_v0"].raw_env(**options).game


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


def test_free_words_of_a_seat_rule_out_no_history():
    """A language model's seat speaks in words that are no claim: all deals are as possible as before them."""
    game = game_of(TABLES[1])
    words = Move(speech.SILENT, (), "Let me think aloud.")
    before, after = played(game, game.roles), played(game, game.roles, words)
    for seat in range(6):
        counted = [len(list(histories(game, game.view(state, seat)))) for state in (before, after)]
        assert counted[0] == counted[1] > 0


def test_the_posterior_is_bayes_rule_with_the_moves_of_the_network():
    # seat 0 leads (0, 1), the quest succeeds. An indifferent network plays success as evil in half of the cases, as good
    # always: seat 1 is evil in 12 of 24 deals, so P(evil) = 12/2 / (12/2 + 12) = 1/3
    game = game_of(DEEPROLE)
    state = played(game, ROLES, Move(avalon.TEAM, (0, 1)), *APPROVED, avalon.SUCCESS, avalon.SUCCESS)
    table, view = SearchTable(indifferent(GAME, DEEPROLE)), game.view(state, 0)
    known = posterior(table, view, others_of((OWN,), table.network, 0.02), np.random.default_rng(0))
    evil = [h.deal[1] in game.evil_roles for h in histories(game, view)]
    assert known.probability[np.array(evil)].sum() == pytest.approx(1 / 3)


def test_continuations_of_the_same_move_are_the_same_games():
    game = game_of(DEEPROLE)
    table, view = SearchTable(indifferent(GAME, DEEPROLE)), game.view(played(game, ROLES), 0)
    others = others_of((OWN,), table.network, 0.02)
    known = posterior(table, view, others, np.random.default_rng(0))
    returns, _ = Continuations(table, others, known, 0).play(np.array([0, 0, 1]), 50, np.random.default_rng(1))
    assert (returns[0] == returns[1]).all()
    assert (returns[0] != returns[2]).any()


def test_a_fail_that_wins_the_game_has_win_rate_1():
    # two quests have failed, and the Assassin is on the third team
    game, team = game_of(DEEPROLE), Move(avalon.TEAM, (0, 1))
    failed = (avalon.SUCCESS, avalon.FAIL)
    moves = [team, *APPROVED, *failed, Move(avalon.TEAM, (0, 1, 4)), *APPROVED, *failed, avalon.SUCCESS]
    state = played(game, ROLES, *moves, team, *APPROVED, avalon.SUCCESS)
    view = game.view(state, 1)
    policy = SearchPolicy(indifferent(GAME, DEEPROLE), SearchSettings(continuations=200))
    policy.reset(1, 0)
    chosen = policy.act({}, {"view": view, "legal": [0, 1], "options": ["success", "fail"]})
    rates = dict(zip(policy.notes()["search"]["moves"], policy.notes()["search"]["win_rate"], strict=True))
    assert (chosen, rates["fail"]) == (1, 1.0)
    assert rates["success"] < 1


@pytest.mark.slow
def test_a_game_with_search_is_the_same_for_the_same_seed_and_after_pickling():
    policy = SearchPolicy(indifferent(GAME, DEEPROLE), SearchSettings(continuations=20))

    first = moves_beside_heuristics(policy, GAME, DEEPROLE)
    assert moves_beside_heuristics(policy, GAME, DEEPROLE) == first
    assert moves_beside_heuristics(pickle.loads(pickle.dumps(policy)), GAME, DEEPROLE) == first


def test_where_nature_drew_a_team_search_plays_as_the_network():
    # the published code lets nature name a whole team in place of a short one, which array tables cannot repeat
    options = {"num_players": 6, "rules": "reference", "talk": False}
    game = game_of(options)
    roles = [game.role_names[number] for number in game.deck]
    drawn = Move(avalon.DRAWN, (0, 1))
    state = played(game, roles, Move(avalon.TEAM, (0,)), *(avalon.APPROVE,) * 6, drawn)
    assert state.actor != NATURE
    policy = SearchPolicy(indifferent(GAME, options))
    policy.reset(state.actor, 0)
    while state.options.legal and len(state.options.legal) == 1:
        state = game.apply(state, state.options.legal[0])
    view = game.view(state, state.actor)
    policy.act({}, {"view": view, "legal": list(range(len(view.legal)))})
    assert list(policy.notes()["search"]) == ["not searched"]


def test_other_games_and_unknown_settings_are_refused_in_one_line(error_of):
    rules = registry["avalon_v0"].raw_env(num_players=5, speaking="bids").game
    network = TrainedSeat("avalon_v0", rules.config, [(np.zeros((1, 1)), np.zeros(1))], features="belief")
    with pytest.raises(ParlourError, match="search does not play avalon_v0 at this table"):
        SearchPolicy(network)
    [line] = error_of(["play", "avalon_v0", "--policy", "search:expert,width=3"]).strip().splitlines()
    assert "width" in line
    assert "continuations" in line


def leaning(action: int, options=DEEPROLE) -> TrainedSeat:
    """A network that takes one action, where it is legal, nearly always."""
    network = indifferent(GAME, options)
    network.layers[-1][1][action] = 50
    return network


def test_what_a_seat_does_tells_which_family_it_is_of(tmp_path):
    # seat 1 approves. One family always does, with a slip of 0.02: 0.98 + 0.01 = 0.99; the other in half of the cases. Both are as
    # likely before: P(always) = 0.99 / (0.99 + 0.5) = 0.664
    game = game_of(DEEPROLE)
    table = SearchTable(indifferent(GAME, DEEPROLE))
    leaning(table.number[avalon.APPROVE]).save(tmp_path / "yes.npz")
    others = others_of((OWN, str(tmp_path / "yes.npz")), table.network, 0.02)
    state = played(game, ROLES, Move(avalon.TEAM, (0, 1)), *APPROVED, avalon.SUCCESS, avalon.SUCCESS)
    known = posterior(table, game.view(state, 0), others, np.random.default_rng(0))
    of_seat_2 = np.exp(known.log_families[:, 2])
    assert (of_seat_2[:, 1] / of_seat_2.sum(axis=1)).tolist() == pytest.approx([0.99 / 1.49] * len(of_seat_2))


def test_continuations_say_which_families_sit_in_the_other_seats():
    # two families, each as likely for each of four seats: a quarter steps from 0 to 1, half of the seats in the mean
    game = game_of(DEEPROLE)
    table, view = SearchTable(indifferent(GAME, DEEPROLE)), game.view(played(game, ROLES), 0)
    others = others_of((OWN, "heuristic"), table.network, 0.02)
    known = posterior(table, view, others, np.random.default_rng(0))
    _, share = Continuations(table, others, known, 0).play(np.array([0]), 400, np.random.default_rng(1))
    assert set(share[:, 0]) == {0, 0.25, 0.5, 0.75, 1}
    assert share.sum(axis=1).tolist() == [1.0] * 400
    assert share[:, 0].mean() == pytest.approx(0.5, abs=0.05)


def test_other_kinds_share_what_the_network_is_not_trusted_with():
    network = indifferent(GAME, DEEPROLE)
    assert others_of((OWN, "heuristic", "random"), network, 0.02, own_prior=0.8).prior.tolist() == pytest.approx(
        [0.8, 0.1, 0.1]
    )
    assert others_of(("heuristic", "random"), network, 0.02, own_prior=0.8).prior.tolist() == [0, 0.5, 0.5]
    assert others_of((OWN,), network, 0.02, own_prior=0.8).prior.tolist() == [1]


def test_other_kinds_are_usual_only_where_logic_plays():
    assert usual(indifferent(GAME, DEEPROLE)) == (OWN, "heuristic", "logic", "random")
    assert usual(indifferent(GAME, {"num_players": 5, "talk": True})) == (OWN,)


def test_votes_tell_how_many_seats_do_not_play_as_the_network(tmp_path):
    # each of four seats approved: 0.8 x 0.5 for the network, 0.2 x 0.99 for a family that always approves: 0.198 / 0.598
    game = game_of(DEEPROLE)
    table = SearchTable(indifferent(GAME, DEEPROLE))
    leaning(table.number[avalon.APPROVE]).save(tmp_path / "yes.npz")
    others = others_of((OWN, str(tmp_path / "yes.npz")), table.network, 0.02, own_prior=0.8)
    before, after = (
        played(game, ROLES),
        played(game, ROLES, Move(avalon.TEAM, (0, 1)), *APPROVED, *[avalon.SUCCESS] * 2),
    )
    for state, share in ((before, 0.2), (after, 0.198 / 0.598)):
        known = posterior(table, game.view(state, 0), others, np.random.default_rng(0))
        assert Continuations(table, others, known, 0).strangers() == pytest.approx(share)


def test_the_votes_of_all_seats_tell_of_each_when_they_are_of_one_family():
    # each of four seats approved: 0.99 for one family, 0.5 for the other, both as likely before.
    # all of one family: 0.99^4 / (0.99^4 + 0.5^4) = 0.9389; each of any: 0.99 / 1.49 = 0.6644
    # as likely as not of one family: 0.5 x 0.51155 and 0.5 x 0.745^4 = 0.5 x 0.30805, 0.6242 of one: 0.6242 x 0.9389 + 0.3758 x 0.6644
    moves = np.log(np.tile([0.99, 0.5], (1, 5, 1)))
    moves[:, 2] = 0  # the own seat
    network = indifferent(GAME, DEEPROLE)
    for together, chance in ((1, 0.9389), (0, 0.6644), (0.5, 0.8358)):
        others = others_of(("heuristic", "random"), network, 0.02, together=together)
        assert others.chances_of_seats(np.insert(moves, 0, 0, axis=2))[0, 0, 1] == pytest.approx(chance, abs=1e-4)


@pytest.mark.parametrize("together", [0, 0.3, 1])
def test_moves_one_by_one_weigh_what_they_weigh_together(together):
    # the chain rule: P(all moves) is the product of each move's probability given those before it
    rng = np.random.default_rng(0)
    others = others_of((OWN, "heuristic", "random"), indifferent(GAME, DEEPROLE), 0.02, 0.6, together)
    log_families, log_weight = np.zeros((1, 5, 3)), 0.0
    for seat in rng.integers(0, 4, 20):
        chances = rng.random(3)
        log_weight += np.log(others.chances_of_seats(log_families)[0, seat] @ chances)
        log_families[0, seat] += np.log(chances)
    assert others.log_weights(log_families) == pytest.approx([log_weight])


def test_seats_of_one_family_are_drawn_of_one():
    others = others_of(("heuristic", "random"), indifferent(GAME, DEEPROLE), 0.02, together=1)
    drawn = np.delete(others.drawn(np.zeros((200, 5, 3)), 3, np.random.default_rng(0)), 3, axis=1)
    assert (drawn == drawn[:, :1]).all()
    assert np.bincount(drawn[:, 0], minlength=3) == pytest.approx([0, 100, 100], abs=30)


def test_a_literal_seat_votes_as_the_heuristic_does():
    # seat 3 is Merlin, and (1, 2) are the evil ones: the heuristic seldom votes for them, and with a cover of 0 never
    game = game_of(DEEPROLE)
    state = played(game, ROLES, Move(avalon.TEAM, (0, 4)), *APPROVED[:3])
    table, view = SearchTable(indifferent(GAME, DEEPROLE)), game.view(state, 3)
    others = others_of((OWN,), table.network, 0.02)
    known = posterior(table, view, others, np.random.default_rng(0))
    chances = Continuations(table, others, known, 3).literal_chances(np.random.default_rng(0))
    legal = table.moves_of(view)[0]
    assert chances.sum() == pytest.approx(1)
    assert chances[legal].sum() == pytest.approx(1)
    assert chances[table.number[avalon.APPROVE]] > 0.9  # a clean team


@pytest.mark.parametrize("without", [{"literal": 1.0}, {"others": ("heuristic",)}])
def test_search_without_a_share_of_its_own_network_plays_moves_that_the_heuristic_takes(without):
    # Merlin sees that the team (1, 2) is evil; the network of this test always approves, the heuristic mostly rejects
    game = game_of(DEEPROLE)
    state = played(game, ROLES, Move(avalon.TEAM, (1, 2)), *APPROVED[:3])
    network = leaning(SearchTable(indifferent(GAME, DEEPROLE)).number[avalon.APPROVE])
    policy = SearchPolicy(network, SearchSettings(continuations=64, least=0.0, **without))
    policy.reset(3, 0)
    policy.act({}, {"view": game.view(state, 3), "legal": [0, 1], "options": ["approve", "reject"]})
    assert policy.notes()["search"]["network"][1] > 0.5


def test_the_own_seat_is_played_by_the_searching_network():
    others = others_of(("heuristic",), indifferent(GAME, DEEPROLE), 0.02)
    drawn = others.drawn(np.zeros((6, 5, 2)), 3, np.random.default_rng(0))
    assert (drawn[:, 3] == 0).all()
    assert (np.delete(drawn, 3, axis=1) == 1).all()


def test_a_critic_learns_what_its_inputs_tell():
    rng = np.random.default_rng(0)
    seen = rng.standard_normal((20_000, 4)).astype(np.float32)
    target = np.sign(seen[:, 0]).astype(np.float32)
    critic = fitted(seen, target, rng)
    assert np.mean((critic(seen) - target) ** 2) < 0.2  # it is 1 for a critic that says 0


def test_a_cut_game_pays_the_side_of_the_seat_to_move_and_takes_from_the_other():
    # the critic says 0.5 for whoever moves: seats of that side get 0.5, the others -0.5. After a proposal seat 0 votes first, a
    # Servant: of seat 0's own side
    game = game_of(DEEPROLE)
    table = SearchTable(indifferent(GAME, DEEPROLE))
    others = others_of((OWN,), table.network, 0.02)
    view = game.view(played(game, ROLES), 0)
    known = posterior(table, view, others, np.random.default_rng(0))
    inputs = table.tables(1).size + table.tables(1).hidden_size
    half = Critic(
        np.zeros((inputs, 1), np.float32), np.zeros(1, np.float32), np.array([0, np.arctanh(0.5)], np.float32)
    )
    returns, _ = Continuations(table, others, known, 0, 1, half).play(np.array([0]), 8, np.random.default_rng(0))
    assert np.abs(returns) == pytest.approx(0.5)
