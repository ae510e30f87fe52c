"""`parlour reproduce avalon-people`: counts by hand, and the whole study of a few games in the form of the site, made here."""

from __future__ import annotations

import json

import pytest
from parlour.envs.core import ParlourError
from parlour.training.papers import avalon_people
from parlour.training.papers.avalon_people import GAMES_LEFT_OUT, NAMED, WINS, played_game
from parlour.training.papers.cells import ReproductionSetting
from parlour.training.papers.reproduce import reproduce
from parlour.training.records.avalon import import_records
from records.test_avalonlogs import MISSIONS, logged


def folder_of(tmp_path, games):
    data = tmp_path / "data"
    data.mkdir()
    (data / "games.jsonl").write_text("".join(json.dumps(game) + "\n" for game in games))
    return data


def named(number):
    return {"id": f"game-{number}"}


def test_the_end_of_a_game_says_who_won_and_whether_merlin_was_named(tmp_path):
    given_up = logged(MISSIONS[:2], state="CANCELED", assassinated=None) | named(3)
    failed = [([("Kim Max", "Kim Lou Max Nan")], "Max"), ([("Kim Max Nan", "Max Nan Oz Quin")], "Max Nan")]
    games = [
        logged() | named(0),
        logged(marked="Nan", assassinated="Lou", state="EVIL_WIN") | named(1),
        logged([*failed, failed[1]], state="EVIL_WIN", assassinated=None) | named(2),
        given_up,
    ]
    files = import_records(folder_of(tmp_path, games), tmp_path / "out")
    found = [played_game(path) for path in files]
    assert [one and (one.good_won, one.named) for one in found] == [(True, False), (False, True), (False, None), None]
    assert found[0] is not None
    assert found[0].roles == "Assassin names, Merlin, Percival, Morgana, Mordred"
    assert found[1] is not None
    assert found[1].roles == "Mordred names, Merlin, Percival, Morgana, Minion"


def test_a_study_needs_data():
    with pytest.raises(ParlourError, match="--data DIR"):
        reproduce("avalon-people", ReproductionSetting())


@pytest.mark.slow
def test_the_study_counts_and_reads_the_games_and_writes_a_report(tmp_path, monkeypatch):
    monkeypatch.setattr(avalon_people, "COMMON", 5)
    games = [logged(assassinated=("Oz", "Kim")[k % 2]) | named(k) for k in range(29)]
    plain = logged(assassinated=None) | named(29)
    plain["outcome"]["roles"][5]["role"] = "LOYAL FOLLOWER"
    setting = ReproductionSetting(data=folder_of(tmp_path, [*games, plain]), out=tmp_path / "out")
    found = reproduce("avalon-people", setting)
    by = {(one.row, one.of, one.measure): one for one in found.cells}
    assert by["people", "without Merlin", GAMES_LEFT_OUT].ours.value == pytest.approx(1 / 30)
    assert by["people", "7 players", WINS].ours.value == 1
    assert by["people", "7 players", NAMED].ours.value == 0
    losses = {one.row for one in found.cells if one.measure == avalon_people.LOSS and not one.of}
    assert losses == {"chance", "usual habits", "evidence of people"}
    report = (tmp_path / "out" / "report.md").read_text()
    assert report.index("29 games of people") < report.index("](merlin.png)")
    assert (tmp_path / "out" / "wins_by_roles.png").exists()
