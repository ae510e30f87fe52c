"""The body of a streamed answer, put together from its events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_FIELDS: Final = ("data:", "event:", "id:", "retry:", ":")
"""How lines of an event stream begin."""
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
"""The only ends of lines. A text of JSON may hold U+2028, U+2029 and U+0085; `str.splitlines` would split it there."""
_MOST_ENTRIES: Final = 1000
"""Most entries of a list in a message."""
_DONE: Final = "[DONE]"
"""What the last event says instead of JSON."""


def is_streamed(text: str) -> bool:
    """Whether a body is an event stream."""
    return text.lstrip().startswith(_FIELDS)


def put_together(text: str) -> dict[str, Any]:
    """The body that the events stand for.

    Raises:
        ValueError: An event is no JSON object, or the stream broke off: it has neither `[DONE]` nor a reason why each text ended.
    """
    data = [line[5:].strip() for line in _LINE_END.split(text) if line.startswith("data:")]
    events = [json.loads(event) for event in data if event and event != _DONE]
    if not all(isinstance(event, Mapping) for event in events):
        raise ValueError("an event is no object")
    body: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    for event in events:
        body |= {name: value for name, value in event.items() if value}
        for piece in event.get("choices") or ():
            choice = choices.setdefault(int(piece.get("index") or 0), {"message": {}})
            choice["finish_reason"] = piece.get("finish_reason") or choice.get("finish_reason")
            _append(choice["message"], piece.get("delta") or {})
    ended = _DONE in data or all(choice["finish_reason"] for choice in choices.values())
    if "error" not in body and not (choices and ended):
        raise ValueError("the stream has no end")
    return body | {"choices": [choices[index] for index in sorted(choices)]}


def _append(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add a piece to what was streamed of a message: texts go on, lists go on by the index of their entries."""
    for name, value in delta.items():
        if isinstance(value, str) and name not in ("role", "id", "type"):
            message[name] = (message.get(name) or "") + value
        elif isinstance(value, Mapping):
            _append(message.setdefault(name, {}), value)
        elif isinstance(value, list):
            entries = message.setdefault(name, [])
            for place, entry in enumerate(value):
                at = entry.get("index", place)
                if at > _MOST_ENTRIES:
                    raise ValueError("an entry of a list lies too far away")
                entries += [{} for _ in range(at + 1 - len(entries))]
                _append(entries[at], entry)
