"""Files that nobody answers for: each is read, or refused in one line with exit code 2, whatever it holds.

What JSON may be: RFC 8259, with the limits of `parlour.envs.common.json_values`. Where the numbers of a test come from stands beside it.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlour.envs import make
from parlour.envs.common.json_values import DEEPEST, DIGITS, json_value
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.cases.case import dump
from parlour.envs.murder_mystery.generate import from_seed
from parlour.policies.llm.transport.answers import read_reply
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.request import UNKNOWN_USAGE, Completion
from parlour.policies.random import RandomPolicy
from parlour.policies.trained import TrainedSeat
from parlour.training.cli import run
from parlour.training.cli.options import key_values
from parlour.wrappers import Recorder

TRAPS = count()
"""A module is imported once in a process, so that each trap has a name of its own."""


@pytest.fixture
def game(tmp_path, output_of):
    """A function: the file of a recorded game of the template, with its lines as a test changed them."""
    output_of(["play", "template_v0", "--seed", "1", "--out", str(tmp_path)])
    path = tmp_path / "template_v0-1.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    def written(change: Any = lambda lines: None) -> str:
        change(lines)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return str(path)

    return written


# -- JSON ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "[-Infinity]",
        "[1e999]",
        "1" * (DIGITS + 1),
        "9" * 5000,  # beyond what Python turns into a number at all
        "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1),
        '{"a":' * 100_000,
        "",
        "{} {}",
        b"\xff{}",
        b'{"a": "\xed\xa0\x80"}',  # half a character
    ],
    ids=lambda text: repr(text[:12]),
)
def test_no_json_is_refused_in_one_line(text):
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z"):
        json_value(text)


def test_json_at_the_limits_is_read():
    assert json_value("1" * DIGITS) == int("1" * DIGITS)
    assert float(json_value("9" * DIGITS)) == 1e300
    value = json_value("[" * DEEPEST + "]" * DEEPEST)
    for _ in range(DEEPEST - 1):
        (value,) = value
    assert value == []
    assert json_value(b'\xef\xbb\xbf{"a": 1, "a": 2}') == {"a": 2}
    assert json_value('{"a": {"b": 1}}', pairs=list) == [("a", [("b", 1)])]
    many = [[]] * 1000  # wide, not deep
    assert json_value(json.dumps(many)) == many


# -- transcripts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [10**400, "nan", True, None, [1]], ids=lambda number: str(number)[:8])
def test_returns_that_are_no_numbers_are_refused(game, error_of, number):
    file = game(lambda lines: lines[-1]["outcome"].update(returns=[number, 1]))
    assert "line" in error_of(["replay", file])


@pytest.mark.parametrize(
    "calls",
    [
        5,
        "chat",
        [5],
        [{"ask": ["chat"], "reply": "?"}],
        [{"ask": "chat", "reply": "?", "usage": {"prompt": "1"}}],
        [{"ask": "chat", "reply": "?", "usage": {"prompt": -1}}],
        [{"ask": "chat", "reply": "?", "cost": "free"}],
        [{"ask": "chat", "reply": "?", "cut": None}],
        [{"ask": "chat", "reply": "?", "prompt": [{"role": "user"}]}],
        [{"ask": "chat", "reply": "?", "dropped": 3}],
    ],
    ids=str,
)
def test_calls_of_another_form_are_refused(game, error_of, calls):
    line = game(lambda lines: lines[2].update(calls=calls))
    assert "calls" in error_of(["replay", line])
    last = game(lambda lines: (lines[2].pop("calls"), lines[-1].update(seat="player_0", calls=calls)))
    assert "calls" in error_of(["replay", last])


@pytest.mark.parametrize(
    "models", [3, {"player_0": 3}, {"player_0": {"server": "x"}}, {"player_0": {"model": 3}}], ids=str
)
def test_models_of_another_form_are_refused(game, error_of, models):
    assert "models" in error_of(["replay", game(lambda lines: lines[0].update(models=models))])


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("mediated_qa_v0", "service", "x"),
        ("murder_mystery_v0", "case", "x" * 300),
        ("murder_mystery_v0", "case", "seed:" + "9" * 5000),
        ("murder_mystery_v0", "case", "a\0b"),
        ("avalon_v0", "num_players", [5]),
        ("avalon_v0", "rules", {"a": 1}),
        ("mediated_qa_v0", "corpus_seed", "9" * 5000),
    ],
)
def test_options_of_games_are_refused_in_one_line(tmp_path, error_of, name, option, value):
    text = value if isinstance(value, str) else json.dumps(value)
    assert option in error_of(["play", name, "--set", f"{option}={text}"])
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"parlour": 1, "game": name, "config": {option: value}}) + "\n", encoding="utf-8")
    error_of(["replay", str(path)])


def test_words_longer_than_a_table_hears_are_refused(game, error_of):
    """4,000 characters of a seat are kept (`parlour.envs.language.text.MAX_WORDS`), so that no true transcript has more."""

    def said(letters: int) -> Any:
        return lambda lines: next(line for line in lines if line.get("move", [""])[0] == "promise").update(
            words="a" * letters
        )

    assert "4000" in error_of(["replay", game(said(5_000_000))])
    assert run(["replay", game(said(4000))]) == 0


def test_a_forfeit_names_the_outcome_of_that_seat_alone(tmp_path, error_of, output_of):
    """A leader of Avalon has to name a team: "?" is none. It gets -1, the other four nothing, and nobody wins."""
    recorder = Recorder(make("avalon_v0", num_players=5, action="text", on_bad="forfeit"), tmp_path / "x.jsonl")
    recorder.reset(seed=1)
    while recorder.unwrapped.outcome is None:
        recorder.step("?")
    recorder.close()
    output_of(["replay", str(tmp_path / "x.jsonl")])
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text("utf-8").splitlines()]
    assert lines[-1]["outcome"]["reason"] == "forfeit"
    for change in ({"winner": "evil"}, {"returns": [5.0] * 5}, {"returns": [0.0] * 5}, {"returns": []}):
        edited = [*lines[:-1], {"outcome": lines[-1]["outcome"] | change}]
        (tmp_path / "y.jsonl").write_text("".join(json.dumps(line) + "\n" for line in edited), encoding="utf-8")
        assert "outcome" in error_of(["replay", str(tmp_path / "y.jsonl")])


# -- what a file may have opened -------------------------------------------------------------------------------


@pytest.fixture
def mystery(tmp_path):
    """A transcript of a game with a case of its own, and the folder of the case."""
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "case.json").write_text(dump(from_seed.generate(3, "en", 4, 1, None)), encoding="utf-8")
    env = make("murder_mystery_v0", case=str(folder / "case.json"), rounds=1)
    recorder = Recorder(env, tmp_path / "game.jsonl")
    recorder.reset(seed=1)
    recorder.close()
    return str(tmp_path / "game.jsonl"), folder


def test_a_transcript_opens_no_path_but_in_folders_that_are_named(mystery, tmp_path, error_of):
    file, folder = mystery
    assert "--cases" in error_of(["replay", file])
    (tmp_path / "other").mkdir()
    assert "--cases" in error_of(["replay", file, "--cases", str(tmp_path / "other")])
    assert run(["replay", file, "--cases", str(tmp_path / "other"), "--cases", str(folder)]) == 0


def test_a_way_out_of_a_named_folder_is_not_opened(mystery, tmp_path, error_of):
    file, folder = mystery
    other = tmp_path / "other"
    other.mkdir()
    (other / "link.json").symlink_to(folder / "case.json")
    for way in (other / ".." / "cases" / "case.json", other / "link.json"):
        lines = Path(file).read_text("utf-8").replace(str(folder / "case.json"), str(way))
        (tmp_path / "way.jsonl").write_text(lines, encoding="utf-8")
        assert "--cases" in error_of(["replay", str(tmp_path / "way.jsonl"), "--cases", str(other)])


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module in the current directory, its name and a function that tells whether it was imported."""
    name = f"trap{next(TRAPS)}"
    (tmp_path / f"{name}.py").write_text(
        "import pathlib\npathlib.Path(__file__).with_name('sprung').touch()\nfrom parlour.envs._template import GAME\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return f"{name}:GAME", (tmp_path / "sprung").exists


def test_a_transcript_has_no_module_imported(game, trap, tmp_path, error_of):
    name, imported = trap
    file = game(lambda lines: lines[0].update(game=name))
    assert name in error_of(["replay", file])
    assert name in error_of(["metrics", str(tmp_path)])
    assert not imported()
    assert run(["replay", file, "--game", name]) == 0
    assert imported()


def test_a_policy_file_has_no_module_imported(trap, tmp_path):
    layers = [(np.zeros((2, 3), np.float32), np.zeros(2, np.float32))]
    name, imported = trap
    TrainedSeat(name, {}, layers, features="own").save(tmp_path / "policy.npz")
    with pytest.raises(ParlourError, match=name):
        TrainedSeat.load(tmp_path / "policy.npz").reads_prose  # noqa: B018
    assert not imported()


# -- policies --------------------------------------------------------------------------------------------------


@pytest.fixture
def policy(tmp_path):
    """A trained seat of the template in a file, and what the file holds."""
    env = make("template_v0", observation="features")
    env.reset(seed=0)
    features, actions = env.observe("player_0")["observation"].size, len(env.unwrapped.game.catalogue)
    layers = [
        (np.ones((4, features), np.float32), np.zeros(4, np.float32)),
        (np.ones((actions, 4), np.float32), np.zeros(actions, np.float32)),
    ]
    TrainedSeat("template_v0", env.unwrapped.game.config, layers).save(tmp_path / "policy.npz")
    with np.load(tmp_path / "policy.npz") as stored:
        arrays = dict(stored)
    return tmp_path / "policy.npz", arrays


@pytest.fixture
def played(error_of):
    """Plays by the policy in a file; the message with which that is refused."""
    return lambda path: error_of(["play", "template_v0", "--policy", str(path)])


def test_a_truncated_policy_is_refused(policy, played):
    path, _ = policy
    whole = path.read_bytes()
    for end in (0, 1, 30, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        assert "policy.npz" in played(path)


@pytest.mark.parametrize(
    "change",
    [
        {"w0": np.ones((4, 99), np.float32)},
        {"b0": np.zeros(7, np.float32)},
        {"w1": np.ones((3, 9), np.float32)},
        {"w0": np.array(3.0, np.float32)},
        {"w0": np.full((4, 4), np.nan, np.float32)},
        {"b1": np.full(9, np.inf, np.float32)},
        {"w0": np.array(["a"])},
        {"parlour_seat": np.array("[]")},
        {"parlour_seat": np.array("NaN")},
        {"parlour_seat": np.array('{"game": 3, "config": {}, "layers": 2}')},
        {"parlour_seat": np.array('{"game": "template_v0", "config": [1], "layers": 2}')},
        {"parlour_seat": np.array('{"game": "template_v0", "config": {}, "layers": 0}')},
        {"parlour_seat": np.array('{"game": "template_v0", "config": {}, "layers": 1' + "0" * 50 + "}")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_policy_of_other_shapes_is_refused(policy, played, change):
    path, arrays = policy
    np.savez(path, **(arrays | change))
    played(path)


def test_arrays_larger_than_their_files_are_not_made_room_for(policy, played):
    """A header that tells of 2**44 numbers: 64 TiB, in 128 bytes."""
    path, arrays = policy
    np.savez(path, **arrays)
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": (2**22, 2**22)})
    with zipfile.ZipFile(path) as stored:
        parts = {name: stored.read(name) for name in stored.namelist()}
    with zipfile.ZipFile(path, "w") as stored:
        for name, content in (parts | {"w0.npy": head.getvalue()}).items():
            stored.writestr(name, content)
    played(path)


@pytest.mark.parametrize(
    "stored",
    ["[]", "{}", '{"policy": "random", "settings": [1]}', '{"policy": "random", "settings": {"x": 1}}', "[" * 5000],
)
def test_a_saved_policy_of_another_shape_is_refused(tmp_path, stored):
    path = tmp_path / "policy.json"
    path.write_text(stored)
    with pytest.raises(ParlourError, match="accepted"):
        RandomPolicy.load(path)


# -- metrics ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "of", [3, {}, {"own": "x", "decisions": 1}, {"own": -1, "decisions": 1}, {"own": 1, "decisions": 10**30}], ids=str
)
def test_metrics_refuse_decisions_that_are_none(tmp_path, error_of, output_of, of):
    output_of(["play", "avalon_v0", "--players", "5", "--seed", "3", "--out", str(tmp_path)])
    path = tmp_path / "avalon_v0-1.jsonl"
    *lines, end = path.read_text("utf-8").splitlines()
    path.write_text(
        "\n".join([*lines, json.dumps(json.loads(end) | {"players": {"player_0": of}})]) + "\n", encoding="utf-8"
    )
    assert "player_0" in error_of(["metrics", str(tmp_path)])


# -- found by scripts/harden -----------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", ["1e999", "-1e999", "NaN", "[]", '"x"'])
def test_an_answer_with_tokens_that_are_no_number_is_an_answer_with_unknown_tokens(tokens):
    text = f'{{"choices": [{{"message": {{"content": "x"}}}}], "usage": {{"prompt_tokens": {tokens}}}}}'
    reply = read_reply(text)
    assert isinstance(reply, Completion)
    assert (reply.texts, reply.usage, reply.dropped) == (("x",), UNKNOWN_USAGE, ("usage",))


LONG = "x" * 9_000


def a_policy_of_a_long_game(folder: Path) -> None:
    layers = [(np.zeros((2, 3), np.float32), np.zeros(2, np.float32))]
    TrainedSeat(LONG, {}, layers, features="own").save(folder / "policy.npz")
    TrainedSeat.load_for(folder / "policy.npz", "template_v0", {})


def prices_of_a_long_name(folder: Path) -> None:
    (folder / "x.json").write_text(json.dumps({"models": {LONG: [LONG, 1]}}))
    Prices.load(folder / "x.json")


LONG_VALUES = {
    "a policy": a_policy_of_a_long_game,
    "prices": prices_of_a_long_name,
    "a digest": lambda _: make("murder_mystery_v0", case="train_en", case_sha256=LONG),
    "a case that no file can be called": lambda _: make("murder_mystery_v0", case=LONG),
    "an option without a value": lambda _: key_values([LONG]),
}


@pytest.mark.parametrize("what", LONG_VALUES)
def test_long_values_are_quoted_in_short(what, tmp_path):
    """Of 9,000 characters, 500 each."""
    with pytest.raises(ParlourError) as refusal:
        LONG_VALUES[what](tmp_path)
    assert len(str(refusal.value)) < 2000
