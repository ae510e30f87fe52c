"""What somebody meets who comes from PettingZoo, Gymnasium or stable-baselines3: errors that name the way, and rendering.

The habits are those of their own pages: https://pettingzoo.farama.org/tutorials/sb3/ (masks and observations by key) and
https://gymnasium.farama.org/api/env/#gymnasium.Env.render (`"human"` shows every reset and step by itself).
"""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import LONGEST_SHOWN, IllegalMove, ParlourError, accept
from pettingzoo.utils.wrappers import BaseWrapper

# -- the mask --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", ["table", "record"])
def test_an_action_outside_the_mask_is_refused_with_the_numbers_inside_it(features: str) -> None:
    env = registry["avalon_v0"].env(num_players=5, talk=False, features=features)
    env.reset(seed=1)
    mask = env.last()[0]["action_mask"]
    legal, wrong = np.flatnonzero(mask), int(np.flatnonzero(mask == 0)[0])
    before = env.unwrapped.state_now
    with pytest.raises(IllegalMove) as caught:
        env.step(wrong)
    # the leader of quest 1 names one of the ten teams of two; they stand side by side in the catalogue
    assert len(legal) == legal[-1] - legal[0] + 1 == 10
    message = str(caught.value)
    assert message.startswith(f"action {wrong} (")
    assert message.endswith(f"is not accepted: its action_mask is 0 here; accepted: {legal[0]}..{legal[-1]}")
    assert env.unwrapped.state_now is before


def test_what_a_parallel_game_replaces_is_counted_whatever_it_is() -> None:
    for wrong in ("approve", [3], None, 1.5, 999, -1):
        env = registry["avalon_v0"].parallel_env(num_players=5, talk=False)
        env.reset(seed=1)
        leader = env.aec.agent_selection
        *_, infos = env.step(dict.fromkeys(env.agents, wrong))
        assert {agent: info["replaced"] for agent, info in infos.items()} == {a: int(a == leader) for a in env.agents}


# -- observations by key ---------------------------------------------------------------------------------------


class MaskWrapper(BaseWrapper, gymnasium.Env):
    """The wrapper of PettingZoo's tutorial for stable-baselines3 (connect_four/sb3_connect_four_action_mask.py)."""

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.observation_space = super().observation_space(self.possible_agents[0])["observation"]
        self.action_space = super().action_space(self.possible_agents[0])
        return self.observe(self.agent_selection), {}

    def observe(self, agent):
        return super().observe(agent)["observation"]


def test_the_tutorial_of_stable_baselines3_is_told_of_features() -> None:
    env = MaskWrapper(registry["avalon_v0"].env(num_players=5))
    with pytest.raises(ParlourError, match=r"no 'observation'; accepted: .*observation=\"features\"$") as caught:
        env.reset(seed=1)
    assert "\n" not in str(caught.value)
    env = MaskWrapper(registry["avalon_v0"].env(num_players=5, observation="features"))
    seen, _ = env.reset(seed=1)
    assert env.observation_space.contains(seen)


@pytest.mark.parametrize("make", ["env", "raw_env", "parallel_env"])
def test_a_space_without_numbers_names_the_setting_and_is_a_dict_otherwise(make: str) -> None:
    words = getattr(registry["avalon_v0"], make)(num_players=5).observation_space("player_0")
    with pytest.raises(KeyError, match='accepted: an environment made with observation="features"'):
        words["observation"]
    with pytest.raises(KeyError, match=r"^'numbers'$"):
        words["numbers"]
    assert "observation" not in words
    assert words.get("observation") is None
    assert set(words) == {"text", "action_mask"}
    for copied in (copy.deepcopy(words), pickle.loads(pickle.dumps(words))):
        assert copied == words
    numbers = getattr(registry["avalon_v0"], make)(num_players=5, observation="features").observation_space("player_0")
    with pytest.raises(KeyError, match='accepted: an environment made with observation="text"'):
        numbers["text"]


# -- rendering -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list(registry))
def test_human_rendering_prints_as_the_game_goes_and_nothing_twice(name: str, capsys) -> None:
    env, quiet = registry[name].env(render_mode="human"), registry[name].env(render_mode="ansi")
    capsys.readouterr()
    for seed in (1, 2):
        env.reset(seed=seed)
        quiet.reset(seed=seed)
        output = capsys.readouterr().out
        assert output == quiet.render()
        for _ in env.agent_iter():
            seen, _, over, _, _ = env.last()
            action = None if over else int(np.flatnonzero(seen["action_mask"])[0])
            env.step(action)
            quiet.step(action)
            output += capsys.readouterr().out
            if env.agents:
                assert output == quiet.render()
        assert env.render() is None
        assert capsys.readouterr().out == ""
    assert output


def test_a_refused_value_is_shown_in_one_line_up_to_its_longest():
    for value in ("9" * 100_000, np.zeros((50, 50)), [["a\nb"] * 300]):
        words = str(accept("action", value, "a whole number"))
        assert "\n" not in words
        assert len(words) < LONGEST_SHOWN + 100
    assert str(accept("case", "x  y", ("a", "b"))) == "case 'x  y' is not accepted; accepted: a, b"
