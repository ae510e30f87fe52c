"""Playing for experience: the network's decisions at all tables, with what the critic may see and what they led to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.tables import BatchTables
from parlour.training.learn.batch.networks import use_one_thread
from parlour.training.learn.batch.players import NetworkPlayer
from parlour.training.learn.selfplay.belief_reward import BeliefReward
from parlour.training.learn.selfplay.seating import ALONE, WHOLE_SIDE, MemberScore, SelfplaySeating

_Floats = NDArray[np.float32]


@dataclass
class Experience:
    """N decisions of the network, in the order of play, and the turns they were made in."""

    observation: _Floats
    """Shape (N, F)."""
    hidden: _Floats
    """Shape (N, P)."""
    mask: NDArray[np.uint8]
    """Shape (N, A)."""
    action: NDArray[np.int64]
    chance: _Floats
    """Logarithm of the chance with which a network drew the action, shape (N,)."""
    row: NDArray[np.int32]
    """Number of the decision at turn t of table b, or -1, shape (T, B)."""
    actor: NDArray[np.int32]
    rewards: _Floats
    """Shape (T, B, n)."""
    terminated: NDArray[np.uint8]


@dataclass
class Clock:
    """Where the processor time goes, in seconds."""

    rules: float = 0.0
    network: float = 0.0
    opponents: float = 0.0
    learning: float = 0.0

    def shares(self) -> str:
        """In per cent.

        >>> Clock(1.0, 2.0, 1.0, 4.0).shares()
        'rules 12 %, network 25 %, opponents 12 %, learning 50 %'
        """
        total = sum(vars(self).values()) or 1.0
        return ", ".join(f"{name} {100 * value / total:.0f} %" for name, value in vars(self).items())


class Floor:
    """Tables at which the network learns, seated until the next snapshot.

    Args:
        tables: With `autoreset`.
        seating: Who plays where.
        players: The opponents, by name.
        seeds: One for each table.
        sides: The two sides of the game.
        turns: Turns of each table in an update.
        believed: Weight of the reward for being believed; see `belief_reward`.
    """

    def __init__(
        self,
        tables: BatchTables,
        seating: SelfplaySeating,
        players: Mapping[str, BatchPlayer],
        seeds: Sequence[int],
        sides: Sequence[str],
        turns: int,
        believed: float = 0.0,
    ) -> None:
        self.tables, self.seating, self.sides = tables, seating, sides
        self._length = turns
        self._turns = tables.reset(seeds)
        use_one_thread()
        self._opponents = [
            (number, players[seating.opponents[number]]) for number in np.unique(seating.opponent) if number >= 0
        ]
        for number, player in self._opponents:
            player.reset(tables, seeds, number + 1)
        self._actions = np.zeros(tables.num_envs, np.int32)
        self._won = np.zeros((len(seating.opponents), 2), np.int64)
        self._played = np.zeros((len(seating.opponents), 2), np.int64)
        self.games = 0
        self._believed = BeliefReward(tables, believed) if believed else None
        if self._believed is not None:
            self._believed.begin(self._turns.observation, self._turns.actor)
        tables_, capacity = tables.num_envs, turns * tables.num_envs
        self._kept = Experience(
            np.empty((capacity, tables.size), np.float32),
            np.empty((capacity, tables.hidden_size), np.float32),
            np.empty((capacity, tables.actions), np.uint8),
            np.empty(capacity, np.int64),
            np.empty(capacity, np.float32),
            np.empty((turns, tables_), np.int32),
            np.empty((turns, tables_), np.int32),
            np.empty((turns, tables_, tables.seats), np.float32),
            np.empty((turns, tables_), np.uint8),
        )

    def collect(self, player: BatchPlayer, clock: Clock) -> Experience:
        """Play on for the turns of one update. The arrays are used again by the next call.

        Args:
            player: Chooses for the network's seats; reset by the caller, as number 0.
            clock: Told where the time goes.
        """
        kept, count = self._kept, 0
        for t in range(self._length):
            turns = self._turns
            own = self.seating.own(turns.actor, self.tables.side)
            rows = np.flatnonzero(own).astype(np.int32)
            until = count + len(rows)
            started = process_time()
            kept.row[t] = -1
            kept.row[t, rows] = np.arange(count, until, dtype=np.int32)
            kept.actor[t] = turns.actor
            np.take(turns.observation, rows, axis=0, out=kept.observation[count:until], mode="clip")
            np.take(turns.mask, rows, axis=0, out=kept.mask[count:until], mode="clip")
            np.take(self.tables.hidden(), rows, axis=0, out=kept.hidden[count:until], mode="clip")
            clock.rules += process_time() - started
            started = process_time()
            player.choose(turns, rows, self._actions)
            kept.action[count:until] = self._actions[rows]
            if isinstance(player, NetworkPlayer):
                kept.chance[count:until] = player.chances[: len(rows)]
            clock.network += process_time() - started
            started = process_time()
            for number, opponent in self._opponents:
                others = np.flatnonzero(~own & (self.seating.opponent == number)).astype(np.int32)
                if len(others):
                    opponent.choose(turns, others, self._actions)
            clock.opponents += process_time() - started
            started = process_time()
            sides = self.tables.side.copy()  # of the games that this turn may end
            self._turns = turns = self.tables.step(self._actions)
            kept.rewards[t], kept.terminated[t] = turns.rewards, turns.terminated
            if self._believed is not None:
                self._believed.add(turns, kept.actor[t], self._actions, sides, kept.rewards[t])
            self._count(np.flatnonzero(turns.terminated), sides)
            clock.rules += process_time() - started
            count = until
        return Experience(
            *(getattr(kept, name)[:count] for name in ("observation", "hidden", "mask", "action", "chance")),
            *(getattr(kept, name) for name in ("row", "actor", "rewards", "terminated")),
        )

    def _count(self, ended: NDArray[np.intp], sides: NDArray[np.int8]) -> None:
        self.games += len(ended)
        met = ended[self.seating.opponent[ended] != ALONE]
        seat, number = self.seating.seat[met], self.seating.opponent[met]
        own = np.where(seat == WHOLE_SIDE, self.seating.side[met], sides[met, np.maximum(seat, 0)])
        np.add.at(self._played, (number, own), 1)
        np.add.at(self._won, (number, own), self.tables.winner[met] == own)

    def scores(self) -> list[MemberScore]:
        """The games that ended, by opponent and side of the network."""
        return [
            MemberScore(name, side, int(self._played[k, s]), int(self._won[k, s]))
            for k, name in enumerate(self.seating.opponents)
            for s, side in enumerate(self.sides)
            if self._played[k, s]
        ]
