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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from hardening.attack import Finding, Tried
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
from parlour.training.play import rollout
from parlour.training.play.decisions import of_transcript
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.runner import GameRunner

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


class FaultsAttack:
    """See the module."""

    name = "faults"
    share = 1.0

    def subjects(self, outside: Sequence[str]) -> Sequence[str]:
        """A game and a kind of fault in each, and a game without one."""
        games = [*registry, *outside]
        return [f"{game} fault={fault}" for fault in (*FAULTS, "none") for game in games]

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        game, _, fault = subject.partition(" fault=")
        key = f"sk-canary-{rng.bytes(12).hex()}"
        rates = {} if fault == "none" else {fault: RATE}
        settings = ServerSettings(faults=rates, key=key, hang=LATE, retry_after=0.002, seed=int(rng.integers(2**31)))
        agents = agents_of(game)
        agent, seed = agents[int(rng.integers(len(agents)))], int(rng.integers(2**31))
        by_command = bool(rng.integers(2))
        with all_logged() as said, in_environment(key), hurried(), running(IndiscreetService(settings)) as url:
            table = Seated(game, agent, seed, url, IN_TIME if fault in OF_TIME else PATIENT)
            played, wrong = (commanded if by_command else in_process)(table, folder, said)
        findings = [*wrong, *(checked(played) if played else ()), *leaks(key, folder, said.getvalue())]
        how = f"{subject} agent={agent} seed={seed} {'play' if by_command else 'in process'}"
        return Tried(
            1,
            tuple(replace(finding, shortest=finding.shortest or how) for finding in findings),
            {} if fault in OF_TIME else counts(played),
        )


def agents_of(game: str) -> list[str]:
    """The players of a game that ask a model: `chat`, and those in the game's own room."""
    room = f".agents.{lookup(game).spec.id.rpartition('_v')[0]}"
    return ["chat", *(name for name in names_of("asking") if room in str(REGISTRY[name].cls))]


def in_process(table: Seated, folder: Path, said: io.StringIO) -> tuple[Played | None, list[Finding]]:
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
    except Exception as error:
        return None, [lost(error)]
    finally:
        endpoint.close()
    said.write(repr(model.meter.taken))
    decisions = [decision.as_json() for decision in episode.decisions]
    return Played(file, decisions, episode.outcome is not None), []


def commanded(table: Seated, folder: Path, said: io.StringIO) -> tuple[Played | None, list[Finding]]:
    """A game by the command line, whose calls are not tried again."""
    game, agent, seed, url, timeout = table
    options = [f"--set={key}={json.dumps(value)}" for key, value in SMALL.get(game, {}).items()]
    asks = ["--policy", agent, "--model", "canary", "--base-url", url, "--key-env", KEY_ENV, "--patience", "1000"]
    limits = ["--timeout", str(timeout), "--max-retries", "0", "--tries", "2", "--cache", str(folder / "cache.jsonl")]
    command = ["play", game, *options, *asks, *limits, "--seed", str(seed), "--out", str(folder), "--json"]
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            code = run(command)
    except Exception as error:
        return None, [lost(error)]
    finally:
        said.write(out.getvalue())
    if code != 0:
        return None, [Finding(f"parlour play ended with {code}: {said.getvalue()[-200:]}")]
    (result,) = json.loads(out.getvalue())
    files = [file for file in folder.glob("*.jsonl") if file.name != "cache.jsonl"]
    decided = [{k: v for k, v in seat.items() if k != "player"} for seat in result["players"].values()]
    return Played(files[0], decided, "unfinished" not in result), []


def checked(played: Played) -> Iterator[Finding]:
    """What is wrong with a game: lost, not readable, not re-enacted, or with decisions that do not add up."""
    if not played.ended:
        yield Finding("a game was lost")
    try:
        transcript = replay.Transcript.read(played.transcript)
        steps = list(replay.reenact(transcript))
        written = [count.as_json() for count in of_transcript(transcript)]
    except Exception as error:
        yield Finding(f"the transcript cannot be re-enacted: {type(error).__name__}: {error}")
        return
    if transcript.outcome is None or not steps:
        yield Finding("the transcript is not whole")
    if [stable(row) for row in written] != [stable(decision) for decision in played.decisions]:
        yield Finding("the transcript tells of other decisions than the game", json.dumps([written, played.decisions]))
    turns, choices = turns_of(transcript)
    total = sum(row["decisions"] + row.get("talk", 0) for row in written)
    if not choices <= total <= turns:
        yield Finding("decisions do not add up", f"{total} told, {choices} of {turns} turns with a choice")


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


def leaks(key: str, folder: Path, said: str) -> Iterator[Finding]:
    """Where a key is that should be nowhere."""
    places = {str(file.name): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    places |= {"what was printed or logged": said.encode()}
    places |= {"the names of threads": repr([thread.name for thread in threading.enumerate()]).encode()}
    for title in ("cmdline", "comm"):
        with contextlib.suppress(OSError):
            places[f"the process's {title}"] = Path(f"/proc/self/{title}").read_bytes()
    for place, bytes_ in places.items():
        if key.lower().encode() in bytes_.lower():
            yield Finding(f"the key is in {place}")


def lost(error: Exception) -> Finding:
    """A game that did not come to its end."""
    return Finding(f"a game was lost: {type(error).__name__}: {' '.join(str(error).split())[:200]}")


def counts(played: Played | None) -> dict[str, int]:
    """For the report."""
    if played is None:
        return {}
    total = [
        (decision.get("decisions", 0), sum(decision.get("heuristic", {}).values())) for decision in played.decisions
    ]
    return {"decisions": sum(all_ for all_, _ in total), "by heuristic": sum(other for _, other in total)}


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


ATTACKS: tuple[Any, ...] = (FaultsAttack(),)
