"""A full disk, a folder that is gone, a file in the way: one line, and what was there is still there; parts of killed writers go."""

from __future__ import annotations

import errno
import io
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest
from parlour.envs.common.writing import CannotWrite, LineFile
from parlour.policies.array_files import write_arrays
from parlour.policies.files import atomic_write, replacing
from parlour.training.cli import run
from parlour.training.play import rollout
from parlour.training.play.failures import Failures
from parlour.training.runs.folder import LOCK, JsonlStore
from parlour.training.runs.run import Run
from parlour.wrappers import Recorder

ACCEPTED = "accepted: a folder that is there, with room, and may be written to"


@contextmanager
def full_at(size: int) -> Iterator[None]:
    """Inside, no file of this process grows beyond so many bytes (RLIMIT_FSIZE, setrlimit(2)); SIGXFSZ is ignored, as Python does.

    Only inside: pytest itself writes to files.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    former = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, former)


# -- whole files -------------------------------------------------------------------------------------------------


def test_a_file_that_finds_no_room_is_left_as_it_was_and_one_line_says_so(tmp_path):
    path = tmp_path / "report.md"
    atomic_write(path, "before")
    with full_at(100), pytest.raises(CannotWrite) as refused:
        atomic_write(path, "x" * 101)
    assert str(refused.value) == f"{str(path)!r} cannot be written: File too large; {ACCEPTED}"
    arrays = tmp_path / "policy.npz"
    write_arrays(arrays, "kind", {}, {"w": np.zeros(3)})
    before = arrays.read_bytes()
    with full_at(2000), pytest.raises(CannotWrite):
        write_arrays(arrays, "kind", {}, {"w": np.zeros(3000)})
    assert sorted(file.name for file in tmp_path.iterdir()) == ["policy.npz", "report.md"]
    assert (path.read_text(), arrays.read_bytes()) == ("before", before)


def test_a_folder_that_cannot_be_made_is_told_by_the_file(tmp_path):
    (tmp_path / "file").write_text("mine")
    path = tmp_path / "file" / "report.md"
    with pytest.raises(CannotWrite) as refused:
        atomic_write(path, "x")
    assert str(refused.value) == f"{str(path)!r} cannot be written: a file stands where its folder would; {ACCEPTED}"
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    def refuse(*_given, **_more):
        raise PermissionError(errno.EACCES, "Permission denied", str(_given[0]))

    monkeypatch.setattr(io, "open", refuse)  # the process may be root's, whom no mode of a folder stops
    with pytest.raises(CannotWrite, match=r"report\.md' cannot be written: Permission denied; accepted"):
        atomic_write(tmp_path / "report.md", "x")


def test_two_threads_that_write_the_same_file_do_not_meet(tmp_path):
    path, barrier, wrong = tmp_path / "file", Barrier(2), []

    def write(content):
        try:
            with replacing(path) as new:
                barrier.wait()
                new.write_text(content)
                barrier.wait()
        except BaseException as error:
            wrong.append(error)

    threads = [Thread(target=write, args=(content,)) for content in ("a" * 10, "b" * 10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert path.read_text() in ("a" * 10, "b" * 10)


def test_a_device_is_written_to_and_a_link_is_followed(tmp_path):
    before = os.stat("/dev/null")
    atomic_write("/dev/null", "x")
    assert os.path.samestat(before, os.stat("/dev/null"))
    (tmp_path / "real").write_text("before")
    (tmp_path / "link").symlink_to("real")
    atomic_write(tmp_path / "link", "x")
    assert (tmp_path / "real").read_text() == "x"
    assert (tmp_path / "link").is_symlink()


# -- files that grow ---------------------------------------------------------------------------------------------


def test_a_line_that_finds_no_room_is_refused_and_the_lines_before_it_are_found_again(tmp_path):
    with JsonlStore(tmp_path / "counts.jsonl", int, "count") as store:
        store.append(10)
        with full_at(5), pytest.raises(CannotWrite, match=r"counts.jsonl' cannot be written: File too large"):
            store.append(2000)
    assert (tmp_path / "counts.jsonl").read_bytes() == b"10\n20"  # as far as there was room
    with JsonlStore(tmp_path / "counts.jsonl", int, "count") as store:
        assert store.found == [10]
        store.append(2000)
    assert (tmp_path / "counts.jsonl").read_bytes() == b"10\n2000\n"


def test_a_line_of_a_file_that_was_removed_is_refused(tmp_path):
    file = LineFile(tmp_path / "run" / "lines")
    file.write("one\n")
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(CannotWrite, match="it was removed while it was written"):
        file.write("two\n")
    file.close()


@pytest.mark.parametrize("on_failure", ["rule", "skip-game"])
def test_a_transcript_that_finds_no_room_ends_the_run_whatever_follows_failing_players(tmp_path, on_failure):
    from parlour.policies import RandomPolicy

    env = Recorder(rollout.table("template_v0"), tmp_path / "game.jsonl")
    with full_at(200), pytest.raises(CannotWrite, match=r"game.jsonl' cannot be written"):
        rollout.play(env, [RandomPolicy(), RandomPolicy()], 0, failures=Failures(on_failure=on_failure))
    env.close()


# -- directories of runs -----------------------------------------------------------------------------------------


def test_parts_of_killed_writers_are_removed_from_a_directory_that_is_held_and_others_are_left(tmp_path):
    parts = [".12.0123abcd.part-a.npz", ".99.part-b.csv", "snapshots/.7.00000000.part-s001.npz"]
    others = [".hidden", "a.part-b", "other/.7.00000000.part-x", f"other/{LOCK}", ".x.part-a"]
    for name in (*parts, *others):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    with Run(tmp_path).opened():
        files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {*others, LOCK}  # what is locked on its own belongs to another run


# -- the command line --------------------------------------------------------------------------------------------


def refused(capsys, *words, room=resource.RLIM_INFINITY):
    with full_at(room):
        assert run([str(word) for word in words]) == 2
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if "\u2501" not in line]  # bars of progress
    assert len(lines) == 1, err
    assert lines[0].startswith("parlour: ")
    assert "Traceback" not in out
    return lines[0]


def test_commands_that_find_no_room_say_so_in_one_line(tmp_path, capsys):
    game = ("play", "avalon_v0", "--json", "--out", tmp_path / "games")
    assert "avalon_v0-1.jsonl' cannot be written: File too large" in refused(capsys, *game, room=1000)
    for words, said in (
        (
            ("new", "case", "--out", tmp_path / "case.json"),
            "case.json' cannot be written: File too",
        ),
        (("new", "mygame", "--out", tmp_path), "cannot be written"),
        (("evaluate", "avalon_v0", "--games", 20, "--table", tmp_path / "t.csv"), "t.csv' cannot be written"),
    ):
        assert said in refused(capsys, *words, room=300)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games"]  # no part of a game's package either


def test_a_case_is_written_as_a_whole_and_an_own_game_in_one_piece(tmp_path, monkeypatch):
    from parlour.training.cli.new import new_package

    def fail(*_given):
        raise ZeroDivisionError

    monkeypatch.setattr("parlour.training.cli.new._renamed", fail)
    with pytest.raises(ZeroDivisionError):
        new_package("game", "mygame", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux")
@pytest.mark.parametrize("buffered", [True, False])
def test_a_full_standard_output_is_one_line(buffered, monkeypatch):
    """Buffered, the words that could not be written are still there when the command has been refused."""
    monkeypatch.setenv("PYTHONUNBUFFERED", "" if buffered else "1")
    for words in (["list"], ["list", "--json"], ["play", "avalon_v0", "--json"]):
        with open("/dev/full", "w") as full:
            command = [sys.executable, "-W", "ignore", "-m", "parlour.training.cli", *words]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
        assert done.stderr == "parlour: a file or standard output cannot be used: No space left on device\n"
        assert done.returncode == 2


def test_a_run_in_a_file_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert "accepted: a folder" in refused(capsys, "demo", "--out", tmp_path / "file")
