"""Inspect AI: whole games by a model that is a script, through Inspect's own `eval` and command line.

docs/integrations/inspect.md says in prose what is tested here.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed; run scripts/test-integrations inspect")

from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import ChatMessage
from parlour.envs import replay
from parlour.envs.language.headings import headings_of
from parlour.envs.language.text import render
from parlour.envs.registry import lookup
from parlour.policies import HeuristicPolicy
from parlour.training.cli import run
from parlour.training.harnesses.inspect_ai.logs import transcripts_of_log
from parlour.training.harnesses.inspect_ai.played import STORED, StoredGame
from parlour.training.harnesses.inspect_ai.tasks import TASK, TASKS, game_task
from parlour.training.play.outside import OutsideSeats

from tests.integrations.pages import run_page
from tests.integrations.ports import free_port, wait_for
from tests.integrations.scripted_inspect import WARNINGS, Reply, collected, evaluated, scripted, stub_reply  # noqa: F401
from tests.training.harnesses.bridged_games import TABLES as BRIDGED
from tests.training.harnesses.one_stub import (
    GAMES,
    by_endpoint,
    dealt,
    same_games,
    seat_of,
)

pytestmark = WARNINGS

TABLES = {
    "avalon_v0": {"num_players": 5},
    "werewolf_v0": {"num_players": 6},
    "murder_mystery_v0": {"rounds": 1},
    "mediated_qa_v0": {},
    "template_v0": {},
}


def option_of(messages: list[ChatMessage]) -> str:
    """One of the options, drawn by the message alone."""
    listed = [line[2:] for line in messages[-1].text.splitlines() if line.startswith("- ")]
    return listed[int(hashlib.sha256(messages[-1].text.encode()).hexdigest(), 16) % len(listed)]


def games_of(log: EvalLog) -> list[StoredGame]:
    return [StoredGame.from_plain(sample.store[STORED]) for sample in log.samples or []]


def returns_in_its_environment(game: StoredGame) -> dict[str, float]:
    """The same seed and words in the AEC environment that everybody gets; our policies at the other seats."""
    table = game.table
    env = lookup(table.game).env(action="text", info="full", on_bad=table.on_bad, tries=table.tries, **table.options)
    env.reset(seed=game.seed)
    players = {agent: HeuristicPolicy() for agent in env.possible_agents if agent not in game.models}
    for agent, player in players.items():
        player.reset(env.possible_agents.index(agent), game.seed)
    said, earned = iter(game.said), dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, over, cut, info = env.last()
        earned[agent] += reward
        if over or cut:
            env.step(None)
        elif agent in players:
            env.step(players[agent].act(observation, info))
        else:
            speaker, words = next(said)
            assert speaker == agent
            env.step(words)
    assert next(said, None) is None
    return earned


# -- whole games -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", BRIDGED)
def test_one_model_plays_the_same_hundred_games_here_and_behind_an_endpoint(game, tmp_path):
    task = game_task(game, BRIDGED[game], deals=dealt(GAMES))
    [log] = evaluated(task, scripted(stub_reply, "stub"), tmp_path / "logs")
    assert log.status == "success"
    assert [sample.metadata["seats"] for sample in log.samples] == [[seat_of(game, k)] for k in range(GAMES)]
    transcripts_of_log(Path(log.location), tmp_path)
    endpoint = by_endpoint(game, GAMES, tmp_path / "endpoint")
    same_games(endpoint, game, tmp_path, [sample.score.value["reward"] for sample in log.samples])
    # the figure that Inspect tells is the one that `parlour evaluate` tells
    assert figures_of(log)["win", "mean"] == pytest.approx(endpoint.report.rates["chat"]["all"].value)


def test_the_score_tells_return_win_side_role_and_faults_and_its_metrics_are_by_side(tmp_path):
    task = game_task("avalon_v0", {"num_players": 5}, deals=6, seats="one")
    [log] = evaluated(task, scripted(option_of), tmp_path)
    of_side: dict[str, list[float]] = {"good": [], "evil": []}
    for sample, played in zip(log.samples, games_of(log), strict=True):
        [agent] = played.own
        score = sample.score
        assert score.value == {
            "win": float(played.returns[agent] > 0),
            "reward": played.returns[agent],
            "faults": 0,
            "own": 1.0,
        }
        env = lookup("avalon_v0").raw_env(num_players=5, info="full")
        env.reset(seed=played.seed)
        view = env.view(env.seat_of[agent])
        assert (score.metadata["side"], score.metadata["role"]) == (view.side, view.role)
        of_side[view.side].append(score.value["win"])
    metrics = next(score for score in log.results.scores if score.name == "win").metrics
    for side, won in of_side.items():
        assert metrics[f"grouped_{side}"].value == sum(won) / len(won)


def test_every_game_of_ours_is_a_task_that_takes_its_options():
    assert set(TABLES) <= set(TASKS)
    made = TASKS["avalon_v0"](num_players=7, rules="official", deals=[3, 5], seats="each", sides="evil", epochs=2)
    assert [sample.metadata["seed"] for sample in made.dataset] == [3, 3, 3, 5, 5, 5]  # three of seven are evil
    assert made.epochs == 2
    assert {sample.metadata["side"] for sample in made.dataset} == {"evil"}


def test_a_model_role_names_who_plays_the_other_seats(tmp_path):
    counts: dict[str, int] = {"opponent": 0, "third": 0}

    def counting(name: str) -> Reply:
        def reply(messages: list[ChatMessage]) -> str:
            counts[name] += 1
            return option_of(messages)

        return reply

    roles = {"opponent": scripted(counting("opponent"), "others"), "player_3": scripted(counting("third"), "third")}
    task = game_task("avalon_v0", {"num_players": 5, "talk": False}, deals=[4], seats="player_0")
    [log] = evaluated(task, scripted(option_of), tmp_path, model_roles=roles)
    [played] = games_of(log)
    who = {"player_0": "mockllm/options", "player_3": "mockllm/third"}
    assert played.models == {f"player_{k}": who.get(f"player_{k}", "mockllm/others") for k in range(5)}
    assert played.own == ("player_0",)
    answers = [agent for agent, _ in played.said]
    assert counts == {
        "opponent": sum(answers.count(f"player_{k}") for k in (1, 2, 4)),
        "third": answers.count("player_3"),
    }
    assert returns_in_its_environment(played) == played.returns


def test_a_role_that_no_seat_has_is_refused(tmp_path):
    task = game_task("template_v0", {}, deals=1)
    [log] = evaluated(task, scripted(option_of), tmp_path, model_roles={"grader": scripted(option_of)})
    assert log.status == "error"
    assert "model role 'grader' is not accepted; accepted: opponent, player_0, player_1" in log.error.message


# -- what the models are told ------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", TABLES)
@pytest.mark.parametrize("seats", ["one", "all"])
def test_what_arrives_at_a_model_put_together_is_the_view_of_its_seat(game, seats, tmp_path):
    arrived: list[list[ChatMessage]] = []

    def reply(messages: list[ChatMessage]) -> str:
        arrived.append(list(messages))
        return option_of(messages)

    [log] = evaluated(game_task(game, TABLES[game], deals=[8], seats=seats), scripted(reply), tmp_path)
    [played] = games_of(log)
    talk = OutsideSeats(played.table, list(played.models))
    talk.reset(seed=played.seed)
    base, headings = talk.game_env, headings_of(talk.game_env.text)
    answered: dict[str, list[str]] = {agent: [] for agent in talk.agents}
    assert len(arrived) == len(played.said)
    for messages, (agent, words) in zip(arrived, played.said, strict=True):
        first, *later = [message.text for message in messages if message.role == "user"]
        record = first[: first.rindex(headings.choice)]
        for message in later:
            record += message[: message.rindex(headings.choice)].removeprefix(headings.since)
        choice = messages[-1].text[messages[-1].text.rindex(headings.choice) :]
        assert record + choice == render(base.text, base.view(base.seat_of[agent]))
        assert [message.text for message in messages if message.role == "system"] == [TASK]
        assert [message.text for message in messages if message.role == "assistant"] == answered[agent]
        assert {message.role for message in messages} <= {"system", "user", "assistant"}
        answered[agent].append(words)
        talk.say(words)


def figures_of(log: EvalLog) -> dict[tuple[str, str], float]:
    """Measure and metric, such as `("win", "stderr")`, over all samples."""
    return {
        (score.name, name.rpartition("/")[2]): metric.value
        for score in log.results.scores
        for name, metric in score.metrics.items()
    }


# -- words that cannot be used, and models that stop ---------------------------------------------------------------


@pytest.mark.parametrize("words", ["", "I fly to the moon.\n# What you may do now\n- Nothing.", "\x00</s>" * 900])
def test_words_that_cannot_be_used_are_counted_and_the_game_ends(words, tmp_path):
    task = game_task("avalon_v0", {"num_players": 5, "talk": False}, deals=[1, 2], tries=2)
    [log] = evaluated(task, scripted(lambda messages: words), tmp_path)
    assert log.status == "success"
    for sample, played in zip(log.samples, games_of(log), strict=True):
        [agent] = played.own
        assert played.faults[agent]["unreadable"] == len(played.said) == sample.score.value["faults"]
        assert sample.score.value["own"] == 0.0
        assert sample.score.metadata["moves_chosen"] == [0, len(played.said) / 2]
        assert played.faults[agent]["replaced"] == len(played.said) / 2
        assert returns_in_its_environment(played) == played.returns
    figures = figures_of(log)
    for measure in ("win", "reward"):  # none of its moves were its own: no figure
        assert isnan(figures[measure, "mean"])
        assert isnan(figures[measure, "stderr"])
    assert figures["own", "mean"] == 0.0


def test_a_standard_error_counts_a_deal_once_however_many_of_its_seats_are_played(tmp_path):
    task = game_task("avalon_v0", {"num_players": 5, "talk": False}, deals=4, seats="each")
    [log] = evaluated(task, scripted(option_of), tmp_path)
    for measure in ("win", "reward"):
        of_deals: dict[int, list[float]] = {}
        for sample in log.samples:
            of_deals.setdefault(sample.metadata["seed"], []).append(sample.score.value[measure])
        assert [len(values) for values in of_deals.values()] == [5] * 4
        means = np.array([np.mean(values) for values in of_deals.values()])
        # four deals of five seats each: the standard error of four means
        assert figures_of(log)[measure, "mean"] == pytest.approx(means.mean())
        assert figures_of(log)[measure, "stderr"] == pytest.approx(means.std(ddof=1) / 2)


def test_a_model_that_fails_in_the_middle_ends_its_own_game_alone(tmp_path):
    def reply(messages: list[ChatMessage]) -> str:
        if "Deal" in messages[0].text or len(messages) == 6:
            raise ConnectionResetError("the client is gone")
        return option_of(messages)

    task = game_task("avalon_v0", {"num_players": 5}, deals=[1], seats="player_1")
    other = game_task("template_v0", {}, deals=3)  # ends before the third answer
    broken, whole = evaluated([task, other], scripted(reply), tmp_path, fail_on_error=False)
    assert "the client is gone" in broken.samples[0].error.message
    [played] = games_of(broken)
    assert played.left
    assert sum(played.returns.values()) != 0
    assert whole.status == "success"
    assert len(games_of(whole)) == 3


# -- logs become transcripts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["eval", "json"])
def test_a_log_becomes_transcripts_that_replay(form, tmp_path, capsys):
    tasks = [
        game_task(game, options, deals=1, seats="all" if game == "avalon_v0" else "one")
        for game, options in TABLES.items()
    ]
    logs = evaluated(tasks, scripted(option_of), tmp_path / "logs", log_format=form, epochs=2)
    for log in logs:
        out = tmp_path / log.eval.task.replace("/", "-")
        exported = transcripts_of_log(Path(log.location.removeprefix("file://")), out)
        assert exported.left_out == {}
        assert len(exported.paths) == 2
        for path, played in zip(exported.paths, games_of(log), strict=True):
            transcript = replay.Transcript.read(path)
            for _ in replay.reenact(transcript, watched=()):
                pass
            assert transcript.outcome.returns == tuple(played.returns.values())
            assert transcript.header["seed"] == played.seed
            assert transcript.header["players"][played.own[0]] == "mockllm/options"
            assert run(["replay", str(path)]) == 0
    capsys.readouterr()


def _stored(log: EvalLog, number: int = 0) -> dict[str, Any]:
    stored: dict[str, Any] = log.samples[number].store[STORED]
    return stored


CHANGED = {
    "other words": (lambda kept: kept["said"][0].__setitem__(1, "I am silent today."), "accepted: "),
    "another speaker": (lambda kept: kept["said"][0].__setitem__(0, "player_4"), "answer 1 is said by player_4"),
    "an answer less": (lambda kept: kept["said"].pop(), "the game continues after the last answer"),
    "another seed": (lambda kept: kept.update(seed=kept["seed"] + 1), "accepted: "),
    "another result": (lambda kept: kept.update(winner="nobody"), "winner of the game 'nobody' is not accepted"),
    "another player of ours": (lambda kept: kept["table"].update(opponents="random"), "accepted: "),
    "a module of a player": (lambda kept: kept["table"].update(opponents="os:system"), "are not loaded for it"),
    "a file of a player": (lambda kept: kept["table"].update(opponents="/etc/passwd"), "are not loaded for it"),
    "a module of a game": (lambda kept: kept["table"].update(game="os:system"), "is not imported for it"),
    "an option that is none": (lambda kept: kept["table"]["options"].update(x=1), "option of avalon_v0 'x'"),
    "a setting that is none": (lambda kept: kept["table"].update(on_bad="raise"), "on_bad 'raise' is not accepted"),
    "no seed": (lambda kept: kept.pop("seed"), "seed is missing"),
    "another format": (lambda kept: kept.update(format=2), "format 2 is not accepted"),
}


@pytest.fixture(scope="module")
def whole_log(tmp_path_factory) -> EvalLog:
    folder = tmp_path_factory.mktemp("logs")
    task = game_task("avalon_v0", {"num_players": 5}, deals=2, seats="player_1")
    [log] = evaluated(task, scripted(option_of), folder)
    return log


@pytest.mark.parametrize("what", CHANGED)
def test_a_log_that_does_not_agree_is_refused_in_one_line_and_nothing_is_written(what, whole_log, tmp_path, error_of):
    change, why = CHANGED[what]
    log = whole_log.model_copy(deep=True)
    change(_stored(log, 1))
    write_eval_log(log, str(tmp_path / "changed.json"))
    text = " ".join(
        error_of(["import", "inspect", str(tmp_path / "changed.json"), "--out", str(tmp_path / "out")]).split()
    )
    assert why in text
    assert "sample 2147483649-player_1, epoch 1:" in text
    assert list((tmp_path / "out").iterdir()) == []


def test_files_that_are_no_logs_are_refused_in_one_line(tmp_path, capsys):
    no_logs = {"a.eval": b"PK\x03\x04", "b.json": b"{}", "c.json": b"[1", "d.txt": b"{}", "e.eval": b""}
    for name, content in no_logs.items():
        (tmp_path / name).write_bytes(content)
        assert run(["import", "inspect", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 2, name
        assert "; accepted: " in capsys.readouterr().err
    assert run(["import", "inspect", str(tmp_path / "none.eval"), "--out", str(tmp_path / "out")]) == 2
    assert "accepted: a log of Inspect" in capsys.readouterr().err


# -- Inspect's command line ----------------------------------------------------------------------------------------


@contextmanager
def served() -> Iterator[int]:
    """`parlour serve endpoint`, our endpoint whose answers are heuristics."""
    port = free_port()
    words = [
        sys.executable,
        "-m",
        "parlour.training.cli",
        "serve",
        "endpoint",
        "--port",
        str(port),
        "--policy",
        "random",
    ]
    server = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait(timeout=60)


def inspect_command(*words: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "inspect_ai", "eval", *words, "--log-dir", str(folder), "--display", "plain"]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True, timeout=300
    )


def test_the_command_line_finds_the_tasks_and_plays_against_a_server(tmp_path):
    pytest.importorskip("uvicorn", reason="parlour serve endpoint needs the extra serve")
    with served() as port:
        model = "openai-api/parlour/random"
        asked = f"--model {model} --model-role player_2={model} -T num_players=5 -T deals=2 --log-format json"
        done = inspect_command(
            "parlour/avalon",
            *asked.split(),
            folder=tmp_path,
            PARLOUR_API_KEY="none",
            PARLOUR_BASE_URL=f"http://127.0.0.1:{port}/v1",
        )
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = tmp_path.glob("*.json")
    data = json.loads(path.read_text())
    assert data["status"] == "success", done.stdout
    assert data["eval"]["task"] == "parlour/avalon"
    exported = transcripts_of_log(path, tmp_path / "out")
    assert [replay.Transcript.read(path).header["players"]["player_2"] for path in exported.paths] == [model, model]


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page("inspect")
