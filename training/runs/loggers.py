"""Curves of a training run: progress.csv always, TensorBoard and Weights & Biases beside it where `--log` names them.

One interface, as in CleanRL and stable-baselines3: `run.log({"eval/win_rate": 0.6, "losses/value_loss": 0.1}, step)`. The names of
metrics are the same for all trainers; `docs/howto/logging.md` lists them. What a kill left from the next step on is removed, so
that every file holds each step once.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import Any, Final

from parlour.envs.common.extras import not_installed
from parlour.envs.core import ParlourError, check_one_of
from parlour.policies.files import read_json, write_json
from parlour.training.runs.folder import CONFIG, write_csv

CURVE: Final = "progress.csv"
STEP: Final = "step"
SPEED: Final = "charts/SPS"
"""Steps per second since the run began or was resumed. It is measured, so it is in no file that is the same again: not in CSV."""
_STATE: Final = "loggers.json"
_PACKAGES: Final[Mapping[str, tuple[str, ...]]] = {
    "csv": (),
    "tensorboard": ("tensorboard", "torch"),
    "wandb": ("wandb",),
}
NAMES: Final = tuple(_PACKAGES)

Metrics = Mapping[str, float | None]
"""Name -> value. None: there was nothing to measure; it is not logged."""
History = Sequence[tuple[int, Metrics]]
"""Steps, ascending, with their metrics."""


def check_loggers(names: Iterable[str]) -> None:
    """Raise `ParlourError` for a name that is no logger's, or one whose packages are not installed."""
    for name in names:
        check_one_of("log", name, NAMES)
        if missing := [package for package in _PACKAGES[name] if find_spec(package) is None]:
            raise not_installed(missing[0], name)


class Loggers:
    """All loggers of a run. Those besides progress.csv also log the speed.

    Args:
        folder: The run directory.
        names: Of `NAMES`.
        curve: What the run logged up to its checkpoint; empty where it begins.
        began: When the run began or was resumed, as `time.monotonic` has it.
    """

    def __init__(self, folder: Path, names: Iterable[str], curve: History, began: float) -> None:
        self._csv, self._began = CsvLogger(folder, curve), began
        self._others = [_Resumed(name, folder, curve) for name in dict.fromkeys(names) if name != "csv"]
        self._first = curve[-1][0] if curve else 0

    def log(self, metrics: Metrics, step: int) -> None:
        """The metrics of a step; steps ascend."""
        self._csv.log(metrics, step)
        speed = (step - self._first) / max(1e-6, monotonic() - self._began)
        for logger in self._others:
            logger.log({**metrics, SPEED: speed}, step)

    def close(self) -> None:
        """Write what is left."""
        for logger in self._others:
            logger.close()


class CsvLogger:
    """progress.csv: a row for each step, a column for each metric; the file is replaced as a whole with each step."""

    def __init__(self, folder: Path, curve: History = ()) -> None:
        self._path, self._rows = folder / CURVE, list(curve)

    def log(self, metrics: Metrics, step: int) -> None:
        self._rows.append((step, metrics))
        names = list(dict.fromkeys(name for _, row in self._rows for name in row))
        write_csv(self._path, [STEP, *names], [[at, *(row.get(name) for name in names)] for at, row in self._rows])


def read_curve(folder: Path) -> list[tuple[int, dict[str, float | None]]]:
    """The rows of progress.csv; none without the file. Raises ValueError or KeyError for another file."""
    path = folder / CURVE
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [(int(row.pop(STEP)), {name: _number(text) for name, text in row.items()}) for row in rows]


def _number(text: str) -> float | None:
    """As it was written: a whole number stays one."""
    return None if not text else int(text) if text.removeprefix("-").isdigit() else float(text)


class TensorBoardLogger:
    """Event files in the folder `tensorboard`; files of earlier processes end before `purge_step`, and a new run
    removes them. Needs the extra `tensorboard`.
    """

    def __init__(self, folder: Path, purge_step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        if purge_step == 0:  # TensorBoard orders files of the same second by name alone
            for events in (folder / "tensorboard").glob("events.out.tfevents.*"):
                events.unlink()
        self._writer: Any = SummaryWriter(str(folder / "tensorboard"), purge_step=purge_step)

    def log(self, metrics: Metrics, step: int) -> None:
        for name, value in _measured(metrics).items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class WandbLogger:
    """A run of Weights & Biases, resumed by its id; its files are in the folder `wandb`. Needs the extra `wandb`.

    Raises:
        ParlourError: W&B does not start, such as without a login.
    """

    def __init__(self, folder: Path, identity: str | None) -> None:
        import wandb

        config = read_json(folder / CONFIG) if (folder / CONFIG).exists() else {}
        named: dict[str, Any] = {"project": "parlour", "name": folder.resolve().name, "config": config}
        try:
            self._run: Any = wandb.init(dir=str(folder), id=identity, resume="allow", **named)
        except wandb.Error as error:
            raise ParlourError(f"wandb: {error}; accepted: `wandb login`, or WANDB_MODE=offline") from None
        self.identity = str(self._run.id)

    def log(self, metrics: Metrics, step: int) -> None:
        self._run.log(_measured(metrics), step=step)

    def close(self) -> None:
        self._run.finish()


def _measured(metrics: Metrics) -> dict[str, float]:
    return {name: value for name, value in metrics.items() if value is not None and isfinite(value)}


class _Resumed:
    """A logger that starts with the first step to log. It then writes what is missing of the curve, and stores how far it is.

    TensorBoard takes steps back, so it holds the curve and no more. W&B does not: steps that a killed process logged stay there, and
    are the same as those of the process that resumed.
    """

    def __init__(self, name: str, folder: Path, curve: History) -> None:
        self._name, self._folder, self._curve = name, folder, curve
        self._logger: TensorBoardLogger | WandbLogger | None = None
        self._stored = self._state().get(name, {})
        self._held: int = self._stored.get("step", -1)
        if name == "tensorboard":
            self._held = min(self._held, curve[-1][0] if curve else -1)

    def _state(self) -> dict[str, Any]:
        path = self._folder / _STATE
        return read_json(path) if path.exists() else {}

    def log(self, metrics: Metrics, step: int) -> None:
        if self._logger is None:
            self._logger = self._started()
            for at, row in self._curve:
                if at > self._held:
                    self._logger.log(row, at)
        if step > self._held:
            self._logger.log(metrics, step)
            self._store(step=step)

    def _started(self) -> TensorBoardLogger | WandbLogger:
        if self._name == "tensorboard":
            return TensorBoardLogger(self._folder, self._held + 1)
        made = WandbLogger(self._folder, self._stored.get("id"))
        self._store(id=made.identity)
        return made

    def _store(self, **values: Any) -> None:
        self._stored = {**self._stored, **values}
        write_json(self._folder / _STATE, {**self._state(), self._name: self._stored})

    def close(self) -> None:
        if self._logger is not None:
            self._logger.close()
