"""Games that a test plays move by move."""

from __future__ import annotations

from typing import Any, Self

from parlour.envs.avalon import GAME as AVALON
from parlour.envs.core import NATURE, Event, Move, Outcome

M, P, S, G, A, D, O, N = (  # noqa: E741 - one letter for each role of Avalon: deals are read at a glance
    "Merlin",
    "Percival",
    "Loyal Servant",
    "Morgana",
    "Assassin",
    "Mordred",
    "Oberon",
    "Minion",
)


def announced(kind: str, *args: int, to: tuple[int, ...] | None = None) -> Event:
    """What nature tells all, or some seats."""
    return Event(NATURE, Move(kind, args), to)


def said(seat: int, kind: str, *args: int) -> Event:
    """What a seat says or does for all to see."""
    return Event(seat, Move(kind, args), None)


class Course:
    """A game and the state that it is in."""

    game: Any
    state: Any

    def do(self, *moves: Move) -> Self:
        for move in moves:
            self.state = self.game.apply(self.state, move)
        return self

    @property
    def legal(self) -> tuple[Move, ...]:
        return self.game.legal(self.state)

    @property
    def kinds(self) -> set[str]:
        return {move.kind for move in self.legal}

    @property
    def actor(self) -> int:
        return self.game.actor(self.state)

    @property
    def outcome(self) -> Outcome | None:
        return self.game.outcome(self.state)

    def view(self, seat: int = 0) -> Any:
        return self.game.view(self.state, seat)


class AvalonPlay(Course):
    """A game of Avalon on a deal of our own, given seat by seat."""

    def __init__(self, deal: tuple[str, ...], rules: str, leader: int = 0, **options: Any) -> None:
        self.deal = deal
        self.game = AVALON.build(AVALON.options(num_players=len(deal), roles=deal, rules=rules, **options))
        self.text = AVALON.text(self.game)
        self.state = self.game.initial()
        self.do(Move("deal", (*map(self.game.role_names.index, deal), leader)))

    def propose(self, *team: int, words: str = "") -> Self:
        """A team; before it all are silent, if they are asked."""
        while self.legal[:1] == (Move("silent"),):
            self.do(Move("silent"))
        return self.do(Move("propose", team, words))

    def vote(self, *votes: int) -> Self:
        return self.do(*(Move("vote", (v,)) for v in votes))

    def cards(self, *cards: int) -> Self:
        return self.do(*(Move("card", (c,)) for c in cards))

    def go(self, *team: int) -> Self:
        """A team that everybody approves."""
        return self.propose(*team).vote(*[1] * len(self.deal))

    def rejected(self, *team: int, times: int = 1) -> Self:
        """Proposals that nobody approves."""
        for _ in range(times):
            self.propose(*team).vote(*[0] * len(self.deal))
        return self

    def quest(self, *team: int, fails: int = 0) -> Self:
        """A team that everybody approves, whose last members play fail."""
        return self.go(*team).cards(*[1] * (len(team) - fails), *[0] * fails)

    def announced(self, kind: str) -> list[tuple[int, ...]]:
        """The moderator's announcements of a kind."""
        return [e.move.args for e in self.state.log if e.seat == NATURE and e.move.kind == kind]
