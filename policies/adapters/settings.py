"""What may be set for checkpoints of other libraries; needs none of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from parlour.envs.core import ParlourError
from parlour.envs.settings import Accepts, Settings
from pydantic import field_validator


class CheckpointFile(Settings):
    """A checkpoint, and how it plays."""

    file: Annotated[str, Accepts("the path of a checkpoint")]
    """The checkpoint, a file or a folder."""
    sample: bool = False
    """Draw from the network's probabilities; otherwise the most probable legal move."""
    features: str | None = None
    """The features that it was trained on, where nothing beside the file says it."""
    actions: Literal["moves", "ranks"] | None = None
    """What its actions are: numbers of moves; ranks, where it was trained in LegalRanks; None: as the file beside it says, or moves."""

    @field_validator("file")
    @classmethod
    def _is_there(cls, file: str) -> str:
        if not Path(file).exists():
            raise ParlourError(f"there is no checkpoint {file!r}")
        return file


class Sb3Settings(CheckpointFile):
    """What can be set. The file says which algorithm it is; features and actions are beside it (`trained_on`)."""

    algorithm: Literal["PPO", "A2C", "MaskablePPO", "TRPO", "RecurrentPPO", "DQN", "QRDQN", "ARS"] | None = None
    """The algorithm; None: as the file says."""


class RLlibSettings(CheckpointFile):
    """What can be set."""

    module: str | None = None
    """Which module; needed only where there are several."""


class OpenSpielSettings(Settings):
    """What can be set."""

    file: Annotated[str, Accepts("a table of probabilities that `TabularSeat.save` wrote")]
    """The table of probabilities."""
