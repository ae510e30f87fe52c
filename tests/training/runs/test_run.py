"""Run directories and stores by lines: one run at a time, one configuration, whole files, torn lines cut off; and the lock of each command."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.files import atomic_write, replacing
from parlour.training.runs.folder import (
    CONFIG,
    LOCK,
    JsonlStore,
    store_settings,
    whole_lines,
    write_csv,
)
from parlour.training.runs.run import Run

# -- the lock ----------------------------------------------------------------------------------------------------


def test_a_second_run_is_refused_in_one_line_and_the_directory_is_free_again_after_the_first(tmp_path):
    with Run(tmp_path / "a" / "run").opened() as folder:
        assert folder.is_dir()
        with pytest.raises(ParlourError) as refused, Run(folder).opened():
            pass
        text = f"is in use by another run (process {os.getpid()}); accepted: another folder, or wait until it ends"
        assert str(refused.value) == f"{str(folder)!r} {text}"
        with Run(tmp_path / "b").opened():
            pass
    assert list(folder.iterdir()) == []  # nothing of the lock is left
    with Run(folder).opened():
        pass


def test_an_error_ends_the_lock(tmp_path):
    with pytest.raises(KeyError), Run(tmp_path).opened():
        raise KeyError
    with Run(tmp_path).opened():
        pass


HOLDS = """
import sys, time
from parlour.training.runs.run import Run
with Run(sys.argv[1]).opened():
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_killed_process_holds_nothing(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDS, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ParlourError, match=f"process {holder.pid}"), Run(tmp_path).opened():
        pass
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert (tmp_path / LOCK).exists()  # the file; the lock on it has ended
    with Run(tmp_path).opened():
        pass
    assert not (tmp_path / LOCK).exists()


def test_what_is_no_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ParlourError, match=r"cannot be used: .*; accepted: a folder"), Run(tmp_path / "file").opened():
        pass


# -- the configuration -------------------------------------------------------------------------------------------


def test_a_directory_holds_one_configuration_but_for_what_does_not_decide(tmp_path):
    with Run(tmp_path).opened({"seed": 0, "hidden": (1, 2), "processes": 2}, ("processes",)):
        pass
    with Run(tmp_path).opened({"seed": 0, "hidden": [1, 2], "processes": 3}, ("processes",)):
        assert json.loads((tmp_path / CONFIG).read_text())["processes"] == 3
    before = (tmp_path / CONFIG).read_bytes()
    with pytest.raises(ParlourError) as refused, Run(tmp_path).opened({"seed": 1, "hidden": [1], "processes": 3}):
        pass
    assert str(refused.value) == (
        f"{str(tmp_path)!r} holds a run with another configuration (seed 0, hidden [1, 2]); "
        "accepted: the same, or a new folder"
    )
    assert (tmp_path / CONFIG).read_bytes() == before
    with Run(tmp_path).opened():  # one that has no settings
        pass


def test_a_configuration_that_cannot_be_read_is_refused(tmp_path):
    for broken in ("{", "[]", "\xff"):
        (tmp_path / CONFIG).write_text(broken, "latin-1")
        with pytest.raises(ParlourError, match="cannot be used"):
            store_settings(tmp_path, {"seed": 0})


# -- state, curve and results of a run ---------------------------------------------------------------------------


def count(run: Run, until: int, killed_at: int | None = None) -> list[int]:
    """A trainer: it counts, and logs and stores each number; killed between the curve and the checkpoint."""
    with run.opened({"until": 3}), run.lines("squares.jsonl", int, "count") as squares:
        begun = run.restore(lambda state: int(state["step"])) or 0
        for step in range(begun + 1, until + 1):
            if len(squares.found) < step:
                squares.append(step**2)
            run.log({"eval/square": step**2}, step)
            if step == killed_at:
                raise KeyboardInterrupt
            run.checkpoint({"step": step})
        return [step for step, _ in run.curve]


def test_a_run_that_was_killed_resumes_to_the_same_files(tmp_path):
    assert count(Run(tmp_path / "whole"), 3) == [1, 2, 3]
    with pytest.raises(KeyboardInterrupt):
        count(Run(tmp_path / "killed"), 3, killed_at=2)
    assert count(Run(tmp_path / "killed"), 3) == [1, 2, 3]
    assert left(tmp_path / "killed") == left(tmp_path / "whole")


def test_a_run_without_a_directory_leaves_nothing():
    run = Run(None)
    assert count(run, 2) == [1, 2]
    assert not run.folder.exists()


def test_an_unknown_logger_is_refused_before_a_directory_is_made(tmp_path):
    with pytest.raises(ParlourError, match="log 'mlflow'"):
        Run(tmp_path / "run", log=["mlflow"])
    assert not (tmp_path / "run").exists()


# -- files -------------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "file.zip"
    atomic_write(path, b"\x00one")
    with pytest.raises(IsADirectoryError), replacing(path) as part:
        part.write_text("half") and part.parent.write_text("an error")
    assert part.suffix == ".zip"
    assert path.read_bytes() == b"\x00one"
    atomic_write(path, "zwei, zw\u00f6lf\n")
    assert path.read_bytes() == "zwei, zw\u00f6lf\n".encode()
    assert [file.name for file in path.parent.iterdir()] == ["file.zip"]


def test_a_table(tmp_path):
    write_csv(tmp_path / "t.csv", ["a", "b"], [[1, None], ["x,y", 0.5]])
    assert (tmp_path / "t.csv").read_bytes() == b'a,b\n1,\n"x,y",0.5\n'


# -- results by lines --------------------------------------------------------------------------------------------


def stored(path, head=None):
    return JsonlStore(path, int, "count", head)


@pytest.mark.parametrize("head", [None, {"of": ["d\u00e9als\u2028", 2.0]}])
@pytest.mark.parametrize("torn", range(1, 4))
def test_a_store_goes_on_behind_the_last_whole_line(tmp_path, head, torn):
    path = tmp_path / "run" / "counts.jsonl"
    with stored(path, head) as store:
        assert store.found == []
        for number in (10, 200, 3000):
            store.append(number)
    whole = path.read_bytes()
    path.write_bytes(whole[:-torn])
    with stored(path, head) as store:
        assert store.found == [10, 200]
        store.append(3000)
    assert path.read_bytes() == whole
    with stored(path, head) as store:
        assert store.found == [10, 200, 3000]


def test_a_store_whose_first_line_was_torn_is_begun(tmp_path):
    (tmp_path / "s").write_text('{"of"')
    with stored(tmp_path / "s", {"of": 1}) as store:
        assert store.found == []
    assert (tmp_path / "s").read_text() == '{"of": 1}\n'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"of": 2}\n1\n2', "holds another count; accepted: the same, or a new folder"),
        (b'{"of": 1}\nx\n2', "accepted: what a count left"),
        (b'{"of": 1}\n"x"\n2', "accepted: what a count left"),
        (b"\xff\n2", "accepted: what a count left"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path, content, message):
    path = tmp_path / "s"
    path.write_bytes(content)
    with pytest.raises(ParlourError, match=message) as refused:
        stored(path, {"of": 1})
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == content


def test_lines_are_cut_only_when_they_were_read(tmp_path):
    (tmp_path / "f").write_text("a\nb\nc")
    with pytest.raises(ZeroDivisionError):
        whole_lines(tmp_path / "f", lambda lines: 1 / 0)
    assert (tmp_path / "f").read_text() == "a\nb\nc"
    assert whole_lines(tmp_path / "f", list) == ["a", "b"]
    assert (tmp_path / "f").read_text() == "a\nb\n"
    assert whole_lines(tmp_path / "none", list) == []


# -- the commands ------------------------------------------------------------------------------------------------

UNLIKE = {".png", ".zip", ".sqlite3", ".lock"}
"""Pictures and PyTorch's and SQLite's files hold a date or a version of their libraries."""


def left(folder: Path) -> dict[str, str]:
    """The files of a run by their names, without the seconds that were measured."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): "" if path.suffix in UNLIKE else without_seconds(path) for path in files}


def without_seconds(path: Path) -> str:
    if path.suffix == ".npz":
        return path.read_bytes().hex()
    text = path.read_text("utf-8")
    if path.suffix == ".csv":
        rows = list(csv.reader(text.splitlines()))
        timed = {k for k, heading in enumerate(rows[0]) if heading.endswith("seconds")}
        return repr([[cell for k, cell in enumerate(row) if k not in timed] for row in rows])
    return re.sub(r'("seconds": )[0-9.e-]+', r"\1", text)
