"""`parlour table`: what browsers are sent equals the View of their seats, and whatever goes wrong is told in one message."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from parlour.envs import replay
from parlour.envs.core import ParlourError

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
pytest.importorskip("websockets", reason="the extra `serve` is not installed")
from live_tables import (
    FAST,
    browsed,
    differences,
    move,
    next_message,
    opened,
    play_and_compare,
    socket_of,
    until,
)
from parlour.policies.base import Policy
from parlour.training.play.rollout import table
from parlour_table.live.games import Plan
from parlour_table.live.opening import OpenTable
from parlour_table.live.settings import WATCHING, Keys
from parlour_table.live.sockets import ENDS_FOR_GOOD, NO_KEY
from websockets.exceptions import ConnectionClosed, InvalidStatus

SECRET = "only a test, but long enough"


def ended(socket) -> tuple[str, int]:
    """Why a connection ended, in its last message, and the code."""
    why = until(socket, "gone")["why"]
    with pytest.raises(ConnectionClosed) as closed:
        socket.recv(20)
    return why, closed.value.rcvd.code


# -- what is sent --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "games"),
    [("template_v0", 2), ("avalon_v0", 2), ("werewolf_v0", 1), ("murder_mystery_v0", 1), ("mediated_qa_v0", 2)],
)
def test_what_each_browser_is_sent_equals_the_view_of_its_seat(game, games, tmp_path):
    """Every message to every place: the sections, lines and options of `render(text, game.view(state, seat))`, and no more."""
    counts, wrong = play_and_compare(tmp_path, game, games, seed=5)
    assert wrong == []
    assert counts["asked"] == counts["taken"] >= games
    assert counts["over"] == games * (table(game).game_env.game.seats + 1)  # and who watches


def test_what_another_seat_was_sent_is_no_view_of_this_seat(tmp_path):
    """The comparison above finds a leak: the messages of seat 1 at the place of seat 0, and of a seat at a watcher's."""
    with opened(tmp_path, "avalon_v0", (0, 1), seed=3) as opening:
        browsers = browsed(opening, 0, 1)
    path = tmp_path / "avalon_v0-1.jsonl"
    sent = browsers[1].games()[0]
    assert differences(sent, path, 1) == []
    assert "the texts are not those of the seat's Views, one after another" in differences(sent, path, 0)
    assert "a watcher is sent asked" in differences(sent, path, WATCHING)
    assert "a watcher is told of a seat" in differences(sent, path, WATCHING)


def test_people_who_vote_at_the_same_moment_are_asked_at_once(tmp_path):
    """All five of Avalon are asked for their votes before anybody has given one."""
    with ExitStack() as stack:
        opening = stack.enter_context(opened(tmp_path, "avalon_v0", num_players=5, seed=2))
        sockets = [stack.enter_context(socket_of(opening, opening.keys.of(seat))) for seat in range(5)]
        waiting = dict(enumerate(sockets))
        asked: dict[int, dict] = {}
        while len(asked) < 5:
            for seat, socket in waiting.items():
                if seat in asked:
                    continue
                try:
                    message = next_message(socket, 0.05)
                except TimeoutError:
                    continue
                if message["type"] == "asked" and message["ask"].startswith("Vote"):
                    asked[seat] = message
                elif message["type"] == "asked":
                    socket.send(move(message["turn"], option=0))
        (about,) = {message["about"] for message in asked.values()}
        assert re.fullmatch(r"The team: player_\d(, player_\d)+\.", about)
        assert {tuple(message["options"]) for message in asked.values()} == {
            ("I approve the team.", "I reject the team.")
        }


def test_a_slow_player_blocks_no_socket(tmp_path):
    """While a player of ours thinks, a browser sits down and is sent all that its seat knows."""
    thinks, done = threading.Event(), threading.Event()

    class Slow(Policy):
        wants = "view"

        def act(self, observation, info):
            thinks.set()
            assert done.wait(30)
            return info["legal"][0]

    env = table("avalon_v0")
    seats = env.game_env.game.seats
    players = [("human", None), *(("slow", Slow()) for _ in range(seats - 1))]
    opening = OpenTable(env, players, Plan(tmp_path, 1, 1), Keys((0,)), FAST)
    with opening.opened():
        with socket_of(opening, opening.keys.of(0)) as first:
            answer_until(thinks, first)
            with socket_of(opening, opening.keys.of(0)) as second:
                assert [next_message(second)["type"] for _ in range(3)] == ["table", "who", "told"]
        done.set()


def answer_until(thinks: threading.Event, socket) -> None:
    """Answer the person's own turns until another player thinks."""
    while not thinks.is_set():
        try:
            message = next_message(socket, 0.05)
        except TimeoutError:
            continue
        if message["type"] == "asked":
            socket.send(move(message["turn"], option=0))


# -- one browser at a seat -----------------------------------------------------------------------------------------


def test_a_second_tab_takes_the_seat_and_the_first_is_told_so(tmp_path):
    with opened(tmp_path) as opening, ExitStack() as stack:
        key = opening.keys.of(0)
        first, other = (stack.enter_context(socket_of(opening, secret)) for secret in (key, opening.keys.of(1)))
        turn = until(first, "asked")["turn"]
        second = stack.enter_context(socket_of(opening, key))
        assert ended(first) == (
            "this seat was opened in another tab or browser, which has it now; to take it back, reload this page",
            ENDS_FOR_GOOD,
        )
        assert [next_message(second)["type"] for _ in range(5)] == ["table", "who", "told", "board", "asked"]
        second.send(move(turn, option=0))
        assert until(second, "taken")["by"] == "you"
        until(other, "asked")


def test_a_reload_and_a_lost_connection_lose_nothing(tmp_path):
    """The same record from its beginning, the same turn; the answer counts once, and the game ends as ever."""
    with opened(tmp_path, "avalon_v0", (0,), seed=1) as opening:
        key = opening.keys.of(0)
        with socket_of(opening, key) as socket:
            first = [next_message(socket)]
            while first[-1]["type"] != "asked":
                first.append(next_message(socket))
        lines = [line for message in first if message["type"] == "told" for line in message["lines"]]
        with socket_of(opening, key) as socket:  # a reload
            again = [next_message(socket) for _ in range(5)]
            assert [message["type"] for message in again] == ["table", "who", "told", "board", "asked"]
            assert again[2]["lines"] == lines
            assert again[4] == first[-1]
            socket.socket.close()  # a connection that is cut
        (browser,) = browsed(opening, 0)
        assert browser.sent[-1]["type"] == "over"
    assert replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl").outcome is not None


@pytest.mark.parametrize("key", ["", "x", "\u202e" * 200])
def test_a_wrong_key_is_told_in_one_message(key, tmp_path):
    with opened(tmp_path) as opening, socket_of(opening, key) as socket:
        assert ended(socket) == (NO_KEY, ENDS_FOR_GOOD)


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_a_page_of_elsewhere_cannot_connect(origin, tmp_path):
    with opened(tmp_path) as opening, pytest.raises(InvalidStatus) as refused, socket_of(opening, None, origin=origin):
        pass
    assert refused.value.response.status_code == 403


# -- moves ---------------------------------------------------------------------------------------------------------


PAGE = "; accepted: the messages of this page"
BOTH = "a move with words and an option, or none, is not accepted; accepted: one of them"


def until_one_of(socket, kinds) -> dict:
    while (message := next_message(socket))["type"] not in kinds:
        pass
    return message


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"option": 99}, r"option 99 is not accepted; accepted: 0\.\.\d+"),
        ({"option": -1}, f"move.option: Input should be greater than or equal to 0{PAGE}"),
        ({"option": True}, f"move.option: Input should be a valid integer{PAGE}"),
        ({}, BOTH),
        ({"option": 0, "words": "x"}, BOTH),
        ({"words": "x" * 20_000}, "words of 20,000 characters are not accepted; accepted: up to 4,000"),
        ({"words": "perhaps"}, "'perhaps' .*accepted: .*"),
        ({"option": 0, "seat": 1}, f"move.seat: Extra inputs are not permitted{PAGE}"),
        ({"turn": 7, "option": 0}, "this move came too late: .*"),
    ],
)
def test_a_move_that_cannot_be_taken_is_refused_and_the_turn_goes_on(answer, why, tmp_path):
    """At the vote of Avalon; the transcript knows nothing of it."""
    with opened(tmp_path, "avalon_v0", (0,), seed=1) as opening, socket_of(opening, opening.keys.of(0)) as socket:
        message = until(socket, "asked")
        while not message["ask"].startswith("Vote"):
            socket.send(move(message["turn"], option=0))
            message = until(socket, "asked")
        socket.send(json.dumps({"type": "move", "turn": message["turn"], **answer}))
        refused = next_message(socket)
        assert refused["type"] == "refused"
        assert re.fullmatch(why, refused["why"], re.DOTALL), refused["why"]
        socket.send(move(message["turn"], words="I approve the team."))
        assert next_message(socket) == {"type": "taken", "turn": message["turn"], "by": "you", "why": ""}
    entries = replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl").entries
    assert not any(entry.fault for entry in entries)
    assert entries[-1].raw == "I approve the team." or any(entry.raw == "I approve the team." for entry in entries)


def test_when_the_clock_runs_out_the_table_moves_which_is_counted(tmp_path):
    """Words that cannot be used are no claim for Avalon's table: silence; and the vote that the rules prescribe."""
    chosen = {"settings": FAST.replace(clock=0.05), "seed": 1}
    with opened(tmp_path, "avalon_v0", (0,), **chosen) as opening, socket_of(opening, opening.keys.of(0)) as socket:
        asked = until(socket, "asked")
        assert 0 < asked["seconds"] <= 0.05
        assert next_message(socket) == {
            "type": "taken",
            "turn": asked["turn"],
            "by": "table",
            "why": "the clock ran out",
        }
        until(socket, "over", 60)
    transcript = replay.Transcript.read(tmp_path / "avalon_v0-1.jsonl")
    own = [entry for entry in transcript.entries if entry.seat == 0]
    assert {entry.replaced for entry in own} == {"clock"}
    assert transcript.closing["players"]["player_0"]["replaced"] == {
        "clock": transcript.closing["players"]["player_0"]["decisions"]
    }


# -- limits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("{", f"the message is not JSON .*{PAGE}"),
        ("[" * 200 + "]" * 200, f"the message is not JSON .*{PAGE}"),
        ('{"type": "sit", "key": "x"}', "a key is taken once; accepted: moves"),
        ('{"type": "leave"}', f"the message: Input tag 'leave' .*{PAGE}"),
        (b"bytes", "a message in bytes is not accepted; accepted: text"),
        ("x" * 150_000, "a message of 150000 bytes is not accepted; accepted: up to 131072"),
    ],
)
def test_a_message_that_cannot_be_read_is_refused_and_the_connection_stays(message, why, tmp_path):
    with opened(tmp_path) as opening, socket_of(opening, opening.keys.of(WATCHING)) as socket:
        for _ in range(2):
            socket.send(message)
            reason = until(socket, "refused")["why"]
            assert re.fullmatch(why, reason, re.DOTALL), reason


def test_too_many_messages_end_the_connection_with_one_that_says_so(tmp_path):
    settings = FAST.replace(message_rate=1.0, message_burst=3)
    with opened(tmp_path, settings=settings) as opening, socket_of(opening, opening.keys.of(WATCHING)) as socket:
        for _ in range(3):  # after the key, which was the first
            socket.send("{}")
        assert ended(socket) == ("too many messages; accepted: up to 1 a second and 3 at once", ENDS_FOR_GOOD)


def test_watchers_have_a_limit_and_make_no_moves(tmp_path):
    with opened(tmp_path, settings=FAST.replace(max_watchers=1)) as opening, ExitStack() as stack:
        key = opening.keys.of(WATCHING)
        first = stack.enter_context(socket_of(opening, key))
        for _ in range(2):
            first.send(move(1, option=0))
            assert until(first, "refused")["why"] == "who watches makes no moves; accepted: the link of a seat"
        second = stack.enter_context(socket_of(opening, key))
        assert ended(second) == ("too many watchers; accepted: 1 at once", ENDS_FOR_GOOD)


# -- the end, and what is served over HTTP ---------------------------------------------------------------------------


def got(opening: OpenTable, path: str) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", int(opening.url.rpartition(":")[2]), timeout=20)
    connection.request("GET", path)
    reply = connection.getresponse()
    response = reply.status, {key.lower(): value for key, value in reply.getheaders()}, reply.read().decode()
    connection.close()
    return response


def test_the_end_tells_everybody_everything_and_links_the_replay(tmp_path):
    with opened(tmp_path, games=2) as opening, ExitStack() as stack:
        places = (0, 1, WATCHING)
        sockets = [stack.enter_context(socket_of(opening, opening.keys.of(place))) for place in places]
        name = opening.keys.of_replay(1)
        assert got(opening, f"/replay/{name}")[0] == 404
        for socket in sockets[:2]:
            socket.send(move(until(socket, "asked")["turn"], option=0))
        ends = [until(socket, "over") for socket in sockets]
        assert ends[0] == ends[1] == ends[2]
        assert [seat["player"] for seat in ends[0]["seats"]] == ["human", "human"]
        assert ends[0]["replay"] == f"/replay/{name}"
        status, headers, page = got(opening, ends[0]["replay"])
        assert (status, headers["content-security-policy"].split(";")[0]) == (
            200,
            "sandbox allow-scripts allow-downloads allow-popups",
        )
        assert '"parlour_replay"' in page
        sockets[2].send(json.dumps({"type": "next", "game": 1}))  # watchers cannot
        assert until(sockets[2], "refused")["why"].startswith("who watches makes no moves")
        for _ in range(2):  # the second comes when the game has begun, and is nothing
            sockets[1].send(json.dumps({"type": "next", "game": 1}))
        assert [until(socket, "table")["number"] for socket in sockets] == [2, 2, 2]
    assert replay.Transcript.read(tmp_path / "template_v0-2.jsonl").outcome is None


def test_the_page_lets_only_its_own_script_run(tmp_path):
    with opened(tmp_path) as opening:
        status, headers, page = got(opening, "/")
        assert status == 200
        assert headers["content-security-policy"].startswith("frame-ancestors 'none'; object-src 'none'")
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert re.search("default-src &?.*?script-src 'sha256-[^']+'; style-src 'sha256-[^']+'", page)
        assert "connect-src 'self'" in page
        assert not any(opening.keys.of(place) in page for place in opening.boards)
        status, _, body = got(opening, "/elsewhere")
        assert status == 404
        assert json.loads(body)["error"]["message"].endswith(
            "accepted: the links that were printed when the table started"
        )


# -- going on after a kill -------------------------------------------------------------------------------------------


def played_in_part(folder: Path, moves: int) -> None:
    """A game that is cut off after so many moves of the person at seat 0."""
    chosen = {"seed": 4, "secret": SECRET}
    with opened(folder, "avalon_v0", (0,), **chosen) as opening, socket_of(opening, opening.keys.of(0)) as socket:
        for number in range(moves):
            message = until(socket, "asked")
            answer = {"words": "player_2 is evil."} if message["words"] and number % 2 else {"option": 0}
            socket.send(move(message["turn"], **answer))
        until(socket, "asked")


@pytest.mark.parametrize("torn", ["", '{"n": 99, "seat": "pla'])
def test_a_game_that_was_cut_off_goes_on_from_its_transcript(torn, tmp_path):
    """The lines that were there stay as they are, the links are the same, and the end is told with all decisions."""
    played_in_part(tmp_path, 4)
    path = tmp_path / "avalon_v0-1.jsonl"
    before = path.read_bytes()
    path.write_bytes(before + torn.encode())
    with opened(tmp_path, "avalon_v0", (0,), seed=4, secret=SECRET) as opening:
        (browser,) = browsed(opening, 0)
    whole = path.read_bytes()
    assert whole.startswith(before)
    transcript = replay.Transcript.read(path)
    assert transcript.outcome is not None
    assert list(replay.reenact(transcript))[-1].agent == ""
    # the last message of `told` before the first new turn is all that the seat had seen; the rest is as ever
    other = differences(browser.games()[0], path, 0)
    assert [line for line in other if not line.startswith(("the texts", "what was asked"))] == []
    own = [entry for entry in transcript.entries if entry.seat == 0]
    made = transcript.closing["players"]["player_0"]
    assert made["decisions"] + made.get("talk", 0) <= len(own)
    assert made["own"] > 4 - made.get("talk", 0)


@pytest.mark.parametrize(("seed", "planted", "why"), [(5, b'"deal"', "seed"), (4, b'"draw"', "line 2")])
def test_a_transcript_of_another_game_is_left_alone(seed, planted, why, tmp_path):
    """One of another seed, and one whose first move is not what the seed deals."""
    played_in_part(tmp_path, 2)
    path = tmp_path / "avalon_v0-1.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"deal"', planted))
    before = path.read_bytes()
    with pytest.raises(ParlourError, match=rf"is of another game \({why}\)"):
        hear_the_end(tmp_path, seed)
    assert path.read_bytes() == before


def hear_the_end(folder: Path, seed: int) -> None:
    """A table at which one person sits, who is told why it ends."""
    with opened(folder, "avalon_v0", (0,), seed=seed) as opening, socket_of(opening, opening.keys.of(0)) as socket:
        assert until(socket, "gone")["why"].startswith("the game has ended by an error: transcript ")


def test_an_error_of_a_player_is_told_to_all_and_ends_the_table(tmp_path):
    class Broken(Policy):
        wants = "view"

        def act(self, observation, info):
            raise RuntimeError("no thought")

    opening = OpenTable(table("template_v0"), [("human", None), ("broken", Broken())], Plan(tmp_path), Keys((0,)), FAST)
    reasons: list[str] = []
    with pytest.raises(RuntimeError, match="no thought"):
        play_to_its_end(opening, reasons)
    assert reasons == ["the game has ended by an error: no thought"]


def play_to_its_end(opening: OpenTable, reasons: list[str]) -> None:
    """Play for the person at seat 0 until the table ends; what was told then is put into `told`."""
    with opening.opened(), socket_of(opening, opening.keys.of(0)) as socket:
        while (message := until_one_of(socket, ("asked", "gone")))["type"] == "asked":
            socket.send(move(message["turn"], option=0))
        reasons.append(message["why"])


# -- keys, and the command -------------------------------------------------------------------------------------------


def test_the_same_secret_makes_the_same_keys_and_no_key_opens_another_place():
    keys, again, other = Keys((0, 1), SECRET), Keys((0, 1), SECRET), Keys((0, 1))
    own = [keys.of(place) for place in (0, 1, WATCHING)]
    assert own == [again.of(place) for place in (0, 1, WATCHING)]
    assert len({*own, keys.of_replay(1), keys.of_replay(2)}) == 5
    assert [keys.place(key) for key in own] == [0, 1, WATCHING]
    assert [other.place(key) for key in own] == [None] * 3
    assert keys.place(keys.of_replay(1)) is None


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            "template_v0 --host 0.0.0.0",
            "--host 0.0.0.0 is not accepted without --token; accepted: an address of loopback, or a token: "
            "export TABLE_TOKEN=$(openssl rand -hex 16), and then --token TABLE_TOKEN",
        ),
        ("template_v0 --host table.example", "--host table.example is not accepted without --token"),
        ("template_v0 --token PARLOUR_TEST_UNSET", "the environment holds no token in 'PARLOUR_TEST_UNSET'"),
        ("template_v0 --token PARLOUR_TEST_SHORT", "a secret of 5 characters is not accepted; accepted: 16 or more"),
        ("template_v0 --seats me,me,me", "3 names for 2 seats are not accepted; accepted: up to 2"),
        ("template_v0 --seats me,,", "seats 'me,,' are not accepted; accepted: names with a comma between them"),
        ("template_v0 --seats nobody", "policy 'nobody' is not accepted"),
        ("template_v0 --clock 0", "clock 0.0 is not accepted"),
        ("template_v0 --names Ana,Ben,Cleo", "3 names for 2 seats are not accepted"),
        ("avalon_v0 --names Merlin", "name 'Merlin' is not accepted"),
        ("murder_mystery_v0 --names Ana", "--names Ana is not accepted: murder_mystery_v0 names its players"),
    ],
)
def test_a_table_that_cannot_be_opened_is_refused_in_one_line(words, why, monkeypatch, error_of):
    monkeypatch.setenv("PARLOUR_TEST_SHORT", "short")
    assert why in error_of(["table", *words.split()])


def test_help_lists_the_options_of_its_example(output_of):
    shown = output_of(["table", "--help"])
    listed = {word for line in shown.splitlines() if "<" in line for word in line.split()}
    assert {"--names", "--clock", "--out", "--host", "--token", "--rules"} <= listed


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.slow
def test_ctrl_c_closes_the_table_and_its_links_are_made_from_the_token(tmp_path):
    command = [sys.executable, "-m", "parlour.training.cli", "table", "template_v0", "--seats", "me", "--port", "0"]
    words = ["--token", "PARLOUR_TEST_TOKEN", "--out", str(tmp_path)]
    environment = {**os.environ, "PARLOUR_TEST_TOKEN": SECRET}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*command, *words], env=environment, **pipes) as process:
        printed = [process.stdout.readline() for _ in range(5)]
        until_it_answers(printed[0].split()[1])
        process.send_signal(signal.SIGINT)
        assert (process.wait(60), process.stderr.read()) == (0, "")
        assert process.stdout.read() == "closing the table\n"
    keys = Keys((0,), SECRET)
    assert re.fullmatch(rf"Ana       http://127\.0\.0\.1:\d+/#{keys.of(0)}\n", printed[0])
    assert re.fullmatch(rf"to watch  http://127\.0\.0\.1:\d+/#{keys.of(WATCHING)}\n", printed[1])
    assert printed[2] == f"transcripts: {tmp_path}\n"
    assert re.fullmatch(r"seed (\d+); --seed \1 plays the same deals again\n", printed[3])
    assert printed[4] == "Ctrl-C closes the table\n"
    assert SECRET not in "".join(printed)


def until_it_answers(link: str) -> None:
    """Wait for the page: then the server has begun."""
    address = urlsplit(link)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    connection.close()
