"""llama.cpp's own server with a tiny model that is made here: schemas, a small context, the server's counts, the cache.

The model (`tiny_llama`) answers in the right form and plays badly; nothing here speaks of its play. All that is compared
comes from the server: its replies, its `usage`, its `/metrics`. docs/integrations/llamacpp.md says how to run more games
and questions than are run here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest

pytest.importorskip("xllamacpp", reason="llama.cpp is not installed; run scripts/test-integrations llamacpp")

from integrations.tiny_llama.heard import TABLES, Heard, Table, heard_at
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.murder_mystery import vocabulary as mystery
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.policies import make_policy
from parlour.policies.agents.avalon import notes
from parlour.policies.llm import prompt
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import Answered, Model, RequestContext
from parlour.training.cli import run
from parlour.training.measure.benchmark.results_file import RESULTS
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder

TESTS = Path(__file__).parents[1]
QUESTIONS = int(os.environ.get("PARLOUR_LLAMA_QUESTIONS", "5"))
"""Of each kind that is put to the server; the figures of docs/integrations/llamacpp.md are of 100."""
GAMES = int(os.environ.get("PARLOUR_LLAMA_GAMES", "1"))
"""Of each agent in the small context; the figures there are of 20."""
MODEL = os.environ.get("PARLOUR_LLAMA_MODEL", "")
"""A file that was made before; empty: it is made here."""
SMALL, LARGE = 1280, 8192
"""Tokens of context."""
SEED = 77


def in_tests(module: str, *args: str) -> list[str]:
    return [sys.executable, "-m", f"integrations.tiny_llama.{module}", *args]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if MODEL:
        return Path(MODEL)
    path = tmp_path_factory.mktemp("tiny_llama") / "tiny.gguf"
    subprocess.run(in_tests("train", str(path)), cwd=TESTS, check=True)
    return path


@contextmanager
def serving(model_file: Path, context: int) -> Iterator[str]:
    """The address of a server that ends with the block."""
    command = in_tests("serve", str(model_file), str(context))
    with subprocess.Popen(command, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


@pytest.fixture(scope="module")
def large(model_file: Path) -> Iterator[str]:
    with serving(model_file, LARGE) as address:
        yield address


@pytest.fixture(scope="module")
def small(model_file: Path) -> Iterator[str]:
    with serving(model_file, SMALL) as address:
        yield address


def settings(address: str, **more: Any) -> ModelConfig:
    return ModelConfig(model="tiny-llama", base_url=f"{address}/v1", patience=10_000, **more)


# -- schemas ---------------------------------------------------------------------------------------------------


def with_options() -> dict[str, list[Heard]]:
    """Questions that offer something, by kind, as they are put in games that the model did not learn from."""
    by_kind: dict[str, list[Heard]] = {}
    for name in TABLES:
        for seed in range(SEED, SEED + 40):
            samples = [each for each in heard_at(name, range(seed, seed + 1)) if any(each.question.choices().values())]
            for each in samples:
                by_kind.setdefault(each.question.kind, []).append(each)
            if all(len(by_kind[each.question.kind]) >= QUESTIONS for each in samples):
                break
    return {kind: samples[:: max(1, len(samples) // QUESTIONS)][:QUESTIONS] for kind, samples in by_kind.items()}


def test_with_schemas_first_replies_are_legal_for_every_kind_of_question_with_options(large):
    model = make_model(settings(large, tries=1))
    refused: Counter[str] = Counter()
    put = with_options()
    for kind, samples in put.items():
        for sample in samples:
            refused[kind] += not model.answer(sample.question, sample.context).valid
    shares = {kind: f"{len(samples) - refused[kind]} of {len(samples)}" for kind, samples in sorted(put.items())}
    print(json.dumps(shares, indent=1))
    assert put
    # at least 99 of 100; of few questions one may fail
    assert all(refused[kind] <= max(1, len(samples) // 100) for kind, samples in put.items()), shares


# -- a context of 1,280 tokens ---------------------------------------------------------------------------------


class Put(NamedTuple):
    """A question as it was put, what the seat had seen by then, and what came of it."""

    question: Ask[Any]
    seen: list[str]
    answered: Answered[Any]

    @property
    def prompts(self) -> list[str]:
        """What was sent to the server, every message of a call as one text."""
        return ["\n".join(message["content"] for message in call["prompt"]) for call in self.calls]

    @property
    def calls(self) -> list[dict[str, Any]]:
        return [call for call in self.answered.calls if "prompt" in call]


class WatchedModel(Model):
    """Notes each question with the facts that its seat has seen."""

    is_language_model = True

    def __init__(self, model: Model, base: Any, agent: str) -> None:
        self.model, self.base, self.agent, self.name = model, base, agent, model.name
        self.put: list[Put] = []

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        seat = int(context.seat.removeprefix("player_"))
        seen = facts(self.base, seat, self.agent)
        answered = self.model.answer(question, context)
        self.put.append(Put(question, seen, answered))
        return answered

    def settings(self) -> dict[str, Any]:
        return self.model.settings()


FACTS = {
    "avalon_v0": {avalon.TEAM, avalon.VOTES, avalon.DRAWN, avalon.FAILS, avalon.EXPOSED},
    "werewolf_v0": {werewolf.DAWN, werewolf.REVEALED, werewolf.VOTES, werewolf.BALLOT, werewolf.EXECUTED},
    "murder_mystery_v0": {mystery.VOTES, mystery.VERDICT},
}
"""Teams, votes, results and deaths."""


def facts(base: Any, seat: int, agent: str) -> list[str]:
    """The lines of what a seat has seen of them, as this agent writes them down; none for agents that choose lines."""
    events = [event for event in base.view(seat).events if event.move.kind in FACTS[base.spec.id]]
    if agent == "chat":
        return [base.text.line(event).strip() for event in events]
    if agent == "avalon_agent":
        return [line for line in (notes.write(event, base.game.role_names) for event in events) if line]
    return []


_PLACED = re.compile(r"^- \d+: ")
"""Before a line of `chat` that not everybody saw: how many lines of the common record came before it, fewer once some are left out."""


def kept(question: Ask[Any]) -> list[str]:
    """The lines of a question that no lack of room may take: all but speech and what it can spare."""
    lines = []
    for name, value in question.inputs().items():
        growing = name in (*question.record, *question.recent)
        if growing and isinstance(value, list):
            entries = getattr(question, name)
            value = [item for item, entry in zip(value, entries, strict=True) if not question.is_speech(entry)]
        if growing and isinstance(value, str):
            value = "\n".join(line for line in value.split("\n") if not question.is_speech(line))
        if name not in question.spare:
            lines += prompt.section(name, value).splitlines()
    return lines


SMALL_TABLES = [
    Table("avalon_v0", "chat", {"num_players": 5}),
    Table("avalon_v0", "avalon_agent", {"num_players": 5}),
    Table("werewolf_v0", "chat", {"num_players": 6, "max_days": 3}),
    Table("werewolf_v0", "gratr", {"num_players": 6, "max_days": 3}),
    Table("murder_mystery_v0", "questum:mode=score", {"case": "seed:3:en:4", "rounds": 1}),
]


@pytest.mark.parametrize("setting", SMALL_TABLES, ids=lambda setting: f"{setting.agent}-{setting.game}")
def test_games_finish_in_1280_tokens_and_no_prompt_lacks_a_fact(setting, small):
    model = make_model(settings(small))
    cut = 0
    reasons: Counter[str] = Counter()
    for seed in range(SEED, SEED + GAMES):
        env = table(setting.game, **setting.options)
        watched = WatchedModel(model, env.game_env, setting.agent)
        players = [
            make_policy(setting.agent, setting.game, env.game_env.game.config, watched)
            for _ in env.game_env.possible_agents
        ]
        episode = play(env, players, seed)
        assert episode.outcome.reason
        for put in watched.put:
            cut += put.answered.cut
            reasons[put.answered.reason or "own"] += 1
            for text in put.prompts:
                lines = {_PLACED.sub("- ", line) for line in text.splitlines()}
                lacking = [fact for fact in put.seen if f"- {fact}" not in lines and f"> {fact}" not in lines]
                assert lacking == put.seen[: len(lacking)]  # the oldest go first, and only where no speech is left
                assert lacking or not [line for line in kept(put.question) if _PLACED.sub("- ", line) not in lines]
    assert setting.agent not in ("chat", "gratr") or reasons["context"] <= GAMES  # at most one a game
    print(setting.agent, setting.game, dict(reasons), f"{cut} lines cut, {tokens_told(model)}")
    assert reasons["own"] or setting.agent.startswith(
        "questum"
    )  # what a case tells a player may be longer than the context
    assert cut or reasons["context"] or setting.agent == "gratr"  # otherwise nothing was tried


def tokens_told(model: Any) -> str:
    total = model.meter.total
    return f"{total.prompt:,} + {total.completion:,} tokens, {total.prompt_cached:,} of them cached"


# -- counts, and the cache -------------------------------------------------------------------------------------


def counted(address: str) -> tuple[int, int]:
    """Tokens that the server has read anew and written since it began, as it tells in `/metrics`."""
    with urlopen(f"{address}/metrics") as response:
        text = response.read().decode()
    counts = dict(re.findall(r"^llamacpp:(prompt_tokens_total|tokens_predicted_total) (\S+)$", text, re.MULTILINE))
    return int(float(counts["prompt_tokens_total"])), int(float(counts["tokens_predicted_total"]))


def recorded(config: ModelConfig, setting: Table, path: Path) -> Any:
    """Play a game into a transcript; the model's meter."""
    model: Any = make_model(config)
    env = table(setting.game, **setting.options)
    seats = len(env.game_env.possible_agents)
    players = [make_policy(setting.agent, setting.game, env.game_env.game.config, model) for _ in range(seats)]
    play(Recorder(env, path), players, SEED)
    return model.meter


def test_a_game_from_the_cache_with_the_server_off_is_the_same_byte_for_byte_and_tokens_are_the_servers(
    model_file, tmp_path
):
    setting = Table("werewolf_v0", "gratr", {"num_players": 6, "max_days": 2})
    cache = str(tmp_path / "replies.sqlite")
    with serving(model_file, LARGE) as address:
        config = settings(address, cache=cache)
        total = recorded(config, setting, tmp_path / "first.jsonl").total
        assert (total.prompt - total.prompt_cached, total.completion) == counted(address)
        assert total.calls > 10
    replay = settings(address, cache=cache, cache_mode="replay")
    again = recorded(replay, setting, tmp_path / "second.jsonl").total
    assert (tmp_path / "first.jsonl").read_bytes() == (tmp_path / "second.jsonl").read_bytes()
    assert (again.calls, again.cached) == (0, total.calls + total.cached)


# -- the benchmark ---------------------------------------------------------------------------------------------


def test_the_benchmark_gives_the_same_file_from_the_cache_with_the_server_off(model_file, tmp_path, capsys):
    small = ["benchmark", "--quick", "--table", "werewolf-4", "--model", "tiny-llama", "--concurrency", "1", "--json"]
    small += ["--cache", str(tmp_path / "replies.sqlite")]
    with serving(model_file, LARGE) as address:
        small += ["--base-url", f"{address}/v1"]
        assert run([*small, "--out", str(tmp_path / "first")]) == 0
    assert run([*small, "--cache-mode", "replay", "--out", str(tmp_path / "second")]) == 0
    first, second = ((tmp_path / name / RESULTS).read_bytes() for name in ("first", "second"))
    assert first == second
    data = json.loads(first)["all decisions"]
    print(capsys.readouterr().err)
    assert data["own"] >= 0.9 * data["decisions"] > 0
    assert data["prompt"] > 0 < data["completion"]
