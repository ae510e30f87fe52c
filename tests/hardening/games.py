"""The tables that attacks sit at: every game of the registry and from outside, its presets, numbers of seats, languages.

What a game accepts is read from the fields of its `GameSpec.options`: all numbers of players are combined with all sets of rules, of every
other option with listed values each value is taken once, of a range its ends. `EXTRAS` has what no option tells of.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

from parlour.envs.common.dotted import is_dotted
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.cases.find import shipped
from parlour.envs.registry import loadable, lookup, name_of, registry
from parlour.envs.settings import accepted
from parlour.envs.spec import GameSpec
from parlour.envs.testing.table import ConfiguredGame

_MOST = 20
"""Numbers of a range that are listed, at most."""
EXTRAS: dict[str, list[dict[str, Any]]] = {
    "murder_mystery_v0": [
        *({"case": case, "rounds": 1} for case in shipped()),
        *(
            {"case": f"seed:{k}:{tongue}:{seats}", "rounds": 1}
            for k, tongue in enumerate(("en", "zh"))
            for seats in (4, 6)
        ),
        {"rounds": 2, "questions": 2, "targets": 1},
    ],
    "mediated_qa_v0": [{"questions": 3}, {"questions": 3, "joint": "all", "pay": "own"}],
    "avalon_v0": [
        {"roles": "deeprole", "rules": "official", "num_players": 5, "talk": False},
        {"rules": "paper", "num_players": 5, "speaking": "bids"},
        {"rules": "official", "num_players": 5, "guesser": "Morgana", "sizes": [1, 2, 3, 3, 4]},
    ],
    "werewolf_v0": [
        {"num_players": 6, "talk": False, "rules": "official"},
        {"num_players": 6, "rules": "reference", "speaking": "bids"},
    ],
}
"""Tables besides those that `options` tells of, by game."""


def tables(outside: Sequence[str] = ()) -> list[str]:
    """The names of all tables; see `table_of`."""
    specs = [*loadable(), *(lookup(name).spec for name in outside)]
    return [subject for spec in dict.fromkeys(specs) for subject in _tables_of(spec)]


@cache
def table_of(subject: str) -> ConfiguredGame:
    """The table of a name: the game (id or `module:ATTRIBUTE`), then `option=value`, values as JSON or plain words."""
    name, *options = shlex.split(subject)
    pairs = (option.partition("=") for option in options)
    return ConfiguredGame(lookup(name).spec, tuple((key, _read(value)) for key, _, value in pairs))


def subject_of(spec: GameSpec, options: dict[str, Any]) -> str:
    """The name of a table."""
    return shlex.join([name_of(spec), *(f"{key}={_written(value)}" for key, value in options.items())])


def game_of(subject: str) -> str:
    """The game of a table's name; of another subject all of it, so that each stands for itself."""
    first = subject.partition(" ")[0]
    return first if first in registry or is_dotted(first) else subject


def _written(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) and _read(value) == value else text


def _read(text: str) -> Any:
    """A value as JSON; what is none is a text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _tables_of(spec: GameSpec) -> Iterator[str]:
    choices = {key: _listed(accepted(field)) for key, field in spec.options.model_fields.items()}
    combined = {key: values for key, values in choices.items() if key in ("num_players", "rules") and values}
    ends = {
        key: values if isinstance(values, list) else sorted({values[0], values[-1]}) for key, values in choices.items()
    }
    single = [{key: value} for key, values in ends.items() if key not in combined for value in values]
    whole = [dict(zip(combined, values, strict=True)) for values in product(*combined.values())]
    seen = set[str]()
    for options in [*whole, *single, *EXTRAS.get(spec.id, [])]:
        subject = subject_of(spec, options)
        if subject not in seen and _exists(subject):
            seen.add(subject)
            yield subject


def _exists(subject: str) -> bool:
    """Whether the game accepts these options; one that it tells of and refuses has values that depend on others."""
    try:
        table_of(subject).raw_env()
    except ParlourError:
        return False
    return True


def _listed(text: str) -> Sequence[Any]:
    """The values that the text of an option lists; none if it lists none.

    >>> _listed("5..7"), _listed("paper, official"), _listed("True, False"), _listed("a whole number, at least 0")
    (range(5, 8), ['paper', 'official'], [True, False], [])
    """
    if match := re.fullmatch(r"(\d+)\.\.(\d+)", text):
        low, high = map(int, match.groups())
        return range(low, high + 1) if high - low < _MOST else []
    words = text.replace("None, or ", "None, ").split(", ")
    if len(words) < 2 or not all(re.fullmatch(r"[\w-]+", word) for word in words):
        return []
    named = {"True": True, "False": False, "None": None}
    return [named.get(word, word) for word in words]
