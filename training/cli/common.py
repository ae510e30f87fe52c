"""Options that commands share: the game, processes, seeds; and modules that need an extra."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Self

import typer
from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError
from parlour.envs.settings import COMMON, Settings
from parlour.training.cli.options import Options
from parlour.training.play.extras import import_extra
from parlour.training.play.failures import Failures
from parlour.training.runs.loggers import NAMES
from pydantic import Field, model_validator

if TYPE_CHECKING:
    from parlour.policies.llm.model import Model
    from parlour.training.play.parallel.executor import Pool, Workers

LogOption = Annotated[
    list[str] | None,
    typer.Option("--log", metavar="|".join(NAMES)),
    "Log the curve to TensorBoard or W&B, too, in the run directory; repeatable. Needs the extra of that name; None: csv, "
    "the file progress.csv, which is always written.",
]
AnyGameArgument = Annotated[
    str | None, typer.Argument(), "Name of the game; None: that of a policy file, else avalon_v0."
]
SeedOption = Annotated[int, typer.Option(min=0), "The same seed gives the same result."]
RunOption = Annotated[Path, COMMON, "Run directory; resumes if it exists."]
TranscriptsOption = Annotated[Path | None, COMMON, "Directory for the transcripts."]
ResumeOption = Annotated[bool, typer.Option("--resume"), COMMON, "Continue in --out: play only the missing games."]
TalkOption = Annotated[
    str | None,
    typer.Option(metavar="words|claims"),
    COMMON,
    "How players without a language model speak: in words with reasons, or by claims alone; None: words where a person plays.",
]


def note(text: str) -> None:
    """A line on standard error, before the work starts; none for an empty text."""
    if text:
        tell(f"parlour: note: {text}", error=True)


class GameSettings(Settings):
    """How a game is set up. What is not named is as a policy file has it, else the game's own default."""

    players: Annotated[int | None, COMMON] = None
    """Number of players; None: the game's own, or a policy file's."""
    rules: Annotated[str | None, COMMON] = None
    """Preset of the rules; None: the game's own, or a policy file's."""
    option: Annotated[Mapping[str, Any], COMMON] = Field(default_factory=dict)
    """Another option of the game, repeatable; the value is JSON or a word."""

    @property
    def chosen(self) -> dict[str, Any]:
        """The options of the game as keyword arguments."""
        given = {"num_players": self.players, "rules": self.rules}
        return {key: value for key, value in given.items() if value is not None} | dict(self.option)

    @property
    def words(self) -> list[str]:
        """The options of the game as words of a command."""
        named = {"--players": self.players, "--rules": self.rules}
        words = [word for flag, value in named.items() if value is not None for word in (flag, str(value))]
        shown = ((key, value if isinstance(value, str) else json.dumps(value)) for key, value in self.option.items())
        return words + [word for key, value in shown for word in ("--set", f"{key}={value}")]


def tell_forecast(line: str) -> None:
    """Print a line about what games will take, on standard error."""
    tell(f"parlour: {line}", error=True)


GAME_NAMES: Final = {"players": "--players -n", "option": "--set"}
GameOptions = Annotated[GameSettings, Options(rename=GAME_NAMES, panel="Game")]


class RaySettings(Settings):
    """Ray's processes.

    Raises:
        ParlourError: Processes without Ray, or none.
    """

    ray: str | None = None
    """Use Ray: `local` for all cores of this machine, or HOST:PORT of a cluster. The result does not depend on it. Needs
    the extra `ray`."""
    ray_workers: int | None = Field(default=None, ge=1)
    """Number of Ray processes; None: one for each core."""

    @model_validator(mode="after")
    def _workers_go_with_ray(self) -> Self:
        if self.ray is None and self.ray_workers is not None:
            raise ParlourError("--ray-workers goes with --ray")
        return self

    def pool(self, model: Model | None = None) -> AbstractContextManager[Pool | None]:
        """Ray's processes, or None; they end with the context.

        Raises:
            ParlourError: Ray is not installed, or there is none at the address.
        """
        if self.ray is None:
            return nullcontext()
        connect = import_extra("parlour.training.play.parallel.ray.pool", "ray").connect
        pool: AbstractContextManager[Pool] = connect(self.ray, self.ray_workers, model)
        return pool


class ProcessSettings(RaySettings):
    """Which processes play."""

    workers: Annotated[int, COMMON] = Field(default=1, ge=1)
    """Number of processes that play. The result does not depend on it."""

    @contextmanager
    def players(self, model: Model | None = None) -> Iterator[Workers]:
        """A number of processes, or Ray's. Raises `ParlourError` if both are asked for.

        Args:
            model: Whose usage in Ray's processes is added to what it used here.
        """
        if self.ray is not None and self.workers != 1:
            raise ParlourError(f"--workers {self.workers} goes without --ray; accepted: --ray-workers")
        with self.pool(model) as pool:
            yield self.workers if pool is None else pool

    @contextmanager
    def opened(self, model: Model | None = None) -> Iterator[Pool | None]:
        """The processes, which end with the context; None for the caller's own alone. Arguments and errors as of `players`."""
        from parlour.training.play.parallel.executor import opened

        with self.players(model) as workers, opened(workers) as pool:
            yield pool


_PROCESSES: Final = Options(panel="Processes and failures")
RayOptions = Annotated[RaySettings, _PROCESSES]
ProcessOptions = Annotated[ProcessSettings, _PROCESSES]
FailureOptions = Annotated[Failures, Options(panel="Processes and failures")]
