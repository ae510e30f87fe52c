"""An evening at a live table in browsers: names, the board, a phone, clicks, the end, play again; two people and a watcher."""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs import replay

from tests.browser.watched_page import GOOD, WatchedPage

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("websockets", reason="the extra `serve` is not installed")

from live_tables import FAST, opened
from parlour_table.live.settings import WATCHING
from watched_table import play_to_the_end, wait_for_turn, wait_until

NAMES = ("Ana", "Ben", "Cleo", "Dan", "Eva")
PHONE = {"width": 390, "height": 844}
MOST_CLICKS = 40
CUT_OFF = "(([box]) => box.scrollWidth - box.clientWidth)(document.querySelectorAll('#ending .table'))"
"""Pixels of the table of seats that are cut off."""
TITLE = "document.getElementById('turn-title').textContent"
COVERED = """(() => { const cards = [...document.querySelectorAll('#seats .seat')].map((card) => [card, card.getBoundingClientRect()]);
    return cards.filter(([card, box], number) => card.scrollHeight > card.clientHeight + 1 || cards.some(([, other], at) => at > number &&
        box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)).length; })()"""
"""Cards of seats that are clipped or cover another."""


@pytest.mark.parametrize("seed", range(3))
def test_a_whole_game_of_avalon_takes_a_person_fewer_than_forty_clicks(seed, sit, tmp_path):
    """Every turn by one press of an option; free words are not needed."""
    with opened(tmp_path, "avalon_v0", (0,), seed=seed) as opening:
        person = sit(opening, 0)
        clicks = play_to_the_end([person])
    assert replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl").outcome is not None
    assert clicks < MOST_CLICKS


def test_two_people_and_a_watcher_play_two_games_with_names_and_scores(sit, tmp_path):
    with opened(tmp_path, "avalon_v0", (0, 1), names=NAMES, num_players=5, games=None, seed=3) as opening:
        watcher, first = sit(opening, WATCHING), sit(opening, 0)
        second = sit(opening, 1, PHONE, has_touch=True, is_mobile=True)
        everybody = (watcher, first, second)
        first.page.wait_for_selector("#card .first")
        assert first.page.locator("#card .first").inner_text().startswith("You are Ana. Your role is ")
        play_to_the_end([first, second])
        for watched in everybody:
            wait_until(watched, "!document.getElementById('ending').hidden")
            assert "player_" not in watched.page.locator("body").inner_text()
            assert watched.page.locator("#ending tbody th").all_inner_texts()[2:] == ["Cleo", "Dan", "Eva"]
        outcome = replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl").outcome
        for person, seat in ((first, 0), (second, 1)):
            ending = person.page.locator("#ending .question").inner_text()
            assert ending.startswith("You won: " if outcome.returns[seat] > 0 else "You lost: ")
        opens_where_it_turned(first)
        second.page.get_by_role("button", name="Play again").click()
        for watched in everybody:
            wait_until(watched, "document.getElementById('where').textContent.includes('game 2')")
        play_to_the_end([first, second])
        won = sum(
            replay.Transcript.read(tmp_path / f"avalon_v0-{game}.jsonl").outcome.returns[0] > 0 for game in (1, 2)
        )
        assert first.page.locator("#ending tbody tr").first.inner_text().endswith(f"{won} of 2")
        for person in (first, second):
            assert person.page.evaluate(CUT_OFF) == 0
            assert person.page.locator("#ending thead th").all_inner_texts()[-2:] == ["this game", "games won"]
            assert person.page.locator("#ending thead th").count() == 5
        assert [watched.misdeeds() for watched in everybody] == [GOOD] * 3


def opens_where_it_turned(person: WatchedPage) -> None:
    with person.page.context.expect_page() as popup:
        person.page.get_by_role("link", name="See that moment").click()
    page: Any = popup.value
    page.wait_for_selector(".ring")
    step = page.evaluate("location.hash")
    assert page.get_by_role("link", name="go to where it turned", include_hidden=True).get_attribute("href") == step
    assert page.locator("output.count").inner_text().startswith(step.removeprefix("#step=") + " / ")
    page.close()


def test_the_board_shows_what_the_game_says_lies_on_the_table(sit, tmp_path):
    """Quests with sizes, rejections, leader, team and votes; the time that is left; the same to a person and a watcher."""
    with opened(
        tmp_path, "avalon_v0", (0,), num_players=5, names=NAMES, seed=1, settings=FAST.replace(clock=300.0)
    ) as opening:
        watcher, person = sit(opening, WATCHING), sit(opening, 0)
        wait_for_turn(person)
        for watched in (watcher, person):
            wait_until(watched, "document.querySelectorAll('.track').length === 2")
            assert watched.page.locator(".track").first.locator(".big").all_inner_texts() == ["2", "3", "2", "3", "3"]
            assert watched.page.locator(".phase").inner_text().startswith("Quest 1: ")
            assert watched.page.locator("#seats .ring .badge.now", has_text="leader").count() == 1
            assert watched.page.locator("#seats [role=timer]").inner_text().startswith(("4:5", "5:00"))
        assert "you" in person.page.locator("#seats .felt").inner_text()
        assert "Ana" in watcher.page.locator("#seats .felt").inner_text()


@pytest.mark.parametrize("players", [5, 10])
@pytest.mark.parametrize("width", [1280, 390])
def test_crowded_cards_of_seats_show_all_that_is_on_them(players, width, sit, tmp_path):
    marks = ["leader", "says: Loyal Servant", "team", "\u2713", "named as Merlin"]
    seats = {"marks": [{"text": mark, "kind": "plain", "title": ""} for mark in marks], "acts": False, "away": False}
    with opened(tmp_path, "avalon_v0", (0,), num_players=players, seed=1) as opening:
        person = sit(opening, 0, {"width": width, "height": 844})
        wait_for_turn(person)
        assert person.page.evaluate(COVERED) == 0
        laid = {"type": "board", "phase": "", "tracks": [], "seats": [seats] * players, "seconds": None}
        opening.boards[0]._send(laid)
        person.page.get_by_text("named as Merlin").first.wait_for()
        assert person.page.evaluate(COVERED) == 0
        assert person.wider_than_screen() == 0


def test_werewolf_shows_day_and_night_and_who_is_dead(sit, tmp_path):
    with opened(tmp_path, "werewolf_v0", (0,), seed=3) as opening:
        watcher, person = sit(opening, WATCHING), sit(opening, 0)
        play_to_the_end([person])
        wait_until(watcher, "!document.getElementById('ending').hidden")
        transcript = replay.Transcript.read(tmp_path / "werewolf_v0-1.jsonl")
        view = transcript.game().view(list(replay.states(transcript.game(), transcript.moves))[-1], 0)
        for watched in (watcher, person):
            assert watched.page.locator("#seats .ring .seat.away").count() == sum(not alive for alive in view.alive)
            assert watched.page.locator(".phase").inner_text().startswith(("Day ", "Night "))


@pytest.mark.parametrize("game", ["avalon_v0", "werewolf_v0", "murder_mystery_v0"])
def test_on_a_phone_the_role_and_the_move_come_first(game, sit, tmp_path):
    """At 390 pixels: the card, then the question with its first option, above everything else and without scrolling."""
    with opened(tmp_path, game, (0,), seed=1) as opening:
        person = sit(opening, 0, PHONE, has_touch=True, is_mobile=True)
        wait_for_turn(person)
        tops = [person.page.locator(place).bounding_box()["y"] for place in ("#card", "#turn", "#seats", "#happened")]
        assert tops == sorted(tops)
        option = person.page.locator(".choices button").first.bounding_box()
        assert option["y"] + option["height"] < PHONE["height"]
        assert ("player_" in person.page.locator("#card").inner_text()) == (game != "murder_mystery_v0")
        assert person.wider_than_screen() == 0


def test_what_is_said_of_seats_and_of_a_move_that_was_taken_is_true(sit, tmp_path):
    """The hint below the seats stands where options are searched; a move is "taken" only until the game has moved on."""
    with opened(tmp_path, "avalon_v0", (0, 1), num_players=5, names=NAMES, seed=1) as opening:
        first, second = sit(opening, 0), sit(opening, 1)
        hint = first.page.get_by_text("Press a seat to see only the options that name it.")
        question = first.page.locator(".your-turn .question")
        seen = set()
        while len(seen) < 3:
            for person in (first, second):
                wait_until(
                    person,
                    "document.querySelector('.your-turn .choices button:not(:disabled)') || document.getElementById('turn-title').textContent !== 'Your move'",
                )
            if question.count():
                searched = first.page.locator("#turn input[type=search]").count() == 1
                assert hint.is_visible() == searched
                seen.add(searched)
                if question.inner_text().startswith("Vote on the team in secret. The team: "):
                    first.page.locator(".choices button").first.click()
                    wait_until(first, f"{TITLE} === 'Your move was taken; waiting for the others'")
                    assert not hint.is_visible()
                    second.page.locator(".choices button").first.click()
                    wait_until(first, f"{TITLE} !== 'Your move was taken; waiting for the others'")
                    seen.add("vote")
                    continue
            for person in (first, second):
                options = person.page.locator(".your-turn .choices button:not(:disabled)")
                if options.count() and not person.page.locator(".question", has_text="Vote on the team").count():
                    options.first.click()
            first.page.wait_for_timeout(20)
