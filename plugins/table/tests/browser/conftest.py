"""Tests of a table's page in headless Chromium, as those of `tests/browser`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from watched_table import places

from tests.browser.conftest import browser  # noqa: F401


@pytest.fixture
def sit(browser: Any) -> Iterator[Any]:  # noqa: F811
    """A function that opens a place of a table in a browser of its own: `watched_table.Sit`."""
    with places(browser) as open_place:
        yield open_place
