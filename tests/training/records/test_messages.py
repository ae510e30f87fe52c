"""`parlour export --format messages`: what a seat was told and answered, as `Conversation` would have it."""

from __future__ import annotations

import json

import pytest
from parlour.envs import replay
from parlour.envs.core import NATURE
from parlour.training.cli import run
from parlour.training.records.messages import conversations
from parlour.wrappers.conversation import Conversation, table

from tests.conftest import CASES

PLAYS = {
    "avalon": ["avalon_v0", "--players", "5"],
    "avalon in words": ["avalon_v0", "--players", "6", "--rules", "reference", "--talk", "words"],
    "werewolf": ["werewolf_v0", "--players", "6"],
    "mystery": ["murder_mystery_v0", "--set", f"case={CASES / 'tower_en.json'}", "--set", "rounds=1"],
    "questions": ["mediated_qa_v0"],
}


@pytest.fixture(scope="module", params=PLAYS)
def folder(request, tmp_path_factory):
    """Two games of the heuristic."""
    out = tmp_path_factory.mktemp("games")
    assert run(["play", *PLAYS[request.param], "--games", "2", "--seed", "3", "--out", str(out)]) == 0
    return out


def test_the_answers_played_as_a_conversation_are_the_game_again(folder):
    """Each seat's messages are word for word what Conversation sends, and the answers make the recorded moves."""
    for file in replay.Transcript.files(folder):
        transcript = replay.Transcript.read(file, folders=[CASES])
        messages = {conversation["seat"]: iter(conversation["messages"]) for conversation in conversations(transcript)}
        env = table(transcript.header["game"], on_bad="raise", **transcript.header["config"])
        talk = Conversation(env, list_options=True)
        nature = [entry.move for entry in transcript.entries if entry.seat == NATURE]
        talk.reset(seed=0, options={"nature": nature})
        while talk.agent is not None:
            message, answer = next(messages[talk.agent]), next(messages[talk.agent])
            assert (message["role"], message["content"]) == ("user", talk.hear(talk.agent))
            assert (answer["role"], answer["weight"]) == ("assistant", 1)
            talk.say(answer["content"])
        assert talk.game_env.outcome == transcript.outcome
        assert not any(list(rest) for rest in messages.values())


def test_won_keeps_the_seats_with_a_positive_return(tmp_path):
    assert run(["play", "avalon_v0", "--players", "5", "--games", "2", "--out", str(tmp_path / "games")]) == 0
    of = {}
    for name, won in (("all", []), ("won", ["--won"])):
        out = tmp_path / f"{name}.jsonl"
        assert run(["export", str(tmp_path / "games"), "--format", "messages", *won, "--out", str(out)]) == 0
        of[name] = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(of["all"]) == 10  # 2 games of 5 seats
    assert of["won"] == [row for row in of["all"] if row["return"] == 1.0]
    assert {row["role"] for row in of["all"]} >= {"Merlin", "Assassin"}


def test_an_answer_that_was_not_the_seats_own_has_weight_0(tmp_path):
    """A move of the table, one of the heuristic and one by a paper's rule, as a transcript marks them."""
    assert run(["play", "avalon_v0", "--players", "5", "--games", "1", "--out", str(tmp_path)]) == 0
    (file,) = replay.Transcript.files(tmp_path)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    moves = [line for line in lines if "move" in line and line["seat"] != "nature"]
    moves[0] |= {"by": "table", "reason": "default"}
    moves[1] |= {"by": "heuristic", "reason": "timeout"}
    moves[2] |= {"by": "paper", "reason": "unclear=paper"}
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    messages = [
        message for conversation in conversations(replay.Transcript.read(file)) for message in conversation["messages"]
    ]
    assert [message["weight"] for message in messages if message["role"] == "assistant"].count(0) == 3


def test_formats_and_their_options_are_checked(tmp_path, capsys):
    assert run(["play", "mediated_qa_v0", "--games", "1", "--out", str(tmp_path)]) == 0
    assert run(["export", str(tmp_path), "--format", "chat", "--out", str(tmp_path / "a.jsonl")]) == 2
    assert "accepted: words, messages" in capsys.readouterr().err
    assert run(["export", str(tmp_path), "--won", "--out", str(tmp_path / "a.jsonl")]) == 2
    assert "accepted: --format messages" in capsys.readouterr().err
