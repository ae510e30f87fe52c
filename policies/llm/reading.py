"""How a reply is read: what the model thought aloud is set aside, the last whole JSON object counts (decisions 4.5), and a
choice that is unmistakable is taken for the option it means.

Models without a schema write `"VOTE: 5"`, the sentence of an option, `Player 3` or `3` for a player, and put objects into
fenced blocks. All of these are read where only one option can be meant.

Some models write the tokens of their chat template as words (`<|im_end|>`), and then make up or repeat turns of other speakers. Only
their own turn counts. Some write Python instead of JSON: single quotes, a comma after the last entry, `True`; or line breaks within a
text. Python's own parser reads that, and nothing is computed.

A reply that is cut, or has two meanings, stays a fault. Libraries that repair JSON complete it (`{"choice": "vote:1` may be vote 1 or 12),
so none is used.
"""

from __future__ import annotations

import ast
import json
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, Final, Literal

from parlour.envs.common.json_values import DEEPEST, check_depth
from parlour.envs.core import ParlourError
from parlour.policies.llm.thoughts import parts_of

Fault = Literal["no_json", "schema", "choice", "check"]
"""No whole object; fields or values of another kind; a choice that was not offered; an answer that does not fit."""

Choices = Mapping[str, Mapping[Any, str]]
"""Place of a field in the answer, such as `"choice"` or `"opinions.player"` -> accepted values with their sentences."""

MAX_LENGTH: Final = "maxLength"
"""The bound of a text in a schema (JSON Schema 2020-12, 6.3.1)."""
LENGTH: Final = "length"
"""How servers call the end of a reply that used up its room."""
_IGNORED: Final = re.compile(r"[\s\"'`*“”‘’«»「」]+|[.。!！]+$")
_PLAYER: Final = re.compile(r"(?:player|seat|玩家)?[\s_#]*(\d{1,4})\s*号?(?:玩家)?", re.IGNORECASE)
_IN_VAIN: Final = 20
"""How often a text is read again at most, in characters, in search of its objects."""
_STEPS: Final = 20
_LONGEST_CHOICE: Final = 2000
"""Characters of what may mean an option."""
_SHOWN: Final = 200
"""Characters of a refused value, or of the accepted ones, that an error shows."""


class BadReply(ParlourError):  # noqa: N818 - named for what it is
    """A reply that is no answer to the question; the message says why in one line."""

    def __init__(self, message: str, fault: Fault = "schema", place: str = "") -> None:
        super().__init__(message)
        self.fault, self.place = fault, place


def set_aside(reply: str, *, cut: bool = False) -> tuple[str, str]:
    """What was thought aloud, and the rest (`thoughts`); `cut`: whether the reply used up its room.

    >>> set_aside('<think>{"choice": "vote:3"}</think>{"choice": "vote:5"}')
    ('{"choice": "vote:3"}', '{"choice": "vote:5"}')
    """
    thought, said, _ = parts_of(reply, _object_spans, cut=cut)
    return thought, said


def _object_spans(words: str) -> list[tuple[int, int]]:
    """Where the objects of a text are, as JSON or else as Python writes them."""
    objects = list(json_objects(words, strict=False)) or list(_python_objects(words))
    return [(start, end) for _, start, end in objects]


def json_objects(words: str, *, strict: bool = True) -> Iterator[tuple[dict[str, Any], int, int]]:
    """The whole objects that lie in no other one, with their places in a text.

    The search ends once it has read many times the length of the text without result, as of brackets that nobody closes.

    Args:
        words: The text.
        strict: Whether line breaks within texts are a fault.
    """
    decoder, patience = json.JSONDecoder(strict=strict), _IN_VAIN * (len(words) + 1000)
    start = words.find("{")
    while start >= 0 and patience > 0:
        try:
            value, end = decoder.raw_decode(words, start)
        except json.JSONDecodeError as error:
            end, patience = start + 1, patience - (error.pos - start)
        except (ValueError, RecursionError):  # a number of thousands of digits; brackets in brackets
            end, patience = start + 1, patience - 1000 * _IN_VAIN
        else:
            if words.count("{", start, end) + words.count("[", start, end) <= DEEPEST or _shallow(value):
                yield value, start, end
        start = words.find("{", end)


def _shallow(value: Any) -> bool:
    try:
        check_depth(value)
    except ValueError:
        return False
    return True


def meant(value: Any, accepted: Mapping[Any, str]) -> Any:
    """The accepted value that `value` can alone mean.

    >>> meant("VOTE: 5", {"vote:5": "I approve.", "vote:4": "I reject."})
    'vote:5'
    >>> meant("Player 3", {2: "", 3: ""})
    3

    Raises:
        LookupError: It means none of them, or more than one.
    """
    if any(value == choice and type(value) is type(choice) for choice in accepted):
        return value
    words = _bare(value)
    fitting = {choice for choice, sentence in accepted.items() if words and words in _spellings(choice, sentence)}
    number = _PLAYER.fullmatch(str(value).strip(" \"'`.")) if isinstance(value, str | int) else None
    if not fitting and number:
        fitting = {choice for choice in accepted if choice in (int(number[1]), number[1], f"player_{int(number[1])}")}
    if len(fitting) != 1:
        raise LookupError(value)
    return fitting.pop()


def _spellings(choice: Any, sentence: str) -> tuple[str, ...]:
    """How an option may be written: its code, its sentence, or the line that offers it."""
    code = _bare(choice)
    said = _bare(sentence)
    return (code, said, f"{code}={said}", f"{code}:{said}") if said else (code,)


def _bare(value: Any) -> str:
    if not isinstance(value, str | int) or len(str(value)) > _LONGEST_CHOICE:
        return ""
    return _IGNORED.sub("", str(value).casefold()).strip(".,;。，；")


def settled(fields: dict[str, Any], choices: Choices) -> dict[str, Any]:
    """An object with each choice as it was offered. Raises `BadReply` for a truncated reply."""
    settled_fields = deepcopy(fields)
    for place, accepted in choices.items():
        if accepted:
            _settle(settled_fields, place.split("."), accepted, place)
    return settled_fields


def _settle(part: Any, steps: Sequence[str], accepted: Mapping[Any, str], place: str) -> None:
    for entry in part if isinstance(part, list) else [part]:
        if not isinstance(entry, dict) or steps[0] not in entry:
            continue  # the schema will say what is missing
        if len(steps) > 1:
            _settle(entry[steps[0]], steps[1:], accepted, place)
        elif isinstance(entry[steps[0]], list):
            entry[steps[0]] = [_chosen(value, accepted, place) for value in entry[steps[0]]]
        elif entry[steps[0]] is not None:
            entry[steps[0]] = _chosen(entry[steps[0]], accepted, place)


def _chosen(value: Any, accepted: Mapping[Any, str], place: str) -> Any:
    try:
        return meant(value, accepted)
    except LookupError:
        offered = ", ".join(map(str, accepted))
        raise BadReply(
            f"{place} {str(value)[:_SHOWN]!r} is not accepted; accepted: {offered[:_SHOWN]}", "choice", place
        ) from None


def with_choices(schema: Mapping[str, Any], choices: Choices) -> dict[str, Any]:
    """A schema in which each choice is held to what is offered."""
    narrowed: dict[str, Any] = deepcopy(dict(schema))
    for place, accepted in choices.items():
        if accepted:
            part = _part(narrowed, place)
            (part["items"] if part.get("type") == "array" else part)["enum"] = list(accepted)
    return narrowed


def with_length(schema: Mapping[str, Any], place: str, fewest: int, most: int) -> dict[str, Any]:
    """A schema in which the list at a place has at least and at most so many entries."""
    narrowed: dict[str, Any] = deepcopy(dict(schema))
    _part(narrowed, place).update(minItems=fewest, maxItems=most)
    return narrowed


def with_keys(schema: Mapping[str, Any], place: str, keys: Collection[str]) -> dict[str, Any]:
    """A schema in which the object at a place, whose keys are free, has these and no others."""
    narrowed: dict[str, Any] = deepcopy(dict(schema))
    part = _part(narrowed, place)
    each = part["additionalProperties"]
    part.update(properties={key: deepcopy(each) for key in keys}, required=list(keys), additionalProperties=False)
    return narrowed


def in_steps(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in which each fraction between bounds is one of 21, as of 0, 0.05, ..., 1.

    Servers that hold a model to a schema by a grammar (llama.cpp among them) leave out the bounds of fractions; what is
    read back is held to the bounds alone.
    """
    narrowed: dict[str, Any] = deepcopy(dict(schema))
    parts: list[Any] = [narrowed]
    while parts:
        part = parts.pop()
        if isinstance(part, list):
            parts += part
        elif isinstance(part, dict):
            parts += part.values()
            if part.get("type") == "number" and {"minimum", "maximum"} <= set(part) and "enum" not in part:
                low, high = part["minimum"], part["maximum"]
                part["enum"] = [round(low + (high - low) * step / _STEPS, 3) for step in range(_STEPS + 1)]
    return narrowed


def with_lengths(schema: Mapping[str, Any], reason: int, last: int | None) -> dict[str, Any]:
    """A schema that bounds free texts, which a small model may write without end. What is read back may be longer.

    Args:
        schema: The schema of an answer.
        reason: Most characters of each text that other fields of its object follow, such as the reason for a choice.
        last: Most characters of a text with which the answer ends, such as what is said; None: no bound.
    """
    narrowed: dict[str, Any] = deepcopy(dict(schema))
    bounds = [(field, reason) for part in _parts_of(narrowed) for field in _fields_of(part)[:-1]]
    bounds += [(field, last) for field in _fields_of(narrowed)[-1:] if last is not None]
    for field, most in bounds:
        if field.get("type") == "string" and not {"enum", "const"} & set(field):
            field.setdefault(MAX_LENGTH, most)
    return narrowed


def _fields_of(part: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(part.get("properties", {}).values())


def without_lengths(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without bounds on the lengths of texts, for servers that do not take them."""
    widened: dict[str, Any] = deepcopy(dict(schema))
    for part in _parts_of(widened):
        if part.get("type") == "string":
            part.pop(MAX_LENGTH, None)
    return widened


def _parts_of(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and all schemas in it."""
    yield schema
    inside = [schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())]
    for part in (*inside, *schema.get("properties", {}).values(), *schema.get("$defs", {}).values()):
        if isinstance(part, dict):
            yield from _parts_of(part)


def _part(schema: dict[str, Any], place: str) -> dict[str, Any]:
    """What stands at a place: on the way, an entry stands for its list, and a definition for what refers to it."""
    part = schema
    for step in place.split("."):
        while "items" in part or "$ref" in part:
            part = part["items"] if "items" in part else schema["$defs"][part["$ref"].rpartition("/")[2]]
        if step not in part.get("properties", {}):
            raise ParlourError(f"an answer has no field {place!r}; accepted: {', '.join(part.get('properties', {}))}")
        part = part["properties"][step]
    return part


# -- replies that are not quite what was asked for -----------------------------------------------------------------------

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


def answer_in(reply: str, *, cut: bool = False) -> tuple[dict[str, Any] | None, str, bool]:
    """The object that a reply means, the words of the reply without thoughts, and whether it had to be mended.

    A reply that used up its room (`cut`) while the model was still thinking has no answer: what it says before the thought is a draft.

    >>> answer_in("{'choice': 'vote:5',}<|im_end|>")[0]
    {'choice': 'vote:5'}
    """
    _, said, is_open = parts_of(reply, _object_spans, cut=cut)
    if cut and is_open:
        return None, "", False
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
    marks = list(_TURN.finditer(reply))
    inside = _object_spans(reply) if marks else []
    marks = [mark for mark in marks if not any(start < mark.start() < end for start, end in inside)]
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
