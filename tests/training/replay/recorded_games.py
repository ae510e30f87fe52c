"""Games played into transcripts, for tests of what shows them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parlour.envs.language.text import agents_of
from parlour.policies import make_policy
from parlour.training.play import rollout
from parlour.training.play.decisions import models_of
from parlour.wrappers.record import Recorder

ASKING = {
    "avalon_v0": ("heuristic", "avalon_agent"),
    "werewolf_v0": ("heuristic", "gratr"),
    "murder_mystery_v0": ("heuristic", "questum:mode=score"),
}
"""Players of a game, one after another round the table, some of whom ask (offline) models."""


def record(path: Path, game: str, seed: int = 1, players: Sequence[str] = ("heuristic",), **options: Any) -> Path:
    """Play a game into a transcript; returns its path."""
    table = rollout.table(game, **options)
    base = table.unwrapped
    seats = base.game.seats
    names = (tuple(players) * seats)[:seats]
    made = [make_policy(name, base.spec.id, base.game.config) for name in names]
    header = {"players": dict(zip(agents_of(base.game), names, strict=True)), "models": models_of(made)}
    recorder = Recorder(table, path, header=header, overwrite=True)
    rollout.play(recorder, made, seed)
    recorder.close()
    return path
