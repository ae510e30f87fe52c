"""Before a game begins each place sees the game, its rules in three lines and who is missing; the host also sees the links."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack

import pytest
from parlour.training.play.rollout import table

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("websockets", reason="the extra `serve` is not installed")
from live_tables import FIELDS, GAMES, opened, socket_of, until
from parlour_table import commands
from parlour_table.live import waiting
from parlour_table.live.settings import WATCHING, Keys
from parlour_table.live.waiting import LINES, WaitingTable, brief, is_loopback, qr_code, reachable

NAMES = ("Ana", "Ben", "Cleo")


def waiting_table(url: str) -> WaitingTable:
    seats = (*NAMES, "Dan")
    return WaitingTable("Chess", "", "Win.\n\nAll of it.", seats, (0, 1, 2), Keys((0, 1, 2), "x" * 16), url)


def test_each_place_sees_who_is_missing_and_the_host_alone_has_the_links(tmp_path):
    with opened(tmp_path, "avalon_v0", (0, 1, 2), num_players=5, names=NAMES) as opening, ExitStack() as stack:
        host = stack.enter_context(socket_of(opening, opening.keys.of(0)))
        first = until(host, "waiting")
        assert set(first) == FIELDS["waiting"]
        assert (first["title"], first["name"], first["others"]) == ("The Resistance: Avalon", "Ana", 2)
        assert len(first["lines"]) == LINES
        assert first["rules"].startswith("\n".join(first["lines"]))
        assert first["people"] == [{"name": name, "here": name == "Ana"} for name in NAMES]
        links = {place["name"]: place["link"] for place in first["links"]}
        assert links == {"Ben": opening.link(1), "Cleo": opening.link(2), "": opening.link(WATCHING)}
        guest = stack.enter_context(socket_of(opening, opening.keys.of(2)))
        watcher = stack.enter_context(socket_of(opening, opening.keys.of(WATCHING)))
        for browser, name in ((guest, "Cleo"), (watcher, "")):
            seen = until(browser, "waiting")
            assert (seen["name"], seen["links"]) == (name, [])
            assert [person["here"] for person in seen["people"]] == [True, False, True]
            assert opening.keys.of(1) not in json.dumps(seen)
        assert [place["name"] for place in until(host, "waiting")["links"]] == ["Ben", ""]
        last = stack.enter_context(socket_of(opening, opening.keys.of(1)))
        for browser in (host, guest, watcher, last):
            assert until(browser, "table")["number"] == 1
        assert opening.boards[0]._known()[0]["type"] == "table"  # a page that comes back sees the game


def test_who_comes_back_is_shown_who_is_missing_again(tmp_path):
    with opened(tmp_path, people=(0, 1)) as opening:
        seen = []
        for _ in range(2):
            with socket_of(opening, opening.keys.of(0)) as browser:
                seen.append(until(browser, "waiting"))
        assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("url", "page", "used"),
    [
        ("http://192.168.1.5:8018", "http://127.0.0.1:8018/", "http://192.168.1.5:8018/"),
        ("http://192.168.1.5:8018", "http://localhost:8018/", "http://192.168.1.5:8018/"),
        ("http://192.168.1.5:8018", "https://example.org/parlour/", "https://example.org/parlour/"),
        ("http://127.0.0.1:8018", "http://127.0.0.1:8018/", "http://127.0.0.1:8018/"),
        ("http://127.0.0.1:8018", "", "http://127.0.0.1:8018/"),
    ],
)
def test_a_link_has_the_address_at_which_others_find_the_page(url, page, used):
    waits = waiting_table(url)
    assert waits.link(1, page) == f"{used}#{waits.keys.of(1)}"
    assert waits.message(0, [0], page)["near"] == used.startswith("http://127.")
    assert not waits.message(2, [0], page)["near"]


def test_an_address_that_is_not_the_page_s_own_is_not_used(tmp_path):
    """A link leads to this table, whatever the host's browser says."""
    with opened(tmp_path, people=(0, 1)) as opening, socket_of(opening, None) as browser:
        sits = {"type": "sit", "key": opening.keys.of(0), "address": "https://elsewhere.example/"}
        browser.send(json.dumps(sits))
        assert until(browser, "waiting")["links"][0]["link"] == opening.link(1)


class Routed:
    """A socket on a machine that has an address in a network, or no network."""

    own: str | None = "192.168.7.7"

    def __init__(self, family: int, kind: int) -> None:
        assert kind == socket.SOCK_DGRAM  # whose `connect` sends nothing

    def __enter__(self) -> Routed:
        return self

    def __exit__(self, *error: object) -> None: ...

    def connect(self, address: object) -> None:
        if self.own is None:
            raise OSError("no route")

    def getsockname(self) -> tuple[str | None, int]:
        return self.own, 1


@pytest.mark.parametrize("own", ["192.168.7.7", None])
def test_a_server_at_every_address_is_reached_at_the_machine_s_own(own, monkeypatch):
    monkeypatch.setattr(waiting.socket, "socket", Routed)
    monkeypatch.setattr(Routed, "own", own)
    assert reachable("10.0.0.1") == "10.0.0.1"
    assert [reachable(host) for host in ("0.0.0.0", "::")] == [own or "127.0.0.1"] * 2


def test_names_and_addresses_of_this_machine_are_told_from_others():
    assert [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "table.example")] == [
        True
    ] * 3 + [False] * 2


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_in_three_lines_are_the_first_paragraph_of_the_rules(game):
    rules = table(game).game_env.text.rules
    lines = brief(rules)
    assert len(lines) == (LINES if rules else 0)
    assert " ".join(" ".join(lines).split()) == " ".join(rules.split("\n\n")[0].split())


def test_sentences_of_other_scripts_are_lines_too():
    assert brief("游戏开始。好人赢。坏人赢！") == ["游戏开始。", "好人赢。", "坏人赢！"]
    assert brief("一。二。三。四。五。六。") == ["一。二。", "三。四。", "五。六。"]


def test_a_code_is_a_picture_that_the_page_s_policy_allows():
    code = qr_code("http://192.168.1.5:8018/#FtFPt4cGlJL-IleIZxBuu-K1")
    assert code.startswith("data:image/svg+xml")
    assert code != qr_code("http://192.168.1.5:8018/#FtFPt4cGlJL-IleIZxBuu-K2")


@pytest.mark.parametrize("opens", [True, False])
def test_open_shows_the_page_or_says_that_there_is_no_browser(opens, monkeypatch, capsys):
    shown: list[str] = []
    monkeypatch.setattr(commands.webbrowser, "open", lambda link: shown.append(link) or opens)
    commands.show_page("http://127.0.0.1:8018/#k")
    assert shown == ["http://127.0.0.1:8018/#k"]
    assert bool(capsys.readouterr().err) != opens


def test_the_browser_of_the_machine_opens_the_host_s_link(tmp_path):
    with opened(tmp_path, people=(1, 2), game="avalon_v0") as opening:
        assert opening.link_here == f"{opening.url}/#{opening.keys.of(1)}"
    with opened(tmp_path / "watched", people=()) as opening:
        assert opening.link_here == f"{opening.url}/#{opening.keys.of(WATCHING)}"
