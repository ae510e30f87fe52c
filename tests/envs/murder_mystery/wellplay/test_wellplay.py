"""The loader of WellPlay folders: what FORMAT.md says of the collection, each irregularity in a folder of its own.

The folders of these tests are made up. Those of the collection are checked where they are at hand
(`PARLOUR_REFERENCE_DATA`).
"""

from __future__ import annotations

import json
import sys
from collections import Counter

import pytest
from parlour.envs.murder_mystery.cases.case import digest
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.wellplay import load

from tests import ROOT
from tests.reference_data import reference
from tests.refused_values import refusal

sys.path.append(str(ROOT / "scripts"))
from check_wellplay import check, main

HEADER = "value,type,question,a,b,c,d,e,truth"
WHO = "a,a,Who killed Old Moss?,Bea,Cal,Dot,,,b"
SUSPECT = "b,b,Please select the two people you most suspect of killing Old Moss,Bea,Cal,Dot,suicide,,b"
ROWS = [
    WHO,
    "b,a,How did Old Moss die?,By knife,By water,By fire,By rope,,a",
    SUSPECT,
    "c,a,What is the relationship between Bea and Cal?,Bea is aunt of Cal,Bea is foe of Cal,Bea is boss of Cal,,,a",
]
NAMES = ["Ann", "Bea", "Cal", "Dot"]
PEOPLE = {name: {"kill_by_me": [int(name == "Cal")]} for name in NAMES}


def person(name, **changes):
    value = {
        "script": [f"I am {name}. It was a dark night."],
        "acts_goal": ["1. Find the killer.\n\n2. Hide."],
        "victims": ["Old Moss"],
        "kill_by_me": [0],
        "acts_num": 1,
    } | changes
    return value | {"is_murderer": int(any(value["kill_by_me"]))} | changes


def folder(root, rows=None, people=None, slug="moss", lang="en", info=None, omniscient="FSA", bom=False):
    """A script of four players and one victim, whom Cal killed; `rows` per name replaces all rows of a file."""
    path = root / lang / slug
    (path / "json").mkdir(parents=True)
    (path / "final_result").mkdir()
    people = PEOPLE if people is None else people
    data = {"agent_num": len(people), "script_name": "Moss", "character_name": list(people)} | (info or {})
    (path / "json" / "script_info.json").write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    every = {name: [] if changes.get("kill_by_me") == [1] else ROWS for name, changes in people.items()} | (rows or {})
    for name, changes in people.items():
        text = json.dumps(person(name, **changes), ensure_ascii=False)
        (path / "json" / f"{name}.json").write_text(text, encoding="utf-8")
        table(path, name, every[name], bom)
    if omniscient:
        table(path, omniscient, every.get(omniscient, [row for name in people for row in every[name]]), bom)
    return path


def table(path, name, rows, bom):
    text = "\n".join([HEADER, *rows]) + "\n"
    (path / "final_result" / f"{name}.csv").write_text(text, encoding="utf-8-sig" if bom else "utf-8")


def kinds(path) -> Counter:
    return Counter(flaw.kind for flaw in check(path) if flaw.kind != "relation_key_position")


def only(path, kind):
    """The one irregularity of the folder, apart from the omniscient copies of rows and fixed relation keys."""
    flaws = [
        flaw for flaw in check(path) if flaw.kind != "relation_key_position" and "/FSA.csv" not in (flaw.file or "")
    ]
    assert [flaw.kind for flaw in flaws] == [kind], flaws
    return flaws[0]


def asked(path, seat=0):
    return load.load_folder(path).questions[seat]


def test_a_regular_folder_loads_without_remarks(tmp_path):
    path = folder(tmp_path)
    case = load.load_folder(path)
    assert case.names == ("Ann", "Bea", "Cal", "Dot")
    assert case.murderers(0) == (2,)
    assert case.victims[0].name == "Old Moss"
    assert case.counts() == {"objective": 3, "reasoning": 6, "relations": 3, "total": 12}
    assert len(case.omniscient) == 12
    assert case.characters[0].objectives == ("1. Find the killer.", "2. Hide.")
    assert case.truth is None
    assert kinds(path) == Counter()
    assert find(str(path)) == case


def test_points_picks_kinds_and_victims(tmp_path):
    who, how, suspect, relation = asked(folder(tmp_path))
    assert (who.points, who.kind, who.pick, who.victim, who.keys) == (10, "who", 1, 0, (1,))
    assert (how.points, how.kind, how.pick, how.victim) == (5, "how", 1, 0)
    assert (suspect.points, suspect.kind, suspect.pick, suspect.victim) == (5, "suspect", 2, 0)
    assert (relation.points, relation.kind, relation.victim) == (2, "one_relation", None)
    assert suspect.right((0, 1))
    assert not suspect.right((0, 1, 2))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What was the motive behind the killer killing Old Moss?", "why"),
        ("The perpetrator is the victim Old Moss. Who is it?", "relationship"),
        ("Where was Old Moss killed?", "where"),
        ("When was Old Moss killed?", "when"),
        ("How did Old Moss die?", "how"),
        ("Who is Bea's biological father?", "individual"),
        ("凶手杀老莫的动机是什么？", "why"),
        ("凶手是被害人老莫什么人？", "relationship"),
        ("老莫是在哪里被杀死的？", "where"),
        ("老莫是在何时被杀死的？", "when"),
        ("老莫是怎么死的？", "how"),
        ("小贝在隐瞒什么？", "individual"),
    ],
)
def test_the_kinds_of_reasoning_questions(tmp_path, text, kind):
    assert asked(folder(tmp_path, {"Ann": [f"b,a,{text},x,y,z,,,a"]}))[0].kind == kind


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("What is the relationship between Bea and Cal?,Bea is aunt of Cal,Bea is foe of Cal", "one_relation"),
        ("What is the relationship between Bea and Cal?,Bea is aunt and boss of Cal,Bea is foe and aunt of Cal", "two_relations"),
        ("What is the non-existent relationship between Bea and Cal?,Bea is aunt of Cal,Bea is foe of Cal", "three_relations"),
        ("小贝和小卡不存在的关系是什么？,小贝 is aunt of 小卡,小贝 is foe of 小卡", "three_relations"),
    ],
)  # fmt: skip
def test_the_kinds_of_relation_questions(tmp_path, row, kind):
    assert asked(folder(tmp_path, {"Ann": [f"c,a,{row},,,,a"]}))[0].kind == kind


def test_a_byte_order_mark_blanks_and_gm_for_fsa_make_no_difference(tmp_path):
    plain = load.load_folder(folder(tmp_path / "1"))
    rows = {name: [row.replace(",", " , ") for row in ROWS] for name in ("Ann", "Bea", "Dot")}
    other = load.load_folder(folder(tmp_path / "2", rows, omniscient="GM", bom=True))
    assert digest(plain) == digest(other)


HIDING = "b,a,What is Bea hiding?,x,y,z,w"


@pytest.mark.parametrize(
    ("rows", "number", "keys", "kind", "line"),
    [
        ([WHO.replace(",b", ",b,"), *ROWS[1:]], 0, (1,), "field_count", 2),  # ten fields
        ([f"{HIDING},b", *ROWS], 0, (1,), "field_count_key_shift", 2),  # eight fields
        ([*ROWS, f"{HIDING},c,"], 4, (2,), "key_shift", 6),
        (["a,a,Who killed Old Moss?,Cal,Cal,Dot,,,b", *ROWS[1:]], 0, (0, 1), "duplicate_option_key", 2),
        (["a,a,Who killed Old Moss?,Bea,Bea,Cal,,,c", *ROWS[1:]], 0, (2,), "duplicate_option_distractor", 2),
        ([f"{HIDING},,", *ROWS], 0, (1,), "missing_key", 2),  # that row is left out
        (["b,a,What is Bea hiding?,x,y,,,,d", *ROWS], 0, (1,), "missing_key", 2),
        ([*ROWS, ""], 3, (0,), "blank_line", 6),
        (['b,a,"Who, then,\nis it?",x,y,,,,a', WHO.replace(",b", ",b,")], 0, (0,), "field_count", 4),
    ],
)
def test_an_irregular_row_is_read_as_it_can_be_and_reported(tmp_path, rows, number, keys, kind, line):
    path = folder(tmp_path, {"Ann": rows})
    assert asked(path)[number].keys == keys
    flaw = only(path, kind)
    assert (flaw.file, flaw.line) == ("en/moss/final_result/Ann.csv", line)


def test_reports_say_what_was_found_and_what_is_done(tmp_path):
    shifted = folder(tmp_path / "1", {"Ann": [f"{HIDING},b", *ROWS]})
    assert asked(shifted)[0].options == ("x", "y", "z", "w")
    assert only(shifted, "field_count_key_shift")[5:] == ("8 fields: the key 'b' stands in column e", "read from there")
    beyond = folder(tmp_path / "2", {"Ann": ["b,a,What is Bea hiding?,x,y,,,,d", *ROWS]})
    assert only(beyond, "missing_key").detail == "2 options, key 'd'"
    assert len(asked(beyond)) == 4
    quoted = folder(tmp_path / "3", {"Ann": ['b,a,"Who, then,\nis it?",x,y,,,,a']})
    assert asked(quoted)[0].text == "Who, then,\nis it?"


def test_a_shifted_key_of_a_yes_or_no_question_is_doubtful(tmp_path):
    path = folder(tmp_path, {"Ann": ["b,a,Is Bea the aunt of Cal?,x,y,z,w,c,"]})
    assert kinds(path)["key_doubtful"] == 2  # there and in the omniscient file


def test_two_letters_on_single_choice_are_both_right_and_a_double_one_counts_once(tmp_path):
    path = folder(tmp_path, {"Ann": [WHO.replace(",b", ",ab"), ROWS[1].replace(",,a", ",,aa")]})
    assert [question.keys for question in asked(path)] == [(0, 1), (0,)]
    assert kinds(path)["multi_letter_key_on_single_choice"] == 4


def test_an_empty_question_is_read_from_a_row_with_the_same_options(tmp_path):
    path = folder(tmp_path / "1", {"Ann": [ROWS[0], "b,a, ,By water,By knife,By rope,By fire,,b", *ROWS[2:]]})
    assert asked(path)[1].text == "How did Old Moss die?"
    assert only(path, "empty_question").line == 3
    path = folder(tmp_path / "2", {"Ann": ["b,a,,By spoon,By fork,,,,b"]}, omniscient="")
    assert asked(path)[0].text == "(The text of this question is missing.)"


def test_a_key_that_names_another_than_the_murderer_is_kept_and_reported(tmp_path):
    # Manna: 14 of 18 "who killed" keys contradict kill_by_me, and the suspect keys with them
    rows = {"Ann": [WHO.replace(",,b", ",,a"), SUSPECT.replace(",,b", ",,a")]}
    path = folder(tmp_path, rows)
    assert [question.keys for question in asked(path)] == [(0,), (0,)]
    flaws = [flaw for flaw in check(path) if flaw.kind == "key_contradicts_kill_by_me"]
    assert [(flaw.file, flaw.line) for flaw in flaws] == [("en/moss/final_result/Ann.csv", line) for line in (2, 3)]
    text = "the key names 'Bea', kill_by_me Cal (option b)"
    assert [flaw.detail for flaw in flaws] == [f"who: {text}", f"suspect: {text}"]


HOW = "b,a,How did Old Moss die?,Bea,Dot,,,,a"
TOLD = SUSPECT.replace("Cal,Dot", "Cal told Dot to,Dot")


@pytest.mark.parametrize(
    ("rows", "cal", "remarks"),
    [
        ([WHO, SUSPECT.replace(",,b", ",,c")], "Cal", 1),  # who is right, the most suspicious is somebody else
        ([HOW, WHO, SUSPECT.replace(",,b", ",,c")], "Cal", 1),  # whoever else is asked about
        ([WHO, TOLD], "Cal", 0),  # the key speaks of the murderer
        ([WHO, TOLD], "Cal (the Cook)", 0),  # by any part of a long name
    ],
)
def test_a_suspect_key_alone_that_is_not_the_murderer_is_a_remark(tmp_path, rows, cal, remarks):
    # as in Ghost Revenge, Danshui Villa, Cruise Incident
    people = {(cal if name == "Cal" else name): PEOPLE[name] for name in NAMES}
    path = folder(tmp_path, {name: [] for name in people} | {"Ann": rows}, people)
    details = [flaw.detail for flaw in check(path) if flaw.kind == "suspect_key_is_not_the_murderer"]
    assert details == ["victim 0: key Dot though the murderer is an option"] * remarks
    assert kinds(path)["key_contradicts_kill_by_me"] == 0


NOBODYS = "a,a,Who killed Old Moss?,Bea,Cal told Dot to,Dot,,,b"


@pytest.mark.parametrize(
    ("rows", "people", "kind", "detail"),
    [
        (None, {key: {"kill_by_me": [0]} for key in NAMES}, "no_player_murderer", ""),
        ({key: [NOBODYS] for key in NAMES}, PEOPLE, "key_is_not_a_player_name", "Cal told Dot to"),
        ({"Ann": [WHO, WHO.replace("Old Moss", "your uncle")]}, PEOPLE, "near_duplicate_question", "Ann: victim 0"),
    ],
)
def test_the_one_irregularity_of_a_folder(tmp_path, rows, people, kind, detail):
    path = folder(tmp_path, rows, people)
    assert only(path, kind).detail.endswith(detail)
    assert load.load_folder(path).murderers(0) == (() if kind == "no_player_murderer" else (2,))
    assert {question.victim for question in asked(path)} - {None} == {0}


def test_brackets_in_names_and_options_teach_aliases(tmp_path):
    # "Brother Li【Aming】", "Nurse head [Sylvia Costa]"
    people = {("Cal (Cal the Cook or the Cook)" if name == "Cal" else name): PEOPLE[name] for name in NAMES}
    path = folder(tmp_path / "1", people=people)
    assert load.load_folder(path).characters[2].aliases == ("Cal", "Cal the Cook", "the Cook")
    assert only(path, "long_names")
    path = folder(tmp_path / "2", {"Ann": ["a,a,Who killed Old Moss?,Sister Bea【Bea】,Chef [Cal],Dot,,,b"]})
    assert [character.aliases for character in load.load_folder(path).characters] == [
        (),
        ("Sister Bea",),
        ("Chef",),
        (),
    ]
    assert kinds(path) == Counter()


def test_a_key_may_name_a_player_by_an_alias_that_an_option_taught(tmp_path):
    # Cal is the murderer; "Chef" is Cal: no contradiction, and the key is a player's name; "Maid" is nobody
    taught = "a,a,Who killed Old Moss?,Bea,Chef [Cal],Dot,,,b"
    rows = {"Ann": [taught, "a,a,Who killed Old Moss?,Bea,Chef,Dot,,,b"]}
    counts = kinds(folder(tmp_path / "1", rows))
    assert counts["key_is_not_a_player_name"] == counts["key_contradicts_kill_by_me"] == 0
    rows = {"Ann": [taught, "a,a,Who killed Old Moss?,Bea,Maid,Dot,,,b"]}
    assert kinds(folder(tmp_path / "2", rows))["key_is_not_a_player_name"] == 1


def test_victims_are_matched_by_position_whatever_each_character_calls_them(tmp_path):
    # Solitary Boat Firefly: mother / elder sister / 母亲(Yu Shi)
    called = {"Ann": "mother", "Bea": "母亲(Old Moss)", "Cal": "Old Moss", "Dot": "Old Moss"}
    path = folder(tmp_path / "1", people={name: PEOPLE[name] | {"victims": [called[name]]} for name in NAMES})
    victim = load.load_folder(path).victims[0]
    assert victim.name == "Old Moss"
    assert {"mother", "母亲"} <= set(victim.aliases)
    assert only(path, "victim_names_per_perspective")
    # two whom all call the same are told apart
    people = {name: {"victims": ["the corpse"] * 2, "kill_by_me": [int(name == "Cal"), 0]} for name in NAMES}
    path = folder(tmp_path / "2", {key: [] for key in NAMES}, people)
    assert [victim.name for victim in load.load_folder(path).victims] == ["the corpse", "the corpse (2)"]


def test_rows_ask_about_the_victim_they_name_or_that_of_their_block(tmp_path):
    people = {
        name: {"victims": ["Old Moss", "Young Fern"], "kill_by_me": [int(name == "Cal"), int(name == "Dot")]}
        for name in NAMES
    }
    block = ["a,a,Who killed {v}?,Bea,Cal,Dot,,,{k}", "b,a,How did {v} die?,x,y,,,,a"]
    first, second = ([row.format(v=v, k=k) for row in block] for v, k in (("Old Moss", "b"), ("Young Fern", "c")))
    nameless = [row.format(v="your aunt", k="c") for row in block]
    path = folder(tmp_path, {"Ann": first + second, "Bea": first + nameless, "Cal": nameless, "Dot": first}, people)
    case = load.load_folder(path)
    assert [[q.victim for q in seat] for seat in case.questions] == [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1], [0, 0]]


def test_a_murderer_who_is_asked_about_his_own_victim_goes_through_all_of_them(tmp_path):
    # Manna: all six characters get all rows, and the omniscient file names the last victim as nobody else does
    victims = ["Old Moss", "Young Fern", "A masked corpse"]
    people = {name: {"victims": victims, "kill_by_me": [0, int(name == "Cal"), 0]} for name in NAMES}
    block = [f"a,a,Who killed {name}?,Bea,Cal,Dot,,,b" for name in ("Old Moss", "Young Fern", "Hong Er")]
    case = load.load_folder(folder(tmp_path, dict.fromkeys(NAMES, block), people))
    assert all([question.victim for question in seat] == [0, 1, 2] for seat in case.questions)
    assert [question.victim for question in case.omniscient] == [0, 1, 2] * 4


def test_the_name_that_the_asked_uses_comes_first(tmp_path):
    # one's mother is another's daughter: each file speaks of the victims as its character does
    called = {"Ann": ["Mother", "Sister"], "Bea": ["Daughter", "Mother"], "Cal": ["Fern", "Moss"]}
    people = {name: {"victims": names, "kill_by_me": [0, 0]} for name, names in called.items()}
    rows = {name: ["a,a,Who killed the mother?,Ann,Bea,Cal,,,a"] for name in called}
    case = load.load_folder(folder(tmp_path, rows, people))
    assert [seat[0].victim for seat in case.questions[:2]] == [0, 1]


def test_chinese_remains_in_an_english_script(tmp_path):
    people = PEOPLE | {"Ann": {"kill_by_me": [0], "script": ["I am 安 Ann."], "questions": ["你是谁"]}}
    flaws = [flaw for flaw in check(folder(tmp_path, people=people)) if flaw.kind != "relation_key_position"]
    assert [flaw.kind for flaw in flaws] == ["chinese_characters_in_english_script", "untranslated_json_fields"]
    assert flaws[0].file == "en/moss/json/Ann.json"
    assert flaws[0].detail.startswith("1 ")


@pytest.mark.parametrize(
    ("options", "spelt"),
    [
        ("Bea,Zhou Mengdang,Zhou Menggang", ["'Zhou Menggang' beside 'Zhou Mengdang'"]),
        ("Bea,Zhou Mengdang,Zhou menggang", []),  # a word with a small letter is no name
        ("It was Bea.,It was Zhou Mengdang.,Ann.", []),  # at the end of a sentence it is the name itself
        ("Bea,Zhou Mengdang,Zhou Mengdan", ["'Zhou Mengdan' beside 'Zhou Mengdang'"]),
        ("Bea,Zhou Mengdang,Zhou Mengdda", []),  # two letters are other ones
    ],
)
def test_a_name_in_another_spelling(tmp_path, options, spelt):
    people = {name: PEOPLE["Cal" if name == "Zhou Mengdang" else "Ann"] for name in ("Ann", "Bea", "Zhou Mengdang")}
    rows = {name: [f"a,a,Who killed Old Moss?,{options},,,b"] for name in ("Ann", "Bea")}
    path = folder(tmp_path, rows, people)
    assert [flaw.detail for flaw in check(path) if flaw.kind == "name_spelling"] == spelt


@pytest.mark.parametrize("sentence", ["大家说是周孟当干的", "大家都说是周孟当"], ids=["within", "at the end"])
def test_a_chinese_name_with_another_character_in_a_sentence(tmp_path, sentence):
    people = {name: {"kill_by_me": [int(name == "周梦当")]} for name in ("安安", "贝贝", "周梦当")}
    rows = {name: [f"a,a,谁杀了莫斯?,是贝贝,周梦当,{sentence},,,b"] for name in ("安安", "贝贝")}
    path = folder(tmp_path, rows | {"GM": []}, people, lang="zh", omniscient="GM")
    details = [flaw.detail for flaw in check(path) if flaw.kind == "name_spelling"]
    assert details == ["'周孟当' beside '周梦当'"]


def test_numbers_of_players_that_disagree(tmp_path):
    path = folder(tmp_path, slug="Moss (open to 8 people)", info={"agent_num": 5})
    assert kinds(path) == Counter(agent_num=1, folder_name=1)
    assert load.load_folder(path).seats == 4


def test_the_index_of_the_collection_tells_the_name_a_folder_was_published_under(tmp_path):
    names = [("moss", "Moss, 9 players"), ("other", "Other, 8 players")]
    scripts = [{"slug": slug, "source_dir_en": name} for slug, name in names]
    (tmp_path / "index.json").write_text(json.dumps({"scripts": scripts}), encoding="utf-8")
    assert only(folder(tmp_path), "folder_name").detail == "'Moss, 9 players' for 4 characters"


def test_an_omniscient_file_of_its_own(tmp_path):
    rows = {"FSA": [*ROWS, "b,a,Who is Hong Er?,Hong Er,Bea,,,,a"]}
    path = folder(tmp_path, rows)
    assert kinds(path) == Counter(omniscient_differs_from_per_character=1, omniscient_reveals_identity=1)
    assert len(load.load_folder(path).omniscient) == 5


def test_missing_question_files_are_reported(tmp_path):
    path = folder(tmp_path, omniscient="")
    (path / "final_result" / "Ann.csv").unlink()
    case = load.load_folder(path)
    assert case.omniscient == case.questions[0] == ()
    assert kinds(path) == Counter(missing_questions=2)


def test_relation_keys_in_a_fixed_place(tmp_path):
    fixed = folder(tmp_path / "1")
    assert "relation_key_position" in {flaw.kind for flaw in check(fixed)}
    moved = folder(tmp_path / "2", {"Ann": [*ROWS[:3], ROWS[3].replace(",,a", ",,b")]})
    assert "relation_key_position" not in {flaw.kind for flaw in check(moved)}


def test_the_other_language_is_compared_where_it_lies_beside(tmp_path):
    english = folder(tmp_path)
    people = {name: {"kill_by_me": [int(name in ("卡尔", "贝"))]} for name in ("安安", "贝", "卡尔", "朵朵")}
    rows = {name: [] for name in people}
    chinese = folder(tmp_path, rows, people, lang="zh", omniscient="GM")
    assert load.load_folder(chinese).language == "zh"
    flaws = [flaw for flaw in check(chinese) if flaw.kind == "json_language_mismatch"]
    assert [flaw.file for flaw in flaws] == ["zh/moss/json/贝.json"]
    assert [flaw.file for flaw in check(english) if flaw.kind == "json_language_mismatch"] == ["en/moss/json/Bea.json"]


def test_the_same_questions_in_another_order_than_in_the_other_language(tmp_path):
    folder(tmp_path, lang="zh")
    path = folder(tmp_path, {"FSA": [ROWS[1], ROWS[0], *ROWS[2:], *ROWS, *ROWS]})
    assert kinds(path) == Counter(row_order=1)
    assert [flaw.file for flaw in check(path) if flaw.kind == "row_order"] == ["en/moss/final_result/FSA.csv"]


def test_the_language_is_told_by_the_script_where_the_folder_does_not(tmp_path):
    people = {
        name: {"kill_by_me": [int(name == "卡尔")], "script": ["这是一个很长的夜晚，谁也睡不着。"]}
        for name in ("安安", "卡尔")
    }
    rows = {name: [] for name in people}
    assert load.load_folder(folder(tmp_path, rows, people, lang="data")).language == "zh"
    assert load.load_folder(folder(tmp_path / "2", lang="data")).language == "en"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json/script_info.json", "{"),
        ("json/script_info.json", "{}"),
        ("json/Ann.json", "[]"),
        ("json/Ann.json", '{"script": []}'),
        ("json/Ann.json", json.dumps(person("Ann", kill_by_me=["no"]))),
        ("final_result/Ann.csv", "a,b,c\n"),
        ("final_result/Ann.csv", f"{HEADER}\nz,a,What?,x,y,,,,a\n"),
        ("final_result/Ann.csv", f"{HEADER}\na,z,What?,x,y,,,,a\n"),
        ("final_result/Ann.csv", f"{HEADER}\na,a,What?,x,y,,,,a,more\n"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_line(tmp_path, capsys, name, text):
    path = folder(tmp_path)
    (path / name).write_text(text, encoding="utf-8")
    refusal(load.load_folder, path)
    assert main(tmp_path) == 2
    assert "0 scripts; 1 cannot be loaded" in capsys.readouterr().out


def test_the_script_lists_irregularities_and_names_what_it_cannot_load(tmp_path, capsys):
    folder(tmp_path, {"Ann": [*ROWS, ""]})
    assert main(tmp_path) == 0
    assert "blank_line" in capsys.readouterr().out
    bad = folder(tmp_path, slug="fern")
    (bad / "json" / "Bea.json").unlink()
    assert main(tmp_path) == 2
    captured = capsys.readouterr()
    assert "in 1 scripts; 1 cannot be loaded" in captured.out
    assert "Bea.json cannot be read" in captured.err
    assert main(tmp_path / "nowhere") == 2


NOT_DETECTABLE = {("death_wears_white", "row_order")}
"""Needs the Chinese folder of the script beside the English one."""


@pytest.fixture(scope="module")
def collection():
    listed = json.loads(reference("wellplay/index.json").read_text("utf-8"))["scripts"]
    return {script["slug"]: script for script in listed}, load.folders(reference("wellplay"))


def test_the_collection_has_the_counts_of_its_index(collection):
    index, folders = collection
    assert folders
    for path in folders:
        case, entry = load.load_folder(path), index[path.name]
        lang = path.parent.name
        assert case.language == lang
        assert case.names == tuple(character[lang] for character in entry["characters"])
        assert len(case.victims) == entry["n_victims"]
        assert case.counts() == {key: entry["question_counts"][key] for key in case.counts()}
        rows = [question for seat in case.questions for question in seat]
        assert sum(question.pick == 2 for question in rows) == entry["question_counts"]["multiple_choice"]
        assert sum(question.points for question in rows) == entry["points_total"]
        assert len(case.omniscient) == len(rows)
        for k, victim in enumerate(entry["victims"]):
            assert [case.names[seat] for seat in case.murderers(k)] == victim[f"murderers_{lang}_json"]
            assert case.victims[k].name in victim[f"names_used_{lang}"]
        for seat, character in enumerate(entry["characters"]):
            counts = Counter(question.sort for question in case.questions[seat])
            assert {sort: counts[sort] for sort in character["questions"]} == character["questions"]


def test_the_check_lists_every_item_of_the_errata(collection):
    _, folders = collection
    here = {(path.parent.name, path.name) for path in folders}
    flaws = [flaw for path in folders for flaw in check(path)]
    missing = []
    for item in json.loads(reference("wellplay/errata.json").read_text("utf-8"))["items"]:
        langs = ("en", "zh") if item["lang"] == "both" else (item["lang"],)
        present = item["slug"] == "all" or any((lang, item["slug"]) in here for lang in langs)
        same = any(
            flaw.kind == item["kind"]
            and flaw.lang in langs
            and item["slug"] in ("all", flaw.slug)
            and item["file"] in (None, flaw.file)
            and item["line"] in (None, flaw.line)
            for flaw in flaws
        )
        if present and not same and (item["slug"], item["kind"]) not in NOT_DETECTABLE:
            missing.append(item)
    assert missing == []


def test_the_check_invents_no_lines(collection):
    # every remark on a single row stands in the errata
    _, folders = collection
    listed = {
        (item["file"], item["line"], item["kind"])
        for item in json.loads(reference("wellplay/errata.json").read_text("utf-8"))["items"]
    }
    lines = {(flaw.file, flaw.line, flaw.kind) for path in folders for flaw in check(path) if flaw.line is not None}
    assert lines <= listed
