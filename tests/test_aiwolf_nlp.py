"""`parlour aiwolf play --protocol nlp`: parlour's players at a server that knows aiwolf-nlp's protocol alone."""

from __future__ import annotations

import json
import socket
from threading import Thread
from typing import Any

import pytest
from aiwolf_games import Speaks
from aiwolf_nlp_stub_server import NAMES, NlpStubServer
from parlour.envs.core import NATURE, ParlourError
from parlour.envs.speech import ACCUSE, CLAIM_ROLE
from parlour.envs.werewolf import GAME
from parlour.envs.werewolf.aiwolf.vocabulary import REMARK, TALK_OVER
from parlour.envs.werewolf.vocabulary import EXECUTED
from parlour.policies import HeuristicPolicy, Policy, RandomPolicy, make_policy
from parlour.training.harnesses.aiwolf.nlp import NlpVisitor
from parlour.training.play.rollout import table
from websockets.sync.server import serve


def visited(policy: Policy, players: int, games: int) -> tuple[NlpStubServer, NlpVisitor]:
    stub, visitor = NlpStubServer(players, seed=5), NlpVisitor(policy, name="parlour1")
    Thread(target=stub.server.serve_forever, daemon=True).start()
    for _ in range(games):
        visitor.visit("127.0.0.1", stub.port)
    stub.server.shutdown()
    return stub, visitor


def test_an_advised_player_has_the_advice_of_the_contests_expert_there():
    """Five players: as contest `aiwolf-5`, whose expert advises; its model is the offline one."""
    config = table(GAME.id, rules="aiwolf-5").game_env.game.config
    stub, visitor = visited(make_policy("advised", GAME.id, config), 5, 3)
    assert stub.wrong == []
    assert stub.games == visitor.games.total() == 3


@pytest.mark.parametrize("policy", [HeuristicPolicy, RandomPolicy])
@pytest.mark.parametrize(("players", "games"), [(5, 12), (9, 4), (13, 4), pytest.param(13, 40, marks=pytest.mark.slow)])
def test_a_server_that_knows_the_protocol_alone_accepts_every_answer(policy, players, games):
    stub, visitor = visited(policy(), players, games)
    assert stub.wrong == []
    assert stub.name == "parlour1"
    assert stub.games == visitor.games.total() == games
    assert visitor.wins.total() == sum(stub.won)
    assert stub.said


def test_free_words_are_said_as_they_are_with_the_names_of_the_game():
    policy = Speaks("What a lovely\nmorning, player_1!")
    stub, _ = visited(policy, 5, 1)
    names = sorted(NAMES[:5])
    assert set(stub.said) == {f"What a lovely morning, {names[1]}!"}
    assert policy.read[-1].startswith("# Who you are\nYou are player_")
    assert not any(name in policy.read[-1] for name in names)


def packet(request: str, day: int = 0, dead: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    names = sorted(NAMES[:5])
    info = {"game_id": "g", "day": day, "agent": "Kenji", "role_map": {"Kenji": "SEER"}}
    info["status_map"] = {name: "DEAD" if name in dead else "ALIVE" for name in names}
    return {"request": request, "info": info | more.pop("info", {}), **more}


SETTING = {
    "role_num_map": {"WEREWOLF": 1, "POSSESSED": 1, "SEER": 1, "VILLAGER": 2, "MEDIUM": 0},
    "talk": {"max_count": {"per_agent": 4, "per_day": 20}, "max_skip": 0},
}


def line(idx: int, agent: str, text: str) -> dict[str, Any]:
    talk = {"idx": idx, "day": 0, "turn": 0, "agent": agent, "text": text, "time": 0}
    return talk | {"skip": False, "over": text == "Over"}


def test_what_others_say_is_read_as_claims_and_what_cannot_be_read_stays_words():
    visitor = NlpVisitor(RandomPolicy())
    visitor.answer(packet("INITIALIZE", setting=SETTING))
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
    visitor.answer(packet("INITIALIZE", setting=SETTING))
    visitor.answer(packet("DAILY_INITIALIZE", 1))
    assert visitor.answer(packet("DIVINE", 1, dead=("Ryuji",))) in ("Daisuke", "Minato", "Takumi")
    more = {"executed_agent": "Ryuji", "attacked_agent": "Takumi"}
    visitor.answer(packet("DAILY_INITIALIZE", 2, dead=("Ryuji", "Takumi"), info=more))
    view = visitor._game.view("VOTE")
    assert [e.move.args for e in view.events if e.move.kind == EXECUTED] == [(3,)]
    assert view.alive == (True, True, True, False, False)


HOSTILE = {
    "no JSON": ("not JSON", "no JSON object"),
    "a list": ("[1]", "no JSON object"),
    "nested too deep": ("[" * 100_000, "no JSON object"),
    "no beginning": (json.dumps(packet("TALK")), "begins with 'TALK'"),
    "group chat": (json.dumps({"request": "TALK_PHASE_START"}), "the server asks 'TALK_PHASE_START'; accepted: NAME"),
    "a request of another kind": (json.dumps({"request": [1]}), "accepted: NAME"),
    "no info": (json.dumps({"request": "INITIALIZE"}), "INITIALIZE cannot be read"),
    "no setting": (json.dumps(packet("INITIALIZE")), "INITIALIZE cannot be read"),
    "a fox": (json.dumps(packet("INITIALIZE", setting=SETTING | {"role_num_map": {"FOX": 5}})), "server's table"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_server_that_does_not_keep_to_the_protocol_is_refused_in_one_line(case):
    message, said = HOSTILE[case]
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
    visitor.answer(packet("INITIALIZE", setting=SETTING))
    with pytest.raises(ParlourError, match=r"cannot be read .*accepted: aiwolf-nlp's protocol"):
        visitor.answer(BROKEN[case])


def test_nobody_there_is_said_in_one_line():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ParlourError, match=f"cannot connect to ws://127.0.0.1:{port}/ws"):
        NlpVisitor(RandomPolicy()).visit("127.0.0.1", port)


def test_a_request_to_a_seat_without_a_choice_is_refused_in_one_line():
    visitor = NlpVisitor(RandomPolicy())
    visitor.answer(packet("INITIALIZE", setting=SETTING))
    with pytest.raises(ParlourError, match="asks VOTE of a seat that has nobody to choose"):
        visitor.answer(packet("VOTE", dead=tuple(sorted(NAMES[:5]))))
