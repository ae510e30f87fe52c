"""`parlour train habits`: what is fitted, and that it tells games that it was not learned from better than the fixed rates do."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from parlour.envs.avalon.habits import VOTE_TERMS, VOTERS, AvalonHabits, LearnedHabits, read_habits
from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy
from parlour.training.cli import main
from parlour.training.learn.habits.avalon import cases, report, scores, validate
from parlour.training.learn.habits.avalon.config import HabitsConfig
from parlour.training.learn.habits.avalon.fit import fit
from parlour.training.learn.habits.avalon.games import of_transcripts
from parlour.training.learn.habits.avalon.priors import Widths, by_table
from parlour.training.learn.habits.avalon.run import games_in, learn_habits
from parlour.training.learn.habits.avalon.votes import fit_votes
from parlour.training.learn.habits.avalon.weights import evidence, fit_weights
from parlour.training.play.rollout import play, table
from parlour.training.records.avalon import import_records, read_transcripts
from parlour.wrappers import Recorder

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "gpt51_avalon"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Fourteen games of heuristics among themselves, of five and six."""
    folder = tmp_path_factory.mktemp("played")
    for n in range(14):
        env = Recorder(
            table("avalon_v0", num_players=5 + n % 2, rules="official", talk=False), folder / f"{n:02}.jsonl"
        )
        play(env, [HeuristicPolicy() for _ in range(5 + n % 2)], seed=n)
    return folder


@pytest.fixture(scope="module")
def learned(played, tmp_path_factory):
    out = tmp_path_factory.mktemp("learned")
    return learn_habits(HabitsConfig(source=str(played), test=str(played), folds=2), out), out


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The 94 published games of GPT-5.1, as onlookers see them."""
    if not DATA.is_dir():
        pytest.skip(f"{DATA} is not there: the published games are not part of this repository")
    folder = tmp_path_factory.mktemp("published")
    import_records(DATA, folder)
    return of_transcripts(read_transcripts(folder))


# -- fitting -----------------------------------------------------------------------------------------------------


def ballots(rng, number, coefficients, players=5):
    """Votes of good seats on teams, drawn by coefficients."""
    found = []
    for _ in range(number):
        terms = np.zeros((players, len(VOTE_TERMS)))
        terms[:, VOTE_TERMS.index("always")] = 1.0
        terms[:, VOTE_TERMS.index("doubt")] = rng.random(players)
        mood = coefficients["mood"] * rng.standard_normal()
        odds = coefficients["always"] + coefficients["doubt"] * terms[:, VOTE_TERMS.index("doubt")] + mood
        votes = (rng.random(players) < 1 / (1 + np.exp(-odds))).astype(int)
        found.append(cases.Ballot(players, terms, (VOTERS.index("good"),) * players, tuple(int(v) for v in votes)))
    return found


def test_votes_are_fitted_with_the_mood_that_moved_them():
    true = {"always": 1.0, "doubt": -3.0, "mood": 2.0}
    found = fit_votes(ballots(np.random.default_rng(0), 3000, true), Widths(shared=10.0, own=0.1))[5]
    good = dict(zip(VOTE_TERMS, found[VOTERS.index("good")], strict=True))
    assert good["always"] == pytest.approx(1.0, abs=0.2)
    assert good["doubt"] == pytest.approx(-3.0, abs=0.25)
    assert abs(good["mood"]) == pytest.approx(2.0, abs=0.25)


def test_without_cases_the_prior_is_todays_rates():
    found = fit(cases.Cases(), Widths())
    habits = AvalonHabits()
    for n in (5, 10):
        by_kind = dict(zip(VOTERS, found[n].votes, strict=True))
        assert by_kind["evil, dirty"][0] == pytest.approx(math.log(habits.approve_dirty_evil / 0.25))
        assert by_kind["Oberon"] == pytest.approx(by_kind["good"])
        assert found[n].joins == pytest.approx(math.log(4)) == pytest.approx(found[n].cards[0])


def test_tables_with_few_games_borrow_from_those_with_many():
    # - log likelihood of k yes of n as a function of the log-odds; 900 of 1000 for one table, 1 of 2 for another
    def binomial(yes, n):
        def loss(x):
            p = 1 / (1 + math.exp(-x[0]))
            return n * math.log1p(math.exp(x[0])) - yes * x[0], np.array([n * p - yes])

        return loss

    many, few, none = (
        one[0] for one in by_table([binomial(900, 1000), binomial(1, 2), binomial(0, 0)], (0.0,), Widths(2, 0.5))
    )
    assert many == pytest.approx(math.log(9), abs=0.1)
    assert 1.5 < few < none < many


def test_evidence_that_is_counted_twice_is_weighed_by_half(played):
    # each kind of evidence tells as much as it says when it is true of the games; doubled logs get half the weight
    games = games_in(played)
    conduct = fit(cases.of_games(games), Widths())
    found = [evidence(one, conduct[one.players]) for one in games]
    doubled = [type(one)(one.players, 2 * one.logs, one.true) for one in found]
    flat = Widths(shared=50.0, own=0.01)
    once, twice = fit_weights(found, flat)[5], fit_weights(doubled, flat)[5]
    assert twice.votes == pytest.approx(once.votes / 2, rel=0.02)
    assert twice.cards == pytest.approx(once.cards / 2, rel=0.02)


def test_evidence_is_what_the_belief_weighs(played):
    game = games_in(played)[1]
    conduct = fit(cases.of_games(games_in(played)), Widths())[game.players]
    found = evidence(game, conduct)
    reads = scores.read(game, LearnedHabits(conduct=conduct))
    for quest, logs in enumerate(found.logs):
        weights = np.exp(logs.sum(axis=0))
        assert -math.log(weights @ found.true / weights.sum()) == pytest.approx(reads[quest].loss)


# -- the run -----------------------------------------------------------------------------------------------------


def test_every_game_is_read_once_by_habits_of_the_other_folds(played):
    games = games_in(played)
    folds = validate.folds(games, 4, seed=3)
    assert sorted(number for fold in folds for number in fold) == list(range(14))
    for fold in folds:  # seven games of each number of players: no fold without either
        assert {games[number].players for number in fold} == {5, 6}
    found = validate.cross_validate(games, validate.Learning(folds=2))
    assert [one.game for one in validate.reads_of(found)] == sorted(one.game for one in validate.reads_of(found))
    for fold in found:
        assert {one.game for one in fold.reads} == set(fold.held_out)
        others = [game for number, game in enumerate(games) if number not in fold.held_out]
        assert validate.learn(others, validate.Learning(folds=2)) == fold.habits


def test_a_run_writes_habits_tables_and_curve(learned):
    found, out = learned
    assert read_habits(out / "habits.json").by_players == found.habits.by_players
    with (out / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["players"], row["habits"]) for row in rows[:3]] == [
        ("all", "chance"),
        ("all", "default"),
        ("all", "learned"),
    ]
    assert float(rows[0]["log_loss"]) == pytest.approx((math.log(10) * 1 + math.log(15) * 1) / 2, abs=0.4)
    text = (out / "report.md").read_text()
    assert "Cross-validation by game" in text
    assert "other folder" in text
    assert (out / "calibration.csv").exists()
    assert (out / "test-scores.csv").exists()
    held = [json.loads((out / "folds" / f"{k}.json").read_text())["held_out"] for k in (0, 1)]
    assert sorted(name for names in held for name in names) == [f"{n:02}" for n in range(14)]


def test_the_same_seed_gives_the_same_habits_byte_for_byte(learned, played, tmp_path):
    _, out = learned
    learn_habits(HabitsConfig(source=str(played), folds=2), tmp_path / "again")
    assert (tmp_path / "again" / "habits.json").read_bytes() == (out / "habits.json").read_bytes()
    assert (tmp_path / "again" / "scores.csv").read_bytes() == (out / "scores.csv").read_bytes()


def test_less_than_default_is_the_paired_difference(learned):
    found, _ = learned
    of = {(one["players"], one["habits"]): one for one in found.scores}
    one, default = of["5", "learned"], of["5", "default"]
    assert one["less_than_default"].mean == pytest.approx(one["log_loss"].mean - default["log_loss"].mean)
    assert one["games"] == 7


def test_roles_are_those_of_the_seats(learned, played):
    games = games_in(played)
    readings = {"default": scores.read_all(games, lambda _: AvalonHabits())}
    (merlin,) = [one for one in report.by_role(readings, games) if one["role"] == "Merlin"]
    assert merlin["seats"] == len(readings["default"])
    assert 0 < merlin["evil"] < 0.5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "nowhere"], "nowhere"),
        (["--folds", "1"], "folds"),
        (["--folds", "50"], "accepted: 2 to 14"),
        (["--shared-width", "0"], "shared_width"),
    ],
)
def test_what_is_not_accepted_is_refused_in_one_line(arguments, said, played, tmp_path, capsys):
    whole = ["train", "habits", "--from", str(played), "--out", str(tmp_path / "out"), *arguments]
    with pytest.raises(SystemExit) as ended:
        main(whole)
    assert ended.value.code == 2
    error = capsys.readouterr().err.strip()
    assert said.replace("_", "-") in error.replace("_", "-")
    assert "\n" not in error


def test_a_folder_of_another_game_is_refused(tmp_path):
    env = Recorder(table("werewolf_v0", num_players=6), tmp_path / "games" / "wolf.jsonl")
    play(env, [HeuristicPolicy() for _ in range(6)], seed=0)
    with pytest.raises(ParlourError, match="avalon_v0"):
        learn_habits(HabitsConfig(source=str(tmp_path / "games")), tmp_path / "out")


# -- the published games -----------------------------------------------------------------------------------------


def test_default_habits_on_the_published_games(published):
    """As first found: an onlooker who hears no word loses 1.540 nats a quest, five players 0.713; AUC 0.905 and 0.967."""
    reads = scores.read_all(published, lambda _: AvalonHabits())
    five = [one for one in reads if one.players == 5]
    assert len(reads) == 384
    assert len(five) == 179
    assert scores.log_loss(reads).mean == pytest.approx(1.540, abs=5e-4)
    assert scores.auc(reads) == pytest.approx(0.905, abs=5e-4)
    assert scores.log_loss(five).mean == pytest.approx(0.713, abs=5e-4)
    assert scores.auc(five) == pytest.approx(0.967, abs=5e-4)


def test_habits_learned_from_every_second_published_game_tell_the_others_better(published):
    learning, held_out = published[::2], published[1::2]
    habits = validate.learn(learning, validate.Learning(folds=2))
    learned = scores.read_all(held_out, habits.of)
    default = scores.read_all(held_out, lambda _: AvalonHabits())
    for numbers in ((5,), range(6, 11)):
        ours, theirs = ([one for one in reads if one.players in numbers] for reads in (learned, default))
        assert scores.difference(ours, theirs).high < 0
    assert scores.calibration_error(learned) < 0.05


def test_words_of_the_published_games_tell_more_than_conduct_alone(published):
    learning, held_out = published[::2], published[1::2]
    told, untold = (
        scores.read_all(held_out, validate.learn(learning, validate.Learning(folds=2, words=words)).of)
        for words in (True, False)
    )
    assert scores.difference(told, untold).high < 0
    of_five = [[one for one in reads if one.players == 5] for reads in (told, untold)]
    assert scores.difference(*of_five).high < 0
