"""A Sphinx extension that makes pages from the code at each build, so they cannot go stale.

It writes to `docs/generated` (not in git): games from their specs, players and trainers from their classes and settings, commands
from the command line's definition, recorded games from play. autodoc2 makes the API reference with `parlour_pages.api`.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import astroid
from docutils import nodes

from parlour_pages import commands, games, papers, players, public, replays
from parlour_pages.markdown import write_pages


def setup(app: Any) -> dict[str, Any]:
    """Connect to Sphinx. autodoc2 listens to the same event, so the priority makes these pages first."""
    astroid.MANAGER.module_denylist = _Foreign()
    app.connect("builder-inited", _write, priority=100)
    app.connect("build-finished", _write_external)
    app.connect("build-finished", public.check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Any) -> None:
    folder = Path(app.srcdir) / "generated"
    write_pages(folder / "extra" / "replays", replays.pages())
    write_pages(folder / "fragments", {**games.fragments(), **papers.fragments()})
    write_pages(folder / "players", players.pages())
    write_pages(folder / "trainers", commands.trainer_pages())
    write_pages(folder / "commands", commands.pages())


class _Foreign(set[str]):
    """All modules except parlour and some of the standard library: astroid skips them.

    autodoc2 reads sources without importing them, but follows base classes into PyTorch and pydantic. That takes four times as
    long and fills pages with other libraries' members.
    """

    def __contains__(self, name: object) -> bool:
        read = ("parlour", "abc", "builtins", "collections", "dataclasses", "enum", "typing")
        return str(name).partition(".")[0] not in read


def _write_external(app: Any, error: Exception | None) -> None:
    """Write `external-links.txt` beside the pages: each address, and the pages that link to it. The build is offline."""
    if error is not None:
        return
    pages_of = defaultdict(set)
    for name in sorted(app.env.found_docs):
        for node in app.env.get_doctree(name).findall(nodes.reference):
            address = str(node.get("refuri", ""))
            if address.startswith(("http:", "https:")):
                pages_of[address].add(name)
    lines = [f"{address}  {' '.join(sorted(names))}\n" for address, names in sorted(pages_of.items())]
    (Path(app.outdir) / "external-links.txt").write_text("".join(lines), "utf-8")
