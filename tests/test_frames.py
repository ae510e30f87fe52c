"""The frame of a seat: actions numbered so that they mean the same from every seat."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import Move, ParlourError
from parlour.envs.frames import Frame

TABLES = [
    ("avalon_v0", {"num_players": 5, "rules": "official", "talk": False}),
    ("avalon_v0", {"num_players": 6}),
    ("avalon_v0", {"num_players": 10, "rules": "reference"}),
    ("werewolf_v0", {"num_players": 8}),
    ("werewolf_v0", {"num_players": 15, "rules": "official"}),
    ("murder_mystery_v0", {}),
    ("template_v0", {}),
]


def table(name: str, config: dict):
    spec = registry[name].spec
    game = spec.build(**config)
    return spec, game, spec.frame(game)


@pytest.mark.parametrize(("name", "config"), TABLES)
def test_each_seat_numbers_every_action_once(name, config):
    _, game, frame = table(name, config)
    actions = np.arange(len(game.catalogue))
    assert frame.order.shape == frame.own.shape == (game.seats, len(actions))
    for i in range(game.seats):
        assert sorted(frame.order[i]) == list(actions)
        assert (frame.own[i, frame.order[i]] == actions).all()
    assert (frame.order[0] == actions).all()  # seat 0 counts as the table does


def test_in_avalon_a_seat_names_itself_first():
    _, game, frame = table("avalon_v0", {"num_players": 5, "rules": "official", "talk": False})
    pair = game.catalogue.index(Move("propose", (0, 1)))  # oneself and the next seat
    assert game.catalogue[frame.order[4, pair]] == Move("propose", (0, 4))
    approve = game.catalogue.index(Move("vote", (1,)))  # 1 is a yes, no seat
    assert frame.order[4, approve] == approve
    third = game.catalogue.index(Move("guess", (2,)))
    assert game.catalogue[frame.order[4, third]] == Move("guess", (1,))
    assert game.catalogue[frame.order[4, game.catalogue.index(Move("guess"))]] == Move("guess")


def test_speech_turns_with_the_seat_it_is_about():
    _, game, frame = table("werewolf_v0", {"num_players": 8})
    numbers = {move: number for number, move in enumerate(game.catalogue)}
    for own, at_table in [
        (Move("accuse", (3,)), Move("accuse", (1,))),
        (Move("report", (1, 1)), Move("report", (7, 1))),
        (Move("claim_role", (1,)), Move("claim_role", (1,))),  # a role, not a seat
        (Move("vote", (2,)), Move("vote", (0,))),
        (Move("vote"), Move("vote")),
        (Move("save", (1,)), Move("save", (1,))),  # a yes, not a seat
    ]:
        assert game.catalogue[frame.order[6, numbers[own]]] == at_table


@pytest.mark.parametrize(("name", "config"), [table for table in TABLES if table[0] in ("avalon_v0", "werewolf_v0")])
def test_going_round_the_table_comes_back(name, config):
    """The move of seat i seen from the next seat is the move of seat i + 1: order[i] after order[1] is order[i + 1]."""
    _, game, frame = table(name, config)
    for i in range(game.seats):
        assert (frame.order[i][frame.order[1]] == frame.order[(i + 1) % game.seats]).all()


def test_a_frame_is_not_written_to():
    frame = Frame.identity(2, 3)
    with pytest.raises(ValueError, match="read-only"):
        frame.order[0, 0] = 1


@pytest.mark.parametrize("name", ["murder_mystery_v0", "mediated_qa_v0"])
def test_a_game_without_an_own_frame_says_so(name):
    spec = registry[name].spec
    with pytest.raises(ParlourError, match=f"features of {spec.id} in the frame of a seat 'belief' is not accepted"):
        spec.seat_encoder(None, "belief")
