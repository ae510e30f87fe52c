"""What does not wait for each other is asked at once, and the game is the same as if one was asked after another."""

from __future__ import annotations

import json
import threading
from collections import Counter
from pathlib import Path
from time import sleep
from typing import Any, ClassVar

import pytest
from parlour.envs.core import ParlourError
from parlour.policies import make_policy
from parlour.policies.agents.avalon.asks import Act
from parlour.policies.agents.werewolf.gratr.asks import AskIntent
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.at_once import SharedCalls, at_once
from parlour.policies.llm.model import Answered, OfflineModel, RequestContext, SeatModel
from parlour.training.play.parallel.concurrent_games import play_recorded
from parlour.training.play.rollout import play, table

SOON = 20
"""Seconds after which what should be under way at once is not."""


class Waiting(OfflineModel):
    """Answers as the heuristics do, like a model that takes its time: another while for each question."""

    is_language_model: ClassVar[bool] = True

    def __init__(self, concurrency: int = 8) -> None:
        super().__init__(concurrency)
        self.asked: list[tuple[str, str, RequestContext]] = []

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        self.asked.append((question.kind, question.model_dump_json(), context))
        if self.waits:
            sleep((context.sample % 5) / 10_000)
        return super().answer(question, context)


def played(name: str, options: dict[str, Any], policies: list[str], model: Waiting, file: Path, seed: int = 3) -> bytes:
    """The transcript of a game; the policies sit in turn."""
    env = table(name, **options)
    base = env.game_env
    seats = [policies[k % len(policies)] for k in range(base.game.seats)]
    players = [make_policy(seat, base.spec.id, base.game.config, model) for seat in seats]
    play_recorded(env, players, seats, seed, file)
    return file.read_bytes()


GAMES = [
    ("avalon_v0", {"num_players": 5, "talk": False}, ["avalon_agent"]),
    ("avalon_v0", {"num_players": 5}, ["avalon_agent", "heuristic"]),
    ("avalon_v0", {"num_players": 5, "talk": False}, ["chat"]),
    ("avalon_v0", {"num_players": 5, "talk": False}, ["avalon_baseline"]),
    ("werewolf_v0", {"num_players": 8, "rules": "paper"}, ["gratr"]),
    ("werewolf_v0", {"num_players": 8, "rules": "official"}, ["gratr", "gratr", "werewolf_window"]),
    ("murder_mystery_v0", {"rounds": 1}, ["questum"]),
    ("murder_mystery_v0", {"rounds": 1}, ["mystery_ocot", "mystery_thinkthrice"]),
]


@pytest.mark.parametrize(("name", "options", "policies"), GAMES, ids=str)
def test_a_transcript_does_not_depend_on_concurrency(name, options, policies, tmp_path):
    single, many = Waiting(1), Waiting(8)
    alone = played(name, options, policies, single, tmp_path / "1.jsonl")
    assert played(name, options, policies, many, tmp_path / "8.jsonl") == alone
    assert Counter(many.asked) == Counter(single.asked)  # no question more, and each paid for by the same seat


def test_five_agents_decide_on_a_vote_at_the_same_time():
    """Each stops at its question for a ballot until all five have come to it."""
    met = threading.Condition()
    ballots: list[str] = []

    class Meets(Waiting):
        def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
            if isinstance(question, Act) and question.now.does == "vote":
                with met:
                    ballots.append(context.seat)
                    met.notify_all()
                    assert met.wait_for(lambda: len(ballots) % 5 == 0 or len(ballots) > 5, timeout=SOON)
            return super().answer(question, context)

    env = table("avalon_v0", num_players=5, talk=False)
    model = Meets()
    play(env, [make_policy("avalon_agent", "avalon_v0", env.game_env.game.config, model) for _ in range(5)], 3)
    assert sorted(ballots[:5]) == [f"player_{seat}" for seat in range(5)]


def test_an_error_is_raised_at_the_turn_of_who_made_it(tmp_path):
    """Seat 3 fails at the first vote, while it is asked together with all others: the ballots before its own are played."""

    class Fails(Waiting):
        def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
            if isinstance(question, Act) and question.now.does == "vote" and context.seat == "player_3":
                raise ParlourError("no answer")
            return super().answer(question, context)

    lines = []
    for concurrency in (1, 8):
        file = tmp_path / f"{concurrency}.jsonl"
        with pytest.raises(ParlourError, match="no answer"):
            played("avalon_v0", {"num_players": 5, "talk": False}, ["avalon_agent"], Fails(concurrency), file)
        lines.append(file.read_text())
    assert lines[0] == lines[1]
    voted = [json.loads(line) for line in lines[0].splitlines()[1:]]
    assert [step["seat"] for step in voted if step["move"] and step["move"][0] == "vote"] == [
        "player_0",
        "player_1",
        "player_2",
    ]


# -- what is the same for all seats ----------------------------------------------------------------------------


def test_several_who_need_a_call_at_the_same_time_share_it():
    shared: SharedCalls[int] = SharedCalls()
    begun, both = [], threading.Barrier(2)

    def call(owner: str) -> int:
        begun.append(owner)
        sleep(0.01)
        return 7

    def need(owner: str) -> list[int]:
        both.wait(SOON)
        return shared.results(owner, {"message": call})

    shared.claim("player_1", ["message"])
    futures = at_once([lambda: need("player_4"), lambda: need("player_1")], 2)
    assert [future.result() for future in futures] == [[7], [7]]
    assert begun == ["player_1"]  # whoever was the fastest
    assert (shared.news("player_4"), shared.news("player_1"), shared.news("player_1")) == ([], [7], [])


# -- questions of one seat -------------------------------------------------------------------------------------


def test_questions_of_one_seat_are_asked_at_once_with_the_samples_of_one_after_another():
    met = threading.Barrier(3)

    class Meets(Waiting):
        def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
            if self.waits:
                met.wait(SOON)
            return super().answer(question, context)

    questions = [_statement(text) for text in ("I am Seer.", "I vote for player_2.", "I have nothing to say.")]
    many, single = SeatModel(Meets(3), 1, 5), SeatModel(Waiting(1), 1, 5)
    assert many.ask_all(questions) == [single.ask(question) for question in questions]
    assert many.calls() == single.calls()


def _statement(text: str) -> AskIntent:
    return AskIntent.model_validate({"players": 6, "statement": {"day": 1, "speaker": 0, "text": text}})
