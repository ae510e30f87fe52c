"""A Sphinx extension that makes pages from the code at each build, so they cannot go stale.

It writes to `docs/generated` (not in git): games from their specs, players and trainers from their classes and settings, commands
from the command line's definition, recorded games from play. autodoc2 makes the API reference with `parlour_pages.api`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parlour_pages import analysis, commands, games, links, papers, players, public, replays
from parlour_pages.markdown import write_pages


def setup(app: Any) -> dict[str, Any]:
    """Connect to Sphinx. autodoc2 listens to the same event, so the priority makes these pages first."""
    analysis.read_parlour_alone()
    app.connect("builder-inited", _write, priority=100)
    app.connect("build-finished", links.write_external)
    app.connect("build-finished", public.check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Any) -> None:
    folder = Path(app.srcdir) / "generated"
    write_pages(folder / "extra" / "replays", replays.pages())
    write_pages(folder / "fragments", {**games.fragments(), **papers.fragments()})
    write_pages(folder / "players", players.pages())
    write_pages(folder / "trainers", commands.trainer_pages())
    write_pages(folder / "commands", commands.pages())
