"""A run: one class for its directory, configuration, checkpoint, curve, results by lines and progress.

A trainer is a function of a configuration and a `Run`. It opens the run with what decides its result, restores the state of the
last checkpoint, and logs and checkpoints from there. A killed run leaves nothing that prevents its resumption: the lock ends with
the process, files are replaced as a whole, a torn last line is cut off, and rows of the curve beyond the checkpoint are written again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, Final, TypeVar

from parlour.training.runs.checkpoints import Checkpoint, State
from parlour.training.runs.folder import JsonlStore, locked_directory, store_settings, write_csv
from parlour.training.runs.loggers import History, Loggers, Metrics, check_loggers, read_curve
from parlour.training.runs.progress import StageProgress, no_progress

T = TypeVar("T")
CHECKPOINT: Final = "checkpoint"


class Run:
    """A run in a directory.

    Args:
        path: The directory, made if there is none; None: a temporary one, which is removed at the end.
        progress: Called with a stage, the steps done, and the present metric in words.
        log: Loggers beside progress.csv, of `parlour.training.runs.loggers.NAMES`.

    Raises:
        ParlourError: A logger is unknown or not installed.
    """

    folder: Path
    """The directory while the run is open."""

    def __init__(self, path: str | Path | None, progress: StageProgress = no_progress, log: Iterable[str] = ()) -> None:
        self.path, self.progress, self.loggers = None if path is None else Path(path), progress, tuple(log)
        check_loggers(self.loggers)
        self._loggers: Loggers | None = None

    @contextmanager
    def opened(self, settings: Mapping[str, Any] | None = None, may_differ: Collection[str] = ()) -> Iterator[Path]:
        """Hold the directory; processes that the run starts need not ask.

        Args:
            settings: What decides the result, as plain values; see `store_settings`. None: nothing is stored.
            may_differ: Settings on which the result does not depend.

        Raises:
            ParlourError: Another run is at work in the directory, it holds one with other settings, or it cannot be used; or at the
                end, it was removed meanwhile.
        """
        with TemporaryDirectory() if self.path is None else locked_directory(self.path) as folder:
            self.folder, self._began = Path(folder), monotonic()
            if settings is not None:
                store_settings(self.folder, settings, may_differ)
            try:
                yield self.folder
            finally:
                if self._loggers is not None:
                    self._loggers.close()
                    self._loggers = None

    def checkpoint(self, state: State, name: str = CHECKPOINT) -> None:
        """Make a state the newest one, after all other files of a step: they are written again where they are behind it.

        Args:
            state: Plain values, and arrays; see `Checkpoint`.
            name: Name of the file, without its ending.
        """
        Checkpoint(self.folder, name).save(state)

    def restore(self, load: Callable[[dict[str, Any]], T], name: str = CHECKPOINT) -> T | None:
        """What `load` makes of the newest state that can be used; None if there is none.

        Raises:
            ParlourError: No state can be used; `load` says so by any error.
        """
        return Checkpoint(self.folder, name).load(load)

    @property
    def curve(self) -> History:
        """What was logged so far, as progress.csv has it."""
        return read_curve(self.folder)

    def log(self, metrics: Metrics, step: int) -> None:
        """Log the metrics of a step; steps ascend. The first call removes what a killed process logged from this step on."""
        if self._loggers is None:
            before = [row for row in self.curve if row[0] < step]
            self._loggers = Loggers(self.folder, self.loggers, before, self._began)
        self._loggers.log(metrics, step)

    def lines(self, file: str, read: Callable[[Any], T], what: str, head: Any = None) -> JsonlStore[T]:
        """Results in a file, one a line; arguments as of `JsonlStore`."""
        return JsonlStore(self.folder / file, read, what, head)

    def table(self, file: str, heading: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Replace a table as CSV."""
        write_csv(self.folder / file, heading, rows)
