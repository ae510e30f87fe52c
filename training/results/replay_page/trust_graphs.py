"""GRATR's trust, run once more on the recorded Views: the trust that it decides by, that of its graph where it is another, and
what the graph's last beliefs rest on.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from parlour.envs.english import name
from parlour.policies.agents.werewolf.gratr import GratrAgent
from parlour.training.results.replay_page.again import FollowedTurn, follow
from parlour.training.results.replay_page.model import BeliefLines, Document
from parlour.training.results.replay_page.played import PlayedGame
from parlour.training.results.replay_page.tracks import Alive, Track, ended, of_the_living, seat_lines

_BY: Final = "{}'s {}, run once more on the recorded Views: it put the same questions and made the same moves."
_DECIDES: Final = "trust that it decides by"
_GRAPH: Final = "trust graph"
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
    decided: dict[int, Track] = {}
    graphs: dict[int, Track] = {}
    documents: dict[int, Document] = {}

    def look(turn: FollowedTurn) -> None:
        player = turn.player if isinstance(turn.player, GratrAgent) else None
        graph = None if player is None else player.graph
        if player is None or graph is None:
            return
        graphs.setdefault(turn.seat, Track()).at(turn.step, graph.trust)
        decided.setdefault(turn.seat, Track()).at(turn.step, player.standing or graph.trust)
        living = of_the_living(graph.trust, alive, turn.step)
        others = [seat for seat, value in enumerate(living) if value is not None and seat != turn.seat]
        lines = [line for seat in others for line in graph.explain(seat).lines(_DEPTH)]
        title = f"What {name(turn.seat)}'s trust graph rests on"
        documents[turn.seat] = Document(title, "\n".join(lines[:_MOST]), turn.step, (turn.seat,))

    alike = sorted(follow(played, (GratrAgent.name,), look) & graphs.keys())
    beliefs = [
        _lines(seat, what, track, alive, played.game.seats)
        for seat in alike
        for what, track in ((_DECIDES, decided[seat]), (_GRAPH, graphs[seat]))
        if what == _DECIDES or track.points != decided[seat].points
    ]
    return TrustGraphs(tuple(beliefs), tuple(documents[seat] for seat in alike))


def _lines(seat: int, what: str, track: Track, alive: Alive, seats: int) -> BeliefLines:
    key, by = f"played again {'trust' if what == _DECIDES else what}: {name(seat)}", _BY.format(name(seat), what)
    title, points = f"{what}, from -1 (adversary) to 1 (ally)", ended(track.points, alive)
    return seat_lines(key, title, "trust", seat, "played again", points, seats, by, low=-1.0)
