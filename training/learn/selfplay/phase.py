"""A finished phase of a run of self-play, its file, and the phases of a run as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.files import read_json, write_json
from parlour.training.learn.selfplay.config import RULE
from parlour.training.learn.selfplay.learner import LOSSES
from parlour.training.learn.selfplay.seating import MemberScore
from parlour.training.measure.statistics import Estimate, rate
from parlour.training.results.runs import write_csv

PHASES: Final = "phases"
RATE: Final = ("n", "win_rate", "low", "high")
"""Columns of a rate in a CSV file."""


@dataclass(frozen=True)
class Phase:
    """A finished phase: of imitation the first, of self-play the others."""

    number: int
    """From 0."""
    steps: int
    """Decisions learned from until its end, imitation left aside."""
    seconds: float
    """Processor time until its end."""
    share: float
    """How much of the run is done, 0 to 1."""
    games: int
    """Games that ended in it."""
    scores: tuple[MemberScore, ...]
    losses: Mapping[str, float]
    """Losses of its last update."""
    against: Mapping[str, tuple[int, int]]
    """Side -> games won and played against the heuristic on validation deals, as whole side."""
    returned: float | None = None
    """Mean return in the games against opponents that ended in it."""

    def won(self, side: str | None = None) -> Estimate | None:
        """Share of the validation games won, as one side or both."""
        counts = [count for name, count in self.against.items() if side in (None, name)]
        return rate(sum(won for won, _ in counts), sum(n for _, n in counts))

    @property
    def metrics(self) -> dict[str, float | None]:
        """Under the names of all trainers."""
        metrics: dict[str, float | None] = {"charts/episodes": self.games, "charts/episodic_return": self.returned}
        for side in (None, *self.against):
            won, name = self.won(side), "eval/win_rate" if side is None else f"eval/win_rate_{side}"
            value, low, high = (None, None, None) if won is None else (won.value, *won.ends)
            metrics |= {name: value, f"{name}_low": low, f"{name}_high": high}
        metrics["eval/episodes"] = sum(n for _, n in self.against.values())
        return metrics | {LOSSES[name]: value for name, value in self.losses.items()}

    @property
    def note(self) -> str:
        """How the network stood against the heuristic on validation deals."""
        shares = [f"{won / n:.2f} as {name}" for name, (won, n) in self.against.items()]
        return f"win rate against {RULE} {', '.join(shares)}" if shares else ""

    def write(self, folder: Path) -> None:
        """Replace its file as a whole."""
        write_json(_file(folder, self.number), asdict(self))

    @classmethod
    def read(cls, folder: Path, number: int) -> Phase:
        """Raises `ParlourError` for a file that is none of a phase."""
        path = _file(folder, number)
        stored: dict[str, Any] = read_json(path)
        try:
            scores = tuple(MemberScore(**score) for score in stored["scores"])
            against = {side: (won, n) for side, (won, n) in stored["against"].items()}
            return cls(**stored | {"scores": scores, "against": against})
        except (KeyError, TypeError, ValueError) as error:
            raise ParlourError(
                f"{str(path)!r} cannot be used ({error}); accepted: what `train selfplay` left"
            ) from None


def _file(folder: Path, number: int) -> Path:
    return folder / PHASES / f"phase{number:03d}.json"


def write_training(phases: Sequence[Phase], folder: Path) -> None:
    """training.csv: each phase's games by opponent and side of the network."""
    rows = [
        [phase.steps, score.side, score.member, *rate_cells(rate(score.won, score.n))]
        for phase in phases
        for score in phase.scores
    ]
    write_csv(folder / "training.csv", ["steps", "side", "opponent", *RATE], rows)


def rate_cells(estimate: Estimate | None) -> list[Any]:
    """A rate under the columns `RATE`."""
    if estimate is None:
        return [0, None, None, None]
    return [estimate.n, *(round(x, 4) for x in (estimate.value, *estimate.ends))]
