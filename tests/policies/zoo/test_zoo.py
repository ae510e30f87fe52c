"""The zoo: what its rule player and its tree search do, that they know no more than their seat, and where they can sit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.core import Move, ParlourError
from parlour.policies import make_policy
from parlour.training import cli

batch = pytest.importorskip("parlour.envs.batch")
zoo = pytest.importorskip("parlour.policies.zoo.policy")
pytestmark = pytest.mark.slow  # kernels are compiled

DEEPROLE = {"num_players": 5, "rules": "official", "roles": "deeprole", "talk": False}
OFFICIAL = {"num_players": 5, "rules": "official", "talk": False}
TABLE = ["--players", "5", "--rules", "official", "--set", "roles=deeprole", "--set", "talk=false"]
ROLES = (avalon.SERVANT, avalon.ASSASSIN, avalon.MINION, avalon.MERLIN, avalon.SERVANT)
APPROVED, REJECTED = (avalon.APPROVE,) * 5, (avalon.REJECT,) * 5


def team(*seats):
    return Move(avalon.TEAM, seats)


def played(moves, roles=ROLES, options=DEEPROLE):
    """The game and its state after a deal with seat 0 as leader, and moves."""
    game = registry["avalon_v0"].raw_env(**options).game
    numbers = tuple(game.role_names.index(role) for role in roles)
    state = game.apply(game.initial(), Move(avalon.DEALT, (*numbers, 0)))
    for move in moves:
        state = game.apply(state, move)
    return game, state


def chosen(name, moves, seed=0, **options):
    """What a player does after these moves."""
    game, state = played(moves, **options)
    view = game.view(state, game.actor(state))
    policy = make_policy(name, "avalon_v0", game.config)
    policy.reset(view.seat, seed)
    return view.legal[policy.act({}, {"view": view, "legal": range(len(view.legal))})]


FAILED = (team(0, 1), *APPROVED, avalon.SUCCESS, avalon.FAIL)
"""Seat 1 has failed the first quest of seats 0 and 1; seat 1 leads the second, of three."""


# -- logic ------------------------------------------------------------------------------------------------------


def test_a_seat_rejects_a_team_that_is_proven_dirty_and_approves_what_may_be_clean():
    """Seat 0 played success, so seat 1 is evil to it; with 1 on the team nothing clean is possible. 0, 2 and 3 may be clean."""
    assert chosen("logic", (*FAILED, team(1, 2, 3))) == avalon.REJECT
    after_one = (*FAILED, team(1, 2, 3), *REJECTED, team(0, 2, 3))
    assert chosen("logic", after_one) == avalon.APPROVE


def test_at_the_last_proposal_a_good_seat_approves_anything():
    rejected = tuple(move for _ in range(4) for move in (team(1, 2, 3), *REJECTED))
    assert chosen("logic", (*FAILED, *rejected, team(1, 2, 3))) == avalon.APPROVE


@pytest.mark.parametrize("seed", range(8))
def test_a_leader_never_takes_a_seat_that_is_evil_in_all_possible_deals(seed):
    """Merlin, seat 3, leads the fourth proposal and sees 1 and 2 evil: of two he takes himself and 0 or 4."""
    rejected = tuple(move for _ in range(3) for move in (team(0, 4), *REJECTED))
    assert chosen("logic", rejected, seed).args in ((0, 3), (3, 4))


def test_an_evil_seat_approves_dirty_teams_and_fails_and_the_assassin_names_no_fellow():
    assert chosen("logic", (team(0, 1), avalon.APPROVE)) == avalon.APPROVE
    assert chosen("logic", (team(0, 4), avalon.APPROVE)) == avalon.REJECT
    assert chosen("logic", (team(0, 1), *APPROVED, avalon.SUCCESS)) == avalon.FAIL
    quests = [(0, 3), (0, 3, 4), (0, 4), (0, 3, 4), (0, 3, 4)][:3]
    clean = tuple(move for seats in quests for move in (team(*seats), *APPROVED, *(avalon.SUCCESS,) * len(seats)))
    named = {chosen("logic", clean, seed).args[0] for seed in range(12)}
    assert named == {0, 3, 4}


# -- tree search -------------------------------------------------------------------------------------------------

TWO_FAILS = (*FAILED, team(1, 2, 3), *APPROVED, avalon.FAIL, avalon.SUCCESS, avalon.SUCCESS)


@pytest.mark.parametrize("seed", range(4))
def test_evil_with_two_failed_quests_fails_the_third_and_has_won(seed):
    """Fail wins at once, in every deal; success leaves the good side a chance."""
    moves = (*TWO_FAILS, team(0, 2), *APPROVED, avalon.SUCCESS)
    assert chosen("mcts:rollouts=200", moves, seed) == avalon.FAIL


@pytest.fixture(scope="module")
def drawn():
    """Frequencies of evil and of Merlin by seat in `count` deals drawn for the seat to move."""
    from numba import njit
    from parlour.policies.zoo.kernels.tree_search import draw_deal, look_from

    @njit(error_model="numpy")
    def drawn(games, rules, count):
        evil, merlin = np.zeros(games[0].roles.size), np.zeros(games[0].roles.size)
        copied = games[0:1].copy()
        look_from(games[0], rules[0], games[0].actor)
        for _ in range(count):
            stream = copied[0].players
            copied[0] = games[0]
            copied[0].players = stream
            draw_deal(copied[0], rules[0])
            for j in range(evil.size):
                evil[j] += copied[0].side[j]
                merlin[j] += copied[0].roles[j] == rules[0].merlin
        return evil / count, merlin / count

    return drawn


@pytest.mark.parametrize("options", [DEEPROLE, OFFICIAL], ids=["deeprole", "official"])
def test_deals_are_drawn_as_often_as_the_belief_of_the_seat_says(options, drawn):
    """Frequencies of 4000 draws within 0.03 (over three standard errors) of the exact posterior, for each seat of a game."""
    tables = batch.make("avalon_v0", num_envs=1, features="belief", autoreset=None, **options)
    turns = tables.reset(3)
    n, seen = tables.seats, set()
    heuristic = batch.players.HeuristicSeats()
    heuristic.reset(tables, [3])
    actions = np.zeros(1, np.int32)
    while turns.actor[0] >= 0 and len(seen) < n:
        me = int(turns.actor[0])
        if me not in seen and tables.games[0].ballots > 0:
            seen.add(me)
            evil, merlin = drawn(tables.games, tables.rules, 4000)
            inside = tables.games[0].inside
            assert evil == pytest.approx(inside[:n], abs=0.03)
            assert merlin == pytest.approx(inside[n : 2 * n], abs=0.03)
        heuristic.choose(turns, np.zeros(1, np.int32), actions)
        turns = tables.step(actions)
    assert seen


@pytest.mark.parametrize("name", ["logic", "mcts:rollouts=60"])
def test_a_player_over_arrays_knows_no_more_than_its_seat(name):
    """Two deals that seat 0, a Servant, cannot tell apart: the same move from the same stream, as leader and as voter.

    The votes of the seats before it in this round are not seen either: seat 2, a Servant in both, after two other votes.
    """
    first = (avalon.SERVANT, avalon.ASSASSIN, avalon.SERVANT, avalon.MINION, avalon.MERLIN)
    other = (avalon.SERVANT, avalon.MERLIN, avalon.SERVANT, avalon.ASSASSIN, avalon.MINION)
    pairs = [((first, ()), (other, ()))]
    pairs += [((first, (team(0, 1), yes, yes)), (other, (team(0, 1), no, yes))) for yes, no in [APPROVED_REJECTED]]
    for pair in pairs:
        moves = [moved(name, roles, before) for roles, before in pair]
        assert moves[0] == moves[1]


APPROVED_REJECTED = (avalon.APPROVE, avalon.REJECT)


def moved(name, roles, before):
    """The actions of 16 equal tables with streams of their own, after a deal and moves."""
    game, _ = played((), roles)
    tables = batch.make("avalon_v0", num_envs=16, features="belief", autoreset=None, **DEEPROLE)
    tables.reset(range(16))
    turns = tables.deal(np.array([[*(game.role_names.index(role) for role in roles), 0]] * 16))
    number = {move: k for k, move in enumerate(game.catalogue)}
    for move in before:
        turns = tables.step(tables.frame.own[turns.actor, number[move]])
    player = zoo.seats(name, tables)
    player.reset(tables, range(16))
    actions = np.zeros(16, np.int32)
    player.choose(turns, np.arange(16, dtype=np.int32), actions)
    return actions.tolist()


# -- where they sit ----------------------------------------------------------------------------------------------


def test_a_player_of_the_zoo_plays_the_same_game_again_and_from_a_pickle():
    game, state = played(FAILED)
    view = game.view(state, game.actor(state))
    info = {"view": view, "legal": range(len(view.legal))}
    policy = make_policy("mcts:rollouts=20", "avalon_v0", game.config)
    policy.reset(view.seat, 7)
    twin = pickle.loads(pickle.dumps(policy))
    first = [policy.act({}, info) for _ in range(3)]
    assert [twin.act({}, info) for _ in range(3)] == first
    assert policy.settings() == {"rollouts": 20}


@pytest.mark.parametrize(
    ("name", "message"),
    [("mcts:depth=3", "depth"), ("logic:rollouts=3", "rollouts"), ("mcts:rollouts=0", "rollouts")],
)
def test_unknown_settings_are_refused_in_one_line(name, message):
    with pytest.raises(ParlourError, match=message):
        make_policy(name, "avalon_v0", played(())[0].config)


def test_tables_with_talk_are_refused_in_one_line(capsys):
    assert cli.run(["evaluate", "avalon_v0", "--policy", "logic", "--games", "2"]) == 2
    assert "do not play this table of avalon_v0; accepted: avalon_v0 with talk=false" in capsys.readouterr().err


def test_two_policies_are_compared_with_each_other_among_a_family(json_of):
    words = ["--policy", "heuristic", "--policy", "heuristic:picky=1", "--family", "logic"]
    output = json_of(["evaluate", "strangers", "avalon_v0", *TABLE, *words, "--games", "60", "--json"])
    assert output["beside"] == "heuristic:picky=1"
    # the same player under another name: a difference of 0
    assert output["mean"]["all"]["mean"] == 0.0


def test_conventions_and_cross_play_are_counted_in_the_games_of_the_command(json_of, tmp_path):
    """Both families are the same player under two names, so that cross-play gains and loses nothing."""
    words = ["--family", "heuristic", "--family", "heuristic:picky=1", "--crossplay", "--out", str(tmp_path)]
    output = json_of(["evaluate", "strangers", "avalon_v0", *TABLE, *words, "--games", "60", "--json"])
    crossed = output["crossplay"]
    assert crossed["players"] == ["heuristic", "heuristic:picky=1"]
    assert (crossed["difference"]["all"]["mean"], crossed["other"]["mean"]) == (0.0, crossed["own"]["mean"])
    rows = {(row["among"], row["measure"], row["of"]): row["players"] for row in output["conventions"]}
    both = [rows[among, "approves teams with an evil seat", "good"] for among in ("heuristic", "all families")]
    for own in both:  # the heuristic among itself is the reference
        assert own["heuristic"] == own["family there"]
    assert both[1]["heuristic"]["n"] == 2 * both[0]["heuristic"]["n"] > 0
    table = (tmp_path / "conventions.csv").read_text("utf-8").splitlines()
    assert len(table) == 1 + len(output["conventions"])
    assert table[0].startswith("among,measure,of,heuristic,heuristic_low,heuristic_high,heuristic_n,family there,")


def test_conventions_of_single_games_are_counted_like_those_over_arrays(json_of):
    """Kernels know no option `hunt`, so these games are played one by one."""
    words = ["--set", "hunt=end", "--policy", "random", "--policy", "heuristic", "--family", "heuristic"]
    output = json_of(["evaluate", "strangers", "avalon_v0", *TABLE, *words, "--games", "15", "--json"])
    cells = [cell for row in output["conventions"] for cell in row["players"].items() if cell[1] is not None]
    assert {name for name, _ in cells} == {"random", "heuristic there"}
    assert all(0 <= rate["hits"] <= rate["n"] for _, rate in cells)


def test_a_style_that_is_the_usual_one_plays_like_the_heuristic_without_settings():
    tables = batch.make("avalon_v0", num_envs=64, features="belief", **DEEPROLE)
    pool = pytest.importorskip("parlour.training.learn.selfplay.pool")
    arrays = []
    for name in ("heuristic", "heuristic:cover=0.5", "heuristic:dirty=0,clean=1,first=1,cover=0,picky=0.5"):
        turns = tables.reset(4)
        player = pool.batch_player(name, tables)
        player.reset(tables, range(64))
        actions, rows, kept = np.zeros(64, np.int32), np.arange(64, dtype=np.int32), []
        for _ in range(60):
            player.choose(turns, rows, actions)
            turns = tables.step(actions)
            kept.append(actions.copy())
        arrays.append(np.array(kept))
    assert (arrays[0] == arrays[1]).all()
    assert (arrays[0] != arrays[2]).any()
