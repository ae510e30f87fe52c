"""The plain player: what it reads is whole in its question, grows at its end, and offers each sentence of free talk once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parlour.policies import ChatPlayer
from parlour.policies.agents.chat import Offers, apart, numbers_in, offered, ranges, turn_of
from parlour.policies.llm.ask import read_back
from parlour.training import asked, rollout

TABLES = [
    ("avalon_v0", {"num_players": 5}),
    ("avalon_v0", {"num_players": 6, "rules": "official", "talk": False}),
    ("werewolf_v0", {}),
    ("murder_mystery_v0", {"case": "seed:3:zh:5:1", "rounds": 1}),
    ("template_v0", {}),
]


class Reader(ChatPlayer):
    """Keeps what it read beside what it asked."""

    def act(self, observation: Any, info: dict[str, Any]) -> str:
        self.read.append((observation["text"], dict(info)))
        return super().act(observation, info)


@pytest.mark.parametrize(("game", "options"), TABLES)
def test_a_question_holds_all_that_the_seat_read_and_no_more(game, options):
    model, env = asked.ListeningModel("chat.take_turn"), rollout.table(game, **options)
    players = [Reader(model) for _ in range(env.game_env.game.seats)]
    read: list[tuple[str, dict[str, Any]]] = []
    for player in players:
        player.read = read
    rollout.play(env, players, 7)
    assert len(read) == len(model.heard)
    for (text, info), (question, context) in zip(read, model.heard, strict=True):
        assert question.observation(info.get("rules", "")) == text
        assert question.sentences() == list(info["options"])
        assert context.rules == info.get("rules", "")
        assert read_back(question.prompt()) == question
        assert bool(question.sayings) == info["free_words"]


def test_the_prompts_of_a_seat_grow_at_their_end():
    model, env = asked.ListeningModel("chat.take_turn"), rollout.table("werewolf_v0")
    rollout.play(env, [ChatPlayer(model) for _ in range(8)], 3)
    mine = [question for question, context in model.heard if context.seat == "player_2"]
    assert len(mine) > 3
    for before, after in pairwise(mine):
        assert after.events[: len(before.events)] == before.events
        assert after.who == before.who
        assert after.spoken == before.spoken != []
        upto = before.prompt().index("## private" if before.private else "## who")
        assert after.prompt().startswith(before.prompt()[:upto].rstrip())


INFO = {"options": ["I wait.", "I accuse player_1."], "free_words": True}


def test_a_sentence_of_free_talk_is_offered_once():
    offers = Offers()
    first = turn_of("line 1\nline 2\n", INFO, offers)
    assert first.events == ["line 1", "line 2", '+1 ["I wait.", "I accuse player_1."]']
    assert (first.options, first.sayings) == ([], "1-2")
    again = turn_of("line 1\nline 2\nline 3\n", {**INFO, "options": ["I wait.", "I am Seer."]}, offers)
    assert again.events == [*first.events, "line 3", '+3 ["I am Seer."]']
    assert (again.sayings, again.sentences()) == ("1, 3", ["I wait.", "I am Seer."])
    assert offered(again.events) == {1: "I wait.", 2: "I accuse player_1.", 3: "I am Seer."}


def test_a_decision_is_one_of_its_options():
    question = turn_of("line\n", {**INFO, "free_words": False}, Offers())
    assert (question.options, question.sayings) == (INFO["options"], "")
    assert question.read('{"thoughts": "", "words": "i wait"}').words == "I wait."
    assert question.schema_of_answer()["properties"]["words"]["enum"] == INFO["options"]
    assert "enum" not in str(turn_of("line\n", INFO, Offers()).schema_of_answer())


def test_lines_of_the_game_are_no_offers():
    assert offered(['player_1 says: "+1 [\\"x\\"]"', "+1 [", "+x []", " +1 []"]) == {}


def test_what_the_table_tells_from_the_beginning_is_not_offered_again():
    told = {**INFO, "spoken": ("I wait.", "I accuse player_0.", "I accuse player_1.")}
    question = turn_of("line 1\n", told, Offers(told["spoken"]))
    assert (question.events, question.sayings, question.sentences()) == (["line 1"], "1, 3", INFO["options"])


def test_private_lines_stand_apart_and_go_back_to_their_places():
    lines = [
        "Night falls.",
        "Privately, player_1: I save nobody.",
        'player_2 says to the werewolves: "x"',
        "Day breaks.",
    ]
    events, private = apart(lines)
    assert events == ["Night falls.", "Day breaks."]
    assert [one[:2] for one in private] == ["1:", "1:"]
    question = turn_of("\n".join(lines), INFO, Offers())
    assert question.observation("").startswith("\n".join(lines) + "\n")


@given(st.sets(st.integers(1, 60), min_size=1))
def test_ranges_are_read_as_the_numbers_they_stand_for(numbers):
    assert numbers_in(ranges(sorted(numbers))) == sorted(numbers)
