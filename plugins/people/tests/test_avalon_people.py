"""`parlour reproduce avalon-people`: counts by hand, and the whole study of a few games in the form of the site, made here."""

from __future__ import annotations

import json

import pytest
from parlour.envs.core import ParlourError
from parlour.training.papers.cells import ReproductionSetting, StudySetting
from parlour.training.papers.report import report_of
from parlour.training.papers.reproduce import reproduce
from parlour.training.records.avalon.importing import import_records
from parlour_people.papers import avalon_people
from parlour_people.papers.avalon_people import GAMES_LEFT_OUT, LIKELIHOOD, NAMED, WINS, played_game
from test_avalonlogs import MISSIONS, logged

SILENT = {"num_players": 5, "rules": "official", "talk": False}


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
    summaries = [played_game(path) for path in files]
    assert [game and (game.good_won, game.named) for game in summaries] == [
        (True, False),
        (False, True),
        (False, None),
        None,
    ]
    assert summaries[0] is not None
    assert summaries[0].roles == "Assassin names, Merlin, Percival, Morgana, Mordred"
    assert summaries[1] is not None
    assert summaries[1].roles == "Mordred names, Merlin, Percival, Morgana, Minion"


def test_a_study_needs_data():
    with pytest.raises(ParlourError, match="--data DIR"):
        reproduce("avalon-people", ReproductionSetting())


@pytest.mark.slow
def test_the_study_counts_and_reads_the_games_and_writes_a_report(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(avalon_people, "COMMON", 5)
    games = [logged(assassinated=("Oz", "Kim")[k % 2]) | named(k) for k in range(59)]
    plain = logged(assassinated=None) | named(59)
    plain["outcome"]["roles"][5]["role"] = "LOYAL FOLLOWER"
    setting = StudySetting(data=folder_of(tmp_path, [*games, plain]), out=tmp_path / "out")
    table = reproduce("avalon-people", setting)
    by = {(cell.row, cell.of, cell.measure): cell for cell in table.cells}
    assert by["people", "without Merlin", GAMES_LEFT_OUT].ours.value == pytest.approx(1 / 60)
    assert by["people", "7 players", WINS].ours.value == 1
    assert by["people", "7 players", NAMED].ours.value == 0
    losses = {cell.row for cell in table.cells if cell.measure == avalon_people.LOSS and not cell.of}
    assert losses == {"chance", "usual habits", "evidence of people"}
    report = (tmp_path / "out" / "report.md").read_text()
    assert report.index("59 games of people") < report.index("](clones/scores.png)")
    votes = {cell.row: cell.of for cell in table.cells if cell.measure == f"vote: {LIKELIHOOD}"}
    assert votes == dict.fromkeys(("clone", "heuristic", "frequency"), "7 players")
    report_of(table, setting.model).show()
    output = capsys.readouterr().out
    assert f"{len(table.cells) - len(table.cells_shown)} more figures are in report.md" in output
    assert WINS in output
    assert "propose: mean" not in output
