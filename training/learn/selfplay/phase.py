"""A finished phase of a run, and its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.files import read_json, write_json
from parlour.training.learn.selfplay.seating import MemberScore
from parlour.training.measure.statistics import Rate, rate

PHASES: Final = "phases"


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
    """Of its last update."""
    against: Mapping[str, tuple[int, int]]
    """Side -> games won and played against the heuristic on validation deals, as whole side."""

    def won(self, side: str | None = None) -> Rate | None:
        """Share of the validation games won, as one side or both."""
        own = [one for name, one in self.against.items() if side in (None, name)]
        return rate(sum(won for won, _ in own), sum(n for _, n in own))


def _file(folder: Path, number: int) -> Path:
    return folder / PHASES / f"phase{number:03d}.json"


def write_phase(folder: Path, phase: Phase) -> None:
    """Replace the file of a phase as a whole."""
    write_json(_file(folder, phase.number), asdict(phase))


def read_phase(folder: Path, number: int) -> Phase:
    """Raises `ParlourError` for a file that is none of a phase."""
    path = _file(folder, number)
    told: dict[str, Any] = read_json(path)
    try:
        phase = Phase(**told)
        scores = tuple(MemberScore(**one) for one in told["scores"])
        return replace(phase, scores=scores, against={side: (won, n) for side, (won, n) in told["against"].items()})
    except (KeyError, TypeError, ValueError) as error:
        raise ParlourError(f"{str(path)!r} cannot be used ({error}); accepted: what `train selfplay` left") from None
