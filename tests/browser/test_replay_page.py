"""The replay page in a browser: every step of every game, from every perspective, on a screen and on a phone."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.common.plain import plain
from parlour.envs.registry import registry
from parlour.envs.replay import Transcript
from parlour.training.replay.build import replay_of
from parlour.training.replay.viewer import index, viewer

from tests.browser.watched_page import GOOD, PHONE
from tests.training.replay.recorded_games import ASKING, record

GAMES = [game if game == "avalon_v0" else pytest.param(game, marks=pytest.mark.nightly) for game in sorted(registry)]
REPLAYS = Path(__file__).parents[1] / "training" / "replay" / "data"
PRESS_RIGHT = """times => Array.from({ length: times }, () => {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  return document.querySelector("output.count").innerText;
})"""
"""Presses a key so many times, as the browser would, and tells where that led each time."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def data_of(folder):
    """The data of a recorded game's page, by the game."""

    @cache
    def of(game: str) -> dict[str, Any]:
        path = record(folder / f"{game}.jsonl", game, players=ASKING.get(game, ("heuristic",)))
        data: dict[str, Any] = plain(replay_of(Transcript.read(path), path.name), sparse=True)
        return data

    return of


@pytest.fixture
def opened(data_of, folder, watched):
    """A function that opens the page of a game, or of other data, at a fragment."""

    def open_page(data: str | dict[str, Any], fragment: str = "") -> Any:
        whole = data_of(data) if isinstance(data, str) else data
        file = Path(folder) / "page.html"
        file.write_text(viewer(whole).render(), "utf-8")
        return watched.open(file, fragment)

    return open_page


def perspectives(data: dict[str, Any]) -> list[int | str | None]:
    return [None, "all", *range(len(data["header"]["seats"]))]


def fragment(step: int, perspective: int | str | None) -> str:
    return f"step={step}" + ("" if perspective is None else f"&seat={perspective}")


def knows(to: list[int] | None, perspective: int | str | None) -> bool:
    """The convention of `to` in parlour.training.replay.model."""
    return to is None or perspective is None or (perspective != "all" and perspective in to)


@pytest.mark.parametrize("game", GAMES)
def test_the_right_arrow_leads_through_every_step_and_home_and_end_to_the_ends(game, data_of, opened, watched):
    page, last = opened(game, "step=0"), len(data_of(game)["steps"]) - 1
    assert page.evaluate(PRESS_RIGHT, last + 1) == [f"{step} / {last}" for step in (*range(1, last + 1), last)]
    page.keyboard.press("ArrowRight")
    assert page.evaluate("location.hash") == f"#step={last}"  # no further than the end
    page.keyboard.press("Home")
    assert page.evaluate("location.hash") == "#step=0"
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("location.hash") == f"#step={last - 1}"
    page.keyboard.press("PageUp")
    assert page.evaluate("location.hash") == f"#step={max(0, last - 11)}"
    assert watched.misdeeds() == GOOD


@pytest.mark.parametrize("game", GAMES)
def test_each_perspective_shows_the_lines_that_it_knows_and_no_others(game, data_of, opened, watched):
    data = data_of(game)
    last = len(data["steps"]) - 1
    page = opened(game)
    for perspective in perspectives(data):
        for step in {last // 2, last}:
            page.evaluate("place => { location.hash = place }", fragment(step, perspective))
            page.wait_for_function(
                "count => document.querySelector('output.count').innerText === count", arg=f"{step} / {last}"
            )
            page.wait_for_timeout(30)
            known = [line for line in data["lines"] if knows(line.get("to"), perspective) and line["step"] <= step]
            shown = page.locator(".record > li:not(.heading, .asked):visible").count()
            assert shown == len(known), (perspective, step)
    assert watched.misdeeds() == GOOD


def test_a_page_plays_by_itself_from_the_beginning_and_tells_the_result_at_its_last_step(data_of, opened, watched):
    data = data_of("avalon_v0")
    last = len(data["steps"]) - 1
    page = opened("avalon_v0", "play")
    page.wait_for_function("() => document.querySelector('output.count').innerText.startsWith('1 / ')")
    assert page.locator("#play").inner_text() == "Pause"
    assert not page.locator(".ended").is_visible()
    page.keyboard.press("End")  # a key stops it
    assert page.locator("output.count").inner_text() == f"{last} / {last}"
    assert page.locator("#play").inner_text() == "Play"
    assert page.locator(".ended").inner_text() == data["header"]["ended"]
    assert watched.misdeeds() == GOOD


def test_what_a_seat_was_asked_and_answered_is_folded_on_its_own_page_alone(data_of, opened):
    data = data_of("avalon_v0")
    step, seat = next((n, row["seat"]) for n, row in enumerate(data["steps"]) if row.get("asks"))
    page = opened("avalon_v0", fragment(step, seat))
    assert page.locator("#step details").count() >= len(data["steps"][step]["asks"])
    page.locator("#step details summary", has_text="Question 1").click()
    page.locator("#step details[open] details").first.wait_for(state="attached")  # filled after the click, at its event
    other = (seat + 1) % len(data["header"]["seats"])
    page = opened("avalon_v0", fragment(step, other))
    assert page.locator("#step details", has_text="Question").count() == 0


def test_questions_to_a_model_unfold_in_the_record_at_the_moves_that_they_led_to(data_of, opened):
    """Also those behind moves that nobody saw; on another seat's page there are none of them."""
    data = data_of("avalon_v0")
    steps = [(n, step) for n, step in enumerate(data["steps"]) if step.get("asks") and not step.get("fault")]
    page = opened("avalon_v0")
    for number, step in steps[:: max(1, len(steps) // 8)]:
        lines = page.locator(".record > li", has=page.locator(f"a.at[aria-label='go to step {number}']"))
        assert lines.locator("> .what > div > details").count() == len(step["asks"]), number
    kinds = {row["step"]: row["kind"] for row in data["lines"] if row["seat"] == -1}
    last, vote = next((n, s) for n, s in steps if s["kind"] == "vote" and kinds.get(n) == "votes")
    of_step = page.locator(".record > li", has=page.locator(f"a.at[aria-label='go to step {last}']"))
    line = of_step.first  # the last vote, before the count that it brings about
    assert vote["said"] in line.inner_text()
    assert of_step.count() > 1
    line.locator("summary").first.click()
    line.locator("details[open] .inside > *").first.wait_for(state="attached")
    asked = {step["seat"] for _, step in steps}
    silent = next(seat for seat in range(len(data["header"]["seats"])) if seat not in asked)
    page = opened("avalon_v0", fragment(len(data["steps"]) - 1, silent))
    assert page.locator(".record details").count() == 0


def test_the_ring_names_players_that_differ(data_of, opened):
    data = data_of("avalon_v0")
    shown = opened("avalon_v0").locator(".ring .seat .player").all_inner_texts()
    assert shown == [card["player"] for card in data["header"]["seats"]]
    alike = {
        **data,
        "header": {**data["header"], "seats": [{**card, "player": "a"} for card in data["header"]["seats"]]},
    }
    assert opened(alike).locator(".ring .seat .player").count() == 0


def test_a_prompt_that_unfolds_is_the_message_that_was_sent(opened, tmp_path):
    """Pieces that come again are stored once: the second prompt is pieces 0, 1 and 3 of ("a\\n", "b\\n", "c", "d")."""
    header, toss, promise, *rest = (REPLAYS / "coin.jsonl").read_text("utf-8").splitlines(keepends=True)
    calls = [
        {"ask": "chat", "reply": "Hm.", "prompt": [{"role": "user", "content": words}]}
        for words in ("a\nb\nc", "a\nb\nd")
    ]
    asked = json.dumps({**json.loads(promise), "calls": calls}) + "\n"
    (tmp_path / "asked.jsonl").write_text("".join((header, toss, asked, *rest)), "utf-8")
    page = opened(plain(replay_of(Transcript.read(tmp_path / "asked.jsonl")), sparse=True))
    for number, call in enumerate(calls, 1):
        question = page.locator(".record details", has_text=f"Question {number}:").first
        question.locator("summary").first.click()
        prompt = question.locator("details", has_text="Prompt, user")
        prompt.locator("summary").click()
        prompt.locator(".inside > *").first.wait_for(state="attached")
        assert prompt.locator(".inside").inner_text() == call["prompt"][0]["content"]


def test_a_game_plays_by_itself_from_its_beginning_and_the_space_bar_pauses_it(opened, watched):
    page = opened("template_v0")
    page.locator("h1").click()
    page.keyboard.press(" ")
    assert page.locator("#play").inner_text() == "Pause"
    page.wait_for_function("() => document.querySelector('output.count').innerText === '1 / 3'")
    page.keyboard.press(" ")
    assert page.locator("#play").inner_text() == "Play"
    page.wait_for_timeout(700)
    assert page.locator("output.count").inner_text() == "1 / 3"
    page.locator("#speed").select_option(label="4×")
    page.locator("#play").click()
    page.wait_for_function("() => document.querySelector('output.count').innerText === '3 / 3'")
    page.wait_for_function("() => document.getElementById('play').innerText === 'Play'")
    assert watched.misdeeds() == GOOD


def test_links_to_a_step_and_a_seat_are_read_and_written(opened):
    page = opened("avalon_v0", "step=5&seat=3")
    assert page.locator("output.count").inner_text().startswith("5 / ")
    assert page.locator("#perspective").input_value() == "3"
    assert page.locator(".ring .seat[aria-pressed=true] .who").inner_text() == "player_3"
    page.locator(".ring .seat").nth(1).click()
    assert page.evaluate("location.hash") == "#step=5&seat=1"
    page.locator("#perspective").select_option("all")
    assert page.evaluate("location.hash") == "#step=5&seat=all"
    page.locator(".ring .seat").nth(1).click()
    page.locator(".ring .seat").nth(1).click()  # once more: everything again
    assert page.evaluate("location.hash") == "#step=5"
    page.locator("#scrubber").fill("9")
    assert page.evaluate("location.hash") == "#step=9"
    page.locator(".record a.at", has_text="4").first.click()
    assert page.locator("output.count").inner_text().startswith("4 / ")


@pytest.mark.parametrize(
    "given", ["step=999999&seat=77", "step=-1", "step=x&seat=y", "&&=", "step=1e3", "seat=all&step=%00"]
)
def test_a_link_that_cannot_be_is_no_error(given, opened, watched):
    page = opened("template_v0", given)
    assert page.locator("output.count").inner_text() in ("0 / 3", "3 / 3")
    assert page.locator("#perspective").input_value() in ("", "all")
    assert watched.misdeeds() == GOOD


@pytest.mark.parametrize("game", GAMES)
def test_on_a_phone_nothing_has_to_be_scrolled_sideways(game, data_of, opened, watched):
    watched.page.set_viewport_size(PHONE)
    last = len(data_of(game)["steps"]) - 1
    for place in (fragment(0, None), fragment(last // 2, 1), fragment(last, None)):
        opened(game, place)
        assert watched.wider_than_screen() == 0, place
    rows = watched.page.evaluate(
        "[...document.querySelectorAll('.votes tbody tr:not([hidden])')].map((row) => row.offsetHeight)"
    )
    assert max(rows, default=0) < 50, "a row of votes is as high as its marks, also where its result is out of view"


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("game", GAMES)
def test_axe_finds_nothing_to_object_to(game, scheme, data_of, opened, watched):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    watched.page.emulate_media(color_scheme=scheme)
    last = len(data_of(game)["steps"]) - 1
    for place in (fragment(last // 2, None), fragment(last, 1)):
        result = axe.run(opened(game, place))
        assert result.violations_count == 0, result.generate_report()


@pytest.mark.parametrize("game", GAMES)
def test_the_beliefs_shown_are_those_of_the_data_to_the_last_digit(game, data_of, opened):
    """tests/test_replay_page_beliefs holds the data to the Python API; here the page is held to the data."""
    data = data_of(game)
    for belief in data.get("beliefs", [])[:6]:
        for step, values in belief["points"][:: max(1, len(belief["points"]) // 4)]:
            seat = "" if belief.get("holder") is None else f"&seat={belief['holder']}"
            page = opened(data, f"step={step}{seat}")
            page.locator("#belief").select_option(belief["id"])
            shown = page.locator("#beliefs .legend .value").evaluate_all("all => all.map(one => one.title)")
            assert [float(text) if text else None for text in shown] == values


def test_the_index_of_a_folder_filters_and_links_to_files_beside_it(folder, watched):
    games = [
        {"page": "a b#1.html", "file": "a.jsonl", "game": "avalon_v0", "title": "Avalon", "players": ["gratr"], "winner": "good"},
        {"page": "javascript:alert(1)", "file": "<b>", "game": "werewolf_v0", "title": "Werewolf", "players": ["rule"], "winner": "wolves"},
    ]  # fmt: skip
    file = Path(folder) / "index.html"
    file.write_text(index({"games": games}).render(), "utf-8")
    page = watched.open(file)
    assert page.locator("tbody a").evaluate_all("all => all.map(one => one.getAttribute('href'))") == [
        "./a%20b%231.html",
        "./javascript%3Aalert(1)",
    ]
    page.locator("select[aria-label=winner]").select_option(label="wolves")
    assert page.locator("tbody tr:visible").all_inner_texts() == [page.locator("tbody tr").nth(1).inner_text()]
    page.locator("select[aria-label=winner]").select_option("")
    page.locator("#find").fill("AVALON")
    assert page.locator("tbody tr:visible").count() == 1
    assert page.locator("[role=status]").inner_text() == "1 of 2 games"
    assert watched.misdeeds() == GOOD


def test_a_seats_page_holds_no_role_but_its_own_until_the_game_is_over(data_of, opened):
    data = data_of("avalon_v0")
    last = len(data["steps"]) - 1
    page = opened("avalon_v0", fragment(last - 1, 2))
    roles = [page.locator(".ring .seat .role").nth(seat).inner_text() for seat in range(6)]
    card = data["header"]["seats"][2]
    assert roles[2] == card["role"]
    unknown = [role for seat, role in enumerate(roles) if seat != 2]
    assert set(unknown) & {"Merlin", "Assassin"} == set()
    page.keyboard.press("End")
    over = [page.locator(".ring .seat .role").nth(seat).inner_text() for seat in range(6)]
    assert over == [row["role"] for row in data["header"]["seats"]]


@pytest.mark.parametrize("asked", ["offline", "a model"])
def test_each_gratr_seat_shows_a_judged_chain_for_each_day_whoever_answered(asked, folder, opened):
    """At the end, from the seat's own perspective; the day it speaks first in it has heard nothing."""
    path = record(folder / "graphs.jsonl", "werewolf_v0", seed=3, players=("gratr:mode=grounded",))
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lines[0]["players"] = {f"player_{seat}": f"gratr:mode=grounded @ {asked}" for seat in range(8)}
    lines[0]["models"] = {f"player_{seat}": {"model": asked} for seat in range(8)}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    data = plain(replay_of(Transcript.read(path), path.name), sparse=True)
    decided = [(line["seat"], moment[1]) for line in lines for moment in line.get("graph", {}).get("moments", ())]
    for seat in range(8):
        page = opened(data, f"step={len(data['steps']) - 1}&seat={seat}")
        page.locator("summary", has_text="Judged chains").click()
        days = page.locator("details", has=page.locator("summary", has_text="Judged chains")).last.locator(
            "tbody tr td:nth-child(2)"
        )
        expected = {str(day) for who, day in decided if who == f"player_{seat}" and (who, day) != decided[0]}
        assert expected <= set(days.evaluate_all("all => all.map(one => one.textContent)")), seat
