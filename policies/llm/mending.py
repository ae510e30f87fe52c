"""Replies that are not quite what was asked for, although only one answer can be meant.

Some models write the tokens of their chat template as words (`<|im_end|>`), and then make up or repeat turns of other speakers. Only
their own turn counts. Some write Python instead of JSON: single quotes, a comma after the last entry, `True`; or line breaks within a
text. Python's own parser reads that, and nothing is computed.

A reply that is cut, or has two meanings, stays a fault. Libraries that repair JSON complete it (`{"choice": "vote:1` may be vote 1 or 12),
so none is used.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

from parlour.policies.llm.reading import json_objects, set_aside

_TURN: Final = re.compile(
    r"(?:<\|start\|>\w*)?<\|channel\|>(?P<channel>\w+)[^<]{0,40}<\|message\|>"
    r"|<\|im_start\|>\s*(?P<chatml>\w*)\s?|<\|start_header_id\|>(?P<llama>\w*)<\|end_header_id\|>"
    r"|<start_of_turn>(?P<gemma>\w*)\s?|<\|(?P<phi>assistant|user|system)\|>"
    r"|^(?P<word>user|human|assistant|ai):(?=\s)|^# (?P<heading>\w+(?:\.\w+)+(?: \(\w+\))?)$"
    r"|<\|(?P<end>im_end|eot_id|eom_id|end_of_text|endoftext|end|return)\|>|<end_of_turn>|<eos>|</?s>|\[/?INST\]",
    re.IGNORECASE | re.MULTILINE,
)
"""The beginning of a turn, with whose it is; or the end of one."""
_OWN: Final = ("assistant", "ai", "model", "final")
_NAMES: Final = {"true": True, "false": False, "null": None}
_ESCAPES: Final = re.compile(r"""\\[^"'\\/nrtbfu]""")
_ATTEMPTS: Final = 40
"""How often a text is parsed at most in search of its objects."""
_LONGEST: Final = 20_000
"""Characters of a text that is searched."""


def answer_in(reply: str) -> tuple[dict[str, Any] | None, str, bool]:
    """The object that a reply means, the words of the reply without thoughts, and whether it had to be mended.

    >>> answer_in("{'choice': 'vote:5',}<|im_end|>")[0]
    {'choice': 'vote:5'}
    """
    said = set_aside(reply)[1]
    words = own_turn(said)
    last = _last(json_objects(words))
    if last is not None:
        return last, words, words != said
    last = _last(json_objects(words, strict=False)) or _last(_python_objects(words))
    return last, words, last is not None or words != said


def own_turn(reply: str) -> str:
    r"""A model's own turn: the first that holds an object; the whole reply if the words of a template are not outside objects.

    >>> own_turn('{"choice": 1}<|im_end|>\\n<|im_start|>user\\nAnd now?<|im_end|>\\n<|im_start|>assistant\\n{"choice": 2}')
    '{"choice": 1}'
    """
    inside = [(start, end) for _, start, end in json_objects(reply)]
    marks = [mark for mark in _TURN.finditer(reply) if not any(start < mark.start() < end for start, end in inside)]
    if not marks:
        return reply
    turns = [reply[: marks[0].start()]]
    for mark, following in pairwise([*marks, None]):
        assert mark is not None
        own = mark.lastgroup is None or mark.lastgroup == "end" or (mark[mark.lastgroup] or "assistant").lower() in _OWN
        if own:
            turns.append(reply[mark.end() : following.start() if following else len(reply)])
    turns = [turn.strip() for turn in turns if turn.strip()]
    with_object = (
        turn for turn in turns if _last(json_objects(turn)) is not None or _last(_python_objects(turn)) is not None
    )
    return next(with_object, turns[0] if turns else reply)


def _last(objects: Iterator[tuple[dict[str, Any], int, int]]) -> dict[str, Any] | None:
    return next((value for value, _, _ in deque(objects, maxlen=1)), None)


def _python_objects(words: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The whole objects as Python would write them, with their places."""
    if len(words) > _LONGEST:
        return
    attempts, start = _ATTEMPTS, words.find("{")
    while start >= 0 and attempts > 0:
        end = len(words)
        while attempts > 0 and (end := words.rfind("}", start, end)) > 0:
            attempts -= 1
            value = _python_object(words[start : end + 1])
            if value is not None:
                yield value, start, end + 1
                start = end
                break
        start = words.find("{", start + 1)


def _python_object(words: str) -> dict[str, Any] | None:
    if _ESCAPES.search(words):
        return None
    try:
        value = _plain(ast.parse(words, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, dict) else None


def _plain(node: ast.expr) -> Any:
    """The value that a display of constants stands for. Raises `ValueError` for anything that would have to be computed."""
    match node:
        case ast.Dict(keys=keys, values=values):
            return {_key(key): _plain(value) for key, value in zip(keys, values, strict=True)}
        case ast.List(elts=entries):
            return [_plain(entry) for entry in entries]
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    raise ValueError("not a plain value")


def _key(node: ast.expr | None) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError("not the name of a field")
