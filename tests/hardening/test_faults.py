"""Faults of the endpoint: games of language-model players while 30 % of the requests go wrong, in one way a game.

The server is parlour's own, on loopback, with the faults it makes on purpose, and it is indiscreet: errors and replies repeat
the key they were asked with. A game must come to its end, its decisions must add up, in the result as in the transcript, the
transcript must be re-enacted, and the key must be found nowhere: in no file, no line that was printed or logged, no title of
the process. Half of the games are played in process, with retries, a cache and debug logs; half by `parlour play`.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
from parlour.envs import replay
from parlour.envs.registry import lookup, registry
from parlour.policies import REGISTRY, make_policy, names_of
from parlour.policies.llm.chat import ChatModel
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.server.app import Service, running
from parlour.policies.llm.server.protocol import Refused
from parlour.policies.llm.server.settings import FAULTS, ServerSettings
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.cache import Cache
from parlour.policies.llm.transport.endpoint import Endpoint
from parlour.policies.llm.transport.meter import Meter
from parlour.training.cli import run
from parlour.training.play import decisions, rollout
from parlour.training.play.decisions import of_transcript
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.runner import GameRunner

pytestmark = pytest.mark.nightly

RATE = 0.3
"""Share of the requests that meet the fault."""
IN_TIME, LATE = 0.1, 0.4
"""Seconds that a client waits, and that a fault takes, where it is one of time."""
OF_TIME = ("timeout", "slow")
PATIENT = 20.0
"""Seconds that a client waits under other faults: what it counts then depends on the seed alone."""
KEY_ENV = "PARLOUR_HARDENING_KEY"
SMALL: dict[str, dict[str, Any]] = {
    "avalon_v0": {"num_players": 5},
    "werewolf_v0": {"num_players": 6, "max_days": 3},
    "murder_mystery_v0": {"case": "seed:1:en:4", "rounds": 1, "questions": 1, "targets": 1},
    "mediated_qa_v0": {"questions": 2},
}
"""Options of a table that is played in a second or so."""


class Seated(NamedTuple):
    """What is played, by whom, where the model is."""

    game: str
    agent: str
    seed: int
    url: str
    timeout: float


@dataclass(frozen=True)
class Played:
    """A game under faults, as the checks see it."""

    transcript: Path
    decisions: Sequence[Mapping[str, Any]]
    """Of each seat, as plain values."""
    ended: bool


class IndiscreetService(Service):
    """Says in its errors and in its replies which key it was asked with."""

    async def refusal(self, request: Any, error: Exception) -> Any:
        if isinstance(error, Refused):
            words = f"{error} (your key is {self.settings.key})"
            error = Refused(error.status, words, error.param, error.code, error.headers)
        return await super().refusal(request, error)

    def _completed(self, *given: Any) -> dict[str, Any]:
        done = super()._completed(*given)
        for choice in done["choices"]:
            choice["message"]["reasoning_content"] = f"asked with {self.settings.key}"
        return {**done, "model": f"for-{self.settings.key}", "system_fingerprint": self.settings.key}


def agents_of(game: str) -> list[str]:
    """The players of a game that ask a model: `chat`, and those in the game's own room."""
    room = f".agents.{lookup(game).spec.id.rpartition('_v')[0]}"
    return ["chat", *(name for name in names_of("asking") if room in str(REGISTRY[name].cls))]


def play(game: str, fault: str, seed: int, folder: Path) -> None:
    """A game of one of its players under a fault, by the library or by the command; it is checked."""
    rng = np.random.default_rng(seed)
    key = f"sk-canary-{rng.bytes(12).hex()}"
    rates = {} if fault == "none" else {fault: RATE}
    settings = ServerSettings(faults=rates, key=key, hang=LATE, retry_after=0.002, seed=int(rng.integers(2**31)))
    agents = agents_of(game)
    agent, deal = agents[int(rng.integers(len(agents)))], int(rng.integers(2**31))
    played = (commanded, in_process)[int(rng.integers(2))]
    with all_logged() as said, in_environment(key), hurried(), running(IndiscreetService(settings)) as url:
        table = Seated(game, agent, deal, url, IN_TIME if fault in OF_TIME else PATIENT)
        check(played(table, folder, said))
        check_secret(key, folder, said.getvalue())


def in_process(table: Seated, folder: Path, said: io.StringIO) -> Played:
    """A game by the library: retries with little wait, a cache, several calls at once."""
    game, agent, seed, url, timeout = table
    limits = {"timeout": timeout, "max_retries": 2, "tries": 2, "patience": 1000}
    chosen = ModelConfig(model="canary", base_url=url, key_env=KEY_ENV, **limits)
    endpoint = Endpoint(chosen)
    model = ChatModel(chosen, Meter(Cache(endpoint, folder / "cache.jsonl", "record"), Prices.load(None)))
    env = rollout.table(game, **SMALL.get(game, {}))
    spec, config = env.game_env.spec, env.game_env.game.config
    file = folder / "game.jsonl"
    seats = (((agent, lambda: make_policy(agent, spec.id, config, model))),) * len(env.game_env.possible_agents)
    try:
        (episode,) = GameRunner().play(env, [Job(seed, seats, file)])
    finally:
        endpoint.close()
    said.write(repr(model.meter.taken))
    decisions = [decision.as_json() for decision in episode.decisions]
    return Played(file, decisions, episode.outcome is not None)


def commanded(table: Seated, folder: Path, said: io.StringIO) -> Played:
    """A game by the command line, whose calls are not tried again."""
    game, agent, seed, url, timeout = table
    options = [f"--set={key}={json.dumps(value)}" for key, value in SMALL.get(game, {}).items()]
    asks = ["--policy", agent, "--model", "canary", "--base-url", url, "--key-env", KEY_ENV, "--patience", "1000"]
    limits = ["--timeout", str(timeout), "--max-retries", "0", "--tries", "2", "--cache", str(folder / "cache.jsonl")]
    command = ["play", game, *options, *asks, *limits, "--seed", str(seed), "--out", str(folder), "--json"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        code = run(command)
    said.write(out.getvalue())
    none = "answered none of" in said.getvalue()  # then the game is played by the heuristic, and the exit code is 2
    assert code == (2 if none else 0), f"parlour play ended with {code}: {said.getvalue()[-200:]}"
    (result,) = json.loads(out.getvalue())
    files = [file for file in folder.glob("*.jsonl") if file.name != "cache.jsonl"]
    decided = [{k: v for k, v in seat.items() if k != "player"} for seat in result["players"].values()]
    return Played(files[0], decided, "unfinished" not in result)


def check(played: Played) -> None:
    """The game was not lost, its transcript is re-enacted, and its decisions add up."""
    assert played.ended, "a game was lost"
    transcript = replay.Transcript.read(played.transcript)
    assert list(replay.reenact(transcript))
    assert transcript.outcome is not None, "the transcript is not whole"
    written = [count.as_json() for count in of_transcript(transcript)]
    stated = [stable(decision) for decision in played.decisions]
    assert [stable(row) for row in written] == stated, "the transcript has other decisions than the game"
    turns, choices = turns_of(transcript)
    total = sum(row["decisions"] + row.get("talk", 0) for row in written)
    assert choices <= total <= turns, f"decisions do not add up: {total}, {choices} of {turns} turns with a choice"


def turns_of(transcript: replay.Transcript) -> tuple[int, int]:
    """How many turns a game had, and how many of them with several legal moves."""
    game = transcript.game()
    moved = [entry for entry in transcript.entries if entry.move is not None]
    reached = replay.states(game, transcript.moves)
    options = [len(game.legal(state)) for entry, state in zip(moved, reached, strict=False) if entry.seat >= 0]
    return len(options), sum(number > 1 for number in options)


def stable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Decisions without the seconds, which only the game knows."""
    return {key: value for key, value in row.items() if "seconds" not in key}


def check_secret(key: str, folder: Path, said: str) -> None:
    """The key is in no file, no line that was printed or logged, no title."""
    places = {str(file.name): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    places |= {"what was printed or logged": said.encode()}
    places |= {"the names of threads": repr([thread.name for thread in threading.enumerate()]).encode()}
    for title in ("cmdline", "comm"):
        with contextlib.suppress(OSError):
            places[f"the process's {title}"] = Path(f"/proc/self/{title}").read_bytes()
    leaks = [place for place, content in places.items() if key.lower().encode() in content.lower()]
    assert not leaks, f"the key is in {', '.join(leaks)}"


@contextlib.contextmanager
def all_logged() -> Iterator[io.StringIO]:
    """All that is logged meanwhile, down to debug messages of every library."""
    said = io.StringIO()
    handler, root = logging.StreamHandler(said), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield said
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def hurried() -> contextlib.AbstractContextManager[Any]:
    """The SDK hardly waits between attempts meanwhile."""
    return mock.patch("openai._base_client.INITIAL_RETRY_DELAY", 0.001)


@contextlib.contextmanager
def in_environment(key: str) -> Iterator[None]:
    """The key in the environment, and nowhere else."""
    before = os.environ.get(KEY_ENV)
    os.environ[KEY_ENV] = key
    try:
        yield
    finally:
        if before is None:
            del os.environ[KEY_ENV]
        else:
            os.environ[KEY_ENV] = before


# -- every game, every fault --------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [*FAULTS, "none"])
@pytest.mark.parametrize("game", registry)
def test_a_game_under_faults_comes_to_its_end_and_keeps_the_key(game, fault, tmp_path):
    for seed in range(2):
        (folder := tmp_path / str(seed)).mkdir()
        play(game, fault, seed, folder)


def test_games_are_played_by_the_players_that_ask_a_model():
    assert agents_of("avalon_v0") == ["chat", "avalon_agent", "avalon_baseline"]
    assert {"chat", "gratr", "werewolf_rag"} <= set(agents_of("werewolf_v0"))
    assert agents_of("mediated_qa_v0") == ["chat"]


# -- the tests can fail ------------------------------------------------------------------------------------------


def defects(fault: str, folder: Path) -> str:
    """What is found in some games; half of them are played by the command."""
    found = []
    for seed in range(3):
        (scratch := folder / str(seed)).mkdir()
        with pytest.raises(AssertionError) as planted:
            play("template_v0", fault, seed, scratch)
        found.append(str(planted.value))
    return " ".join(found)


def test_a_key_that_is_written_down_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(Endpoint, "_clean", lambda self, text: text)
    found = defects("filter", tmp_path)
    assert "game.jsonl" in found
    assert "what was printed or logged" in found


def test_decisions_that_do_not_add_up_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(decisions, "_decision", lambda line, refused: decisions.Decisions(first=2))
    assert "decisions" in defects("none", tmp_path)
