"""The table of games that an evaluation is made from: what each row says, which rows are compared, what is written."""

from __future__ import annotations

import csv
import re

import pytest
from parlour.envs.avalon.vocabulary import side_of
from parlour.policies import HeuristicPolicy, RandomPolicy
from parlour.training.measure import evaluate
from parlour.training.measure.evaluation_tables import games_table
from parlour.training.play import rollout
from parlour.training.play.failures import Failures
from parlour.training.play.runner import GameRunner
from parlour.training.statistics import Estimate


@pytest.fixture(scope="module")
def reports() -> tuple[evaluate.Evaluation, evaluate.Evaluation]:
    env = rollout.table("avalon_v0", num_players=5, rules="official")
    players = {"a": RandomPolicy, "b": HeuristicPolicy, "c": RandomPolicy}
    single = evaluate.single(env, players, ("heuristic", HeuristicPolicy), range(5))
    return single, evaluate.team(env, ("x", RandomPolicy), ("y", HeuristicPolicy), range(3))


def test_a_row_of_a_seat_tells_its_role_and_that_roles_side(reports):
    single, _ = reports
    assert all(side_of(row.role) == row.side for row in single.games)
    assert {row.opponent for row in single.games} == {"heuristic"}
    assert [row.seat for row in single.games if row.policy == "b"] == [0, 1, 2, 3, 4]


def test_a_row_of_a_side_has_no_seat_no_role_and_the_other_as_opponent(reports):
    _, team = reports
    assert {(row.seat, row.role) for row in team.games} == {(None, "")}
    assert all({row.policy, row.opponent} == {"x", "y"} for row in team.games)
    assert all(row.won == (row.winner == row.side) for row in team.games)


def test_each_row_counts_the_decisions_of_its_own_players(reports):
    single, team = reports
    for row in single.games:
        assert 0 < row.decisions == row.own < row.moves  # nobody asks a model: all are the players' own
    for game, other in zip(team.games[::2], team.games[1::2], strict=True):
        assert (game.seed, game.moves, game.policy) == (other.seed, other.moves, other.opponent)
        assert game.decisions != other.decisions  # three good players decide more often than two evil ones
        assert game.decisions + other.decisions <= game.moves
    for name in ("x", "y"):
        rows = [row for row in team.games if row.policy == name]
        assert team.players[name].decisions == sum(row.decisions for row in rows)
        assert team.own[name]["all"] == (sum(row.own for row in rows), sum(row.decisions for row in rows))


def test_rates_are_of_all_of_each_side_and_of_each_role(reports):
    single, team = reports
    for name in ("a", "b", "c"):
        rows = [row for row in single.games if row.policy == name]
        parts = {"all": rows}
        for side in ("good", "evil"):
            parts[side] = [row for row in rows if row.side == side]
        for role in {row.role for row in rows}:
            parts[f"role: {role}"] = [row for row in rows if row.role == role]
        rates = {what: (rate.hits, rate.n) for what, rate in single.rates[name].items() if rate}
        assert rates == {what: (sum(row.won for row in part), len(part)) for what, part in parts.items() if part}
    assert set(team.rates["x"]) == {"all", "good", "evil"}


def test_the_first_candidate_is_compared_with_each_other_on_what_both_played(reports):
    single, team = reports
    sides = sorted({row.side for row in single.games})
    assert [(comparison.a, comparison.b, comparison.side) for comparison in single.comparisons] == [
        ("a", other, side) for other in ("b", "c") for side in ("all", *sides)
    ]
    counted = {side: len({row.seed for row in single.games if side in ("all", row.side)}) for side in ("all", *sides)}
    assert all(comparison.result.n == counted[comparison.side] for comparison in single.comparisons)
    for comparison in single.comparisons:
        won = [
            {row.seed: row.won for row in single.games if row.policy == name and comparison.side in ("all", row.side)}
            for name in (comparison.a, comparison.b)
        ]
        assert comparison.result.only_a == sum(won[0][seed] and not won[1][seed] for seed in won[0])
        assert comparison.result.only_b == sum(won[1][seed] and not won[0][seed] for seed in won[0])
    assert [(comparison.a, comparison.b, comparison.side, comparison.result.n) for comparison in team.comparisons] == [
        ("x", "y", "all", 3),
        ("x", "y", "evil", 3),
        ("x", "y", "good", 3),
    ]


def test_both_sides_of_a_deal_are_one_case_so_the_interval_is_not_narrower_than_of_one_side(reports):
    """Without draws x gains on both sides of a deal the same: y loses as evil where x wins as good."""
    _, team = reports
    every, evil, good = (comparison.result for comparison in team.comparisons)
    assert every.value == evil.value == good.value
    gains = [0.0, 0.0, 0.0]
    for row in team.games:
        gains[row.seed] += (row.won if row.policy == "x" else -row.won) / 2
    assert every == Estimate.mean(gains, (-1.0, 1.0))


@pytest.mark.parametrize("design", ["single", "team"])
def test_progress_counts_the_games_and_says_who_plays(design):
    env, stages, notes = rollout.table("avalon_v0", num_players=5, rules="official"), [], []

    def progress(stage, done, note=""):
        stages.append((stage.name, stage.total, stage.unit, done))
        notes.append(note)

    if design == "single":
        players = {"a": RandomPolicy, "b": RandomPolicy}
        evaluate.single(env, players, ("heuristic", HeuristicPolicy), range(2), GameRunner(progress=progress))
        assert stages == [("Playing a, b", 4, "games", done) for done in range(5)]
    else:
        evaluate.team(env, ("x", RandomPolicy), ("y", RandomPolicy), range(2), GameRunner(progress=progress))
        assert stages == [("Playing x and y", 4, "games", done) for done in range(5)]
        assert notes[0] == ""
        assert re.fullmatch(r"win rate x [01]\.\d\d, y [01]\.\d\d", notes[-1])


def test_a_report_in_json_has_everything_but_the_games(reports):
    single, _ = reports
    data = single.as_json()
    assert (data["design"], data["games"], data["unfinished"]) == ("single", 15, [])
    assert data["table"]["game"] == "avalon_v0"
    assert data["table"]["num_players"] == 5
    assert data["rates"]["a"]["all"]["n"] == 5
    assert data["own"]["a"]["all"]["decisions"] == sum(row.decisions for row in single.games if row.policy == "a")
    assert set(data["players"]) == {"a", "b", "c", "heuristic"}


def test_the_table_of_games_is_written_row_by_row(reports, tmp_path):
    single, _ = reports
    games_table(single).write_csv(tmp_path / "games.csv")
    with (tmp_path / "games.csv").open(newline="") as file:
        text = file.read()
    rows = list(csv.DictReader(text.splitlines()))
    assert text.count("\n") == 16
    assert [row["policy"] for row in rows] == ["a"] * 5 + ["b"] * 5 + ["c"] * 5
    assert [(row["seed"], row["seat"], row["role"], row["moves"]) for row in rows] == [
        (str(game.seed), str(game.seat), game.role, str(game.moves)) for game in single.games
    ]


class Broken(RandomPolicy):
    """Fails at its first turn."""

    def act(self, observation, info):
        raise RuntimeError("no answer")


def test_a_game_given_up_is_told_with_its_players_and_counted_in_no_rate():
    env = rollout.table("avalon_v0", num_players=5, rules="official")
    failures = Failures(on_failure="skip-game")
    report = evaluate.single(
        env, {"a": RandomPolicy, "b": Broken}, ("heuristic", HeuristicPolicy), range(2), GameRunner(failures=failures)
    )
    assert [(game.seed, game.players) for game in report.unfinished] == [
        (0, ("b", *("heuristic",) * 4)),
        (1, ("heuristic", "b", *("heuristic",) * 3)),
    ]
    assert all("no answer" in game.why for game in report.unfinished)
    assert [row.policy for row in report.games] == ["a", "a"]
    assert report.rates["b"]["all"] is None
    assert report.comparisons == ()
    assert [game["seed"] for game in report.as_json()["unfinished"]] == [0, 1]
