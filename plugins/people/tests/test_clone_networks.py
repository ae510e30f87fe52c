"""Networks cloned from recorded games: what they read, tables of other roles, games played again, and strangers in one seat."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from parlour.envs import replay
from parlour.envs.avalon.vocabulary import GUESS, MERLIN, MORDRED, MORGANA, PERCIVAL, ROLES, SERVANT, TEAM
from parlour.envs.core import Move, ParlourError
from parlour.envs.registry import lookup, registry
from parlour.policies import make_policy
from parlour.policies.experts import catalogue
from parlour.training.cli import run
from parlour_people.cloned import INPUTS, CloneNetworks, inputs_of

from tests.policies.networks import untrained
from tests.training.replay.recorded_games import record

pytest.importorskip("torch")
pytest.importorskip("numba")
from parlour_people.clone import networks
from parlour_people.clone.recorded import read_games, replayed

SPEC = lookup("avalon_v0").spec
SILENT = {"num_players": 5, "rules": "official", "talk": False}
OTHER = SILENT | {"roles": [MERLIN, PERCIVAL, SERVANT, MORGANA, MORDRED], "guesser": MORDRED}


def any_networks(seed=0):
    """Random weights for five players; weights are whole, so that half precision keeps them."""
    table = SPEC.build(SPEC.options(**SILENT))
    size = len(INPUTS) + SPEC.encoder(table).of_seat("belief").size - len(table.role_names)
    rng = np.random.default_rng(seed)
    shapes = ((8, size), (len(table.catalogue), 8))
    layers = [(rng.integers(-2, 3, s).astype(np.float32), rng.integers(-2, 3, s[0]).astype(np.float32)) for s in shapes]
    return CloneNetworks({5: layers}, {"games": 0})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Games of the heuristic at two tables."""
    path = tmp_path_factory.mktemp("games")
    for seed in range(44):
        record(path / f"game-{seed:02}.jsonl", "avalon_v0", seed, **(OTHER if seed % 2 else SILENT))
    return path


@pytest.mark.parametrize("config", [SILENT, OTHER])
def test_a_seat_of_any_roles_scores_as_the_network_for_all_roles_does(config):
    cloned, table = any_networks(), SPEC.build(SPEC.options(**config))
    observed = (
        np.random.default_rng(1).integers(0, 2, (3, SPEC.encoder(table).of_seat("belief").size)).astype(np.float32)
    )
    (weights, bias), (last, end) = cloned.networks[5]
    expected = np.maximum(inputs_of(table, observed) @ weights.T + bias, 0) @ last.T + end
    assert np.allclose(cloned.seat(config).scores(observed), expected)


def test_inputs_name_the_roles_in_play_and_who_names_merlin():
    table = SPEC.build(SPEC.options(**OTHER))
    read = inputs_of(table, np.zeros((1, 9), np.float32))[0]
    on = {name for name, value in zip(INPUTS, read, strict=False) if value}
    assert on == {f"{role} in play" for role in OTHER["roles"]} | {f"{MORDRED} names Merlin"}
    assert len(read) == 3 * len(ROLES) + 9 - len(table.role_names)


def test_a_clone_that_heard_nobody_is_refused_where_seats_talk_and_for_other_numbers_of_players(tmp_path):
    any_networks().save(tmp_path / "clone.npz")
    name = f"clone:{tmp_path / 'clone.npz'}"
    assert make_policy(name, "avalon_v0", SILENT).sample
    with pytest.raises(ParlourError, match="cannot talk"):
        make_policy(name, "avalon_v0", SILENT | {"talk": True})
    with pytest.raises(ParlourError, match="players 6 is not accepted"):
        make_policy(name, "avalon_v0", SILENT | {"num_players": 6})


def test_seats_numbered_anew_are_the_same_seats_in_what_is_seen_and_in_what_is_done():
    from parlour.envs import batch

    tables = batch.make("avalon_v0", num_envs=1, features="belief", **SILENT)
    orders, rng = networks.SeatOrders(tables), np.random.default_rng(3)
    to = np.concatenate([[0], 1 + np.random.default_rng(3).permutation(4)])
    drawn = orders.draw(rng)
    names = [*INPUTS, *tables.names[len(tables.game.role_names) :]]
    for seat in range(1, 5):
        new = names.index(f"+{to[seat]}: on the team")
        assert names[drawn.inputs[new]] == f"+{seat}: on the team"
    catalogue = tables.game.catalogue
    team, guess = catalogue.index(Move(TEAM, (0, 2))), catalogue.index(Move(GUESS, (3,)))
    assert catalogue[drawn.after[team]] == Move(TEAM, (0, int(to[2])))
    assert catalogue[drawn.after[guess]] == Move(GUESS, (int(to[3]),))
    assert drawn.actions[drawn.after[team]] == team


@pytest.mark.slow
def test_games_played_again_show_each_seat_what_it_saw_and_what_it_did(folder):
    games = [game for game in read_games(folder) if "guesser" in game.config][:3]
    table = SPEC.build(SPEC.options(**games[0].config))
    states = {game.number: list(replay.states(table, (Move("deal", game.deal), *game.moves)))[1:] for game in games}
    seen = 0
    for turn in replayed(games, "belief"):
        for row, number, action in zip(turn.rows, turn.games, turn.actions, strict=True):
            state = states[number][turn.number]
            view = table.view(state, table.actor(state))
            shown = SPEC.encoder(table).of_seat("belief")(view)
            assert np.allclose(turn.turns.observation[row], shown, atol=1e-5)
            done = turn.tables.game.catalogue[turn.tables.frame.order[view.seat, action]]
            assert done == games[[game.number for game in games].index(number)].moves[turn.number]
            seen += 1
    assert seen > 50


@pytest.mark.slow
def test_a_clone_of_the_heuristic_predicts_it_better_than_frequencies_and_resumes_to_the_same_bytes(folder, tmp_path):
    command = ["train", "clone", "--from", str(folder), "--method", "networks", "--epochs", "20", "--held-out", "0.25"]
    assert run([*command, "--out", str(tmp_path / "a")]) == 0
    assert run([*command, "--out", str(tmp_path / "b")]) == 0
    for file in ("clone.npz", "later.npz"):
        (tmp_path / "b" / file).unlink()
    assert run([*command, "--out", str(tmp_path / "b")]) == 0
    for file in ("clone.npz", "later.npz"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    rows = [line.split(",") for line in (tmp_path / "a" / "scores.csv").read_text().splitlines()]
    log = {(row[2], row[3]): float(row[9]) for row in rows[1:] if row[:2] == ["vote", "all"]}
    assert log["all", "clone"] > log["all", "frequency"]
    assert log["5", "clone"] == log["all", "clone"]  # all games have five players


@pytest.mark.slow
def test_a_player_among_its_own_family_gains_nothing(json_of):
    table = ["--players", "5", "--rules", "official", "--set", "talk=false", "--games", "50", "--json"]
    heuristic = ["--policy", "heuristic", "--family", "heuristic"]
    output = json_of(["evaluate", "strangers", "avalon_v0", *heuristic, *table])
    assert output["mean"]["all"]["mean"] == 0.0
    assert {row["what"] for row in output["scores"]} >= {"all", "good", "evil", f"role: {MERLIN}"}
    assert sum(row["policy"]["n"] for row in output["scores"] if row["what"] in ("good", "evil")) == 50


def test_an_expert_of_ones_own_is_the_expert_of_the_style_human(tmp_path, monkeypatch):
    """Its card lies in the folder that the plugin names."""
    table = {"num_players": 5, "rules": "official", "talk": False}
    config = registry["avalon_v0"].raw_env(**table).game.config
    with pytest.raises(ParlourError, match="expert:style=human"):
        make_policy("expert:style=human", "avalon_v0", config)
    seat = untrained("avalon_v0", table, "belief")
    seat.save(tmp_path / "own.npz")
    shipped = catalogue.card_for("avalon_v0", config)
    digest = sha256((tmp_path / "own.npz").read_bytes()).hexdigest()
    replace(shipped, name="own", style="human", sha256=digest, needs="").write(tmp_path / "own.json")
    monkeypatch.setitem(catalogue.FOLDERS._loaded, "parlour-people", tmp_path)
    player = make_policy("expert:style=human", "avalon_v0", config)
    assert all((a == b).all() for (a, _), (b, _) in zip(player.layers, seat.layers, strict=True))
