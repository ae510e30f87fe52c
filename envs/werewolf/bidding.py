"""Werewolf in which the living bid for the floor by day (`parlour.envs.hidden_roles.bidding`), instead of speaking once each in an order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar

from parlour.envs.core import NATURE, Event, IllegalMove, Move, announcement
from parlour.envs.hidden_roles.bidding import BIDS, next_speakers
from parlour.envs.hidden_roles.rules import NOTHING, Options
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.options import WerewolfOptions
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.state import NOBODY, WerewolfPhase, WerewolfStanding, WerewolfState

if TYPE_CHECKING:
    import numpy as np


class BiddingWerewolf(Werewolf):
    """The rules of a table with bids. Satisfies `parlour.envs.core.Game`."""

    def __init__(self, options: WerewolfOptions) -> None:
        super().__init__(options)
        self.catalogue = (*self.catalogue, *BIDS)
        self._bids = Options(BIDS)
        self.max_moves += self.max_days * self.seats * (self.seats + 1)

    def nature(self, s: WerewolfState, rng: np.random.Generator) -> Move:
        if s.phase == WerewolfPhase.FLOOR_TIE:
            return Move(game.DRAWN, (s.secret[int(rng.integers(len(s.secret)))],))
        return super().nature(s, rng)

    def chances(self, s: WerewolfState) -> Iterator[tuple[Move, float]]:
        """As in the game without bids, or each of the equal bids."""
        if s.phase == WerewolfPhase.FLOOR_TIE:
            yield from ((Move(game.DRAWN, (seat,)), 1 / len(s.secret)) for seat in s.secret)
        else:
            yield from super().chances(s)

    def _turn(
        self,
        phase: WerewolfPhase,
        queue: tuple[int, ...],
        standing: WerewolfStanding,
        log: tuple[Event, ...],
        **night: Any,
    ) -> WerewolfState:
        if phase != WerewolfPhase.TALK:
            return super()._turn(phase, queue, standing, log, **night)
        return self._all_bid(standing, (*log[:-1], announcement(game.DAY, (standing.day,))))  # nobody speaks first

    def _all_bid(self, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        first, *rest = standing.living.speakers
        return WerewolfState(
            phase=WerewolfPhase.BID, actor=first, queue=tuple(rest), standing=standing, options=self._bids, log=log
        )

    def _bid(self, s: WerewolfState, move: Move, _event: tuple[Event, ...]) -> WerewolfState:
        bids = (*s.secret, move.args[0])
        if s.queue:
            return s._replace(actor=s.queue[0], queue=s.queue[1:], secret=bids)
        spoken = _speeches(s.log)
        among = next_speakers(s.standing.living.speakers, bids, spoken[0].move if spoken else None)
        if not among:
            return self._ballot(s.standing, s.log)
        if len(among) == 1:
            return self._floor(s, among[0])
        return s._replace(phase=WerewolfPhase.FLOOR_TIE, actor=NATURE, secret=among, options=NOTHING)

    def _floor_tie(self, s: WerewolfState, move: Move) -> WerewolfState:
        if move.kind != game.DRAWN or move.args not in [(seat,) for seat in s.secret]:
            raise IllegalMove(f"{move!r} draws none of those who bid most {list(s.secret)}")
        return self._floor(s, move.args[0])

    def _floor(self, s: WerewolfState, seat: int) -> WerewolfState:
        """A seat has the floor."""
        return s._replace(
            phase=WerewolfPhase.TALK, actor=seat, queue=NOBODY, secret=NOBODY, options=self._choices.talks[seat]
        )

    def _spoken(self, s: WerewolfState, _move: Move, event: tuple[Event, ...]) -> WerewolfState:
        log = s.log + event
        if len(_speeches(log)) < len(s.standing.living.speakers):
            return self._all_bid(s.standing, log)
        return self._ballot(s.standing, log)

    def _ballot(self, standing: WerewolfStanding, log: tuple[Event, ...]) -> WerewolfState:
        return self._turn(WerewolfPhase.VOTE, standing.living.speakers, standing, log)

    _STEPS: ClassVar = {**Werewolf._STEPS, WerewolfPhase.BID: _bid, WerewolfPhase.TALK: _spoken}
    _NATURAL: ClassVar = {**Werewolf._NATURAL, WerewolfPhase.FLOOR_TIE: _floor_tie}


def _speeches(log: tuple[Event, ...]) -> list[Event]:
    """The speeches since the announcement of the day, latest first."""
    return list(takewhile(lambda event: event.seat != NATURE, reversed(log)))
