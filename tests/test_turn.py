"""One turn at a table (`parlour.envs.turn`): what a player goes by, whose notes are taken, how words are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import Move
from parlour.envs.turn import end_turn, faced, read_words, take_turn
from parlour.policies import RandomPolicy


class Noting(RandomPolicy):
    """Plays as chance does and has notes of its turn."""

    def __init__(self, wants: str = "view", **notes: Any) -> None:
        super().__init__()
        self.kind, self.told, self.seen = wants, notes, []

    @property
    def wants(self) -> str:
        return self.kind

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        self.seen.append((observation, info))
        return info["legal"][0]

    def notes(self) -> dict[str, Any]:
        return self.told


class Annotated:
    """An environment that keeps what it is told, as a Recorder does."""

    def __init__(self, env: Any) -> None:
        self.env, self.annotated = env, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)

    def annotate(self, **told: Any) -> None:
        self.annotated.append(told)


@pytest.fixture
def env() -> Any:
    made = registry["avalon_v0"].raw_env(num_players=5, info="full")
    made.reset(seed=3)
    return made


def test_notes_of_who_took_the_turn_are_told_before_the_step(env):
    table, heard = Annotated(env), []
    take_turn(table, Noting(calls=[1]))
    assert table.annotated == [{"calls": [1]}]
    seat = env.agent_selection
    end_turn(table, Noting(calls=[2]), env.infos[seat]["legal"][0], heard.append)
    assert (table.annotated[-1], heard) == ({"calls": [2]}, [{"calls": [2]}])
    assert env.agent_selection != seat


def test_a_player_with_nothing_to_tell_annotates_nothing(env):
    table, heard = Annotated(env), []
    take_turn(table, Noting())
    end_turn(table, RandomPolicy(), env.infos[env.agent_selection]["legal"][0], heard.append)
    assert (table.annotated, heard) == ([], [])


@pytest.mark.parametrize(("wants", "keys"), [("view", set()), ("text", {"text", "action_mask"})])
def test_a_player_goes_by_what_it_wants(env, wants, keys):
    observation, info = faced(env, Noting(wants))
    assert set(observation) == keys
    assert info["view"].seat == env.seat


def test_words_that_cannot_be_used_become_what_the_rules_prescribe_by_the_chance_that_is_given():
    env = registry["avalon_v0"].raw_env(num_players=5, rules="paper")
    env.reset(seed=3)
    view, given = env.view(env.seat), np.random.default_rng(7)

    class Text:
        def parse(self, words: str, view: Any) -> Move:
            return env.text.parse(words, view)

        def default(self, words: str, view: Any, rng: np.random.Generator) -> Move:
            assert (words, rng) == ("player_77 \n is it", given)
            return view.legal[-1]

    assert read_words(env.text, env.text.say(view.legal[0]), view, given) == (view.legal[0], True)
    while view.legal[0].kind != "propose":
        env.play(view.legal[0])
        view = env.view(env.seat)
    move, used = read_words(Text(), "player_77 \n is it", view, given)
    assert (move, used) == (view.legal[-1], False)
