"""Scalar games in a loop with the interface of `parlour.envs.batch`: for games without kernels, and to compare with.

Slow, and complete: every game of the registry and every game from outside plays here, by its own rules.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from parlour.envs.batch.tables import ILLEGAL, NOBODY, SAME_STEP, Array, Autoreset, BatchTables, Turns, seeds_of
from parlour.envs.common import dotted
from parlour.envs.common.frames import Frame
from parlour.envs.core import NATURE, TABLE, Move, ParlourError
from parlour.envs.spec import GameSpec

_NATURE, _PLAYERS = 0, 1
"""Streams of a game: of chance, and of whoever is played inside the tables."""


class ScalarTables(BatchTables):
    """See `BatchTables`. Seats may also see the features of the kind `"table"`; then all number actions as the table does.

    Args:
        spec: The game.
        num_envs: B, the number of games.
        features: A kind of features that the table has.
        beliefs: Changes nothing: a scalar heuristic keeps its own.
        autoreset: See `BatchTables`.
        threads: Changes nothing.
        **config: The options of the game.
    """

    def __init__(
        self,
        spec: GameSpec,
        *,
        num_envs: int,
        features: str = TABLE,
        beliefs: bool = False,
        autoreset: Autoreset = SAME_STEP,
        threads: int = 1,
        **config: Any,
    ) -> None:
        super().__init__(spec, config, num_envs=num_envs, features=features, autoreset=autoreset, threads=threads)
        if features == TABLE:
            self.frame = Frame.identity(self.seats, self.actions)
        encoder = self.encoders.of(features)
        self.size, self.names = encoder.size, tuple(getattr(encoder, "names", ()))
        self._labels = self.game.role_names or spec.sides
        self.hidden_size = self.seats * len(self._labels)
        self._turned = bool((self.frame.order != self.frame.order[0]).any())
        self._numbers = {move: number for number, move in enumerate(self.game.catalogue)}
        self._hidden = np.zeros((self.num_envs, self.hidden_size), np.float32)
        self.tables = [_Table(self) for _ in range(self.num_envs)]
        self._allocate()

    def reset(self, seed: int | Sequence[int]) -> Turns:
        for table, own in zip(self.tables, seeds_of(seed, self.num_envs), strict=True):
            table.start(own)
        return self._anew()

    def deal(self, moves: Array) -> Turns:
        if len(moves) != self.num_envs:
            raise ParlourError(f"{len(moves)} deals are not accepted; accepted: {self.num_envs}")
        for table, numbers in zip(self.tables, moves, strict=True):
            table.begin(tuple(int(number) for number in numbers))
        return self._anew()

    def observe(self) -> Turns:
        for b in range(self.num_envs):
            self._show(b)
        return self._turns

    @property
    def roles(self) -> Array:
        """Roles of the seats; in games without roles, the sides; -1 without sides."""
        return np.array([[self._label(view) for view in table.views()] for table in self.tables], dtype=np.int8)

    @property
    def side(self) -> Array:
        sides = self.spec.sides
        numbers = [[sides.index(view.side) if sides else -1 for view in table.views()] for table in self.tables]
        return np.array(numbers, dtype=np.int8)

    def hidden(self, out: Array | None = None) -> Array:
        target = self._hidden if out is None else out
        places = np.arange(self.seats)[None]
        if self._turned:
            places = (places + self._turns.actor[:, None]) % self.seats
        roles = np.take_along_axis(self.roles, np.broadcast_to(places, (self.num_envs, self.seats)), axis=1)
        target[:] = (roles[:, :, None] == np.arange(len(self._labels))).reshape(self.num_envs, -1)
        return target

    def state(self) -> Array:
        states = [json.dumps(table.state()).encode() for table in self.tables]
        longest = max(map(len, states))
        return np.array([np.frombuffer(state.ljust(longest), np.uint8) for state in states])

    def restore(self, state: Array) -> Turns:
        try:
            states = [json.loads(row.tobytes()) for row in state]
            for table, saved in zip(self.tables, states, strict=True):
                table.restore(saved)
        except (ValueError, KeyError, TypeError) as error:
            raise ParlourError(f"this state is not accepted ({error}); accepted: one of tables made alike") from None
        return self._anew()

    def choose_by_heuristic(self, where: Array, actions: Array) -> None:
        """Write what the game's scripted player does to `actions`, (B,), at the tables of `where`, (B,), that are not over.

        Raises:
            ParlourError: The game has none.
        """
        if not self.spec.heuristic:
            raise ParlourError(f"{self.spec.id} has no heuristic; accepted: a game whose spec names one")
        make = dotted.load(self.spec.heuristic, "heuristic")
        for b in np.flatnonzero((np.asarray(where) != 0) & (self._turns.actor >= 0)):
            table = self.tables[b]
            actions[b] = self._own(table.actor, table.player(make).act(table.view()))

    # -- inside ------------------------------------------------------------------------------------------------

    def _kinds(self) -> tuple[str, ...]:
        return self.encoders.kinds

    def _play(self, actions: Array) -> None:
        for b, table in enumerate(self.tables):
            action = int(actions[b])
            if table.actor < 0:
                self._move(b, None)
            elif 0 <= action < self.actions and self._turns.mask[b, action]:
                self._move(b, action)
            else:
                self.winner[b] = ILLEGAL

    def _play_random(self) -> None:
        for b, table in enumerate(self.tables):
            legal = np.flatnonzero(self._turns.mask[b])
            self._move(b, int(legal[table.players.integers(len(legal))]) if len(legal) else None)

    def _move(self, b: int, action: int | None) -> None:
        """Let the seat to move at table b act; None where it is over."""
        table, turns = self.tables[b], self._turns
        turns.rewards[b], turns.terminated[b], self.winner[b] = 0.0, 0, NOBODY
        if action is None:
            if self.autoreset is not None:
                table.begin()
                self._show(b)
            return
        table.play(self.game.catalogue[self.frame.order[table.actor, action]])
        outcome = self.game.outcome(table.now)
        if outcome is not None:
            turns.rewards[b], turns.terminated[b] = outcome.returns, 1
            self.winner[b] = self.spec.sides.index(outcome.winner) if outcome.winner in self.spec.sides else NOBODY
            if self.autoreset == SAME_STEP:
                table.begin()
        self._show(b)

    def _anew(self) -> Turns:
        """The turns before the first step."""
        self._turns.rewards[:], self._turns.terminated[:], self.winner[:] = 0, 0, NOBODY
        return self.observe()

    def _show(self, b: int) -> None:
        """Write who moves at table b, what it may do and what it sees."""
        table, turns = self.tables[b], self._turns
        turns.actor[b], turns.mask[b] = max(table.actor, NOBODY), 0
        if table.actor < 0:
            turns.observation[b] = 0
            return
        turns.mask[b, [self._own(table.actor, move) for move in self.game.legal(table.now)]] = 1
        turns.observation[b] = table.encoders[table.actor](table.view())

    def _own(self, seat: int, move: Move) -> int:
        return int(self.frame.own[seat, self._numbers[Move(move.kind, move.args)]])

    def _label(self, view: Any) -> int:
        label = getattr(view, "role", "") or getattr(view, "side", "")
        return self._labels.index(label) if label in self._labels else NOBODY


class _Table:
    """One game of `ScalarTables`: its moves, its state, and its streams of chance."""

    def __init__(self, owner: ScalarTables) -> None:
        self._spec, self._game = owner.spec, owner.game
        self.encoders = [owner.encoders.of(owner.features) for _ in range(owner.seats)]
        self.start(0)

    def start(self, seed: int) -> None:
        """Begin the first game of a seed."""
        self.seed, self.games = seed, 0
        self.players = np.random.default_rng((seed, _PLAYERS))
        self.begin()

    def begin(self, dealt: tuple[int, ...] | None = None) -> None:
        """Begin the next game; with these `args` of nature's first move, if they are given."""
        self.nature = np.random.default_rng((self.seed, _NATURE, self.games))  # whatever was played before
        self.games += 1
        self._forget()
        if dealt is not None:
            self._make(self._game.nature(self.now, np.random.default_rng(0))._replace(args=dealt))
        self._let_nature_move()

    def play(self, move: Move) -> None:
        """Make the move of the seat to move."""
        self._make(move)
        self._let_nature_move()

    def view(self) -> Any:
        """Of the seat to move."""
        return self._game.view(self.now, self.actor)

    def views(self) -> list[Any]:
        """Of all seats."""
        return [self._game.view(self.now, seat) for seat in range(self._game.seats)]

    def player(self, make: Any) -> Any:
        """The scripted player of the seat to move."""
        if self.actor not in self._scripted:
            self._scripted[self.actor] = make(self.view(), self.players)
        return self._scripted[self.actor]

    def state(self) -> dict[str, Any]:
        """Plain values from which `restore` goes on."""
        streams = {"nature": self.nature.bit_generator.state, "players": self.players.bit_generator.state}
        return {"seed": self.seed, "games": self.games, "moves": [list(move) for move in self.moves], **streams}

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on from `state`. Scripted players begin anew. Raises `ValueError`, `KeyError` or `TypeError`."""
        self.seed, self.games = int(saved["seed"]), int(saved["games"])
        self._forget()
        for kind, args, words in saved["moves"]:
            self._make(Move(kind, tuple(args), words))
        self.nature = np.random.default_rng(0)
        self.nature.bit_generator.state = saved["nature"]
        self.players.bit_generator.state = saved["players"]

    def _forget(self) -> None:
        """No move is made yet."""
        self.moves, self.now = list[Move](), self._game.initial()
        self.actor = self._game.actor(self.now)
        self._scripted: dict[int, Any] = {}

    def _make(self, move: Move) -> None:
        self.now = self._game.apply(self.now, move)
        self.moves.append(move)
        self.actor = self._game.actor(self.now)

    def _let_nature_move(self) -> None:
        while self.actor == NATURE:
            self._make(self._game.nature(self.now, self.nature))
