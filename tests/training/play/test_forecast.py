"""What games will take is said before the first, and costs no call: the game uses the reply that measured the speed."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock

import pytest
from parlour.policies import make_policy
from parlour.policies.llm.chat import ChatModel
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.model import OfflineModel
from parlour.policies.llm.transport.budget import Price, Prices
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import CallFailed, Completion, ModelUnavailable, Request, Usage
from parlour.training.play import rollout
from parlour.training.play.forecast import RehearsedModel, forecasts
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.runner import GameRunner

from tests.policies.llm import servers

GAME = "werewolf_v0"
TABLE = rollout.table(GAME, num_players=5, max_days=2)
FITTING = Completion(("",), Usage(1000, 20), ("stop",), seconds=4.0)


class Server:
    """Answers what fits the schema, as if that took 4 s, after it has failed some times."""

    def __init__(self, *failures: Exception, reply: Completion = FITTING) -> None:
        self.failures, self.reply, self.requests, self.lock = list(failures), reply, list[Request](), Lock()

    def complete(self, request: Request) -> Completion:
        with self.lock:
            self.requests.append(request)
            if self.failures:
                raise self.failures.pop(0)
        assert request.schema is not None
        return replace(self.reply, texts=(json.dumps(servers.fitting(request.schema)),))


def model_of(server: Server, **settings: object) -> ChatModel:
    return ChatModel(ModelConfig(model="m", **settings), Meter(server, Prices({"m": Price(1.0, 10.0)})))


def jobs_of(model: object, out: Path | None = None, games: int = 2, asking: int = 1) -> list[Job]:
    base = TABLE.game_env
    chat, heuristic = (partial(make_policy, name, GAME, base.game.config, model) for name in ("chat", "heuristic"))
    players = (("chat @ m", chat),) * asking + (("heuristic", heuristic),) * (5 - asking)
    return [Job(seed, players, out / f"{seed}.jsonl" if out else None) for seed in range(games)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_forecast_changes_no_byte_and_costs_no_call(workers, tmp_path):
    runs = {}
    for name in ("without", "with"):
        server, lines, out = Server(), list[str](), tmp_path / name
        out.mkdir()
        given = {"forecast": lines.append} if name == "with" else {}
        GameRunner(workers, **given).play(TABLE, jobs_of(model := model_of(server), out))
        runs[name] = {path.name: path.read_bytes() for path in out.iterdir()}, len(server.requests), len(lines)
        total = model.meter.taken.total
        assert total.requests == len(server.requests)
        assert total.seconds == 4.0 * len(server.requests)
    assert runs["with"][0] == runs["without"][0]
    assert runs["with"][1:] == (runs["without"][1], 1)
    assert runs["without"][2] == 0


def test_a_line_has_the_time_of_a_game_at_the_speed_of_the_first_reply_and_its_cost():
    server = Server()
    model = model_of(server)
    rehearsed = RehearsedModel(model)
    player = make_policy("chat", GAME, TABLE.game_env.game.config, rehearsed)
    for seed in range(2):
        rollout.play(rollout.table(GAME, num_players=5, max_days=2), [player, *(job_player() for _ in range(4))], seed)
    (line,) = forecasts(TABLE, jobs_of(model))
    questions, prompt = rehearsed.questions / 2, rehearsed.prompt / 2
    assert questions > 1
    assert f"about {questions:,.0f} questions and reads up to {prompt:,.0f} tokens" in line
    assert "(4.0 s, 20 tokens, 5.0 tokens/s)" in line
    minutes = re.search(r"A game takes about (?:(\d+) min ?)?(?:(\d+) s)?, 2 games", line)
    assert minutes is not None
    assert 60 * int(minutes[1] or 0) + int(minutes[2] or 0) == round(4 * questions)
    dollars = (round(prompt) + 10 * 20 * questions) / 1e6
    assert f"About {dollars:.4f} dollars a game." in line
    assert len(server.requests) == 1


def job_player() -> object:
    return make_policy("heuristic", GAME, TABLE.game_env.game.config)


def test_questions_are_those_of_the_seats_that_ask():
    lines = [forecasts(TABLE, jobs_of(model_of(Server()), asking=asking))[0] for asking in (1, 5)]
    few, many = (int(re.search(r"about (\d+) questions", line)[1]) for line in lines)
    assert 3 * few < many


@pytest.mark.parametrize(
    ("reply", "why", "said"),
    [
        (CallFailed("late", "timeout"), "late; accepted: a longer --timeout", "Its time is unknown"),
        (replace(FITTING, cached=True), "came from the cache", "Its time is unknown"),
        (replace(FITTING, usage=Usage(None, None, None)), "tokens unknown", "(4.0 s)"),
    ],
)
def test_what_is_not_known_is_said(reply, why, said):
    server = Server(reply) if isinstance(reply, Exception) else Server(reply=reply)
    (line,) = forecasts(TABLE, jobs_of(model_of(server)))
    assert why in line
    assert said in line


def test_where_other_processes_play_nothing_is_asked():
    server = Server()
    (line,) = forecasts(TABLE, jobs_of(model_of(server)), measured=False)
    assert "Its time is unknown" in line
    assert server.requests == []


def test_a_model_that_cannot_be_asked_ends_the_run_before_the_first_game(tmp_path):
    runner = GameRunner(forecast=lambda line: None)
    with pytest.raises(ModelUnavailable, match="wrong key"):
        runner.play(TABLE, jobs_of(model_of(Server(ModelUnavailable("wrong key"))), tmp_path))
    assert list(tmp_path.iterdir()) == []  # no transcript was begun


def test_games_without_a_language_model_have_no_forecast():
    assert forecasts(TABLE, jobs_of(OfflineModel())) == []


def test_a_player_that_cannot_be_rehearsed_is_named_and_its_game_is_played():
    class Odd(type(make_policy("chat", GAME, TABLE.game_env.game.config))):  # type: ignore[misc]
        def reset(self, seat: int, seed: int) -> None:
            raise RuntimeError("odd")

    model = model_of(Server())
    (line,) = forecasts(TABLE, [Job(0, (("odd", lambda: Odd(model)),) * 5)])
    assert "RuntimeError: odd" in line
