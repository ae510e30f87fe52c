"""A Sphinx extension that writes `docs/generated` (not in git) at each build, so its pages cannot go stale.

autodoc2 makes the API reference there; `pages` makes the other pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import astroid
from parlour.envs.registry import GAMES

from parlour_pages import pages


def setup(app: Any) -> dict[str, Any]:
    """Connect to Sphinx. autodoc2 listens to the same event, so the priority makes these pages first."""
    astroid.MANAGER.module_denylist = _Foreign()
    app.connect("builder-inited", _write, priority=100)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Any) -> None:
    folder = Path(app.srcdir) / "generated"
    (folder / "extra" / "replays").mkdir(parents=True, exist_ok=True)
    for make in (pages.games, pages.players, pages.commands, pages.settings, pages.papers):
        (folder / f"{make.__name__}.md").write_text(make() + "\n", "utf-8")
    for name in GAMES:
        (folder / "extra" / "replays" / f"{name}.html").write_text(pages.recorded(name), "utf-8")


class _Foreign(set[str]):
    """All modules except parlour and some of the standard library: astroid skips them.

    autodoc2 follows base classes into PyTorch and pydantic. That takes four times as long and fills pages with their members.
    """

    def __contains__(self, name: object) -> bool:
        read = ("parlour", "abc", "builtins", "collections", "dataclasses", "enum", "typing")
        return str(name).partition(".")[0] not in read
