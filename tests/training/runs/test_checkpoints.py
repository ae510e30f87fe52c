"""Checkpoints: the newest state that can be used, the one before it, kills between their files, and what is said."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.files import read_json
from parlour.training.runs.checkpoints import Checkpoint


def state(found):
    return found["state"]


def stored(path):
    return state(read_json(path))


@pytest.fixture
def checkpoint(tmp_path):
    made = Checkpoint(tmp_path, "checkpoint")
    for number in (1, 2, 3):
        made.save({"state": number})
    return made


@pytest.fixture
def files(tmp_path):
    return tmp_path / "checkpoint.json", tmp_path / "checkpoint.before.json"


def test_the_newest_state_and_the_one_before_it_are_kept(checkpoint, files, tmp_path):
    assert Checkpoint(tmp_path, "other").load(state) is None
    assert tuple(map(stored, files)) == (3, 2)
    assert checkpoint.load(state) == 3
    assert set(tmp_path.iterdir()) == set(files)


def test_arrays_come_back_with_the_plain_values_beside_them_and_say_what_they_are(tmp_path):
    made = Checkpoint(tmp_path, "checkpoint")
    wanted = {"kind": "parlour_mine", "steps": 4, "rng": {"a": [1]}, "w0": np.arange(3, dtype=np.float32)}
    made.save(wanted)
    found = made.load(dict)
    assert found.pop("w0").tolist() == wanted.pop("w0").tolist()
    assert found == wanted
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.npz"]


def test_a_kill_between_the_two_files_leaves_the_one_before(checkpoint, files):
    files[0].replace(files[1])
    assert checkpoint.load(state) == 3
    checkpoint.save({"state": 4})
    assert tuple(map(stored, files)) == (4, 3)


@pytest.mark.parametrize("left", [b"", b"{", b'{"state', b"\xff\x00"])
def test_a_state_that_cannot_be_read_is_passed_over_for_the_one_before_and_that_is_said(
    checkpoint, files, caplog, left
):
    files[0].write_bytes(left)
    assert checkpoint.load(state) == 2
    (said,) = (record.getMessage() for record in caplog.records)
    assert said.startswith(f"file {str(files[0])!r} cannot be used: ")
    assert said.endswith(f". The one before it is used: {str(files[1])!r}")
    checkpoint.save({"state": 3})
    assert tuple(map(stored, files)) == (3, 2)


def test_a_state_that_its_reader_refuses_is_passed_over_too(checkpoint, files):
    files[0].write_text('{"another": 1}')
    assert checkpoint.load(state) == 2


def test_where_neither_can_be_read_the_newest_is_refused_and_both_are_left(checkpoint, files):
    for path in files:
        path.write_text("{")
    with pytest.raises(ParlourError, match=r"checkpoint\.json' cannot be used"):
        checkpoint.load(state)
    assert tuple(path.read_text() for path in files) == ("{", "{")


def test_a_write_that_fails_leaves_both_as_they_were(checkpoint, files, tmp_path):
    with pytest.raises(TypeError):
        checkpoint.save({"state": object()})
    assert tuple(map(stored, files)) == (3, 2)
    assert len(list(tmp_path.iterdir())) == 2
