"""The cache: what its key covers, its three modes, its file, and many threads and processes on one file."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing, suppress
from dataclasses import replace

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.transport.cache import Cache, stored_models
from parlour.policies.llm.transport.request import (
    CacheMiss,
    CallFailed,
    ChatMessage,
    Completion,
    ModelUnavailable,
    PromptTooLong,
    Request,
    ServedModel,
    Usage,
)

REQUEST = Request("tester", (ChatMessage("system", "s"), ChatMessage("user", "说 \ud7ff\n")), 0.3, 40, sample=7)
REPLY = Completion(
    texts=("a ü", "b"),
    usage=Usage(10, 5, 4),
    finish=("stop", "length"),
    thinking=("", "想"),
    served="tester-2026",
    dropped=("seed",),
)


HERE = ServedModel("http://localhost:8080/v1", "tester", {"model_path": "a.gguf"}, 1280, reached=True)


def count(path):
    return sum(stored.replies for stored in stored_models(path))


class Source:
    """Gives a reply, or fails, and counts; it serves a model at an address."""

    def __init__(self, reply: Completion | Exception = REPLY, served: ServedModel = ServedModel()) -> None:  # noqa: B008
        self.reply, self.served, self.asked = reply, served, 0

    @property
    def address(self) -> str:
        return self.served.address

    def served_model(self, model: str) -> ServedModel:
        return self.served

    def complete(self, request: Request) -> Completion:
        self.asked += 1
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


class Closed:
    """A server that is off, at the address of `Source`'s."""

    def __init__(self, address: str = "") -> None:
        self.address = address

    def served_model(self, model: str) -> ServedModel:
        return ServedModel(self.address, model)

    def complete(self, request: Request) -> Completion:
        raise AssertionError("called out")


# -- the key ---------------------------------------------------------------------------------------------------------

SHAPING = {
    "model": "other",
    "temperature": 0.4,
    "max_tokens": 41,
    "n": 2,
    "sample": 8,
    "messages": (*REQUEST.messages, ChatMessage("user", "v")),
    "schema": {"type": "object"},
    "logprobs": True,
    "reasoning_effort": "low",
    "stop": ("\n\n",),
    "extra_body": {"top_k": 20},
}
LABELS = {"schema_name": "V", "ask": "a.b", "seat": "player_1", "inputs": {"kind": "a.b", "inputs": {}}}


def test_every_field_is_either_in_the_key_or_a_label():
    assert {*SHAPING, *LABELS} == set(Request.__dataclass_fields__)
    keys = {REQUEST.key(), *(replace(REQUEST, **{name: value}).key() for name, value in SHAPING.items())}
    assert len(keys) == 1 + len(SHAPING)
    assert {replace(REQUEST, **{name: value}).key() for name, value in LABELS.items()} == {REQUEST.key()}


def test_the_key_stays_the_same_from_version_to_version():
    """A change here makes all recorded caches useless; then the layout's version must change too."""
    assert (
        Request("m", (ChatMessage("user", "é"),), 0, 1).key() == Request("m", (ChatMessage("user", "é"),), 0.0, 1).key()
    )
    assert REQUEST.key()[:16] == "b39fca5cf18d67f5"
    assert len(REQUEST.key()) == 64


# -- the modes -------------------------------------------------------------------------------------------------------


def test_a_second_run_is_free_and_identical(tmp_path):
    source = Source(replace(REPLY, seconds=3.5, retries=2))
    cache = Cache(source, tmp_path / "c.sqlite")
    first, second = cache.complete(REQUEST), cache.complete(REQUEST)
    assert first == replace(REPLY, seconds=3.5, retries=2)
    assert second == replace(REPLY, cached=True)
    assert source.asked == 1
    assert count(tmp_path / "c.sqlite") == 1
    again = Cache(Closed(), tmp_path / "c.sqlite")
    assert again.complete(REQUEST) == second


def test_replay_never_calls_out(tmp_path):
    """The file may be one that cannot be written."""
    path = tmp_path / "c.sqlite"
    Cache(Source(), path).complete(REQUEST)
    assert os.listdir(tmp_path) == ["c.sqlite"], "one file, which can be copied"
    before = path.read_bytes()
    path.chmod(stat.S_IRUSR)
    replayed = Cache(Closed(), path, "replay")
    assert replayed.complete(REQUEST) == replace(REPLY, cached=True)
    with pytest.raises(
        CacheMiss, match=r"holds no reply of 'tester' to a\.b \(sample 8, key [0-9a-f]{12}\); accepted: "
    ) as e:
        replayed.complete(replace(REQUEST, sample=8, ask="a.b"))
    assert len(str(e.value).splitlines()) == 1
    assert count(path) == 1
    assert path.read_bytes() == before


def test_off_reads_and_writes_nothing(tmp_path):
    source = Source()
    cache = Cache(source, tmp_path / "c.sqlite", "off")
    assert [cache.complete(REQUEST) for _ in range(2)] == [REPLY, REPLY]
    assert source.asked == 2
    assert not list(tmp_path.iterdir())


# -- the server ------------------------------------------------------------------------------------------------------


def test_another_model_under_the_same_name_does_not_get_the_replies_of_the_first(tmp_path):
    """The server of `--model tester` was started with another file."""
    there = replace(HERE, told={"model_path": "b.gguf"})
    Cache(Source(served=HERE), tmp_path / "c").complete(REQUEST)
    other = Source(Completion(("other",), Usage(1, 1), ("stop",)), there)
    assert Cache(other, tmp_path / "c").complete(REQUEST).texts == ("other",)
    again = Source(served=HERE)
    assert Cache(again, tmp_path / "c").complete(REQUEST).texts == REPLY.texts
    assert (other.asked, again.asked) == (1, 0)


def test_a_replay_without_the_server_takes_the_model_served_last(tmp_path):
    there = replace(HERE, told={"model_path": "b.gguf"}, context=4096)
    Cache(Source(served=HERE), tmp_path / "c").complete(REQUEST)
    Cache(Source(Completion(("other",), Usage(1, 1), ("stop",)), there), tmp_path / "c").complete(REQUEST)
    for mode in ("replay", "record"):
        cache = Cache(Closed(HERE.address), tmp_path / "c", mode)
        assert cache.complete(REQUEST).texts == ("other",)
        assert cache.served_model("tester").context == 4096


def test_a_replay_of_what_another_server_said_is_refused(tmp_path):
    Cache(Source(served=HERE), tmp_path / "c").complete(REQUEST)
    replayed = Cache(Closed("http://localhost:9090/v1"), tmp_path / "c", "replay")
    text = r"holds no reply of 'tester' at http://localhost:9090/v1; accepted: 'tester' at http://localhost:8080/v1$"
    with pytest.raises(CacheMiss, match=text):
        replayed.complete(REQUEST)


def test_the_context_that_was_told_first_counts(tmp_path):
    """Prompts are cut to it; with another one, nothing that was recorded would be found again."""
    Cache(Source(served=HERE), tmp_path / "c").complete(REQUEST)
    later = Cache(Source(served=replace(HERE, context=9999)), tmp_path / "c")
    assert later.served_model("tester").context == 1280
    unknown = replace(HERE, told={"model_path": "c.gguf"}, context=None)
    Cache(Source(served=unknown), tmp_path / "c").complete(REQUEST)
    known = Cache(Source(served=replace(unknown, context=2048)), tmp_path / "c")
    assert known.served_model("tester").context == 2048


# -- calls that failed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [CallFailed("late", "timeout"), PromptTooLong("long", 1336, 1280), ModelUnavailable("wrong key")]
)
def test_a_replay_fails_where_the_recording_failed_but_what_ends_a_run_is_not_stored(tmp_path, error):
    with pytest.raises(type(error)):
        Cache(Source(error), tmp_path / "c").complete(REQUEST)
    assert count(tmp_path / "c") == 0
    stored = isinstance(error, CallFailed)
    with pytest.raises(type(error) if stored else CacheMiss) as caught:
        Cache(Closed(), tmp_path / "c", "replay").complete(REQUEST)
    if stored:
        assert (str(caught.value), vars(caught.value)) == (str(error), vars(error))


def test_a_recording_tries_again_what_failed_and_the_reply_stays(tmp_path):
    failing = Source(CallFailed("late", "timeout"))
    for source in (failing, failing, Source()):
        with suppress(CallFailed):
            Cache(source, tmp_path / "c").complete(REQUEST)
    assert failing.asked == 2
    assert Cache(failing, tmp_path / "c").complete(REQUEST).texts == REPLY.texts
    assert Cache(Closed(), tmp_path / "c", "replay").complete(REQUEST).texts == REPLY.texts


# -- the file --------------------------------------------------------------------------------------------------------


def test_what_is_in_the_file(tmp_path):
    Cache(Source(replace(REPLY, seconds=9.25, retries=4)), tmp_path / "c.sqlite").complete(REQUEST)
    with closing(sqlite3.connect(tmp_path / "c.sqlite")) as file:
        rows = file.execute("SELECT key, ask, failed, reply FROM replies").fetchall()
    assert [row[:3] for row in rows] == [(REQUEST.key(), "", None)]
    assert json.loads(rows[0][3]) == {
        "texts": ["a ü", "b"],
        "usage": [10, 5, 4],
        "finish": ["stop", "length"],
        "thinking": ["", "想"],
        "served": "tester-2026",
        "logprobs": [],
        "dropped": ["seed"],
    }


def _no_database(path):
    path.write_bytes(b"this is no database at all" * 100)


def _other_version(path):
    Cache(Source(), path)
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 3")


def _other_tables(path):
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE replies (a, b)")
        file.execute("PRAGMA user_version = 1")


def _layout_1(path):
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, model TEXT NOT NULL, reply TEXT NOT NULL)")
        file.execute("PRAGMA user_version = 1")


def _somebody_elses(path):
    with closing(sqlite3.connect(path)) as file:
        file.execute("CREATE TABLE notes (a)")


@pytest.mark.parametrize("mode", ["record", "replay"])
@pytest.mark.parametrize(
    "spoil", [_no_database, _other_version, _other_tables, _layout_1, _somebody_elses, lambda path: path.mkdir()]
)
def test_a_file_that_is_no_cache_is_refused_and_left_alone(tmp_path, spoil, mode):
    path = tmp_path / "c.sqlite"
    spoil(path)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(ParlourError, match=r"c\.sqlite.*; accepted: ") as caught:
        Cache(Source(), path, mode)
    assert len(str(caught.value).splitlines()) == 1
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("stored", ["no JSON", "{}", '{"texts": 1}', "[]"])
def test_a_damaged_reply_is_refused(tmp_path, stored):
    cache = Cache(Source(), tmp_path / "c.sqlite")
    cache.complete(REQUEST)
    with closing(sqlite3.connect(cache.path)) as file, file:
        file.execute("UPDATE replies SET reply = ?", (stored,))
    with pytest.raises(ParlourError, match="holds a damaged reply"):
        cache.complete(REQUEST)


# -- many at once ----------------------------------------------------------------------------------------------------


PROCESS = """
import sys, time
from pathlib import Path
from parlour.policies.llm.transport.cache import Cache, stored_models
from parlour.policies.llm.transport.request import ChatMessage, Completion, Request, Usage
name, path = sys.argv[1:]
class Named:
    def complete(self, request):
        time.sleep(0.02)
        return Completion((f"{request.sample} by {name}",), Usage(1, 1), ("stop",))
print("ready", flush=True)
sys.stdin.readline()
cache = Cache(Named(), path)
samples = [int(name[1:]), *((k * 7) % 30 for k in range(30))]
told = {}
for k in samples:
    told[k] = cache.complete(Request("m", (ChatMessage("user", "u"),), 0, 1, sample=k)).texts[0]
    Path(f"{path}.{name}").touch()
    while len(list(Path(path).parent.glob("*.p?"))) < 4:  # nobody goes on before each has stored its first
        time.sleep(0.001)
print("|".join(told[k] for k in sorted(told)))
"""


@pytest.mark.slow
def test_several_processes_on_one_file_agree(tmp_path):
    """They start at the same moment on a file that does not exist, and ask for the same 30 things, each first for another."""
    path = str(tmp_path / "c.sqlite")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = [subprocess.Popen([sys.executable, "-c", PROCESS, f"p{k}", path], **pipes) for k in range(4)]
    try:
        assert [process.stdout.readline() for process in running] == ["ready\n"] * 4
        for process in running:
            process.stdin.write("go\n")
            process.stdin.flush()
        ends = [process.communicate(timeout=60) for process in running]
    finally:
        for process in running:
            process.kill()
            process.wait()
    assert [error for _, error in ends] == [""] * 4
    outputs = {out for out, _ in ends}
    assert len(outputs) == 1
    replies = outputs.pop().strip().split("|")
    assert [reply.split()[0] for reply in replies] == [str(k) for k in range(30)]
    assert len({reply.split()[2] for reply in replies}) == 4, "each stored its first reply at least"
    assert count(tmp_path / "c.sqlite") == 30
