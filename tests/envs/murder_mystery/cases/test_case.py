"""The case format of murder mysteries: what it holds, what it refuses, how a case is found, and `parlour new case`, `parlour show case`."""

from __future__ import annotations

import hashlib
import json

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.cases.case import digest, dump, load
from parlour.envs.murder_mystery.cases.find import find, shipped
from parlour.envs.murder_mystery.vocabulary.facts import Fact
from parlour.envs.murder_mystery.vocabulary.quiz import QuizQuestion
from parlour.training.cli import run

from tests.refused_values import refusal


def question(**changes):
    return {
        "id": "q",
        "points": 10,
        "kind": "who",
        "victim": 0,
        "text": "Who killed Cy?",
        "options": ["Ann", "Bob"],
        "keys": [1],
    } | changes


def small(**changes):
    """Ann and Bob in a house where Cy died; Bob did it."""
    return {
        "format": 1,
        "id": "small",
        "title": "Small",
        "language": "en",
        "briefing": "Cy is dead.",
        "places": ["the hall", "the attic"],
        "times": ["20:00"],
        "means": ["the rope"],
        "motives": ["jealousy"],
        "relations": ["the cousin"],
        "characters": [
            {"name": "Ann", "script": "I am Ann.", "murders": [False], "facts": [["at", [0, 0, 0]]]},
            {
                "name": "Bob",
                "aliases": ["Bobby"],
                "script": "I am Bob.",
                "murders": [True],
                "lies": [["at", [1, 0, 0]]],
            },
        ],
        "victims": [{"name": "Cy"}],
        "questions": [[question()], []],
    } | changes


def test_a_case_is_read_and_written_without_loss(tmp_path):
    case = load(small())
    assert case.characters[0].facts == (Fact("at", (0, 0, 0)),)
    assert (case.characters[1].objectives, case.truth) == ((), None)
    path = tmp_path / "case.json"
    path.write_text(dump(case), encoding="utf-8")
    assert load(json.loads(dump(case))) == load(path) == find(str(path)) == case
    with pytest.raises(ValueError, match="frozen"):
        case.title = "Other"


def test_persons_are_numbered_seats_first_then_victims():
    words = load(small()).vocabulary
    assert (words.persons, words.seats, list(words.victims)) == (("Ann", "Bob", "Cy"), 2, [2])
    assert words.aliases == ((), ("Bobby",), ())


def test_r_ik_may_be_set_for_nobody_or_for_several():
    # Questum, section 3: roles r_ik; Ghost Revenge has a victim whom no player killed, Danshui Villa one with two murderers
    people = small()["characters"]
    both = [person | {"murders": [True]} for person in people]
    none = [person | {"murders": [False]} for person in people]
    assert load(small()).murderers(0) == (1,)
    assert load(small(characters=both)).murderers(0) == (0, 1)
    assert load(small(characters=none)).murderers(0) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
        ({"title": ""}, "title"),
        ({"victims": [{"name": "Ann"}]}, "name 'Ann' is used twice"),
        ({"questions": [[]]}, "1 lists of questions for 2 characters"),
        ({"questions": [[question(keys=[2])], []]}, "keys (2,) of 2 options"),
        ({"questions": [[question(options=["Ann"], keys=[0])], []]}, "options"),
        ({"questions": [[question(options=list("abcdef"))], []]}, "options"),
        ({"questions": [[question(victim=1)], []]}, "no victim 1"),
        ({"public": [["at", [0, 2, 0]]]}, "argument p of at 2 is not accepted; accepted: 0..1"),
        ({"public": [["at", [0, 0]]]}, "at takes 3 arguments, not 2"),
        ({"public": [["feels", [0, 2, 1]]]}, "feeling 2 is not accepted"),
        ({"public": [["died", [2, -1, -1, -1]]]}, "died says neither place nor time nor means"),
    ],
)
def test_what_is_no_case_is_refused_in_one_line(change, said):
    """`test_refusals.py` damages each field; these hang together, or are of the right type."""
    assert said in refusal(load, small(**change))


@pytest.mark.parametrize("name", ["a\nb", "a" * 5000], ids=["two lines", "long"])
def test_an_unknown_field_is_refused_in_one_short_line(name):
    line = refusal(load, small(**{name: 1}))
    assert line.isprintable()
    assert len(line) < 1000


def test_the_truth_names_the_murderer_of_the_roles():
    death = {"murderer": 0, "place": 0, "time": 0, "means": 0, "motive": 0, "found": 0}
    truth = {"deaths": [death], "timeline": [[0], [0], [0]], "facts": []}
    with pytest.raises(ParlourError, match="murderer 0 in the truth"):
        load(small(truth=truth))
    assert load(small(truth=truth | {"deaths": [death | {"murderer": 1}]})).truth is not None


@pytest.mark.parametrize("text", ["", "[]"])
def test_a_file_that_holds_no_case_is_refused(tmp_path, text):
    path = tmp_path / "case.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ParlourError):
        load(path)


def test_the_digest_is_the_sha256_of_the_canonical_json_and_does_not_depend_on_the_layout(tmp_path):
    case = load(small())
    canonical = json.dumps(case.model_dump(mode="json"), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert digest(case) == hashlib.sha256(canonical.encode()).hexdigest()
    path = tmp_path / "case.json"
    path.write_text(json.dumps(small(), indent=7), encoding="utf-8")
    assert digest(load(path)) == digest(case)
    others = {digest(load(small(title="Smaller"))), digest(load(small(questions=[[question(keys=[0])], []])))}
    assert len(others - {digest(case)}) == 2


def picks(**changes):
    return QuizQuestion.model_validate(question(options=["Ann", "Bob", "Cy"], **changes))


@pytest.mark.parametrize(
    ("changes", "right", "wrong"),
    [
        ({}, [(1,)], [(0,), (0, 1), ()]),  # single choice: the key alone
        # FORMAT.md: "the answer counts as right if the key letter is among them"; more than two letters are wrong
        ({"pick": 2}, [(1, 2), (1,)], [(0, 2), (0, 1, 2)]),
        ({"keys": [0, 1]}, [(0,), (1,)], [(2,)]),
    ],
)
def test_which_answers_are_right(changes, right, wrong):
    assert all(map(picks(**changes).right, right))
    assert not any(map(picks(**changes).right, wrong))


def test_a_case_is_found_by_its_name_or_its_seed_language_players_and_victims():
    assert "harbour_en" in shipped()
    assert find("harbour_en").id == "harbour_en"
    assert find("seed:5").language == "en"
    chinese = find("seed:5:zh:6:2")
    assert (chinese.language, chinese.seats, len(chinese.victims)) == ("zh", 6, 2)
    assert find("seed:5:en:6:2").title != chinese.title
    assert find("seed:5:zh") == find("seed:5:zh:None")
    for reference in ("seed:8", "seed:8:zh", "seed:8:en:7", "seed:8:zh:None:1", "seed:8:en:5:1:train"):
        assert find(find(reference).id) == find(reference)


@pytest.mark.parametrize(
    "reference",
    ["seed:", "seed:x", "seed:-1", "seed:1:fr", "seed:1:en:3", "seed:1:en:10", "seed:1:en:4:5", "seed:1:en:4:1:moon",
     "seed:1:en:4:1:train:more", "nowhere", "harbour"],
)  # fmt: skip
def test_an_unknown_reference_is_refused(reference):
    with pytest.raises(ParlourError, match="accepted"):
        find(reference)


def test_make_writes_a_case_that_can_be_read(tmp_path, capsys):
    path = tmp_path / "case.json"
    words = ["--seed", "3", "--language", "zh", "--players", "4", "--out", str(path)]
    assert run(["new", "case", *words]) == 0
    assert load(path) == find("seed:3:zh:4")
    assert digest(load(path)) in capsys.readouterr().out.replace("\n", "")


@pytest.mark.parametrize("wrong", [["--players", "12"], ["--language", "fr"], ["--victims", "5"], ["--scene", "moon"]])
def test_make_refuses_with_exit_code_2(tmp_path, error_of, wrong):
    error_of(["new", "case", "--out", str(tmp_path / "case.json"), *wrong])
    assert not list(tmp_path.iterdir())


def test_show_has_no_spoilers(output_of):
    case = find("seed:4")
    for arguments in (["seed:4"], ["seed:4", "--json"]):
        output = output_of(["show", "case", *arguments])
        assert case.title in output
        for character in case.characters:
            assert character.name in output
            assert character.script.splitlines()[1] not in output
            assert not any(aim in output for aim in character.objectives)
        assert "murderer" not in output


def test_show_tells_one_seat_only_its_own(output_of):
    case = find("seed:4")
    output = output_of(["show", "case", "seed:4", "--seat", "1"])
    assert case.characters[1].script in output
    assert case.characters[0].script.splitlines()[1] not in output
    assert run(["show", "case", "seed:4", "--seat", str(case.seats)]) == 2


def test_show_with_truth_tells_everything(json_of, output_of):
    case = find("seed:4")
    output = output_of(["show", "case", "seed:4", "--truth"])
    assert all(character.script in output for character in case.characters)
    assert all(question.text in output for question in case.omniscient)
    assert f"{case.names[case.murderers(0)[0]]}, murderer of" in output
    assert load(json_of(["show", "case", "seed:4", "--truth", "--json"])) == case
