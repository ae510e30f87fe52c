"""Where a case is found: among those that ship with the library, from a seed, in a JSON file, in a WellPlay folder."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError, accept, value_shown
from parlour.envs.murder_mystery.cases.case import Case, load
from parlour.envs.murder_mystery.generate import from_seed
from parlour.envs.murder_mystery.wellplay import load as wellplay

_FOLDER: Final = files(__package__) / "data"
_SEED: Final = "seed:"


def shipped() -> tuple[str, ...]:
    """Names of the cases that come with the library, such as `"harbour_en"`, sorted."""
    return tuple(
        sorted(entry.name.removesuffix(".json") for entry in _FOLDER.iterdir() if entry.name.endswith(".json"))
    )


def is_path(reference: str) -> bool:
    """Whether a reference names a file or a folder, not a shipped or a generated case."""
    return not reference.startswith(_SEED) and reference not in shipped()


def find(reference: str) -> Case:
    """A case by reference.

    Args:
        reference: The name of a shipped case (`"harbour_en"`); `"seed:123"`, `"seed:123:zh"`, `"seed:123:zh:6"` or
            `"seed:123:en:6:2"` for a generated one (seed, language, players, victims; what is left out is English or
            drawn), `"seed:123:en::::2"` for a tougher one (level 2; see `generate.tougher`); a path of a case's JSON; a path of a WellPlay folder (`.../en/<script>`).

    Raises:
        ParlourError: There is no such case, or it cannot be read.
    """
    if reference.startswith(_SEED):
        return from_seed.from_reference(reference)
    if not is_path(reference):
        return load(json.loads((_FOLDER / f"{reference}.json").read_text("utf-8")))
    path = Path(reference)
    try:
        if path.is_dir():
            return wellplay.load_folder(path)
        if path.is_file():
            return load(path)
    except OSError as error:  # such as a name that is too long for the file system
        raise ParlourError(f"case {value_shown(reference)} cannot be read: {error.strerror}") from None
    known = ", ".join(shipped())
    raise accept(
        "case",
        reference,
        f"{known}, seed:N[:en|zh[:PLAYERS[:VICTIMS[:SCENE[:LEVEL]]]]], a case's JSON, a WellPlay folder",
    )
