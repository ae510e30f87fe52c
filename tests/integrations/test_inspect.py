"""Inspect AI: whole games by a model that is a script, through Inspect's own `eval` and command line.

docs/integrations/inspect.md says in prose what is tested here.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("inspect_ai", reason="inspect-ai is not installed; run scripts/test-integrations inspect")

from bridged_games import TABLES as BRIDGED
from inspect_ai import Task, eval as evaluate
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall
from integrations.pages import run_page
from integrations.ports import free_port, wait_for
from one_stub import (
    GAMES,
    BelievingStub,
    StubModel,
    believed_or_said,
    by_endpoint,
    dealt,
    same_games,
    seat_of,
    stub_words,
)
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.envs.headings import headings_of
from parlour.envs.registry import lookup
from parlour.envs.text import render
from parlour.policies import HeuristicPolicy
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.training.cli import run
from parlour.training.harnesses.inspect_ai.abilities import ability_figures
from parlour.training.harnesses.inspect_ai.logs import transcripts_of_log
from parlour.training.harnesses.inspect_ai.played import STORED, StoredGame
from parlour.training.harnesses.inspect_ai.suite import (
    ALL_ABILITIES,
    parlour_bench_1,
    points_of_samples,
    samples_of,
    suite_game,
    suite_score,
)
from parlour.training.harnesses.inspect_ai.tasks import TASK, TASKS, game_task
from parlour.training.measure.abilities.figures import numbers_of
from parlour.training.measure.abilities.run import abilities
from parlour.training.measure.benchmark.played import Candidate, play_suite
from parlour.training.measure.benchmark.ratings import ratings
from parlour.training.measure.benchmark.suite import QUICK, Suite, chosen_suite
from parlour.training.play.outside import OutsideSeats
from parlour.training.results.progress import no_progress

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Inspect leaves streams to the garbage collector
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings(
        "ignore:The 'initial' parameter is deprecated:DeprecationWarning"
    ),  # tenacity, in Inspect
]

TABLES = {
    "avalon_v0": {"num_players": 5},
    "werewolf_v0": {"num_players": 6},
    "murder_mystery_v0": {"rounds": 1},
    "mediated_qa_v0": {},
    "template_v0": {},
}
Reply = Callable[[list[ChatMessage]], str]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect the streams while their warnings are ignored, not at the end of the session."""
    yield
    gc.collect()


def option_of(messages: list[ChatMessage]) -> str:
    """One of the options, drawn by the message alone."""
    listed = [line[2:] for line in messages[-1].text.splitlines() if line.startswith("- ")]
    return listed[int(hashlib.sha256(messages[-1].text.encode()).hexdigest(), 16) % len(listed)]


def stub_reply(messages: list[ChatMessage]) -> str:
    """What the model that plays over every route says."""
    return stub_words([{"role": message.role, "content": message.text} for message in messages])


def scripted(reply: Reply, name: str = "options") -> Any:
    """A model that answers by a function of all that it is sent."""

    def answer(messages: list[ChatMessage], tools: Any, choice: Any, config: Any) -> ModelOutput:
        assert not tools
        output = ModelOutput.from_content("mockllm", reply(messages))
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)


def evaluated(tasks: Any, model: Any, folder: Path, **settings: Any) -> list[EvalLog]:
    return list(evaluate(tasks, model=model, log_dir=str(folder), display="none", **settings))


def games_of(log: EvalLog) -> list[StoredGame]:
    return [StoredGame.from_json(sample.store[STORED]) for sample in log.samples or []]


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


def test_the_spans_of_a_game_are_its_turns_in_order(tmp_path):
    task = game_task("template_v0", {}, deals=[4], seats="player_1")
    [log] = evaluated(task, scripted(option_of), tmp_path)
    [sample] = log.samples
    turns = [event for event in sample.events if event.event == "span_begin" and event.type == "turn"]
    shown = [event for event in sample.events if event.event == "info"]
    [played] = games_of(log)
    talk = OutsideSeats(played.table, ["player_1"])
    talk.reset(seed=4)
    for _, words in played.said:
        talk.say(words)
    base = talk.game_env
    lines = [base.text.line(event).rstrip("\n") for event in base.state_now.log]
    assert "\n".join(event.data for event in shown) == "\n".join(lines)
    assert {turn.name for turn in turns} <= {"moderator", *base.possible_agents}
    calls = [event for event in sample.events if event.event == "model"]
    named = {turn.id: turn.name for turn in turns}
    assert [named[call.span_id] for call in calls] == [agent for agent, _ in played.said]


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


def test_a_model_that_only_calls_tools_that_are_not_there_says_nothing(tmp_path):
    def calls(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        output = ModelOutput.for_tool_call("mockllm", "say", {"words": "I approve."})
        assert isinstance(output.message.tool_calls[0], ToolCall)
        output.message.content = ""
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output

    model = get_model("mockllm/tools", custom_outputs=calls, memoize=False)
    [log] = evaluated(game_task("avalon_v0", {"num_players": 5, "talk": False}, deals=2), model, tmp_path)
    assert log.status == "success"
    assert all(played.faults[played.own[0]]["replaced"] > 0 for played in games_of(log))


def test_a_limit_in_the_middle_ends_the_game_by_the_tables_rules_and_is_scored(tmp_path):
    task = game_task("avalon_v0", {"num_players": 5}, deals=[1], seats="player_1")
    [log] = evaluated(task, scripted(option_of), tmp_path / "logs", message_limit=6)
    [sample], [played] = log.samples, games_of(log)
    assert sample.limit.type == "message"
    assert played.left
    assert played.faults["player_1"]["replaced"] > 0
    assert sample.score.value["reward"] == played.returns["player_1"] != 0
    exported = transcripts_of_log(Path(log.location.removeprefix("file://")), tmp_path / "out")
    assert replay.read(exported.paths[0]).outcome.returns == tuple(played.returns.values())


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
            transcript = replay.read(path)
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
    "no seed": (lambda kept: kept.pop("seed"), "holds no game of parlour"),
    "another format": (lambda kept: kept.update(format=2), "holds no game of parlour"),
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
    text = " ".join(error_of(["inspect-log", str(tmp_path / "changed.json"), "--out", str(tmp_path / "out")]).split())
    assert why in text
    assert "sample 2147483649-player_1, epoch 1:" in text
    assert list((tmp_path / "out").iterdir()) == []


def test_files_that_are_no_logs_are_refused_in_one_line(tmp_path, capsys):
    no_logs = {"a.eval": b"PK\x03\x04", "b.json": b"{}", "c.json": b"[1", "d.txt": b"{}", "e.eval": b""}
    for name, content in no_logs.items():
        (tmp_path / name).write_bytes(content)
        assert run(["inspect-log", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 2, name
        assert "; accepted: " in capsys.readouterr().err
    assert run(["inspect-log", str(tmp_path / "none.eval"), "--out", str(tmp_path / "out")]) == 2
    assert "accepted: a log of Inspect" in capsys.readouterr().err


def test_a_transcript_that_is_there_stays(whole_log, tmp_path):
    path = Path(whole_log.location.removeprefix("file://"))
    transcripts_of_log(path, tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(ParlourError, match=r"exists; accepted: another folder"):
        transcripts_of_log(path, tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


# -- Inspect's command line ----------------------------------------------------------------------------------------


@contextmanager
def served() -> Iterator[int]:
    """`parlour serve`, our endpoint whose answers are heuristics."""
    port = free_port()
    words = [sys.executable, "-m", "parlour.training.cli", "serve", "--port", str(port), "--policy", "random"]
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
    pytest.importorskip("uvicorn", reason="parlour serve needs the extra serve")
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
    assert [replay.read(path).header["players"]["player_2"] for path in exported.paths] == [model, model]


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page("inspect")


# -- the benchmark's suite ---------------------------------------------------------------------------------------


def of_both(folder: Path, *words: str, **chosen: Any) -> tuple[dict[str, Any], EvalLog, dict[str, float]]:
    """A suite by `parlour benchmark` and by Inspect's task, with the same score: the numbers of the one, log and figures of the other."""
    with StubModel() as server:
        asked = ["--model", server.MODEL, "--base-url", server.base_url, "--out", str(folder / "run"), "--json"]
        assert run(["benchmark", *words, *asked]) == 0
    data = json.loads((folder / "run" / "benchmark.json").read_text())
    [log] = evaluated(parlour_bench_1(**chosen), scripted(stub_reply, "stub"), folder / "logs")
    assert log.status == "success"
    [of_points] = [score for score in log.results.scores if score.name == "points"]
    figures = {metric.name: metric.value for metric in of_points.metrics.values()}
    overall = [data["scores"]["overall"][name] for name in ("mean", "low", "high")]
    assert [figures[name] for name in ("score", "low", "high")] == pytest.approx(overall, abs=1e-4)
    return data, log, figures


def test_the_suite_of_strangers_gives_the_score_of_the_benchmark(tmp_path):
    words = ("--suite", "strangers", "--table", "avalon-5-official")
    of_both(tmp_path, *words, suite="strangers", table="avalon-5-official")


def test_a_suite_that_inspect_is_given_twice_is_refused():
    with pytest.raises(ParlourError, match="--quick goes without --suite strangers"):
        parlour_bench_1(quick=True, suite="strangers")


def test_the_suite_gives_the_numbers_of_the_benchmark_on_the_same_answers(tmp_path):
    """`parlour benchmark` with the model behind an endpoint, and Inspect's task with the same model: 24 games of one table."""
    data, log, figures = of_both(tmp_path, "--quick", "--table", "werewolf-8", quick=True, table="werewolf-8")
    assert log.eval.task.rpartition("/")[2] == "parlour_bench_1"
    assert log.eval.metadata["sha256"] == data["suite"]["sha256"]
    of_samples = [sample.score.metadata for sample in log.samples]
    suite = chosen_suite("quick", ["werewolf-8"])
    points = points_of_samples(suite, of_samples)
    assert points == {
        "werewolf-8": {
            opponent: {side: tuple(map(float, of)) for side, of in sides.items()}
            for opponent, sides in data["points"]["werewolf-8"].items()
        }
    }
    rating = ratings(suite, {"stub": points})["werewolf-8"]["stub"]
    assert figures["elo_werewolf-8"] == pytest.approx(rating.value)
    assert (figures["elo_werewolf-8_low"], figures["elo_werewolf-8_high"]) == pytest.approx(rating.ends)
    deals = np.mean([of for sides in points["werewolf-8"].values() for of in sides.values()], axis=0)
    assert figures["stderr"] == pytest.approx(deals.std(ddof=1) / np.sqrt(len(deals)))


def test_a_suite_with_a_missing_game_has_no_figures():
    suite = chosen_suite("quick", ["werewolf-4"])
    sample = {"table": "werewolf-4", "opponent": "heuristic", "side": "village", "seed": 1, "points": 100.0}
    assert points_of_samples(suite, [sample | {"moves_chosen": [5, 5]}]) is None


# -- abilities -----------------------------------------------------------------------------------------------------


def believing_reply(messages: list[ChatMessage]) -> str:
    """As the stub plays; asked for its beliefs, it draws chances by the hash of what it reads."""
    return believed_or_said([{"role": message.role, "content": message.text} for message in messages])


AVALON, _, WEREWOLF = QUICK.tables


@pytest.mark.parametrize(
    "tables",
    [
        pytest.param((replace(AVALON, deals=1, opponents=("heuristic", "expert")),), id="Avalon"),
        pytest.param(
            (replace(AVALON, deals=2, opponents=("heuristic",)), replace(WEREWOLF, deals=2, opponents=("heuristic",))),
            id="Avalon and Werewolf",
        ),
    ],
)
def test_abilities_are_those_of_the_command_on_the_same_answers(tables, tmp_path, capsys):
    """Four games of Avalon, or four of each game: `parlour benchmark abilities` of a run, and the task with abilities."""
    few = Suite("few", tables)
    with BelievingStub() as server:
        model = make_model(ModelConfig(model=server.MODEL, base_url=server.base_url))
        play_suite(few, Candidate("chat", model=model), tmp_path / "run")
        by_command = abilities(tmp_path / "run", "chat", model, no_progress)
    task = Task(
        dataset=MemoryDataset(list(samples_of(few))),
        solver=suite_game(),
        scorer=suite_score(abilities=True),
        metrics={ability: [ability_figures(few.games_played, ability)] for ability in ALL_ABILITIES},
    )
    [log] = evaluated(task, scripted(believing_reply, "stub"), tmp_path / "logs")
    assert log.status == "success", log.error
    figures = {score.name: {m.name: m.value for m in score.metrics.values()} for score in log.results.scores}
    for ability in ALL_ABILITIES:
        assert figures[ability] == pytest.approx(numbers_of(by_command, ability), nan_ok=True), ability
    assert figures["deduction"]["skill"] < 0  # what is drawn is worse than what the night showed
    assert figures["deduction"]["loss_stderr"] > 0
    if len(tables) > 1:
        assert figures["deduction"]["werewolf_loss"] > 0.7  # log 2, about, is who states one half
        assert figures["deduction"]["werewolf_loss_stderr"] > 0
        assert "werewolf_said" in figures["consistency"]
