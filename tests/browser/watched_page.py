"""A page in headless Chromium, and all that it did which no page of parlour may do."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}
SCROLLING = """() => [...document.querySelectorAll("figure")].filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.className)"""
"""The figures that scroll sideways."""


@dataclass
class WatchedPage:
    """Playwright's page, watched from before it opens anything."""

    page: Any
    requests: list[str] = field(default_factory=list)
    """Addresses that were asked for, the page's own file left out."""
    errors: list[str] = field(default_factory=list)
    """Errors and warnings of the console, and exceptions."""
    dialogs: list[str] = field(default_factory=list)
    own: str = ""
    """Address of the page itself."""

    def __post_init__(self) -> None:
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("console", lambda said: said.type in ("error", "warning") and self.errors.append(said.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("dialog", self._dialog)

    def _asked(self, url: str) -> None:
        if url.partition("#")[0] != self.own and not url.startswith("data:"):
            self.requests.append(url)

    def _dialog(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    def open(self, file: Path, fragment: str = "") -> Any:
        """Open a file, at `#fragment` if one is given; returns Playwright's page."""
        self.own = file.resolve().as_uri()
        self.page.goto("about:blank")
        self.page.goto(self.own + (f"#{fragment}" if fragment else ""))
        return self.page

    def misdeeds(self) -> dict[str, list[str]]:
        """What the page did that it may not, by kind; all empty for a good page."""
        return {"requests": self.requests, "errors": self.errors, "dialogs": self.dialogs}

    def wider_than_screen(self) -> int:
        """By how many pixels the page can be scrolled sideways."""
        inside = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        return int(inside)


GOOD: dict[str, list[str]] = {"requests": [], "errors": [], "dialogs": []}
