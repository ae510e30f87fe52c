"""The typed question: what an agent asks a model, as data, and how it is answered without any model.

An `Ask` is a pydantic model. Its fields are the inputs, plain values that fit into JSON; its template is a file; its
answer is a pydantic model too; and its heuristic answers it from the inputs alone. So the same question can be put to
a language model, to heuristics, or, over HTTP, to the heuristics of another process (`server`), which gets the inputs beside
the prompt. From a prompt in a transcript they can be read back.
"""

from __future__ import annotations

import json
import re
import sys
import types
import typing
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Generic, TypeVar

import numpy as np
from parlour.envs.common.json_values import check_size
from parlour.envs.core import ParlourError
from parlour.policies.llm import prompt, reading
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.reading import BadReply, Choices, answer_in
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

ENGLISH: Final = "en"
_LONGEST: Final = 300
"""Characters of a refused reply that an error shows."""
_MOST_INPUTS: Final = 16_384
"""Keys and items in the inputs of a question."""
_EMPTY: Final[Mapping[Any, Any]] = {list: [], dict: {}, str: "", tuple: []}
"""Type of an input -> its empty value, which has no section."""

__all__ = [
    "ASKS",
    "Answer",
    "Ask",
    "BadReply",
    "Choices",
    "Fraction",
    "Rounded",
    "SaidWords",
    "from_inputs",
    "read_back",
]


def _not_blank(words: str) -> str:
    if not words.strip():
        raise ValueError("no words; accepted: at least one")
    return words


SaidWords = Annotated[str, AfterValidator(_not_blank)]
"""Words of an answer, which are not blank."""
_ROUNDED: Final = AfterValidator(lambda number: round(number, 3))
Rounded = Annotated[float, _ROUNDED]
"""A number of a question or an answer: rounded to the three decimals that a prompt shows."""
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), _ROUNDED]
"""The same, from 0 to 1."""


class Answer(BaseModel):
    """What a question is answered with. Every field is required: an answer is whole or none.

    Fields are written in their order, so reasons come before what follows from them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


A = TypeVar("A", bound=Answer)


class Ask(BaseModel, Generic[A]):
    """A question; its fields are the inputs.

    A subclass names its answer (`class Doubt(Ask[Verdict])`) and its `kind`. Its template is the class's `template`, or
    a file `prompts/LANGUAGE/NAME.md` in its package or beside its module, with the part of the kind behind the dot for
    NAME. The class variables below may also be given as a keyword of the class
    (`class Doubt(Ask[Verdict], kind="table.doubt")`). In the template, `{field}` stands for an input of one line that no player wrote; every input has a section.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str] = ""
    """Its name everywhere, such as `"avalon_agent.analyse"`; unique."""
    template: ClassVar[str] = ""
    """The words of the question, where they are not in a file."""
    fixed: ClassVar[tuple[str, ...]] = ()
    """Inputs that stay the same for a seat throughout a game; their sections come first."""
    record: ClassVar[tuple[str, ...]] = ()
    """Inputs that grow at their end, or change seldom, from the most to the least stable; their sections come next."""
    recent: ClassVar[tuple[str, ...]] = ()
    """Inputs that hold the newest part of a record and lose its oldest: they follow the current question, and are shortened like
    the record."""
    spare: ClassVar[tuple[str, ...]] = ()
    """Inputs that may be left out, in this order, where a prompt would be too long."""
    words_first: ClassVar[bool] = False
    """Whether its words and the shape of its answer come before all sections. Set it if they are longer than the common beginning
    of a seat's questions: a server then reuses its prompt cache across seats. The shape leaves to the sections what is offered
    then."""
    general: ClassVar[str] = prompt.GAME
    """Name of the general words before the prompt: `system` for games, `plain` for other questions."""
    max_tokens: ClassVar[int] = 800
    """Room for a reply; a setting may give more."""
    temperature: ClassVar[float | None] = None
    """Sampling temperature of this question; None for the model's."""
    logprobs: ClassVar[bool] = False
    """Whether the log-probabilities of the reply's tokens are asked for."""
    decides: ClassVar[bool] = False
    """Whether its answer is the player's decision although another question follows in the same turn; the last one always is."""

    language: str = ENGLISH
    """Language of the whole prompt."""

    @abstractmethod
    def heuristic(self, rng: np.random.Generator) -> A:
        """The answer that needs no model: a function of the inputs and `rng`."""

    def fallback(self, unclear: str, rng: np.random.Generator) -> A | None:
        """The answer by the rule `unclear` of its player where no reply of a model can be used; None: the heuristic's."""
        return None

    def choices(self) -> Choices:
        """What is offered: place of a field in the answer -> the values it may have, each with its sentence, if any."""
        return {}

    def check(self, answer: A) -> None:
        """Refuse an answer that fits the schema but not the inputs. Raises `ValueError` with the reason."""

    @classmethod
    def is_speech(cls, entry: Any) -> bool:
        """Whether an entry of the record holds words of a player only, and is left out first where room is short.

        Teams, votes, results and deaths go last.
        """
        return False

    def renumbered(self, gone: Mapping[str, Collection[int]]) -> Mapping[str, Any]:
        """Inputs that count the entries of the record, by name, as they are once entries are left out; none by default.

        Args:
            gone: Name of an input -> numbers of its entries that are left out.
        """
        return {}

    def __init_subclass__(cls, **variables: Any) -> None:
        for name, value in variables.items():
            setattr(cls, name, value)
        super().__init_subclass__()

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
            for argument in getattr(base, "__pydantic_generic_metadata__", {}).get("args", ()):
                if isinstance(argument, type) and issubclass(argument, Answer):
                    return argument  # type: ignore[return-value]
        raise TypeError(f"{cls.__name__} names no answer")

    def schema_of_answer(self) -> dict[str, Any]:
        """The JSON schema of its answer, each choice held to what is offered."""
        return reading.with_choices(_schema(self.answer_type()), self.choices())

    def inputs(self) -> dict[str, Any]:
        """The inputs as plain values."""
        return self.model_dump(mode="json", exclude={"language"})

    def prompt(self, templates: Templates = Templates(), remark: str = "") -> str:  # noqa: B008 - frozen
        """The user message: sections from the most stable to the newest, with the template before what is asked now.

        Args:
            templates: Where its words come from.
            remark: A line about the prompt itself, such as what was left out.
        """
        inputs = self.inputs()
        first = [*self.fixed, *self.record]
        later = [name for name in inputs if name not in first]
        tag = "" if self.language == ENGLISH else f" ({self.language})"
        heading, words, filled = f"# {self.kind}{tag}\n", f"{self._filled(templates)}\n", remark and f"{remark}\n"
        types = {name: field.annotation for name, field in type(self).model_fields.items()}
        stable, newest = (
            "".join(prompt.section(name, inputs[name], optional=_allows_none(types[name])) for name in names)
            for names in (first, later)
        )
        shape = _schema(self.answer_type()) if self.words_first else self.schema_of_answer()
        answer = f"{prompt.layout(self.language)['answer']}\n{prompt.shape(shape, self.language)}\n"
        parts = [stable, heading, filled, words, newest, answer]
        if self.words_first:
            parts = [heading, words, answer, stable, filled, newest]
        return "\n".join(filter(None, parts))

    def system(self, rules: str = "", templates: Templates = Templates()) -> str:  # noqa: B008 - frozen
        """The system message: general words, then the rules of the table."""
        return "\n\n".join(part for part in (templates.system(self.language, self.general), rules.strip()) if part)

    def read(self, reply: str, *, cut: bool = False) -> A:
        """The answer in the text of a reply: its last JSON object, whatever stands around it.

        Args:
            reply: The text.
            cut: Whether it used up its room.

        Raises:
            BadReply: There is no JSON object, or it does not fit the schema or the inputs.
        """
        fields, words, _ = answer_in(reply, cut=cut)
        if fields is None:
            fields = self._bare_choice(words)
        if fields is None:
            raise BadReply(f"the reply {_short(reply, _LONGEST)!r} holds no whole JSON object", "no_json")
        return self._answer(self.settled(fields))

    def settled(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The object of a reply with each choice as it was offered. Raises `BadReply` for an answer that does not fit."""
        return reading.settled(fields, self.choices())

    def _bare_choice(self, words: str) -> dict[str, Any] | None:
        """The answer of a reply that is nothing but one of the options; None if it is not."""
        choices = self.choices()
        texts = {name: "" for name, field in self.answer_type().model_fields.items() if field.annotation is str}
        if len(choices) != 1 or {*texts, *choices} != set(self.answer_type().model_fields):
            return None
        ((place, accepted),) = choices.items()
        try:
            return {**texts, place: reading.meant(re.sub(r"^```\w*|```$", "", words).strip(), accepted)}
        except LookupError:
            return None

    def _answer(self, fields: dict[str, Any]) -> A:
        try:
            json.dumps(fields, ensure_ascii=False).encode()
            answer = self.answer_type().model_validate(fields)
            self.check(answer)
        except ValidationError as error:
            raise BadReply(f"the JSON object does not fit the schema: {_reasons(error)}") from None
        except UnicodeEncodeError:
            raise BadReply("the JSON object holds half a character; accepted: whole ones") from None
        except ValueError as error:
            raise BadReply(f"the answer does not fit the question: {_short(str(error), _LONGEST)}", "check") from None
        return answer

    def _filled(self, templates: Templates) -> str:
        words = prompt.fill(self._template(templates), {name: getattr(self, name) for name in type(self).model_fields})
        return prompt.without_descriptions(words) if templates.brief else words

    def _template(self, templates: Templates) -> str:
        own = templates.own(self.kind, self.language)
        if own is not None:
            return own
        if self.template:
            return self.template.strip()
        module = sys.modules[type(self).__module__]
        if module.__package__:
            return templates.of(self.kind, self.language, module.__package__)
        name = self.kind.rpartition(".")[2]
        template = prompt.beside(getattr(module, "__file__", None), self.language, name)
        if template is None:
            raise ParlourError(
                f"question {self.kind!r} has no prompt; accepted: a string `template` in its class, or a file "
                f"prompts/{self.language}/{name}.md beside its module"
            )
        return template


ASKS: Final[dict[str, type[Ask[Any]]]] = {}
"""Kind -> question; a class enters when its module is imported."""


def from_inputs(kind: str, inputs: Mapping[str, Any] | Callable[[type[Ask[Any]]], Mapping[str, Any]]) -> Ask[Any]:
    """The question of a kind with these inputs, or with those that a function finds for its class.

    Raises:
        ParlourError: It is an unknown question, or its inputs do not fit.
    """
    if kind not in ASKS:
        raise ParlourError(f"question {kind[:60]!r} is not accepted; accepted: {', '.join(sorted(ASKS))}")
    try:
        given = inputs(ASKS[kind]) if callable(inputs) else inputs
        check_size(given, keys=_MOST_INPUTS, items=_MOST_INPUTS)
        return ASKS[kind].model_validate(given)
    except ValidationError as error:
        raise ParlourError(f"the inputs of {kind!r} do not fit: {_reasons(error)}") from None
    except (ValueError, RecursionError) as error:
        raise ParlourError(f"the inputs of {kind!r} cannot be read: {_short(str(error))}") from None


def read_back(words: str) -> Ask[Any] | None:
    """The question that a user message puts; None if it puts none. Raises `ParlourError` as `from_inputs`."""
    heading = prompt.QUESTION.search(words)
    if heading is None:
        return None
    language = heading["language"] or ENGLISH
    return from_inputs(heading["kind"], lambda ask: {"language": language, **_inputs_in(words, ask)})


def _inputs_in(words: str, ask: type[Ask[Any]]) -> dict[str, Any]:
    """The inputs of a prompt, the empty ones included."""
    sections = prompt.sections_in(words)
    inputs = {}
    for name, field in ask.model_fields.items():
        if name in sections:
            inputs[name] = prompt.value_of(sections[name], options=_origin(field.annotation) is dict)
        elif name != "language":
            inputs[name] = None if _allows_none(field.annotation) else _EMPTY.get(_origin(field.annotation))
    return inputs


def _origin(annotation: Any) -> Any:
    return typing.get_origin(annotation) or annotation


def _allows_none(annotation: Any) -> bool:
    return _origin(annotation) in (typing.Union, types.UnionType) and type(None) in typing.get_args(annotation)


@cache
def _schema(answer: type[Answer]) -> dict[str, Any]:
    schema = answer.model_json_schema()
    schema.pop("description", None)
    return schema


def _reasons(error: ValidationError) -> str:
    faults = [
        f"{_short('.'.join(map(str, fault['loc']))) or 'the object'}: {fault['msg']}" for fault in error.errors()[:3]
    ]
    return "; ".join(faults)


def _short(words: str, longest: int = 60) -> str:
    """Words from outside, for a message of one line."""
    return " ".join(words.split())[:longest]
