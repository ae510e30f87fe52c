"""`parlour prompts`: the kinds of questions, and one as it would be sent at a table."""

from __future__ import annotations

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.ask import read_back
from parlour.policies.llm.prompt import Templates
from parlour.training.play import asked
from parlour.training.play.asked import At


def test_a_question_is_shown_as_it_would_be_sent():
    exchange = asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, 2, 0, 1))
    system, user = (message["content"] for message in exchange.messages(Templates()))
    assert exchange.context.seat == "player_2"
    assert system == exchange.question.system(exchange.context.rules)
    assert read_back(user) == exchange.question
    later = asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, 2, 0, 2))
    assert later.question != exchange.question


def test_questions_are_numbered_from_one_in_the_order_in_which_they_are_put(monkeypatch):
    listening: list[asked.ListeningModel] = []

    class Kept(asked.ListeningModel):
        def __init__(self, kind: str) -> None:
            super().__init__(kind)
            listening.append(self)

    monkeypatch.setattr(asked, "ListeningModel", Kept)
    for seat in (None, 2):
        exchanges = [
            asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, seat, 0, n)) for n in (1, 2, 3)
        ]
        put = [talk for talk in listening[-1].heard if seat is None or talk.context.seat == f"player_{seat}"]
        assert [exchange.question for exchange in exchanges] == [exchange.question for exchange in put[:3]]
        assert len(put) > 3
        last = asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, seat, 0, len(put)))
        assert last.question == put[-1].question
        with pytest.raises(ParlourError, match=f"number {len(put) + 1} is asked by no player"):
            asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, seat, 0, len(put) + 1))


def test_a_folder_of_ones_own_replaces_any_of_the_words(tmp_path):
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "chat.take_turn.md").write_text("Be brief.\n", "utf-8")
    (tmp_path / "en" / "system.md").write_text("You play.", "utf-8")
    exchange = asked.heard("chat.take_turn", At("avalon_v0", {"num_players": 5}, 0, 0, 1))
    system, user = (message["content"] for message in exchange.messages(Templates(str(tmp_path))))
    assert "\nBe brief.\n" in user
    assert "`sayings`" not in user
    assert system.startswith("You play.")
    other = asked.heard("avalon_agent.act", At("avalon_v0", {"num_players": 5}, 0, 0, 1))
    assert other.messages(Templates(str(tmp_path)))[1] == other.messages(Templates())[1]


@pytest.mark.parametrize(
    ("kind", "at", "message"),
    [
        ("no.such", At("avalon_v0", {}, None, 0, 1), "question 'no.such' is not accepted; accepted: "),
        ("chat.take_turn", At("avalon_v0", {}, 9, 0, 1), r"seat 9 is not accepted; accepted: 0..5"),
        ("gratr.intent", At("avalon_v0", {}, None, 0, 1), "is asked by no player in a game of avalon_v0"),
        ("chat.take_turn", At("chess_v0", {}, None, 0, 1), "chess_v0"),
    ],
)
def test_what_is_not_asked_there_is_told_in_one_line(kind, at, message):
    with pytest.raises(ParlourError, match=message) as caught:
        asked.heard(kind, at)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("file", "accepted"),
    [
        ("en/avalon_agent.akt.md", "en/avalon_agent.act.md"),
        ("en/avalon_agent.act.txt", "en/avalon_agent.act.md"),
        ("zh/systm.md", "zh/system.md"),
        ("en/words.md", "parlour list questions"),
    ],
)
def test_a_prompt_that_replaces_nothing_is_refused_with_the_closest_names(file, accepted, tmp_path, error_of):
    path = tmp_path / file
    path.parent.mkdir()
    path.write_text("Be brief.", "utf-8")
    for own in (False, True):
        with pytest.raises(ParlourError) as caught:
            asked.unknown_prompts(str(tmp_path), own=own)
        assert accepted in str(caught.value)
    words = ["play", "avalon_v0", "--policy", "avalon_agent", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"]
    assert file in error_of([*words, "--prompts", str(tmp_path)])


def test_prompts_that_replace_something_are_taken(tmp_path):
    (tmp_path / "en").mkdir()
    for name in (
        "system.md",
        "plain.md",
        "avalon_agent.act.md",
        "social.sharing.md",
        "layout.json",
        ".hidden",
        "chat~",
    ):
        (tmp_path / "en" / name).write_text("Be brief.", "utf-8")
    (tmp_path / "README.md").write_text("What these are.", "utf-8")
    assert asked.unknown_prompts(str(tmp_path)) == []
    (tmp_path / "en" / "nobodys.question.md").write_text("Be brief.", "utf-8")
    assert asked.unknown_prompts(str(tmp_path), own=True) == ["en/nobodys.question.md"]
    with pytest.raises(ParlourError, match="nobodys"):
        asked.unknown_prompts(str(tmp_path))


def test_the_commands(output_of, json_of, error_of, tmp_path):
    listed = {load["question"] for load in json_of(["list", "questions", "--json"])}
    assert {"chat.take_turn", "gratr.intent", "social.sharing"} <= listed
    output = output_of(["show", "question", "avalon_agent.act", "--game", "avalon_v0", "--players", "5", "--seat", "1"])
    assert "--- system (asked by player_1)" in output
    assert "# avalon_agent.act" in output
    assert "question 'no.such' is not accepted" in error_of(["show", "question", "no.such"])
    nowhere = str(tmp_path / "none")
    assert "is not a folder" in error_of(["show", "question", "chat.take_turn", "--prompts", nowhere])
