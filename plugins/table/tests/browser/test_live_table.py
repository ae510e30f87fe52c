"""The live table in browsers: a whole game by two people and one who watches, a phone, axe-core, hostile words, lost lines."""

from __future__ import annotations

import time

import pytest
from parlour.envs import replay
from parlour.envs.language.speech import quote

from tests.browser.watched_page import GOOD, PHONE, WatchedPage

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("websockets", reason="the extra `serve` is not installed")
from live_tables import FAST, opened
from parlour_table.live.boards import Given
from parlour_table.live.opening import OpenTable
from parlour_table.live.settings import WATCHING
from watched_table import open_tab, play_to_the_end, press, wait_for_turn, wait_for_turn_of_one, wait_until

EVIL = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'><a href='javascript:window.hacked = 1'>press</a>",
    "\u202eevil si 1_reyalp\u202c \u2066x\u2069 \u200f",
    '"); window.hacked = 1; ("',
    "<b>bold</b>&lt;b&gt;" * 190,
)
SAID_IT = "[...document.querySelectorAll('#happened li.said')].some((one) => one.textContent.includes('I accuse player_3 of'))"
CUT_OFF = (
    "[...document.querySelectorAll('.choices button')].filter((one) => one.scrollHeight > one.clientHeight + 1).length"
)
"""Options of which not all can be read."""
STAYS = "document.querySelectorAll('script, img, iframe, object, embed, link, b').length + ' ' + typeof window.hacked"


def test_two_people_play_a_whole_game_and_somebody_watches(sit, tmp_path):
    """Avalon for five, three of parlour's: what all three pages show at the end is what each may know, and then everything."""
    with opened(tmp_path, "avalon_v0", (0, 1), num_players=5, games=2, seed=3) as opening:
        watcher = sit(opening, WATCHING)
        first = sit(opening, 0)
        assert first.page.locator("#turn-title").inner_text() == "Waiting for the others to sit down"
        second = sit(opening, 1)
        wait_for_turn_of_one((first, second))
        assert "you are player_0, game 1 of 2" in first.page.locator("#where").inner_text()
        assert first.page.locator("#card .first").inner_text().startswith("You are player_0. Your role is ")
        assert "role is" not in watcher.page.content()
        assert play_to_the_end([first, second]) > 4
        transcript = replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl")
        for watched, seat in ((first, 0), (second, 1), (watcher, WATCHING)):
            shown = watched.page.locator("#happened .record > li:not(.away) .what").all_inner_texts()
            assert shown == lines_of(transcript, seat)
            assert watched.page.locator("#ending tbody tr").count() == 5
            assert watched.misdeeds() == GOOD
        with first.page.context.expect_page() as popup:
            first.page.get_by_role("link", name="replay").click()
        popup.value.wait_for_selector(".ring")
        assert popup.value.title().endswith("avalon_v0-1.jsonl")
        second.page.get_by_role("button", name="Play again (game 2 of 2)").click()
        for watched in (first, second, watcher):
            wait_until(watched, "document.getElementById('where').textContent.includes('game 2 of 2')")
            assert not watched.page.locator("#ending").is_visible()


def lines_of(transcript: replay.Transcript, seat: int) -> list[str]:
    """The record of a seat, or of all, without the names that stand in a column of their own."""
    game, text = transcript.game(), replay.text_of(transcript)
    view = game.view(list(replay.states(game, transcript.moves))[-1], max(seat, 0))
    events = [event for event in view.events if seat >= 0 or event.to is None]
    lines = [text.line(event).rstrip("\n") for event in events]
    names = ["Moderator: " if event.seat < 0 else f"player_{event.seat} " for event in events]
    return [line.removeprefix(name) for line, name in zip(lines, names, strict=True)]


@pytest.mark.parametrize("game", ["werewolf_v0", "murder_mystery_v0", "mediated_qa_v0"])
def test_a_person_plays_a_whole_game_on_a_phone(game, sit, tmp_path):
    """Nothing is wider than the screen, and at a turn the options are in view without scrolling."""
    with opened(tmp_path, game, (0,), seed=1) as opening:
        person = sit(opening, 0, PHONE, has_touch=True, is_mobile=True)
        wait_for_turn(person)
        assert person.page.locator(".choices button").first.bounding_box()["y"] < PHONE["height"]
        assert person.wider_than_screen() == 0
        assert person.page.evaluate(CUT_OFF) == 0
        assert play_to_the_end([person]) > 0
        assert person.wider_than_screen() == 0
        assert person.misdeeds() == GOOD


@pytest.mark.parametrize(("scheme", "names"), [("light", ("Ana", "Ben", "Cleo", "Dan", "Eva")), ("dark", ())])
def test_axe_finds_nothing_to_object_to(scheme, names, sit, tmp_path):
    """While waiting, at a turn with free words, at a vote, at the end, and the replay; as somebody who watches, too; wide and narrow."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()

    def check(watched: WatchedPage) -> None:
        before = watched.page.viewport_size
        for width in (1280, 390):
            watched.page.set_viewport_size({**before, "width": width})
            result = axe.run(watched.page)
            assert result.violations_count == 0, result.generate_report()
        watched.page.set_viewport_size(before)

    table = {"num_players": 5, "seed": 1, "names": names, "settings": FAST.replace(clock=600.0)}
    with opened(tmp_path, "avalon_v0", (0, 1), talk="words", **table) as opening:
        watcher, first = sit(opening, WATCHING, color_scheme=scheme), sit(opening, 0, color_scheme=scheme)
        check(first)
        second = sit(opening, 1, PHONE, color_scheme=scheme)
        wait_for_turn_of_one((first, second))
        second.page.get_by_text("The rules of this table").click()
        for person in (first, second, watcher):
            check(person)
        play_to_the_end([first, second])
        first.page.get_by_text("Everything that happened").click()
        for person in (first, second, watcher):
            person.page.wait_for_selector("#ending tbody tr")
            check(person)
        with first.page.context.expect_page() as popup:
            first.page.get_by_role("link", name="replay").click()
        popup.value.wait_for_selector(".ring")
        check(WatchedPage(popup.value))


def test_hostile_words_stay_words_on_every_page(sit, tmp_path):
    """Spoken by a person in the box: all who hear it see the text that the table made of it, and nothing runs."""
    with opened(tmp_path, "werewolf_v0", (0,), seed=1) as opening:
        first, watcher = sit(opening, 0), sit(opening, WATCHING)
        wait_for_turn(first)
        before = [person.page.evaluate(STAYS) for person in (first, watcher)]
        left = list(EVIL)
        while left and not first.page.locator("#ending").is_visible():
            if (box := first.page.query_selector("#words")) is not None:
                box.fill(left.pop())
                first.page.get_by_role("button", name="Say it").click()
                box.wait_for_element_state("hidden")  # the table has heard it
            elif first.page.locator(".your-turn .choices button:not(:disabled)").count():
                press(first)
            first.page.wait_for_timeout(50)
        cut_all(opening)
        for person in (first, watcher):
            wait_until(person, "document.querySelectorAll('#happened li').length > 3")
        path = tmp_path / "werewolf_v0-1.jsonl"
        spoken = [entry for entry in replay.Transcript.read(path).entries if entry.seat == 0 and entry.raw]
        assert [entry.raw for entry in spoken] == list(reversed(EVIL))[: len(spoken)]
        assert spoken
        for person in (first, watcher):
            shown = " ".join(person.page.locator("#happened li.said .words").all_text_contents())
            begins = [quote(entry.move.words)[:30] for entry in spoken]
            assert [words for words in begins if words not in shown] == []
        assert [person.page.evaluate(STAYS) for person in (first, watcher)] == before
        assert [person.dialogs + person.requests for person in (first, watcher)] == [[], []]


def test_hostile_text_in_every_field_that_the_page_shows_stays_text(sit, tmp_path):
    """Whatever a game, a case or a model could put into a message: 20,000 characters of it, too."""
    with opened(tmp_path, "template_v0", (0,)) as opening:
        watched = sit(opening, 0)
        wait_for_turn(watched)
        before = watched.page.evaluate(STAYS)
        send = opening.boards[0]._send
        for words in (*EVIL, "<i>x</i> " * 2300):
            line = {"seat": 0, "kind": "said", "secret": False, "text": words}
            asked = {"turn": 10**6, "ask": words, "options": [words] * 11, "words": True}
            asked |= {"refused": [words], "seconds": None}
            place = dict.fromkeys(("agent", "player", "was", "role", "side", "told"), words)
            place |= {"returned": 1.0, "total": 1.0, "wins": 1}
            end = {"end": words, "replay": "javascript:window.hacked = 1"}
            over = end | {"number": 1, "games": 1, "seats": [place] * 2, "evening": [end] * 2}
            over |= {"turned": {"step": words, "why": words}}
            seat = {"marks": [{"text": words, "kind": words, "title": words}], "acts": True, "away": True}
            tracks = [{"title": words, "places": [dict.fromkeys(("text", "note", "kind", "title"), words)]}]
            laid = {"phase": words, "tracks": tracks, "seats": [seat] * 2, "seconds": 5.0}
            table = {"number": 1, "games": 1, "title": words, "agents": [words, words], "seat": 0}
            table |= {"language": "en", "clock": None}
            for message in (
                {"type": "table", **table},
                {"type": "who", "own": words, "rules": words, "names": [words, words]},
                {"type": "told", "from": 0, "lines": [line, {**line, "seat": -1, "kind": "told"}]},
                {"type": "board", **laid},
                {"type": "asked", **asked},
                {"type": "refused", "why": words},
                {"type": "taken", "turn": 1, "by": "table", "why": words},
                {"type": "refused", "why": words},
                {"type": "over", **over, "lines": [line]},
            ):
                send(message)
        watched.page.wait_for_selector("#ending tbody tr")
        watched.page.get_by_text("Everything that happened").click()
        watched.page.get_by_text("The rules of this table").click()
        assert watched.page.evaluate(STAYS) == before
        assert watched.page.locator("#ending a").count() == 0
        assert watched.page.locator("#title").text_content() == "<i>x</i> " * 2300
        assert watched.misdeeds() == GOOD
        assert watched.wider_than_screen() == 0


def test_words_that_are_too_long_stay_in_the_box(sit, tmp_path):
    with opened(tmp_path, "avalon_v0", (0,), num_players=5, seed=1) as opening:
        first = sit(opening, 0)
        wait_for_turn(first)
        first.page.fill("#words", "x" * 20_000)
        assert first.page.locator("#words-count").inner_text() == "20,000 of 4,000 characters: too many"
        assert first.page.get_by_role("button", name="Say it").is_disabled()
        assert len(first.page.input_value("#words")) == 20_000


def test_a_second_tab_takes_the_seat_and_a_reload_takes_it_back(sit, tmp_path):
    with opened(tmp_path, "avalon_v0", (0,), num_players=5, seed=1) as opening:
        first = sit(opening, 0)
        wait_for_turn(first)
        second = open_tab(first.page.context, opening, 0)
        wait_for_turn(second)
        first.page.wait_for_selector("#notice:not([hidden])")
        assert first.page.locator("#notice").inner_text().startswith("this seat was opened in another tab or browser")
        assert first.page.locator(".choices").count() == 0
        first.page.reload()
        wait_for_turn(first)
        second.page.wait_for_selector("#notice:not([hidden])")
        press(first)
        wait_until(first, "document.querySelectorAll('#happened li').length > 1")
        assert first.misdeeds() == second.misdeeds() == GOOD


def test_a_lost_connection_comes_back_with_the_words_that_were_typed(sit, tmp_path):
    """The line is cut, and the page opens it again; the turn and the draft are still there, and are taken then."""
    with opened(tmp_path, "avalon_v0", (0,), num_players=5, seed=1) as opening:
        first = sit(opening, 0)
        wait_for_turn(first)
        first.page.fill("#words", "I accuse player_3 of being evil.")
        first.page.evaluate("window.state = []; new MutationObserver(() => window.state.push(document.getElementById('state').textContent))"
                            ".observe(document.getElementById('state'), { childList: true, characterData: true, subtree: true })")  # fmt: skip
        cut_all(opening)
        wait_until(
            first, "window.state.includes('connection lost; trying again') && window.state.at(-1) === 'connected'"
        )
        wait_for_turn(first)
        assert first.page.input_value("#words") == "I accuse player_3 of being evil."
        first.page.get_by_role("button", name="Say it").click()
        wait_until(first, SAID_IT)


def cut_all(opening: OpenTable) -> None:
    """Cut all connections on the side of the server."""
    for connection in list(opening._server._server.server_state.connections):
        connection.loop.call_soon_threadsafe(connection.transport.abort)


def test_what_happened_while_somebody_was_away_is_marked(sit, tmp_path):
    """The page is closed at a turn and opened at the next one: the lines in between are told apart, on a reload none are."""
    with opened(tmp_path, "avalon_v0", (0,), num_players=5, seed=1) as opening:
        first = sit(opening, 0)
        wait_for_turn(first)
        context, seen = first.page.context, first.page.locator("#happened li").count()
        first.page.close()
        board = opening.boards[0]
        board.answer(1, Given(0, None))
        while board._question is None or board._turn == 1:
            time.sleep(0.01)
        again = open_tab(context, opening, 0)
        wait_for_turn(again)
        new = again.page.locator("#happened li:not(.away)").count() - seen
        assert new > 1
        assert again.page.locator("#happened .away").inner_text() == f"While you were away: {new} lines"
        assert again.page.locator("#happened li").nth(seen).get_attribute("class") == "away"
        again.page.reload()
        wait_for_turn(again)
        assert again.page.locator("#happened .away").count() == 0


@pytest.mark.parametrize(
    ("fragment", "why"),
    [
        (
            "#nobody",
            "this link is not one of this table; accepted: one of the links that were printed when the table started",
        ),
        (
            "",
            "this address has no key behind its #; accepted: one of the links that were printed when the table started; ask whoever opened the table",
        ),
    ],
)
def test_a_wrong_link_is_told_in_one_line(fragment, why, sit, tmp_path):
    with opened(tmp_path, "template_v0", (0,)) as opening:
        watched = sit(opening, WATCHING)
        watched.page.goto("about:blank")
        watched.page.goto(f"{opening.url}/{fragment}")
        watched.page.wait_for_selector("#notice:not([hidden])")
        assert watched.page.locator("#notice").inner_text() == why
        assert watched.misdeeds() == GOOD


def test_the_clock_is_shown_and_tells_what_the_table_did(sit, tmp_path):
    with opened(tmp_path, "template_v0", (0,), settings=FAST.replace(clock=1.0)) as opening:
        person = sit(opening, 0)
        wait_until(
            person,
            "document.getElementById('turn-title').textContent === 'The table made your move: the clock ran out'"
            " || !document.getElementById('ending').hidden",
        )
    transcript = replay.Transcript.read(tmp_path / "template_v0-1.jsonl")
    assert [entry.replaced for entry in transcript.entries if entry.seat == 0] == ["clock"]
