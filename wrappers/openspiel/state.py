"""A moment of a game as OpenSpiel's State. What it tells a player is a function of that seat's View.

API: OpenSpiel 2.0, `open_spiel/python/games` and `pybind11/python_games.cc` of its distribution: copies of a Python
state are deep copies of its attributes, and what is serialised is their pickle. The one attribute here is an immutable
`Moment` that copies to itself and pickles as its list of moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from itertools import islice
from typing import Any, Final

import numpy as np
import pyspiel
from parlour.envs.adapters.turn import infoset
from parlour.envs.adapters.wording import wording
from parlour.envs.core import NATURE, OVER, Move, accept
from parlour.envs.language.text import render
from parlour.envs.registry import build, lookup
from parlour.envs.spec import GameSpec

MOST_CHANCES: Final = 20_000
"""Outcomes of the game's first move of nature up to which chance is explicit; beyond, it is sampled."""


class Table:
    """The rules of one table, numbered as OpenSpiel wants them.

    Args:
        name: Registry name of the game.
        config: Its options.
        fixed_deal: The last numbers of the deal, which are then no matter of chance: of Avalon's the first leader, of
            Werewolf's the order of talk. Empty for all deals.
    """

    def __init__(self, name: str, config: Mapping[str, Any], fixed_deal: tuple[int, ...] = ()) -> None:
        self.key = (name, tuple(sorted(config.items())), fixed_deal)
        self.spec: GameSpec = lookup(name).spec
        self.game = build(self.spec, config)
        self.encoder = self.spec.encoder(self.game).at_table()
        self.text = self.spec.text(self.game)
        self.fixed_deal = fixed_deal
        self.wording = wording(self.spec, self.game)
        self.root = Moment(self, self.game.initial(), None, None, ((),) * self.game.seats)
        deals = tuple(islice(self._chances(self.root.state), MOST_CHANCES + 1))
        self.explicit = 0 < len(deals) <= MOST_CHANCES
        self.deals = deals if self.explicit else ()

    def chances(self, state: Any) -> tuple[tuple[Move, float], ...]:
        """Nature's moves with their probabilities; number k of OpenSpiel's chance outcomes is the k-th."""
        return self.deals if state is self.root.state else tuple(self._chances(state))

    def _chances(self, state: Any) -> Any:
        chances = self.game.chances(state) if self.game.actor(state) == NATURE else None
        if chances is None:
            return iter(())
        if not self.fixed_deal or state is not self.root.state:
            return chances
        fits = [(move, p) for move, p in chances if move.args[-len(self.fixed_deal) :] == self.fixed_deal]
        total = sum(p for _, p in fits)
        return iter([(move, p / total) for move, p in fits])


class Moment:
    """A state of the rules, how it came about, and what each seat has done itself. Never changed; copies to itself."""

    __slots__ = ("_legal", "before", "move", "own", "player", "state", "table")

    def __init__(
        self, table: Table, state: Any, before: Moment | None, move: Move | None, own: tuple[tuple[int, ...], ...]
    ) -> None:
        self.table, self.state, self.before, self.move, self.own = table, state, before, move, own
        """The rules; their state; the moment and the move before it; each seat's own action numbers."""
        actor = table.game.actor(state)
        self.player = {NATURE: pyspiel.PlayerId.CHANCE, OVER: pyspiel.PlayerId.TERMINAL}.get(actor, actor)
        self._legal: list[int] | None = None

    def __deepcopy__(self, memo: Any) -> Moment:
        return self

    def __reduce__(self) -> tuple[Callable[..., Moment], tuple[Any, ...]]:
        return _replayed, (self.table.key, self.moves)

    @property
    def moves(self) -> tuple[Move, ...]:
        """All moves from the beginning, nature's included."""
        moves: list[Move] = []
        at: Moment | None = self
        while at is not None and at.move is not None:
            moves.append(at.move)
            at = at.before
        return tuple(moves[::-1])

    @property
    def legal(self) -> list[int]:
        """The numbers of the legal actions, ascending."""
        if self._legal is None:
            numbers = self.table.wording.numbers
            self._legal = [numbers[move] for move in self.table.game.legal(self.state)]
        return self._legal

    def after(self, move: Move) -> Moment:
        """The moment after a move."""
        table, own = self.table, self.own
        seat = table.game.actor(self.state)
        if seat >= 0:
            number = table.wording.numbers[Move(move.kind, move.args)]
            own = (*own[:seat], (*own[seat], number), *own[seat + 1 :])
        return Moment(table, table.game.apply(self.state, move), self, move, own)

    def infoset(self, seat: int) -> str:
        """What `seat` knows, as one line."""
        return infoset(self.table.game.view(self.state, seat), self.own[seat])

    def offered(self, seat: int, wants: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Observation and info of the seat to move, as parlour's environments give them with `info="full"`."""
        table = self.table
        view = table.game.view(self.state, seat)
        turn = table.wording.turn(view.legal)
        seen: dict[str, Any] = {"action_mask": turn.mask.copy()}
        if wants in ("text", "both"):
            seen["text"] = render(table.text, view)
        if wants in ("features", "both"):
            seen["observation"] = table.encoder(view)
        return seen, {"action_mask": seen["action_mask"], **table.wording.offered(turn, view)}


_TABLES: Final[dict[Any, Table]] = {}


def table_of(name: str, config: Mapping[str, Any], fixed_deal: tuple[int, ...] = ()) -> Table:
    """The table of a configuration; the same object for the same one."""
    key = (name, tuple(sorted(config.items())), fixed_deal)
    if key not in _TABLES:
        _TABLES[key] = Table(name, config, fixed_deal)
    return _TABLES[key]


def _replayed(key: tuple[str, tuple[tuple[str, Any], ...], tuple[int, ...]], moves: tuple[Move, ...]) -> Moment:
    name, config, fixed_deal = key
    return reduce(Moment.after, moves, table_of(name, dict(config), fixed_deal).root)


class ParlourState(pyspiel.State):
    """A state of an OpenSpiel game that is one of parlour's. Made by the game only.

    Actions are numbers of the catalogue; a chance outcome k is the k-th of the game's `chances`, or the single outcome 0
    where chance is sampled. Python callers find `information_state_string` here, C++ ones through the observer.
    """

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.moment: Moment = game.table.root

    def current_player(self) -> int:
        return int(self.moment.player)

    def is_terminal(self) -> bool:
        return bool(self.moment.player == pyspiel.PlayerId.TERMINAL)

    def _legal_actions(self, player: int) -> list[int]:
        return self.moment.legal

    def chance_outcomes(self) -> list[tuple[int, float]]:
        if not self.get_game().table.explicit:
            return [(0, 1.0)]
        return [(k, p) for k, (_, p) in enumerate(self.moment.table.chances(self.moment.state))]

    def _apply_action(self, action: int) -> None:
        at = self.moment
        if at.player != pyspiel.PlayerId.CHANCE:
            self.moment = at.after(at.table.game.catalogue[action])
        elif at.table.explicit:
            self.moment = at.after(at.table.chances(at.state)[action][0])
        else:
            self.moment = at.after(at.table.game.nature(at.state, self.get_game().rng))

    def _action_to_string(self, player: int, action: int) -> str:
        at = self.moment
        if player != pyspiel.PlayerId.CHANCE:
            return at.table.text.say(at.table.game.catalogue[action])
        if not at.table.explicit:
            return "sampled"
        move = at.table.chances(at.state)[action][0]
        return f"{move.kind} {list(move.args)}"

    def returns(self) -> list[float]:
        outcome = self.moment.table.game.outcome(self.moment.state)
        return [0.0] * self.num_players() if outcome is None else list(outcome.returns)

    def __str__(self) -> str:
        return "; ".join(f"{move.kind} {list(move.args)}" for move in self.moment.moves)

    def information_state_string(self, player: int | None = None) -> str:
        return self.moment.infoset(self._seat(player))

    observation_string = information_state_string

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> ParlourState:
        """A state that `player`, who is to move, cannot tell from this one; see `parlour.wrappers.determinizations`."""
        view = self.moment.table.game.view(self.moment.state, player)
        state: ParlourState = self.get_game().sample_state(view, self.moment.own[player], sampler())
        return state

    def _seat(self, player: int | None) -> int:
        seat = self.current_player() if player is None else player
        if not 0 <= seat < self.num_players():
            raise accept("player", seat, range(self.num_players()))
        return seat


class ParlourObserver:
    """OpenSpiel's observer: the encoder's features as tensor, the information set in one line as string."""

    def __init__(self, table: Table) -> None:
        self.tensor = np.zeros(table.encoder.size, dtype=np.float32)
        self.dict = {"features": self.tensor}

    def set_from(self, state: ParlourState, player: int) -> None:
        table = state.moment.table
        self.tensor[:] = table.encoder(table.game.view(state.moment.state, player))

    def string_from(self, state: ParlourState, player: int) -> str:
        return state.moment.infoset(player)
