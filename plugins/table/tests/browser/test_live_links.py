"""The page of a live table behind links that fall silent, and under a path: nothing is lost, nothing counts twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from parlour.envs import replay

from tests.browser.watched_page import GOOD, WatchedPage

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("websockets", reason="the extra `serve` is not installed")
from links import Link, linked
from live_tables import FAST, opened
from watched_table import play_to_the_end, press, wait_for_turn, wait_until

SECRET = "only a test, but long enough"
STATE = "document.getElementById('state').textContent"
LOST = f"{STATE} === 'connection lost; trying again'"
UNSENT = "!document.getElementById('turn-unsent').hidden && document.getElementById('turn-unsent').textContent"
NOTICE = "!document.getElementById('notice').hidden && document.getElementById('notice').textContent"
ENDED = "!document.getElementById('ending').hidden"


@pytest.fixture
def open_at(browser: Any) -> Any:
    """A function that opens a seat's page at the address of a link."""
    contexts = []

    def open_page(link: Link, key: str) -> WatchedPage:
        contexts.append(browser.new_context())
        watched = WatchedPage(contexts[-1].new_page(), own=f"{link.url}/")
        watched.page.goto(f"{link.url}/#{key}")
        return watched

    yield open_page
    for context in contexts:
        context.close()


def own_moves(path: Path) -> list[replay.Entry]:
    return [entry for entry in replay.Transcript.read(path).entries if entry.seat == 0]


def test_a_silent_link_is_noticed_and_a_move_that_was_pressed_is_taken_once(open_at, tmp_path):
    with opened(tmp_path, "template_v0", (0,)) as opening, linked(opening.url) as link:
        person = open_at(link, opening.keys.of(0))
        wait_for_turn(person)
        wait_until(person, f"{STATE} === 'connected'")
        link.fall_silent()
        press(person, 1)
        chosen = person.page.locator(".choices button").nth(1).inner_text()
        assert person.page.evaluate(UNSENT) == f"Not sent yet: {chosen}"
        wait_until(person, LOST, 11)
        person.page.wait_for_timeout(1500)
        assert person.page.evaluate(UNSENT) == f"Not sent yet: {chosen}"
        assert person.page.locator(".choices button:not(:disabled)").count() == 0
        link.come_back()
        wait_until(person, ENDED)
        assert person.page.evaluate(STATE) == "connected"
        assert person.misdeeds()["dialogs"] == []
    (entry,) = own_moves(tmp_path / "template_v0-1.jsonl")
    assert chosen == replay.text_of(replay.Transcript.read(tmp_path / "template_v0-1.jsonl")).say(entry.move)


def test_a_move_whose_acknowledgement_was_lost_counts_once(open_at, tmp_path):
    """The table has it and goes on; the page does not know, and sends it again."""
    with opened(tmp_path, "avalon_v0", (0,), num_players=5, seed=1) as opening, linked(opening.url) as link:
        person = open_at(link, opening.keys.of(0))
        wait_for_turn(person)
        link.fall_silent(one_way=True)
        press(person)
        assert person.page.evaluate(UNSENT)
        wait_until(person, LOST, 11)
        assert opening.boards[0]._turn == 2
        link.come_back()
        wait_until(person, f"{STATE} === 'connected'")
        wait_until(person, "document.querySelector('.choices button:not(:disabled)')")
        assert not person.page.evaluate(UNSENT)
        assert not person.page.evaluate(NOTICE)
        turns = 1 + play_to_the_end([person])
    moves = own_moves(tmp_path / "avalon_v0-1.jsonl")
    assert (len(moves), {entry.replaced for entry in moves}) == (turns, {""})


def test_a_move_whose_turn_has_passed_is_told_not_to_be_taken(open_at, tmp_path):
    settings = FAST.replace(clock=4.0)
    with opened(tmp_path, "template_v0", (0,), settings=settings) as opening, linked(opening.url) as link:
        person = open_at(link, opening.keys.of(0))
        wait_for_turn(person)
        link.fall_silent()
        press(person)
        wait_until(person, LOST, 11)
        link.come_back()
        wait_until(person, f"{NOTICE} === 'Your move was not taken: the clock ran out'")
        assert person.page.evaluate(ENDED)
    assert [entry.replaced for entry in own_moves(tmp_path / "template_v0-1.jsonl")] == ["clock"]


@pytest.mark.parametrize("event", ["window:online", "window:pageshow", "document:visibilitychange"])
def test_who_comes_back_is_connected_again_without_waiting(event, open_at, tmp_path):
    """After some failures a page waits up to 8 s between two attempts."""
    target, name = event.split(":")
    with opened(tmp_path, "template_v0", (0,)) as opening, linked(opening.url) as link:
        person = open_at(link, opening.keys.of(0))
        wait_for_turn(person)
        before = link.opened
        link.refuse()
        wait_until(person, LOST)
        while link.opened < before + 4:
            person.page.wait_for_timeout(100)
        wait_until(person, LOST)
        link.come_back()
        person.page.evaluate(f"{target}.dispatchEvent(new Event('{name}'))")
        wait_until(person, f"{STATE} === 'connected'", 2)


def test_the_next_game_that_was_asked_for_on_a_silent_link_begins(open_at, tmp_path):
    with opened(tmp_path, "template_v0", (0,), games=2) as opening, linked(opening.url) as link:
        person = open_at(link, opening.keys.of(0))
        press(person)
        wait_until(person, ENDED)
        link.fall_silent()
        person.page.get_by_role("button", name="Play again").click()
        assert person.page.get_by_text("Not sent yet").is_visible()
        wait_until(person, LOST, 11)
        link.come_back()
        wait_for_turn(person)
        assert "game 2 of 2" in person.page.locator("#where").inner_text()


def test_a_move_of_before_is_not_sent_to_a_table_that_was_opened_again(open_at, tmp_path):
    with opened(tmp_path, "template_v0", (0,), secret=SECRET) as opening, linked(opening.url) as link:
        person = open_at(link, opening.keys.of(0))
        wait_for_turn(person)
        link.fall_silent()
        press(person)
        with opened(tmp_path / "again", "template_v0", (0,), secret=SECRET) as again:
            link.server = ("127.0.0.1", int(again.url.rpartition(":")[2]))
            wait_until(person, LOST, 11)
            link.come_back()
            notice = "The table was opened again. The record shows whether your last move was taken."
            wait_until(person, f"{NOTICE} === '{notice}'")
            wait_for_turn(person)
            assert not person.page.evaluate(UNSENT)
            press(person)
            wait_until(person, ENDED)


def test_a_table_under_a_path_is_played_and_its_replay_opens(open_at, tmp_path):
    with opened(tmp_path, "template_v0", (0,)) as opening, linked(opening.url, "/parlour") as link:
        person = open_at(link, opening.keys.of(0))
        press(person)
        wait_until(person, ENDED)
        assert person.misdeeds() == GOOD
        with person.page.context.expect_page() as popup:
            person.page.get_by_role("link", name="replay").click()
        popup.value.wait_for_selector(".ring")
        assert popup.value.url.startswith(f"{link.url}/replay/")
