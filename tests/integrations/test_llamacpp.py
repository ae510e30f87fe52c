"""llama.cpp's own server with a tiny model that is made here: schemas, the server's counts, the cache.

The model (`tiny_llama`) answers in the right form and plays badly; nothing here speaks of its play. All that is compared
comes from the server: its replies, its `usage`, its `/metrics`. docs/integrations/llamacpp.md says how to put more questions
than are put here.
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
from typing import Any
from urllib.request import urlopen

import pytest

pytest.importorskip("xllamacpp", reason="llama.cpp is not installed; run scripts/test-integrations llamacpp")

from parlour.policies import make_policy
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder

from tests import ROOT
from tests.integrations.tiny_llama.heard import TABLES, Heard, Table, heard_at

QUESTIONS = int(os.environ.get("PARLOUR_LLAMA_QUESTIONS", "5"))
"""Of each kind that is put to the server; the figures of docs/integrations/llamacpp.md are of 100."""
MODEL = os.environ.get("PARLOUR_LLAMA_MODEL", "")
"""A file that was made before; empty: it is made here."""
LARGE = 8192
"""Tokens of context."""
SEED = 77


def in_tests(module: str, *args: str) -> list[str]:
    return [sys.executable, "-m", f"tests.integrations.tiny_llama.{module}", *args]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if MODEL:
        return Path(MODEL)
    path = tmp_path_factory.mktemp("tiny_llama") / "tiny.gguf"
    subprocess.run(in_tests("train", str(path)), cwd=ROOT, check=True)
    return path


@contextmanager
def serving(model_file: Path, context: int) -> Iterator[str]:
    """The address of a server that ends with the block."""
    command = in_tests("serve", str(model_file), str(context))
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
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


# -- counts, and the cache -------------------------------------------------------------------------------------


def counted(address: str) -> tuple[int, int]:
    """Tokens that the server has read anew and written since it began, as it tells in `/metrics`."""
    with urlopen(f"{address}/metrics") as response:
        text = response.read().decode()
    counts = dict(re.findall(r"^llamacpp:(prompt_tokens_total|tokens_predicted_total) (\S+)$", text, re.MULTILINE))
    return int(float(counts["prompt_tokens_total"])), int(float(counts["tokens_predicted_total"]))


def recorded(config: ModelConfig, setting: Table, path: Path) -> Any:
    """Play a game into a transcript; what the model took."""
    model: Any = make_model(config)
    env = table(setting.game, **setting.options)
    seats = len(env.game_env.possible_agents)
    players = [make_policy(setting.agent, setting.game, env.game_env.game.config, model) for _ in range(seats)]
    play(Recorder(env, path), players, SEED)
    return model.meter.taken.total


def test_a_game_from_the_cache_with_the_server_off_is_the_same_byte_for_byte_and_tokens_are_the_servers(
    model_file, tmp_path
):
    setting = Table("werewolf_v0", "gratr", {"num_players": 6, "max_days": 2})
    cache = str(tmp_path / "replies.sqlite")
    with serving(model_file, LARGE) as address:
        config = settings(address, cache=cache)
        total = recorded(config, setting, tmp_path / "first.jsonl")
        assert (total.prompt - total.cached, total.completion) == counted(address)
        assert total.requests > 10
    replay = settings(address, cache=cache, cache_mode="replay")
    again = recorded(replay, setting, tmp_path / "second.jsonl")
    assert (tmp_path / "first.jsonl").read_bytes() == (tmp_path / "second.jsonl").read_bytes()
    assert (again.requests, again.from_cache) == (0, total.requests + total.from_cache)
