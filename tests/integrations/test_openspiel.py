"""OpenSpiel: our games under its checks and algorithms, its players at our tables, our players in its loops."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests import ROOT

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed; run scripts/test-integrations openspiel")
import pyspiel
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import (
    cfr,
    exploitability,
)
from open_spiel.python.tests import games_sim_test
from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy, RandomPolicy, make_policy
from parlour.policies.adapters.openspiel import OpenSpielPolicy, SeatState, TabularSeat, probabilities
from parlour.policies.adapters.openspiel_bot import PolicyBot, is_mcts
from parlour.policies.base import Policy
from parlour.training.play import rollout
from parlour.wrappers.determinizations import determinizations
from parlour.wrappers.openspiel.game import openspiel_game

from tests.integrations.pages import page_code
from tests.integrations.seats import run_commands

sys.path.insert(0, str(ROOT / "examples"))
from openspiel_tree import Tree

WEREWOLF = {"num_players": 4, "rules": "official", "talk": False}
AVALON = {"num_players": 5, "rules": "official", "talk": False}
SMALLEST = {**WEREWOLF, "max_days": 1, "fixed_deal": (0, 1, 2, 3)}
TABLES = {
    "coin": ("template_v0", {}),
    "werewolf": ("werewolf_v0", WEREWOLF),
    "avalon": ("avalon_v0", AVALON),
    "avalon-reference": ("avalon_v0", {"num_players": 5, "rules": "reference", "fixed_deal": (0,)}),
}


def game_of(table: str) -> Any:
    name, options = TABLES[table]
    return openspiel_game(name, **options)


def states(game: Any, seed: int) -> list[Any]:
    """The states of one random game."""
    rng, met = np.random.default_rng(seed), [game.new_initial_state()]
    while not met[-1].is_terminal():
        actions = met[-1].legal_actions()
        met.append(met[-1].child(int(actions[rng.integers(len(actions))])))
    return met


def turns(game: Any, seed: int) -> list[Any]:
    return [state for state in states(game, seed) if state.is_player_node()]


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree(openspiel_game("werewolf_v0", **SMALLEST))


# -- our games in OpenSpiel ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_passes_openspiels_own_checks(kind, capfd):
    game = game_of(kind)
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)
    games_sim_test.GamesSimTest().sim_game(game)
    assert "terminated with" in capfd.readouterr().out


def test_the_games_are_registered_with_their_options_as_parameters():
    game = pyspiel.load_game("python_parlour_werewolf(num_players=4,roles=Werewolf/Villager/Villager/Villager)")
    assert game.num_players() == 4
    assert game.table.game.roles == ("Werewolf", *("Villager",) * 3)
    assert str(pyspiel.load_game(str(game))) == str(game)
    same = openspiel_game("werewolf_v0", num_players=4, roles=("Werewolf", "Villager", "Villager", "Villager"))
    assert str(same) == str(game)
    assert {"python_parlour_avalon", "python_parlour_template"} <= set(pyspiel.registered_names())


def test_chance_is_explicit_where_it_can_be_told_and_sampled_by_seed_elsewhere():
    explicit, sampled = game_of("werewolf"), [openspiel_game("werewolf_v0", talk=False, seed=k) for k in (1, 1, 2)]
    modes = pyspiel.GameType.ChanceMode
    assert explicit.get_type().chance_mode == modes.EXPLICIT_STOCHASTIC
    assert len(explicit.new_initial_state().chance_outcomes()) == 12 * 24
    assert sampled[0].get_type().chance_mode == modes.SAMPLED_STOCHASTIC
    pyspiel.random_sim_test(sampled[0], num_sims=1, serialize=False, verbose=False)
    deals = [str(openspiel_game("werewolf_v0", talk=False, seed=k).new_initial_state().child(0)) for k in (1, 1, 2)]
    assert deals[0] == deals[1] != deals[2]


def test_what_is_public_in_the_deal_can_be_fixed():
    game = openspiel_game("werewolf_v0", **SMALLEST)
    outcomes = game.new_initial_state().chance_outcomes()
    assert [p for _, p in outcomes] == pytest.approx([1 / 12] * 12)
    dealt = [game.new_initial_state().child(k).moment.moves[0].args for k, _ in outcomes]
    assert {args[:4] for args in dealt} == set(permutations((0, 1, 2, 2)))
    assert {args[4:] for args in dealt} == {(0, 1, 2, 3)}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mediated_qa_v0", {}, "game 'mediated_qa_v0' is not accepted; accepted: avalon_v0"),
        ("avalon_v0", {"colour": 1}, "option of avalon_v0 'colour' is not accepted; accepted: num_players"),
        ("werewolf_v0", {"num_players": 4, "fixed_deal": (9,)}, "fixed_deal '9/' is not accepted"),
        ("werewolf_v0", {"num_players": 4, "fixed_deal": "a"}, "fixed_deal 'a' is not accepted"),
        ("werewolf_v0", {"num_players": 3}, r"num_players 3 is not accepted; accepted: 4\.\.15"),
    ],
)
def test_a_table_that_cannot_be_is_refused(name, options, message):
    with pytest.raises(ParlourError, match=message):
        openspiel_game(name, **options)


# -- what a player is told -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TABLES)
def test_strings_tell_apart_exactly_what_a_view_and_ones_own_moves_tell_apart(kind):
    game = game_of(kind)
    rules, known = game.table.game, {}
    for state in (state for seed in range(12) for state in states(game, seed)):
        for seat in range(game.num_players()):
            what = (seat, rules.view(state.moment.state, seat), state.moment.own[seat])
            assert known.setdefault(state.information_state_string(seat), what) == what
            assert len(state.observation_tensor(seat)) == game.observation_tensor_size()
    assert len(known) == len(set(known.values())) > 5


def test_an_observer_of_more_than_one_seat_knows_is_refused():
    wants = pyspiel.IIGObservationType(perfect_recall=True, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS)
    with pytest.raises(ParlourError, match="private_info"):
        game_of("coin").make_py_observer(wants)


# -- states that a seat cannot tell apart ----------------------------------------------------------------------


def test_worlds_are_all_courses_of_an_information_set_with_their_probabilities():
    """Against the whole tree, by brute force."""
    game = openspiel_game("werewolf_v0", **SMALLEST)
    reached: dict[tuple[int, str], Counter[Any]] = defaultdict(Counter)
    sample: dict[tuple[int, str], Any] = {}

    def go(at: Any, chance: float) -> None:
        if at.player == pyspiel.PlayerId.TERMINAL:
            return
        if at.player == pyspiel.PlayerId.CHANCE:
            for move, p in at.table.chances(at.state):
                go(at.after(move), chance * p)
            return
        key = (at.player, at.infoset(at.player))
        if at.player in (0, 3):
            others = 1.0  # the player's own moves count for nothing
            before = at.before
            while before is not None:
                others /= len(before.legal) if before.player not in (at.player, pyspiel.PlayerId.CHANCE) else 1
                before = before.before
            reached[key][at.moves] += others / 12
            sample[key] = at
        for action in at.legal:
            go(at.after(game.table.game.catalogue[action]), chance)

    go(game.table.root, 1.0)
    assert len(reached) > 50
    for key in sorted(reached)[::9]:
        at = sample[key]
        view = game.table.game.view(at.state, at.player)
        deals = determinizations(game.table.game, game.table.text, view, at.own[at.player])
        # `determinizations` goes by the rules, which draw the order of talk as well: it is in the View
        assert {determinization.moves for determinization in deals} == set(reached[key])
        total = sum(reached[key].values())
        for determinization in deals:
            assert determinization.probability == pytest.approx(reached[key][determinization.moves] / total)


@pytest.mark.parametrize("kind", ["werewolf", "avalon", "avalon-reference"])
def test_a_state_drawn_for_a_seat_is_one_that_it_cannot_tell_from_the_real_one(kind):
    game, rng = game_of(kind), np.random.default_rng(0)
    real = turns(game, 4)[::4]
    other = 0
    for state in real[:6]:
        seat = state.current_player()
        drawn = [state.resample_from_infostate(seat, rng.random) for _ in range(8)]
        assert {d.information_state_string(seat) for d in drawn} == {state.information_state_string(seat)}
        assert all(d.legal_actions() == state.legal_actions() for d in drawn)
        other += sum(str(d) != str(state) for d in drawn)
    assert other > 0


def test_what_is_drawn_depends_on_the_view_alone():
    game = game_of("avalon")
    state = turns(game, 4)[9]
    seat = state.current_player()
    drawn = [str(state.resample_from_infostate(seat, lambda z=z: z)) for z in (0.0, 0.3, 0.6, 0.99)]
    twin = next(
        s for z in (0.1, 0.5, 0.9) if str(s := state.resample_from_infostate(seat, lambda z=z: z)) != str(state)
    )
    assert drawn == [str(twin.resample_from_infostate(seat, lambda z=z: z)) for z in (0.0, 0.3, 0.6, 0.99)]


def test_worlds_of_a_seat_that_is_not_to_move_or_of_too_large_a_table_are_refused(monkeypatch):
    state = turns(game_of("avalon"), 4)[0]
    table = state.moment.table
    idle = next(k for k in range(5) if k != state.current_player())
    with pytest.raises(ParlourError, match=f"seat {idle} is not to move"):
        determinizations(table.game, table.text, table.game.view(state.moment.state, idle), ())
    large = rollout.table("werewolf_v0", talk=False)
    large.reset(seed=0)
    view = large.game_env.view(large.game_env.seat)
    monkeypatch.setattr("parlour.wrappers.determinizations.MOST", 1000)
    with pytest.raises(ParlourError, match="too many; accepted: tables with up to 1000 to try"):
        determinizations(large.game_env.game, large.game_env.text, view, ())


# -- OpenSpiel's algorithms ------------------------------------------------------------------------------------


def _tells_and_believes(at: Any) -> int:
    """The keeper says what it sees, the guesser guesses what it hears."""
    return 1 + at.state.coin if at.player == 0 else 3 + _said(at)


def _said(at: Any) -> int:
    move = at.moves[-1]
    return int(move.args[0]) if move.args else 0


def test_cfr_finds_an_equilibrium_of_the_coin():
    game = openspiel_game("template_v0", zero_sum=True)
    honest = policies.tabular_policy_from_callable(game, lambda state: {_tells_and_believes(state.moment): 1.0})
    assert exploitability.exploitability(game, honest) == pytest.approx(1)
    solver = cfr.CFRPlusSolver(game)
    for _ in range(20):
        solver.evaluate_and_update_policy()
    assert exploitability.exploitability(game, solver.average_policy()) < 1e-3


def test_the_tree_in_c_plus_plus_is_the_same_game(tree):
    assert (tree.nodes, tree.infosets) == (46717, 164)
    coin = openspiel_game("template_v0", zero_sum=True)
    small = Tree(coin)
    for step in range(3):
        ours, theirs = cfr.CFRSolver(coin), pyspiel.CFRSolver(small.game)
        for _ in range(step + 1):
            ours.evaluate_and_update_policy()
            theirs.evaluate_and_update_policy()
        expected = probabilities(ours.average_policy())
        assert small.rows(theirs.average_policy()) == {k: pytest.approx(row) for k, row in expected.items()}


# -- ours in their loops ---------------------------------------------------------------------------------------


def test_a_policy_plays_as_a_bot_the_very_moves_it_plays_at_our_table():
    game = game_of("avalon")
    env = rollout.table("avalon_v0", **AVALON)
    for seed in range(5):
        rollout.play(env, [HeuristicPolicy() for _ in range(5)], seed)
        moves = env.game_env.moves
        bots = [PolicyBot(HeuristicPolicy(), seat, seed) for seat in range(5)]
        state = game.state_after(moves[:1])
        while not state.is_terminal():
            state.apply_action(bots[state.current_player()].step(state))
        assert state.moment.moves == tuple(moves)


class Talker(Policy):
    name = "talker"
    wants = "text"

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        assert observation["text"].startswith("# Who you are")
        return info["options"][-1] if self.rng.random() < 0.9 else "Hm."


def test_a_bot_that_answers_in_words_is_read_as_at_our_tables():
    game = game_of("avalon")
    bots = [PolicyBot(Talker(), seat) for seat in range(5)]
    state = turns(game, 0)[0]
    while not state.is_terminal():
        state.apply_action(bots[state.current_player()].step(state))
    assert 0 < sum(bot.unusable for bot in bots) < len(state.moment.moves)


def test_a_bot_refuses_anothers_turn_and_other_peoples_games():
    state = turns(game_of("avalon"), 0)[0]
    with pytest.raises(ParlourError, match="whose bot this is"):
        PolicyBot(RandomPolicy(), (state.current_player() + 1) % 5).step(state)
    with pytest.raises(ParlourError, match=r"a state of tic_tac_toe\(\); accepted: a game of"):
        PolicyBot(RandomPolicy(), 0).step(pyspiel.load_game("tic_tac_toe").new_initial_state())


# -- theirs at our tables --------------------------------------------------------------------------------------


class Nosy:
    """A bot that compares what it is told at our table with what OpenSpiel's own state tells the seat."""

    def __init__(self, seat: int, log: list[Any]) -> None:
        self.seat, self.told = seat, log

    def step(self, state: Any) -> int:
        text = [state.action_to_string(action) for action in state.legal_actions()]
        self.told.append(
            (
                state.current_player(),
                state.information_state_string(),
                state.observation_tensor(self.seat),
                state.legal_actions(),
                state.legal_actions(self.seat ^ 1),
                state.legal_actions_mask(),
                state.num_distinct_actions(),
                text,
                [state.is_terminal(), state.is_chance_node(), state.is_player_node()],
            )
        )
        return state.legal_actions()[-1]


@pytest.mark.parametrize("kind", ["werewolf", "avalon"])
def test_a_seat_at_our_table_is_told_what_openspiels_state_tells_it(kind):
    name, options = TABLES[kind]
    env, log = rollout.table(name, **options), []
    rollout.play(env, [OpenSpielPolicy(lambda seat, _: Nosy(seat, log)) for _ in range(env.game_env.game.seats)], 2)
    game = game_of(kind)
    state, again = game.new_initial_state(), []
    for number in range(len(env.game_env.moves)):
        state = game.state_after(env.game_env.moves[:number])
        if state.is_player_node():
            Nosy(state.current_player(), again).step(state)
    assert log == again


@pytest.mark.parametrize("ask", ["clone", "apply_action", "history", "child", "returns", "get_game", "serialize"])
def test_more_than_a_seat_may_know_is_refused_in_one_line(ask):
    env = rollout.table("avalon_v0", **AVALON)
    env.reset(seed=0)
    agent = env.agent_selection
    state = SeatState(env.game_env.observe_as(agent, "features"), env.infos[agent], ())
    with pytest.raises(ParlourError, match=rf"^state\.{ask} is more than a seat may know; accepted: [^\n]+$"):
        getattr(state, ask)
    with pytest.raises(ParlourError, match="a seat knows nothing of the others"):
        state.information_state_string(state.current_player() ^ 1)


def test_a_bot_of_the_c_plus_plus_library_needs_a_state_and_gets_one_that_is_drawn():
    env = rollout.table("werewolf_v0", **WEREWOLF)
    make = pyspiel.make_uniform_random_bot
    with pytest.raises(ParlourError, match=r"takes whole states; accepted: .*game="):
        rollout.play(env, [OpenSpielPolicy(make) for _ in range(4)], 0)
    for seed in range(10):
        rollout.play(env, [OpenSpielPolicy(make, game_of("werewolf")) for _ in range(4)], seed)


def test_a_table_of_probabilities_is_saved_found_and_played(tree, tmp_path):
    solver = pyspiel.CFRPlusSolver(tree.game)
    solver.evaluate_and_update_policy()
    table = {k: v for k, v in SMALLEST.items() if k != "fixed_deal"}
    env = rollout.table("werewolf_v0", **table)
    config = env.game_env.game.config
    rows = tree.rows(solver.average_policy())
    TabularSeat.of("werewolf_v0", config, rows).save(tmp_path / "solved.npz")
    players = [make_policy(f"openspiel:{tmp_path / 'solved.npz'}", "werewolf_v0", config) for _ in range(4)]
    assert isinstance(players[0], TabularSeat)
    for player in players:
        assert {k: pytest.approx(v, abs=1e-6) for k, v in player.rows.items()} == TabularSeat.of("", {}, rows).rows
    known = 0
    for seed in range(100):
        for player in players:
            player.asked = player.unknown = 0
        rollout.play(env, players, seed)
        usual = env.game_env.view(0).speakers == (0, 1, 2, 3)
        known += usual
        assert all(player.unknown == (0 if usual else player.asked) for player in players)
    assert known > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("", "file is missing"),
        ("x,colour=y", "setting 'colour' is not accepted"),
        ("absent.npz", "there is no policy file 'absent.npz'"),
        ("bad.npz", "'bad.npz' is no table of probabilities"),
        ("coin.npz", "was solved for template_v0 with {} and cannot play avalon_v0"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_in_one_line(settings, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bad.npz").write_text("no")
    TabularSeat("template_v0", {}, {}).save("coin.npz")
    with pytest.raises(ParlourError, match=message) as refused:
        make_policy(f"openspiel:{settings}", "avalon_v0", {})
    assert "\n" not in str(refused.value)


def test_is_mcts_plays_avalon_at_our_table_from_what_its_seat_knows():
    env = rollout.table("avalon_v0", **AVALON)
    make = is_mcts(game_of("avalon"), simulations=3)
    played = []
    for _ in range(2):
        rollout.play(env, [make(), *(RandomPolicy() for _ in range(4))], 1)
        played.append(tuple(env.game_env.moves))
    assert played[0] == played[1]  # its chance is the seed's


# -- the page --------------------------------------------------------------------------------------------------


def test_the_code_of_the_page_runs(capsys):
    exec(page_code("openspiel", n_100="2"), {})
    assert "NashConv" in capsys.readouterr().out


def test_the_page_s_commands_train_a_seat_and_compare_it_with_the_expert(tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    run_commands("openspiel", 1024, tmp_path, monkeypatch, capsys)
