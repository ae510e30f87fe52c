"""What players by other people's networks have in common: a number for each action; a legal action is taken.

And the settings by which they are named on the command line; and what our players in other people's loops must read and answer.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
from gymnasium import spaces
from parlour.envs.core import ParlourError, check_one_of
from parlour.policies.base import Policy
from parlour.policies.network import softmax

Scores = np.ndarray[Any, np.dtype[np.float64]]
ACTIONS: Final = ("moves", "ranks")


class ScoredSeat(Policy):
    """Takes the legal action with the highest number, or draws among them; counts what the network would have done.

    Args:
        observation_space: What the network was trained on: the features, or the dictionary of features and mask.
        action_space: What it was trained on: the numbers of the catalogue; or these and `wait`, as in our parallel
            environments; or ranks.
        sample: Draw, the numbers being logits; otherwise the highest.
        actions: `"moves"`: an action is the number of a move; `"ranks"`: it was trained in `parlour.wrappers.LegalRanks`.

    Raises:
        ParlourError: A setting is not accepted, or the actions are not numbers.
    """

    wants: ClassVar[str] = "features"
    knew_mask: bool = False
    """Whether it chose among legal moves while it learned; then there is nothing to count."""

    def __init__(
        self, observation_space: spaces.Space[Any], action_space: spaces.Space[Any], *, sample: bool, actions: str
    ) -> None:
        super().__init__()
        check_one_of("actions", actions, ACTIONS)
        if not isinstance(action_space, spaces.Discrete):
            raise ParlourError(f"a checkpoint with actions {action_space} is not accepted; accepted: Discrete")
        self.observation_space, self.count = observation_space, int(action_space.n)
        self.sample, self.actions = sample, actions
        self.replaced = 0
        """Turns at which its own first choice, without regard to the mask, was no legal move; over all games."""
        self._wanted: int | None = None

    @abstractmethod
    def scores(self, seen: Any) -> Scores:
        """What the network says to each action, shape (actions,): logits, or values. `seen` is as it was trained."""

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self._wanted = None

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        """Raises `ParlourError` if the table has other numbers than the network was trained with."""
        mask, seen = observation["action_mask"], self._seen(observation)
        self._wanted = None
        if self.actions == "ranks":
            legal = np.flatnonzero(mask)
            return int(legal[self.free(seen) % len(legal)])
        return self.choose(seen, mask)

    def choose(self, seen: Any, mask: Any) -> int:
        """The number of a legal move."""
        scores = self.scores(seen)
        if not self.knew_mask:
            self.note(int(np.argmax(scores)), mask)
        scores = scores[: len(mask)]
        scores[mask == 0] = -np.inf
        return self._pick(scores)

    def free(self, seen: Any) -> int:
        """Its own choice among all actions."""
        return self._pick(self.scores(seen))

    def note(self, chosen: int, mask: Any) -> None:
        """Count a choice that is no legal move."""
        if chosen >= len(mask) or not mask[chosen]:
            self.replaced += 1
            self._wanted = chosen

    def notes(self) -> dict[str, Any]:
        """`wanted`: its own first choice at the last turn, where that was no legal move."""
        return {} if self._wanted is None else {"wanted": self._wanted}

    def save(self, path: str | Path) -> None:
        """Raises `ParlourError`: the checkpoint is a file already."""
        raise ParlourError(f"a checkpoint is saved by its own library; accepted: {self.name}:file=PATH")

    # -- inside ------------------------------------------------------------------------------------------------

    def _seen(self, observation: dict[str, Any]) -> Any:
        space, features, mask = self.observation_space, observation["observation"], observation["action_mask"]
        wait = self.count == len(mask) + 1
        parts = {"observation": features, "action_mask": np.append(mask, np.int8(0)) if wait else mask}
        seen = {key: parts.get(key) for key in space.spaces} if isinstance(space, spaces.Dict) else features
        fits = self.actions == "ranks" or wait or self.count == len(mask)
        if not fits or _shape(seen) != _shape(space):
            raise ParlourError(
                f"a table with {features.size} features and {len(mask)} actions; accepted: {_shape(space)} and "
                f"{self.count} actions, as the checkpoint was trained with (ranks: with actions=ranks)"
            )
        return seen

    def _pick(self, scores: Scores) -> int:
        if not self.sample:
            return int(np.argmax(scores))
        return int(self.rng.choice(len(scores), p=softmax(scores)))


def check_algorithm(algorithm: str, algorithms: Mapping[str, Any], valued: Sequence[str], *, sample: bool) -> None:
    """Raise `ParlourError` for an unknown algorithm, and for `sample` with one of values, which are no logits."""
    check_one_of("algorithm", algorithm, algorithms)
    if sample and algorithm in valued:
        raise ParlourError(f"sample=true is not accepted with {algorithm}; accepted: sample=false")


def unloadable(algorithm: str, algorithms: Mapping[str, Any]) -> str:
    """What is said about a file that cannot be loaded."""
    return (
        f"cannot be loaded as {algorithm}; accepted: a checkpoint of the algorithm that algorithm= names, one "
        f"of {', '.join(algorithms)}"
    )


def _shape(of: Any) -> Any:
    if isinstance(of, spaces.Dict):
        return {key: part.shape for key, part in of.spaces.items()}
    return {key: np.shape(part) for key, part in of.items()} if isinstance(of, dict) else of.shape


# -- ours in their loops ---------------------------------------------------------------------------------------

_READS: Final = {"view": (), "features": ("observation",), "text": ("text",), "both": ("observation", "text")}


def check_reads(player: Policy, observation: Mapping[str, Any], wrapper: str) -> None:
    """Raise `ParlourError` unless an observation holds what the player reads; `wrapper` is to put it there."""
    missing = [part for part in _READS[player.wants] if part not in observation]
    if missing:
        raise ParlourError(f"{player.name!r} reads {', '.join(missing)}; accepted: {wrapper}(env, {player.wants!r})")


def number_of(player: Policy, answer: Any, info: Mapping[str, Any]) -> int:
    """An answer as a number. Raises `ParlourError` for words that match no option."""
    if not isinstance(answer, str):
        return int(answer)
    if answer not in info["options"]:
        raise ParlourError(
            f"{player.name!r} answers {answer!r:.60}; accepted here: a number, or the words of an option"
        )
    return int(info["legal"][info["options"].index(answer)])
