"""A calibrated run read back from its folder: its settings, its questions under all joint actions, and its policy if it has one.

`train grace --questions N` or `--corpus PATH` leaves RUN/calibration with config.json and partial.csv, and RUN/policy.json and
RUN/config.json beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.retrieve import Search
from parlour.policies.agents.mediated_qa import policy_file
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.policies.files import read_json
from parlour.training.learn.mediators import readers
from parlour.training.learn.mediators.held_out import HeldOutConfig, corpus_of
from parlour.training.learn.mediators.priced import paid
from parlour.training.learn.mediators.simulate import Simulated, read_partial
from parlour.training.learn.mediators.table import Floats
from parlour.training.results.runs import CONFIG

CALIBRATION: Final = "calibration"
"""Folder of the questions within a run."""
_ACCEPTED: Final = "the run directory of a finished `train grace --questions N` or `--corpus PATH`"


@dataclass(frozen=True, eq=False)
class CalibratedRun:
    """What a run left."""

    folder: Path
    config: HeldOutConfig
    train: tuple[Simulated, ...]
    held_out: tuple[Simulated, ...]
    policy: PolicyTable | None
    rate: str = ""
    """By which its costs follow from what the actions used; empty for none."""

    @property
    def note(self) -> str:
        """What tables say of who answered (`readers.note`)."""
        return readers.note(self.config)

    @property
    def rows(self) -> tuple[Simulated, ...]:
        """All questions, those to learn from first."""
        return self.train + self.held_out


def read_run(folder: str | Path) -> CalibratedRun:
    """Read a run directory. Raises `ParlourError` if it holds none that is calibrated to its end."""
    run = Path(folder)
    calibration = run / CALIBRATION if (run / CALIBRATION).is_dir() else run
    try:
        config = _config(read_json(calibration / CONFIG))
        with (calibration / "partial.csv").open(encoding="utf-8") as file:
            stamp = file.readline().rstrip("\n")
    except (OSError, UnicodeDecodeError, TypeError) as error:
        raise ParlourError(f"{str(folder)!r} is no calibrated run ({error}); accepted: {_ACCEPTED}") from None
    if config.actions:
        raise ParlourError(f"{str(folder)!r} has actions of its own; accepted: a run over the published actions")
    stored = read_partial(calibration / "partial.csv", stamp)
    total = config.train + config.held_out
    if missing := [number for number in range(total) if number not in stored]:
        raise ParlourError(f"{str(folder)!r} lacks {len(missing)} of {total} questions; accepted: {_ACCEPTED}")
    rate, costs = _rate(run / CONFIG) if calibration != run else ("", ())
    config = replace(config, costs=costs) if rate else config
    rows = paid(tuple(stored[number] for number in range(total)), config.payment)
    made = policy_file.read(run / "policy.json") if (run / "policy.json").exists() else None
    return CalibratedRun(run, config, rows[: config.train], rows[config.train :], made, rate)


def contexts(run: CalibratedRun) -> Floats:
    """What may be known of each question before anything is paid for, shape (questions, features); nobody is asked."""
    corpus = corpus_of(run.config)
    if len(corpus.questions) < len(run.rows):
        raise ParlourError(f"a corpus of {len(corpus.questions)} questions; accepted: that of the run, {len(run.rows)}")
    search = None if run.config.guide is None else Search(run.config.guide)
    pipeline = Pipeline(corpus, normalisation=run.config.normalisation, search=search)
    return np.array([pipeline.context(number) for number in range(len(run.rows))], dtype=np.float64)


def _rate(path: Path) -> tuple[str, tuple[float, ...]]:
    """The rate of a run and its costs; empty without one."""
    told = read_json(path) if path.exists() else {}
    return str(told.get("rate", "")), tuple(told.get("costs", ()))


def _config(stored: Any) -> HeldOutConfig:
    names = {one.name for one in fields(HeldOutConfig)}
    given: dict[str, Any] = {
        name: tuple(one) if isinstance(one, list) else one for name, one in stored.items() if name in names
    }
    return HeldOutConfig(**given)
