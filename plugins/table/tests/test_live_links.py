"""A live table and links that fail: pings, moves that come again, a page that comes back, a table that is opened again."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest
from parlour.envs import replay

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("websockets", reason="the extra `serve` is not installed")
from live_tables import FAST, move, next_message, opened, socket_of, until
from parlour_table.live.settings import WATCHING
from parlour_table.live.sockets import ENDS_FOR_GOOD, GOES_AWAY
from websockets.exceptions import ConnectionClosed

PING = json.dumps({"type": "ping"})


@pytest.mark.parametrize("place", [0, WATCHING])
def test_a_ping_is_answered_also_before_a_game_begins(place, tmp_path):
    with opened(tmp_path) as opening, socket_of(opening, opening.keys.of(place)) as socket:
        for _ in range(2):
            socket.send(PING)
            assert until(socket, "pong")


def test_pings_come_on_top_of_the_messages_that_a_browser_may_send(tmp_path):
    """A table that takes a message in 100 s does not end the connection of a page that only pings."""
    settings = FAST.replace(message_rate=0.01, message_burst=2)
    with opened(tmp_path, settings=settings) as opening, socket_of(opening, opening.keys.of(0)) as socket:
        for _ in range(3):
            socket.send(PING)
            assert until(socket, "pong")
            with pytest.raises(TimeoutError):
                next_message(socket, 2.1)


def test_a_move_that_comes_again_counts_once_and_gets_the_same_answer(tmp_path):
    """On the same connection and on a new one, also when a later turn is open."""
    with opened(tmp_path, "avalon_v0", (0,), seed=1) as opening, ExitStack() as stack:
        socket = stack.enter_context(socket_of(opening, opening.keys.of(0)))
        turn = until(socket, "asked")["turn"]
        taken = {"type": "taken", "turn": turn, "by": "you", "why": ""}
        for _ in range(3):
            socket.send(move(turn, option=1))
        assert [until(socket, "taken") for _ in range(3)] == [taken] * 3
        other = stack.enter_context(socket_of(opening, opening.keys.of(0)))
        later = until(other, "asked")["turn"]
        other.send(move(turn, option=1))
        assert until(other, "taken") == taken
        other.send(move(turn, option=0))
        refused = until(other, "refused")
        assert (refused["turn"], refused["why"].split(";")[0]) == (turn, "another move was taken at this turn")
        other.send(move(later, option=0))
        assert until(other, "taken")["turn"] == later
        until(other, "asked")
    own = [entry for entry in replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl").entries if entry.seat == 0]
    assert len(own) == 2


def test_a_move_that_comes_behind_the_clock_is_told_that_the_table_moved(tmp_path):
    settings = FAST.replace(clock=0.05)
    with opened(tmp_path, settings=settings, people=(0,)) as opening:
        with socket_of(opening, opening.keys.of(0)) as socket:
            turn = until(socket, "asked")["turn"]
            taken = until(socket, "taken")
            until(socket, "over")
        with socket_of(opening, opening.keys.of(0)) as socket:
            socket.send(move(turn, option=1))
            assert until(socket, "taken") == taken
    assert taken["by"] == "table"


def test_a_page_that_comes_back_replaces_its_own_connection_and_ends_that_of_another_page(tmp_path):
    """A page opens connections, and they may be read in another order: it is never ended for good by its own."""
    with opened(tmp_path) as opening, ExitStack() as stack:
        ends = []
        sockets = [stack.enter_context(socket_of(opening, None)) for _ in range(4)]
        for socket, page in zip(sockets, ("a", "a", "b", ""), strict=True):
            socket.send(json.dumps({"type": "sit", "key": opening.keys.of(0), "page": page}))
            socket.send(PING)
            until(socket, "pong")
        for socket in sockets[:3]:
            with pytest.raises(ConnectionClosed) as closed:
                until(socket, "none")
            ends.append(closed.value.rcvd.code)
        assert ends == [GOES_AWAY, ENDS_FOR_GOOD, ENDS_FOR_GOOD]


def test_a_table_that_is_opened_again_is_another_session(tmp_path):
    """Its turns are numbered anew, so a page must not send a move of before to it."""
    sessions = []
    for _ in range(2):
        with opened(tmp_path, people=(0,)) as opening:
            for _ in range(2):
                with socket_of(opening, opening.keys.of(0)) as socket:
                    sessions.append(until(socket, "table")["session"])
    assert sessions[0] == sessions[1] != sessions[2] == sessions[3]
