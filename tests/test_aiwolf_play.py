"""`parlour aiwolf play`: parlour's players at parlour's server, watched by a client that knows the protocol alone."""

from __future__ import annotations

import json
import re
import socket
from threading import Thread
from typing import Any

import pytest
from aiwolf_client import ANSWERED, Client
from aiwolf_games import Speaks
from parlour.envs.core import Move, ParlourError
from parlour.envs.speech import ACCUSE, REPORT
from parlour.policies import HeuristicPolicy, Policy, RandomPolicy, make_policy
from parlour.training.harnesses.aiwolf.contest import (
    ALL_ROLES,
    GAME,
    Contest,
    ContestSettings,
    close,
    config_of,
    connected,
    listening,
)
from parlour.training.harnesses.aiwolf.received import ReceivedGame
from parlour.training.harnesses.aiwolf.visitor import Visitor

SENTENCE = re.compile(
    r"Over|Skip|(ESTIMATE|COMINGOUT) Agent\[\d\d\] [A-Z]+|(Agent\[\d\d\] )?(ESTIMATE|COMINGOUT) Agent\[\d\d\] [A-Z]+"
    r"|(DIVINED|IDENTIFIED) Agent\[\d\d\] (HUMAN|WEREWOLF)|(ATTACK|VOTE|GUARD) Agent\[\d\d\]"
    r"|REQUEST ANY \(VOTE Agent\[\d\d\]\)"
)


class Watched(Client):
    """Passes on what a visitor answers, and holds it against the protocol and the rules."""

    def __init__(self, port: int, visitor: Visitor) -> None:
        super().__init__(port, "watched")
        self.visitor, self.said = visitor, list[str]()

    def answer(self, packet: dict[str, Any]) -> str:
        super().answer(packet)
        request, answer = packet["request"], self.visitor.answer(packet)
        self.expect((answer is not None) == (request in ANSWERED), f"{request} answered with {answer}")
        if request in ("TALK", "WHISPER"):
            self.said.append(str(answer))
            self.expect(bool(SENTENCE.fullmatch(str(answer))), f"{request} answered with {answer}")
        elif request in ANSWERED - {"NAME", "ROLE"}:
            accepted = [f'{{"agentIdx":{agent}}}' for agent in self.targets(request)]
            self.expect(answer in accepted, f"{request} answered with {answer}")
        return answer or ""


def visited(policy: Policy, players: int, games: int) -> tuple[Watched, Visitor]:
    """A contest with one agent from outside; the others are heuristics."""
    visitor, settings = Visitor(policy), ContestSettings(players=players, games=games, agents=1)
    with listening("127.0.0.1", 0) as server:
        watched = Watched(server.getsockname()[1], visitor)
        thread = Thread(target=watched.run, daemon=True)
        thread.start()
        entrants = connected(server, settings)
    contest = Contest(settings, entrants)
    contest.play()
    close(entrants)
    thread.join(10)
    assert watched.wrong == []
    assert entrants[0].name == "parlour"
    assert entrants[0].agent.forfeits.total() == 0
    assert visitor.games.total() == watched.games == games
    assert visitor.wins.total() == sum(watched.won) == contest.wins["parlour", ALL_ROLES]
    return watched, visitor


@pytest.mark.parametrize("policy", [HeuristicPolicy, RandomPolicy])
@pytest.mark.parametrize(
    ("players", "games"),
    [(5, 20), (15, 3), pytest.param(5, 200, marks=pytest.mark.slow), pytest.param(15, 20, marks=pytest.mark.slow)],
)
def test_every_answer_keeps_to_the_protocol(policy, players, games):
    watched, _ = visited(policy(), players, games)
    assert len(watched.said) > games


def test_the_expert_plays_at_a_server_of_5():
    visited(make_policy("expert", GAME, config_of(ContestSettings(players=5).preset)), 5, 20)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("REQUEST ANY (VOTE Agent[03])", "REQUEST ANY (VOTE Agent[03])"),
        ("I am the Seer.", "COMINGOUT Agent"),
        ("What a lovely morning.", "Skip"),
    ],
)
def test_words_become_aiwolfs_sentences_or_a_skip(words, line):
    policy = Speaks(words)
    watched, _ = visited(policy, 5, 1)
    assert any(line in said for said in watched.said)
    assert policy.read[-1].startswith("# Who you are\nYou are player_")


SETTING = {"roleNumMap": {"WEREWOLF": 1, "POSSESSED": 1, "SEER": 1, "VILLAGER": 2, "FOX": 0}}
INFO: dict[str, Any] = {
    "agent": 3,
    "day": 0,
    "roleMap": {"3": "SEER"},
    "statusMap": {str(a): "ALIVE" for a in range(1, 6)},
}


def test_a_seat_sees_what_the_server_sent():
    game = ReceivedGame(INFO, SETTING)
    game.made(Move("check", (0,)))
    result = {"day": 1, "agent": 3, "target": 1, "result": "WEREWOLF"}
    game.receive("DAILY_INITIALIZE", {"gameInfo": INFO | {"day": 1, "divineResult": result}})
    lines = [
        {"idx": 0, "day": 1, "turn": 0, "agent": 2, "text": "DIVINED Agent[03] WEREWOLF"},
        {"idx": 1, "day": 1, "turn": 0, "agent": 1, "text": "ESTIMATE Agent[02] WEREWOLF"},
    ]
    game.receive("TALK", {"talkHistory": lines})
    game.receive("TALK", {"talkHistory": lines})  # told twice, heard once
    view = game.view("TALK")
    assert (view.role, view.day, view.checks) == ("Seer", 1, ((0, True),))
    said = [(event.seat, event.move.kind, event.move.args) for event in view.events if event.seat >= 0]
    assert said == [(2, "check", (0,)), (1, REPORT, (2, 1)), (0, ACCUSE, (1,))]


def test_a_seat_that_came_out_as_the_medium_reports_what_it_identified():
    setting = {"roleNumMap": {"WEREWOLF": 3, "POSSESSED": 1, "SEER": 1, "MEDIUM": 1, "BODYGUARD": 1, "VILLAGER": 8}}
    info = INFO | {"roleMap": {"3": "MEDIUM"}, "statusMap": {str(a): "ALIVE" for a in range(1, 16)}}
    game, visitor = ReceivedGame(info, setting), Visitor(RandomPolicy())
    report = Move(REPORT, (0, 1))
    assert visitor._line(report, 0, game.view("TALK")) == "DIVINED Agent[01] WEREWOLF"
    line = {"idx": 0, "day": 0, "turn": 0, "agent": 3, "text": "COMINGOUT Agent[03] MEDIUM"}
    game.receive("TALK", {"talkHistory": [line]})
    assert visitor._line(report, 0, game.view("TALK")) == "IDENTIFIED Agent[01] WEREWOLF"
    talk = line | {"idx": 1, "text": "IDENTIFIED Agent[01] WEREWOLF"}
    game.receive("TALK", {"talkHistory": [talk]})
    assert game.view("TALK").events[-1].move[:2] == report[:2]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"not JSON\n", "no JSON object"),
        (b"[1, 2]\n", "no JSON object"),
        (b'{"request": "TALK"}\n', "begins with 'TALK'"),
        (
            b'{"request": "INITIALIZE", "gameInfo": {}, "gameSetting": {"roleNumMap": {"WEREWOLF": 2}}}\n',
            "server's table",
        ),
        (b'{"request": "INITIALIZE", "gameInfo": {}}\n', "INITIALIZE cannot be read"),
    ],
)
def test_a_server_that_does_not_keep_to_the_protocol_is_refused_in_one_line(line, said):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def send() -> None:
            sock, _ = server.accept()
            with sock:
                sock.sendall(line)

        Thread(target=send, daemon=True).start()
        with pytest.raises(ParlourError, match=said):
            Visitor(RandomPolicy()).visit("127.0.0.1", server.getsockname()[1])


def test_nobody_there_is_said_in_one_line():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ParlourError, match=f"cannot connect to 127.0.0.1:{port}"):
        Visitor(RandomPolicy()).visit("127.0.0.1", port)


def test_at_our_own_server_a_visitor_forfeits_nothing():
    settings = ContestSettings(players=5, games=10, agents=2, time_limit=5.0)
    visitors = [Visitor(HeuristicPolicy(), name=f"visitor{k}") for k in range(2)]
    with listening("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        threads = [Thread(target=visitor.visit, args=("127.0.0.1", port), daemon=True) for visitor in visitors]
        for thread in threads:
            thread.start()
        entrants = connected(server, settings)
    contest = Contest(settings, entrants)
    contest.play()
    close(entrants)
    for thread in threads:
        thread.join(10)
    assert [entrant.agent.forfeits.total() for entrant in entrants] == [0, 0]
    for visitor in visitors:
        assert visitor.games.total() == 10
        assert visitor.wins.total() == contest.wins[visitor.results().title.split()[0], ALL_ROLES]
    assert json.dumps(visitors[0].results().as_json())
