"""Replay pages as files (`parlour replay --html`): one page with its data in it, an index of a folder, and what has none.

Texts come from anybody: whatever a name, a speech or a prompt holds stands in the page as data, and ends no element of it.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.training.cli import run
from parlour.training.replay.write import write_index, write_replay

COIN = Path(__file__).parent / "data" / "coin.jsonl"
HOSTILE = (
    "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> \u202e\u2066\u2028\u2029\x00\ud800 ]]> ${x} `"
)


class Elements(HTMLParser):
    """Which elements a page has, and what stands in its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["script"]:
            self.scripts[-1] += data


def elements(page: Path) -> Elements:
    elements = Elements()
    elements.feed(page.read_text("utf-8"))
    return elements


def data_of(page: Path) -> dict[str, Any]:
    """The data in a page, as a browser reads it."""
    return json.loads(elements(page).scripts[0])  # type: ignore[no-any-return]


def rewritten(target: Path, **header: Any) -> Path:
    """The coin game with other fields in its header."""
    first, *rest = COIN.read_text("utf-8").splitlines()
    target.write_text("\n".join([json.dumps({**json.loads(first), **header}), *rest, ""]), "utf-8")
    return target


def test_the_page_of_a_file_holds_its_data_and_asks_for_nothing(tmp_path):
    page = write_replay(COIN, tmp_path / "coin.html")
    assert data_of(page) == json.loads((COIN.parent / "coin.json").read_text("utf-8"))
    assert not re.search(r"(?:src|href)=\"?(?:https?:)?//", page.read_text("utf-8"))


def test_texts_of_a_transcript_stay_data(tmp_path):
    """In the header, in words as they came in, in words that were refused, in prompts, replies, thoughts and other notes."""
    plain = elements(write_replay(COIN, tmp_path / "plain.html")).tags
    lines = [json.loads(line) for line in COIN.read_text("utf-8").splitlines()]
    lines[0] |= {"players": {"player_0": HOSTILE}, "models": {"player_0": {"model": HOSTILE, "server": HOSTILE}}}
    call = {"ask": HOSTILE, "prompt": [{"role": HOSTILE, "content": HOSTILE}], "reply": HOSTILE, "thinking": HOSTILE}
    lines[2] |= {
        "raw": HOSTILE,
        "calls": [call, {"ask": "x", "by": HOSTILE, "reason": HOSTILE, "answer": {HOSTILE: HOSTILE}}],
    }
    lines[2][HOSTILE] = {HOSTILE: [HOSTILE]}
    lines.insert(3, {"n": 9, "seat": "player_1", "raw": HOSTILE, "fault": HOSTILE, "to": ["player_1"]})
    lines[-1] |= {HOSTILE: HOSTILE}
    path = tmp_path / "hostile.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", "utf-8")
    page = write_replay(path)
    assert elements(page).tags == plain
    data = data_of(page)
    step, refused, end = data["steps"][1], data["steps"][2], data["steps"][-1]
    asked = step["asks"][0]
    assert [data["header"]["seats"][0]["player"], step["raw"], refused["raw"], asked["ask"]] == [HOSTILE] * 4
    assert [asked["reply"], asked["thinking"], step["notes"][HOSTILE][HOSTILE][0], end["notes"][HOSTILE]] == [
        HOSTILE
    ] * 4
    (role, runs), *_ = asked["prompt"]
    joined = "".join(
        "".join(data["pieces"][first : first + many]) for first, many in zip(runs[::2], runs[1::2], strict=True)
    )
    assert (role, joined) == (HOSTILE, HOSTILE)


def test_a_folder_gets_an_index_and_a_page_for_each_game(tmp_path):
    """Folders in it too; what is no transcript is passed over, and a transcript without a page says why."""
    (tmp_path / "more").mkdir()
    rewritten(tmp_path / "b.jsonl", seed=7)
    rewritten(tmp_path / "more" / "index.jsonl")
    rewritten(tmp_path / "index.jsonl")
    rewritten(tmp_path / "unknown.jsonl", game="chess_v0")
    (tmp_path / "curve.jsonl").write_text('{"step": 1}\n')
    made = write_index(tmp_path)
    assert made.page == tmp_path / "replays" / "index.html"
    games = {game["file"]: game for game in data_of(made.page)["games"]}
    assert list(games) == ["b.jsonl", "index.jsonl", "more/index.jsonl", "unknown.jsonl"]
    assert games["b.jsonl"] == {
        "page": "b.html", "file": "b.jsonl", "game": "template_v0", "title": "Coin, a tiny game to copy", "seed": 7,
        "winner": "guesser", "reason": "guess", "ended": "Guesser wins: the guess was right.", "finished": True, "steps": 4, "seats": 2,
        "players": ["heuristic", "heuristic"], "roles": ["", ""], "sides": ["", ""], "returns": [-1.0, 1.0],
        "decisions_own": 1.0,
    }  # fmt: skip
    assert games["more/index.jsonl"]["page"] == "more/index.html"
    assert games["index.jsonl"]["page"] == "index.jsonl.html"
    assert "page" not in games["unknown.jsonl"]
    assert "chess_v0" in games["unknown.jsonl"]["ended"]
    assert list(made.left_out) == ["unknown.jsonl"]
    assert data_of(tmp_path / "replays" / "index.jsonl.html")["header"]["file"] == "index.jsonl"


def test_the_command_names_what_it_wrote(tmp_path, capsys, json_of, output_of):
    path = rewritten(tmp_path / "coin.jsonl")
    assert output_of(["replay", str(path), "--html"]) == f"Page: {tmp_path / 'coin.html'}\n"
    assert run(["replay", str(tmp_path), "--html", "--out", str(tmp_path / "pages")]) == 0
    assert capsys.readouterr().out == f"Index of 1 games: {tmp_path / 'pages' / 'index.html'}\n"
    assert json_of(["replay", str(tmp_path), "--html", "--json"])["page"] == str(tmp_path / "replays" / "index.html")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["{}/coin.jsonl", "--out", "x.html"], "--out is not accepted alone"),
        (["{}/coin.jsonl", "--html", "--seat", "player_0"], "--seat is not accepted with --html"),
        (["{}/coin.jsonl", "--html", "--out", "{}/coin.jsonl"], "another file than the transcript"),
        (["{}/none.jsonl", "--html"], "cannot be read"),
        (["{}/empty", "--html"], "holds no transcript"),
        (["{}/chess.jsonl", "--html"], "chess_v0"),
        (["{}/text.jsonl", "--html"], "is not a JSON object"),
    ],
)
def test_what_has_no_page_is_one_clear_line(words, reason, tmp_path, error_of):
    rewritten(tmp_path / "coin.jsonl")
    rewritten(tmp_path / "chess.jsonl", game="chess_v0")
    (tmp_path / "text.jsonl").write_text("once upon a time\n")
    (tmp_path / "empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    (line,) = error_of(["replay", *(word.format(tmp_path) for word in words)]).splitlines()
    assert reason in line
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "full").write_text("")
    with pytest.raises(ParlourError, match="a file stands where its folder would"):
        write_replay(COIN, tmp_path / "full" / "page.html")
