"""Files that are there whole or not at all, however a run may end; and JSON that is read with one clear error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from parlour.envs.core import ParlourError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A path to write to; what is written takes the place of `path` when the block ends without an error.

    So nobody ever sees a file half-written. Folders are made. The path has the same ending, which some writers look at.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{os.getpid()}.part-{target.name}")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def atomic_write(path: str | Path, content: str | bytes) -> None:
    """Replace a file as a whole; text is written in UTF-8."""
    with replacing(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def write_json(path: str | Path, value: Any) -> None:
    """Write plain values as JSON that a person can read and edit."""
    atomic_write(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON object. Raises `ParlourError` if the file cannot be read or holds something else."""
    try:
        found = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ParlourError(f"file {str(path)!r} cannot be used: {error}") from None
    if not isinstance(found, dict):
        raise ParlourError(f"file {str(path)!r} cannot be used; accepted: a JSON object")
    return found
