"""Transcripts: a game that was written down is played again, byte for byte (docs/architecture.md, "Replay").

Header and moves are enough: no random generator is asked. Files are written as it happens, so that a killed run leaves
one that can be read; what has been cut off is missing and nothing else; what has been tampered with is refused.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import given, strategies as st
from parlour.envs import registry, replay
from parlour.envs.core import NATURE, ParlourError
from parlour.envs.language.speech import ACTS
from parlour.envs.language.transcript_lines import FORMAT
from parlour.wrappers import Recorder, TextActions

WORDS = [
    "I suspect player_1!",
    "Hm\n# What you may do now\n",
    "我是好人",
    "I propose player_1 and player_2",
    "\ud800 \u2028",
]


def record(env: Any, path: Path, seed: int, observations: Callable[[Any], Any] | None = None) -> list[Any]:
    """Play a game of random moves and words into a transcript; returns what was observed before each move."""
    base = env.unwrapped
    recorder = Recorder(TextActions(env, on_bad="default"), path, header={"players": ["random"] * base.game.seats})
    recorder.reset(seed=seed)
    rng = np.random.default_rng(seed)
    seen = []
    while base.outcome is None:
        if observations:
            seen.append(observations(base))
        legal = base.infos[base.agent_selection]["legal"]
        speaks = base.game.legal(base.state_now)[0].kind in ACTS
        words = rng.random() < (0.4 if speaks else 0.1)
        recorder.step(WORDS[int(rng.integers(len(WORDS)))] if words else int(rng.choice(legal)))
    if observations:
        seen.append(observations(base))
    return seen


def everybody(env: Any) -> dict[str, Any]:
    """What every agent observes."""
    return {agent: env.observe(agent) for agent in env.possible_agents}


def check_replay(env: Any, observation: str, path: Path) -> None:
    """Record a game, play it again from its file, and compare what everybody observes."""
    base = env.unwrapped
    seen = record(env, path, seed=2, observations=everybody)
    opened = base.spec.options.from_plain(base.game.config).opens()
    transcript = replay.Transcript.read(path, base.spec, folders=[] if opened is None else [opened])
    steps = list(replay.reenact(transcript, observation))
    assert len(steps) == len(seen)
    for step, original in zip(steps, seen, strict=True):
        assert data_equivalence(dict(step.observations), original, exact=True)
    assert [step.move for step in steps[:-1]] == [e.move for e in transcript.entries if e.move and e.seat != NATURE]
    assert steps[-1].agent == ""
    assert steps[-1].move is None
    assert transcript.outcome == env.outcome
    assert transcript.moves == tuple(env.moves)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """The transcript of one whole game of Avalon by the reference rules, with words, faults and a drawn team."""
    path = tmp_path_factory.mktemp("written") / "game.jsonl"
    for seed in range(20):
        record(registry["avalon_v0"].raw_env(num_players=5, rules="reference", info="full"), path, seed)
        text = path.read_text(encoding="utf-8")
        if '["draw"' in text and '"fault"' in text and '"words"' in text:
            return path
        path.unlink()
    raise AssertionError("no game among the seeds has all of it")


# -- playing again ---------------------------------------------------------------------------------------------


def test_a_replay_observes_what_was_observed(small_table, tmp_path):
    """With words and faults in the game."""
    check_replay(small_table.raw_env(observation="both", info="full"), "both", tmp_path / "game.jsonl")


def test_a_transcript_says_who_saw_what_and_how_it_came_in(written):
    lines = [json.loads(line) for line in written.read_text(encoding="utf-8").split("\n")[:-1]]
    header, entries, end = lines[0], lines[1:-1], lines[-1]
    assert header["parlour"] == FORMAT
    assert header["game"] == "avalon_v0"
    assert header["config"]["rules"] == "reference"
    assert header["players"] == ["random"] * 5
    assert set(end["outcome"]) == {"returns", "winner", "reason"}
    assert [entry["n"] for entry in entries] == list(range(len(entries)))
    for entry in entries:
        kind = entry["move"][0] if "move" in entry else None
        if kind in ("vote", "card", "guess"):
            assert entry["to"] == [entry["seat"]]
        elif kind in ("propose", "draw", *ACTS):
            assert "to" not in entry
        elif kind == "deal":
            assert (entry["seat"], entry["to"]) == ("nature", [])
        else:
            assert entry["fault"] in ("unreadable", "ambiguous", "illegal")
            assert entry["to"] == [entry["seat"]]
            assert entry["raw"] in WORDS
        assert ("say" in entry) == (kind is not None and entry["seat"] != "nature")
    assert any(entry.get("raw") == WORDS[4] for entry in entries)


# -- files -----------------------------------------------------------------------------------------------------


def test_a_file_that_exists_is_not_replaced_unasked(tmp_path):
    path = tmp_path / "game.jsonl"
    path.write_text("precious\n")
    with pytest.raises(ParlourError, match="exists; accepted: a new file, or overwrite=True"):
        Recorder(registry["template_v0"].raw_env(), path).reset(seed=1)
    assert path.read_text() == "precious\n"
    env = Recorder(registry["template_v0"].raw_env(), path, overwrite=True)
    env.reset(seed=1)
    env.close()
    assert replay.Transcript.read(path).header["game"] == "template_v0"


# -- what was cut off ------------------------------------------------------------------------------------------


@given(st.floats(0, 1))
def test_a_file_that_was_cut_anywhere_is_read_up_to_its_last_whole_line(written, tmp_path_factory, where):
    whole = written.read_bytes()
    cut = int(where * len(whole))
    check_cut(whole, cut, tmp_path_factory.mktemp("cut") / "cut.jsonl")


def test_a_file_that_was_cut_within_a_character_or_beside_a_line_break(written, tmp_path):
    whole = written.read_bytes()
    breaks = [k for k, byte in enumerate(whole) if byte == ord("\n")]
    chinese = whole.index("我".encode())
    for cut in (0, 1, breaks[0], breaks[0] + 1, breaks[3], breaks[3] + 1, breaks[-1], chinese + 1, chinese + 2):
        check_cut(whole, cut, tmp_path / "cut.jsonl")


def check_cut(whole: bytes, cut: int, path: Path) -> None:
    path.write_bytes(whole[:cut])
    complete = whole[:cut].count(b"\n")
    if complete == 0:
        with pytest.raises(ParlourError, match="is not a transcript"):
            replay.Transcript.read(path)
        return
    path.write_bytes(whole)
    full = replay.Transcript.read(path)
    path.write_bytes(whole[:cut])
    transcript = replay.Transcript.read(path)
    assert transcript.entries == full.entries[: complete - 1]
    assert (transcript.outcome is None) == (cut < len(whole))
    states = list(replay.states(transcript.game(), transcript.moves))
    assert len(states) == len(transcript.moves) + 1
    steps, original = list(replay.reenact(transcript)), list(replay.reenact(full))
    seats_moves = sum(entry.move is not None and entry.seat >= 0 for entry in transcript.entries)
    assert len(steps) in (seats_moves, seats_moves + 1)
    for step, expected in zip(steps, original, strict=False):
        assert data_equivalence(dict(step.observations), dict(expected.observations), exact=True)


KILLED = """
import sys
from parlour.envs import registry
from parlour.wrappers import Recorder
env = Recorder(registry["avalon_v0"].raw_env(num_players=5, info="full"), sys.argv[1])
env.reset(seed=1)
for turn in range(10**9):
    env.step(int(env.infos[env.agent_selection]["legal"][0]))
    if turn == 30:
        print("thirty", flush=True)
        sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_a_killed_run_leaves_a_readable_file(tmp_path):
    """All moves up to the moment of death are in the file: nothing waits in a buffer."""
    path = tmp_path / "killed.jsonl"
    run = [sys.executable, "-c", KILLED, str(path)]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "thirty\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    transcript = replay.Transcript.read(path)
    assert len(transcript.moves) == 32  # the deal and 31 moves
    assert transcript.outcome is None
    assert len(list(replay.reenact(transcript))) == 32


# -- what was tampered with ------------------------------------------------------------------------------------


def changed(written: Path, path: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    lines = [json.loads(line) for line in written.read_text(encoding="utf-8").split("\n")[:-1]]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def first(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(line for line in lines if line.get("move", [""])[0] == kind)


TAMPERED: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "returns": lambda lines: lines[-1]["outcome"].update(returns=[-r for r in lines[-1]["outcome"]["returns"]]),
    "winner": lambda lines: lines[-1]["outcome"].update(winner="nobody"),
    "reason": lambda lines: lines[-1]["outcome"].update(reason="boredom"),
    "outcome before the end": lambda lines: lines.__delitem__(slice(-8, -1)),
    "a move left out": lambda lines: lines.remove(first(lines, "propose")),
    "a move twice": lambda lines: lines.insert(5, first(lines, "propose")),
    "another kind": lambda lines: first(lines, "vote").update(move=["card", [1]]),
    "a seat that is not there": lambda lines: first(lines, "propose").update(move=["propose", [0, 7]]),
    "a deal of other roles": lambda lines: first(lines, "deal").update(move=["deal", [0, 0, 0, 0, 0, 0]]),
    "an empty deal": lambda lines: first(lines, "deal").update(move=["deal", []]),
    "a drawn team of one": lambda lines: first(lines, "draw").update(move=["draw", [1]]),
    "another table": lambda lines: lines[0]["config"].update(num_players=6, roles=None),
    "after the end": lambda lines: lines.insert(-1, {"n": 0, "seat": "player_0", "move": ["vote", [1]]}),
    "another player": lambda lines: first(lines, "vote").update(seat="player_3"),
    "a player as nature": lambda lines: first(lines, "deal").update(seat="player_0"),
    "forfeited without a forfeit": lambda lines: lines[-1]["outcome"].update(reason="forfeit", winner="evil"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_transcript_that_does_not_fit_the_rules_is_refused_in_one_line(how, written, tmp_path):
    path = changed(written, tmp_path / "tampered.jsonl", TAMPERED[how])
    transcript = replay.Transcript.read(path)
    with pytest.raises(ParlourError, match=r"^move \d+: |outcome|seat|player") as caught:
        list(replay.reenact(transcript))
    assert "\n" not in str(caught.value)


def test_a_forfeited_game_replays_up_to_the_forfeit(tmp_path):
    path = tmp_path / "forfeit.jsonl"
    env = Recorder(TextActions(registry["template_v0"].raw_env(), on_bad="forfeit"), path)
    env.reset(seed=1)
    env.step("It is heads.")
    env.step("I do not know.")
    transcript = replay.Transcript.read(path)
    assert transcript.outcome is not None
    assert transcript.outcome.reason == "forfeit"
    assert len(list(replay.reenact(transcript))) == 2


# -- files that are none ---------------------------------------------------------------------------------------

HEADER = '{"parlour": 1, "game": "template_v0", "config": {}}\n'
TOSS = '{"n": 0, "seat": "nature", "move": ["toss", [0]], "to": ["player_0"]}\n'
FOREIGN = {
    "empty": "",
    "prose": "Once upon a time\nthere was a game.\n",
    "a list": "[1, 2]\n",
    "other JSON": '{"a": 1}\n',
    "another format": HEADER.replace("1,", "2,"),
    "no game": '{"parlour": 1, "config": {}}\n',
    "no config": '{"parlour": 1, "game": "template_v0"}\n',
    "a config that is none": '{"parlour": 1, "game": "template_v0", "config": 3}\n',
    "a game that is none": '{"parlour": 1, "game": ["template_v0"], "config": {}}\n',
    "a broken line": HEADER + '{"n": 0, "seat":\n' + TOSS,
    "a line that is not an object": HEADER + "[]\n",
    "a line without move": HEADER + '{"n": 0, "seat": "player_0"}\n',
    "no seat": HEADER + '{"n": 0, "move": ["toss", [0]]}\n',
    "a seat without number": HEADER + TOSS.replace('"nature"', '"moderator"'),
    "a seat that is a number": HEADER + TOSS.replace('"nature"', "0"),
    "a move that is no pair": HEADER + TOSS.replace('["toss", [0]]', '["toss"]'),
    "arguments that are words": HEADER + TOSS.replace("[0]", '["heads"]'),
    "arguments that are no whole numbers": HEADER + TOSS.replace("[0]", "[0.5]"),
    "arguments beyond all numbers": HEADER + TOSS.replace("[0]", "[1e999]"),
    "seers that are numbers": HEADER + TOSS.replace('["player_0"]', "[0]"),
    "an outcome that is none": HEADER + TOSS + '{"outcome": 1}\n',
    "an outcome without returns": HEADER + TOSS + '{"outcome": {"winner": "keeper"}}\n',
    "two headers": HEADER + HEADER,
    "very deep": "[" * 100_000 + "\n",
    "very deep within": HEADER + '{"seat": ' * 100_000 + "\n",
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_file_that_is_no_transcript_is_refused_in_one_clear_line(what, tmp_path):
    path = tmp_path / "foreign.jsonl"
    path.write_text(FOREIGN[what])
    with pytest.raises(ParlourError) as caught:
        replay.Transcript.read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_bytes_that_are_no_text_and_files_that_are_not_there_are_refused(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00\x01\n\x80\n")
    for path in (tmp_path / "bytes", tmp_path / "missing", tmp_path):
        with pytest.raises(ParlourError) as caught:
            replay.Transcript.read(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"game": "chess_v6", "config": {}}, "game 'chess_v6' is not accepted; accepted: avalon_v0"),
        ({"game": "template_v0", "config": {"colour": 1}}, "option of template_v0 'colour' is not accepted"),
        ({"game": "avalon_v0", "config": {"num_players": "six"}}, "num_players 'six' is not accepted"),
        ({"game": "avalon_v0", "config": {"rules": {"a": 1}}}, "rules .* is not accepted"),
    ],
)
def test_a_header_of_another_world_is_refused(header, message, tmp_path):
    path = tmp_path / "header.jsonl"
    path.write_text(json.dumps({"parlour": 1, **header}) + "\n")
    with pytest.raises(ParlourError, match=message):
        replay.Transcript.read(path).game()


def test_blank_lines_and_unknown_fields_do_no_harm(written, tmp_path):
    """What a later version, or a person with an editor, may add."""
    path = tmp_path / "edited.jsonl"
    lines = written.read_text(encoding="utf-8").replace("\n", "\n\n").replace('{"n": 3,', '{"colour": "red", "n": 3,')
    path.write_text("\n" + lines, encoding="utf-8")
    assert replay.Transcript.read(path).moves == replay.Transcript.read(written).moves
