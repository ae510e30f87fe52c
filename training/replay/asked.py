"""What a line of a transcript holds of questions to a model: calls, whose prompts are cut into pieces that stand once.

A prompt grows at its end from question to question, so that its lines come again in the same order: a message is stored as runs
of pieces, (number of the first, how many), one after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from parlour.training.replay.model import AskedCall

_LONG: Final = 160
"""Characters of a line that is cut into parts."""
_PART: Final = re.compile(r".+?(?:\\n|[.:;!?\]}\"],? |\Z)|.+|\n", re.DOTALL)
"""Up to the end of a sentence, of a line within a text of JSON, or of a value."""
_MOST: Final = 200_000
"""Characters of one message that are kept; `[...]` stands for the rest."""


class Pieces:
    """The pieces of all prompts of a game, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """All of them, by number."""
        return tuple(self._numbers)

    def runs(self, text: str) -> tuple[int, ...]:
        """A text as runs of pieces: first piece, how many, first piece, how many ..."""
        runs: list[int] = []
        whole = text if len(text) <= _MOST else f"{text[:_MOST]} [...]"
        for piece in _pieces(whole):
            number = self._numbers.setdefault(piece, len(self._numbers))
            if runs and number == runs[-2] + runs[-1]:
                runs[-1] += 1
            else:
                runs += [number, 1]
        return tuple(runs)


def _pieces(text: str) -> Iterator[str]:
    r"""A text in pieces that may come again: lines, and parts of long ones, as of prompts that are JSON in one line.

    >>> list(_pieces("a\nb"))
    ['a\n', 'b']
    """
    for line in text.splitlines(keepends=True):
        yield from [line] if len(line) <= _LONG else _PART.findall(line)


def asked_calls(notes: Mapping[str, Any], pieces: Pieces) -> tuple[AskedCall, ...]:
    """The calls of a line; in a foreign file, entries with the form of a call."""
    calls = notes.get("calls")
    return tuple(_call(call, pieces) for call in calls if isinstance(call, Mapping)) if isinstance(calls, list) else ()


def _call(call: Mapping[str, Any], pieces: Pieces) -> AskedCall:
    usage = call.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    cost, answer = call.get("cost"), call.get("answer")
    known = type(cost) in (int, float)
    return AskedCall(
        ask=as_text(call.get("ask")),
        prompt=_prompt(call.get("prompt"), pieces),
        reply=as_text(call.get("reply")),
        thinking=as_text(call.get("thinking")),
        answer="" if answer is None else json.dumps(answer, ensure_ascii=False),
        fault=as_text(call.get("fault")),
        by=as_text(call.get("by")),
        reason=as_text(call.get("reason")),
        model=as_text(call.get("served")),
        read=_tokens(usage, "prompt"),
        cached=_tokens(usage, "cached"),
        written=_tokens(usage, "completion"),
        dollars=float(cost) if known and cost is not None else None,
        cut=_number(call, "cut"),
    )


def _prompt(messages: Any, pieces: Pieces) -> tuple[tuple[str, tuple[int, ...]], ...]:
    if not isinstance(messages, list):
        return ()
    mappings = [message for message in messages if isinstance(message, Mapping)]
    return tuple((as_text(message.get("role")), pieces.runs(as_text(message.get("content")))) for message in mappings)


def as_text(value: Any) -> str:
    """A text as it is, nothing for None, and JSON of any other value."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _tokens(usage: Mapping[str, Any], key: str) -> int | None:
    return None if key in usage and usage[key] is None else _number(usage, key)


def _number(values: Mapping[str, Any], key: str) -> int:
    value = values.get(key)
    return value if type(value) is int else 0
