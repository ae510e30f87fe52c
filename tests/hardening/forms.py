"""The forms in which a table can be played: AEC, parallel, one seat for Gymnasium; observations, actions, wrappers.

A form is made for a table or refused with `ParlourError`, as `quest rewards` where no quests are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Form:
    """A way to play a table."""

    name: str
    kind: str
    """`AEC`, `PARALLEL` or `GYM`."""
    make: Callable[[ConfiguredGame, Path], Any]
    """The environment; the folder is for transcripts."""
    words: bool = False
    """Whether actions are words."""
    copies: bool = True
    """Whether it can be copied: an open file cannot."""


def forms_of(table: ConfiguredGame) -> list[Form]:
    """All forms of a table."""
    return [*_plain(table), *_wrapped(table), *_parallel(), *_seats()]


def form_of(table: ConfiguredGame, name: str) -> Form:
    """The form of this name."""
    return next(form for form in forms_of(table) if form.name == name)


def _plain(table: ConfiguredGame) -> Iterator[Form]:
    yield Form("index", AEC, lambda t, _: t.env(**BOTH))
    yield Form("numeric info", AEC, lambda t, _: t.env(observation="text"))
    for kind in table.spec.features_at(table.game)[1:]:
        yield Form(f"features {kind}", AEC, lambda t, _, kind=kind: t.env(**BOTH, features=kind))
    for on_bad in ("ask_again", "default", "random", "forfeit"):
        yield Form(
            f"words {on_bad}", AEC, lambda t, _, on_bad=on_bad: t.env(**BOTH, action="text", on_bad=on_bad), True
        )
    yield Form("cycles", AEC, lambda t, _: t.env(**BOTH, max_cycles=CYCLES))


def _wrapped(table: ConfiguredGame) -> Iterator[Form]:
    yield Form("history", AEC, lambda t, _: wrappers.HistoryWindow(t.env(**BOTH), 3))
    yield Form("recorder", AEC, lambda t, f: wrappers.Recorder(t.env(**BOTH), f / "{n}.jsonl"), copies=False)
    yield Form("numbers", AEC, lambda t, _: wrappers.NumericFeatures(t.env(**BOTH)))
    yield Form("ranks", AEC, lambda t, _: wrappers.LegalRanks(t.env(**NUMBERS)))
    yield Form("mask in info", AEC, lambda t, _: wrappers.MaskInInfo(t.env(**NUMBERS)))
    yield Form("observations", AEC, lambda t, _: wrappers.ObservationsKey(t.env(**NUMBERS)))
    yield Form("turn in info", AEC, lambda t, _: wrappers.TurnInInfo(t.env(**BOTH), "both"))
    yield Form("sealed turn", AEC, lambda t, _: wrappers.SealedTurn(t.env(**BOTH), "both"))
    yield Form("learners", AEC, lambda t, _: _learners(t))


def _parallel() -> Iterator[Form]:
    yield Form("parallel", PARALLEL, lambda t, _: t.parallel_env(**BOTH))
    yield Form("parallel words", PARALLEL, lambda t, _: t.parallel_env(**BOTH, action="text"), True)
    yield Form("parallel cut", PARALLEL, lambda t, _: t.parallel_env(**BOTH, max_cycles=CYCLES))
    yield Form("parallel ranks", PARALLEL, lambda t, _: wrappers.ParallelLegalRanks(t.parallel_env(**NUMBERS)))
    yield Form("parallel mask in info", PARALLEL, lambda t, _: wrappers.ParallelMaskInInfo(t.parallel_env(**NUMBERS)))
    yield Form(
        "parallel observations", PARALLEL, lambda t, _: wrappers.ParallelObservationsKey(t.parallel_env(**NUMBERS))
    )


def _seats() -> Iterator[Form]:
    for observation in ("features", "text"):
        for on_illegal in ("random", "raise"):
            given = {"observation": observation, "on_illegal": on_illegal}
            yield Form(f"seat {observation} {on_illegal}", GYM, lambda t, _, given=given: _seat(t, **given))


def _learners(table: ConfiguredGame) -> Any:
    seats = table.game.seats
    if seats < 2:
        raise accept("number of seats", seats, "2 or more")
    return wrappers.LearnerSeats(table.env(info="full"), lambda _: RandomPolicy(), seats=2, observation="both")


def _seat(table: ConfiguredGame, **given: Any) -> Any:
    return wrappers.SeatEnv(table.env(info="full"), lambda _: RandomPolicy(), **given)
