"""`parlour aiwolf play`: parlour's players at parlour's server, watched by a client that knows the protocol alone.

With `--protocol nlp`, they sit at a server that knows aiwolf-nlp's protocol alone.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import Any

import pytest
from aiwolf_client import ANSWERED, Client
from aiwolf_games import Speaks
from aiwolf_nlp_stub_server import NAMES, NlpStubServer
from parlour.envs.core import NATURE, Move, ParlourError
from parlour.envs.language.speech import ACCUSE, CLAIM_ROLE, REPORT
from parlour.envs.werewolf.vocabulary import EXECUTED
from parlour.policies import HeuristicPolicy, Policy, RandomPolicy, make_policy
from parlour_aiwolf.server.contest import (
    ALL_ROLES,
    GAME,
    Contest,
    ContestSettings,
    Entrant,
    close,
    config_of,
    connected,
    listening,
)
from parlour_aiwolf.server.nlp import NlpVisitor
from parlour_aiwolf.server.received import ReceivedGame
from parlour_aiwolf.server.visitor import Visitor
from parlour_aiwolf.vocabulary import REMARK, TALK_OVER
from websockets.sync.server import serve

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


def contest_of(settings: ContestSettings, agents: list[Callable[[int], None]]) -> tuple[Contest, list[Entrant]]:
    """A contest with agents from outside, which are told its port; the others are heuristics. Nobody forfeits anything."""
    with listening("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        threads = [Thread(target=agent, args=(port,), daemon=True) for agent in agents]
        for thread in threads:
            thread.start()
        entrants = connected(server, settings)
    contest = Contest(settings, entrants)
    contest.play()
    close(entrants)
    for thread in threads:
        thread.join(10)
    assert [entrant.agent.forfeits.total() for entrant in entrants] == [0] * len(agents)
    return contest, entrants


def visited(policy: Policy, players: int, games: int) -> Watched:
    watched: list[Watched] = []

    def agent(port: int) -> None:
        watched.append(Watched(port, Visitor(policy)))
        watched[0].run()

    contest, entrants = contest_of(ContestSettings(players=players, games=games, agents=1), [agent])
    (client,) = watched
    assert client.wrong == []
    assert entrants[0].name == "parlour"
    assert client.visitor.games.total() == client.games == games
    assert client.visitor.wins.total() == sum(client.won) == contest.wins["parlour", ALL_ROLES]
    return client


@pytest.mark.parametrize("policy", [HeuristicPolicy, RandomPolicy])
@pytest.mark.parametrize(
    ("players", "games"),
    [(5, 20), (15, 3), pytest.param(5, 200, marks=pytest.mark.slow), pytest.param(15, 20, marks=pytest.mark.slow)],
)
def test_every_answer_keeps_to_the_protocol(policy, players, games):
    watched = visited(policy(), players, games)
    assert len(watched.said) > games


def test_the_expert_plays_at_a_server_of_5():
    visited(make_policy("expert", GAME, config_of(5)), 5, 20)


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
    watched = visited(policy, 5, 1)
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


@pytest.mark.parametrize(("visitor", "address"), [(Visitor, "127.0.0.1:{}"), (NlpVisitor, "ws://127.0.0.1:{}/ws")])
def test_nobody_there_is_said_in_one_line(visitor, address):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ParlourError, match=f"cannot connect to {address.format(port)}"):
        visitor(RandomPolicy()).visit("127.0.0.1", port)


def test_visitors_play_at_our_own_server():
    visitors = [Visitor(HeuristicPolicy(), name=f"visitor{k}") for k in range(2)]
    settings = ContestSettings(players=5, games=10, agents=2, time_limit=5.0)
    contest, _ = contest_of(settings, [partial(visitor.visit, "127.0.0.1") for visitor in visitors])
    for visitor in visitors:
        assert visitor.games.total() == 10
        assert visitor.wins.total() == contest.wins[visitor.results().title.split()[0], ALL_ROLES]
    assert json.dumps(visitors[0].results().as_json())


# -- aiwolf-nlp ----------------------------------------------------------------------------------------------------


def nlp_visited(policy: Policy, players: int, games: int) -> tuple[NlpStubServer, NlpVisitor]:
    stub, visitor = NlpStubServer(players, seed=5), NlpVisitor(policy, name="parlour1")
    Thread(target=stub.server.serve_forever, daemon=True).start()
    for _ in range(games):
        visitor.visit("127.0.0.1", stub.port)
    stub.server.shutdown()
    return stub, visitor


@pytest.mark.parametrize("policy", [HeuristicPolicy, RandomPolicy])
@pytest.mark.parametrize(("players", "games"), [(5, 12), (9, 4), (13, 4), pytest.param(13, 40, marks=pytest.mark.slow)])
def test_a_server_that_knows_the_protocol_alone_accepts_every_answer(policy, players, games):
    stub, visitor = nlp_visited(policy(), players, games)
    assert stub.wrong == []
    assert stub.name == "parlour1"
    assert stub.games == visitor.games.total() == games
    assert visitor.wins.total() == sum(stub.won)
    assert stub.said


def test_free_words_are_said_as_they_are_with_the_names_of_the_game():
    policy = Speaks("What a lovely\nmorning, player_1!")
    stub, _ = nlp_visited(policy, 5, 1)
    names = sorted(NAMES[:5])
    assert set(stub.said) == {f"What a lovely morning, {names[1]}!"}
    assert policy.read[-1].startswith("# Who you are\nYou are player_")
    assert not any(name in policy.read[-1] for name in names)


def packet(request: str, day: int = 0, dead: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    names = sorted(NAMES[:5])
    info = {"game_id": "g", "day": day, "agent": "Kenji", "role_map": {"Kenji": "SEER"}}
    info["status_map"] = {name: "DEAD" if name in dead else "ALIVE" for name in names}
    return {"request": request, "info": info | more.pop("info", {}), **more}


NLP_SETTING = {
    "role_num_map": {"WEREWOLF": 1, "POSSESSED": 1, "SEER": 1, "VILLAGER": 2, "MEDIUM": 0},
    "talk": {"max_count": {"per_agent": 4, "per_day": 20}, "max_skip": 0},
}


def line(idx: int, agent: str, text: str) -> dict[str, Any]:
    talk = {"idx": idx, "day": 0, "turn": 0, "agent": agent, "text": text, "time": 0}
    return talk | {"skip": False, "over": text == "Over"}


def test_what_others_say_is_read_as_claims_and_what_cannot_be_read_stays_words():
    visitor = NlpVisitor(RandomPolicy())
    visitor.answer(packet("INITIALIZE", setting=NLP_SETTING))
    talks = [
        line(0, "Minato", "I think @Ryuji is a werewolf."),
        line(1, "Takumi", "I am the Seer."),
        line(2, "Ryuji", "Kenji は人狼です。"),
        line(3, "Daisuke", "Over"),
    ]
    visitor.answer(packet("TALK", talk_history=talks))
    visitor.answer(packet("TALK", talk_history=talks))  # told twice, heard once
    moves = [(e.seat, e.move.kind, e.move.args) for e in visitor._game.view("TALK").events if e.seat != NATURE]
    # Daisuke, Kenji, Minato, Ryuji, Takumi are player_0 to player_4; roles: Werewolf, Possessed, Seer, Villager
    assert moves[0] == (2, ACCUSE, (3,))
    assert moves[1][:2] == (4, CLAIM_ROLE)
    assert moves[2] == (3, REMARK, ())
    assert moves[3:] == [(0, TALK_OVER, ())]


def test_who_is_executed_is_dead_at_once_and_announced_once():
    visitor = NlpVisitor(RandomPolicy())
    visitor.answer(packet("INITIALIZE", setting=NLP_SETTING))
    visitor.answer(packet("DAILY_INITIALIZE", 1))
    assert visitor.answer(packet("DIVINE", 1, dead=("Ryuji",))) in ("Daisuke", "Minato", "Takumi")
    more = {"executed_agent": "Ryuji", "attacked_agent": "Takumi"}
    visitor.answer(packet("DAILY_INITIALIZE", 2, dead=("Ryuji", "Takumi"), info=more))
    view = visitor._game.view("VOTE")
    assert [e.move.args for e in view.events if e.move.kind == EXECUTED] == [(3,)]
    assert view.alive == (True, True, True, False, False)


NLP_HOSTILE = {
    "no JSON": ("not JSON", "no JSON object"),
    "a list": ("[1]", "no JSON object"),
    "nested too deep": ("[" * 100_000, "no JSON object"),
    "no beginning": (json.dumps(packet("TALK")), "begins with 'TALK'"),
    "group chat": (json.dumps({"request": "TALK_PHASE_START"}), "the server asks 'TALK_PHASE_START'; accepted: NAME"),
    "a request of another kind": (json.dumps({"request": [1]}), "accepted: NAME"),
    "no info": (json.dumps({"request": "INITIALIZE"}), "INITIALIZE cannot be read"),
    "no setting": (json.dumps(packet("INITIALIZE")), "INITIALIZE cannot be read"),
    "a fox": (json.dumps(packet("INITIALIZE", setting=NLP_SETTING | {"role_num_map": {"FOX": 5}})), "server's table"),
}


@pytest.mark.parametrize("case", NLP_HOSTILE)
def test_an_nlp_server_that_does_not_keep_to_the_protocol_is_refused_in_one_line(case):
    message, said = NLP_HOSTILE[case]
    with serve(lambda connection: connection.send(message), "127.0.0.1", 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(ParlourError, match=said) as refused:
            NlpVisitor(RandomPolicy()).visit("127.0.0.1", server.socket.getsockname()[1])
        server.shutdown()
    assert "\n" not in str(refused.value)


BROKEN = {
    "a player who is not there": packet("VOTE", info={"executed_agent": "Nobody"}),
    "a status of another kind": packet("VOTE", info={"status_map": 5}),
    "a history of numbers": packet("TALK", talk_history=[1, 2]),
    "a line without words": packet("TALK", talk_history=[{"day": 0}]),
    "a day in words": packet("VOTE", info={"day": "today"}),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_packet_that_cannot_be_read_is_refused_in_one_line(case):
    visitor = NlpVisitor(RandomPolicy())
    visitor.answer(packet("INITIALIZE", setting=NLP_SETTING))
    with pytest.raises(ParlourError, match=r"cannot be read .*accepted: aiwolf-nlp's protocol"):
        visitor.answer(BROKEN[case])


def test_a_request_to_a_seat_without_a_choice_is_refused_in_one_line():
    visitor = NlpVisitor(RandomPolicy())
    visitor.answer(packet("INITIALIZE", setting=NLP_SETTING))
    with pytest.raises(ParlourError, match="asks VOTE of a seat that has nobody to choose"):
        visitor.answer(packet("VOTE", dead=tuple(sorted(NAMES[:5]))))
