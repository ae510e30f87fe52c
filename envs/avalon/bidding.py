"""Avalon in which players bid for the floor (`parlour.envs.hidden_roles.bidding`) instead of speaking once each in an order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, Final

from parlour.envs.avalon.options import AvalonOptions
from parlour.envs.avalon.presets import PROPOSALS, QUESTS
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.state import NOBODY, AvalonPhase, AvalonStanding, AvalonState
from parlour.envs.core import NATURE, Event, IllegalMove, Move
from parlour.envs.hidden_roles.bidding import BIDS, next_speakers
from parlour.envs.hidden_roles.rules import NOTHING, Options

if TYPE_CHECKING:
    import numpy as np

FLOOR: Final = "floor"  # nature's move; args: (seat,) that speaks


class BiddingAvalon(Avalon):
    """The rules of a table with bids. Satisfies `parlour.envs.core.Game`."""

    def __init__(self, options: AvalonOptions) -> None:
        super().__init__(options)
        self.shown_points = (self.rules.guesser, True)
        self.catalogue = (*self.catalogue, *BIDS)
        self._bids = Options(BIDS)
        self.max_moves += QUESTS * PROPOSALS * self.seats * (self.seats + 1)

    def nature(self, s: AvalonState, rng: np.random.Generator) -> Move:
        if s.phase == AvalonPhase.FLOOR_TIE:
            return Move(FLOOR, (s.secret[int(rng.integers(len(s.secret)))],))
        return super().nature(s, rng)

    def chances(self, s: AvalonState) -> Iterator[tuple[Move, float]]:
        """As in the game without bids, or each of the equal bids."""
        if s.phase == AvalonPhase.FLOOR_TIE:
            yield from ((Move(FLOOR, (seat,)), 1 / len(s.secret)) for seat in s.secret)
        else:
            yield from super().chances(s)

    def _open(self, standing: AvalonStanding, log: tuple[Event, ...]) -> AvalonState:
        opened = super()._open(standing, log)
        return self._all_bid(opened) if opened.phase == AvalonPhase.TALK else opened

    def _all_bid(self, s: AvalonState) -> AvalonState:
        """All seats bid, in their order; `turn` counts the speeches of this talk."""
        return s._replace(phase=AvalonPhase.BID, actor=0, secret=NOBODY, options=self._bids)

    def _bid(self, s: AvalonState, move: Move, _event: tuple[Event, ...]) -> AvalonState:
        bids = (*s.secret, move.args[0])
        if len(bids) < self.seats:
            return s._replace(actor=len(bids), secret=bids)
        last = s.log[-1].move if s.turn else None
        among = next_speakers(range(self.seats), bids, last)
        if not among:
            return self._talked(s)
        if len(among) == 1:
            return self._floor(s, among[0])
        return s._replace(phase=AvalonPhase.FLOOR_TIE, actor=NATURE, secret=among, options=NOTHING)

    def _floor_tie(self, s: AvalonState, move: Move) -> AvalonState:
        if move.kind != FLOOR or move.args not in [(seat,) for seat in s.secret]:
            raise IllegalMove(f"{move!r} draws none of those who bid most {list(s.secret)}")
        return self._floor(s, move.args[0])

    def _floor(self, s: AvalonState, seat: int) -> AvalonState:
        """A seat has the floor."""
        return s._replace(phase=AvalonPhase.TALK, actor=seat, secret=NOBODY, options=self._talks[seat])

    def _spoken(self, s: AvalonState, _move: Move, event: tuple[Event, ...]) -> AvalonState:
        s = s._replace(turn=s.turn + 1, log=s.log + event)
        return self._talked(s) if s.turn == self.seats else self._all_bid(s)

    def _talked(self, s: AvalonState) -> AvalonState:
        """The talk is over; the leader proposes."""
        leader, options = s.standing.leader, self._teams[s.standing.quest][s.standing.leader]
        return s._replace(phase=AvalonPhase.PROPOSE, actor=leader, turn=0, secret=NOBODY, options=options)

    _STEPS: ClassVar = {**Avalon._STEPS, AvalonPhase.BID: _bid, AvalonPhase.TALK: _spoken}
    _NATURAL: ClassVar = {**Avalon._NATURAL, AvalonPhase.FLOOR_TIE: _floor_tie}
