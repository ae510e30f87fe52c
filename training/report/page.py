r"""One HTML file from style, scripts and data: no network, no build step, and only its own script runs.

The page contains the data as JSON with `<`, `>` and `&` escaped, so that no text in it ends its element. The
Content-Security-Policy (https://www.w3.org/TR/CSP3/) allows the one inline script and the one style by their SHA-256
digests, and pictures as data URIs; everything else, requests among it, is refused by the browser.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final

from parlour.envs.core import accept

_LOOK: Final = resources.files("parlour.training.report") / "look"
STYLE: Final = "style.css"
SHARED: Final = ("dom.js", "words.js", "ring.js", "record.js", "tables.js", "charts.js")
"""Scripts of the shared look, in the order in which they are joined."""
REPORT: Final = "report.js"
_ESCAPED: Final = re.compile(
    "[<>&\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
)
"""What ends elements, turns the direction of writing or cannot be seen or encoded: written as its number in JSON."""


@dataclass(frozen=True)
class Page:
    """What one page is made of. Nothing in it is taken for HTML but `body`."""

    title: str
    data: Mapping[str, Any] = field(default_factory=dict)
    """Plain values, which the scripts get from `pageData()`."""
    scripts: Sequence[Traversable] = ()
    """Files of JavaScript besides the shared ones, joined after them, in this order."""
    styles: Sequence[Traversable] = ()
    """Files of CSS, joined after the shared one."""
    body: str = ""
    """HTML that the writer of the page has escaped."""
    language: str = "en"
    connects: bool = False
    """Whether the page speaks with the server it came from (`connect-src 'self'`)."""

    def render(self) -> str:
        """The whole page as HTML, in UTF-8 once written."""
        style = _joined([look(STYLE), *self.styles])
        files = _joined([*map(look, SHARED), *self.scripts])
        script = f'"use strict";\n(() => {{\n{files}\n}})();\n'  # in a function, so that nothing is left in `window`
        return "\n".join((
            "<!doctype html>",
            f'<html lang="{html.escape(self.language)}">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script, connects=self.connects)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{html.escape(self.title)}</title>",
            '<link rel="icon" href="data:,">',
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            self.body,
            f'<script type="application/json" id="data">{as_json(self.data)}</script>',
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ))  # fmt: skip


def look(name: str) -> Traversable:
    """A file of the shared look. Raises `ParlourError` for a name that is none of it."""
    if name not in (STYLE, *SHARED, REPORT):
        raise accept("look", name, (STYLE, *SHARED, REPORT))
    return _LOOK / name


def as_json(value: Any) -> str:
    r"""JSON that is safe within an element of HTML, whatever the texts in it.

    >>> print(as_json({"say": "</script>"}))
    {"say":"\u003c/script\u003e"}
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _joined(parts: Sequence[Traversable]) -> str:
    return "\n".join(part.read_text("utf-8") for part in parts)


def _policy(style: str, script: str, *, connects: bool) -> str:
    allowed = {
        "default-src": "'none'",
        "script-src": _digest(script),
        "style-src": _digest(style),
        "img-src": "data:",
        "connect-src": "'self'" if connects else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{what} {where}" for what, where in allowed.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
