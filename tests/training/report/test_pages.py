"""Pages of one file: only their own script runs, texts stay texts, reports say in HTML what they say in Markdown."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from parlour.envs.core import ParlourError
from parlour.training.replay import viewer
from parlour.training.report import html, page
from parlour.training.report.page import Page
from parlour.training.report.result_table import ResultTable

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> \u202e & \u2028 \ud800 \"'"


def element(made: str, opening: str, closing: str) -> str:
    return made.split(opening, 1)[1].split(closing, 1)[0]


def test_texts_in_the_data_cannot_end_their_element_and_are_read_back_whole():
    made = Page("a page", {"say": HOSTILE, "n": 0.1}).render()
    text = element(made, '<script type="application/json" id="data">', "</script>")
    assert json.loads(text) == {"say": HOSTILE, "n": 0.1}
    assert not set(text) & set("<>&\u2028\u202e")
    assert made.encode().decode() == made  # lone surrogates are escaped
    assert "<title>&lt;b&gt;x&lt;/b&gt;</title>" in Page("<b>x</b>").render()


def test_only_the_pages_own_script_and_style_are_allowed_and_nothing_is_fetched():
    made = Page("a page", {"a": 1}).render()
    policy = element(made, 'http-equiv="Content-Security-Policy" content="', '">')
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        inside = element(made, f"<{tag}>", f"</{tag}>")
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()}'"
    assert rules["default-src"] == rules["connect-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    assert "connect-src 'self';" in Page("a table", connects=True).render()  # with its server alone


VIEWER = viewer.viewer({"header": {"title": "a game"}})
INDEX = viewer.index({"games": []})
FILES = {file.name: file for file in (*map(page.look, (page.STYLE, *page.SHARED, page.REPORT)), *VIEWER.scripts, *VIEWER.styles, *INDEX.scripts)}  # fmt: skip


@pytest.mark.parametrize("made", [VIEWER, INDEX], ids=["replay", "index"])
def test_the_scripts_joined_into_one_scope_define_every_name_once(made):
    names = [
        name
        for file in (*map(page.look, page.SHARED), *made.scripts)
        for name in re.findall(r"^(?:const|let|function|async function) (\w+)", file.read_text("utf-8"), re.M)
    ]
    assert len(names) > 30
    assert {name for name, times in Counter(names).items() if times > 1} == set()


@pytest.mark.parametrize("name", FILES)
def test_files_of_the_look_fetch_nothing_and_take_no_text_for_html(name):
    text = FILES[name].read_text("utf-8")
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|fetch\(|@import", text
    )
    assert not re.search(r"url\(|https?://(?!www\.w3\.org/2000/svg)", text)
    assert len(text.splitlines()) < 400


def test_a_file_that_is_none_of_the_look_is_not_read():
    with pytest.raises(ParlourError, match=r"look '\.\./page\.py' is not accepted; accepted: "):
        page.look("../page.py")


class Tags(HTMLParser):
    def __init__(self, made: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(made)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


def test_pieces_of_a_page_escape_texts_embed_pictures_and_sort_tables(tmp_path):
    (tmp_path / "curve.png").write_bytes(b"picture")
    table = ResultTable.plain(
        "Wins", ("player", "wins"), [("<b>gratr</b>", "50.0%  [40.1%, 59.9%]"), ("heuristic", None)]
    )
    pieces = [
        html.text_html("h1", "Tuning <rho>"),
        html.bullets_html(("one", "two")),
        html.link_html("cells.csv", "the data"),
        html.picture_html(tmp_path / "curve.png", "a curve"),
        html.table_html(table),
    ]
    body = html.page_of("Tuning", pieces).body
    assert "<h1>Tuning &lt;rho&gt;</h1>" in body
    assert "<ul>\n<li>one</li>\n<li>two</li>\n</ul>" in body
    tags = Tags(body)
    assert tags.named("a") == [{"href": "cells.csv"}]
    assert [attributes["src"] for attributes in tags.named("img")] == [
        "data:image/png;base64," + base64.b64encode(b"picture").decode()
    ]
    assert "b" not in {tag for tag, _ in tags.found}
    assert tags.named("td")[1]["data-key"] == "50"  # sorted by the number; a dash has none and stays last
    assert tags.named("td")[3]["data-key"] == ""
