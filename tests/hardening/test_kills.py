"""Kills of commands at random places, and faults of the disk: every command that resumes ends with the files of an undisturbed run.

A command is killed (SIGKILL) before the n-th operation on its folder, within the k-th byte that it writes, or after so
many seconds, and called again until it is done; or it finds no room from the k-th byte on, or for files longer than k bytes.
Last, commands with planted defects, and the places themselves.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from tests.hardening import disk
from tests.hardening.kills import SUBJECTS, Caller, Subject, Undisturbed, callable_here
from tests.hardening.same_files import difference, files_of

pytestmark = [pytest.mark.nightly, pytest.mark.slow]

PLANTED = {
    name: Subject("OUT", main=f"tests.hardening.planted_commands:{name}")
    for name in ("sound", "announces", "complains_twice", "tears_lines", "leaves_half_a_file", "leaves_parts")
}


@pytest.fixture(scope="module")
def caller():
    made = Caller()
    yield made
    made.close()


@pytest.fixture
def planted():
    made = Caller(PLANTED, ("tests.hardening.planted_commands",))
    yield made
    made.close()


def kills_of(wanted: Undisturbed) -> st.SearchStrategy[Any]:
    """Where a command is killed."""
    operations = st.integers(0, wanted.operations - 1).map(lambda number: {"place": disk.OPERATION, "number": number})
    bytes_ = st.integers(0, wanted.bytes - 1).map(lambda number: {"place": disk.BYTE, "number": number})
    seconds = st.floats(0, wanted.ended.seconds).map(lambda seconds: {"seconds": seconds})
    return st.lists(st.one_of(operations, operations, bytes_, seconds), min_size=1, max_size=6)


def full_at(wanted: Undisturbed) -> st.SearchStrategy[Any]:
    """Where the disk is full."""
    long = st.integers(0, wanted.longest - 1).map(lambda number: {"place": disk.SIZE, "number": number})
    return long | st.integers(0, wanted.bytes - 1).map(lambda number: {"place": disk.FULL, "number": number})


def try_kills(caller: Caller, name: str, folder: Any, examples: int) -> list[int]:
    """Kill a command at drawn places; how many kills each try had."""
    kills = list[int]()

    @settings(max_examples=examples, report_multiple_bugs=False)
    @given(places=kills_of(caller.wanted(name, folder)))
    def check(places: Any) -> None:
        kills.append(caller.check_kills(name, places, folder))

    check()
    return kills


def try_disks(caller: Caller, name: str, folder: Any, examples: int) -> None:
    """Let a command find no room at drawn places."""

    @settings(max_examples=examples, report_multiple_bugs=False)
    @given(place=full_at(caller.wanted(name, folder)))
    def check(place: Any) -> None:
        caller.check_full(name, place, folder)

    check()


@pytest.mark.parametrize("name", callable_here(SUBJECTS))
def test_a_command_that_is_killed_ends_with_the_files_of_an_undisturbed_run(caller, name, tmp_path):
    assert sum(try_kills(caller, name, tmp_path, examples=3)) > 0


@pytest.mark.parametrize("name", callable_here(SUBJECTS))
def test_a_command_without_room_says_so_in_one_line_and_resumes(caller, name, tmp_path):
    try_disks(caller, name, tmp_path, examples=3)


# -- the tests can fail ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("tears_lines", "lines.txt differs"),
        ("leaves_half_a_file", "report.md differs"),
        ("leaves_parts", ".N.N.part-N.txt is left over"),
    ],
)
def test_kills_find_what_is_planted(planted, name, what, tmp_path):
    with pytest.raises(AssertionError, match=what):
        try_kills(planted, name, tmp_path, examples=50)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("leaves_half_a_file", r"exit code 1 on a full disk: OSError: \[Errno "),
        ("complains_twice", "not one line that says what cannot be written: "),
    ],
)
def test_full_disks_find_what_is_planted(planted, name, what, tmp_path):
    with pytest.raises(AssertionError, match=what):
        try_disks(planted, name, tmp_path, examples=30)


@pytest.mark.parametrize("name", ["sound", "announces"])
def test_nothing_is_found_in_a_sound_command(planted, name, tmp_path):
    kills = try_kills(planted, name, tmp_path, examples=10)
    assert sum(kills) >= len(kills)  # the command was killed nearly each time, mostly more than once
    try_disks(planted, name, tmp_path, examples=10)


def test_a_command_is_killed_at_the_operation_and_the_byte_that_were_asked_for(planted, tmp_path):
    run, sound = tmp_path / "run", PLANTED["sound"]
    wanted = planted.wanted("sound", tmp_path)
    assert wanted.bytes == 5 * 5 + 300  # five lines of four digits, and the report
    assert planted.call(sound, run, place=disk.BYTE, number=7).code == -9
    assert (run / "lines.jsonl").read_bytes() == b"1000\n10"
    assert planted.call(sound, run, place=disk.BYTE, number=wanted.bytes).code == 0  # no such byte
    assert difference(files_of(run), wanted.files) == ""
    for number in range(wanted.operations):
        assert planted.call(sound, tmp_path / str(number), place=disk.OPERATION, number=number).code == -9
    assert planted.call(sound, tmp_path / "all", place=disk.OPERATION, number=wanted.operations).code == 0


def test_a_full_disk_takes_the_bytes_before_and_a_long_file_ends_where_it_was_asked(planted, tmp_path):
    for place in (disk.FULL, disk.SIZE):
        ended = planted.call(PLANTED["sound"], tmp_path / place, place=place, number=12)
        assert ended.code == 2
        assert len(ended.said) == 1
        assert (tmp_path / place / "lines.jsonl").read_bytes() == b"1000\n1001\n10"


def test_every_command_that_resumes_has_a_subject():
    from parlour.training.cli import COMMANDS

    words = [subject.words.split() for subject in SUBJECTS.values()]
    known = {name for line in words for name in (line[0], " ".join(line[:2]))}
    assert {name for name in COMMANDS if name.startswith("train ")} <= known
    assert {"play", "evaluate", "arena", "evaluate mysteries"} <= known
    assert {line[1].split("-")[0] for line in words if line[0] == "reproduce"} == {"grace", "gratr", "avalon"}
