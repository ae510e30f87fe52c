"""The forms in which a table can be played: AEC, parallel, one seat for Gymnasium; observations, actions, wrappers.

A form is made for a table or refused with `ParlourError`, such as `LearnerSeats` at a table of one seat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from parlour import wrappers
from parlour.envs.core import accept
from parlour.envs.testing.table import ConfiguredGame
from parlour.policies import RandomPolicy

AEC, PARALLEL, GYM = "AEC", "parallel", "Gymnasium"
BOTH = {"observation": "both", "info": "full", "render_mode": "ansi"}
NUMBERS = {"observation": "features", "info": "full"}
CYCLES = 40
"""After which the forms that count cycles are truncated."""
ON_BAD = ("ask_again", "default", "random", "forfeit")


@dataclass(frozen=True)
class Form:
    """A way to play a table."""

    name: str
    kind: str
    """`AEC`, `PARALLEL` or `GYM`."""
    make: Callable[[ConfiguredGame, Path], Any]
    """The environment; the folder is for transcripts."""

    @property
    def words(self) -> bool:
        """Whether actions are words."""
        return "words" in self.name


def forms_of(table: ConfiguredGame) -> list[Form]:
    """All forms of a table."""
    features = table.spec.encoder(table.game).kinds[1:]
    aec: dict[str, Callable[[ConfiguredGame, Path], Any]] = {
        "index": lambda t, _: t.env(**BOTH),
        "numeric info": lambda t, _: t.env(observation="text"),
        "cycles": lambda t, _: t.env(**BOTH, max_cycles=CYCLES),
        **{f"features {kind}": partial(_aec, features=kind) for kind in features},
        **{f"words {on_bad}": partial(_aec, action="text", on_bad=on_bad) for on_bad in ON_BAD},
        "history": lambda t, _: wrappers.HistoryWindow(t.env(**BOTH), 3),
        "recorder": lambda t, folder: wrappers.Recorder(t.env(**BOTH), folder / "{n}.jsonl"),
        "numbers": lambda t, _: wrappers.NumericFeatures(t.env(**BOTH)),
        "ranks": lambda t, _: wrappers.LegalRanks(t.env(**NUMBERS)),
        "mask in info": lambda t, _: wrappers.MaskInInfo(t.env(**NUMBERS)),
        "observations": lambda t, _: wrappers.ObservationsKey(t.env(**NUMBERS)),
        "turn in info": lambda t, _: wrappers.TurnInInfo(t.env(**BOTH), "both"),
        "sealed turn": lambda t, _: wrappers.SealedTurn(t.env(**BOTH), "both"),
        "learners": _learners,
    }
    parallel: dict[str, Callable[[ConfiguredGame, Path], Any]] = {
        "parallel": lambda t, _: t.parallel_env(**BOTH),
        "parallel words": lambda t, _: t.parallel_env(**BOTH, action="text"),
        "parallel cut": lambda t, _: t.parallel_env(**BOTH, max_cycles=CYCLES),
        "parallel ranks": lambda t, _: wrappers.ParallelLegalRanks(t.parallel_env(**NUMBERS)),
        "parallel mask in info": lambda t, _: wrappers.ParallelMaskInInfo(t.parallel_env(**NUMBERS)),
        "parallel observations": lambda t, _: wrappers.ParallelObservationsKey(t.parallel_env(**NUMBERS)),
    }
    gym = {
        f"seat {kind} {on_illegal}": partial(_seat, observation=kind, on_illegal=on_illegal)
        for kind in ("features", "text")
        for on_illegal in ("random", "raise")
    }
    by_kind = {AEC: aec, PARALLEL: parallel, GYM: gym}
    return [Form(name, kind, make) for kind, forms in by_kind.items() for name, make in forms.items()]


def _aec(table: ConfiguredGame, _: Path, **settings: Any) -> Any:
    return table.env(**BOTH, **settings)


def _learners(table: ConfiguredGame, _: Path) -> Any:
    seats = table.game.seats
    if seats < 2:
        raise accept("number of seats", seats, "2 or more")
    return wrappers.LearnerSeats(table.env(info="full"), lambda _: RandomPolicy(), seats=2, observation="both")


def _seat(table: ConfiguredGame, _: Path, **settings: Any) -> Any:
    return wrappers.SeatEnv(table.env(info="full"), lambda _: RandomPolicy(), **settings)
