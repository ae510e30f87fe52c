"""HistoryWindow, NumericFeatures, SealedTurn, TurnInInfo, and the settings of environments: each does what its sentence says.

(TextActions, SeatEnv and Recorder have tests of their own.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs import make, registry
from parlour.envs.core import ParlourError
from parlour.envs.language.text import CHOICE, RECORD
from parlour.wrappers import HistoryWindow, NumericFeatures, ObservationsKey, SealedTurn, TurnInInfo


def sections(text: str) -> tuple[str, list[str], str]:
    """The first section, the lines of the record, the third section."""
    who, rest = text.split(RECORD)
    record, choice = rest.split(CHOICE)
    return who, record.splitlines(), choice


def advance(env: Any, turns: int) -> None:
    for _ in range(turns):
        env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[-1]))


# -- HistoryWindow ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [1, 3, 10, 10_000])
def test_a_window_keeps_the_last_lines_and_the_other_sections_whole(lines):
    env = HistoryWindow(registry["avalon_v0"].raw_env(num_players=5), lines)
    env.reset(seed=1)
    for _ in range(12):
        for agent in env.agents:
            seen, whole = env.observe(agent), env.unwrapped.observe(agent)
            (who, record, choice), (all_who, all_record, all_choice) = sections(seen["text"]), sections(whole["text"])
            assert (who, choice) == (all_who, all_choice)
            left_out = len(all_record) - lines
            note = [f"({left_out} earlier lines left out)"] if left_out > 0 else []
            assert record == note + all_record[-lines:]
            assert np.array_equal(seen["action_mask"], whole["action_mask"])
            assert env.observation_space(agent).contains(seen)
        advance(env, 2)


# -- NumericFeatures -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["text", "features", "both"])
def test_numeric_features_are_the_encoders_whatever_is_observed(observation):
    base = registry["avalon_v0"].raw_env(num_players=5, observation=observation)
    env = NumericFeatures(base)
    env.reset(seed=1)
    for _ in range(12):
        for agent in env.agents:
            seen = env.observe(agent)
            assert list(seen) == ["observation", "action_mask"]
            assert np.array_equal(seen["observation"], base.encoder(base.view(base.seat_of[agent])))
            assert np.array_equal(seen["action_mask"], base.infos[agent]["action_mask"])
            assert env.observation_space(agent).contains(seen)
        advance(env, 1)


# -- settings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"observation": "pixels"}, "observation 'pixels' is not accepted; accepted: text, features, both"),
        ({"info": "everything"}, "info 'everything' is not accepted; accepted: numeric, full"),
        ({"render_mode": "rgb_array"}, "render_mode 'rgb_array' is not accepted; accepted: None, ansi, human"),
        ({"max_cycles": 0}, "max_cycles 0 is not accepted; accepted: a whole number from 1"),
        ({"players": 5}, "option of avalon_v0 'players' is not accepted; accepted: num_players, rules, roles, talk"),
    ],
)
def test_settings_outside_what_is_accepted_are_refused(settings, message):
    with pytest.raises(ParlourError, match=message):
        make("avalon_v0", **settings)


FIVE: dict[str, Any] = {"num_players": 5, "rules": "official", "talk": False}


def sealed(observation: Any = "view", seats: Any = None, **settings: Any) -> SealedTurn:
    return SealedTurn(
        make("avalon_v0", **FIVE, **{"observation": "features", "info": "full", **settings}), observation, seats
    )


def turn_of(env: SealedTurn) -> Any:
    return env.last()[4]["turn"]


def first_legal(env: SealedTurn) -> int:
    return int(np.flatnonzero(env.last()[4]["action_mask"])[0])


@pytest.mark.parametrize("form", ["view", "features", "text", "both"])
def test_a_turn_tells_what_our_own_loop_tells_and_the_info_has_nothing_else_but_the_mask(form):
    env = sealed(form)
    env.reset(seed=3)
    for _ in range(12):
        info = env.last()[4]
        assert set(info) == {"action_mask", "turn"}
        base = env.game_env
        observation, infos = info["turn"].read()
        expected = {} if form == "view" else base.observe_as(base.agent_selection, form)
        assert observation.keys() == expected.keys()
        assert all(np.array_equal(observation[key], expected[key]) for key in expected)
        assert infos == base.infos[base.agent_selection]
        assert infos["view"] == base.view(base.seat)
        assert info["turn"].seat == base.seat
        assert env.last()[4]["turn"] is info["turn"]
        env.step(first_legal(env))


def test_a_turn_is_empty_once_the_move_is_made_or_the_game_dealt_again():
    env = sealed()
    env.reset(seed=3)
    before = turn_of(env)
    env.step(first_legal(env))
    now = turn_of(env)
    now.read()
    env.reset()
    for gone in (before, now):
        with pytest.raises(ParlourError, match="there is nothing to read for seat"):
            gone.read()


def test_the_turns_of_other_seats_and_of_a_game_that_is_over_are_empty():
    env = sealed(seats=[1, 3])
    env.reset(seed=3)
    flags: dict[int, bool] = {}
    while env.game_env.outcome is None:
        flags[env.game_env.seat] = turn_of(env)._sealed is not None
        env.step(first_legal(env))
    assert flags == {0: False, 1: True, 2: False, 3: True, 4: False}
    assert turn_of(env)._sealed is None


def test_it_tells_the_seed_that_deals_the_same_game_and_numbers_the_games():
    env, again = sealed(), sealed()
    env.reset(seed=3)
    again.reset(seed=3)
    seeds = []
    for number in (1, 2, 3):
        turn = turn_of(env)
        seeds.append(turn.seed)
        assert turn.game == number
        assert turn.seed == turn_of(again).seed
        own = make("avalon_v0", **FIVE)
        own.reset(seed=turn.seed)
        assert own.unwrapped.moves == env.game_env.moves
        env.reset()
        again.reset()
    assert seeds[0] == 3
    assert len(set(seeds)) == 3


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            {"info": "numeric"},
            "SealedTurn of an environment with info='numeric' is not accepted, .*; accepted: info='full'",
        ),
        ({"seats": [5]}, r"seats \(5,\) is not accepted; accepted: 0..4"),
    ],
)
def test_other_settings_are_refused(settings, said):
    with pytest.raises(ParlourError, match=said):
        sealed(**settings)
    with pytest.raises(ParlourError, match="observation 'words' is not accepted; accepted: view, features, text, both"):
        sealed("words")


def bare(**settings: Any) -> Any:
    return registry["avalon_v0"].raw_env(**{"num_players": 5, "observation": "features", "info": "full"} | settings)


@pytest.mark.parametrize(
    ("form", "keys"),
    [
        ("view", set()),
        ("features", {"observation", "action_mask"}),
        ("text", {"text", "action_mask"}),
        ("both", {"observation", "text", "action_mask"}),
    ],
)
def test_the_agent_to_move_is_told_its_seat_and_what_its_player_reads(form, keys):
    env = TurnInInfo(ObservationsKey(bare()), form)
    infos = env.reset(seed=4)
    assert list(infos) == [env.agent_selection]
    turns = 0
    while env.game_env.outcome is None:
        agent, base = env.agent_selection, env.game_env
        seen, _, _, _, info = env.last()
        assert infos.get(agent, info) is info
        assert info["seat"] == base.seat_of[agent]
        assert {key: value for key, value in info.items() if key not in ("seat", "observation")} == base.infos[agent]
        whole = base.observe_as(agent, "both")
        assert set(info["observation"]) == keys
        assert all(np.array_equal(value, whole[key]) for key, value in info["observation"].items())
        assert set(seen) == {"observations", "action_mask"}
        assert not any("seat" in env.infos[other] for other in env.agents if other != agent)
        env.step(int(info["legal"][0]))
        infos, turns = {}, turns + 1
    assert turns > 20
    assert not any("seat" in info for info in env.infos.values())


def test_it_says_what_it_accepts():
    with pytest.raises(ParlourError, match="observation 'words' is not accepted; accepted: view, features, text, both"):
        TurnInInfo(bare(), "words")  # type: ignore[arg-type]
    with pytest.raises(ParlourError, match=r"info='numeric' is not accepted, .*; accepted: info='full'"):
        TurnInInfo(bare(info="numeric"))
