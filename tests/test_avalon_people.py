"""`parlour reproduce avalon-people`: counts by hand, and the whole study of a few games in the form of the site, made here."""

from __future__ import annotations

import json

import pytest
from parlour.envs import replay
from parlour.envs.avalon.vocabulary import BALLOT, PERCIVAL
from parlour.envs.core import Move, ParlourError
from parlour.envs.registry import lookup
from parlour.training.cli.reproduce import show_reproduction
from parlour.training.papers import avalon_people
from parlour.training.papers.avalon_people import GAMES_LEFT_OUT, NAMED, WINS, played_game
from parlour.training.papers.avalon_people_differences import contrasts
from parlour.training.papers.avalon_people_players import LIKELIHOOD
from parlour.training.papers.avalon_people_study import PeopleStudy
from parlour.training.papers.avalon_records import TRANSCRIPTS
from parlour.training.papers.cells import ReproductionSetting
from parlour.training.papers.reproduce import reproduce
from parlour.training.records.avalon import import_records
from recorded_games import record
from records.test_avalonlogs import MISSIONS, logged

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
    setting = ReproductionSetting(data=folder_of(tmp_path, [*games, plain]), out=tmp_path / "out")
    table = reproduce("avalon-people", setting)
    by = {(cell.row, cell.of, cell.measure): cell for cell in table.cells}
    assert by["people", "without Merlin", GAMES_LEFT_OUT].ours.value == pytest.approx(1 / 60)
    assert by["people", "7 players", WINS].ours.value == 1
    assert by["people", "7 players", NAMED].ours.value == 0
    losses = {cell.row for cell in table.cells if cell.measure == avalon_people.LOSS and not cell.of}
    assert losses == {"chance", "usual habits", "evidence of people"}
    report = (tmp_path / "out" / "report.md").read_text()
    assert report.index("59 games of people") < report.index("](merlin.png)")
    assert (tmp_path / "out" / "wins_by_roles.png").exists()
    votes = {cell.row: cell.of for cell in table.cells if cell.measure == f"vote: {LIKELIHOOD}"}
    assert votes == dict.fromkeys(("clone", "logistic", "heuristic", "frequency"), "7 players")
    show_reproduction(table, setting.model)
    output = capsys.readouterr().out
    assert f"- {len(table.cells) - len(table.cells_shown)} more figures are in report.md" in output
    assert WINS in output
    assert "propose: mean" not in output


@pytest.fixture(scope="module")
def silent_games(tmp_path_factory):
    """A study of games of five heuristics, as if people had played them."""
    folder = tmp_path_factory.mktemp("study")
    for seed in range(24):
        record(folder / TRANSCRIPTS / f"game-{seed:02}.jsonl", "avalon_v0", seed, **SILENT)
    return PeopleStudy("avalon-people", ReproductionSetting(games=20, practice=3, data=folder), folder)


@pytest.mark.slow
def test_experts_are_compared_in_the_seat_of_a_clone_and_with_what_people_did(silent_games):
    players = pytest.importorskip("parlour.training.papers.avalon_people_players")
    players.experts(silent_games)
    figures = {(cell.row, cell.measure): cell.figure for cell in silent_games.cells if cell.of == "5 players"}
    anchored = {f"anchored, {kl}" for kl in players.STRENGTHS}
    assert {row for row, measure in figures if measure == players.SEAT} == {"clone", "expert", "heuristic", *anchored}
    assert {row for row, measure in figures if measure == f"vote: {players.HUMAN}"} == {"clone", "expert", *anchored}
    assert all(figure.n == 20 for (_, measure), figure in figures.items() if measure == players.SEAT)
    assert figures["expert", players.LESS_EXPERT].value == 0
    assert (silent_games.folder / "5_players" / "earlier.npz").exists()


@pytest.mark.slow
def test_rates_of_decisions_are_those_counted_move_by_move(silent_games):
    """Percival's votes on teams with himself, on the first quest, that another named and that are not the fifth."""
    networks = pytest.importorskip("parlour.training.learn.clone.networks")
    from parlour.training.learn.batch.recorded import read_games

    games = read_games(silent_games.folder / TRANSCRIPTS)
    table, votes = lookup("avalon_v0").spec.build(**SILENT), []
    for game in games:
        states = list(replay.states(table, (Move("deal", game.deal), *game.moves)))[1:-1]
        for state, move in zip(states, game.moves, strict=True):
            view = table.view(state, table.actor(state))
            if (move.kind, view.role, view.quest) == (BALLOT, PERCIVAL, 0) and view.seat in view.team:
                votes += [move.args[0]] * (view.leader != view.seat and view.counted < 5)
    of = networks.decisions_of(games)
    even = of.mask / of.mask.sum(axis=1, keepdims=True)
    lines = {contrast.words: contrast for contrast in contrasts(of, {"even": even}, fewest=1)}
    line = lines["Percival, first quest: approves a team with himself that another named"]
    assert line.people.value == pytest.approx(sum(votes) / len(votes))
    assert line.players["even"].value == pytest.approx(0.5)  # approve or reject
