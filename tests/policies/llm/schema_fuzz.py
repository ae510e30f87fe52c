"""Answers drawn at random from the schema of a question: what a server that enforces schemas, and no more, may reply.

Used by the tests of each game's questions: whatever fits the schema must be an answer. Values that a schema leaves free
are short random texts, never blank ones, and numbers of any size; lists without a length have up to four entries, equal ones among them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from parlour.policies.llm.ask import Ask, BadReply
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext

_LETTERS = 'abc XYZ 0123456789 .,:;!?-_ "\\{}[] 我玩家号'
_MOST = 4


class Listener(OfflineModel):
    """Answers by heuristic and keeps what it is asked, and on whose behalf."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[Ask[Any]] = []
        self.asked: list[tuple[Ask[Any], RequestContext]] = []

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        self.questions.append(question)
        self.asked.append((question, context))
        return super().answer(question, context)


class SchemaPlayer(Listener):
    """Answers with random values that fit the schema: a language model that knows nothing, behind a strict server."""

    def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
        self.questions.append(question)
        self.asked.append((question, context))
        rng = np.random.default_rng(context.sample)
        try:
            return Answered(question.read(reply_to(question, rng)))
        except BadReply:
            return Answered(question.heuristic(rng), reason="invalid")


def reply_to(question: Ask[Any], rng: np.random.Generator) -> str:
    """A reply that fits the question's schema and is random otherwise."""
    schema = question.schema_of_answer()
    return json.dumps(drawn(schema, rng, schema.get("$defs", {})), ensure_ascii=False)


def refused(questions: Iterable[Ask[Any]], rng: np.random.Generator, at_least: int = 100) -> dict[str, list[str]]:
    """Of each kind, why replies that fit the schema were refused; at least so many of each kind are tried."""
    of: dict[str, list[Ask[Any]]] = {}
    for question in questions:
        of.setdefault(question.kind, []).append(question)
    return {kind: [*_refusals(some, rng, at_least)] for kind, some in of.items()}


def _refusals(questions: list[Ask[Any]], rng: np.random.Generator, at_least: int) -> Iterable[str]:
    tried: Counter[str] = Counter()
    while tried.total() < at_least:
        for question in questions:
            tried[question.kind] += 1
            reply = reply_to(question, rng)
            try:
                question.read(reply)
            except BadReply as error:
                yield f"{error} <- {reply[:300]}"


def drawn(part: Mapping[str, Any], rng: np.random.Generator, defined: Mapping[str, Any]) -> Any:
    """A random value that fits a part of a schema."""
    if "$ref" in part:
        return drawn(defined[part["$ref"].rpartition("/")[2]], rng, defined)
    if "anyOf" in part:
        return drawn(part["anyOf"][int(rng.integers(len(part["anyOf"])))], rng, defined)
    if "enum" in part:
        return part["enum"][int(rng.integers(len(part["enum"])))]
    if "const" in part:
        return part["const"]
    return _DRAWN[part["type"]](part, rng, defined)


def _object(part: Mapping[str, Any], rng: np.random.Generator, defined: Mapping[str, Any]) -> dict[str, Any]:
    free = part.get("additionalProperties")
    named = {_string({}, rng, {}): free for _ in range(int(rng.integers(_MOST)))} if isinstance(free, dict) else {}
    return {name: drawn(field, rng, defined) for name, field in {**named, **part.get("properties", {})}.items()}


def _array(part: Mapping[str, Any], rng: np.random.Generator, defined: Mapping[str, Any]) -> list[Any]:
    if "prefixItems" in part:
        return [drawn(item, rng, defined) for item in part["prefixItems"]]
    low = part.get("minItems", 0)
    length = int(rng.integers(low, max(low, part.get("maxItems", _MOST)) + 1))
    return [drawn(part["items"], rng, defined) for _ in range(length)]


def _string(part: Mapping[str, Any], rng: np.random.Generator, _: Mapping[str, Any]) -> str:
    low = part.get("minLength", 0)
    length = int(rng.integers(low, max(low, part.get("maxLength", 12)) + 1))
    return "".join([_LETTERS[0], *rng.choice(list(_LETTERS), max(1, length) - 1)])


def _number(part: Mapping[str, Any], rng: np.random.Generator, _: Mapping[str, Any]) -> float:
    low, high = part.get("minimum", -1000.0), part.get("maximum", 1000.0)
    return float(rng.choice([low, high, rng.uniform(low, high)]))


def _integer(part: Mapping[str, Any], rng: np.random.Generator, _: Mapping[str, Any]) -> int:
    return int(rng.integers(part.get("minimum", -10), part.get("maximum", 10) + 1))


_DRAWN = {
    "object": _object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": lambda _part, rng, _defined: bool(rng.integers(2)),
    "null": lambda *_: None,
}
