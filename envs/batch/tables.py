"""Thousands of games of one kind at once: arrays of those to move, their masks and what they see.

`BatchTables` is what users hold and what a game's kernels plug into. The scalar game is the truth: tables, catalogue and
numbering come from it, and lockstep tests hold the kernels to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, NamedTuple

import numpy as np
from parlour.envs.core import Game, ParlourError, accept, check_from, check_one_of
from parlour.envs.registry import build
from parlour.envs.spec import GameSpec

Array = np.ndarray[Any, Any]
ILLEGAL = -2
"""What a kernel writes to `winner` for an action that the mask does not allow; nothing is played at that table."""
HOLD = -1
"""As an action: nothing is played at that table in this step."""
Autoreset = Literal["same_step", "next_step"] | None
SAME_STEP: Final = "same_step"
RESETS_NOW, RESETS_NEXT = 1, 2
"""The ways of `Autoreset` as numbers, for kernels; 0: a finished game stays over."""
_RESETS: Final[dict[Autoreset, int]] = {None: 0, SAME_STEP: RESETS_NOW, "next_step": RESETS_NEXT}
NOBODY = -1
"""The seat to move at a table that is over, and the winner where nobody has won."""


class Turns(NamedTuple):
    """Whose turn it is at each of B tables. The arrays are buffers that the next call writes to again."""

    actor: Array
    """(B,) int32: the seat to move; -1 at a table that is over."""
    mask: Array
    """(B, A) uint8: 1 for what it may do, in its own frame."""
    observation: Array
    """(B, F) float32: what it sees, in its own frame."""
    rewards: Array
    """(B, n) float32: what each seat got for the step just made."""
    terminated: Array
    """(B,) uint8: 1 where that step ended the game."""


def seeds_of(seed: int | Sequence[int], games: int) -> list[int]:
    """The seed of each game: drawn from an int, or given.

    Raises:
        ParlourError: It is neither a whole number from 0 nor one for each game.
    """
    if isinstance(seed, int | np.integer) and seed >= 0:
        return [int(word) for word in np.random.SeedSequence(int(seed)).generate_state(games, np.uint64)]
    seeds = [] if isinstance(seed, int | np.integer | str) else list(seed)
    if len(seeds) != games or not all(isinstance(number, int | np.integer) and number >= 0 for number in seeds):
        raise accept("seed", seed, f"a whole number from 0, or a sequence of {games} of them")
    return [int(number) for number in seeds]


class BatchTables(ABC):
    """B games of one configuration.

    Seats number their actions in their own frame: action k of seat i is `game.catalogue[frame.order[i, k]]`. A game that
    ends is dealt again from its own stream of random numbers.

    Args:
        spec: The game.
        config: The options of the game.
        num_envs: B, the number of games.
        features: What seats see, one of the kinds of the table but `"table"`.
        autoreset: When a finished game is dealt again, as in Gymnasium's vector environments: `"same_step"`, with the step that
            ends it, or `"next_step"`, whose action is not looked at; None: it stays over (actor -1, no legal action).
        threads: Cores to use.

    Raises:
        ParlourError: An argument is not accepted.
    """

    heuristic: ClassVar[str] = ""
    """Dotted name of `(tables, where, actions)`: writes what the heuristic plays at the tables of `where` to `actions`; empty if there
    is none for arrays."""
    kinds: ClassVar[tuple[str, ...]]
    """The kinds of features that its kernels have."""

    size: int
    """F, the number of features."""
    names: Sequence[str]
    """What each feature is."""
    hidden_size: int
    """P, the number of hidden features; see `hidden`."""

    def __init__(
        self,
        spec: GameSpec,
        config: dict[str, Any],
        *,
        num_envs: int,
        features: str = "summary",
        autoreset: Autoreset = SAME_STEP,
        threads: int = 1,
    ) -> None:
        check_from("num_envs", num_envs, 1)
        check_from("threads", threads, 1)
        self.spec, self.features, self.num_envs = spec, features, int(num_envs)
        self.game: Game[Any] = build(spec, config)
        self.encoders = spec.encoder(self.game)
        check_one_of("features", features.partition(":")[0], self._kinds())
        self.frame = self.encoders.frame()
        self.seats, self.actions = self.game.seats, len(self.game.catalogue)
        check_one_of("autoreset", autoreset, _RESETS)
        self.autoreset, self.threads = autoreset, int(threads)
        self.resets = _RESETS[autoreset]
        """The same as a number, for kernels."""

    @classmethod
    def plays(cls, game: Game[Any]) -> bool:
        """Whether it has the rules of this table of its game."""
        return True

    def _kinds(self) -> tuple[str, ...]:
        return self.kinds

    def _allocate(self) -> None:
        """Make the buffers of `Turns`, once `size` is known."""
        b = self.num_envs
        self.winner: Array = np.full(b, NOBODY, np.int8)
        """(B,): index into `spec.sides` of the side that won the game that ended in the last step; -1 for none."""
        self._chosen = np.zeros(b, np.int32)
        self._turns = Turns(
            np.full(b, NOBODY, np.int32),
            np.zeros((b, self.actions), np.uint8),
            np.zeros((b, self.size), np.float32),
            np.zeros((b, self.seats), np.float32),
            np.zeros(b, np.uint8),
        )

    # -- playing -----------------------------------------------------------------------------------------------

    @abstractmethod
    def reset(self, seed: int | Sequence[int]) -> Turns:
        """Deal all games.

        Args:
            seed: A number, from which every game gets a stream of its own; or a sequence of B numbers: games with the
                same number get the same deals.
        """

    @abstractmethod
    def deal(self, moves: Array) -> Turns:
        """Begin all games with given deals, for tests and for games on the same deals; `reset` comes first.

        Args:
            moves: (B, ...) whole numbers: row b is the `args` of the first move of nature in the scalar game.
        """

    def step(self, actions: Array) -> Turns:
        """Let the seat to move at each table act.

        Args:
            actions: (B,) whole numbers, in the frames of the seats; `HOLD` where nothing is to be played; not looked at where
                a table is over.

        Raises:
            ParlourError: Some action is not legal; nothing was played at those tables.
        """
        np.copyto(self._chosen, actions, casting="same_kind")
        self._play(self._chosen)
        if self.winner.min() == ILLEGAL:  # one look at each table where all is well
            self._hold_or_refuse()
        return self._turns

    def _hold_or_refuse(self) -> None:
        stays = (self.winner == ILLEGAL) & (self._chosen == HOLD)
        self.winner[stays], self._turns.rewards[stays], self._turns.terminated[stays] = NOBODY, 0, 0
        if self.winner.min() == ILLEGAL:
            table = int(np.flatnonzero(self.winner == ILLEGAL)[0])
            actor, mask = int(self._turns.actor[table]), self._turns.mask[table]
            raise ParlourError(
                f"action {int(self._chosen[table])} of seat {actor} at table {table} is not accepted; accepted: "
                f"{', '.join(map(str, np.flatnonzero(mask)))}"
            )

    def play_random(self, steps: int = 1) -> Turns:
        """Let every table play `steps` legal actions drawn inside the kernel, each as likely as the others.

        Rewards, ends and winners describe the last turn.
        """
        for _ in range(steps):
            self._play_random()
        return self._turns

    @abstractmethod
    def observe(self) -> Turns:
        """The same turns again: actor, mask and observation written again; rewards and ends stay."""

    @abstractmethod
    def _play(self, actions: Array) -> None:
        """Play `actions` (int32) and write turns and `winner`."""

    @abstractmethod
    def _play_random(self) -> None:
        """The same with actions drawn from the stream of the players."""

    # -- what stands behind the turns --------------------------------------------------------------------------

    @property
    @abstractmethod
    def roles(self) -> Array:
        """(B, n) int8: the role number of each seat in the present games."""

    @property
    @abstractmethod
    def side(self) -> Array:
        """(B, n) int8: the side of each seat in the present games, an index into `spec.sides`."""

    @abstractmethod
    def hidden(self, out: Array | None = None) -> Array:
        """What a critic may see while learning: the role of each seat, one-hot, in the frame of the seat to move.

        Args:
            out: (B, P) float32 to write to; a buffer of the tables without it.
        """

    def judged(self) -> Mapping[str, str]:
        """Setting of self-play that has a price -> dotted name of `(tables, actions)`: (B,) bool, where the seat to move would do that."""
        return {}

    @abstractmethod
    def state(self) -> Array:
        """The whole state of the games, as bytes of shape (B, bytes a game): a copy."""

    @abstractmethod
    def restore(self, state: Array) -> Turns:
        """Continue from a result of `state`, for tables made with the same arguments.

        Raises:
            ParlourError: It comes from other tables.
        """
