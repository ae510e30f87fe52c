"""Werewolf in numbers: what the features say of a game played by hand, and the game with all seats at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import Move
from parlour.envs.hidden_roles.rules import FEATURES
from parlour.envs.werewolf import GAME
from parlour.policies.heuristic.werewolf import WerewolfPlayer

from tests.envs.hidden_roles.random_games import WEREWOLF, asked_states

TABLE = {"rules": "paper", "observation": "features", "info": "full"}


def opened(**options: Any) -> Any:
    """Wolves on seats 0-2, witch 3, guard 4, seer 5, villagers 6 and 7; they speak in seat order."""
    env = registry["werewolf_v0"].raw_env(**{**TABLE, **options})
    env.reset(options={"nature": [Move("deal", (*env.game.deck, *range(env.game.seats)))]})
    return env


def play(env: Any, *moves: Move) -> None:
    for move in moves:
        env.play(move)


def features(env: Any, seat: int) -> dict[str, float]:
    values = env.encoder(env.view(seat))
    assert len(env.encoder.names) == len(set(env.encoder.names)) == env.encoder.size == len(values)
    return dict(zip(env.encoder.names, map(float, values), strict=True))


def of_seats(values: dict[str, float], name: str) -> list[float]:
    return [pytest.approx(values[f"seat {j}: {name}"], abs=1e-6) for j in range(8)]


SILENT = Move("silent")
FIRST_NIGHT = (
    *(Move("recommend", (6,)), Move("recommend", (6,)), SILENT),
    *(Move("hunt", (6,)), Move("hunt", (6,)), Move("hunt", (7,))),
    *(Move("protect", (4,)), Move("save", (0,)), Move("poison", (0,)), Move("check", (1,))),
)


def test_a_seat_knows_itself_its_role_and_its_place():
    env = opened()
    for seat in range(8):
        values = features(env, seat)
        assert [values[f"I am seat {j}"] for j in range(8)] == [float(j == seat) for j in range(8)]
        assert sum(values[f"I am {role}"] for role in env.game.role_names) == 1
        assert values[f"I am {env.view(seat).role}"] == 1
        assert values["place of my talk / n"] == pytest.approx(seat / 8)
    assert features(env, 3)["antidote left"] == features(env, 3)["poison left"] == 1
    assert features(env, 4)["antidote left"] == features(env, 4)["poison left"] == 0


def test_a_hunter_is_asked_to_shoot_and_is_known_afterwards():
    env = opened(num_players=9, roles="hunter", talk=False, features="record")
    while (legal := env.game.legal(env.state_now))[-1].kind != "shoot":
        env.play(Move("hunt", (5,)) if Move("hunt", (5,)) in legal else legal[0])
    assert features(env, 5)["asked for shoot"] == 1
    env.play(Move("shoot", (7,)))
    values = features(env, 0)  # of seat 0, whose own frame is the table's
    assert values["asked for shoot"] == 0
    assert values["seat +5: was Hunter"] == 1
    assert values["seat +5: known to me: a werewolf (1), none (-1)"] == -1
    assert [values[f"seat +7: {name}"] for name in ("is alive", "died by night", "was executed")] == [0, 0, 0]
    assert values["seat +7: died on day / days of the game"] == pytest.approx(1 / 15)


def test_a_seer_who_sees_characters_knows_what_was_checked():
    for seer, shown in (("side", 0), ("character", 1)):
        env = opened(talk=False, features="record", seer=seer)
        env_moves = [Move("hunt")] * 3 + [Move("protect"), Move("poison"), Move("check", (3,))]
        play(env, *env_moves)
        assert features(env, 5)["seat +6: was Witch"] == shown  # seat 3, six places further
        assert features(env, 4)["seat +7: was Witch"] == 0


def test_speeches_and_votes_in_the_features():
    env = opened()
    play(env, *FIRST_NIGHT)
    play(env, Move("accuse", (3,)), Move("accuse", (3,)), Move("defend", (5,)), SILENT, Move("claim_role", (3,)))
    play(env, Move("report", (1, 1)))
    values = features(env, 1)
    assert of_seats(values, "times accused / 10") == [0, 0, 0, 0.2, 0, 0, 0, 0]
    assert of_seats(values, "accusations made / 10") == [0, 0.1, 0.1, 0, 0, 0, 0, 0]
    assert of_seats(values, "times defended / 10") == [0, 0, 0, 0, 0, 0.1, 0, 0]
    assert of_seats(values, "seats defended / 10") == [0, 0, 0, 0.1, 0, 0, 0, 0]
    assert of_seats(values, "accused by me, less defended by me / 5") == [0, 0, 0, 0.2, 0, 0, 0, 0]
    assert of_seats(values, "claims Seer, last") == [0, 0, 0, 0, 0, 1, 0, 0]
    assert of_seats(values, "reported evil, less reported good / 5") == [0, 0.2, 0, 0, 0, 0, 0, 0]
    assert of_seats(values, "reports made / 5") == [0] * 7 + [0.2]
    assert values["asked for vote"] == 1
    for vote in ((5,), (), (1,), (1,), (1,), (3,)):  # of seats 1, 2, 3, 4, 5, 7
        env.play(Move("vote", vote))
    values = features(env, 1)
    assert of_seats(values, "votes against it on the last day / n") == [0, 3 / 8, 0, 1 / 8, 0, 1 / 8, 0, 0]
    assert of_seats(values, "votes against it / 3n") == [0, 3 / 24, 0, 1 / 24, 0, 1 / 24, 0, 0]
    assert of_seats(values, "its votes for me / 3") == [0, 0, 0, 1 / 3, 1 / 3, 1 / 3, 0, 0]
    assert of_seats(values, "its votes for nobody / votes") == [0, 0, 1, 0, 0, 0, 0, 0]
    # seat 1 is a wolf and knows all sides: votes for itself are votes for a wolf
    wolves_less_others = "its votes for seats known to me: werewolves less others / 3"
    assert of_seats(values, wolves_less_others) == [0, -1 / 3, 0, 1 / 3, 1 / 3, 1 / 3, 0, -1 / 3]
    assert of_seats(values, "was executed") == [0, 1, 0, 0, 0, 0, 0, 0]
    assert values["I live"] == 0
    assert values["asked for silent"] == 1  # last words


def test_a_long_game_of_one_sided_talk_stays_within_the_box():
    """Fifteen days of accusations of one seat and votes for nobody: every feature is clipped to [-1, 1]."""
    env = opened()
    while env.outcome is None:
        legal = env.game.legal(env.state_now)
        env.play(next((m for m in legal if m.kind == "accuse" and m.args in ((7,), (6,))), legal[0]))
    assert env.outcome.reason == "days"
    for seat in range(8):
        values = env.encoder(env.view(seat))
        assert np.abs(values).max() == 1
        assert features(env, seat)["day / days of the game"] == 1


# -- in the frame of a seat ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", WEREWOLF)
def test_beliefs_are_those_of_the_heuristic(options):
    game = GAME.build(GAME.options(**options))
    n = game.seats
    players: dict[int, WerewolfPlayer] = {}
    encoders = {seat: GAME.encoder(game).of_seat("belief") for seat in range(n)}
    for s in asked_states(game, 4):
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


@pytest.mark.parametrize("features", FEATURES)
def test_before_the_roles_are_dealt_there_is_nothing_to_tell(features):
    game = GAME.build(GAME.options(num_players=6))
    encoder = GAME.encoder(game).of_seat(features)
    assert encoder(game.view(game.initial(), 2)).tolist() == [0.0] * encoder.size


def test_the_record_of_a_day():
    """Wolves on seats 0-2, witch 3, guard 4, seer 5, villagers 6 and 7; nobody dies by night. Seen from seat 6."""
    game = GAME.build(GAME.options(num_players=8))
    s = game.apply(game.initial(), Move("deal", (*game.deck, *reversed(range(8)))))
    day = [Move("silent")] * 3 + [Move("hunt")] * 3 + [Move("protect"), Move("poison"), Move("check", (1,))]
    # the order of talk is 7, 6, ... 0
    day += [Move("accuse", (0,)), Move("accuse", (0,)), Move("report", (1, 1)), Move("report", (1, 1))]
    day += [Move("defend", (7,)), Move("claim_role", (1,)), Move("silent"), Move("silent")]
    day += [Move("vote", (1,))] * 5 + [Move("vote"), Move("vote", (7,)), Move("vote", (7,)), Move("silent")]
    for move in day:
        s = game.apply(s, move)
    encoder = GAME.encoder(game).of_seat("record")
    numbers = dict(zip(encoder.names, map(float, encoder(game.view(s, 6))), strict=True))
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


# -- all seats at once -----------------------------------------------------------------------------------------


def test_a_parallel_night_takes_what_is_done_unseen_at_once_and_a_vote_in_one_cycle():
    """Nights have three cycles here: hunt, with guard and seer; the witch's antidote; her poison. Nobody is passed over."""
    env = registry["werewolf_v0"].parallel_env(talk=False)
    number = env.aec.number
    env.reset(options={"nature": [Move("deal", (*env.aec.game.deck, *range(8)))]})

    def step(**moves: Move) -> list[str]:
        """Step; returns who decides in the next cycle."""
        seen, *_ = env.step({f"player_{seat[1:]}": number(move) for seat, move in moves.items()})
        return [agent for agent in env.agents if not seen[agent]["action_mask"][env.wait]]

    # the wolves, the guard and the seer; the witch waits for what she will hear
    hunt = {f"s{w}": Move("hunt", (6,)) for w in range(3)}
    assert step(**hunt, s4=Move("protect", (4,)), s5=Move("check", (1,))) == ["player_3"]
    assert step(s3=Move("save", (0,))) == ["player_3"]
    assert step(s3=Move("poison", (0,))) == [f"player_{j}" for j in (1, 2, 3, 4, 5, 7)]
    decide = ["player_2", "player_4", "player_5"]  # wolf, guard, and the seer
    assert step(**{f"s{j}": Move("vote", (1,)) for j in (1, 2, 3, 4, 5, 7)}) == decide
    assert [e.move.args for e in env.aec.state_now.log if e.move.kind == "votes"] == [(1, -2, 1, 1, 1, 1, 1, -2, 1)]
    assert env.aec.state_now.standing.alive == (False, False, True, True, True, True, False, True)
