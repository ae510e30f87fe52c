"""The replay page and the index of a folder of them: the scripts and the style in `look/`, and the data (`model.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from typing import Any, Final

from parlour.envs.common.terminal import printable
from parlour.training.report.page import Page

_LOOK: Final = files("parlour.training.replay") / "look"
SCRIPTS: Final = (
    "replay_data.js",
    "replay_ring.js",
    "replay_record.js",
    "replay_step.js",
    "replay_tables.js",
    "replay_beliefs.js",
    "replay_papers.js",
    "replay_player.js",
    "replay_viewer.js",
)
INDEX_SCRIPT: Final = "replay_index.js"
STYLE: Final = "replay.css"
_NO_SCRIPT: Final = '<noscript><p class="page">This page needs JavaScript: its script, which stands in it, shows the data.</p></noscript>'
_PAGE: Final = partial(Page, styles=[_LOOK / STYLE], body=_NO_SCRIPT)


def viewer(data: Mapping[str, Any]) -> Page:
    """The page of a game, the plain values of a `Replay` without defaults; `parlour.training.report.page.render` makes the HTML."""
    header = data["header"]
    language = header.get("language", "en")
    named = " · ".join(filter(None, (header["title"], header.get("file", ""))))
    return _PAGE(printable(named), data, [_LOOK / name for name in SCRIPTS], language=language)


def index(data: Mapping[str, Any]) -> Page:
    """The page of a folder: `data` holds `games`, each with `page`, `file`, `game`, `title`, `seed`, `seats`, `players`,
    `winner`, `ended`, `steps` and `decisions_own` (a share); what is absent stays empty.
    """
    return _PAGE("Recorded games", data, [_LOOK / INDEX_SCRIPT])
