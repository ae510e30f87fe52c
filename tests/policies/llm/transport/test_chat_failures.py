"""What one bad call costs: one decision, by the heuristic, with its reason. No endpoint: replies come from a script."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import pytest
from parlour.policies.llm.ask import ASKS, Answer, Ask
from parlour.policies.llm.chat import ChatModel
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.fit import estimated_tokens, shortest
from parlour.policies.llm.model import RequestContext
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import (
    CallFailed,
    Completion,
    ModelUnavailable,
    ModelUnusable,
    PromptTooLong,
    Request,
    Usage,
)
from pydantic import Field

GOOD = '{"why": "w", "choice": "yes"}'
ASKER = RequestContext("player_1", 7, rules="Two teams play.\n\n" + "There is much more to it. " * 20)


class Chosen(Answer):
    why: str
    choice: str


class Choose(Ask[Chosen]):
    kind: ClassVar[str] = "test_chat_failures.choose"
    template: ClassVar[str] = "Yes or no?"
    record: ClassVar[tuple[str, ...]] = ("lines",)
    max_tokens: ClassVar[int] = 100

    lines: list[str] = Field(default_factory=list)

    def choices(self):
        return {"choice": {"yes": "", "no": ""}}

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        return " says: " in entry

    def heuristic(self, rng: np.random.Generator) -> Chosen:
        return Chosen(why="by the heuristic", choice="no")


class ChooseInChinese(Choose):
    kind: ClassVar[str] = "test_chat_failures.choose_in_chinese"
    template: ClassVar[str] = "是还是否？"
    language: str = "zh"


for ask in (Choose, ChooseInChinese):
    ASKS.pop(ask.kind)


class Script:
    """A transport that says, or raises, one thing after the other, and keeps the requests."""

    def __init__(self, said: Iterable[str | Completion | Exception]) -> None:
        self.said, self.requests = list(said), []

    def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        said = self.said.pop(0)
        if isinstance(said, Exception):
            raise said
        return Completion((said,), Usage(10, 5), ("stop",)) if isinstance(said, str) else said


def cut(text: str, thinking: str = "") -> Completion:
    return Completion((text,), Usage(10, 5), ("length",), thinking=(thinking,))


def asked(script: Script, question: Ask[Any] | None = None, context: int | None = None, **settings: Any) -> Any:
    model = ChatModel(ModelConfig(model="m", **settings), Meter(script, Prices(), context))
    answered = model.answer(question or Choose(), ASKER)
    count = model.meter.taken.total
    assert (count.asked, count.own + sum(count.heuristic.values())) == (1, 1)
    assert sum(count.heuristic.values()) == answered.fell_back
    return answered


@pytest.mark.parametrize("reason", ["content_filter", "timeout", "refused", "server"])
def test_a_call_that_fails_for_good_is_answered_by_the_rule_of_thumb_with_its_reason(reason):
    script = Script([CallFailed("no answer\nof m", reason)])
    answered = asked(script)
    assert (answered.reason, answered.tries, answered.value.choice) == (reason, 0, "no")
    failed, call = answered.calls
    assert failed["fault"] == "no answer of m"
    assert call == {
        "ask": Choose.kind,
        "by": "heuristic",
        "reason": reason,
        "answer": {"why": "by the heuristic", "choice": "no"},
    }


def test_no_server_key_model_or_quota_ends_the_run():
    with pytest.raises(ModelUnavailable, match="wrong key"):
        asked(Script([ModelUnavailable("wrong key")]))


@pytest.mark.parametrize(
    ("said", "reason"), [("As an AI language model, I cannot.", "invalid"), ("", "empty"), (" \n", "empty")]
)
def test_what_is_no_answer_at_the_last_try_has_its_reason(said, reason):
    assert asked(Script([said] * 3)).reason == reason


def test_a_reply_that_was_cut_off_is_asked_again_with_more_room():
    script = Script([cut('{"why": "w", "cho'), GOOD])
    answered = asked(script)
    assert (answered.value.choice, answered.valid, answered.tries) == ("yes", False, 2)
    assert [request.max_tokens for request in script.requests] == [100, 200]
    assert "cut off at the length limit" in script.requests[1].messages[-1].content
    assert answered.calls[0]["finish"] == "length"


def test_thoughts_are_kept_in_the_transcript_and_not_read():
    answered = asked(Script(['<think>{"why": "", "choice": "no"}</think>' + GOOD]))
    assert (answered.value.choice, answered.calls[0]["thinking"]) == ("yes", '{"why": "", "choice": "no"}')


LINES = [line for k in range(30) for line in (f"Vote {k}: 3 to 2.", f'player_{k} says: "{"word " * 12}"')]


def test_a_prompt_is_cut_to_the_context_and_says_so():
    script = Script([GOOD])
    answered = asked(script, Choose(lines=LINES), context=1280)
    sent = script.requests[0]
    assert answered.cut == answered.calls[0]["cut"] > 5
    assert f"{answered.cut} older lines are left out" in sent.messages[1].content
    assert all(f"Vote {k}: 3 to 2." in sent.messages[1].content for k in range(30))
    assert sum(estimated_tokens(message.content) for message in sent.messages) + sent.max_tokens <= 1280


def test_a_prompt_that_cannot_be_cut_enough_is_not_sent():
    script = Script([])
    answered = asked(script, Choose(lines=["fact " * 900]), context=1280)
    assert (answered.reason, answered.tries, script.requests) == ("context", 0, [])


def facts_of(tokens: int) -> Choose:
    """A question with facts alone, whose shortest prompt has about so many tokens by our estimate."""
    facts = LINES[::2]
    questions = [Choose(lines=(facts * 6)[:count]) for count in range(1, 6 * len(facts))]
    return min(questions, key=lambda question: abs(shortest(question, ASKER.rules, Templates()).tokens() - tokens))


def test_where_facts_fill_the_context_nothing_is_kept_free_for_complaints():
    script = Script([GOOD])
    assert asked(script, facts_of(1160), context=1280).reason is None
    sent = script.requests[0]
    # 1280 - 192 - 100 = 988 tokens are too few, 1280 - 100 = 1180 are enough
    assert 988 < sum(estimated_tokens(message.content) for message in sent.messages) <= 1180


def test_what_may_fit_though_our_estimate_says_no_is_sent_and_the_server_decides():
    script = Script([GOOD])
    assert asked(script, facts_of(1300), context=1280).reason is None
    assert sum(estimated_tokens(message.content) for message in script.requests[0].messages) > 1180
    refusing = Script([PromptTooLong("too long", tokens=1290, limit=1280), GOOD])
    answered = asked(refusing, facts_of(1300), context=1280)
    assert (answered.reason, len(refusing.requests)) == (None, 2)
    assert [": 3 to 2." in request.messages[1].content for request in refusing.requests] == [True, True]
    assert answered.cut > 0


def test_a_prompt_that_the_server_finds_too_long_is_shortened_once():
    script = Script([PromptTooLong("too long", tokens=1500, limit=1200), GOOD])
    answered = asked(script, Choose(lines=LINES))
    long, short = (sum(len(message.content) for message in request.messages) for request in script.requests)
    assert short < long * 1200 / 1500
    assert (answered.value.choice, answered.reason, answered.cut > 0) == ("yes", None, True)
    assert answered.calls[0]["fault"] == "too long"
    again = asked(
        Script([PromptTooLong("too long", 1500, 1200), PromptTooLong("still", 1300, 1200)]), Choose(lines=LINES)
    )
    assert (again.reason, again.tries) == ("context", 0)


def test_only_unreadable_replies_try_the_patience():
    """And one that is read begins anew."""
    said = [CallFailed("late", "timeout")] * 5 + ["hm"] * 2 + [GOOD] + ["hm"] * 3
    model = ChatModel(ModelConfig(model="m", patience=3, tries=1), Meter(Script(said), Prices()))
    reasons = [model.answer(Choose(), ASKER).reason for _ in said[:-1]]
    assert reasons == ["timeout"] * 5 + ["invalid"] * 2 + [None] + ["invalid"] * 2
    with pytest.raises(ModelUnusable, match=r"^'m' gave no valid answer to 3 questions in a row"):
        model.answer(Choose(), ASKER)


def test_a_chinese_question_is_complained_about_in_chinese():
    script = Script(["hm", '{"why": "", "choice": "也许"}', cut("{"), GOOD])
    assert asked(script, ChooseInChinese(), tries=4).value.choice == "yes"
    texts = [request.messages[-1].content for request in script.requests[1:]]
    assert [text[:7] for text in texts] == ["这个回答不能用", "这个回答不能用", "你的回答超出长"]
    assert "“choice”的值不在所给选项之中" in texts[1]
    assert '<任选其一 "yes", "no">' in script.requests[0].messages[1].content


def test_the_room_of_a_reply_is_doubled_once():
    for settings, rooms in (
        ({}, [100, 200, 200]),
        ({"max_tokens": 30}, [30, 60, 60]),
        ({"max_tokens": 900}, [900, 1800, 1800]),
    ):
        script = Script([cut("{")] * 3)
        assert asked(script, **settings).reason == "length"
        assert [request.max_tokens for request in script.requests] == rooms


@pytest.mark.parametrize("length", [600, 40, 0])
def test_the_schema_bounds_the_reason_and_a_longer_one_is_read_all_the_same(length):
    script = Script([f'{{"why": "{"w" * 700}", "choice": "yes"}}'])
    assert asked(script, **({} if length == 600 else {"reason_length": length})).valid
    sent = script.requests[0].schema["properties"]
    assert sent["why"].get("maxLength") == (length or None)
    assert "maxLength" not in sent["choice"]


class Words(Answer):
    why: str
    words: str


@pytest.mark.parametrize(("room", "length"), [(100, 1200), (800, 1200), (801, None)])
def test_what_is_said_may_be_twice_as_long_and_a_question_with_more_room_bounds_reasons_alone(room, length):
    class Speak(Ask[Words], kind="test_chat_failures.speak", template="Speak.", max_tokens=room):
        def heuristic(self, rng: np.random.Generator) -> Words:
            return Words(why="", words="")

    ASKS.pop(Speak.kind)
    script = Script(['{"why": "", "words": ""}'])
    asked(script, Speak())
    sent = script.requests[0].schema["properties"]
    assert (sent["why"]["maxLength"], sent["words"].get("maxLength")) == (600, length)
