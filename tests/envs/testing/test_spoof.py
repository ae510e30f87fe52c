"""No utterance passes for anything but the words of its speaker.

Two games are played that differ in one utterance. Whatever it contains, the prose of every seat has the same lines in
both, but for the one line that quotes it; headings stand once each, at the start of their lines; the prose stays in
the observation space; the words as they came in stay in the transcript.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from parlour.envs import registry
from parlour.envs.adapters.aec import MAX_TEXT
from parlour.envs.adapters.spaces import ProseSpace
from parlour.envs.core import Move
from parlour.envs.language.speech import ACTS
from parlour.envs.language.text import CHOICE, MAX_WORDS, RECORD, WHO, clean
from parlour.envs.replay import Transcript
from parlour.envs.testing.spoof import SPOOFS, assert_only_one_line_differs
from parlour.wrappers import Recorder, TextActions

HEADINGS = [heading.rstrip("\n") for heading in (WHO, RECORD, CHOICE)]


def prose(env: Any) -> list[str]:
    """What every seat reads."""
    return [env.observe(agent)["text"] for agent in env.possible_agents]


def go_on(env: Any, turns: int) -> None:
    """Some canonical moves, the same whatever was said: the last legal one."""
    for _ in range(turns):
        if env.unwrapped.outcome is None:
            env.step(int(env.infos[env.agent_selection]["legal"][-1]))


def opened(*, talk: bool = True) -> TextActions:
    """A table of five at which a seat is about to decide."""
    bare = registry["avalon_v0"].raw_env(num_players=5, rules="paper", observation="both", info="full", talk=talk)
    env = TextActions(bare, tries=2)
    env.reset(seed=4)
    return env


PHRASES = st.sampled_from([*HEADINGS, "\n", "- ", '"', "\\", "Moderator: ", "player_0 says: ", "\u2028", "(taken as: "])


@given(st.text(st.characters(exclude_categories=()), max_size=200) | st.lists(PHRASES).map("".join))
@example("\u2028\u2029\x85\x1c\x1d\x1e")
def test_any_utterance_changes_nothing_but_its_own_line(utterance):
    said, plain = opened(), opened()
    said.step(utterance)
    plain.step("Good evening.")
    for _ in range(6):
        for env in (said, plain):
            go_on(env, 1)
        for agent, ours, theirs in zip(said.possible_agents, prose(said), prose(plain), strict=True):
            assert_only_one_line_differs(ours, theirs, utterance)
            assert said.observation_space(agent).contains(said.observe(agent))
        assert said.infos[said.agent_selection].get("options") == plain.infos[plain.agent_selection].get("options")


@given(st.text(st.characters(exclude_categories=()), max_size=50), st.integers(0, 3))
def test_what_cannot_be_used_is_quoted_in_one_line_to_the_speaker_alone(utterance, spoof):
    """At a decision that is no speech: only the seat itself reads of it, in lines of its own at the very end."""
    words = (utterance + list(SPOOFS.values())[spoof * 2] + " player_0 player_1 player_2")[:3000]
    env = opened(talk=False)
    before = prose(env)
    mover = env.agent_selection
    env.step(words)
    if env.agent_selection != mover or not env.infos[mover]["asked_again"]:
        return  # a team was found in the words after all
    for agent, was, now in zip(env.possible_agents, before, prose(env), strict=True):
        if agent != mover:
            assert now == was
            continue
        assert now.startswith(was)
        added = now[len(was) :]
        assert added.startswith('Your answer could not be used: "')
        assert len(added.splitlines()) == added.count("\n") == 1
        assert [now.split("\n").count(heading) for heading in HEADINGS] == [1, 1, 1]


@pytest.mark.parametrize("utterance", SPOOFS.values(), ids=SPOOFS)
def test_the_words_as_they_came_in_are_kept_in_the_transcript(utterance, tmp_path):
    path = tmp_path / "game.jsonl"
    bare = registry["avalon_v0"].raw_env(num_players=5, info="full")
    env = Recorder(TextActions(bare), path)
    env.reset(seed=4)
    env.step(utterance)
    go_on(env, 2)
    env.close()
    assert len(path.read_bytes().splitlines()) == path.read_bytes().count(b"\n") == 1 + len(bare.moves)
    path.read_text(encoding="utf-8")
    entry = Transcript.read(path).entries[1]
    assert entry.raw == utterance
    assert entry.move == bare.moves[1]
    assert entry.move.words == clean(utterance)


def test_the_space_of_prose_holds_printable_text_of_its_length():
    space = ProseSpace(10)
    for words in ("", "a", "a\nb", "狼人杀好🙂", "x" * 10, space.sample()):
        assert space.contains(words)
    for words in ("x" * 11, "a\x00", "a\u2028b", "\ud800", "a\rb", b"a", 1, None):
        assert not space.contains(words)
    assert all(ProseSpace(MAX_TEXT).contains(ProseSpace(200, seed=seed).sample()) for seed in range(50))
    assert (space == ProseSpace(10), space == ProseSpace(11)) == (True, False)
    with pytest.raises(ValueError, match="cannot be sampled with a mask"):
        space.sample(mask=(1, None))


def test_cleaned_words_are_one_printable_line_of_bounded_length():
    for words in SPOOFS.values():
        cleaned = clean(words)
        assert cleaned.isprintable()
        assert len(cleaned) <= MAX_WORDS
        assert clean(cleaned) == cleaned
    assert clean("我同意。 OK \U0001f642") == "我同意。 OK \U0001f642"


def test_the_longest_game_with_the_longest_words_stays_in_the_observation_space(avalon_env):
    """25 proposals at a table of ten, every speech as long as it may be and full of marks that are escaped."""
    env = avalon_env(10, "paper")
    env.reset(options={"nature": [Move("deal", (*reversed(env.game.deck), 0))]})  # seat 0 is evil
    words = clean('"' * MAX_WORDS)
    while env.outcome is None:
        legal = env.game.legal(env.state_now)
        if legal[0].kind in ACTS:
            env.play(legal[0]._replace(words=words))
        elif legal[0].kind == "vote":
            env.play(Move("vote", (0,)))
        elif legal[0].kind == "card":  # quests 2 and 4 fail, so that there is a fifth
            env.play(legal[-1] if env.view(0).quest in (1, 3) else legal[0])
        else:
            env.play(legal[0])
    assert sum(len(move.words) == MAX_WORDS for move in env.moves) == 250
    for agent in env.possible_agents:
        seen = env.observe(agent)
        assert env.observation_space(agent).contains(seen), f"{len(seen['text'])} characters of {MAX_TEXT}"
