"""The attacks `kills` and `disks` find what is planted, and nothing in a sound command; what strikes, strikes where it should."""

from __future__ import annotations

import pytest
from hardening import disk
from hardening.attack import Tried
from hardening.kills import SUBJECTS, Disks, Kills, Subject, _Caller
from hardening.runner import generator
from hardening.same_files import difference, files_of

pytestmark = pytest.mark.nightly

PLANTED = {
    name: Subject("OUT", main=f"planted_commands:{name}")
    for name in ("sound", "announces", "complains_twice", "tears_lines", "leaves_half_a_file", "leaves_parts")
}


@pytest.fixture
def attack(request):
    made = request.param(PLANTED, ("planted_commands",))
    yield made
    made._caller.close()


def attempts(attack, subject, folder, many) -> Tried:
    findings: dict[str, object] = {}
    tries = 0
    for number in range(many):
        (folder / str(number)).mkdir()
        tried = attack.attempt(subject, generator(0, attack.name, subject, number), folder / str(number))
        tries += tried.tries
        findings |= {finding.what: finding for finding in tried.findings}
    return Tried(tries, tuple(findings.values()))


@pytest.mark.slow
@pytest.mark.parametrize("attack", [Kills], indirect=True)
@pytest.mark.parametrize(
    ("subject", "what"),
    [
        ("tears_lines", {"lines.txt differs"}),
        ("leaves_half_a_file", {"report.md differs"}),
        ("leaves_parts", {".N.N.part-N.txt is left over"}),
        ("sound", set()),
    ],
)
def test_kills_find_what_is_planted(attack, subject, what, tmp_path):
    tried = attempts(attack, subject, tmp_path, 6)
    assert {finding.what for finding in tried.findings} == what
    assert tried.tries >= 6  # the command was killed each time, mostly more than once
    for finding in tried.findings:
        assert '"places": [{' in finding.shortest


@pytest.mark.slow
@pytest.mark.parametrize("attack", [Disks], indirect=True)
@pytest.mark.parametrize(
    ("subject", "what"),
    [
        ("leaves_half_a_file", "exit code 1 on a full disk: OSError: [Errno "),
        ("complains_twice", "not one line that says what cannot be written: "),
        ("announces", ""),
        ("sound", ""),
    ],
)
def test_full_disks_find_what_is_planted(attack, subject, what, tmp_path):
    tried = attempts(attack, subject, tmp_path, 6)
    assert tried.tries == 6
    assert all(finding.what.startswith(what) for finding in tried.findings)
    assert bool(tried.findings) == bool(what)


@pytest.fixture
def caller():
    made = _Caller(PLANTED, ("planted_commands",))
    yield made
    made.close()


def test_a_command_is_killed_at_the_operation_and_the_byte_that_were_asked_for(caller, tmp_path):
    run = tmp_path / "run"
    wanted = caller.wanted("sound", tmp_path)
    assert wanted.bytes == 5 * 5 + 300  # five lines of four digits, and the report
    ended = caller.call(PLANTED["sound"], run, place=disk.BYTE, number=7)
    assert ended.code == -9
    assert (run / "lines.jsonl").read_bytes() == b"1000\n10"
    assert caller.call(PLANTED["sound"], run, place=disk.BYTE, number=wanted.bytes).code == 0  # no such byte
    assert difference(files_of(run), wanted.files) == ""
    for number in range(wanted.operations):
        assert caller.call(PLANTED["sound"], tmp_path / str(number), place=disk.OPERATION, number=number).code == -9
    assert caller.call(PLANTED["sound"], tmp_path / "all", place=disk.OPERATION, number=wanted.operations).code == 0


def test_a_full_disk_takes_the_bytes_before_and_a_long_file_ends_where_it_was_asked(caller, tmp_path):
    for place in (disk.FULL, disk.SIZE):
        ended = caller.call(PLANTED["sound"], tmp_path / place, place=place, number=12)
        assert ended.code == 2
        assert len(ended.said) == 1
        assert (tmp_path / place / "lines.jsonl").read_bytes() == b"1000\n1001\n10"


def test_every_command_that_resumes_has_a_subject():
    from parlour.training.cli import COMMANDS

    lines = [f"{subject.words} " for subject in SUBJECTS.values()]
    known = {max((name for name in COMMANDS if line.startswith(f"{name} ")), key=len) for line in lines}
    assert {name for name in COMMANDS if name.startswith("train ")} <= known
    assert {"play", "evaluate", "arena", "evaluate mysteries"} <= known
    assert {words.split()[1].split("-")[0] for words in (s.words for s in SUBJECTS.values()) if words.startswith("reproduce")} == {"grace", "gratr", "avalon"}  # fmt: skip
