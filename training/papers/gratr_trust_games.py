"""Trust at every judgement: readers of the same messages at the same moments of the same games.

A game is played once, by players that decide it; at every turn of a seat of the village each reader is asked as if it sat
there, and what it would do is dropped. So what is compared is what methods make of the same words, with the same errors of
reading, and not what became of it: hundreds of judgements a game, where who won is one bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from parlour.envs.core import NATURE
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.envs.werewolf.vocabulary import CHECKED, REVEALED, VILLAGE, WOLVES, WerewolfView, side_of
from parlour.policies.base import Policy
from parlour.policies.llm.make import NoisyModel
from parlour.policies.llm.model import Model
from parlour.policies.llm.noise import ReadingNoise
from parlour.training.measure.werewolf.transcripts import NOTE
from parlour.training.papers.noisy_bayes import NoisyBayes
from parlour.training.play import rollout

MakePolicy = Callable[[], Policy]
BAYES: Final = "Bayes, noise known"
"""The yardstick, beside the readers (`noisy_bayes`)."""


@dataclass(frozen=True)
class TrustJudgement:
    """What all readers hold of one living player at one turn of a seat of the village that does not know him for certain."""

    deal: int
    """Seed of the game."""
    observer: int
    day: int
    target: int
    ally: bool
    """Whether he is of the village."""
    trust: tuple[float, ...]
    """By reader, in their order, the yardsticks last; each in [-1, 1]."""


def judgements(
    env: Any,
    seed: int,
    player: MakePolicy,
    readers: Mapping[str, MakePolicy],
    noise: ReadingNoise,
    habits: Sequence[WerewolfHabits | None] = (None,),
) -> list[TrustJudgement]:
    """Play one game, and all that its readers judge on the way.

    Args:
        env: A table of Werewolf (`rollout.table`).
        seed: Seed of the deal, the players and the readers.
        player: Makes the player of each seat.
        readers: Name -> makes a player that notes `beliefs`.
        noise: Noise of the yardsticks; the readers' noise is in their models.
        habits: Habits of each yardstick; None for the fixed ones.
    """
    seats = [
        _Watched(player(), [make() for make in readers.values()], noise, habits) for _ in range(env.game_env.game.seats)
    ]
    episode = rollout.play(env, seats, seed)
    good = [side_of(view.role) == VILLAGE for view in episode.last_views]
    return [
        TrustJudgement(seed, seat.seat, day, target, good[target], trust)
        for seat in seats
        for day, target, trust in seat.judged
    ]


def noise_of(model: Model) -> ReadingNoise:
    """The noise of a model; none where it has none."""
    return model.noise if isinstance(model, NoisyModel) else ReadingNoise()


class _Watched(Policy):
    """A seat whose player plays, and at which readers judge."""

    name: ClassVar[str] = "watched"
    wants: ClassVar[str] = "view"

    def __init__(
        self,
        player: Policy,
        readers: Sequence[Policy],
        noise: ReadingNoise,
        habits: Sequence[WerewolfHabits | None],
    ) -> None:
        super().__init__()
        self._player, self._readers, self._noise, self._habits = player, readers, noise, habits
        self.judged: list[tuple[int, int, tuple[float, ...]]] = []
        """Day, target and trust of each judgement."""

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._seed = seed
        self._bayes: list[NoisyBayes] = []
        self.judged = []
        self._trust: list[dict[int, float]] = [{} for _ in self._readers]
        for reader in (self._player, *self._readers):
            reader.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        view: WerewolfView = info["view"]
        if view.side != WOLVES and len(view.legal) > 1 and not info.get("asked_again"):
            self._judge(observation, info, view)
        return self._player.act(observation, info)

    def _judge(self, observation: Any, info: dict[str, Any], view: WerewolfView) -> None:
        for reader, trust in zip(self._readers, self._trust, strict=True):
            reader.act(observation, info)
            for who, (_, number) in reader.notes().get(NOTE, {}).items():
                trust[int(who.rpartition("_")[2])] = float(number)
        self._bayes = self._bayes or [NoisyBayes(view, self._seed, self._noise, habit) for habit in self._habits]
        known, posteriors = certain(view), [bayes.trust(view) for bayes in self._bayes]
        for target, alive in enumerate(view.alive):
            if alive and target not in known:
                by_reader = tuple(trust.get(target, 0.0) for trust in self._trust)
                by_bayes = (posterior[target] for posterior in posteriors)
                self.judged.append((view.day, target, (*by_reader, *by_bayes)))


def certain(view: WerewolfView) -> set[int]:
    """Whose side a seat of the village knows: its own, and those it checked or whose role was revealed."""
    known_moves = (
        event.move for event in view.events if event.seat == NATURE and event.move.kind in (CHECKED, REVEALED)
    )
    return {view.seat, *(move.args[0] for move in known_moves)}
