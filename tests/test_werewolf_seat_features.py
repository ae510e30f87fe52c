"""Werewolf's features in the frame of a seat: the same numbers as at the table, turned; beliefs as the heuristic has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from parlour.envs.core import NATURE, OVER, Move, ParlourError
from parlour.envs.werewolf import GAME
from parlour.envs.werewolf.encode import KINDS
from parlour.policies.heuristic.werewolf import WerewolfPlayer

TABLES = [
    {"num_players": 4, "rules": "official", "max_days": 3},
    {"num_players": 8, "rules": "paper"},
    {"num_players": 8, "rules": "reference", "talk": False},
    {"num_players": 9, "rules": "official", "roles": ["Werewolf"] * 2 + ["Witch"] + ["Villager"] * 6},
]


def states(game: Any, seed: int) -> Iterator[Any]:
    """The states of a game of random moves in which a seat has the move."""
    rng = np.random.default_rng(seed)
    s = game.initial()
    while game.actor(s) != OVER:
        if game.actor(s) == NATURE:
            s = game.apply(s, game.nature(s, rng))
            continue
        yield s
        legal = game.legal(s)
        s = game.apply(s, legal[int(rng.integers(len(legal)))])
    yield s


def told(encoder: Any, view: Any) -> dict[str, float]:
    return dict(zip(encoder.names, map(float, encoder(view)), strict=True))


@pytest.mark.parametrize("options", TABLES)
def test_the_summary_is_what_the_table_features_say_with_seats_counted_from_oneself(options):
    game = GAME.build(**options)
    at_table = GAME.encoder(game)
    for s in states(game, 1):
        for seat in range(game.seats):
            view = game.view(s, seat)
            plain = dict(zip(at_table.names, map(float, at_table(view)), strict=True))
            for name, value in told(GAME.seat_encoder(game, "summary"), view).items():
                if name.startswith("seat +"):
                    place, feature = name.removeprefix("seat +").split(": ", 1)
                    name = f"seat {(seat + int(place)) % game.seats}: {feature}"
                assert value == pytest.approx(plain[name], abs=1e-6), name


@pytest.mark.parametrize("options", TABLES)
def test_beliefs_are_those_of_the_heuristic(options):
    game = GAME.build(**options)
    n = game.seats
    players: dict[int, WerewolfPlayer] = {}
    encoders = {seat: GAME.seat_encoder(game, "belief") for seat in range(n)}
    for s in states(game, 4):
        if game.actor(s) == OVER:
            break
        seat = game.actor(s)
        view = game.view(s, seat)
        player = players.setdefault(seat, WerewolfPlayer(view, np.random.default_rng(0)))
        player.act(view)
        chances = encoders[seat](view)[-4 * n :].reshape(4, n)
        own = (player.belief.wolf_chance(), player.belief.seer_chance())
        np.testing.assert_allclose(chances[:2], np.roll(own, -seat, axis=1), atol=1e-6)
        if player.onlooker is not None:
            public = (player.onlooker.wolf_chance(), player.onlooker.seer_chance())
            np.testing.assert_allclose(chances[2:], np.roll(public, -seat, axis=1), atol=1e-6)


@pytest.mark.parametrize("features", KINDS)
def test_before_the_roles_are_dealt_there_is_nothing_to_tell(features):
    game = GAME.build(num_players=6)
    encoder = GAME.seat_encoder(game, features)
    assert encoder(game.view(game.initial(), 2)).tolist() == [0.0] * encoder.size


def test_an_onlooker_is_the_same_for_all_seats():
    game = GAME.build(num_players=6)
    for s in states(game, 6):
        chances = [GAME.seat_encoder(game, "belief")(game.view(s, seat))[-12:].reshape(2, 6) for seat in range(6)]
        for seat in range(1, 6):
            np.testing.assert_array_equal(np.roll(chances[seat], seat, axis=1), chances[0])


def test_the_record_of_a_day():
    """Wolves on seats 0-2, witch 3, guard 4, seer 5, villagers 6 and 7; nobody dies by night. Seen from seat 6."""
    game = GAME.build(num_players=8)
    s = game.apply(game.initial(), Move("deal", (*game.deck, *reversed(range(8)))))
    day = [Move("silent")] * 3 + [Move("hunt")] * 3 + [Move("protect"), Move("poison"), Move("check", (1,))]
    # the order of talk is 7, 6, ... 0
    day += [Move("accuse", (0,)), Move("accuse", (0,)), Move("report", (1, 1)), Move("report", (1, 1))]
    day += [Move("defend", (7,)), Move("claim_role", (1,)), Move("silent"), Move("silent")]
    day += [Move("vote", (1,))] * 5 + [Move("vote"), Move("vote", (7,)), Move("vote", (7,)), Move("silent")]
    for move in day:
        s = game.apply(s, move)
    numbers = told(GAME.seat_encoder(game, "record"), game.view(s, 6))
    # seat +1 is 7, seat +2 is 0, seat +3 is 1, seat +5 is 3
    assert numbers["seat +1, seat +2: accused, less defended / 5"] == pytest.approx(0.2)
    assert numbers["seat +6, seat +5: accused, less defended / 5"] == 0
    assert numbers["seat +5, seat +1: accused, less defended / 5"] == pytest.approx(-0.2)
    assert numbers["seat +7, seat +3: reported evil, less reported good / 2"] == pytest.approx(0.5)
    assert numbers["seat +0, seat +3: votes for / 3"] == pytest.approx(1 / 3)
    assert numbers["seat +0, seat +3: voted for on the last day"] == 1
    assert numbers["seat +3, seat +1: voted for on the last day"] == 1
    voted = [[numbers[f"seat +{i}, seat +{j}: voted for on the last day"] for j in range(8)] for i in range(8)]
    assert voted[5] == [0, 0, 0, 1, 0, 0, 0, 0]
    assert voted[4] == [0] * 8  # it passed
    assert [numbers[f"seat +{j}: died on day / days of the game"] for j in range(8)] == [
        pytest.approx(1 / 15 * (j == 3)) for j in range(8)
    ]
    assert [numbers[f"seat +{j}: place of its talk / n"] for j in range(8)] == [
        pytest.approx((7 - (6 + j) % 8) / 8) for j in range(8)
    ]
    assert numbers["seat +3: was Werewolf"] == 0  # paper: only the dead of the first night are shown


def test_unknown_kinds_are_refused_in_one_line():
    game = GAME.build()
    with pytest.raises(
        ParlourError, match=r"'pixels' is not accepted; accepted: summary, record, belief, record\+belief"
    ):
        GAME.seat_encoder(game, "pixels")
    with pytest.raises(ParlourError, match="'table' is not accepted"):
        GAME.seat_encoder(game, "table")
