"""What commands share at whose tables people sit: the names that people read, and a new deal each time."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from parlour.envs.core import ParlourError
from parlour.envs.language import english
from parlour.envs.language.seat_names import NO_NAMES, SeatNames, names_for
from parlour.envs.settings import COMMON, Settings
from parlour.training.cli.options import Options
from pydantic import Field

if TYPE_CHECKING:
    from parlour.envs.adapters.aec import GameEnv

_SEEDS: Final = 1_000_000
"""Seeds that are drawn for people lie below this number."""


class PeopleSettings(Settings):
    """People at a table."""

    names: Annotated[str | None, COMMON] = None
    """Names instead of player_0 and so on, from seat 0 on, with a comma between them; None: with people, from a list."""
    seed: Annotated[int | None, COMMON] = Field(default=None, ge=0)
    """Seed of the first game; None: with people, that of the games in --out or a new one, which is printed; else 0."""

    def seat_names(self, base: GameEnv) -> SeatNames:
        """What the seats are called; a game that names its players keeps its names. Raises `ParlourError` for other names."""
        wanted = [] if self.names is None else [name.strip() for name in self.names.split(",")]
        game = base.game
        if getattr(game.view(game.initial(), 0), "names", ()) or base.possible_agents[0] != english.name(0):
            if wanted:
                raise ParlourError(
                    f"--names {self.names} is not accepted: {base.spec.id} names its players; accepted: none"
                )
            return NO_NAMES
        return names_for(wanted, game.seats, game.role_names)

    def first_seed(self, out: Path | None, base: GameEnv) -> tuple[int, str]:
        """The seed of the first game of people, and a line that says it. Raises `ParlourError` for a file that is no transcript."""
        seed = _stored_seed(out, base) if self.seed is None else self.seed
        if seed is None:
            seed = secrets.randbelow(_SEEDS)
        return seed, f"seed {seed}; --seed {seed} plays the same deals again"


PeopleOptions = Annotated[PeopleSettings, Options()]


def _stored_seed(out: Path | None, base: GameEnv) -> int | None:
    """The seed of the first game in a folder; None where there is none."""
    from parlour.envs import replay

    first = None if out is None else out / f"{base.game_name}-1.jsonl"
    if first is None or not first.exists() or b"\n" not in first.read_bytes():
        return None
    opened = base.spec.options.from_plain(base.game.config).opens()
    seed = replay.Transcript.read(first, folders=() if opened is None else (opened,)).header.get("seed")
    return seed if isinstance(seed, int) else None
