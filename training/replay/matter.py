"""What a game shows of itself on a replay page beyond steps and record: its own tables, texts, graphs and beliefs.

A game has in `PAGES` a function `PlayedGame -> GameMatter`; a game without one is shown by its
steps and its record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from parlour.envs.common.dotted import load
from parlour.envs.plugins import Places
from parlour.training.replay.model import BeliefLines, Document, Graph, ReplayTable, Turned
from parlour.training.replay.played import PlayedGame


@dataclass(frozen=True)
class GameMatter:
    """All of it, as `parlour.training.replay.model` describes it."""

    tables: tuple[ReplayTable, ...] = ()
    documents: tuple[Document, ...] = ()
    graphs: tuple[Graph, ...] = ()
    beliefs: tuple[BeliefLines, ...] = ()
    alive: tuple[tuple[int, tuple[int, ...]], ...] = ()
    roles: tuple[tuple[str, str], ...] = ()
    """(role, side) of each seat; empty where they are not dealt."""
    called: tuple[str, ...] = ()
    """Names of the seats' characters."""
    notes: tuple[str, ...] = ()
    turned: Turned | None = None


PAGES: Final = Places(
    "parlour.replay_pages",
    {
        "avalon_v0": "parlour.training.replay.avalon:avalon_matter",
        "mediated_qa_v0": "parlour.training.replay.mediated_qa:mediated_matter",
        "murder_mystery_v0": "parlour.training.replay.murder_mystery:mystery_matter",
        "werewolf_v0": "parlour.training.replay.werewolf:werewolf_matter",
    },
)
"""Game -> dotted name of `PlayedGame -> GameMatter`: what a page shows beside steps and record."""


def roles_of(views: Sequence[Any]) -> tuple[tuple[str, str], ...]:
    """Role and side of each seat, from its View; empty before they are dealt."""
    return tuple((view.role, view.side) for view in views if view.role)


def matter_of(played: PlayedGame) -> GameMatter:
    """What the game shows of itself."""
    game = played.transcript.spec.id
    if game not in PAGES:
        return GameMatter()
    made: Callable[[PlayedGame], GameMatter] = load(PAGES[game], "matter of a replay page")
    return made(played)
