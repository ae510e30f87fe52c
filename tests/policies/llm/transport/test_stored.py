"""`parlour cache`: what a file of stored replies holds."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import replace

import pytest
from parlour.policies.llm.transport.cache import Cache, stored_models
from parlour.policies.llm.transport.request import (
    UNKNOWN_USAGE,
    CallFailed,
    ChatMessage,
    Completion,
    Request,
    ServedModel,
    Usage,
)

REQUEST = Request("m", (ChatMessage("user", "u"),), 0.3, 40, ask="chat.take_turn")
REPLY = Completion(("说",), Usage(100, 20, 64), ("stop",), thinking=("hm",), served="m-1")
HERE = ServedModel("http://localhost:8080/v1", "m", {"model_path": "a.gguf"}, 1280, reached=True)
OTHER_FILE = replace(HERE, told={"model_path": "b.gguf"})
THERE = ServedModel("https://a.example/v1", "n", {}, None, reached=True)


class Source:
    def __init__(self, served: ServedModel, reply: Completion | CallFailed = REPLY) -> None:
        self.served, self.address, self.reply = served, served.address, reply

    def served_model(self, model: str) -> ServedModel:
        return self.served

    def complete(self, request: Request) -> Completion:
        if isinstance(self.reply, CallFailed):
            raise self.reply
        return self.reply


@pytest.fixture
def file(tmp_path):
    """Two replies and a failure of `m` in file a, one of `m` in file b, three of `n` elsewhere."""
    path = tmp_path / "replies.sqlite"
    for served, samples in ((HERE, 2), (OTHER_FILE, 1), (THERE, 3)):
        cache = Cache(Source(served), path)
        for sample in range(samples):
            cache.complete(replace(REQUEST, model=served.model, sample=sample))
    with suppress(CallFailed):
        Cache(Source(HERE, CallFailed("late", "timeout")), path).complete(replace(REQUEST, sample=9))
    Cache(Source(OTHER_FILE), path).complete(REQUEST)
    return path


def counts(path) -> list[tuple[str, str, bool, int, int]]:
    return [(model.model, model.server, model.latest, model.replies, model.failed) for model in stored_models(path)]


def test_models_are_listed_with_their_servers_and_sums(file):
    assert counts(file) == [
        ("m", HERE.address, False, 2, 1),
        ("m", HERE.address, True, 1, 0),
        ("n", THERE.address, True, 3, 0),
    ]
    first = stored_models(file)[0]
    assert (first.digest, first.context) == (HERE.digest, 1280)
    # two replies of 100 + 20 tokens each, 64 of the 100 from the server's cache
    assert (first.prompt, first.completion, first.prompt_cached) == (200, 40, 128)
    assert 200 < first.size < 400
    assert first.first <= first.last


def test_tokens_that_the_server_did_not_report_are_unknown_in_sums(tmp_path):
    silent = replace(REPLY, usage=UNKNOWN_USAGE, dropped=("usage",))
    for name, replies in {
        "all": [silent],
        "one": [REPLY, silent],
        "part": [replace(REPLY, usage=Usage(7, None))],
    }.items():
        for sample, reply in enumerate(replies):
            Cache(Source(HERE, reply), tmp_path / name).complete(replace(REQUEST, sample=sample))
    sums = {name: stored_models(tmp_path / name)[0] for name in ("all", "one", "part")}
    assert {name: (of.prompt, of.completion) for name, of in sums.items()} == {
        "all": (None, None),
        "one": (None, None),
        "part": (7, None),
    }
    assert Cache(Source(HERE), tmp_path / "all", "replay").complete(REQUEST).usage == UNKNOWN_USAGE


def test_zeros_of_older_files_are_unknown_where_the_server_did_not_report_tokens(tmp_path):
    path = tmp_path / "older.sqlite"
    Cache(Source(HERE, replace(REPLY, usage=UNKNOWN_USAGE, dropped=("seed", "usage"))), path).complete(REQUEST)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE replies SET reply = json_set(reply, '$.usage', json('[0, 0, 0]'))")
    assert stored_models(path)[0].prompt is None
    assert Cache(Source(HERE), path, "replay").complete(REQUEST).usage == UNKNOWN_USAGE


# -- the commands ----------------------------------------------------------------------------------------------------


def test_the_list_as_a_table_and_as_json(file, json_of, output_of):
    table = output_of(["list", "replies", str(file)])
    assert "m (replaced)" in " ".join(table.split())
    assert THERE.address in table
    assert [load["replies"] for load in json_of(["list", "replies", str(file), "--json"])] == [2, 1, 3]
