"""Thoughts in replies: no mark of a thought lets a draft pass for an answer, and no other bracket costs an answer."""

from __future__ import annotations

import json
import time

import pytest
from parlour.policies.llm.reading import answer_in, set_aside
from parlour.policies.llm.thoughts import _OPENS, MARKERS

from tests.policies.llm.thought_marks import CLOSED, DOUBTFUL, DRAFT, UNKNOWN

GIVEN = '{"choice": "vote:5"}'
ANSWER = {"choice": "vote:5"}


def test_each_marker_of_the_table_is_tried():
    opened = [_OPENS.search(mark + DRAFT) for mark in (*CLOSED, *DOUBTFUL)]
    assert all(any(mark[f"marker{number}"] for mark in opened) for number in range(len(MARKERS)))


@pytest.mark.parametrize("mark", [*CLOSED, *DOUBTFUL, *UNKNOWN])
def test_a_reply_that_is_cut_in_a_thought_has_no_answer(mark):
    for before in ("", "\n  "):
        assert answer_in(f"{before}{mark}{DRAFT}", cut=True)[0] is None
        assert set_aside(f"{before}{mark}{DRAFT}", cut=True)[0]


@pytest.mark.parametrize("mark", CLOSED)
def test_a_thought_without_an_end_is_no_answer_whyever_the_reply_ends(mark):
    assert answer_in(f"{mark}{DRAFT}")[0] is None


@pytest.mark.parametrize("mark", [mark for mark in CLOSED if not mark.startswith("analysis")])
def test_an_object_before_a_thought_that_is_cut_is_a_draft(mark):
    assert answer_in(f'{{"choice": "vote:4"}}\n{mark}No, wait', cut=True)[0] is None
    assert answer_in(f"{GIVEN}\n{mark}That was it.")[0] == ANSWER  # the model has ended by itself


@pytest.mark.parametrize(("mark", "end"), [*CLOSED.items(), *DOUBTFUL.items()])
@pytest.mark.parametrize("cut", [False, True])
def test_what_follows_a_thought_is_the_answer_and_the_thought_is_not(mark, end, cut):
    assert answer_in(f"{mark}{DRAFT}{end}{GIVEN}", cut=cut)[0] == ANSWER
    assert answer_in(f"{mark}{DRAFT}{end}I would rather not answer.", cut=cut)[0] is None


@pytest.mark.parametrize(
    "end", ["</think>", "</seed:think>", "[/THINK]", "◁/think▷", "<|END_THINKING|>", "<channel|>", "<unused95>"]
)
def test_an_end_without_a_beginning_closes_a_thought_that_began_with_the_reply(end):
    assert answer_in(f"{DRAFT}{end}{GIVEN}")[0] == ANSWER
    assert answer_in(f"{DRAFT}{end}I would rather not answer.")[0] is None


SPOKEN = (
    "I keep thinking of [player_3] <and> ◁nobody▷ else.",
    "<think> is what I do; [THINK] is what you do not.",
    "</think> and [/THINK] and <|END_THINKING|>",
    "[thinking] Hm. 【分析】 3 < 4, and 5 > 4.",
    "<|channel|>analysis<|message|>",
    "Here is my thought process: none. Here is my response: none.",
)


@pytest.mark.parametrize("words", SPOKEN)
@pytest.mark.parametrize("cut", [False, True])
def test_marks_in_the_words_of_a_player_are_words(words, cut):
    said = {"thoughts": words, "words": "I approve."}
    reply = json.dumps(said, ensure_ascii=False)
    for written in (reply, f"```json\n{reply}\n```", f"Well:\n{reply}", f"<think>{DRAFT}</think>{reply}"):
        assert answer_in(written, cut=cut)[0] == said
    assert answer_in(str({"thoughts": words, "words": "x"}), cut=cut)[0] == {"thoughts": words, "words": "x"}


@pytest.mark.parametrize(
    "before",
    [
        "[thinking] Let me see.",
        "[Analysis]\nplayer_2 lied.",
        "**Reasoning:** player_2 lied.",
        "<sigh> [laughs] (thinking)",
        "【分析】2号说谎。",
        "Here is my thought process: player_2 lied.",
        "If 3 < 4 and 5 > 4, then <player_1> is [evil].",
        "<think about it>",
        "Analysis: player_2 lied.",
        "I think [player_3] should reflect on that.",
        "<answer>",
        "<|START_RESPONSE|>",
    ],
)
def test_headings_and_stage_directions_before_an_answer_do_not_hide_it(before):
    assert answer_in(f"{before}\n{GIVEN}")[0] == ANSWER


@pytest.mark.parametrize(
    "before", ["", "```json\n", "<answer>", "<|START_RESPONSE|>", "<|assistant|>", "<s>", "[INST]", "[player_3] says: "]
)
def test_an_answer_that_runs_on_until_it_is_cut_is_an_answer(before):
    assert answer_in(f"{before}{GIVEN}\nAnd so on and so", cut=True)[0] == ANSWER


@pytest.mark.parametrize(
    "mark", ["<think>", "[thinking]", "<|channel|>", "</think>", "[THINK", "<think " + 'a="b" ' * 9, '{"a": "<think>"}']
)
def test_many_marks_take_little_time(mark):
    begun = time.monotonic()
    answer_in(mark * (200_000 // len(mark)), cut=False)
    assert time.monotonic() - begun < 10
