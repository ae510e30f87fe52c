"""The environments keep PettingZoo's contract: its own test suites through wrappers and to the end of a game; parallel games.

What a seat experiences of time in the parallel form is a function of its View: a night of Werewolf and an exchange of two in a
murder mystery have a fixed length, whoever lives and whatever is said.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import Move
from parlour.envs.language.entries import Entry
from parlour.wrappers import HistoryWindow, NumericFeatures, Recorder, SealedTurn, TurnInInfo

from tests.envs.adapters.pettingzoo_suites import api_test, by_design, max_cycles_test, seed_test

pytestmark = by_design
both_actions = pytest.mark.parametrize("action", ["index", "text"])


@pytest.mark.parametrize("observation", ["text", "features", "both"])
@both_actions
def test_api_in_every_form_of_observation(observation, action):
    env = partial(registry["avalon_v0"].env, num_players=7, rules="reference", action=action, observation=observation)
    api_test(env(), num_cycles=20)
    seed_test(env, num_cycles=10)


def test_api_through_the_wrappers(tmp_path):
    def bare():
        return registry["avalon_v0"].raw_env(num_players=5, info="full")

    api_test(NumericFeatures(bare()), num_cycles=20)
    api_test(HistoryWindow(bare(), lines=3), num_cycles=20)
    for wrap in (TurnInInfo, SealedTurn):
        api_test(wrap(registry["avalon_v0"].raw_env(num_players=5, observation="features", info="full")), 100)
    recorder = Recorder(bare(), tmp_path / "{n}.jsonl")
    api_test(recorder, num_cycles=20)
    recorder.close()


@both_actions
def test_max_cycles(avalon, action):
    """`env` and `parallel_env` are truncated after the cycles that were asked for."""
    module = SimpleNamespace(
        env=partial(avalon.env, action=action), parallel_env=partial(avalon.parallel_env, action=action)
    )
    max_cycles_test(module)


def test_a_parallel_game_is_played_by_its_masks():
    """Who goes by the mask is never replaced: whoever has to decide in a cycle is offered what it may do."""
    rng = np.random.default_rng(2)
    for rules in ("paper", "reference", "official"):
        env = registry["avalon_v0"].parallel_env(num_players=7, rules=rules, talk=False)
        seen, infos = env.reset(seed=1)
        rewards: dict[str, float] = {}
        while env.agents:
            assert all(np.array_equal(seen[a]["action_mask"], infos[a]["action_mask"]) for a in env.agents)
            actions = {a: int(rng.choice(np.flatnonzero(seen[a]["action_mask"]))) for a in env.agents}
            seen, rewards, over, _, infos = env.step(actions)
            assert all(info["replaced"] == 0 for info in infos.values())
        assert all(over.values())
        assert set(rewards.values()) == {1.0, -1.0}


def test_a_parallel_game_takes_secret_votes_and_cards_at_once():
    """Seven votes are one cycle and so are the cards of a team; nobody learns of one before all are given."""
    env = registry["avalon_v0"].parallel_env(num_players=7, rules="official", talk=False)
    number = env.aec.number
    env.reset(seed=1)
    leader, team = env.aec.agent_selection, next(m for m in env.aec.game.legal(env.aec.state_now))
    seen, *_ = env.step({leader: number(team)})
    for agent in env.agents:
        assert "I approve the team." in seen[agent]["text"]
        assert np.flatnonzero(seen[agent]["action_mask"]).tolist() == [
            number(Move("vote", (1,))),
            number(Move("vote", (0,))),
        ]
    votes = {agent: number(Move("vote", (int(agent < "player_5"),))) for agent in env.agents}
    seen, _, _, _, infos = env.step(votes)
    votes_shown = next(e.move for e in env.aec.state_now.log if e.move.kind == "votes")
    assert votes_shown.args == (1, 1, 1, 1, 1, 1, 0, 0)
    on_quest = [agent for agent in env.agents if not seen[agent]["action_mask"][env.wait]]
    assert on_quest == [f"player_{seat}" for seat in team.args]
    seen, _, _, _, infos = env.step(dict.fromkeys(env.agents, number(Move("card", (1,)))))
    assert sum(e.move.kind == "fails" for e in env.aec.state_now.log) == 1
    assert sum(info["replaced"] for info in infos.values()) == 0


@pytest.mark.parametrize("rules", ["paper", "reference", "official"])
def test_every_decision_of_a_parallel_game_is_used_or_asked_for_again_with_news(rules):
    """A night: guard and seer decide with the wolves, the witch hears of the victim first; the seer's choice is kept for it."""
    rng = np.random.default_rng(5)
    kept = 0
    for seed in range(12):
        env = registry["werewolf_v0"].parallel_env(num_players=8, rules=rules, talk=False)
        aec, made = env.aec, []
        seen, _ = env.reset(seed=seed)
        aec.listener = made.append
        given: dict[int, tuple[int, int]] = {}  # seat -> how much it had seen when it gave its move, and the move
        while env.agents:
            made.clear()
            actions = {a: int(rng.choice(np.flatnonzero(seen[a]["action_mask"]))) for a in env.agents}
            now = {aec.seat_of[a]: action for a, action in actions.items() if action != env.wait}
            for seat, action in now.items():
                news = len(aec.view(seat).events)
                assert seat not in given or given[seat][0] < news, f"seat {seat} is asked twice for the same decision"
                given[seat] = (news, action)
            seen, _, _, _, _ = env.step(actions)
            for entry in (item for item in made if isinstance(item, Entry) and item.seat >= 0):
                assert aec.number(entry.move) == given.pop(entry.seat)[1]
                kept += entry.seat not in now
    assert kept > 0  # a choice waited for the witch


@both_actions
@pytest.mark.parametrize("name", list(registry))
def test_nothing_can_be_done_before_reset(name, action):
    for call in (
        lambda e: e.step(0),
        lambda e: e.step("I approve the team."),
        lambda e: e.last(),
        lambda e: e.observe("player_0"),
        lambda e: list(e.agent_iter()),  # as PettingZoo's OrderEnforcingWrapper has it: no silent loop over nothing
    ):
        with pytest.raises((AttributeError, ValueError), match=r"before reset|reset\(\)"):
            call(registry[name].env(action=action))
    for attribute in ("rewards", "terminations", "truncations", "infos", "agent_selection", "_cumulative_rewards"):
        with pytest.raises(AttributeError, match=f"{attribute} cannot be accessed before reset"):
            getattr(registry[name].raw_env(), attribute)
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        _ = registry[name].raw_env().colour


@pytest.mark.filterwarnings("ignore:.*stepped after it was")
def test_a_finished_game_takes_no_more_moves():
    env = registry["template_v0"].env()
    env.reset(seed=3)
    for _ in range(2):
        env.step(int(np.flatnonzero(env.infos[env.agent_selection]["action_mask"])[0]))
    assert all(env.terminations.values())
    with pytest.raises(ValueError, match="when an agent is dead, the only valid action is None"):
        env.step(0)
    env.step(None)
    env.step(None)
    assert env.agents == []
