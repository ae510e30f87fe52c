"""`mixture:FOLDER`: in each game one of several trained seats, the same at all seats, drawn from the game's seed alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from parlour.envs import batch, registry
from parlour.envs.core import ParlourError
from parlour.policies import MixturePolicy, TrainedSeat, asks_a_model, make_policy
from parlour.policies.mixture import members_of
from parlour.training.learn.selfplay.pool import batch_player

from tests.policies.networks import moves_of, untrained

GAME, OPTIONS = "avalon_v0", {"num_players": 5, "rules": "official", "talk": False}


def random_network(number: int, players: int = 5, features: str = "summary") -> TrainedSeat:
    return untrained(GAME, {**OPTIONS, "num_players": players}, features, number)


@pytest.fixture
def folder(tmp_path):
    """Three networks, and a file that is none of them."""
    for number in range(3):
        random_network(number).save(tmp_path / f"s{number:03d}.npz")
    (tmp_path / "report.md").write_text("text")
    return tmp_path


def moves(names: list[str], seed: int) -> list:
    """A game of these players, one a seat."""
    env = registry[GAME].raw_env(info="full", features="summary", **OPTIONS)
    return moves_of(env, [make_policy(name, GAME, env.game.config) for name in names], seed)


def test_each_game_is_played_by_one_member_at_all_seats(folder):
    alone = {seed: [moves([str(file)] * 5, seed) for file in members_of(folder)] for seed in range(30)}
    drawn = Counter(alone[seed].index(moves([f"mixture:{folder}"] * 5, seed)) for seed in alone)
    assert set(drawn) == {0, 1, 2}  # 30 games: a member is left out with a chance of 3 (2/3)^30, 2 in 100,000


def test_over_arrays_the_table_b_is_played_by_member_b_mod_k(folder):
    tables = batch.make(GAME, num_envs=7, features="summary", **OPTIONS)
    turns = tables.reset(seed=3)
    mixed = batch_player(f"mixture:{folder}", tables)
    members = [batch_player(str(file), tables) for file in members_of(folder)]
    for player in (mixed, *members):
        player.reset(tables, range(7), 0)
    for _ in range(40):
        rows = np.arange(7, dtype=np.int32)
        by = np.zeros((4, 7), np.int32)
        for actions, player in zip(by, (mixed, *members), strict=True):
            player.choose(turns, rows, actions)
        assert by[0].tolist() == [by[1 + b % 3][b] for b in range(7)]
        turns = tables.step(by[0])


def test_it_is_saved_by_its_folder_and_asks_no_model(folder, tmp_path):
    made = MixturePolicy(folder)
    made.save(tmp_path / "policy.json")
    again = MixturePolicy.load(tmp_path / "policy.json")
    assert (again.folder, len(again.members)) == (str(folder), 3)
    assert not asks_a_model(f"mixture:{folder}")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("", "folder is missing"),
        ("nowhere", "no trained seat in 'nowhere'; accepted: a folder with .npz files of trained seats"),
        ("FOLDER,last=3", "setting 'last' is not accepted"),
    ],
)
def test_what_is_no_mixture_gets_one_line(settings, why, folder):
    with pytest.raises(ParlourError) as error:
        make_policy(f"mixture:{settings.replace('FOLDER', str(folder))}", GAME, random_network(0).config)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_members_for_different_tables_and_a_table_that_is_none_of_theirs_are_refused(folder):
    with pytest.raises(ParlourError, match="was trained on avalon_v0"):
        make_policy(f"mixture:{folder}", GAME, random_network(0, players=6).config)
    random_network(3, features="belief").save(folder / "s003.npz")
    with pytest.raises(ParlourError, match="features of a member 'belief' is not accepted; accepted: summary"):
        MixturePolicy(folder)
    random_network(3, players=6).save(folder / "s003.npz")
    with pytest.raises(ParlourError, match="was trained on avalon_v0"):
        MixturePolicy(folder)
