"""Players cloned from recorded games of Avalon (`parlour train clone`): they choose as the recorded players chose.

`clone:FILE` on the command line. A file holds a choice model or networks:

* A choice model sits at any table of Avalon, 5 to 10 players, talk or none: its features (`features.py`) are a function of the
  seat's View and have the same columns everywhere. It speaks by acts, not in words.
* Networks (`networks.py`), one for each number of players, sit at tables without talk, and play over arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import numpy as np
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.policies.base import Policy
from parlour.policies.cloned import networks
from parlour.policies.cloned.features import decision_of, described, group_of
from parlour.policies.cloned.networks import GAME, ChoiceHead, ChoiceNetwork
from parlour.policies.cloned.record import SeatRecord
from parlour.policies.settings import check_settings

__all__ = ["CLONE", "ChoiceHead", "ChoiceNetwork", "ClonedPlayer", "is_clone", "seated"]

CLONE: Final = "clone"
"""What it is called on the command line."""
_YES: Final = {"yes": True, "no": False}


def is_clone(name: str) -> bool:
    """Whether a policy of this name is a clone, whatever its file is called.

    >>> is_clone("clone:runs/clone/clone.npz"), is_clone("clone.npz")
    (True, False)
    """
    return name.partition(":")[0] == CLONE and name != CLONE


def seated(settings: Mapping[str, str], game: str, config: Mapping[str, Any]) -> Policy:
    """A clone at a table, from words: `file`, and `sample`, `yes` or `no`.

    Returns:
        A `ClonedPlayer`, or a `TrainedSeat` where the file holds networks.

    Raises:
        ParlourError: The game is not Avalon, a setting is not accepted, or the file holds no clone for this table.
    """
    if game != GAME:
        raise accept("game of a clone", game, GAME)
    check_settings(CLONE, settings, ("file", "sample"))
    if "file" not in settings:
        raise ParlourError("clone needs a file; accepted: clone:DIR/clone.npz, or clone:file=DIR/clone.npz,sample=no")
    check_one_of("sample", settings.get("sample", "yes"), _YES)
    file, sample = settings["file"], _YES[settings.get("sample", "yes")]
    if networks.holds_networks(file):
        return networks.CloneNetworks.load(file).seat(config, sample=sample)
    return ClonedPlayer(ChoiceNetwork.load(file), sample=sample)


class ClonedPlayer(Policy):
    """Chooses among the legal moves by the network's probabilities. Needs `info="full"`.

    Args:
        network: What it has learned.
        sample: Draw from the probabilities; otherwise take the most probable move.
    """

    name: ClassVar[str] = CLONE
    wants: ClassVar[str] = "view"

    def __init__(self, network: ChoiceNetwork, *, sample: bool = True) -> None:
        super().__init__()
        self.network, self.sample = network, sample
        self._seen: SeatRecord | None = None

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._seen = None

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` at the table of another game."""
        view = info.get("view")
        if not isinstance(view, AvalonView):
            raise ParlourError(f"a clone reads info['view']; accepted: {GAME} with info='full'")
        return int(info["legal"][self._choose(view)])

    def _choose(self, view: AvalonView) -> int:
        if len(view.legal) == 1:
            return 0
        chances = self.chances(view)
        return int(self.rng.choice(len(chances), p=chances)) if self.sample else int(np.argmax(chances))

    def chances(self, view: AvalonView) -> np.ndarray[Any, np.dtype[np.float64]]:
        """How likely it is to make each of `view.legal`, shape (moves,)."""
        if self._seen is None or not self._seen.follows(view):
            self._seen = SeatRecord(view)
        self._seen.read(view)
        head = self.network.heads[decision_of(view.legal)]
        return head.chances(described(view, self._seen), group_of(view))

    @classmethod
    def from_settings(cls, settings: Mapping[str, str], game: str, config: Mapping[str, Any]) -> Policy:
        """As `seated`."""
        return seated(settings, game, config)

    def save(self, path: str | Path) -> None:
        """Write the network; `sample` is no part of it."""
        self.network.save(path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A player that draws from the network in a file. Raises `ParlourError` as `ChoiceNetwork.load` does."""
        return cls(ChoiceNetwork.load(path))
