"""Text that means harm, in every text field that a transcript, a case or a model can fill: nothing runs, nothing leaves its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.common.plain import plain
from parlour.envs.registry import registry
from parlour.envs.replay import Transcript
from parlour.training.replay.build import replay_of
from parlour.training.replay.viewer import index, viewer
from parlour.training.report import html
from parlour.training.report.result_table import ResultTable

from tests.browser.watched_page import GOOD, PHONE, WatchedPage
from tests.training.replay.recorded_games import ASKING, record

pytestmark = pytest.mark.nightly

HOSTILE = [
    "</script><script>window.ran = 1; alert(1)</script>",
    "<img src=x onerror='window.ran=1'><svg onload=window.ran=1><iframe src=javascript:alert(1)></iframe>",
    "<style>body{display:none}</style><form action=http://127.0.0.1:9/><input name=a></form>",
    '" onmouseover="window.ran=1" x="',
    "' onfocus='window.ran=1' autofocus '",
    "javascript:alert(1)//http://127.0.0.1:9/",
    "<!-- --><script src=http://127.0.0.1:9/x.js></script>]]>",
    "{{constructor.constructor('window.ran=1')()}} ${window.ran=1} \\u003cscript\\u003e",
    "right \u202eotni tfel\u202c \u2066isolated \u2067\u200f\u061c back",
    "\x00\x1b[2J\x7f\x9b lone \ud800 and \udc00, line\u2028paragraph\u2029end",
    "__proto__",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643\u0645 " * 4,
    "W" * 600,
]
LONG = ["W" * 20_000, "two words " * 2_000]
ALLOWED = {
    *("HTML", "HEAD", "META", "TITLE", "LINK", "STYLE", "SCRIPT", "BODY", "NOSCRIPT", "HEADER", "MAIN", "NAV", "SECTION"),
    *("DIV", "SPAN", "BDI", "P", "H1", "H2", "H3", "STRONG", "DETAILS", "SUMMARY", "OL", "UL", "LI", "A", "BUTTON", "LABEL"),
    *("SELECT", "OPTGROUP", "OPTION", "INPUT", "OUTPUT", "TABLE", "CAPTION", "THEAD", "TBODY", "TR", "TH", "TD"),
    *("svg", "path", "line", "text", "circle", "g", "title"),
}  # fmt: skip
LOOK_AROUND = """allowed => {
  const all = [...document.querySelectorAll("*")];
  const raw = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode())
    if (!node.parentElement.closest("script") && /[\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f\\u061c]/.test(node.data)) raw.push(node.data.slice(0, 80));
  return {
    strange: [...new Set(all.map((one) => one.tagName).filter((tag) => !allowed.includes(tag)))],
    handlers: all.flatMap((one) => [...one.attributes].filter((each) => each.name.startsWith("on")).map((each) => each.name)),
    links: [...document.querySelectorAll("[href]")].map((one) => one.getAttribute("href")).filter((to) => !/^(#|\\.\\/|data:,$)/.test(to)),
    scripts: document.scripts.length,
    ran: window.ran === undefined ? 0 : window.ran,
    title: document.title.length > 0,
    hidden: getComputedStyle(document.body).display === "none",
    raw,
  };
}"""
"""What harm would look like: elements, attributes and links that no page makes, a script that ran, turned directions."""
UNHARMED = {
    "strange": [],
    "handlers": [],
    "links": [],
    "scripts": 2,
    "ran": 0,
    "title": True,
    "hidden": False,
    "raw": [],
}
OUT_OF_PLACE = """() => {
  const wide = document.documentElement.clientWidth;
  const boxes = [...document.querySelectorAll(".panel, .record > li, .ring .seat, bdi.words")];
  const shown = boxes.filter((one) => !one.closest(".table") && one.checkVisibility());
  const out = shown.filter((one) => { const box = one.getBoundingClientRect(); return box.right > wide + 1 || box.left < -1; });
  return out.map((one) => one.className + " " + one.textContent.slice(0, 60));
}"""
"""Visible boxes that stick out of the screen to a side; tables have a box of their own, which scrolls."""
KEPT = {"kind", "id", "source", "parlour_replay", "language"}
"""Fields that the page's data sets itself; tests below give them unknown values, too."""


def filled(value: Any, hostile: str, kept: set[str] = KEPT) -> Any:
    """The same data with the text in place of every string, in lists and values."""
    if isinstance(value, dict):
        return {key: item if key in kept else filled(item, hostile, kept) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, hostile, kept) for item in value]
    return hostile if isinstance(value, str) else value


def filled_once(value: Any, hostile: str, seen: set[str], field: str = "") -> Any:
    """The same data with the text in place of the first two strings of each field: every field, and no page of 40 MB."""
    if isinstance(value, dict):
        return {
            key: item if key in KEPT else filled_once(item, hostile, seen, f"{field}.{key}")
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [filled_once(item, hostile, seen, field) for item in value]
    if not isinstance(value, str) or field + "+" in seen:
        return value
    seen.add(field + "+" if field in seen else field)
    return hostile


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("games")
    paths = {
        game: record(folder / f"{game}.jsonl", game, players=ASKING.get(game, ("heuristic",))) for game in registry
    }
    return {
        game: (path, plain(replay_of(Transcript.read(path), path.name), sparse=True)) for game, path in paths.items()
    }


def page_with(data: dict[str, Any], folder: Path) -> Path:
    """The replay page of this data."""
    file = folder / "page.html"
    file.write_text(viewer(data).render(), "utf-8")
    return file


def everything_opened(page: Any) -> None:
    """All folds and all long texts, those within them included."""
    for _ in range(3):
        page.evaluate("document.querySelectorAll('details:not([open])').forEach(one => { one.open = true; })")
        page.wait_for_timeout(60)
    page.evaluate(
        "document.querySelectorAll('button').forEach(one => one.textContent.startsWith('show all') && one.click())"
    )
    page.wait_for_timeout(60)


def look_around(watched: WatchedPage) -> None:
    assert watched.page.evaluate(LOOK_AROUND, sorted(ALLOWED)) == UNHARMED
    assert watched.page.evaluate(OUT_OF_PLACE) == []
    assert watched.wider_than_screen() == 0
    assert watched.misdeeds() == GOOD


def places(data: dict[str, Any]) -> Iterator[str]:
    """Steps worth looking at: the first with a question, one that was spoken, the last; of everybody and of one seat."""
    steps = data["steps"]
    asked = next((n for n, step in enumerate(steps) if step.get("asks")), 1)
    yield f"step={asked}"
    yield f"step={len(steps) - 1}&seat=1"


@pytest.mark.parametrize("game", sorted(registry))
def test_hostile_text_in_every_field_of_a_replay_page_does_nothing_and_stays_in_its_place(
    game, recorded, tmp_path, watched
):
    watched.page.set_viewport_size(PHONE)
    _, data = recorded[game]
    every = filled(data, " ".join(HOSTILE))
    for made in (every, *(filled_once(data, hostile, set()) for hostile in LONG)):
        file = page_with(made, tmp_path)
        for place in places(made):
            page = watched.open(file, place)
            everything_opened(page)
            look_around(watched)


def test_a_hostile_transcript_becomes_a_page_that_does_nothing(recorded, tmp_path, watched):
    """From the file on: words, names of players and models, prompts, replies and notes, as anybody may write them."""
    path, _ = recorded["avalon_v0"]
    hostile = " ".join(HOSTILE[:11]) + "W" * 1_000
    lines = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    lines[0]["players"] = dict.fromkeys(lines[0]["players"], hostile)
    lines[0][hostile] = {hostile: hostile}
    for line in lines[1:]:
        line["hostile"] = hostile
        if line.get("seat") != "nature" and "move" in line:
            line |= {"raw": hostile, "words": hostile[:900].replace("\x00", "")}
            line["calls"] = filled(line.get("calls", []), hostile)
    bad = tmp_path / "bad.jsonl"
    bad.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    data = plain(replay_of(Transcript.read(bad), hostile), sparse=True)
    file = page_with(data, tmp_path)
    watched.page.set_viewport_size(PHONE)
    for place in places(data):
        page = watched.open(file, place)
        everything_opened(page)
        look_around(watched)


def test_hostile_text_stands_in_the_page_letter_for_letter(recorded, tmp_path, watched):
    _, data = recorded["avalon_v0"]
    hostile = HOSTILE[0]
    page = watched.open(page_with(filled(data, hostile), tmp_path), f"step={len(data['steps']) - 1}")
    assert page.locator("h1").inner_text() == hostile
    assert page.locator(".ring .seat .who").first.inner_text() == hostile


def test_characters_that_turn_the_direction_of_writing_are_shown_as_marks(recorded, tmp_path, watched):
    _, data = recorded["avalon_v0"]
    page = watched.open(page_with(filled(data, "a \u202eb\u0007"), tmp_path))
    assert page.locator("h1").inner_text() == "a RLOb" + "U+0007"
    assert page.locator("h1 bdi").evaluate("one => getComputedStyle(one).unicodeBidi") == "isolate"


@pytest.mark.parametrize("hostile", [*HOSTILE, *LONG], ids=range(len(HOSTILE) + len(LONG)))
def test_a_hostile_index_and_a_hostile_report_do_nothing(hostile, tmp_path, watched):
    watched.page.set_viewport_size(PHONE)
    games = [
        dict.fromkeys(("page", "file", "game", "title", "winner", "ended"), hostile) | {"players": [hostile] * 5}
    ] * 3
    (tmp_path / "index.html").write_text(index({"games": games}).render(), "utf-8")
    watched.open(tmp_path / "index.html")
    look_around(watched)
    parts = [html.text_html(tag, hostile) for tag in ("h1", "p", "li", "pre")]
    table = html.table_html(ResultTable.plain(hostile, (hostile, "n"), [(hostile, hostile)], note=hostile))
    link = html.link_html("index.html", hostile)
    (tmp_path / "report.html").write_text(html.page_of(hostile, [*parts, table, link]).render(), "utf-8")
    watched.open(tmp_path / "report.html")
    assert watched.page.evaluate("window.ran") is None
    assert watched.wider_than_screen() == 0
    assert watched.misdeeds() == GOOD
