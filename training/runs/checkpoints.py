"""Checkpoints: the newest state of a run and the one before it, in files of plain values and numbers. No code is in them.

A file that cannot be used (cut off by a full disk or a copy, say) is passed over for the one before it, and that is said. From
there a trainer does again what was lost, with the same bytes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from parlour.envs.core import ParlourError
from parlour.policies.files import read_json, reading, replacing

T = TypeVar("T")
State = Mapping[str, Any]
"""Plain values, and arrays. With arrays, `kind` says what they are: the name of the plain values in the file."""
log: Final = logging.getLogger(__name__)
_KIND: Final = "kind"
_ENDINGS: Final = (".npz", ".json")


@dataclass(frozen=True)
class Checkpoint:
    """The checkpoint of a run: `NAME.npz` or `NAME.json`, and `NAME.before.npz` or `NAME.before.json`."""

    folder: Path
    name: str

    def save(self, state: State) -> None:
        """Make a new state the newest one."""
        path = self.folder / f"{self.name}{_ENDINGS[_KIND not in state]}"
        with replacing(path) as new:
            _write(new, state)
            if path.exists():
                path.replace(self._before(path))

    def load(self, load: Callable[[dict[str, Any]], T]) -> T | None:
        """What `load` makes of the newest state that can be used, None if there is none.

        Raises:
            ParlourError: Neither state can be used; what is said about the newest one.
        """
        paths = [self.folder / f"{self.name}{ending}" for ending in _ENDINGS]
        stored = [file for path in paths for file in (path, self._before(path)) if file.exists()]
        if not stored:
            return None
        try:
            return _read(stored[0], load)
        except ParlourError as error:
            if len(stored) < 2:
                raise
            return self._read_before(stored[0], stored[1], load, error)

    def _before(self, path: Path) -> Path:
        """Where the state before the newest one is."""
        return path.with_name(f"{self.name}.before{path.suffix}")

    def _read_before(self, path: Path, before: Path, load: Callable[[dict[str, Any]], T], error: ParlourError) -> T:
        try:
            loaded = _read(before, load)
        except ParlourError:
            raise error from None
        log.warning("%s. The one before it is used: %r", error, str(before))
        before.replace(path)  # so that the next state does not push it out
        return loaded


def _write(path: Path, state: State) -> None:
    if _KIND not in state:
        path.write_bytes((json.dumps(state, ensure_ascii=False) + "\n").encode())
        return
    from parlour.policies.array_files import write_arrays  # NumPy, which commands that only list do not wait for

    arrays = {name: value for name, value in state.items() if hasattr(value, "dtype")}
    meta = {name: value for name, value in state.items() if name not in arrays and name != _KIND}
    write_arrays(path, state[_KIND], meta, arrays)


def _read(path: Path, load: Callable[[dict[str, Any]], T]) -> T:
    with reading(path, "checkpoint", "is not a checkpoint of this run; accepted: what it left"):
        try:
            return load(read_json(path) if path.suffix == ".json" else _state_in(path))
        except ParlourError as error:
            refused = error  # says more
    raise refused


def _state_in(path: Path) -> dict[str, Any]:
    from parlour.policies.array_files import read_arrays, stored_kind

    kind = stored_kind(path)
    meta, arrays = read_arrays(path, kind)
    return {_KIND: kind, **meta, **arrays}
