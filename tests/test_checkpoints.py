"""Checkpoints: the newest state that can be used, the one before it, kills between their files, and what is said."""

from __future__ import annotations

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.files import read_json
from parlour.training.runs.checkpoints import Checkpoint


def read(path):
    return read_json(path)["state"]


@pytest.fixture
def checkpoint(tmp_path):
    made = Checkpoint(tmp_path / "checkpoint.json")
    for state in (1, 2, 3):
        made.save_json({"state": state})
    return made


def test_the_newest_state_and_the_one_before_it_are_kept(checkpoint, tmp_path):
    assert Checkpoint(tmp_path / "other.json").load(read) is None
    assert (read(checkpoint.path), read(checkpoint.before)) == (3, 2)
    assert checkpoint.before.name == "checkpoint.before.json"
    assert checkpoint.load(read) == 3
    assert sorted(path.name for path in checkpoint.path.parent.iterdir()) == [
        "checkpoint.before.json",
        "checkpoint.json",
    ]


def test_a_kill_between_the_two_files_leaves_the_one_before(checkpoint):
    checkpoint.path.replace(checkpoint.before)
    assert checkpoint.load(read) == 3
    checkpoint.save_json({"state": 4})
    assert (read(checkpoint.path), read(checkpoint.before)) == (4, 3)


@pytest.mark.parametrize("left", [b"", b"{", b'{"state', b"\xff\x00"])
def test_a_state_that_cannot_be_read_is_passed_over_for_the_one_before_and_that_is_said(checkpoint, caplog, left):
    checkpoint.path.write_bytes(left)
    assert checkpoint.load(read) == 2
    (said,) = (record.getMessage() for record in caplog.records)
    assert said.startswith(f"file {str(checkpoint.path)!r} cannot be used: ")
    assert said.endswith(f". The one before it is used: {str(checkpoint.before)!r}")
    checkpoint.save_json({"state": 3})
    assert (read(checkpoint.path), read(checkpoint.before)) == (3, 2)


def test_where_neither_can_be_read_the_newest_is_refused_and_both_are_left(checkpoint):
    for path in (checkpoint.path, checkpoint.before):
        path.write_text("{")
    with pytest.raises(ParlourError, match=r"checkpoint\.json' cannot be used"):
        checkpoint.load(read)
    assert (checkpoint.path.read_text(), checkpoint.before.read_text()) == ("{", "{")


def test_a_write_that_fails_leaves_both_as_they_were(checkpoint):
    def fail(path):
        path.write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        checkpoint.save(fail)
    assert (read(checkpoint.path), read(checkpoint.before)) == (3, 2)
    assert len(list(checkpoint.path.parent.iterdir())) == 2
