"""Ray: the same results as one process, whatever is killed meanwhile, each game written once, and a clean end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed; run scripts/test-integrations ray")

from parlour import policies  # noqa: E402
from parlour.envs import replay  # noqa: E402
from parlour.envs.core import ParlourError  # noqa: E402
from parlour.policies import ChatPlayer, HeuristicPolicy, HumanPolicy, RandomPolicy  # noqa: E402
from parlour.policies.llm.chat import ChatModel  # noqa: E402
from parlour.policies.llm.make import ModelConfig, make_model  # noqa: E402
from parlour.policies.llm.transport.budget import Prices  # noqa: E402
from parlour.policies.llm.transport.meter import Meter  # noqa: E402
from parlour.policies.llm.transport.request import Completion, Usage  # noqa: E402
from parlour.training.cli import run  # noqa: E402
from parlour.training.measure import evaluate  # noqa: E402
from parlour.training.measure.evaluation_tables import games_table  # noqa: E402
from parlour.training.play import rollout  # noqa: E402
from parlour.training.play.parallel.concurrent_games import Job  # noqa: E402
from parlour.training.play.parallel.ray.pool import connect  # noqa: E402
from parlour.training.play.runner import GameRunner  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402

from tests.integrations.pages import run_page  # noqa: E402
from tests.training.learn.tuning.quadratic_problem import Bowl  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray leaves files and sockets to the garbage collector
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
]
for module in (__name__, Bowl.__module__):  # these are not installed on the nodes
    ray.cloudpickle.register_pickle_by_value(sys.modules[module])


# a node's loss is noticed in five seconds instead of half a minute; a busy machine may be late by less
QUICK = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 1000, "health_check_failure_threshold": 5}


@pytest.fixture(scope="module")
def cluster():
    """Two nodes of one core each; the second one is killed by the last test."""
    here = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    made = Cluster(initialize_head=True, head_node_args={**here, "include_dashboard": False, "_system_config": QUICK})
    made.doomed = made.add_node(**here)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def pool(cluster):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", cluster.address)
        with connect("auto") as made:
            yield made


def table(**options: Any) -> Any:
    return rollout.table("avalon_v0", num_players=5, rules="official", **options)


def jobs(make: Any, games: int, out: Path | None = None) -> list[Job]:
    files = [None if out is None else out / f"{k}.jsonl" for k in range(games)]
    return [Job(k, (("one", make),) * 5, file) for k, file in enumerate(files)]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Unkept(RandomPolicy):
    """Plays at random. In the game of one seed something is done, the first time that it is played."""

    name = "unkept"

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__()
        self.folder, self.at = folder, seed

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.seed, self.turns = seed, 0

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        self.turns += 1
        if self.seed == self.at and self.seat == 0 and self.turns == 3:
            self.do()
        return super().act(observation, info)

    def do(self) -> None:
        raise NotImplementedError


# -- the same results --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["single", "team"])
@pytest.mark.parametrize("workers", [1, 3])
def test_an_evaluation_is_the_same_byte_for_byte(design, workers, pool, tmp_path):
    for name, given in (("one", {}), ("ray", {"pool": pool, "workers": workers})):
        out = tmp_path / name
        if design == "single":
            players = {"random": RandomPolicy, "heuristic": HeuristicPolicy}
            report = evaluate.single(
                table(), players, ("heuristic", HeuristicPolicy), range(7), GameRunner(out=out, **given)
            )
        else:
            report = evaluate.team(
                table(), ("r", RandomPolicy), ("heuristic", HeuristicPolicy), range(7), GameRunner(out=out, **given)
            )
        games_table(report).write_csv(out / "games.csv")
        (out / "report").write_text(repr(report))
    assert files(tmp_path / "one") == files(tmp_path / "ray")
    assert len(files(tmp_path / "ray")) == 16


@pytest.mark.parametrize("game", ["werewolf_v0", "murder_mystery_v0", "mediated_qa_v0"])
def test_the_command_line_prints_and_writes_the_same(game, pool, output_of, tmp_path):
    outputs = []
    for where in ([], ["--ray", "auto"]):
        out = str(tmp_path / str(len(outputs)))
        outputs.append(output_of(["play", game, "--games", "3", "--out", out, *where]).replace(out, "OUT"))
    assert outputs[0] == outputs[1] != ""
    assert files(tmp_path / "0") == files(tmp_path / "1")
    assert len(files(tmp_path / "1")) == 4  # three games, and what the command was called with


TABLES = (
    ["evaluate", "mysteries", "--method", "questum", "--method", "pp", "--games", "3", "--repetitions", "1"],
    ["reproduce", "questum-2", "--games", "2", "--repetitions", "1"],
    ["reproduce", "gratr-2", "--games", "2", "--against", "werewolf_window"],
    ["reproduce", "avalon-2", "--games", "1", "--practice", "1"],
    ["reproduce", "grace-3", "--games", "10", "--practice", "20"],
)


@pytest.mark.parametrize("command", TABLES, ids=lambda command: " ".join(command[:2]))
def test_a_published_table_is_the_same(command, pool, json_of, tmp_path):
    outputs = []
    for where in ([], ["--ray", "auto"]):
        out = tmp_path / str(len(outputs))
        outputs.append(_without_seconds(json_of([*command, "--json", "--out", str(out), *where])))
    assert outputs[0] == outputs[1]
    first, other = (files(tmp_path / str(k)) for k in range(2))
    assert first.keys() == other.keys() != set()
    timed = {name for name in first if name.endswith((".csv", "results.jsonl"))}  # seconds by the clock are in them
    assert {name: first[name] for name in first.keys() - timed} == {name: other[name] for name in other.keys() - timed}


def _without_seconds(data: dict[str, Any]) -> dict[str, Any]:
    return data | {"cells": [cell for cell in data["cells"] if "seconds" not in cell["measure"]]}


def test_the_lines_of_the_page_run(pool, capsys):
    run_page("ray")
    assert capsys.readouterr().out.startswith("Estimate(")


class Mute:
    """A transport to a server that says nothing of use."""

    def complete(self, request: Any) -> Completion:
        return Completion(("?",) * request.n, Usage(10, 1), ("stop",) * request.n)


def test_what_a_model_used_is_added_up(pool):
    counts = []
    for where in (None, pool):
        model = ChatModel(
            ModelConfig(model="mute", patience=10**6), Meter(Mute(), Prices.load(None).with_price("mute", 1.0, 1.0))
        )
        if where is not None:
            where.model = model
        GameRunner(pool=where).play(table(), jobs(lambda model=model: ChatPlayer(model), 4))
        taken = model.meter.taken
        made = [count.as_json() for count in (taken.total, taken.decisions, *taken.by_seat.values())]
        counts.append([{name: value for name, value in of.items() if name != "seconds"} for of in made])
    pool.model = None
    assert counts[0] == counts[1]
    assert counts[1][0]["requests"] > 0


# -- errors ------------------------------------------------------------------------------------------------------


class Fails(Unkept):
    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        if self.seed > self.at:
            time.sleep(0.002)
        return super().act(observation, info)

    def do(self) -> None:
        raise ParlourError("the budget of 1 dollar is spent")


def test_an_error_ends_the_run_and_leaves_whole_transcripts(pool, tmp_path):
    out, kept = tmp_path / "out", []
    with pytest.raises(ParlourError) as raised:
        GameRunner(pool=pool).play_each(
            table(), jobs(lambda: Fails(tmp_path, 5), 200, out), lambda k, _: kept.append(k)
        )
    assert str(raised.value) == "the budget of 1 dollar is spent"  # what the command line tells
    assert "in act" in raised.value.__notes__[0]  # and for whoever looks for it, where
    assert kept == list(range(5))
    written = sorted(int(path.stem) for path in out.iterdir())
    assert written[:6] == list(range(6))
    assert len(written) < 100
    cut = [number for number in written if replay.Transcript.read(out / f"{number}.jsonl").outcome is None]
    assert cut == [5]


def test_what_cannot_be_kept_or_sent_is_refused(pool, capsys, monkeypatch, tmp_path):
    def refused(*command: str) -> str:
        assert run(list(command)) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        return captured.err

    near = ["--ray", "auto"]
    assert "a person is at the table" in refused("play", "avalon_v0", "--policy", HumanPolicy.name, "--json", *near)
    assert "--ray-workers goes with --ray" in refused("evaluate", "--ray-workers", "2")
    assert "accepted: --ray-workers" in refused("train", "gratr", "--workers", "2", *near)
    assert "--ray, --model and --dry-run are for questions" in refused("train", "grace", "--from-table", "t.csv", *near)
    (tmp_path / "avalon_v0-2.jsonl").write_text("mine")
    assert "-2.jsonl' exists" in refused("play", "--games", "3", "--out", str(tmp_path), *near)
    assert files(tmp_path) == {"avalon_v0-2.jsonl": b"mine"}
    limited = make_model(ModelConfig(model="m", base_url="http://127.0.0.1:1/v1", max_calls=3))
    with pytest.raises(ParlourError, match="max_calls cannot be kept with Ray"), connect("local", model=limited):
        pass
    monkeypatch.setitem(policies.REGISTRY, "lock", policies.PolicyKind("lock", Locked))
    assert "cannot be sent to other machines" in refused("play", "--policy", "lock", *near)


class Locked(RandomPolicy):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


# -- what is killed ----------------------------------------------------------------------------------------------


class Waits(Unkept):
    """On the doomed node, waits in each game until the node is killed; on the other one, until the doomed node has a game."""

    doomed: str

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.at = seed

    def do(self) -> None:
        if ray.get_runtime_context().get_node_id() == self.doomed:
            (self.folder / f"lost {self.seed}").touch()
            time.sleep(100)
        patience = time.monotonic() + 60
        while not list(self.folder.glob("lost *")) and time.monotonic() < patience:
            time.sleep(0.05)


def test_a_killed_node_costs_its_concurrent_games_only(cluster, pool, tmp_path):
    Waits.doomed = cluster.doomed.node_id
    expected = GameRunner().play(table(), jobs(lambda: Unkept(tmp_path, -1), 30, tmp_path / "one"))

    def kill() -> None:
        while not list(tmp_path.glob("lost *")):
            time.sleep(0.05)
        cluster.remove_node(cluster.doomed, allow_graceful=False)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    results = GameRunner(pool=pool).play(table(), jobs(lambda: Waits(tmp_path, -1), 30, tmp_path / "ray"))
    killer.join(60)
    assert len(list(tmp_path.glob("lost *"))) == 1
    assert results == expected
    assert files(tmp_path / "ray") == files(tmp_path / "one")


# -- a machine's own processes -------------------------------------------------------------------------------------


def processes(session: int) -> list[str]:
    """What runs in a session of the system, zombies aside."""
    output = subprocess.run(["ps", "-o", "stat=,args=", "-s", str(session)], capture_output=True, text=True).stdout
    return [line for line in output.splitlines() if not line.startswith("Z")]


def heeding_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_leaves_nothing_running_and_whole_files(tmp_path):
    command = [sys.executable, "-m", "parlour.training.cli", "play", "avalon_v0", "--games", "5000", "--json"]
    where = ["--out", str(tmp_path), "--ray", "local", "--ray-workers", "2"]
    started = subprocess.Popen(
        [*command, *where],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=heeding_interrupts,  # who runs the tests in the background of a shell has them ignored
    )
    until = time.monotonic() + 120
    while len(list(tmp_path.glob("*.jsonl"))) < 5 and time.monotonic() < until:
        time.sleep(0.1)
    assert len(processes(started.pid)) > 4
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does
    _, said = started.communicate(timeout=240)
    assert started.returncode == 130
    assert "Traceback" not in said
    until = time.monotonic() + 20
    while processes(started.pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert processes(started.pid) == []
    written = list(tmp_path.glob("*.jsonl"))  # beside them what the command was called with
    assert 5 <= len(written) < 5000
    assert all(replay.Transcript.read(path).outcome is not None for path in written)
