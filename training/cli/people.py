"""What commands share at whose tables people sit: the names that people read, and a new deal each time."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from parlour.envs.core import ParlourError
from parlour.envs.language import english
from parlour.envs.language.seat_names import NO_NAMES, SeatNames, names_for
from parlour.envs.registry import name_of
from parlour.envs.settings import COMMON

if TYPE_CHECKING:
    from parlour.envs.adapters.aec import GameEnv

NamesOption = Annotated[
    str | None,
    typer.Option(metavar="NAME[,NAME]"),
    COMMON,
    "Names that people read and say instead of player_0 and so on, from seat 0 on; None: from a list.",
]
PeopleSeedOption = Annotated[
    int | None,
    typer.Option(min=0),
    COMMON,
    "Seed of the first game; None: with people, that of the games in --out or a new one, which is printed; else 0.",
]
_SEEDS: Final = 1_000_000
"""Seeds that are drawn for people lie below this number."""


def names_at(given: str | None, base: GameEnv) -> SeatNames:
    """What the seats are called; a game that names its players keeps its names. Raises `ParlourError` for other names."""
    wanted = [] if given is None else [called.strip() for called in given.split(",")]
    game = base.game
    if getattr(game.view(game.initial(), 0), "names", ()) or base.possible_agents[0] != english.name(0):
        if wanted:
            raise ParlourError(f"--names {given} is not accepted: {base.spec.id} names its players; accepted: none")
        return NO_NAMES
    return names_for(wanted, game.seats, game.role_names)


def first_seed(given: int | None, out: Path | None, base: GameEnv) -> tuple[int, str]:
    """The seed of the first game of people, and a line that says it. Raises `ParlourError` for a file that is no transcript."""
    seed = _stored_seed(out, base) if given is None else given
    if seed is None:
        seed = secrets.randbelow(_SEEDS)
    return seed, f"seed {seed}; --seed {seed} plays the same deals again"


def _stored_seed(out: Path | None, base: GameEnv) -> int | None:
    """The seed of the first game in a folder; None where there is none."""
    from parlour.envs import replay

    first = None if out is None else out / f"{name_of(base.spec)}-1.jsonl"
    if first is None or not first.exists() or b"\n" not in first.read_bytes():
        return None
    opened = base.spec.options.from_plain(base.game.config).opens()
    seed = replay.read(first, folders=() if opened is None else (opened,)).header.get("seed")
    return seed if isinstance(seed, int) else None
