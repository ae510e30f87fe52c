"""What the schema fuzzer draws fits the schema, and it finds a question whose schema says less than its reading asks."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from parlour.policies.llm.ask import Answer, Ask, Choices
from pydantic import Field

from tests.policies.llm.schema_fuzz import refused, reply_to


class Part(Answer):
    """Of an answer."""

    seat: int = Field(ge=1, le=3)
    share: float = Field(ge=0, le=1)


class Everything(Answer):
    """All that a schema may hold."""

    why: str = Field(min_length=2, max_length=4)
    parts: list[Part] = Field(min_length=2, max_length=2)
    word: Literal["yes", "no"]
    choice: str
    maybe: bool | None


class Whole(Ask[Everything]):
    """A question whose schema says all there is to say."""

    kind: ClassVar[str] = "tests.schema_fuzz_whole"
    template: ClassVar[str] = "Anything."
    strict: bool = False

    def heuristic(self, rng: np.random.Generator) -> Everything:
        raise NotImplementedError

    def choices(self) -> Choices:
        return {"choice": {"a": "", "b": ""}, "parts.seat": {2: "", 3: ""}}

    def check(self, answer: Everything) -> None:
        if self.strict and answer.parts[0].seat == answer.parts[1].seat:
            raise ValueError("the same seat twice; accepted: two seats")


def test_what_is_drawn_fits_the_schema():
    question, rng = Whole(), np.random.default_rng(0)
    answers = [question.read(reply_to(question, rng)) for _ in range(200)]
    assert {answer.choice for answer in answers} == {"a", "b"}
    assert {part.seat for answer in answers for part in answer.parts} == {2, 3}
    assert {answer.maybe for answer in answers} == {True, False, None}
    assert {len(answer.why) for answer in answers} == {2, 3, 4}
    assert {answer.word for answer in answers} == {"yes", "no"}
    assert refused([question], rng) == {"tests.schema_fuzz_whole": []}


def test_a_question_that_asks_for_more_than_its_schema_is_found():
    faults = refused([Whole(strict=True)], np.random.default_rng(0))["tests.schema_fuzz_whole"]
    assert 20 < len(faults) < 80  # two seats of two: half of the replies
    assert faults[0].startswith("the answer does not fit the question: the same seat twice; accepted: two seats <- {")
