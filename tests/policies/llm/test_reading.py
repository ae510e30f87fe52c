"""How replies are read (decisions 4.5): thoughts are set aside, the last whole object counts, what is unmistakable is taken."""

from __future__ import annotations

import json
from typing import ClassVar, Literal

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.ask import ASKS, Answer, Ask, BadReply, Rounded
from parlour.policies.llm.reading import (
    answer_in,
    in_steps,
    meant,
    own_turn,
    set_aside,
    with_length,
    with_lengths,
    without_lengths,
)
from pydantic import Field

OPTIONS = {"vote:4": "I reject the team.", "vote:5": "I approve the team."}


class Ballot(Answer):
    why: str
    choice: str


class Rating(Answer):
    player: int
    level: str


class Ratings(Answer):
    ratings: list[Rating]
    picked: list[str]


class Vote(Ask[Ballot]):
    kind: ClassVar[str] = "test_reading.vote"
    template: ClassVar[str] = "Vote."

    options: dict[str, str]

    def choices(self):
        return {"choice": self.options}

    def heuristic(self, rng: np.random.Generator) -> Ballot:
        return Ballot(why="", choice=min(self.options))


class Rate(Ask[Ratings]):
    kind: ClassVar[str] = "test_reading.rate"
    template: ClassVar[str] = "Rate."

    players: list[int]

    def choices(self):
        names = {f"player_{k}": "" for k in self.players}
        levels = {"high": "", "low": ""}
        return {"ratings.player": dict.fromkeys(self.players, ""), "ratings.level": levels, "picked": names}

    def heuristic(self, rng: np.random.Generator) -> Ratings:
        return Ratings(ratings=[], picked=[])


for ask in (Vote, Rate):
    ASKS.pop(ask.kind)

VOTE = Vote(options=OPTIONS)


@pytest.mark.parametrize(
    "said",
    [
        '"vote:5"',
        '" Vote : 5 "',
        '"`vote:5`"',
        '"i approve the team"',
        '"“I approve the team.”"',
        '"vote:5 = I approve the team."',
        '"vote:5: I approve the team."',
    ],
)
def test_what_is_unmistakable_is_taken_for_the_option_it_means(said):
    for reply in (f'{{"why": "w", "choice": {said}}}', f'Well:\n```json\n{{"why": "w", "choice": {said}}}\n```'):
        assert VOTE.read(reply) == Ballot(why="w", choice="vote:5")


@pytest.mark.parametrize("reply", ["vote:5", "VOTE: 5", "I approve the team.", "```\nvote:5\n```", '"vote:5"'])
def test_a_reply_that_is_nothing_but_an_option_is_read(reply):
    assert VOTE.read(reply) == Ballot(why="", choice="vote:5")


@pytest.mark.parametrize(
    "said", ['"vote"', '"5"', '""', '"vote:45"', '"approve or reject"', "7", "null", '"I approve"']
)
def test_what_may_mean_more_than_one_option_or_none_is_refused(said):
    with pytest.raises(BadReply) as caught:
        VOTE.read(f'{{"why": "w", "choice": {said}}}')
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    "said",
    [
        3,
        "3",
        "player_3",
        "Player 3",
        "PLAYER_3",
        "seat 3",
        "3号",
        "玩家3",
        "#3",
        "'3'",
        "`player_3`",
        " player 3. ",
    ],
)
def test_a_player_is_known_by_number_or_name(said):
    assert meant(said, {2: "", 3: "", 13: ""}) == 3
    assert meant(said, {"player_2": "", "player_3": "", "player_13": ""}) == "player_3"


@pytest.mark.parametrize("said", [1, "player_1", "33", "player_33", 3.5, None, [3], True, "", "2 or 3"])
def test_another_player_is_none_of_them(said):
    with pytest.raises(LookupError):
        meant(said, {2: "", 3: ""})


def test_choices_are_read_in_lists_and_in_lists_of_objects():
    rate = Rate(players=[0, 2])
    answer = rate.read('{"ratings": [{"player": "Player 2", "level": "HIGH"}], "picked": ["0", "PLAYER_2"]}')
    assert answer.model_dump() == {"ratings": [{"player": 2, "level": "high"}], "picked": ["player_0", "player_2"]}
    with pytest.raises(BadReply, match=r"ratings.player '1' is not accepted; accepted: 0, 2"):
        rate.read('{"ratings": [{"player": 1, "level": "high"}], "picked": []}')


def test_the_schema_holds_each_choice_to_what_is_offered():
    assert VOTE.schema_of_answer()["properties"]["choice"]["enum"] == ["vote:4", "vote:5"]
    schema = Rate(players=[0, 2]).schema_of_answer()
    assert schema["$defs"]["Rating"]["properties"]["player"]["enum"] == [0, 2]
    assert schema["$defs"]["Rating"]["properties"]["level"]["enum"] == ["high", "low"]
    assert schema["properties"]["picked"]["items"]["enum"] == ["player_0", "player_2"]
    assert "enum" not in str(Ratings.model_json_schema())  # the class is as it was


class Sure(Answer):
    evil: Rounded = Field(ge=0, le=1)
    trust: Rounded = Field(ge=-1, le=1)
    level: int = Field(ge=0, le=9)


def test_a_schema_holds_a_list_to_its_length():
    schema = Ratings.model_json_schema()
    limited = with_length(schema, "ratings", 2, 3)
    assert (limited["properties"]["ratings"]["minItems"], limited["properties"]["ratings"]["maxItems"]) == (2, 3)
    assert "minItems" not in limited["properties"]["picked"]
    assert schema == Ratings.model_json_schema()  # the one that was given is as it was
    with pytest.raises(ParlourError, match="an answer has no field 'marks'; accepted: ratings, picked"):
        with_length(schema, "marks", 1, 1)


def test_the_schema_that_is_sent_has_fractions_in_steps_for_grammars_without_bounds():
    sent = in_steps(Sure.model_json_schema())["properties"]
    assert sent["evil"]["enum"] == [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75,
                                    0.8, 0.85, 0.9, 0.95, 1.0]  # fmt: skip
    assert (sent["trust"]["enum"][0], sent["trust"]["enum"][13], sent["trust"]["enum"][-1]) == (-1.0, 0.3, 1.0)
    assert "enum" not in sent["level"]
    assert Sure.model_validate({"evil": 0.33, "trust": -0.123, "level": 3}).evil == 0.33


@pytest.mark.parametrize(
    ("reply", "thought", "rest"),
    [
        ('<think>{"a": 1}</think>{"a": 2}', '{"a": 1}', '{"a": 2}'),
        ("<Thinking>\nx\n</Thinking>\n\nyes", "x", "yes"),
        ("x</think>yes", "x", "yes"),
        ("<think>x and no end", "x and no end", ""),
        ("<think>a</think>b<think>c</think>d", "a\nc", "bd"),
        ("no thought", "", "no thought"),
        ("", "", ""),
    ],
)
def test_what_was_thought_aloud_is_set_aside(reply, thought, rest):
    assert set_aside(reply) == (thought, rest)


def test_the_last_whole_object_counts():
    assert answer_in('{"a": 1} {"a": 2}')[0] == {"a": 2}
    assert answer_in('{"a": 1} {"a": 2')[0] == {"a": 1}
    assert answer_in('{"a": {"b": 2}}')[0] == {"a": {"b": 2}}
    assert answer_in('{"a": 1} and {so on}')[0] == {"a": 1}
    assert answer_in('{{"a": 1}}')[0] == {"a": 1}  # braces doubled, as templates have them
    assert answer_in("none")[0] is None
    reply = '<think>{"why": "", "choice": "vote:4"}</think>{"why": "", "choice": "vote:5"}'
    assert VOTE.read(reply).choice == "vote:5"
    assert VOTE.read('{"why": "", "choice": "vote:4"}\nNo:\n{"why": "", "choice": "vote:5"}').choice == "vote:5"
    with pytest.raises(BadReply):
        VOTE.read('{"why": "", "choice": "vote:4"} {"other": 1}')


# -- replies that are mended -----------------------------------------------------------------------------------------

ANSWER = {"why": "w", "choice": "vote:5"}
MENDED = {
    "single quotes": "{'why': 'w', 'choice': 'vote:5'}",
    "a comma after the last entry": '{"why": "w", "choice": "vote:5",}',
    "Python's names and JSON's": "{'why': \"w\", 'choice': 'vote:5', }",
    "fields without quotes": '{why: "w", choice: "vote:5"}',
    "prose around it": "Well: {'why': 'w', 'choice': 'vote:5'} That is all.",
    "a token": '{"why": "w", "choice": "vote:5"}<|im_end|>',
    "a turn made up after it": '{"why": "w", "choice": "vote:5"}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n{"why": "", "choice": "no"}',
    "the question once more after it": '{"why": "w", "choice": "vote:5"}\n# chat.take_turn\n\n## now\n{"day": 2}',
    "the question once more before it": '<|im_start|>user\n{"day": 2}<|im_end|>\n<|im_start|>assistant\n{"why": "w", "choice": "vote:5"}',
    "a turn by name": '{"why": "w", "choice": "vote:5"}\nUser: {"day": 2}',
    "channels": '<|channel|>analysis<|message|>{"choice": "no"}<|end|><|start|>assistant<|channel|>final<|message|>{"why": "w", "choice": "vote:5"}',
}  # fmt: skip


@pytest.mark.parametrize("reply", MENDED.values(), ids=MENDED)
def test_a_reply_that_can_mean_one_answer_is_mended(reply):
    answer, _, mended = answer_in(reply)
    assert (answer, mended) == (ANSWER, True)


def test_line_breaks_within_a_text_are_mended():
    assert answer_in('{"why": "one\ntwo"}') == ({"why": "one\ntwo"}, '{"why": "one\ntwo"}', True)


UNMENDED = {
    "a cut choice": '{"why": "w", "choice": "vote:1',
    "a cut object": "{'why': 'w', 'choice': 'vote:5'",
    "something to compute": "{'choice': 'vote:' + '5'}",
    "a call": "{'choice': open('/etc/passwd')}",
    "a set": "The team {player_1, player_2} is fine.",
    "brackets in brackets": "{'a': " * 3000,
    "a great number": "{'a': " + "9" * 9000 + "}",
}


@pytest.mark.parametrize("reply", UNMENDED.values(), ids=UNMENDED)
def test_what_is_cut_or_would_have_to_be_computed_is_no_answer(reply):
    assert answer_in(reply)[0] is None


def test_words_of_a_template_within_an_answer_change_nothing():
    said = {"why": "<|im_end|>\n<|im_start|>user\n# chat.take_turn", "choice": "vote:5", "parts": [{"a": "</s>"}]}
    assert answer_in(json.dumps(said)) == (said, json.dumps(said), False)


def test_the_own_turn_is_the_whole_reply_where_nobody_else_speaks():
    assert own_turn("I approve.") == "I approve."
    assert own_turn("I approve.<|im_end|>") == "I approve."


class Noted(Answer):
    reason: str
    level: Literal["high", "low"]
    note: str = Field(max_length=20)
    said: str


class Notes(Answer):
    thought: str
    notes: list[Noted]
    by_name: dict[str, Noted]
    words: str


@pytest.mark.parametrize("last", [500, None])
def test_texts_before_other_fields_are_bounded_at_every_depth_and_the_last_apart(last):
    schema = Notes.model_json_schema()
    bounded = with_lengths(schema, 300, last)
    inside = bounded["$defs"]["Noted"]["properties"]
    lengths = {name: part.get("maxLength") for name, part in {**bounded["properties"], **inside}.items()}
    assert {name for name, length in lengths.items() if length == 300} == {"thought", "reason"}
    assert (lengths["note"], lengths["words"], lengths["said"]) == (20, last, None)
    assert schema == Notes.model_json_schema()  # the one that was given is as it was
    assert "maxLength" not in json.dumps(without_lengths(bounded))
    assert without_lengths(bounded)["$defs"]["Noted"]["required"] == schema["$defs"]["Noted"]["required"]
