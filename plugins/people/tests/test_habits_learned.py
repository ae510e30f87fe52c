"""`parlour train habits` for Avalon and Werewolf: what is counted and fitted, the scores, and the run with its files."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.habits import AvalonHabits
from parlour.envs.core import NATURE, Event, Move, ParlourError
from parlour.envs.language import speech
from parlour.envs.replay import Transcript
from parlour.envs.werewolf import vocabulary as wolf
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.envs.werewolf.habits import WerewolfHabitsFile, read_werewolf_habits
from parlour.policies import HeuristicPolicy, make_policy
from parlour.training import cli
from parlour.training.play.rollout import play, table
from parlour.training.records.avalon.importing import import_records
from parlour.training.runs.run import Run
from parlour.wrappers import Recorder
from parlour_people.habits import report as scores
from parlour_people.habits.avalon import Ballot, Cases, of_games, read
from parlour_people.habits.avalon_fit import AVALON, evidence, fit, fit_votes, fit_weights, learn
from parlour_people.habits.learner import Learning, Widths, by_table, cross_validate, folds, reads_of
from parlour_people.habits.model import VOTE_TERMS, VOTERS, PeopleHabits, read_people_habits
from parlour_people.habits.run import HabitsConfig, learn_habits
from parlour_people.habits.werewolf import WEREWOLF, WolfCounts, fit_rates, wolf_reads

from tests.reference_data import reference

PLAYED = {
    "avalon": ("avalon_v0", {"rules": "official", "talk": False}, [5 + n % 2 for n in range(14)]),
    "werewolf": ("werewolf_v0", {}, [6 + 2 * (n % 3) for n in range(60)]),
}
"""Games of heuristics among themselves: the game, its options, players of each."""


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder of games for each game."""
    out = {}
    for name, (game, options, sizes) in PLAYED.items():
        out[name] = tmp_path_factory.mktemp(name)
        for n, players in enumerate(sizes):
            env = Recorder(table(game, num_players=players, **options), out[name] / f"{n:02}.jsonl")
            play(env, [HeuristicPolicy() for _ in range(players)], seed=n)
    return out


@pytest.fixture(scope="module")
def games(played):
    return {"avalon": AVALON.games_in(played["avalon"]), "werewolf": WEREWOLF.games_in(played["werewolf"])}


@pytest.fixture(scope="module")
def learned(played, tmp_path_factory):
    """What a run of each game found, tested on the same games, and its folder."""
    results = {}
    for name, count_ in (("avalon", 2), ("werewolf", 3)):
        out = tmp_path_factory.mktemp(f"{name}-habits")
        source = str(played[name])
        results[name] = learn_habits(HabitsConfig(source=source, test=source, folds=count_), Run(out)), out
    return results


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """The 94 published games of GPT-5.1, as onlookers see them."""
    folder = tmp_path_factory.mktemp("published")
    import_records(reference("gpt51_avalon"), folder)
    return [AVALON.of_transcript(transcript) for transcript in map(Transcript.read, Transcript.files(folder))]


# -- scores, by hand ---------------------------------------------------------------------------------------------


def reads(game, losses, chances=(0.5,), evil=(1,)):
    return [scores.BeliefRead(game, 5, number, loss, chances, evil) for number, loss in enumerate(losses)]


def test_the_loss_is_the_mean_over_rounds_and_its_interval_draws_games():
    log_loss = scores.log_loss(reads(0, (1.0, 1.0, 1.0)) + reads(1, (0.0,)))
    assert (log_loss.value, log_loss.n) == (pytest.approx(0.75), 2)
    assert (log_loss.low, log_loss.high) == (0.0, 1.0)  # both draws of one game have a chance of a quarter each


def test_differences_are_paired_by_round():
    difference = scores.difference(reads(0, (2.0, 1.0)) + reads(1, (5.0,)), reads(0, (1.5, 0.5)) + reads(1, (4.5,)))
    assert (difference.value, difference.low, difference.high) == pytest.approx((0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match="different games"):
        scores.difference(reads(0, (1.0,)), reads(1, (1.0,)))


def test_auc_counts_pairs_of_an_evil_and_a_good_seat():
    # evil 0.9 and 0.4 against good 0.4 and 0.1: 0.9 beats both, 0.4 beats one and ties with one: 3.5 of 4
    assert scores.auc(reads(0, (0.0,), (0.9, 0.4, 0.4, 0.1), (1, 1, 0, 0))) == pytest.approx(3.5 / 4)
    assert math.isnan(scores.auc(reads(0, (0.0,), (0.9, 0.4), (1, 1))))


def test_the_calibration_error_weighs_each_part_by_its_seats():
    # 0.1 - 0.2: mean 0.15, none evil; 0.9 - 1: mean 0.95, half evil: (2 (0.15) + 2 (0.45)) / 4
    predictions = reads(0, (0.0,), (0.1, 0.1999999, 0.9, 1.0), (0, 0, 1, 0))
    assert scores.calibration_error(predictions) == pytest.approx(0.3, abs=1e-6)
    assert [(part.low, part.n) for part in scores.calibration(predictions).bins] == [(0.1, 2), (0.9, 2)]


# -- what is fitted ----------------------------------------------------------------------------------------------


def ballots(rng, number, coefficients, players=5):
    """Votes of good seats on teams, drawn by coefficients."""
    result = []
    for _ in range(number):
        terms = np.zeros((players, len(VOTE_TERMS)))
        terms[:, VOTE_TERMS.index("always")] = 1.0
        terms[:, VOTE_TERMS.index("doubt")] = rng.random(players)
        mood = coefficients["mood"] * rng.standard_normal()
        odds = coefficients["always"] + coefficients["doubt"] * terms[:, VOTE_TERMS.index("doubt")] + mood
        votes = (rng.random(players) < 1 / (1 + np.exp(-odds))).astype(int)
        result.append(Ballot(players, terms, (VOTERS.index("good"),) * players, tuple(int(v) for v in votes)))
    return result


def test_votes_are_fitted_with_the_mood_that_moved_them():
    true = {"always": 1.0, "doubt": -3.0, "mood": 2.0}
    fitted = fit_votes(ballots(np.random.default_rng(0), 3000, true), Widths(shared=10.0, own=0.1))[5]
    good = dict(zip(VOTE_TERMS, fitted[VOTERS.index("good")], strict=True))
    assert good["always"] == pytest.approx(1.0, abs=0.2)
    assert good["doubt"] == pytest.approx(-3.0, abs=0.25)
    assert abs(good["mood"]) == pytest.approx(2.0, abs=0.25)


def test_without_cases_the_prior_is_todays_rates():
    fitted, habits = fit(Cases(), Widths()), AvalonHabits()
    for n in (5, 10):
        by_kind = dict(zip(VOTERS, fitted[n].votes, strict=True))
        assert by_kind["evil, dirty"][0] == pytest.approx(math.log(habits.approve_dirty_evil / 0.25))
        assert by_kind["Oberon"] == pytest.approx(by_kind["good"])
        assert fitted[n].joins == pytest.approx(math.log(4)) == pytest.approx(fitted[n].cards[0])
    assert fit_rates([], Widths()).of(8).accuses_wolf == pytest.approx(WerewolfHabits().accuses_wolf)


def test_tables_with_few_games_borrow_from_those_with_many():
    # - log likelihood of k yes of n as a function of the log-odds; 900 of 1000 for one table, 1 of 2 for another
    def binomial(yes, n):
        def loss(x):
            p = 1 / (1 + math.exp(-x[0]))
            return n * math.log1p(math.exp(x[0])) - yes * x[0], np.array([n * p - yes])

        return loss

    losses = [binomial(900, 1000), binomial(1, 2), binomial(0, 0)]
    many, few, none = (terms[0] for terms in by_table(losses, (0.0,), Widths(2, 0.5)))
    assert many == pytest.approx(math.log(9), abs=0.1)
    assert 1.5 < few < none < many


@pytest.mark.slow
def test_evidence_that_is_counted_twice_is_weighed_by_half_and_is_what_the_belief_weighs(games):
    # each kind of evidence tells as much as it says when it is true of the games; doubled logs get half the weight
    conduct = fit(of_games(games["avalon"]), Widths())
    items = [evidence(game, conduct[game.players]) for game in games["avalon"]]
    doubled = [type(item)(item.players, 2 * item.logs, item.true) for item in items]
    flat = Widths(shared=50.0, own=0.01)
    once, twice = fit_weights(items, flat)[5], fit_weights(doubled, flat)[5]
    assert (twice["votes"], twice["cards"]) == pytest.approx((once["votes"] / 2, once["cards"] / 2), rel=0.02)
    game = games["avalon"][1]
    believed = read(game, PeopleHabits(conduct=conduct[game.players]))
    for quest, logs in enumerate(items[1].logs):
        weights = np.exp(logs.sum(axis=0))
        assert -math.log(weights @ items[1].true / weights.sum()) == pytest.approx(believed[quest].loss)


# -- what is counted in Werewolf ---------------------------------------------------------------------------------


def announced(kind, *args):
    return Event(NATURE, Move(kind, args), None)


def said(seat, kind, *args):
    return Event(seat, Move(kind, args), None)


WITCH_CLAIM = "a claim to be the witch"
COUNTED = {
    "aims, by side of actor and target": (
        (
            *(said(4, speech.ACCUSE, 0), said(5, speech.ACCUSE, 4), said(0, speech.ACCUSE, 1)),
            *(said(1, speech.DEFEND, 0), announced(wolf.VOTES, 1, 4, 4, 0, 0, wolf.NO_VOTE, 0)),
        ),
        # votes of 2, 3 and 5 against werewolves; 4 passes
        {"accuses_wolf": (1, 1), "wolf_accuses_wolf": (1, 0), "wolf_defends_wolf": (1, 0), "votes_wolf": (3, 0),
         "wolf_votes_wolf": (0, 2)},
    ),
    # seat 1 is dead: seat 0 can accuse no werewolf; to accuse the dead is no choice among the living
    "nobody without a choice of sides": (
        (announced(wolf.EXECUTED, 1), said(0, speech.ACCUSE, 4), said(4, speech.ACCUSE, 1)),
        {"wolf_accuses_wolf": None, "accuses_wolf": None},
    ),
    "reports and claims, by who speaks": (
        (said(2, speech.REPORT, 0, 1), said(0, speech.REPORT, 4, 1), said(1, speech.REPORT, 0, 0),
         said(4, speech.SILENT), WITCH_CLAIM),
        {"seer_reports": (1, 0), "wolf_reports": (2, 0), "other_reports": (0, 2), "wolf_reports_evil": (1, 1),
         "clears_wolf": (1, 0), "wolf_accuses_wolf": (0, 1), "seer_claims": (1, 1)},
    ),
    # one of six: two ways to a werewolf, four to others; then two of five living: of 10 pairs none of two werewolves
    "deaths, by how many could have died": (
        (announced(wolf.DAWN, 1, 0), announced(wolf.DAWN, 2, 3, 4)),
        {"fates": [("wolf_dies_at_night", True, 2, 4)]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", COUNTED)
def test_cases_are_counted_where_the_roles_are_known(games, what):
    """At a table of six: seats 0 and 1 are werewolves, 2 is the seer, 3 the witch."""
    record, (events, wanted) = games["werewolf"][0], COUNTED[what]
    roles = (wolf.WEREWOLF, wolf.WEREWOLF, wolf.SEER, wolf.WITCH, wolf.VILLAGER, wolf.VILLAGER)
    claim = said(3, speech.CLAIM_ROLE, record.view.role_names.index(wolf.WITCH))
    events = tuple(claim if event is WITCH_CLAIM else event for event in events)
    counted = WolfCounts()
    counted.count(replace(record, roles=roles, events=events, view=record.view._replace(roles=roles)))
    counts = {
        rate: (counted.yes[rate], counted.no[rate]) for rate in counted.yes if counted.yes[rate] + counted.no[rate]
    }
    for rate, cases in wanted.items():
        assert (counted.fates if rate == "fates" else counts.get(rate)) == cases, rate


def test_rates_of_games_are_fitted(games, learned):
    total = WolfCounts()
    for record in games["werewolf"]:
        if record.players == 8:
            total.count(record)
    share = total.yes["votes_wolf"] / (total.yes["votes_wolf"] + total.no["votes_wolf"])
    assert learned["werewolf"][0].habits.of(8).votes_wolf == pytest.approx(share, abs=0.04)


# -- what an onlooker reads --------------------------------------------------------------------------------------


def test_an_onlooker_is_asked_after_every_quest_and_sees_no_secret(games):
    record = games["avalon"][0]
    asked = iter(read(record, AvalonHabits()))
    belief = AvalonBelief(record.key().roles, -1, "", ())
    for seat, move, _ in record.events:
        assert move.kind not in ("card", "deal")
        if move.kind in speech.ACTS:  # an onlooker without habits of words hears none
            continue
        belief.see(seat, move.kind, move.args)
        if move.kind == "score":
            assert next(asked).chances == pytest.approx(tuple(belief.evil_chance()))
    assert next(asked, None) is None


def test_an_onlooker_is_asked_after_each_day(games):
    record = games["werewolf"][0]
    predictions = wolf_reads(record, WerewolfHabits())
    assert len(predictions) == sum(event.move.kind == wolf.EXECUTED for event in record.events)
    assert all(sum(prediction.chances) == pytest.approx(sum(prediction.evil)) for prediction in predictions)


# -- the run -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_game_is_read_once_by_habits_of_the_other_folds(games):
    own = games["avalon"]
    dealt = folds(own, 4, seed=3)
    assert sorted(number for fold in dealt for number in fold) == list(range(14))
    for fold in dealt:  # seven games of each number of players: no fold without either
        assert {own[number].players for number in fold} == {5, 6}
    trained = list(cross_validate(AVALON, own, Learning(folds=2)))
    assert [row.game for row in reads_of(trained)] == sorted(prediction.game for prediction in reads_of(trained))
    for fold in trained:
        assert {prediction.game for prediction in fold.reads} == set(fold.held_out)
        others = [game for number, game in enumerate(own) if number not in fold.held_out]
        assert learn(others, Learning(folds=2)) == fold.habits


@pytest.mark.parametrize(("game", "read_file"), [("avalon", read_people_habits), ("werewolf", read_werewolf_habits)])
def test_a_run_writes_habits_tables_and_curve(learned, game, read_file):
    result, out = learned[game]
    assert read_file(out / "habits.json").by_players == result.habits.by_players
    with (out / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["players"], row["habits"]) for row in rows[:3]] == [
        ("all", name) for name in ("chance", "default", "learned")
    ]
    text = (out / "report.md").read_text()
    assert "Cross-validation by game" in text
    assert "other folder" in text
    assert {"calibration.csv", "test-scores.csv"} <= {path.name for path in out.iterdir()}
    names = [name for path in sorted((out / "folds").iterdir()) for name in json.loads(path.read_text())["held_out"]]
    assert sorted(names) == [f"{n:02}" for n in range(len(PLAYED[game][2]))]
    assert result.as_json()["games"] == len(names)


def test_games_not_learned_from_are_told_better_than_by_todays_rates(learned):
    of = {(score["players"], score["habits"]): score for score in learned["werewolf"][0].scores}
    assert of["all", "learned"]["less_than_default"].high < 0


def test_less_than_default_is_the_paired_difference(learned):
    of = {(score["players"], score["habits"]): score for score in learned["avalon"][0].scores}
    fitted, default, chance = (of["5", name] for name in ("learned", "default", "chance"))
    assert fitted["less_than_default"].value == pytest.approx(fitted["log_loss"].value - default["log_loss"].value)
    assert (fitted["games"], fitted["less_than_before"]) == (7, None)
    assert (chance["log_loss"].value, chance["auc"]) == (pytest.approx(math.log(10)), 0.5)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_habits_byte_for_byte(learned, played, tmp_path):
    _, out = learned["avalon"]
    learn_habits(HabitsConfig(source=str(played["avalon"]), folds=2), Run(tmp_path / "again"))
    for name in ("habits.json", "scores.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()


def test_the_heuristic_plays_by_the_file_of_its_game_alone(learned, tmp_path):
    name = f"heuristic:habits={learned['werewolf'][1] / 'habits.json'}"
    env = Recorder(table("werewolf_v0", num_players=6), tmp_path / "game.jsonl")
    play(env, [make_policy(name, "werewolf_v0", {"num_players": 6}) for _ in range(6)], 1)
    with pytest.raises(ParlourError, match="no habits of avalon_v0"):
        make_policy(name, "avalon_v0", {"num_players": 6})


def test_the_command_tells_the_game_by_its_folder(played, tmp_path, json_of):
    words = ["train", "habits", "--from", str(played["werewolf"]), "--folds", "2", "--out", str(tmp_path / "run")]
    assert json_of([*words, "--json"])["scores"][0]["habits"] == "chance"
    assert json.loads((tmp_path / "run" / "habits.json").read_text())["game"] == "werewolf_v0"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "nowhere"], "nowhere"),
        (["--folds", "1"], "folds"),
        (["--folds", "50"], "accepted: 2 to 14"),
        (["--shared-width", "0"], "shared-width"),
    ],
)
def test_what_is_not_accepted_is_refused_in_one_line(arguments, said, played, tmp_path, capsys):
    whole = ["train", "habits", "--from", str(played["avalon"]), "--out", str(tmp_path / "out"), *arguments]
    with pytest.raises(SystemExit) as ended:
        cli.main(whole)
    assert ended.value.code == 2
    error = capsys.readouterr().err.strip()
    assert said in error.replace("_", "-")
    assert "\n" not in error


def test_games_of_two_sorts_in_one_run_are_refused(played, tmp_path):
    with pytest.raises(ParlourError, match="avalon_v0"):
        learn_habits(HabitsConfig(source=str(played["avalon"]), test=str(played["werewolf"])), Run(tmp_path / "out"))


@pytest.mark.parametrize("value", [0, 1, 1.5, "0.5", None, True])
def test_a_rate_that_is_no_chance_is_refused_in_one_line(value, tmp_path):
    whole = WerewolfHabitsFile({8: WerewolfHabits()}).as_json()
    whole["players"]["8"]["votes_wolf"] = value
    path = tmp_path / "habits.json"
    path.write_text(json.dumps(whole))
    with pytest.raises(ParlourError, match="votes_wolf "):
        read_werewolf_habits(path)


# -- the published games -----------------------------------------------------------------------------------------


def test_default_habits_on_the_published_games(published):
    """As first found: an onlooker who hears no word loses 1.540 nats a quest, five players 0.713; AUC 0.905 and 0.967."""
    by_default = AVALON.read_by_default(published)
    five = [prediction for prediction in by_default if prediction.players == 5]
    assert (len(by_default), len(five)) == (384, 179)
    for some, loss, auc in ((by_default, 1.540, 0.905), (five, 0.713, 0.967)):
        assert (scores.log_loss(some).value, scores.auc(some)) == pytest.approx((loss, auc), abs=5e-4)


@pytest.mark.slow
def test_conduct_and_words_of_every_second_published_game_tell_the_others_better(published):
    learning, held_out = published[::2], published[1::2]
    by = {
        words: AVALON.read_all(held_out, learn(learning, Learning(folds=2, words=words)).of) for words in (True, False)
    }
    default = AVALON.read_by_default(held_out)
    for numbers in ((5,), range(6, 11)):
        ours, theirs = ([row for row in some if row.players in numbers] for some in (by[True], default))
        assert scores.difference(ours, theirs).high < 0
    assert scores.calibration_error(by[True]) < 0.05
    for numbers in (range(5, 11), (5,)):
        told_, untold = ([row for row in by[words] if row.players in numbers] for words in (True, False))
        assert scores.difference(told_, untold).high < 0
