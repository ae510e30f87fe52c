"""`mixed:A+B`: in each game each seat is one of some players, drawn from the game's seed and the seat."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.policies import make_policy
from parlour.policies.mixture import MixedPolicy
from parlour.policies.trained import TrainedSeat
from parlour.training.play import rollout

from tests.policies.networks import moves_of

OPTIONS = {"num_players": 5, "rules": "official", "talk": False}


@pytest.fixture(scope="module")
def official():
    return rollout.table("avalon_v0", **OPTIONS).game_env


def made(official: Any, name: str) -> MixedPolicy:
    policy = make_policy(name, official.spec.id, official.game.config)
    assert isinstance(policy, MixedPolicy)
    return policy


def drawn(policy: MixedPolicy, seed: int) -> list[str]:
    """Who plays in each of five seats."""
    names = []
    for seat in range(5):
        policy.reset(seat, seed)
        names.append(policy.playing)
    return names


def test_seats_draw_for_themselves_and_each_player_as_often(official):
    """2,000 draws of one half each: the share has a standard deviation of .011."""
    games = [drawn(made(official, "mixed"), seed) for seed in range(400)]
    assert any(len(set(seats)) == 2 for seats in games)
    count = Counter(name for seats in games for name in seats)
    assert set(count) == {"heuristic", "expert"}
    assert count["expert"] / 2000 == pytest.approx(0.5, abs=0.05)


def test_who_plays_follows_from_seed_and_seat(official):
    assert drawn(made(official, "mixed"), 7) == drawn(made(official, "mixed"), 7)


def test_a_seat_plays_as_the_player_that_was_drawn_would(official):
    played = []
    for alone in (False, True):
        env = rollout.table("avalon_v0", **OPTIONS).game_env
        players = [made(official, "mixed:heuristic+random+expert") for _ in range(5)]
        if alone:
            for seat, player in enumerate(players):
                player.reset(seat, 3)
            players = [make_policy(player.playing, official.spec.id, official.game.config) for player in players]
        played.append(moves_of(env, players, 3))
    assert played[0] == played[1]


def test_its_notes_say_who_played(official):
    policy = made(official, "mixed:random+heuristic")
    policy.reset(0, 0)
    assert policy.notes()["plays_as"] == policy.playing


def test_players_take_a_setting(official):
    policy = made(official, "mixed:players=heuristic+expert:style=selfplay")
    assert list(policy.players) == ["heuristic", "expert:style=selfplay"]
    assert isinstance(policy.players["expert:style=selfplay"], TrainedSeat)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mixed:chat+heuristic", "'chat' among the players of mixed asks a model; accepted: players that ask none"),
        ("mixed:share=2", "policy 'mixed': .*'share'"),
        ("mixed:nobody", "policy 'nobody' is not accepted"),
    ],
)
def test_what_cannot_be_mixed_is_refused_in_one_line(official, name, message):
    with pytest.raises(ParlourError, match=message.replace("+", r"\+")):
        make_policy(name, official.spec.id, official.game.config)
