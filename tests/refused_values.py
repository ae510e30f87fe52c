"""What a reader of files says to every single damage of a good file, compared with the sentences on file.

A damage takes a field away or puts a value of another kind in its place; of a list only the first element is damaged. The
sentences lie in `refusals/`. To write a file anew, remove it and run the test, which then fails once; look at the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.core import ParlourError

from tests.training.records.bound import GONE, Way, changed

FOLDER = Path(__file__).parent / "refusals"
TAKEN = "(taken)"


def refusal(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The one line with which a call is refused."""
    with pytest.raises(ParlourError) as refused:
        call(*arguments, **options)
    line = str(refused.value)
    assert len(line.splitlines()) == 1
    return line


def _ways(value: Any, way: Way = ()) -> Iterator[tuple[Way, Any]]:
    """Every field, and the first element of every list."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for step, part in inside:
        yield (*way, step), part
        yield from _ways(part, (*way, step))


def _damages(part: Any) -> dict[str, Any]:
    """How it is called -> what stands in place of a value."""
    other = 7 if isinstance(part, str | list | dict | bool) or part is None else "?"
    strange = {str: "?", int: -1, float: -0.5, list: [], dict: {}}.get(type(part), [])
    return {"gone": GONE, "null": None, repr(other): other, repr(strange): strange}


def sentences(value: Any, read: Callable[[Any], object]) -> list[str]:
    """A line for each damage: its place, what stands there, and what `read` says; the value as it is has to be taken."""
    read(value)
    lines = []
    for way, part in _ways(value):
        for name, damage in _damages(part).items():
            if damage == part or (damage is GONE and isinstance(way[-1], int)):
                continue
            try:
                read(changed(value, way, damage))
                said = TAKEN
            except ParlourError as error:
                said = str(error)
            lines.append(f"{'.'.join(map(str, way))} = {name}: {said}")
    return lines


def check(name: str, made: list[str], folder: Path = FOLDER) -> None:
    """Hold the lines against `<name>.txt` of the folder."""
    path = folder / f"{name}.txt"
    if not path.exists():
        folder.mkdir(exist_ok=True)
        path.write_text("\n".join(made) + "\n", encoding="utf-8")
        raise AssertionError(f"{path} was not there and has been written: look at it")
    assert made == path.read_text(encoding="utf-8").splitlines()
