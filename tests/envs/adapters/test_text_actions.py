"""TextActions: words that cannot be used, and what each setting of `on_bad` makes of them (docs/reference/environments.md).

Unreadable, ambiguous and illegal words are three faults, each quoted; they are always counted for the seat in `info` and
written to the transcript, never silent.
"""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs import registry
from parlour.envs.adapters.spaces import ProseSpace
from parlour.envs.core import IllegalMove, Move, Outcome, ParlourError
from parlour.envs.language.entries import Entry
from parlour.envs.language.text import AmbiguousMove, UnreadableMove
from parlour.envs.replay import Transcript
from parlour.wrappers import Recorder, TextActions
from parlour.wrappers.text_actions import ON_BAD

UNREADABLE = "The moon is made of cheese."
AMBIGUOUS = "I approve and I reject."
ILLEGAL = "I propose player_0, player_1 and player_2"
COUNTED = ("unreadable", "ambiguous", "illegal", "replaced")


def table(phase: str = "vote", rules: str = "paper", **settings: Any) -> TextActions:
    """Six seats, Merlin at 0 ... Assassin at 5, at the first decision of a phase."""
    base = registry["avalon_v0"].raw_env(num_players=6, rules=rules, talk=False, info="full")
    env = TextActions(base, **settings)
    env.reset(seed=3, options={"nature": [Move("deal", (*base.game.deck, 0))]})
    if phase == "vote":
        env.step("I propose player_0 and player_5")
    return env


def counts(env: Any, agent: str) -> dict[str, int]:
    """The faults that a seat has made."""
    return {key: number for key in COUNTED if (number := env.infos[agent][key])}


# -- what is asked for -----------------------------------------------------------------------------------------


def test_observation_and_info_have_no_mask_and_actions_are_prose():
    env = table("vote")
    for agent in env.possible_agents:
        assert set(env.observe(agent)) == {"text"} == set(env.observation_space(agent).spaces)
        assert isinstance(env.action_space(agent), ProseSpace)
        assert "action_mask" not in env.infos[agent]
        assert env.observation_space(agent).contains(env.observe(agent))
    assert env.infos["player_0"]["options"] == ("I approve the team.", "I reject the team.")


# -- ask_again -------------------------------------------------------------------------------------------------


def test_ask_again_tells_the_reason_to_the_seat_alone_and_counts():
    env = table("vote", on_bad="ask_again", tries=4)
    before = {agent: env.observe(agent)["text"] for agent in env.agents}
    moves = list(env.unwrapped.moves)
    reasons = []
    for turn, words in enumerate((UNREADABLE, AMBIGUOUS, UNREADABLE), 1):
        env.step(words)
        assert env.agent_selection == "player_0"
        assert env.infos["player_0"]["asked_again"] == turn
        assert env.infos["player_0"]["options"] == ("I approve the team.", "I reject the team.")
        reasons = env.observe("player_0")["text"].removeprefix(before["player_0"]).splitlines()
        assert len(reasons) == turn
    assert env.unwrapped.moves == moves
    assert reasons[0] == f"Your answer could not be used: \"'{UNREADABLE}' states no decision; accepted: " + (
        'one of the options in its own words"'
    )
    assert reasons[1].startswith(f"Your answer could not be used: \"'{AMBIGUOUS}' states several decisions")
    assert counts(env, "player_0") == {"unreadable": 2, "ambiguous": 1}
    for agent in env.agents[1:]:
        assert env.observe(agent)["text"] == before[agent]
        assert env.infos[agent]["asked_again"] == 0
        assert counts(env, agent) == {}


def test_ask_again_also_in_observations_of_another_form():
    env = table("vote")
    env.step(UNREADABLE)
    assert env.observe_as("player_0", "text")["text"] == env.observe("player_0")["text"]
    assert "could not be used" in env.observe_as("player_0", "both")["text"]
    assert set(env.observe_as("player_0", "features")) == {"observation"}


def test_a_good_answer_after_a_bad_one_is_the_move():
    env = table("vote", on_bad="ask_again")
    env.step(AMBIGUOUS)
    env.step("I reject.")
    assert env.unwrapped.moves[-1] == Move("vote", (0,))
    assert env.agent_selection == "player_1"
    assert "could not be used" not in env.observe("player_0")["text"] + env.observe("player_1")["text"]
    assert counts(env, "player_0") == {"ambiguous": 1}
    assert env.infos["player_0"]["asked_again"] == env.infos["player_1"]["asked_again"] == 0


@pytest.mark.parametrize("tries", [1, 2, 3, 5])
def test_after_so_many_tries_the_default_is_played(tries):
    env = table("vote", on_bad="ask_again", tries=tries)
    for _ in range(tries - 1):
        env.step(UNREADABLE)
        assert env.agent_selection == "player_0"
    env.step(UNREADABLE)
    assert env.agent_selection == "player_1"
    assert env.unwrapped.moves[-1] == Move("vote", (1,))  # unclear: agrees
    assert counts(env, "player_0") == {"unreadable": tries, "replaced": 1}


def test_counts_are_kept_for_the_game_and_begin_anew_with_the_next():
    env = table("vote", on_bad="default")
    for _ in range(6):
        env.step(UNREADABLE)
    env.step("fail")  # the good seat 0 may not
    assert counts(env, "player_0") == {"unreadable": 1, "illegal": 1, "replaced": 2}
    assert counts(env, "player_5") == {"unreadable": 1, "replaced": 1}
    env.reset(seed=3)
    assert all(counts(env, agent) == {} for agent in env.agents)


# -- default, random -------------------------------------------------------------------------------------------


def test_random_is_any_legal_move_and_the_same_under_the_same_seed():
    drawn = []
    for seed in (*range(40), *range(40)):
        env = table("propose", on_bad="random")
        env.reset(seed=seed)
        mover = env.agent_selection
        env.step(UNREADABLE)
        assert counts(env, mover) == {"unreadable": 1, "replaced": 1}
        drawn.append(env.unwrapped.moves[-1])
    assert drawn[:40] == drawn[40:]
    assert len(set(drawn)) > 8  # of 15 pairs


@pytest.mark.parametrize("on_bad", ["default", "random", "ask_again"])
def test_what_replaces_words_does_not_touch_the_chance_of_the_game(on_bad):
    """The wrapper's draws come from a stream of their own: the deal of a game and later draws stay as they were."""
    env, plain = table("propose", "reference", on_bad=on_bad, tries=1), table("propose", "reference")
    for e in (env, plain):
        e.reset(seed=11)
    env.step("player_77")
    plain.step("player_1 and player_2")
    assert env.unwrapped.np_random.bit_generator.state == plain.unwrapped.np_random.bit_generator.state


# -- raise, forfeit --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "words", "error", "fault"),
    [
        ("vote", UNREADABLE, UnreadableMove, "unreadable"),
        ("vote", AMBIGUOUS, AmbiguousMove, "ambiguous"),
        ("propose", ILLEGAL, IllegalMove, "illegal"),
    ],
)
def test_raise_quotes_the_words_counts_them_and_leaves_the_game_as_it_was(phase, words, error, fault):
    env = table(phase, on_bad="raise")
    mover, state, text = env.agent_selection, env.unwrapped.state_now, env.observe(env.agent_selection)
    with pytest.raises(error) as caught:
        env.step(words)
    assert repr(words) in str(caught.value)
    assert type(caught.value) is error
    assert (env.agent_selection, env.unwrapped.state_now, env.observe(mover)) == (mover, state, text)
    assert counts(env, mover) == {fault: 1}
    env.step(env.unwrapped.number(env.unwrapped.game.legal(state)[0]))
    assert len(env.unwrapped.moves) == (2 if phase == "propose" else 3)


def test_forfeit_ends_the_game_at_the_seats_cost():
    env = table("vote", on_bad="forfeit")
    env.step("yes")
    env.step(UNREADABLE)
    assert env.unwrapped.outcome == Outcome((0.0, -1.0, 0.0, 0.0, 0.0, 0.0), "draw", "forfeit")
    assert all(env.terminations.values())
    assert env.rewards == {f"player_{k}": -1.0 if k == 1 else 0.0 for k in range(6)}
    assert counts(env, "player_1") == {"unreadable": 1, "replaced": 1}
    paid = {}
    for agent in env.agent_iter():
        _, reward, over, _, _ = env.last()
        paid[agent] = reward
        assert over
        env.step(None)
    assert paid == {f"player_{k}": -1.0 if k == 1 else 0.0 for k in range(6)}


# -- the transcript --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recorder_outside", [True, False])
@pytest.mark.parametrize("on_bad", ON_BAD)
def test_faults_are_in_the_transcript_with_the_words_as_they_came_in(on_bad, recorder_outside, tmp_path):
    """`on_bad` in the transcript: the fault and its words; then the move, if one was made in the seat's place."""
    path = tmp_path / "game.jsonl"
    bare = registry["template_v0"].raw_env(info="full")
    env: Any = bare
    env = (
        Recorder(TextActions(env, on_bad=on_bad, tries=2), path)
        if recorder_outside
        else TextActions(Recorder(env, path), on_bad=on_bad, tries=2)
    )
    env.reset(seed=1)
    env.step("It is heads.")
    words = "Neither,\nof course\u2028"
    if on_bad == "raise":
        with pytest.raises(UnreadableMove):
            env.step(words)
        env.step("tails")
    else:
        env.step(words)
        if on_bad == "ask_again":
            env.step("heads or tails")
    env.close()
    transcript = Transcript.read(path)
    assert transcript.entries[1] == Entry(0, Move("promise", (0,)), None, "It is heads.")
    assert transcript.entries[2] == Entry(1, None, (1,), words, "unreadable")
    rest = {
        "ask_again": [
            Entry(1, None, (1,), "heads or tails", "ambiguous"),
            Entry(1, Move("guess", (0,)), None, replaced="default"),
        ],
        "default": [Entry(1, Move("guess", (0,)), None, replaced="default")],
        "random": [Entry(1, bare.moves[-1], None, replaced="random")],
        "raise": [Entry(1, Move("guess", (1,)), None, "tails")],
        "forfeit": [Entry(1, None, None, None, "forfeit")],
    }[on_bad]
    assert list(transcript.entries[3:]) == rest
    assert transcript.outcome == bare.outcome


# -- settings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"action": "text", "max_cycles": 3, "on_bad": "raise"}, "max_cycles"),  # there words are replaced at random
        ({"action": "text", "max_cycles": 3, "tries": 2}, "max_cycles"),
        ({"action": "index", "on_bad": "raise"}, "action='text'"),
        ({"action": "index", "tries": 2}, "action='text'"),
        (
            {"action": "text", "on_bad": "cry"},
            "on_bad 'cry' is not accepted; accepted: ask_again, default, random, raise, forfeit",
        ),
        ({"action": "text", "tries": 0}, "tries 0 is not accepted; accepted: a whole number from 1"),
        ({"action": "voice"}, "action 'voice' is not accepted; accepted: index, text"),
    ],
)
def test_settings_that_would_not_be_kept_are_refused(settings, message):
    with pytest.raises(ParlourError, match=message):
        registry["template_v0"].env(**settings)
