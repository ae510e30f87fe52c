"""The typed question: what an agent asks a model, as data, and how it is answered without any model.

An `Ask` is a pydantic model. Its fields are the inputs, plain values that fit into JSON; its template is a file; its
answer is a pydantic model too; and its heuristic answers it from the inputs alone. So the same question can be put to
a language model, to heuristics, or, over HTTP, to the heuristics of another process (`server`).

A prompt is the template, then one block of JSON with the kind of the question and its inputs, then the schema of the
answer. Whatever players said stands inside JSON strings, where a line break is written as two characters: no utterance
can end the block or begin another one.
"""

from __future__ import annotations

import json
import re
import sys
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from string import Formatter
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np
from parlour.envs.core import ParlourError
from pydantic import BaseModel, ConfigDict, ValidationError

SYSTEM: Final = "system.md"
_BLOCK: Final = re.compile(r"^```json\n(\{\"ask\": .*\})\n```$", re.MULTILINE)
_LONGEST: Final = 300
"""Characters of a refused reply that an error shows."""


class BadReply(ParlourError):  # noqa: N818 - named for what it is
    """A reply that is no answer to the question; the message says why in one line."""


class Answer(BaseModel):
    """What a question is answered with. Every field is required: an answer is whole or none."""

    model_config = ConfigDict(frozen=True, extra="forbid")


A = TypeVar("A", bound=Answer)


class Ask(BaseModel, Generic[A]):
    """A question; its fields are the inputs.

    A subclass names its answer (`class Doubt(Ask[Verdict])`) and its `kind`, and lies in a package with a folder
    `prompts` that holds the template: the part of the kind behind the dot, with `.md`. In the template, `{field}` stands
    for an input of one line that no player wrote; the other inputs are in the block.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str] = ""
    """Its name everywhere, such as `"avalon_agent.analyse"`; unique."""
    max_tokens: ClassVar[int] = 800
    """How long a reply may become."""
    temperature: ClassVar[float | None] = None
    """Of sampling, where the question asks for one of its own; None for the model's."""

    @abstractmethod
    def heuristic(self, rng: np.random.Generator) -> A:
        """The answer that needs no model: a function of the inputs and `rng`."""

    def check(self, answer: A) -> None:
        """Refuse an answer that fits the schema but not the inputs. Raises `ValueError` with the reason."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        if not cls.kind or "[" in cls.__name__:
            return
        other = ASKS.get(cls.kind)
        if other is not None and other.__qualname__ != cls.__qualname__:
            raise TypeError(f"two questions are called {cls.kind!r}")
        ASKS.setdefault(cls.kind, cls)  # a module may be imported under two names, as doctests do

    @classmethod
    def answer_type(cls) -> type[A]:
        """The class of its answer."""
        for base in cls.__mro__:
            for found in getattr(base, "__pydantic_generic_metadata__", {}).get("args", ()):
                if isinstance(found, type) and issubclass(found, Answer):
                    return found  # type: ignore[return-value]
        raise TypeError(f"{cls.__name__} names no answer")

    @classmethod
    def schema_of_answer(cls) -> dict[str, Any]:
        """The JSON schema of its answer."""
        return _schema(cls.answer_type())

    def inputs(self) -> dict[str, Any]:
        """The inputs as plain values."""
        return self.model_dump(mode="json")

    def prompt(self) -> str:
        """The question in words: template, block, schema."""
        block = json.dumps({"ask": self.kind, "inputs": self.inputs()}, ensure_ascii=False)
        schema = json.dumps(self.schema_of_answer(), ensure_ascii=False)
        return (
            f"{self._filled()}\n\nThe inputs:\n```json\n{block}\n```\n\n"
            f"Answer with one JSON object that fits this schema, and with nothing else:\n{schema}\n"
        )

    def read(self, reply: str) -> A:
        """The answer in the text of a reply: one JSON object, whatever stands around it.

        Raises:
            BadReply: There is no JSON object, or it does not fit the schema or the inputs.
        """
        refusal = BadReply(f"the reply {reply[:_LONGEST]!r} holds no whole JSON object")
        for found in _objects(reply):
            try:
                return self._answer(found)
            except BadReply as error:
                refusal = error
        raise refusal

    def _answer(self, found: dict[str, Any]) -> A:
        try:
            json.dumps(found, ensure_ascii=False).encode()
            answer = self.answer_type().model_validate(found)
            self.check(answer)
        except ValidationError as error:
            raise BadReply(f"the JSON object does not fit the schema: {_reasons(error)}") from None
        except UnicodeEncodeError:
            raise BadReply("the JSON object holds half a character; accepted: whole ones") from None
        except ValueError as error:
            raise BadReply(f"the answer does not fit the question: {_short(str(error), _LONGEST)}") from None
        return answer

    def _filled(self) -> str:
        package = sys.modules[type(self).__module__].__package__ or ""
        template = _template(package, self.kind.rpartition(".")[2])
        return fill(template, {name: getattr(self, name) for name in type(self).model_fields}).strip()


ASKS: Final[dict[str, type[Ask[Any]]]] = {}
"""Kind -> question; a class enters when its module is imported."""


def read_back(prompt: str) -> Ask[Any] | None:
    """The question that a prompt puts; None if it holds no block.

    Raises:
        ParlourError: The block names an unknown question, or its inputs do not fit.
    """
    found = _BLOCK.search(prompt)
    if found is None:
        return None
    try:
        block = json.loads(found[1])
    except (ValueError, RecursionError) as error:
        raise ParlourError(f"the block of a prompt is no JSON ({error}); accepted: what `Ask.prompt` writes") from None
    name = block["ask"]
    if name not in list(ASKS):  # a list, as the name may be anything
        raise ParlourError(f"question {name!r} is not accepted; accepted: {', '.join(sorted(ASKS))}")
    try:
        return ASKS[name].model_validate(block.get("inputs"))
    except ValidationError as error:
        raise ParlourError(f"the inputs of {name!r} do not fit: {_reasons(error)}") from None


def system_prompt() -> str:
    """What every question begins with."""
    return _template(__package__ or "", SYSTEM.removesuffix(".md")).strip()


def fill(template: str, values: Mapping[str, Any]) -> str:
    r"""Put values of one line into the `{places}` of a template.

    >>> fill("You are {player}.", {"player": "player_2"})
    'You are player_2.'

    Raises:
        ParlourError: A place has no value, or a value has more than one line.
    """
    parts = []
    for literal, place, form, conversion in Formatter().parse(template):
        parts.append(literal)
        if place is None:
            continue
        if place not in values or form or conversion:
            raise ParlourError(f"place {{{place}}} of a template has no value; accepted: {', '.join(values)}")
        value = str(values[place])
        if value != "".join(value.splitlines()):
            raise ParlourError(f"place {{{place}}} of a template takes one line, not {value!r}")
        parts.append(value)
    return "".join(parts)


@cache
def _template(package: str, stem: str) -> str:
    return resources.files(package).joinpath("prompts", f"{stem}.md").read_text(encoding="utf-8")


@cache
def _schema(answer: type[Answer]) -> dict[str, Any]:
    schema = answer.model_json_schema()
    schema.pop("description", None)
    return schema


def _objects(reply: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, in order; not those within others."""
    decoder = json.JSONDecoder()
    start = reply.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(reply, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            yield found
        start = reply.find("{", end)


def _reasons(error: ValidationError) -> str:
    told = [f"{_short('.'.join(map(str, one['loc']))) or 'the object'}: {one['msg']}" for one in error.errors()[:3]]
    return "; ".join(told)


def _short(words: str, longest: int = 60) -> str:
    """Words from outside, for a message of one line."""
    return " ".join(words.split())[:longest]
