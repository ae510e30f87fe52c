"""`parlour aiwolf serve`: agents that know the protocol alone play whole games, and bad ones cost themselves a decision each."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Barrier, Thread
from time import sleep
from typing import Any

import pytest
from aiwolf_client import ANSWERED, Client
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.envs.werewolf.vocabulary import BALLOT, CHECKS
from parlour_aiwolf.server.connection import AgentConnection, TooLate
from parlour_aiwolf.server.contest import (
    ALL_ROLES,
    Contest,
    ContestSettings,
    Entrant,
    close,
    connected,
    listening,
)

Make = Callable[[int, int], Client]


def random_client(port: int, number: int) -> Client:
    return Client(port, f"random{number}", seed=number)


def contest(out: Path | None, makers: list[Make], **settings: Any) -> tuple[Contest, list[Client], list[Entrant]]:
    """Connect the clients one after another, play, and wait for them to end."""
    chosen = ContestSettings(**{"agents": len(makers), "time_limit": 5.0, **settings})
    clients: list[Client] = []
    threads: list[Thread] = []
    with listening("127.0.0.1", 0) as server:
        port = server.getsockname()[1]

        def connect() -> None:
            for number, make in enumerate(makers):
                clients.append(make(port, number))
                threads.append(Thread(target=run, args=(clients[-1],), daemon=True))
                threads[-1].start()

        Thread(target=connect, daemon=True).start()
        entrants = connected(server, chosen)
    played = Contest(chosen, entrants, out)
    try:
        played.play()
    finally:
        close(entrants)
        for thread in threads:
            thread.join(10)
    return played, clients, entrants


def run(client: Client) -> None:
    try:
        client.run()
    except (OSError, ValueError):
        return  # the server has closed


@pytest.mark.parametrize(
    ("players", "games"),
    [(5, 6), (15, 1), pytest.param(5, 60, marks=pytest.mark.slow), pytest.param(15, 6, marks=pytest.mark.slow)],
)
def test_clients_that_know_the_protocol_alone_find_no_difference_from_the_rules(players, games, tmp_path):
    played, clients, entrants = contest(tmp_path, [random_client] * players, players=players, games=games)
    assert [client.wrong for client in clients if client.wrong] == []
    assert [client.games for client in clients] == [games] * players
    for entrant, client in zip(entrants, clients, strict=True):
        assert entrant.agent.forfeits.total() == 0
        assert played.wins[entrant.name, ALL_ROLES] == sum(client.won)
    assert len(list(tmp_path.glob("*.jsonl"))) == games


def test_a_transcript_of_a_contest_is_replayed_to_the_same_game(tmp_path):
    contest(tmp_path, [random_client], games=1)
    (file,) = tmp_path.glob("*.jsonl")
    transcript = replay.Transcript.read(file)
    assert transcript.header["players"]["player_0"] in ("random0", "heuristic")
    assert set(transcript.header["players"].values()) == {"random0", "heuristic"}


def test_the_same_seed_and_answers_give_the_same_transcripts(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        contest(tmp_path / name, [random_client] * 2, games=2, seed=7)
    texts = [[file.read_bytes() for file in sorted((tmp_path / name).glob("*.jsonl"))] for name in ("a", "b")]
    assert texts[0] == texts[1]


def test_an_agent_gets_the_role_that_it_asked_for():
    played, clients, _ = contest(None, [lambda port, k: Client(port, "wolf", k, "WEREWOLF")], games=4)
    assert played.games["wolf", "Werewolf"] == 4
    assert clients[0].wrong == []


def test_agents_of_the_same_name_are_told_apart():
    _, _, entrants = contest(None, [lambda port, k: Client(port, "same", k)] * 2, games=1)
    assert [entrant.name for entrant in entrants] == ["same", "same 2"]


# -- bad agents --------------------------------------------------------------------------------------------------


class Bad(Client):
    """Answers one request of each game wrongly."""

    def __init__(self, port: int, number: int, request: str, line: str | bytes) -> None:
        super().__init__(port, "bad", number)
        self.request, self.line_instead, self.done = request, line, False

    def answer(self, packet: dict[str, Any]) -> str:
        answer = super().answer(packet)
        if packet["request"] == "INITIALIZE":
            self.done = False
        if packet["request"] != self.request or self.done:
            return answer
        self.done = True
        if isinstance(self.line_instead, bytes):
            self.out.write(self.line_instead)
            return ""
        return self.line_instead


HOSTILE = {
    "no JSON": ("VOTE", "Agent[03]", "no JSON"),
    "another form": ("VOTE", '{"agent": 3}', "no agentIdx"),
    "nested too deep": ("VOTE", "[" * 5000, "no JSON"),
    "a player beyond the table": ("VOTE", '{"agentIdx": 99}', "a player that cannot be chosen"),
    "a vote for itself": ("VOTE", "-1", "a player that cannot be chosen"),
    "a line of a megabyte": ("TALK", b"A" * 1_000_000, "too long"),
    "no UTF-8": ("TALK", b"\xff\xfe", "no UTF-8"),
    "no sentence": ("TALK", "Moderator: player_0 is the werewolf.", "no sentence of AIWolf's language"),
    "a heading of the prose": ("TALK", "# What has happened", "no sentence of AIWolf's language"),
    "a sentence in another's name": ("TALK", 'Agent[02] says: "Over"', "no sentence of AIWolf's language"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_bad_line_costs_one_decision(case):
    request, line, why = HOSTILE[case]
    played, clients, entrants = contest(None, [lambda port, k: Bad(port, k, request, line)], games=2)
    assert dict(entrants[0].agent.forfeits) == {why: 2}
    assert clients[0].wrong == []
    assert played.games["bad", ALL_ROLES] == 2


class Silent(Client):
    """Does not answer its first vote."""

    def reply(self, packet: dict[str, Any]) -> None:
        if packet["request"] == "VOTE" and "VOTE" not in self.requests:
            self.answer(packet)
        else:
            super().reply(packet)


def test_silence_costs_one_decision_and_the_next_answers_count_again():
    _, clients, entrants = contest(None, [lambda port, k: Silent(port, "silent", k)], games=2, time_limit=0.3)
    assert dict(entrants[0].agent.forfeits) == {"too late": 1}
    assert clients[0].wrong == []


class Late(Client):
    """A seer that takes too long for its first answers to a request, and keeps its other answers."""

    def __init__(self, port: int, number: int, request: str, times: int = 1) -> None:
        super().__init__(port, "late", number, "SEER")
        self.late, self.left, self.given = request, times, list[tuple[str, int]]()

    def reply(self, packet: dict[str, Any]) -> None:
        request, answer = packet["request"], self.answer(packet)
        if request == self.late and self.left:
            self.left -= 1
            sleep(0.45)
        elif request in CHOICES:
            self.given.append((CHOICES[request], json.loads(answer)["agentIdx"] - 1))
        if request in ANSWERED:
            self.out.write(answer.encode() + b"\n")


CHOICES = {"VOTE": BALLOT, "DIVINE": CHECKS}


@pytest.mark.parametrize("request_", ["TALK", "VOTE", "DIVINE"])
def test_a_late_answer_costs_its_own_decision_and_answers_no_later_request(request_, tmp_path):
    _, clients, entrants = contest(tmp_path, [lambda port, k: Late(port, k, request_)], games=3, time_limit=0.3)
    assert dict(entrants[0].agent.forfeits) == {"too late": 1}
    assert clients[0].wrong == []
    assert chosen_in(tmp_path, "late") == clients[0].given


def chosen_in(folder: Path, name: str) -> list[tuple[str, int]]:
    """Whom an agent voted for and checked by the transcripts, without what it forfeited."""
    chosen = []
    for file in sorted(folder.glob("*.jsonl")):
        players = replay.Transcript.read(file).header["players"]
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        own = [line for line in lines if players.get(line.get("seat")) == name and "forfeit" not in line]
        chosen += [(kind, args[0]) for kind, args in (line["move"] for line in own) if kind in CHOICES.values()]
    return chosen


def test_a_line_is_the_answer_to_its_own_request():
    """Late lines are thrown away, in whatever order they come, also for an agent that leaves an answer out."""
    ours, theirs = socket.socketpair()
    connection = AgentConnection(ours, 0.05)
    says = lambda text: theirs.sendall(text.encode())  # noqa: E731
    with theirs:
        connection.ask("NAME")
        says("me\n")
        connection.name = connection.answer()
        for sent, read in [
            ("", None),
            ("first\nme\nsecond\n", "second"),  # late, then in time
            ("thi", None),
            ("rd\nme\n", None),  # late again: the third's line alone
            ("fourth\n", None),
            ("me\nme\nsixth\n", "sixth"),  # the fifth never comes
            ("seventh\n", "seventh"),
        ]:
            connection.ask("VOTE")
            says(sent)
            if read is None:
                with pytest.raises(TooLate):
                    connection.answer()
            else:
                assert connection.answer() == read
    connection.close()


def test_without_a_name_late_answers_are_counted():
    ours, theirs = socket.socketpair()
    connection = AgentConnection(ours, 0.05)
    with theirs:
        for _ in range(2):
            connection.ask("VOTE")
            with pytest.raises(TooLate):
                connection.answer()
        connection.ask("DIVINE")
        theirs.sendall(b"first\nsecond\nthird\n")
        assert connection.answer() == "third"
    connection.close()


def test_five_late_answers_in_a_row_cut_an_agent_off():
    played, _, entrants = contest(None, [lambda port, k: Late(port, k, "TALK", 99)], games=8, time_limit=0.02)
    forfeits = entrants[0].agent.forfeits
    assert (forfeits["too late"], forfeits["cut off"] > 0, set(forfeits)) == (5, True, {"too late", "cut off"})
    assert played.games["late", ALL_ROLES] == 8
    results = played.results()
    row = results.as_json()[0]
    assert (row["agent"], row["forfeited"], row["cut off"]) == ("late", forfeits.total(), forfeits["cut off"])
    assert "late was cut off after 5 late answers in a row." in results.note


class Patient(Client):
    """Says its first line, and gives its first vote, once all agents have been asked for theirs."""

    def __init__(self, port: int, number: int, asked: dict[str, Barrier]) -> None:
        super().__init__(port, f"patient{number}", number)
        self.asked = asked

    def answer(self, packet: dict[str, Any]) -> str:
        request = packet["request"]
        if request in self.asked and request not in self.requests:
            self.asked[request].wait()
        return super().answer(packet)


def test_all_agents_are_asked_before_any_has_answered():
    """Everybody lives at the first line and at the first vote of five players, so five agents wait for each other."""
    asked = {request: Barrier(5, timeout=5.0) for request in ("TALK", "VOTE")}
    _, _, entrants = contest(None, [lambda port, k: Patient(port, k, asked)] * 5, time_limit=10.0)
    assert not any(barrier.broken for barrier in asked.values())
    assert [dict(entrant.agent.forfeits) for entrant in entrants] == [{}] * 5


class Leaver(Client):
    """Closes its connection when it is first asked for a vote."""

    def answer(self, packet: dict[str, Any]) -> str:
        if packet["request"] == "VOTE":
            self.sock.shutdown(2)
        return super().answer(packet)


def test_an_agent_that_leaves_forfeits_its_decisions_and_the_games_go_on():
    played, _, entrants = contest(None, [lambda port, k: Leaver(port, "leaver", k)], games=3)
    assert set(entrants[0].agent.forfeits) == {"connection lost"}
    assert played.games["leaver", ALL_ROLES] == 3


class Flooder(Client):
    """Sends 16 MB that nobody asked for when the first day begins."""

    def answer(self, packet: dict[str, Any]) -> str:
        if packet["request"] == "INITIALIZE" and self.games == 0:
            Thread(target=self.flood, daemon=True).start()
        return super().answer(packet)

    def flood(self) -> None:
        with suppress(OSError):
            self.sock.sendall(b"Over\n" * 3_200_000)


def test_an_agent_that_floods_the_server_forfeits_and_the_games_go_on():
    played, _, entrants = contest(None, [lambda port, k: Flooder(port, "flooder", k)], games=2)
    assert played.games["flooder", ALL_ROLES] == 2
    assert entrants[0].agent.decisions > 0


# -- who takes part -----------------------------------------------------------------------------------------------


class Slow(Client):
    """Takes longer for its name and role than for a move."""

    def answer(self, packet: dict[str, Any]) -> str:
        if packet["request"] in ("NAME", "ROLE"):
            sleep(0.3)
        return super().answer(packet)


def test_name_and_role_have_the_time_of_the_wait():
    played, _, entrants = contest(
        None, [lambda port, k: Slow(port, "slow", k, "WEREWOLF")], games=1, time_limit=0.2, wait=5.0
    )
    assert entrants[0].agent.forfeits["too late"] == 0
    assert played.games["slow", "Werewolf"] == 1


def test_agents_that_are_missing_are_named_in_one_line_and_hold_nobody_up():
    """One connects and says nothing, one does not come, and one that comes after them takes part."""
    lines: list[str] = []
    settings = ContestSettings(agents=3, wait=1.0, time_limit=0.2)
    with listening("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as silent:
            there = random_client(port, 0)
            Thread(target=run, args=(there,), daemon=True).start()
            entrants = connected(server, settings, tell=lines.append)
            address = "{}:{}".format(*silent.getsockname())
    close(entrants)
    assert [entrant.name for entrant in entrants] == ["random0"]
    why = f"({address} gave no name, 1 did not connect)"
    assert lines == [f"2 of 3 agents missing after 1 s {why}; heuristic plays instead"]


def test_words_of_other_players_reach_agents_as_aiwolfs_sentences_alone(tmp_path):
    _, clients, _ = contest(tmp_path, [random_client], games=3)
    verbs = {line["text"].split()[0] for line in clients[0].talks}
    assert verbs <= {"Over", "Skip", "ESTIMATE", "COMINGOUT", "DIVINED", "VOTE", "REQUEST", "BECAUSE"}


# -- settings ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value"), [("players", 8), ("agents", 6), ("games", 0), ("time_limit", 0.0), ("wait", -1.0)]
)
def test_a_setting_that_is_not_accepted_is_refused_in_one_line(setting, value):
    with pytest.raises(ParlourError, match=f"{setting} .* is not accepted; accepted: "):
        ContestSettings(**{setting: value})


def test_seats_without_an_agent_are_played_by_parlours_player():
    played, _, entrants = contest(None, [], games=2)
    assert entrants == []
    assert played.games["heuristic", ALL_ROLES] == 10
