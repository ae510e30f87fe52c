"""`parlour prompts`: the kinds of questions, and one as it would be sent at a table."""

from __future__ import annotations

import json

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.ask import read_back
from parlour.policies.llm.prompt import Templates
from parlour.training import cli
from parlour.training.play import asked
from parlour.training.play.asked import At


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = cli.run(list(words))
    told = capsys.readouterr()
    return code, told.out, told.err


def test_a_question_is_shown_as_it_would_be_sent():
    found = asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, 2, 0, 1))
    system, user = (message["content"] for message in found.messages(Templates()))
    assert found.context.seat == "player_2"
    assert system == found.question.system(found.context.rules)
    assert read_back(user) == found.question
    later = asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, 2, 0, 2))
    assert later.question != found.question


def test_questions_are_numbered_from_one_in_the_order_in_which_they_are_put(monkeypatch):
    listening: list[asked.ListeningModel] = []

    class Kept(asked.ListeningModel):
        def __init__(self, kind: str) -> None:
            super().__init__(kind)
            listening.append(self)

    monkeypatch.setattr(asked, "ListeningModel", Kept)
    for seat in (None, 2):
        found = [asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, seat, 0, n)) for n in (1, 2, 3)]
        put = [one for one in listening[-1].heard if seat is None or one.context.seat == f"player_{seat}"]
        assert [one.question for one in found] == [one.question for one in put[:3]]
        assert len(put) > 3
        last = asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, seat, 0, len(put)))
        assert last.question == put[-1].question
        with pytest.raises(ParlourError, match=f"number {len(put) + 1} is asked by no player"):
            asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, seat, 0, len(put) + 1))


def test_a_folder_of_ones_own_replaces_any_of_the_words(tmp_path):
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "chat.take_turn.md").write_text("Be brief.\n", "utf-8")
    (tmp_path / "en" / "system.md").write_text("You play.", "utf-8")
    found = asked.heard("chat.take_turn", At("avalon_v0", {"num_players": 5}, 0, 0, 1))
    system, user = (message["content"] for message in found.messages(Templates(str(tmp_path))))
    assert "\nBe brief.\n" in user
    assert "`sayings`" not in user
    assert system.startswith("You play.")
    other = asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, 0, 0, 1))
    assert other.messages(Templates(str(tmp_path)))[1] == other.messages(Templates())[1]


@pytest.mark.parametrize(
    ("kind", "at", "told"),
    [
        ("no.such", At("avalon_v0", {}, None, 0, 1), "question 'no.such' is not accepted; accepted: "),
        ("chat.take_turn", At("avalon_v0", {}, 9, 0, 1), r"seat 9 is not accepted; accepted: 0..5"),
        ("gratr.intent", At("avalon_v0", {}, None, 0, 1), "is asked by no player in a game of avalon_v0"),
        ("chat.take_turn", At("chess_v0", {}, None, 0, 1), "chess_v0"),
    ],
)
def test_what_is_not_asked_there_is_told_in_one_line(kind, at, told):
    with pytest.raises(ParlourError, match=told) as caught:
        asked.heard(kind, at)
    assert "\n" not in str(caught.value)


def test_the_commands(capsys, tmp_path):
    code, out, _ = run(capsys, "prompts", "list", "--json")
    assert (
        code,
        {"chat.take_turn", "gratr.intent", "social.sharing"} <= {load["question"] for load in json.loads(out)},
    ) == (0, True)
    code, out, _ = run(
        capsys, "prompts", "show", "avalon_agent.act", "--game", "avalon_v0", "--players", "5", "--seat", "1"
    )
    assert (code, "--- system (asked by player_1)" in out, "# avalon_agent.act" in out) == (0, True, True)
    code, _, err = run(capsys, "prompts", "show", "no.such")
    assert (code, "question 'no.such' is not accepted" in err) == (2, True)
    code, _, err = run(capsys, "prompts", "show", "chat.take_turn", "--prompts", str(tmp_path / "none"))
    assert (code, "is not a folder" in err) == (2, True)
