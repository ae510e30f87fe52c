"""Files that are there whole or not at all, however a run may end; and JSON that is read with one clear error."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from parlour.envs.core import ParlourError


def atomic_write(path: str | Path, text: str) -> None:
    """Write a file under another name first, so that nobody ever sees it half-written. Folders are made."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(text, "utf-8")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


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
