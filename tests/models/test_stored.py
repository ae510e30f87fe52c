"""`parlour cache`: what a file of stored replies holds, what is removed from it, and what is exported."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.transport.cache import Cache
from parlour.policies.llm.transport.request import CallFailed, ChatMessage, Completion, Request, ServedModel, Usage
from parlour.policies.llm.transport.stored import exported, prune, stored_models
from parlour.training import cli

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


@pytest.mark.parametrize(
    ("chosen", "removed", "left"),
    [
        ({"model": "n"}, 3, [("m", 1), ("m", 2)]),
        ({"server": f"{HERE.address}/"}, 4, [("n", 3)]),
        ({"unused": True}, 3, [("m", 1), ("n", 3)]),
        ({"model": "n", "unused": True}, 0, [("m", 1), ("m", 2), ("n", 3)]),
        ({"before": "2000-01-01"}, 0, [("m", 1), ("m", 2), ("n", 3)]),
        ({"before": "2999-01-01"}, 7, []),
    ],
    ids=str,
)
def test_what_is_removed(file, chosen, removed, left):
    assert prune(file, **chosen) == removed
    assert sorted((model.model, model.replies) for model in stored_models(file)) == left


def test_each_reply_is_exported(file):
    rows = list(exported(file))
    assert [row["model"] for row in rows].count("m") == 4
    assert {row["failed"] for row in rows} == {None, "timeout"}
    reply = next(row for row in rows if row["model"] == "n")
    expected = {
        "server": THERE.address,
        "ask": "chat.take_turn",
        "texts": ["说"],
        "thinking": ["hm"],
        "usage": [100, 20, 64],
    }
    assert {name: reply[name] for name in expected} == expected
    assert len({row["key"] for row in rows}) == 7


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({}, "nothing says what to remove; accepted: a model, a server, a date"),
        ({"model": "q"}, "model 'q' is not accepted; accepted: m, n"),
        ({"server": "http://b"}, "server 'http://b' is not accepted; accepted: http://localhost:8080/v1, https://a"),
        ({"before": "yesterday"}, "before 'yesterday' is not accepted; accepted: a date, such as 2026-11-22"),
    ],
)
def test_what_is_not_accepted(file, chosen, message):
    with pytest.raises(ParlourError, match=message):
        prune(file, **chosen)
    assert sum(model.replies for model in stored_models(file)) == 6


# -- the commands ----------------------------------------------------------------------------------------------------


def test_the_list_as_a_table_and_as_json(file, json_of, output_of):
    table = output_of(["cache", "list", str(file)])
    assert "m (replaced)" in " ".join(table.split())
    assert THERE.address in table
    assert [load["replies"] for load in json_of(["cache", "list", str(file), "--json"])] == [2, 1, 3]


def test_prune_and_export_from_the_command_line(file, tmp_path, capsys, output_of):
    assert output_of(["cache", "prune", str(file), "--unused"]) == "3 removed, 4 replies left\n"
    lines = output_of(["cache", "export", str(file)]).splitlines()
    assert cli.run(["cache", "export", str(file), "--out", str(tmp_path / "out.jsonl")]) == 0
    assert (tmp_path / "out.jsonl").read_text("utf-8").splitlines() == lines
    assert [json.loads(line)["model"] for line in lines] == ["m", "n", "n", "n"]
