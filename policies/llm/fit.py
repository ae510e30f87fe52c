"""A prompt that fits into the model's context: what is left out, in which order, and how much room a prompt takes.

Oldest speech goes first, then inputs that the question can spare, then all but the first paragraph of the rules, then general
words and the description of the sections. A question that does not fit with all teams, votes, results and deaths is put as short
as it gets if the estimate may be wrong. Otherwise the oldest of these lines go too, and only the newest four always stay.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from parlour.policies.llm import prompt
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.prompt import Templates

_LATIN: Final = 3.0
"""Characters of a token in Latin script, at least: byte-pair tokenizers reach 3.5 to 4.5 on English prose."""
_PER_MESSAGE: Final = 8
"""Tokens around a message, at most."""
_NEWEST: Final = 4
"""Lines of the record that no lack of room takes."""


class Opening(NamedTuple):
    """The two messages of a question, with what was left out of them."""

    system: str
    user: str
    question: Ask[Any]
    """What the messages put, without what was left out."""
    cut: int = 0
    """Lines of the record, inputs and paragraphs that were left out."""

    def tokens(self) -> int:
        """An estimate that errs to the long side."""
        return estimated_tokens(self.system) + estimated_tokens(self.user)


def estimated_tokens(text: str) -> int:
    """Tokens of a message: a third of its ASCII characters and each of the others, rounded up.

    >>> estimated_tokens("player_0 votes yes")
    14
    """
    others = len(text) - len(text.encode("ascii", "ignore"))
    return _PER_MESSAGE + others + math.ceil((len(text) - others) / _LATIN)


def opening(question: Ask[Any], rules: str, templates: Templates) -> Opening:
    """The whole prompt of a question, whatever its length."""
    return Opening(question.system(rules, templates), question.prompt(templates), question)


def fitted(question: Ask[Any], rules: str, templates: Templates, room: int) -> Opening | None:
    """The prompt of a question, cut by rule to at most `room` tokens by estimate; None if that cannot be done."""
    whole = opening(question, rules, templates)
    if whole.tokens() <= room:
        return whole
    speech = _speech(question)
    brief = rules.split("\n\n", 1)[0]

    def put(spared: int, form: str, general: Templates, gone: int) -> Opening:
        kept = _without(question, speech[:gone], question.spare[:spared])
        return _cut(kept, form, general, gone + spared + (form != rules))

    every = len(question.spare)
    forms = [(spared, rules, templates) for spared in range(every + 1)]
    for form in [*forms, (every, brief, templates), (every, brief, replace(templates, brief=True))]:
        if put(*form, len(speech)).tokens() <= room:
            return _most(partial(put, *form), len(speech), room)
    return None


def _most(opening_without: Callable[[int], Opening], most: int, room: int) -> Opening:
    """The prompt without as few lines as it takes to fit, found by halving; without `most` it is known to fit."""
    fewest, enough = 0, most
    while fewest < enough:
        tried = (fewest + enough) // 2
        if opening_without(tried).tokens() <= room:
            enough = tried
        else:
            fewest = tried + 1
    return opening_without(enough)


def newest(question: Ask[Any], rules: str, templates: Templates, room: int) -> Opening | None:
    """The shortest prompt, without as many of the oldest facts of the record as it takes to fit; None if that cannot be done."""
    lines = [line for line in _record(question) if line not in set(_speech(question))]

    def without(gone: int) -> Opening:
        kept = _without(question, [*lines[:gone]], ())
        put = shortest(kept, rules, templates)
        return _cut(put.question, rules.split("\n\n", 1)[0], replace(templates, brief=True), put.cut + gone)

    most = max(0, len(lines) - _NEWEST)
    return _most(without, most, room) if without(most).tokens() <= room else None


def shortest(question: Ask[Any], rules: str, templates: Templates) -> Opening:
    """The prompt of a question with all left out that may be, whatever its length."""
    speech = _speech(question)
    brief = rules.split("\n\n", 1)[0]
    templates = replace(templates, brief=True)
    return _cut(_without(question, speech, question.spare), brief, templates, len(speech) + len(question.spare))


class _Line(NamedTuple):
    """An entry of the record that may go."""

    field: str
    number: int


def _speech(question: Ask[Any]) -> list[_Line]:
    """The entries of the record that are words of players only, the oldest first."""
    return [
        line for line in _record(question) if question.is_speech(_entries(getattr(question, line.field))[line.number])
    ]


def _record(question: Ask[Any]) -> list[_Line]:
    """All entries of the record, the oldest first."""
    return [
        _Line(name, number)
        for name in (*question.record, *question.recent)
        for number in range(len(_entries(getattr(question, name))))
    ]


def _entries(value: Any) -> list[Any]:
    if isinstance(value, str):
        return value.split("\n")
    return list(value) if isinstance(value, list) else []


def _without(question: Ask[Any], lines: list[_Line], spared: tuple[str, ...]) -> Ask[Any]:
    """The same question with entries and inputs left out."""
    gone = {name: {line.number for line in lines if line.field == name} for name in {line.field for line in lines}}
    question = question.model_copy(update=dict(question.renumbered(gone)))
    changed: dict[str, Any] = {}
    for name, numbers in gone.items():
        value = getattr(question, name)
        kept = [entry for number, entry in enumerate(_entries(value)) if number not in numbers]
        changed[name] = "\n".join(kept) if isinstance(value, str) else kept
    for name in spared:
        value = getattr(question, name)
        changed[name] = type(value)() if isinstance(value, str | list | dict | tuple) else None
    return question.model_copy(update=changed)


def _cut(question: Ask[Any], rules: str, templates: Templates, cut: int) -> Opening:
    remark = prompt.fill(prompt.layout(question.language)["cut"], {"number": cut})
    return Opening(question.system(rules, templates), question.prompt(templates, remark), question, cut)
