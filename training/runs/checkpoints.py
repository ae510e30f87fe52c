"""Checkpoints: the newest state of a run and the one before it, in files of plain values and numbers. No code is in them.

A file that cannot be used (cut off by a full disk or a copy, say) is passed over for the one before it, and that is said. From
there a trainer does again what was lost, with the same bytes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from parlour.envs.core import ParlourError
from parlour.policies.files import replacing

T = TypeVar("T")
log: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkpoint:
    """The checkpoint of a run: `NAME.npz` or `NAME.json`, and `NAME.before.npz` or `NAME.before.json`."""

    path: Path

    @property
    def before(self) -> Path:
        """Where the state before the newest one is."""
        return self.path.with_name(f"{self.path.stem}.before{self.path.suffix}")

    def save(self, write: Callable[[Path], None]) -> None:
        """Make a new state the newest one; `write` writes it to the path that it is given."""
        with replacing(self.path) as new:
            write(new)
            if self.path.exists():
                self.path.replace(self.before)

    def save_json(self, value: Any) -> None:
        """Make plain values the newest state."""
        text = json.dumps(value, ensure_ascii=False) + "\n"
        self.save(lambda new: _write(new, text))

    def load(self, read: Callable[[Path], T]) -> T | None:
        """What `read` makes of the newest state that can be used, None if there is none.

        Raises:
            ParlourError: `read` refuses them; what it says about the newest one.
        """
        stored = [path for path in (self.path, self.before) if path.exists()]
        if not stored:
            return None
        try:
            return read(stored[0])
        except ParlourError as error:
            if len(stored) < 2:
                raise
            return self._read_before(read, error)

    def _read_before(self, read: Callable[[Path], T], error: ParlourError) -> T:
        try:
            loaded = read(self.before)
        except ParlourError:
            raise error from None
        log.warning("%s. The one before it is used: %r", error, str(self.before))
        self.before.replace(self.path)  # so that the next state does not push it out
        return loaded


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode())
