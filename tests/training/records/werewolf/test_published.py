"""Published games of Werewolf are read strictly, kept as records, and give the figures that were published of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.training.measure.werewolf import measures
from parlour.training.records.reading import read_as
from parlour.training.records.werewolf import published as result_store
from parlour.training.records.werewolf.importing import FORMATS, import_records

from tests.reference_data import reference as data

JSON = dict[str, Any]
Edit = Callable[[JSON], Any]

# Four seats: alice holds the wolves, bob the leaders. Day 1: 1 passes, 2 votes for its fellow 1, 3 and 4 for 1.
GAME: JSON = {
    "game": 7,
    "group": 3,
    "seats_1_2": "alice",
    "seats_3_4": "bob",
    "upstream_config": "x.json",
    "roles": {"1": "werewolf", "2": "werewolf", "3": "seer", "4": "guard"},
    "winner": "village",
    "winner_seats": [3, 4],
    "alive_at_end": [4],
    "day_votes": {"1": {"1": "pass", "2": "1", "3": "1", "4": "1"}, "2": {"2": "4", "4": "2"}},
    "night_actions": {"1": {"werewolf": {"1": "3", "2": "3"}, "witch": {}, "guard": {"4": "pass"}, "seer": {"3": "1"}}},
    "last_inference": {
        "1": {"2": ["teammate", 0.9], "3": ["enemy", None], "4": ["teammate", 2.5]},
        "3": {"1": ["enemy", 1.0]},
        "4": {},
    },
}


def written(path: Path, *games: JSON) -> Path:
    path.write_text("".join(json.dumps(game) + "\n" for game in games))
    return path


def changed(edit: Edit) -> JSON:
    game = deepcopy(GAME)
    edit(game)
    return game


def counted(folder: Path, *games: JSON) -> JSON:
    import_records(written(folder / "games.txt", *games), folder / "out")
    return measures.of_directory(folder / "out")


# -- the form --------------------------------------------------------------------------------------------------


def test_a_game_becomes_a_record_with_seats_from_0(tmp_path: Path) -> None:
    (path,) = import_records(written(tmp_path / "games.txt", GAME), tmp_path / "out")
    assert path == tmp_path / "out" / "werewolf-7.jsonl"
    assert json.loads(path.read_text()) == {
        "parlour_record": 1,
        "game": "werewolf_v0",
        "source": {"game": 7, "group": 3, "upstream_config": "x.json"},
        "players": ["alice", "alice", "bob", "bob"],
        "roles": ["Werewolf", "Werewolf", "Seer", "Guard"],
        "winner": "village",
        "votes": [[1, 0, -1], [1, 1, 0], [1, 2, 0], [1, 3, 0], [2, 1, 3], [2, 3, 1]],
        "nights": [[1, "Werewolf", 0, 2], [1, "Werewolf", 1, 2], [1, "Guard", 3, -1], [1, "Seer", 2, 0]],
        "judgements": [
            [0, 1, "ally", 0.9],
            [0, 2, "adversary", None],
            [0, 3, "ally", 2.5],
            [2, 0, "adversary", 1.0],
        ],
        "alive": [3],
    }


def test_importing_twice_changes_nothing_and_another_game_in_the_way_is_refused(tmp_path: Path) -> None:
    games = written(tmp_path / "games.txt", GAME)
    assert import_records(games, tmp_path / "out") == import_records(games, tmp_path / "out")
    other = written(tmp_path / "other.txt", GAME | {"game": 8}, changed(lambda game: game.update(alive_at_end=[])))
    with pytest.raises(ParlourError, match=r"werewolf-7\.jsonl' exists and is another game"):
        import_records(other, tmp_path / "out")
    assert not (tmp_path / "out" / "werewolf-8.jsonl").exists()


def test_measures_of_one_game_by_hand(tmp_path: Path) -> None:
    group = counted(tmp_path, GAME)["group 3"]
    alice, bob = (group["methods"][name] for name in ("alice", "bob"))
    assert (group["games"], group["wins_village"], group["wins_werewolf"]) == (1, 1, 0)
    # bob's leaders won: of the villages' one win he has one; nobody won as wolves
    assert [alice[key] and alice[key]["rate"] for key in ("TWR", "WWR", "LWR")] == [0.0, None, 0.0]
    assert [bob[key] and bob[key]["rate"] for key in ("TWR", "WWR", "LWR")] == [1.0, None, 1.0]
    assert (alice["as_wolves"]["n"], alice["as_leaders"], bob["as_leaders"]["n"]) == (1, None, 1)
    # wolf 1 passed: 0; wolf 2 voted for its fellow, then for 4: -.5 + .5 = 0, with the published sign .5 + .5 = 1
    assert alice["performance"]["Werewolf"] == {"n": 2, "table_3": 0.0, "published_sign": 0.5}
    assert bob["performance"]["Seer"] == {"n": 1, "table_3": 6.5, "published_sign": 6.5}
    assert bob["performance"]["Guard"] == {"n": 1, "table_3": 8.0, "published_sign": 8.0}
    # 1 is right about 2 and 3 and wrong about 4, 2 said nothing: 2 of 2 x 3; 3 is right about one, 4 said nothing
    assert (alice["reasoning"]["total"]["hits"], alice["reasoning"]["total"]["n"]) == (2, 6)
    assert (bob["reasoning"]["total"]["hits"], bob["reasoning"]["Seer"]["hits"]) == (1, 1)
    assert bob["reasoning"]["total"]["n"] == 6
    # of each seat's three judgements: the seer had one right, the guard none; a method has no figure of another's roles
    shares = {role: (share["hits"], share["n"]) for role, share in bob["reasoning"].items()}
    assert shares == {"total": (1, 6), "Seer": (1, 3), "Guard": (0, 3)}


def test_a_vote_for_oneself_is_a_wrong_vote(tmp_path: Path) -> None:
    groups = counted(tmp_path, changed(lambda game: game.update(day_votes={"1": {"3": "3"}})))
    assert groups["group 3"]["methods"]["bob"]["performance"]["Seer"]["table_3"] == 3.5


def forms(path: Path) -> list[JSON]:
    """The records of a file in parlour's own form."""
    return [json.loads(text) for text in read_as(FORMATS, path, None, "gratr").values()]


# -- what may differ -------------------------------------------------------------------------------------------

TOLERATED: dict[str, Edit] = {
    "unknown fields": lambda game: game.update(note={"x": [1]}),
    "no group, no config": lambda game: (game.pop("group"), game.pop("upstream_config")),
    "seats as numbers": lambda game: game.update(
        day_votes={"1": {"2": 1, "3": 1, "4": 1, "1": None}, "2": {"2": 4, "4": 2}}
    ),
    "no winner but its seats": lambda game: game.pop("winner"),
    "no seats of the winner": lambda game: game.pop("winner_seats"),
    "nobody at the table, and the observer itself": lambda game: game["last_inference"]["1"].update(
        {"1": ["enemy", 0.1], "9": ["enemy", 1], "x": ["enemy", 1]}
    ),
    "unsure": lambda game: game["last_inference"]["3"].update({"2": ["unsure", 0.5], "4": None}),
    "an observer without a judgement": lambda game: game["last_inference"].update({"2": None}),
    "no number": lambda game: game["last_inference"]["3"].update({"1": ["enemy"]}),
    "a day without votes": lambda game: game["day_votes"].update({"3": {}, "4": None}),
    "no nights": lambda game: game.pop("night_actions"),
    "nobody alive": lambda game: game.update(alive_at_end=[]),
}


@pytest.mark.parametrize("edit", TOLERATED.values(), ids=TOLERATED)
def test_what_does_not_matter_changes_no_figure(edit: Edit, tmp_path: Path) -> None:
    usual = counted(tmp_path, GAME)["group 3"]
    (tmp_path / "edited").mkdir()
    (group,) = counted(tmp_path / "edited", changed(edit)).values()
    assert group == usual


def test_records_leave_out_judgements_of_oneself_and_put_turns_in_order(tmp_path: Path) -> None:
    def edit(game: JSON) -> None:
        game["last_inference"]["1"]["1"] = ["enemy", 0.1]
        game["day_votes"] = dict(reversed(game["day_votes"].items()))

    usual, edited = (written(tmp_path / name, game) for name, game in (("a", GAME), ("b", changed(edit))))
    assert forms(edited) == forms(usual)


def test_parts_that_were_not_recorded_are_not_counted(tmp_path: Path) -> None:
    without = changed(lambda game: (game.update(day_votes=None), game.pop("last_inference")))
    bob = counted(tmp_path, without)["group 3"]["methods"]["bob"]
    assert bob["TWR"]["n"] == 1
    assert bob["performance"]["Seer"] == {"n": 0, "table_3": None, "published_sign": None}
    assert bob["reasoning"] == {"total": None, "Seer": None, "Guard": None}


def test_a_game_without_a_winner_is_a_game_that_nobody_won(tmp_path: Path) -> None:
    drawn = changed(lambda game: game.update(game="draw", winner="draw", winner_seats=[]))
    broken = changed(lambda game: game.update(game="broken", winner=None, winner_seats=None))
    bare = changed(lambda game: (game.update(game="bare"), game.pop("winner"), game.pop("winner_seats")))
    group = counted(tmp_path, GAME, drawn, broken, bare)["group 3"]
    assert (group["games"], group["wins_village"], group["without_winner"]) == (4, 1, 3)
    bob = group["methods"]["bob"]
    assert (bob["TWR"]["hits"], bob["TWR"]["n"], bob["LWR"]["n"]) == (1, 4, 1)
    assert bob["performance"]["Guard"]["table_3"] == 4.25  # 8, and 3 for the votes alone three times


def test_tables_of_any_size_and_blocks_the_other_way_round(tmp_path: Path) -> None:
    roles = dict(
        zip("1234567", ["seer", "witch", "guard", "villager", "werewolf", "werewolf", "villager"], strict=True)
    )
    seven = {"game": "s", "seats_5_7": "b", "seats_1_4": "a", "roles": roles, "winner": "werewolf"}
    methods = counted(tmp_path, seven)["all"]["methods"]
    assert (methods["a"]["as_leaders"]["hits"], methods["b"]["as_wolves"]["hits"]) == (0, 1)


def test_a_method_that_shares_the_wolves_holds_no_block(tmp_path: Path) -> None:
    shared = changed(lambda game: game.update(roles={"1": "werewolf", "2": "seer", "3": "werewolf", "4": "guard"}))
    shared["winner_seats"], shared["night_actions"] = [2, 4], None
    methods = counted(tmp_path, shared)["group 3"]["methods"]
    assert [methods["alice"][key] for key in ("as_wolves", "as_leaders", "TWR", "WWR", "LWR")] == [None] * 5
    assert methods["alice"]["performance"]["Seer"]["n"] == 1


def test_groups_and_opponents_are_told_apart(tmp_path: Path) -> None:
    other = changed(lambda game: game.update(game=8, seats_1_2="carol"))
    assert list(counted(tmp_path, GAME, other, GAME | {"game": 9, "group": 4})) == [
        "group 3: alice, bob",
        "group 3: bob, carol",
        "group 4",
    ]


# -- refusals --------------------------------------------------------------------------------------------------

# what `test_refusals.py` does not damage: more than one field, or a value that is none by its meaning
REFUSED: dict[str, tuple[Edit, str]] = {
    "game": (lambda game: game.update(game="../x"), r'line 2: game "\.\./x" is not accepted'),
    "game twice": (lambda game: game.update(game="A"), "an earlier line has it"),
    "gap": (lambda game: game["roles"].update({"6": "seer"}), "numbered from 1 without gaps"),
    "no blocks": (lambda game: (game.pop("seats_1_2"), game.pop("seats_3_4")), "no blocks: not the seats 1..4"),
    "block": (lambda game: game.update(seats_4_4="carol"), "seat 4 is in two blocks"),
    "method": (lambda game: game.update(seats_1_2=" "), 'seats_1_2 " " is not accepted'),
    "winner's seats": (
        lambda game: game.update(winner_seats=[1, 2]),
        r"accepted: the seats of the side that won \(vil",
    ),
    "winners of both sides": (lambda game: (game.pop("winner"), game.update(winner_seats=[1, 3])), r"won \(nobody\)"),
    "day": (lambda game: game["day_votes"].update({"0": {}}), "day_votes: 0 {} is not accepted; accepted: turns"),
    "voter": (lambda game: game["day_votes"]["1"].update({"5": "1"}), "day_votes, 1: 5 .* accepted: entries of the"),
    "true": (lambda game: game["day_votes"]["1"].update({"2": True}), "day_votes, 1: 2 true is not accepted"),
    "night role": (lambda game: game["night_actions"]["1"].update(hunter={}), "night_actions, 1: hunter"),
    "night actor": (lambda game: game["night_actions"]["1"].update(seer={"4": "1"}), "seats that hold the role"),
    "observer": (lambda game: game["last_inference"].update({"7": {}}), "last_inference: 7 .* entries of the seats 1"),
    "number": (lambda game: game["last_inference"]["1"].update({"2": ["enemy", "1"]}), "last_inference, 1: 2"),
    "no number at all": (lambda game: game["last_inference"]["1"].update({"2": ["enemy", float("nan")]}), "1: 2"),
}


@pytest.mark.parametrize(("edit", "message"), REFUSED.values(), ids=REFUSED)
def test_a_contradiction_is_refused_with_its_line_and_place(edit: Edit, message: str, tmp_path: Path) -> None:
    first = GAME | {"game": "a"}
    with pytest.raises(ParlourError, match=message) as caught:
        import_records(written(tmp_path / "games.txt", first, changed(edit)), tmp_path / "out")
    error = str(caught.value)
    for part in ("games.txt' line 2", "accepted: "):
        assert part in error
    assert "\n" not in error
    assert not (tmp_path / "out").exists()


KEPT: dict[str, JSON] = {
    "form": {"parlour_record": 2},
    "game": {"game": "avalon_v0"},
    "roles": {"roles": ["Werewolf", "Werewolf", "Seer", "Hunter"]},
    "players": {"players": ["alice"]},
    "winner": {"winner": "wolves"},
    "votes": {"votes": [[1, 0, 4]]},
    "judgements": {"judgements": [[0, 1, "friend", 1]]},
    "source": {"source": None},
}


@pytest.mark.parametrize(("key", "edit"), KEPT.items(), ids=KEPT)
def test_a_record_that_was_tampered_with_is_refused(key: str, edit: JSON, tmp_path: Path) -> None:
    form = forms(written(tmp_path / "games.txt", GAME))[0]
    path = written(tmp_path / "werewolf-7.jsonl", form | edit)
    with pytest.raises(
        ParlourError, match=rf"werewolf-7\.jsonl' line 1: {'parlour_record' if key == 'form' else key} "
    ):
        result_store.read_result(path)
    with pytest.raises(ParlourError, match="holds 2 lines; accepted: one record"):
        result_store.read_result(written(path, form, form))


# -- the command line ------------------------------------------------------------------------------------------


def test_commands_import_and_count(tmp_path: Path, output_of: Callable[..., str], json_of: Callable[..., Any]) -> None:
    games, out = written(tmp_path / "games.jsonl", GAME), str(tmp_path / "out")
    assert output_of(["import", "werewolf", str(games), "--out", out]) == f"1 games written to {out}\n"
    assert json_of(["metrics", out, "--json"]) == measures.of_directory(out)
    output = output_of(["metrics", out])
    assert "group 3: games 1" in output
    assert "6.500 (wrong votes added: 6.500)  n=1" in output


def test_a_folder_with_games_of_two_kinds_is_refused_in_one_line(tmp_path: Path, error_of: Callable[..., str]) -> None:
    import_records(written(tmp_path / "games.txt", GAME), tmp_path)
    (tmp_path / "a.jsonl").write_text('{"parlour": 1, "game": "avalon_v0", "config": {}}\n')
    error = error_of(["metrics", str(tmp_path)])
    assert "'a.jsonl' of avalon_v0 and 'werewolf-7.jsonl' of werewolf_v0" in " ".join(error.split())


# -- the published games ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reference() -> Path:
    return data("gratr/records_group1.jsonl").parent


@pytest.fixture(scope="module")
def measured(reference: Path, tmp_path_factory: pytest.TempPathFactory) -> JSON:
    folder = tmp_path_factory.mktemp("records")
    for number in (1, 2):
        assert len(import_records(reference / f"records_group{number}.jsonl", folder)) == 50
    return measures.of_directory(folder)


ROLES = ("Werewolf", "Witch", "Guard", "Seer", "Villager")
OPPONENTS = {"group 1": "Baseline", "group 2": "Baseline+Native RAG"}
# as wolves, as leaders, TWR, WWR, LWR of GRATR
WINS = {
    "group 1": ((21, 25), (17, 25), (38, 50), (21, 29), (17, 21)),
    "group 2": ((18, 25), (18, 25), (36, 50), (18, 25), (18, 25)),
}
RATES = {"group 1": (0.760, 0.724, 0.810), "group 2": (0.720, 0.720, 0.720)}
PERFORMANCE = {
    ("group 1", "GRATR", "table_3"): (5.047, 5.560, 5.800, 5.440, 3.020),
    ("group 1", "Baseline", "table_3"): (1.520, 0.260, 0.740, 0.920, 2.480),
    ("group 1", "GRATR", "published_sign"): (5.487, 7.120, 7.240, 6.040, 4.460),
    ("group 1", "Baseline", "published_sign"): (2.200, 2.780, 2.420, 2.480, 3.600),
    ("group 2", "GRATR", "table_3"): (4.347, 5.520, 5.880, 5.700, 3.340),
    ("group 2", "Baseline+Native RAG", "table_3"): (1.473, 2.420, 2.060, 2.300, 3.400),
    ("group 2", "GRATR", "published_sign"): (4.653, 7.080, 7.560, 6.180, 4.860),
    ("group 2", "Baseline+Native RAG", "published_sign"): (2.047, 3.980, 3.500, 3.380, 4.000),
}
# total, then the roles
REASONING = {
    "group 1": (0.757, 0.850, 0.623, 0.680, 0.777, 0.714),
    "group 2": (0.756, 0.870, 0.686, 0.669, 0.771, 0.654),
}


@pytest.mark.parametrize("group", WINS)
def test_table_2_comes_out(measured: JSON, group: str) -> None:
    methods = measured[group]["methods"]
    gratr, other = methods["GRATR"], methods[OPPONENTS[group]]
    keys = ("as_wolves", "as_leaders", "TWR", "WWR", "LWR")
    assert tuple((gratr[key]["hits"], gratr[key]["n"]) for key in keys) == WINS[group]
    assert tuple(gratr[key]["rate"] for key in ("TWR", "WWR", "LWR")) == RATES[group]
    for key in ("TWR", "WWR", "LWR"):
        assert other[key]["rate"] == pytest.approx(1 - gratr[key]["rate"], abs=1e-9)
    assert (other["as_wolves"]["n"], other["as_leaders"]["n"]) == (25, 25)


@pytest.mark.parametrize(("group", "method", "sign"), PERFORMANCE)
def test_figure_3_comes_out_only_if_wrong_votes_add(measured: JSON, group: str, method: str, sign: str) -> None:
    performance = measured[group]["methods"][method]["performance"]
    assert tuple(performance[role][sign] for role in ROLES) == PERFORMANCE[group, method, sign]
    assert [performance[role]["n"] for role in ROLES] == [75, 25, 25, 25, 50]


@pytest.mark.parametrize("group", REASONING)
def test_figure_4_comes_out(measured: JSON, group: str) -> None:
    reasoning = measured[group]["methods"]["GRATR"]["reasoning"]
    assert tuple(reasoning[role]["rate"] for role in ("total", *ROLES)) == REASONING[group]
    assert reasoning["total"]["n"] == 7 * 200
