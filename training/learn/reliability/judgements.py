"""Trust at every judgement of a game: a reader of the same messages as the player, at every turn of a seat of the village.

The game is played by players that decide it; the reader is asked as if it sat there, and what it would do is dropped. So a game
gives hundreds of judgements, where who won is one bit. Trust t in [-1, 1] is scored as the chance (1 + t) / 2 that a player is of
the village, kept from 0 and 1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np
from parlour.envs.core import NATURE
from parlour.envs.werewolf.vocabulary import CHECKED, REVEALED, VILLAGE, WOLVES, WerewolfView, side_of
from parlour.policies.base import Policy
from parlour.training.measure.werewolf.transcripts import NOTE
from parlour.training.play import rollout

Array = np.ndarray[Any, np.dtype[np.float64]]
MakePolicy = Callable[[], Policy]
R = TypeVar("R", bound=Policy)
J = TypeVar("J")
LEAST: Final = 0.02
"""The least chance that trust is read as: trust of -1 is no proof, and a log loss has to be finite."""


@dataclass(frozen=True)
class TrustJudgement:
    """What the reader holds of one living player at one turn of a seat of the village that does not know him for certain."""

    observer: int
    target: int
    ally: bool
    """Whether he is of the village."""
    trust: float
    """In [-1, 1]."""


def judgements(env: Any, seed: int, player: MakePolicy, reader: MakePolicy) -> list[TrustJudgement]:
    """Play one game, and all that the reader judges on the way.

    Args:
        env: A table of Werewolf (`rollout.table`).
        seed: Seed of the deal, the players and the readers.
        player: Makes the player of each seat.
        reader: Makes a player that notes `beliefs`.
    """
    seats = [_Judging(player(), reader()) for _ in range(env.game_env.game.seats)]
    episode = rollout.play(env, seats, seed)
    good = [side_of(view.role) == VILLAGE for view in episode.last_views]
    return [TrustJudgement(seat.seat, target, good[target], trust) for seat in seats for target, trust in seat.judged]


def log_loss(judged: Sequence[TrustJudgement]) -> Array:
    """Log loss of each judgement, in nats; 0.693 for a coin.

    >>> log_loss([TrustJudgement(0, 1, True, 0.0), TrustJudgement(0, 2, False, 1.0)]).round(3)
    array([0.693, 3.912])
    """
    trust = np.array([judgement.trust for judgement in judged])
    ally = np.array([judgement.ally for judgement in judged])
    chance = np.clip((1 + trust) / 2, LEAST, 1 - LEAST)
    return -np.log(np.where(ally, chance, 1 - chance))


class ReadSeat(Policy, Generic[R, J]):
    """A seat whose player plays, and at which a reader reads along while it is one of the village."""

    name: ClassVar[str] = "read along"
    wants: ClassVar[str] = "view"

    def __init__(self, player: Policy, reader: R) -> None:
        super().__init__()
        self._player, self._reader = player, reader
        self.judged: list[J] = []
        """What `_judge` gave, turn by turn."""

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.judged = []
        for policy in (self._player, self._reader):
            policy.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        view: WerewolfView = info["view"]
        if view.side != WOLVES and len(view.legal) > 1 and not info.get("asked_again"):
            self._reader.act(observation, info)
            known, notes = certain(view), self._reader.notes()
            self.judged += self._judge(notes, [k for k, alive in enumerate(view.alive) if alive and k not in known])
        return self._player.act(observation, info)

    @abstractmethod
    def _judge(self, notes: Mapping[str, Any], targets: list[int]) -> Iterable[J]:
        """What to keep of a turn at which the reader noted this; the living `targets` it does not know for certain."""


class _Judging(ReadSeat[Policy, tuple[int, float]]):
    """... and judges: target and trust of each judgement."""

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._trust: dict[int, float] = {}

    def _judge(self, notes: Mapping[str, Any], targets: list[int]) -> Iterable[tuple[int, float]]:
        for who, (_, number) in notes.get(NOTE, {}).items():
            self._trust[int(who.rpartition("_")[2])] = float(number)
        return [(target, self._trust.get(target, 0.0)) for target in targets]


def certain(view: WerewolfView) -> set[int]:
    """Whose side a seat of the village knows: its own, and those it checked or whose role was revealed."""
    known_moves = (
        event.move for event in view.events if event.seat == NATURE and event.move.kind in (CHECKED, REVEALED)
    )
    return {view.seat, *(move.args[0] for move in known_moves)}
