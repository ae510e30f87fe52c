"""HistoryWindow and NumericFeatures, and the settings of environments: each does what its sentence says, and no more.

(TextActions, SeatEnv, QuestRewards and Recorder have tests of their own.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour import envs
from parlour.envs import make, registry
from parlour.envs.core import ParlourError
from parlour.envs.text import CHOICE, RECORD
from parlour.envs.turn import take_turn
from parlour.policies.base import Policy
from parlour.training.play.rollout import play, table
from parlour.wrappers import HistoryWindow, NumericFeatures, QuestRewards, TextActions
from parlour.wrappers.shapes import window


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


@pytest.mark.parametrize("inside", [False, True], ids=["outermost", "inside of TextActions"])
def test_a_window_changes_what_last_and_players_get(inside):
    """`last()` of an AEC loop, and `take_turn` of parlour's own loops, see the same."""

    class Reader(Policy):
        name, wants = "reader", "text"
        read: str = ""

        def act(self, observation: Any, info: dict[str, Any]) -> int:
            self.read = observation["text"]
            return int(info["legal"][-1])

    bare = registry["avalon_v0"].raw_env(num_players=5, info="full")
    env: Any = TextActions(HistoryWindow(bare, 2)) if inside else HistoryWindow(TextActions(bare), 2)
    env.reset(seed=1)
    reader = Reader()
    for _ in range(9):
        observed = env.last()[0]["text"]
        take_turn(env, reader)
        assert reader.read == observed
        assert len(sections(observed)[1]) <= 3
    readers = [Reader() for _ in range(5)]
    play(env, readers, seed=2)
    assert all(len(sections(reader.read)[1]) <= 3 for reader in readers)


def test_a_window_shows_what_was_wrong_with_an_answer():
    env = HistoryWindow(table("template_v0"), 1)
    env.reset(seed=1)
    env.step("It is heads.")
    env.step("Hm.")
    assert "Your answer could not be used: \"'Hm.' states no decision" in env.observe(env.agent_selection)["text"]


def test_a_window_leaves_numbers_alone():
    env = HistoryWindow(registry["avalon_v0"].raw_env(observation="features"), 1)
    env.reset(seed=1)
    assert set(env.observe("player_0")) == {"observation", "action_mask"}
    assert np.array_equal(env.observe("player_0")["observation"], env.unwrapped.observe("player_0")["observation"])


def test_a_record_that_fits_is_left_as_it_is():
    text = f"# Who you are\nx\n{RECORD}a\nb\n{CHOICE}c\n"
    assert window(text, 2) == text
    assert window(f"# Who you are\nx\n{RECORD}{CHOICE}c\n", 1) == f"# Who you are\nx\n{RECORD}{CHOICE}c\n"


@pytest.mark.parametrize("lines", [0, -1])
def test_a_window_has_at_least_one_line(lines):
    with pytest.raises(ParlourError, match=f"lines {lines} is not accepted; accepted: a whole number from 1"):
        HistoryWindow(registry["template_v0"].raw_env(), lines)


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


def test_games_are_reached_by_name():
    assert make("template_v0").unwrapped.spec.id == envs.template_v0.spec.id == "template_v0"
    assert set(registry) <= set(dir(envs))
    with pytest.raises(
        ParlourError,
        match="game 'chess' is not accepted; accepted: avalon_v0, mediated_qa_v0, murder_mystery_v0, template_v0, werewolf_v0",
    ):
        make("chess")
    with pytest.raises(KeyError, match="chess"):
        registry["chess"]
    with pytest.raises(
        AttributeError,
        match="no attribute 'chess'; games: avalon_v0, mediated_qa_v0, murder_mystery_v0, template_v0, werewolf_v0",
    ):
        _ = envs.chess


@pytest.mark.parametrize("words_inside", [False, True])
def test_quest_rewards_are_paid_for_words_in_either_order_of_wrappers(words_inside):
    """What a seat gets in all is its return and the bonus for each quest its side won, less those it lost."""
    raw = registry["avalon_v0"].raw_env(num_players=5, rules="official", talk=False, info="full")
    env = QuestRewards(TextActions(raw)) if words_inside else TextActions(QuestRewards(raw))
    rng = np.random.default_rng(3)
    env.reset(seed=3)
    paid = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, _, info = env.last()
        paid[agent] += reward
        env.step(None if terminated else info["options"][int(rng.integers(len(info["options"])))])
    for seat, agent in enumerate(env.possible_agents):
        view = raw.view(seat)
        lead = (view.good - view.evil) * (1 if view.side == "good" else -1)
        assert lead != 0
        assert paid[agent] == pytest.approx(raw.outcome.returns[seat] + 0.1 * lead)
