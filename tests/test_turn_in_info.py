"""TurnInInfo: the info of the agent to move holds all that its player goes by, and `reset` returns it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import ParlourError
from parlour.wrappers import ObservationsKey, TurnInInfo

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", "The old environment creation API", DeprecationWarning)
    from pettingzoo.test import api_test, seed_test


def bare(**settings: Any) -> Any:
    return registry["avalon_v0"].raw_env(**{"num_players": 5, "observation": "features", "info": "full"} | settings)


@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros")
@pytest.mark.filterwarnings("ignore:Observation numpy array is all zeros")
def test_it_keeps_the_contract_of_pettingzoo():
    api_test(TurnInInfo(bare()), num_cycles=100)
    seed_test(lambda: TurnInInfo(bare()), num_cycles=50)


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
    told = env.reset(seed=4)
    assert list(told) == [env.agent_selection]
    turns = 0
    while env.game_env.outcome is None:
        agent, base = env.agent_selection, env.game_env
        seen, _, _, _, info = env.last()
        assert told.get(agent, info) is info
        assert info["seat"] == base.seat_of[agent]
        assert {key: value for key, value in info.items() if key not in ("seat", "observation")} == base.infos[agent]
        whole = base.observe_as(agent, "both")
        assert set(info["observation"]) == keys
        assert all(np.array_equal(value, whole[key]) for key, value in info["observation"].items())
        assert set(seen) == {"observations", "action_mask"}
        assert not any("seat" in env.infos[other] for other in env.agents if other != agent)
        env.step(int(info["legal"][0]))
        told, turns = {}, turns + 1
    assert turns > 20
    assert not any("seat" in info for info in env.infos.values())


def test_it_says_what_it_accepts():
    with pytest.raises(ParlourError, match="observation 'words' is not accepted; accepted: view, features, text, both"):
        TurnInInfo(bare(), "words")  # type: ignore[arg-type]
    with pytest.raises(ParlourError, match=r"info='numeric' is not accepted, .*; accepted: info='full'"):
        TurnInInfo(bare(info="numeric"))
