"""Habits of Werewolf learned from transcripts (`training/learn/habits/werewolf.py`): what is counted, what is fitted, and its use."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from parlour.envs import speech
from parlour.envs.core import NATURE, Event, Move, ParlourError
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.envs.werewolf.habits import WerewolfHabitsFile, read_werewolf_habits
from parlour.policies import HeuristicPolicy, make_policy
from parlour.training import cli
from parlour.training.learn.habits.avalon import scores
from parlour.training.learn.habits.avalon.config import HabitsConfig
from parlour.training.learn.habits.avalon.priors import Widths
from parlour.training.learn.habits.werewolf import WolfCounts, count, fit_rates, wolf_games_in, wolf_reads
from parlour.training.learn.habits.werewolf_run import learn_rates
from parlour.training.play.rollout import play, table
from parlour.wrappers import Recorder


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Sixty games of heuristics among themselves, of six, eight and ten."""
    folder = tmp_path_factory.mktemp("wolves")
    for n in range(60):
        players = 6 + 2 * (n % 3)
        env = Recorder(table("werewolf_v0", num_players=players), folder / f"{n:02}.jsonl")
        play(env, [HeuristicPolicy() for _ in range(players)], seed=n)
    return folder


@pytest.fixture(scope="module")
def learned(played, tmp_path_factory):
    out = tmp_path_factory.mktemp("learned")
    return learn_rates(HabitsConfig(source=str(played), test=str(played), folds=3), out), out


def told(kind, *args):
    return Event(NATURE, Move(kind, args), None)


def said(seat, kind, *args):
    return Event(seat, Move(kind, args), None)


def counted(played, *events):
    """Cases of events at a table of six: seats 0 and 1 are werewolves, 2 is the seer, 3 the witch."""
    record = wolf_games_in(played)[0]
    roles = (game.WEREWOLF, game.WEREWOLF, game.SEER, game.WITCH, game.VILLAGER, game.VILLAGER)
    found = WolfCounts()
    count(replace(record, roles=roles, events=events, view=record.view._replace(roles=roles)), found)
    return {
        rate: (found.yes[rate], found.no[rate]) for rate in found.yes if found.yes[rate] + found.no[rate]
    }, found.fates


def test_aims_are_counted_by_side_of_actor_and_target(played):
    found, _ = counted(
        played,
        said(4, speech.ACCUSE, 0),
        said(5, speech.ACCUSE, 4),
        said(0, speech.ACCUSE, 1),
        said(1, speech.DEFEND, 0),
        told(game.VOTES, 1, 4, 4, 0, 0, game.NO_VOTE, 0),
    )
    assert found["accuses_wolf"] == (1, 1)
    assert found["wolf_accuses_wolf"] == (1, 0)
    assert found["wolf_defends_wolf"] == (1, 0)
    assert found["votes_wolf"] == (3, 0)  # 2, 3 and 5; 4 passes
    assert found["wolf_votes_wolf"] == (0, 2)


def test_who_has_no_choice_of_sides_is_not_counted(played):
    # seat 1 is dead: seat 0 can accuse no werewolf; to accuse the dead is no choice among the living
    found, _ = counted(played, told(game.EXECUTED, 1), said(0, speech.ACCUSE, 4), said(4, speech.ACCUSE, 1))
    assert "wolf_accuses_wolf" not in found
    assert "accuses_wolf" not in found


def test_reports_and_claims_are_counted_by_who_speaks(played):
    names = wolf_games_in(played)[0].view.role_names
    found, _ = counted(
        played,
        said(2, speech.REPORT, 0, 1),
        said(0, speech.REPORT, 4, 1),
        said(1, speech.REPORT, 0, 0),
        said(4, speech.SILENT),
        said(3, speech.CLAIM_ROLE, names.index(game.WITCH)),
    )
    assert found["seer_reports"] == (1, 0)
    assert found["wolf_reports"] == (2, 0)
    assert found["other_reports"] == (0, 2)
    assert found["wolf_reports_evil"] == (1, 1)
    assert found["clears_wolf"] == (1, 0)
    assert found["wolf_accuses_wolf"] == (0, 1)
    assert found["seer_claims"][0] == 1  # the witch says so; the same rate


def test_deaths_are_weighed_by_how_many_could_have_died(played):
    _, fates = counted(played, told(game.DAWN, 1, 0), told(game.DAWN, 2, 3, 4))
    # one of six: two ways to a werewolf, four to others; then two of five living: of 10 pairs none of two werewolves
    assert fates == [("wolf_dies_at_night", True, 2, 4)]


def test_without_games_the_rates_are_todays():
    found = fit_rates([], Widths())
    assert found.of(8).accuses_wolf == pytest.approx(WerewolfHabits().accuses_wolf)


def test_rates_of_games_are_fitted(played, learned):
    found, _ = learned
    total = WolfCounts()
    for record in wolf_games_in(played):
        if record.players == 8:
            count(record, total)
    share = total.yes["votes_wolf"] / (total.yes["votes_wolf"] + total.no["votes_wolf"])
    assert found.habits.of(8).votes_wolf == pytest.approx(share, abs=0.04)


def test_games_not_learned_from_are_told_better_than_by_todays_rates(learned):
    found, out = learned
    (every,) = [one for one in found.scores if one["players"] == "all" and one["habits"] == "learned"]
    assert every["less_than_default"].high < 0
    assert (out / "report.md").exists()
    assert (out / "test-scores.csv").exists()


def test_an_onlooker_is_asked_after_each_day(played):
    record = wolf_games_in(played)[0]
    reads = wolf_reads(record, WerewolfHabits())
    assert len(reads) == sum(event.move.kind == game.EXECUTED for event in record.events)
    assert all(sum(one.chances) == pytest.approx(sum(one.evil)) for one in reads)
    assert scores.chance_loss(6, 2) == pytest.approx(2.708, abs=1e-3)


def test_the_file_reads_back_and_the_heuristic_plays_by_it(learned, tmp_path):
    found, out = learned
    assert read_werewolf_habits(out / "habits.json").by_players == found.habits.by_players
    name = f"heuristic:habits={out / 'habits.json'}"
    env = Recorder(table("werewolf_v0", num_players=6), tmp_path / "game.jsonl")
    play(env, [make_policy(name, "werewolf_v0", {"num_players": 6}) for _ in range(6)], 1)
    with pytest.raises(ParlourError, match="no habits of avalon_v0"):
        make_policy(name, "avalon_v0", {"num_players": 6})


@pytest.mark.parametrize("value", [0, 1, 1.5, "0.5", None, True])
def test_a_rate_that_is_no_chance_is_refused_in_one_line(value, tmp_path):
    told = WerewolfHabitsFile({8: WerewolfHabits()}).as_json()
    told["players"]["8"]["votes_wolf"] = value
    path = tmp_path / "habits.json"
    path.write_text(json.dumps(told))
    with pytest.raises(ParlourError, match="votes_wolf; accepted: a number between 0 and 1"):
        read_werewolf_habits(path)


def test_the_command_tells_the_game_by_its_folder(played, tmp_path, capsys):
    words = ["train", "habits", "--from", str(played), "--folds", "2", "--out", str(tmp_path / "run"), "--json"]
    assert cli.run(words) == 0
    assert json.loads(capsys.readouterr().out)["scores"][0]["habits"] == "chance"
    assert json.loads((tmp_path / "run" / "habits.json").read_text())["game"] == "werewolf_v0"
