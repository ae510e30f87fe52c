"""Settings of a run that learns habits from recorded games."""

from __future__ import annotations

from dataclasses import dataclass

from parlour.envs.core import accept, check_from
from parlour.training.learn.habits.avalon.priors import Widths
from parlour.training.learn.habits.avalon.validate import Learning

WIDTHS = (0.01, 10.0)
"""Of priors: below the first nothing is learned, beyond the second they say nothing."""


@dataclass(frozen=True)
class HabitsConfig:
    """One run."""

    source: str = "runs/records"
    """Folder with transcripts of Avalon or Werewolf to learn from."""
    test: str | None = None
    """Folder with transcripts to test the habits on; None: cross-validation alone."""
    words: bool = True
    """Whether habits of words are learned, too, where free words of Avalon are recorded; both are then compared."""
    folds: int = 5
    """Parts of the games; each is read by habits learned from the others."""
    shared_width: float = 1.5
    """Standard deviation of the prior of what tables of all numbers of players share, in log-odds."""
    own_width: float = 0.5
    """The same of what each number of players has of its own."""
    seed: int = 0
    """Of the folds and the intervals: the same seed gives the same result."""

    def __post_init__(self) -> None:
        for name, least in (("folds", 2), ("seed", 0)):
            check_from(name, getattr(self, name), least)
        for name in ("shared_width", "own_width"):
            if not WIDTHS[0] <= getattr(self, name) <= WIDTHS[1]:
                raise accept(name, getattr(self, name), f"a number from {WIDTHS[0]} to {WIDTHS[1]}")

    @property
    def learning(self) -> Learning:
        """How habits are learned."""
        return Learning(Widths(self.shared_width, self.own_width), words=self.words, folds=self.folds, seed=self.seed)
