"""What players note of an answer goes to the line of that answer in the transcript."""

from __future__ import annotations

import json
from typing import Any

from parlour.envs import replay
from parlour.envs.core import NATURE
from parlour.policies import RandomPolicy
from parlour.policies.base import Policy
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder


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
    for entry, line in zip(replay.read(path).entries, lines[1:], strict=False):
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


def test_a_player_need_not_have_notes(tmp_path):
    class Plain:
        wants = "view"

        def reset(self, seat: int, seed: int) -> None:
            pass

        def act(self, observation: Any, info: dict[str, Any]) -> Any:
            return info["legal"][0]

    play(Recorder(table("avalon_v0", num_players=5), tmp_path / "game.jsonl"), [Plain() for _ in range(5)], 3)
    assert replay.read(tmp_path / "game.jsonl").outcome is not None


def test_policies_note_nothing_unless_they_say_so():
    assert RandomPolicy().notes() == {}
