"""The page before a game: everybody sees the rules and who is missing; the host's page shows links and their codes, and goes away."""

from __future__ import annotations

import pytest

from tests.browser.watched_page import DESKTOP, GOOD, PHONE

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("websockets", reason="the extra `serve` is not installed")
from live_tables import opened
from watched_table import wait_for_turn_of_one

WAITS = "#waiting-title:visible"


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_host_sends_links_and_the_game_begins_when_all_are_here(sit, viewport, tmp_path):
    with opened(tmp_path, "avalon_v0", (0, 1), num_players=5, names=("Ana", "Ben")) as opening:
        host = sit(opening, 0, viewport)
        host.page.wait_for_selector(WAITS)
        assert host.page.locator("#waiting-title").inner_text() == "Waiting for Ben"
        assert host.page.locator("#title").inner_text() == "The Resistance: Avalon"
        assert host.page.locator(".brief li").count() == 3
        assert host.page.locator(".link").all_inner_texts() == [opening.link(1), opening.link(-1)]
        drawn = (
            "[...document.querySelectorAll('.invitation img')].map((code) => code.complete && code.naturalWidth > 0)"
        )
        assert host.page.evaluate(drawn) == [True, True]
        assert host.wider_than_screen() == 0
        watcher = sit(opening, -1, viewport)
        watcher.page.wait_for_selector(WAITS)
        assert watcher.page.locator(".link").count() == 0
        guest = sit(opening, 1, viewport)
        wait_for_turn_of_one((host, guest))
        for page in (host, guest, watcher):
            assert page.page.locator("#waiting").is_hidden()
            assert page.misdeeds() == GOOD
