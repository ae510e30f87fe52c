"""The harness of `scripts/harden`: it finds what is planted, stops where it was told to, and goes on where it was stopped."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from hardening.__main__ import main
from hardening.attack import Finding, Tried
from hardening.attacks import all_attacks
from hardening.games import table_of, tables
from hardening.runner import ATTEMPTS, HungAttempt, generator, given_up_after
from hardening.shrink import shrink

pytestmark = pytest.mark.nightly


class Planted:
    """Draws a number below 100 an attempt; those above `bound` are findings."""

    name, share = "planted", 1.0

    def __init__(self, bound: int = 100, limits: bool = False) -> None:
        self.bound, self.limits, self.log = bound, limits, list[tuple[str, int]]()

    def subjects(self, outside):
        return ["avalon_v0 a", "avalon_v0 b", "transcript", *outside]

    def attempt(self, subject: str, rng: np.random.Generator, folder: Path) -> Tried:
        assert not list(folder.iterdir())
        (folder / "left.txt").write_text("the runner empties the folder")
        drawn = int(rng.integers(100))
        self.log.append((subject, drawn))
        findings = (Finding("too large", str(drawn)),) if drawn > self.bound else ()
        return Tried(1, findings, {"even": int(drawn % 2 == 0)})


class Raises(Planted):
    def attempt(self, subject, rng, folder):
        raise IndexError("list index out of range\nof two lines")


def harden(*words: object, attack: Planted | None = None) -> int:
    attacks = {attack.name: attack} if attack else None
    return main([str(word) for word in words], attacks)


def unmeasured(report: str) -> str:
    """Without seconds and MB: `| 0.01 | 12 |` in the rows of the table."""
    return re.sub(r"\| \d+\.\d\d \| \d+ \|", "| - | - |", report)


# -- what is found -----------------------------------------------------------------------------------------------


def test_a_planted_defect_is_found_and_the_exit_code_is_1(capsys):
    planted = Planted(bound=50)
    assert harden("--count", "planted=60", attack=planted) == 1
    times = sum(drawn > 50 for _, drawn in planted.log)
    output = capsys.readouterr().out
    assert f"\n1. planted: too large ({times} x, 3 of 3 subjects)\n" in output
    assert "| **planted** | all 3 | 60 | 1 |" in output


def test_the_shortest_input_of_a_finding_is_told_and_the_command_makes_it_again(capsys):
    planted = Planted(bound=5)  # of numbers above 5, the shortest have one digit
    assert harden("--count", "planted=300", attack=planted) == 1
    output = capsys.readouterr().out
    first = re.search(r"too large.*\n   - shortest: (\d)\n   - again: scripts/harden (.*)", output)
    seed, value, again, attempt = shlex.split(first[2])
    assert (seed, value, again) == ("--seed", "0", "--try")
    planted.log.clear()
    assert harden(again, attempt, attack=planted) == 1
    assert planted.log == [(attempt.split("/")[1], int(first[1]))]


def test_what_an_attempt_raises_is_a_finding_in_one_line(capsys):
    assert harden("--count", "planted=8", attack=Raises()) == 1
    assert (
        "planted: uncaught IndexError (elsewhere) (8 x, 3 of 3 subjects)\n   - shortest: list index out of range of two lines\n"
        in capsys.readouterr().out
    )


def test_an_attempt_that_does_not_end_is_given_up():
    def attacked() -> None:
        while True:
            try:
                sum(range(10**6))
            except Exception:  # what is attacked may catch whatever it likes
                continue

    with pytest.raises(HungAttempt), given_up_after(0.05):
        attacked()


# -- one seed, one report ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "torn"), [(1, ""), (17, '{"attack": "planted", "first": 20, "pa'), (100, "")])
def test_a_run_that_is_resumed_gives_the_report_of_one_that_was_not_stopped(tmp_path, first, torn):
    """Also where a kill cut a group off."""
    whole, stopped = Planted(50), Planted(50)
    harden("--count", "planted=100", "--out", tmp_path / "whole", attack=whole)
    harden("--count", f"planted={first}", "--out", tmp_path / "stopped", attack=stopped)
    with (tmp_path / "stopped" / ATTEMPTS).open("a") as file:
        file.write(torn)
    harden("--count", "planted=100", "--out", tmp_path / "stopped", "--resume", attack=stopped)
    assert stopped.log == whole.log
    reports = [unmeasured((tmp_path / name / "report.md").read_text()) for name in ("whole", "stopped")]
    assert reports[0] == reports[1]


def test_games_come_in_turn_and_attempts_at_a_subject_are_seeded_by_their_number_from_0():
    """Two tables of Avalon and one other subject: half of the attempts are Avalon's."""
    planted = Planted()
    harden("--count", "planted=12", attack=planted)
    assert [subject for subject, _ in planted.log] == ["avalon_v0 a", "transcript", "avalon_v0 b", "transcript"] * 3
    transcript = [drawn for subject, drawn in planted.log if subject == "transcript"]
    expected = [int(generator(0, "planted", "transcript", k).integers(100)) for k in range(len(transcript))]
    assert transcript == expected
    # sha256 of "0\0planted\0transcript\x000", first 16 bytes, as the entropy of PCG64: fixed, or no report could be repeated
    assert int(generator(0, "planted", "transcript", 0).integers(10**6)) == 894105


# -- the command -------------------------------------------------------------------------------------------------


def test_a_folder_with_a_run_is_refused_without_resume_and_with_another_seed(tmp_path, capsys):
    for more, told in (
        ([], ""),
        ([], "holds a run; accepted: another folder, or --resume"),
        (["--resume", "--seed", 5], "holds another run of scripts/harden"),
    ):
        assert harden("--count", "planted=9", "--out", tmp_path, *more, attack=Planted()) == (2 if told else 0)
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--attack", "nothing"], "attack 'nothing' is not accepted; accepted: planted"),
        (["--count", "planted=-1"], "--count 'planted=-1' is not accepted; accepted: planted=N"),
        (["--count", "nothing=1"], "--count 'nothing=1' is not accepted; accepted: planted=N"),
        (["--minutes", "0"], "--minutes 0.0 is not accepted; accepted: more than 0"),
        (["--try", "planted/nobody/0"], "--try 'planted/nobody/0' is not accepted"),
    ],
)
def test_what_is_not_accepted_is_refused_in_one_line(words, said, capsys):
    assert harden(*words, attack=Planted()) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1


@pytest.mark.slow
def test_every_attack_has_subjects_and_a_share_of_its_own_name():
    attacks = all_attacks()
    assert {"resets", "illegal"} <= set(attacks)
    for name, attack in attacks.items():
        assert attack.name == name
        assert attack.share > 0
        subjects = attack.subjects(())
        assert len(set(subjects)) == len(subjects) > 0


def test_the_page_tells_of_every_attack():
    page = (Path(__file__).resolve().parents[1] / "docs" / "reference" / "hardening.md").read_text("utf-8")
    names = set(re.findall(r"^\| `([\w ]+)` \|", page, re.MULTILINE))
    assert set(all_attacks()) <= names


# -- the tables --------------------------------------------------------------------------------------------------


def test_every_game_with_its_presets_numbers_of_seats_and_languages_is_attacked():
    subjects = tables()
    assert len(set(subjects)) == len(subjects)
    expected = {"template_v0", "avalon_v0 talk=false", "mediated_qa_v0 joint=all"}
    for rules in ("paper", "reference", "official"):
        expected |= {f"avalon_v0 num_players={n} rules={rules}" for n in range(5, 11)}
        expected |= {f"werewolf_v0 num_players={n} rules={rules}" for n in range(4, 16)}
    for case in ("train_en", "train_zh", "teahouse_en", "teahouse_zh"):
        expected.add(f"murder_mystery_v0 case={case} rounds=1")
    assert expected <= set(subjects)


def test_the_name_of_a_table_makes_it_again_and_a_game_from_outside_has_its_dotted_name():
    outside = "parlour.envs._template:GAME"
    assert outside not in tables()
    assert table_of(outside).raw_env().spec.id == "template_v0"
    roles = ["Merlin", "Loyal Servant", "Loyal Servant", "Assassin", "Minion"]
    subject = f"avalon_v0 num_players=5 'roles={json.dumps(roles)}' rules=official talk=false"
    config = table_of(subject).raw_env().game.config
    assert (config["roles"], config["talk"], config["rules"]) == (roles, False, "official")


# -- delta debugging ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("whole", "fails", "left"),
    [
        (range(100), lambda part: {13, 77} <= set(part), [13, 77]),
        ([1, 2, 3], lambda part: False, [1, 2, 3]),
        ("abc", lambda part: True, []),
    ],
    ids=["what is needed together", "what does not fail", "what fails always"],
)
def test_shrinking_leaves_what_is_needed(whole, fails, left):
    assert shrink(whole, fails) == left


def test_shrinking_gives_up_after_so_many_calls():
    calls = []
    shrunk = shrink(range(1000), lambda part: calls.append(0) or 999 in part, most=5)
    assert len(calls) <= 6
    assert 999 in shrunk
