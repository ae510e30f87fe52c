"""GRATR's trust graphs, run once more on the recorded Views: trust in each player, and what the last beliefs rest on."""

from __future__ import annotations

from typing import Final, NamedTuple

from parlour.envs.english import name
from parlour.policies.agents.werewolf.gratr import GratrAgent
from parlour.training.results.replay_page.again import FollowedTurn, follow
from parlour.training.results.replay_page.model import BeliefLines, Document
from parlour.training.results.replay_page.played import PlayedGame
from parlour.training.results.replay_page.tracks import Alive, Track, ended, of_the_living

_BY: Final = "{}'s trust graph, run once more on the recorded Views: it put the same questions and made the same moves."
_DEPTH: Final = 1
"""Steps of beliefs behind beliefs that are shown."""
_MOST: Final = 200
"""Lines of what one seat's beliefs rest on."""


class TrustGraphs(NamedTuple):
    """All that is shown of the graphs of one game."""

    beliefs: tuple[BeliefLines, ...]
    documents: tuple[Document, ...]


def trust_graphs(played: PlayedGame, alive: Alive) -> TrustGraphs:
    """The graphs of seats that play GRATR; none where none does, or where it cannot be run once more.

    Args:
        played: The game.
        alive: Who lives: the lines of the dead end.
    """
    tracks: dict[int, Track] = {}
    told: dict[int, Document] = {}

    def look(turn: FollowedTurn) -> None:
        graph = turn.player.graph if isinstance(turn.player, GratrAgent) else None
        if graph is None:
            return
        tracks.setdefault(turn.seat, Track()).at(turn.step, graph.trust)
        living = of_the_living(graph.trust, alive, turn.step)
        others = [seat for seat, value in enumerate(living) if value is not None and seat != turn.seat]
        lines = [line for seat in others for line in graph.explain(seat).lines(_DEPTH)]
        title = f"What {name(turn.seat)}'s trust rests on"
        told[turn.seat] = Document(title, "\n".join(lines[:_MOST]), turn.step, (turn.seat,))

    alike = sorted(follow(played, (GratrAgent.name,), look) & tracks.keys())
    beliefs = tuple(_lines(seat, tracks[seat], alive, played.game.seats) for seat in alike)
    return TrustGraphs(beliefs, tuple(told[seat] for seat in alike))


def _lines(seat: int, track: Track, alive: Alive, seats: int) -> BeliefLines:
    return BeliefLines(
        id=f"played again trust: {name(seat)}",
        title="trust graph, from -1 (adversary) to 1 (ally)",
        what="trust",
        holder=seat,
        source="played again",
        low=-1.0,
        high=1.0,
        points=ended(track.points, alive),
        subjects=tuple(range(seats)),
        by=_BY.format(name(seat)),
    )
