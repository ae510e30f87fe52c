"""Tests of pages in headless Chromium: they run where `PARLOUR_CHROMIUM` names the browser (scripts/test-browser does)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from tests.browser.watched_page import DESKTOP, WatchedPage

WHY = "needs Chromium, named in PARLOUR_CHROMIUM, and the extra `browser`: scripts/test-browser"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    program = os.environ.get("PARLOUR_CHROMIUM")
    if not program:
        pytest.skip(WHY)
    playwright = import_module(
        "playwright.sync_api"
    )  # an error where it is missing: who names a browser wants these tests
    with playwright.sync_playwright() as driver:
        # no sandbox: containers run tests as root, whom Chromium refuses one
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def watched(browser: Any) -> Iterator[WatchedPage]:
    """A page of its own; a test that wants another colour scheme calls `page.emulate_media`."""
    context = browser.new_context(viewport=DESKTOP)
    yield WatchedPage(context.new_page())
    context.close()
