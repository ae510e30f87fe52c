"""Concurrent games: the same results however many there are at once, one player in one game, and a clean end."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from parlour import policies
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy, HumanPolicy, RandomPolicy
from parlour.policies.base import Policy
from parlour.training.cli import run
from parlour.training.measure import evaluate
from parlour.training.measure.evaluation_tables import games_table
from parlour.training.play import rollout
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.runner import GameRunner
from parlour.training.runs.progress import Stage
from parlour.wrappers import Recorder, TextActions

WORDS = ("I propose player_0, player_1 and player_2", "I suspect player_1", "yes", "no", "success", "?")


class Waiter(Policy):
    """Says something or other, mostly what cannot be used, and takes its time: the longer, the lower the seed."""

    name, wants = "waiter", "text"

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        sleep(0.0001 * (10 - self.seed % 10))
        self.asked += 1
        return WORDS[int(self.rng.integers(len(WORDS)))]

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.seed, self.asked = seed, 0

    def notes(self) -> dict[str, Any]:
        return {"asked": self.asked}


def table(**options: Any) -> TextActions:
    return rollout.table("avalon_v0", num_players=5, rules="official", **options)


def jobs(make: Any, games: int, out: Path | None = None) -> list[Job]:
    files = [None if out is None else out / f"{k}.jsonl" for k in range(games)]
    return [Job(k, (("one", make),) * 5, file) for k, file in enumerate(files)]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    assert [thread.name for thread in threading.enumerate() if thread.name.startswith("table ")] == []


# -- the same results ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("design", ["single", "team"])
def test_an_evaluation_does_not_depend_on_how_many_games_are_concurrent(design, tmp_path):
    reports = []
    for workers in (1, 4):
        out = tmp_path / str(workers)
        if design == "single":
            makers = {"waiter": Waiter, "heuristic": HeuristicPolicy}
            data = evaluate.single(table(), makers, ("waiter", Waiter), range(6), GameRunner(workers=workers, out=out))
        else:
            data = evaluate.team(
                table(), ("w", Waiter), ("heuristic", HeuristicPolicy), range(6), GameRunner(workers=workers, out=out)
            )
        games_table(data).write_csv(out / "games.csv")
        reports.append(data)
    assert reports[0] == reports[1]
    assert files(tmp_path / "1") == files(tmp_path / "4")
    assert len(files(tmp_path / "4")) == 13


@pytest.mark.parametrize("workers", [1, 4])
def test_what_is_kept_comes_in_the_order_of_the_jobs(workers):
    calls: list[tuple[int, int, int]] = []

    def keep(number: int, episode: rollout.Episode) -> int:
        calls.append((number, episode.seed, threading.get_ident()))
        return -number

    finished: list[float] = []

    def progress(stage: Stage, done: float, _note: str = "") -> None:
        assert stage == Stage("Playing games", 10, "games")
        finished.append(done)

    results = GameRunner(workers=workers, progress=progress).play_each(table(), jobs(Waiter, 10), keep)
    assert results == [-k for k in range(10)]
    assert calls == [(k, k, threading.get_ident()) for k in range(10)]
    assert finished == list(range(11))
    assert [game.seed for game in GameRunner(workers=2).play(table(), jobs(RandomPolicy, 3))] == [0, 1, 2]
    assert GameRunner(workers=4).play(table(), []) == []


# -- at once ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 4])
def test_so_many_games_are_concurrent_and_no_player_is_in_two(workers):
    everybody = threading.Barrier(workers)
    lock = threading.Lock()
    inside, most, used = 0, 0, {}

    class Meets(RandomPolicy):
        """At its first turn, waits until there are as many games as there shall be."""

        def reset(self, seat: int, seed: int) -> None:
            super().reset(seat, seed)
            if seat == 0:
                everybody.wait(timeout=60)

        def act(self, observation: Any, info: dict[str, Any]) -> Any:
            nonlocal inside, most
            with lock:
                inside += 1
                most = max(most, inside)
                used.setdefault(id(self), set()).add(threading.get_ident())
            sleep(0.001)
            with lock:
                inside -= 1
            return super().act(observation, info)

    made: list[Meets] = []

    def make() -> Meets:
        made.append(Meets())
        return made[-1]

    assert len(GameRunner(workers=workers).play(table(), jobs(make, 8))) == 8
    assert 1 <= most <= workers
    assert len(made) == 5 * workers
    assert len(used) == 5 * workers
    assert all(len(threads) == 1 for threads in used.values())
    # with one worker there is no thread but the caller's
    assert ({threading.get_ident()} in used.values()) == (workers == 1)


def test_what_cannot_be_concurrent_is_refused_before_anything_is_played(tmp_path):
    shared = [RandomPolicy() for _ in range(5)]
    given = iter(shared * 2)
    with pytest.raises(ParlourError, match="in two games at once"):
        GameRunner(workers=2).play(table(), jobs(lambda: next(given), 2))
    with pytest.raises(ParlourError, match="workers 2 is not accepted with a person"):
        GameRunner(workers=2).play(table(), jobs(HumanPolicy, 2))
    with pytest.raises(ParlourError, match="workers 0 is not accepted; accepted: a whole number from 1"):
        GameRunner(workers=0).play(table(), jobs(RandomPolicy, 2))
    with pytest.raises(ParlourError, match="in a Recorder already"):
        GameRunner(workers=2).play(Recorder(table(), tmp_path / "{n}.jsonl"), jobs(RandomPolicy, 2))
    with pytest.raises(ParlourError, match="in a Recorder already"):
        GameRunner().play(Recorder(table(), tmp_path / "{n}.jsonl"), jobs(RandomPolicy, 2, tmp_path))
    with pytest.raises(ParlourError, match="two games have the same transcript"):
        GameRunner().play(table(), [Job(k, (("r", RandomPolicy),) * 5, tmp_path / "x") for k in range(2)])
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "1.jsonl").write_text("mine")
    with pytest.raises(ParlourError, match=r"1\.jsonl' exists"):
        GameRunner().play(table(), jobs(RandomPolicy, 2, tmp_path))
    assert files(tmp_path) == {"1.jsonl": b"mine"}


# -- the end of a run ------------------------------------------------------------------------------------------


class Seeded(RandomPolicy):
    """Plays at random, and keeps the seed of its game."""

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.seed = seed


class Spends(Seeded):
    """Plays at its own pace; in the game of one seed the money is spent at the fifth turn of a seat."""

    begun: list[int]
    last: int

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.turns = 0
        if seat == 0:
            self.begun.append(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        self.turns += 1
        sleep(0.002)
        if self.seed == self.last and self.turns == 5:
            self.end()
        return super().act(observation, info)

    def end(self) -> None:
        raise ParlourError("the budget of 1 dollar is spent")


def check_cut_off(folder: Path, seeds: list[int]) -> None:
    """Transcripts of exactly these games, each whole as far as it goes, and at least one that is not finished."""
    assert sorted(files(folder)) == sorted(f"{seed}.jsonl" for seed in seeds)
    finished = []
    for path in folder.iterdir():
        assert path.read_bytes().endswith(b"}\n")
        transcript = replay.Transcript.read(path)
        finished.append(transcript.outcome is not None)
        list(replay.reenact(transcript))
    assert not all(finished)


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_ends_the_run_and_leaves_whole_transcripts(workers, tmp_path):
    class Player(Spends):
        begun, last = [], 4

    kept = []
    with pytest.raises(ParlourError, match="the budget of 1 dollar is spent"):
        GameRunner(workers=workers).play_each(
            table(), jobs(Player, 40, tmp_path), lambda number, _: kept.append(number)
        )
    assert 4 in Player.begun
    assert max(Player.begun) < 4 + 4 * workers  # nothing like the forty
    assert kept == list(range(len(kept)))
    check_cut_off(tmp_path, Player.begun)


@pytest.fixture
def _interrupts():
    """Whoever runs the tests in the background has them ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
@pytest.mark.parametrize("workers", ["1", "3"])
def test_an_interrupt_stops_all_games(workers, tmp_path, monkeypatch):
    class Player(Spends):
        begun, last = [], 4

        def end(self) -> None:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    monkeypatch.setitem(policies.REGISTRY, "slow", policies.PolicyKind("slow", Player))
    played = ["play", "--players", "5", "--policy", "slow", "--games", "40", "--out", str(tmp_path)]
    assert run([*played, "--concurrency", workers]) == 130
    assert max(Player.begun) < 30
    (tmp_path / "avalon_v0-play.json").unlink()  # what it was called with
    for path in tmp_path.iterdir():
        path.rename(tmp_path / f"{int(path.stem.rpartition('-')[2]) - 1}.jsonl")
    check_cut_off(tmp_path, Player.begun)
