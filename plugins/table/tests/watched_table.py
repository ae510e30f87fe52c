"""People at a live table in headless Chromium: places in browsers of their own, turns, presses, a game to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from parlour_table.live.opening import OpenTable

from tests.browser.watched_page import DESKTOP, WatchedPage

Sit = Callable[..., WatchedPage]


@contextmanager
def places(browser: Any) -> Iterator[Sit]:
    """A function that opens a place of a table in a browser of its own."""
    with ExitStack() as stack:

        def open_place(opening: OpenTable, place: int, viewport: dict[str, int] = DESKTOP, **more: Any) -> WatchedPage:
            context = browser.new_context(viewport=viewport, **more)
            stack.callback(context.close)
            return open_tab(context, opening, place)

        yield open_place


def open_tab(context: Any, opening: OpenTable, place: int) -> WatchedPage:
    watched = WatchedPage(context.new_page(), own=f"{opening.url}/")
    watched.page.set_default_timeout(20_000)
    watched.page.goto(opening.link(place))
    return watched


def wait_until(watched: WatchedPage, expression: str, seconds: float = 20) -> None:
    """Wait until an expression holds; Playwright's own way evaluates it in the page, which the page's policy forbids."""
    for _ in range(int(50 * seconds)):
        if watched.page.evaluate(expression):
            return
        watched.page.wait_for_timeout(20)
    pytest.fail(f"never came true: {expression}")


def wait_for_turn(watched: WatchedPage) -> None:
    watched.page.wait_for_selector(".your-turn .choices button")


def press(watched: WatchedPage, number: int = 0) -> None:
    """Press an option, and wait until the table has taken it."""
    wait_for_turn(watched)
    turn = watched.page.locator("#turn-title").inner_text()
    assert turn == "Your move"
    watched.page.locator(".choices button").nth(number).click()


def play_to_the_end(people: list[WatchedPage], seconds: float = 20) -> int:
    """Everybody presses the first or second option at each turn, which comes within so long; how many turns there were."""
    turns = 0
    while True:
        for person in people:
            wait_until(
                person,
                "document.querySelector('.your-turn .choices button:not(:disabled)') || !document.getElementById('ending').hidden "
                "|| document.getElementById('turn-title').textContent !== 'Your move'",
                seconds,
            )
            if person.page.locator("#ending").is_visible():
                return turns
            options = person.page.locator(".your-turn .choices button:not(:disabled)")
            if options.count():
                options.nth(turns % min(2, options.count())).click()
                turns += 1


def wait_for_turn_of_one(people: tuple[WatchedPage, ...]) -> None:
    for person in people:
        person.page.wait_for_selector("#card .first")
