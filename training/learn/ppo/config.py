"""The settings of `train seat`. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from parlour.envs.core import TABLE, ParlourError
from parlour.envs.registry import kinds_of, lookup
from parlour.envs.settings import COMMON, Settings
from parlour.training.play import seeds
from pydantic import Field, model_validator

NOT_DECIDING: Final = ("processes",)
"""Settings on which the result does not depend."""


class SeatConfig(Settings):
    """Everything that decides the training of one seat; saved with the run.

    Raises:
        ParlourError: A number is too small, or phase, rollout and envs do not divide each other.
    """

    game: str = "avalon_v0"
    """Name of the game."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the game; those left out are the game's own defaults."""
    steps: Annotated[int, COMMON] = Field(default=400_000, ge=1)
    """Number of decisions of the learner; rounded up to whole phases."""
    phase_steps: int = Field(default=40_960, ge=1)
    """Decisions of the learner between two checkpoints."""
    envs: int | None = Field(default=None, ge=1)
    """Number of games played side by side; by default 256 if the game has kernels, else 32."""
    processes: int = Field(default=2, ge=1)
    """Number of processes that play them. The result does not depend on it."""
    rollout: int = Field(default=4096, ge=1)
    """Decisions between two updates, over all games."""
    batch: int = Field(default=1024, ge=1)
    """Decisions in a minibatch of an update."""
    epochs: int = Field(default=4, ge=1)
    """Passes over the decisions in an update."""
    learning_rate: Annotated[float | None, COMMON] = None
    """Learning rate of the first phase, by default 0.0015 if the game has kernels, else 0.0007; it decreases linearly,
    phase by phase, to a tenth."""
    entropy: float = 0.005
    """Coefficient of the entropy bonus."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantage estimation."""
    hidden: Annotated[tuple[int, ...], COMMON] = (128, 128)
    """Widths of the hidden layers."""
    seed: Annotated[int, COMMON] = Field(default=0, ge=0)
    """The same seed gives the same result."""

    opponents: Annotated[str, COMMON] = "heuristic"
    """Policy of the other seats."""
    seat: Annotated[int | Literal["random"], COMMON] = "random"
    """The learner's seat, or `random` for a random seat in each game."""
    features: Annotated[str | None, COMMON] = None
    """Kind of features that it learns from; by default `belief` if the game has it, else `table`."""
    validation_games: int = Field(default=300, ge=1)
    """Number of games for each point of the curve."""

    @model_validator(mode="after")
    def _divides(self) -> Self:
        if self.rollout % (self.envs or 1) or self.phase_steps % self.rollout:
            raise ParlourError(
                f"rollout {self.rollout} and phase_steps {self.phase_steps} are not accepted; accepted: a multiple of "
                f"envs ({self.envs or 'by default'}), and a multiple of rollout"
            )
        return self

    @property
    def phases(self) -> int:
        """How many phases the run has."""
        return -(-self.steps // self.phase_steps)


def env_seeds(config: SeatConfig, phase: int, envs: int) -> list[int]:
    """A seed for each table of a phase."""
    return [seeds.derive(config.seed, phase, k) % len(seeds.TRAINING) for k in range(envs)]


def features_of(game: str, features: str | None) -> str:
    """The kind of features asked for; None: `"belief"` where the game has it, else `"table"`."""
    return features or ("belief" if "belief" in kinds_of(lookup(game).spec, {}) else TABLE)
