"""Playing for experience: the network's decisions at all tables, with what the critic may see and what they led to.

Experience also comes from recorded games, played again by the rules. What was said in a published game that was imported without
its log is not known: nobody imitates that silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from parlour.envs import replay
from parlour.envs.batch.players import BatchPlayer
from parlour.envs.batch.tables import BatchTables
from parlour.envs.common import dotted
from parlour.envs.core import NATURE, OVER, Move, ParlourError
from parlour.envs.language.speech import ACTS
from parlour.training.learn.batch.networks import NetworkPlayer, use_one_thread
from parlour.training.learn.selfplay.seating import ALONE, WHOLE_SIDE, MemberScore, Seating

Floats = NDArray[np.float32]


@dataclass
class Experience:
    """N decisions of the network, in the order of play, and the turns they were made in."""

    observation: Floats
    """Shape (N, F)."""
    hidden: Floats
    """Shape (N, P)."""
    mask: NDArray[np.uint8]
    """Shape (N, A)."""
    action: NDArray[np.int64]
    log_prob: Floats
    """Log-probability of the action under the network that drew it, shape (N,)."""
    row: NDArray[np.int32]
    """Number of the decision at turn t of table b, or -1, shape (T, B)."""
    actor: NDArray[np.int32]
    rewards: Floats
    """Shape (T, B, n)."""
    terminated: NDArray[np.uint8]

    @property
    def turns(self) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats, NDArray[np.uint8]]:
        """The turns, as `parlour.training.learn.batch.kernels` see them."""
        return self.row, self.actor, self.rewards, self.terminated


Judge = Callable[[BatchTables, NDArray[Any]], NDArray[np.bool_]]
"""`(tables, actions)` -> (B,): where the seat to move is about to do what a price is on."""


def judges(prices: Mapping[str, float], tables: BatchTables) -> list[tuple[float, Judge]]:
    """Each price above 0, and what it is paid for.

    Args:
        prices: Names of settings with their prices.
        tables: Where the network learns.

    Raises:
        ParlourError: Nothing at these tables has a price of this name.
    """
    judged = tables.judged()
    set_here = {name: price for name, price in prices.items() if price}
    for name in set_here:
        if name not in judged:
            raise ParlourError(f"{name} is not accepted here; accepted: {', '.join(judged) or 'no price'}")
    return [(price, dotted.load(judged[name], name)) for name, price in set_here.items()]


class RolloutCollector:
    """Plays the tables at which a network learns, seated until the next snapshot.

    Args:
        tables: With `autoreset`.
        seating: Who plays where.
        players: The opponents, by name.
        seeds: One for each table.
        turns: Turns of each table in an update.
        prices: Taken from the reward of a seat of the network for each act that the judge finds; see `judges`.
    """

    returned: float
    """Sum of the returns of the network's seat, or a seat of its side, in games against opponents. Rewards come at the end."""

    def __init__(
        self,
        tables: BatchTables,
        seating: Seating,
        players: Mapping[str, BatchPlayer],
        seeds: Sequence[int],
        turns: int,
        *,
        prices: Sequence[tuple[float, Judge]] = (),
    ) -> None:
        self.tables, self.seating, self.games, self._prices = tables, seating, 0, prices
        self.returned = 0.0
        self._turns = tables.reset(seeds)
        use_one_thread()
        self._opponents = [
            (number, players[seating.opponents[number]]) for number in np.unique(seating.opponent) if number >= 0
        ]
        for number, player in self._opponents:
            player.reset(tables, seeds, number + 1)
        count = tables.num_envs
        self._actions = np.zeros(count, np.int32)
        self._won, self._played = np.zeros((2, len(seating.opponents), len(tables.spec.sides)), np.int64)
        self._kept = Experience(
            np.empty((turns * count, tables.size), np.float32),
            np.empty((turns * count, tables.hidden_size), np.float32),
            np.empty((turns * count, tables.actions), np.uint8),
            np.empty(turns * count, np.int64),
            np.empty(turns * count, np.float32),
            np.empty((turns, count), np.int32),
            np.empty((turns, count), np.int32),
            np.empty((turns, count, tables.seats), np.float32),
            np.empty((turns, count), np.uint8),
        )

    def collect(self, player: BatchPlayer) -> Experience:
        """Play on for the turns of one update. The arrays are used again by the next call.

        Args:
            player: Chooses for the network's seats; reset by the caller, as number 0.
        """
        kept, count = self._kept, 0
        for t in range(len(kept.row)):
            turns = self._turns
            own = self.seating.own(turns.actor, self.tables.side)
            rows = np.flatnonzero(own).astype(np.int32)
            until = count + len(rows)
            kept.row[t] = -1
            kept.row[t, rows] = np.arange(count, until, dtype=np.int32)
            kept.actor[t] = turns.actor
            np.take(turns.observation, rows, axis=0, out=kept.observation[count:until], mode="clip")
            np.take(turns.mask, rows, axis=0, out=kept.mask[count:until], mode="clip")
            np.take(self.tables.hidden(), rows, axis=0, out=kept.hidden[count:until], mode="clip")
            player.choose(turns, rows, self._actions)
            kept.action[count:until] = self._actions[rows]
            if isinstance(player, NetworkPlayer):
                kept.log_prob[count:until] = player.log_probs[: len(rows)]
            for number, opponent in self._opponents:
                others = np.flatnonzero(~own & (self.seating.opponent == number)).astype(np.int32)
                if len(others):
                    opponent.choose(turns, others, self._actions)
            sides = self.tables.side.copy()  # of the games that this turn may end
            paid = [(price, own & judge(self.tables, self._actions)) for price, judge in self._prices]
            self._turns = turns = self.tables.step(self._actions)
            kept.rewards[t], kept.terminated[t] = turns.rewards, turns.terminated
            for price, due in paid:
                kept.rewards[t, due, kept.actor[t, due]] -= price
            self._count(np.flatnonzero(turns.terminated), sides, turns.rewards)
            count = until
        return Experience(
            *(getattr(kept, name)[:count] for name in ("observation", "hidden", "mask", "action", "log_prob")),
            *(getattr(kept, name) for name in ("row", "actor", "rewards", "terminated")),
        )

    def _count(self, ended: NDArray[np.intp], sides: NDArray[np.int8], rewards: NDArray[np.float32]) -> None:
        self.games += len(ended)
        met = ended[self.seating.opponent[ended] != ALONE]
        seat, number = self.seating.seat[met], self.seating.opponent[met]
        own = np.where(seat == WHOLE_SIDE, self.seating.side[met], sides[met, np.maximum(seat, 0)])
        np.add.at(self._played, (number, own), 1)
        np.add.at(self._won, (number, own), self.tables.winner[met] == own)
        of = np.where(seat == WHOLE_SIDE, (sides[met] == own[:, None]).argmax(axis=1), seat)
        self.returned += float(rewards[met, of].sum())

    def scores(self) -> list[MemberScore]:
        """The games that ended, by opponent and side of the network."""
        return [
            MemberScore(name, side, int(self._played[k, s]), int(self._won[k, s]))
            for k, name in enumerate(self.seating.opponents)
            for s, side in enumerate(self.tables.spec.sides)
            if self._played[k, s]
        ]


def decisions(folder: Path, tables: BatchTables) -> tuple[Experience, int]:
    """All decisions of the finished games of a folder, one game after the other, and how many games they are.

    Args:
        folder: Folder of transcripts.
        tables: Tables of the imitating network: game, configuration and features.

    Raises:
        ParlourError: No finished game of this configuration is among them, or a transcript cannot be read.
    """
    rows: list[tuple[Any, ...]] = []
    games = 0
    for path in replay.Transcript.files(folder):
        transcript = replay.Transcript.read(path)
        finished = transcript.finished(tables.spec.id)
        if finished is None or dict(finished[0].config) != dict(tables.game.config):
            continue
        rows += _of_game(finished[0], finished[1], transcript, tables)
        games += 1
    if not games:
        raise ParlourError(
            f"{str(folder)!r} holds no finished game of {tables.spec.id} with {dict(tables.game.config)}"
        )
    observation, hidden, mask, action, seat, rewards, last = zip(*rows, strict=True)
    return (
        Experience(
            np.array(observation, np.float32),
            np.array(hidden, np.float32),
            np.array(mask, np.uint8),
            np.array(action, np.int64),
            np.zeros(len(rows), np.float32),
            np.arange(len(rows), dtype=np.int32)[:, None],
            np.array(seat, np.int32)[:, None],
            np.array(rewards, np.float32)[:, None],
            np.array(last, np.uint8)[:, None],
        ),
        games,
    )


def _of_game(game: Any, states: list[Any], transcript: replay.Transcript, tables: BatchTables) -> list[tuple[Any, ...]]:
    """Of each move of a seat, in its frame: observation, hidden roles, mask, action; seat, rewards, whether it is the last."""
    spec, seats = tables.spec, range(tables.seats)
    numbers = {move: k for k, move in enumerate(tables.game.catalogue)}
    turned = any((order != tables.frame.order[0]).any() for order in tables.frame.order)
    encoders = [spec.encoder(game).of(tables.features) for _ in seats]
    labels = list(game.role_names or spec.sides)
    views = [game.view(states[-1], seat) for seat in seats]
    roles = np.array([labels.index(getattr(view, "role", "") or view.side) for view in views])
    rows = []
    for state, move in zip(states, transcript.moves, strict=False):
        seat = game.actor(state)
        if seat in (NATURE, OVER) or (move.kind in ACTS and not transcript.heard):
            continue
        view, own = game.view(state, seat), tables.frame.own[seat]
        legal = [int(own[numbers[Move(option.kind, option.args)]]) for option in view.legal]
        of = np.roll(roles, -seat) if turned else roles
        hidden = (of[:, None] == np.arange(tables.hidden_size // len(seats))).ravel()
        mask = np.isin(np.arange(tables.actions), legal)
        action = int(own[numbers[Move(move.kind, move.args)]])
        rows.append((encoders[seat](view), hidden, mask, action, seat, [0.0] * len(seats), 0))
    if rows and transcript.outcome is not None:
        rows[-1] = (*rows[-1][:-2], list(transcript.outcome.returns), 1)
    return rows
