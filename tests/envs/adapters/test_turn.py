"""One turn at a table (`parlour.envs.adapters.turn`): what a player goes by, how words are read, and where notes of an answer go."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from parlour.envs import registry, replay
from parlour.envs.adapters.turn import faced, read_words
from parlour.envs.core import NATURE, GameText, Move
from parlour.policies.base import Policy
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder


@pytest.fixture
def env() -> Any:
    made = registry["avalon_v0"].raw_env(num_players=5, info="full")
    made.reset(seed=3)
    return made


@pytest.mark.parametrize(("wants", "keys"), [("view", set()), ("text", {"text", "action_mask"})])
def test_a_player_goes_by_what_it_wants(env, wants, keys):
    observation, info = faced(env, SimpleNamespace(wants=wants))
    assert set(observation) == keys
    assert info["view"].seat == env.seat


def test_words_that_cannot_be_used_become_what_the_rules_prescribe_by_the_chance_that_is_given():
    env = registry["avalon_v0"].raw_env(num_players=5, rules="paper")
    env.reset(seed=3)
    view, given = env.view(env.seat), np.random.default_rng(7)

    class Text(GameText[Any]):
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


class Notes(Policy):
    """Gives two answers that cannot be used, then one that can; every third time none that can."""

    name, wants = "notes", "text"

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.answers: list[str] = []
        self.told = 0

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        number = len(self.answers) % 8
        self.answers.append("Hm." if number not in (2, 6, 7) else info["options"][0])
        return self.answers[-1]

    def notes(self) -> dict[str, Any]:
        self.told += 1
        return {} if len(self.answers) % 8 == 0 else {"answer": len(self.answers), "model": "none"}


def test_notes_go_to_the_line_of_their_own_answer(tmp_path):
    path = tmp_path / "game.jsonl"
    players = [Notes() for _ in range(5)]
    play(Recorder(table("avalon_v0", num_players=5), path), players, 3)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    answered = [0] * 5
    replaced = silent = 0
    for entry, line in zip(replay.Transcript.read(path).entries, lines[1:], strict=False):
        if entry.seat == NATURE:
            assert "answer" not in line
            continue
        if entry.raw is None:  # made in the place of the third answer that could not be used
            assert "answer" not in line
            replaced += 1
            continue
        answered[entry.seat] += 1
        assert entry.raw == players[entry.seat].answers[answered[entry.seat] - 1]
        if answered[entry.seat] % 8 == 0:
            assert "answer" not in line
            silent += 1
        else:
            assert (line["answer"], line["model"]) == (answered[entry.seat], "none")
    assert answered == [len(player.answers) for player in players] == [player.told for player in players]
    assert min(replaced, silent) > 0


def test_notes_are_asked_for_without_a_transcript_too():
    """Otherwise they would pile up in the player."""
    players = [Notes() for _ in range(5)]
    play(table("avalon_v0", num_players=5), players, 3)
    assert [player.told for player in players] == [len(player.answers) for player in players]
