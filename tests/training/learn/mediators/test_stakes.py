"""What is told of one calibrated run, with nothing asked again: what the stakes decide, what each action came to, who obeys."""

from __future__ import annotations

import csv
import json
import math
import shutil
from dataclasses import replace

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.vocabulary import ALL, Judgement, Payment
from parlour.policies.agents.mediated_qa import PolicyTable, policy_file
from parlour.policies.agents.mediated_qa.joint import NUMBER, PUBLISHED
from parlour.training.cli import run
from parlour.training.learn.mediators import calibrated_run, experiment, held_out, stakes_report
from parlour.training.learn.mediators.calibrated_run import CalibratedRun, private_obedience
from parlour.training.learn.mediators.experiment import UNSEEN, HeldOutConfig
from parlour.training.learn.mediators.simulate import Simulated, calibrate, table
from parlour.training.learn.mediators.stakes import (
    LEARNED,
    StakesConfig,
    payment_at,
    policy_at,
    refusal_curve,
    stakes,
    value_of,
)

STATES = ("T:low_Q:low", "T:high_Q:high")
SURE, UNSURE = STATES


def question(number, state, outcomes, confidence=0.5):
    """A question with these outcomes of the joint actions; the others are silent."""
    results = tuple(outcomes.get(k, Judgement.KEPT_SILENT) for k in range(len(ALL)))
    row = Simulated(number, state, (0.0,) * len(ALL), results, (True, True), confidence)
    return replace(row, utilities=row.net(Payment()))


@pytest.fixture(scope="module")
def small():
    """Two states. The second joint action (shallow, generate, no check: 3) is right on 3 of 4, in the other state on 1 of 4."""
    right, wrong = {1: Judgement.ANSWERED_RIGHT}, {1: Judgement.ANSWERED_WRONG}
    cases = [(SURE, right)] * 3 + [(SURE, wrong)] + [(UNSURE, right)] + [(UNSURE, wrong)] * 3
    return [question(k, state, outcomes) for k, (state, outcomes) in enumerate(cases)]


@pytest.fixture(scope="module")
def generated():
    pipeline = Pipeline(generate(seed=11, size=240, difficulty="medium"))
    pipeline.learn_bins(range(160))
    rows = calibrate(pipeline, range(240))
    return rows[:160], rows[160:]


def chosen(policy):
    return {state: next(iter(row)) for state, row in policy.rows.items()}


def test_value_and_price_are_told_against_silence():
    # published: right 120, wrong -40, silent 10, missed -20
    assert (value_of(Payment()), payment_at(Payment(), 110.0, 50.0)) == (110.0, Payment())
    assert payment_at(Payment(), 110.0, 0.0).utilities == (120.0, 10.0, 10.0, -20.0)


def test_the_policy_answers_where_an_answer_pays_at_these_stakes(small):
    # an answer costs 3, shallow refusal 1. Value 110: sure 3/4 * 110 - 1/4 * price - 3 against -1: up to price 322;
    # unsure 1/4 * 110 - 3/4 * price - 3 against -1: up to price 34
    answer, silent = PUBLISHED[1], PUBLISHED[2]
    for price, expected in (
        (0, (answer, answer)),
        (33, (answer, answer)),
        (35, (answer, silent)),
        (330, (silent,) * 2),
    ):
        made = policy_at(small, payment_at(Payment(), 110.0, price), price)
        assert tuple(chosen(made)[state] for state in STATES) == expected


def test_at_an_infinite_price_everything_uncertain_is_refused(generated):
    train, held_out = generated
    result = stakes(train, held_out, StakesConfig(price=(math.inf,)))
    ever_wrong = {
        action for action in PUBLISHED if any(row.outcomes[NUMBER[action]] == Judgement.ANSWERED_WRONG for row in train)
    }
    assert len(ever_wrong) >= 4
    (policy,) = result.policies.values()
    assert not set(chosen(policy).values()) & ever_wrong
    learned = result.scores[0]
    assert (learned.system, learned.abstention.value, learned.risk) == (LEARNED, 1.0, None)
    assert math.isfinite(learned.utility.value)
    assert {score.utility.value for score in result.scores if score.system in ("no retrieval", "GraphRAG")} == {
        -math.inf
    }


def test_abstention_grows_with_the_price_and_risk_does_not_on_what_was_learned_from(generated):
    train, _ = generated
    prices = (0.0, 25.0, 100.0, 400.0, math.inf)
    result = stakes(train, train, StakesConfig(price=prices, shrinkage=0.0))
    learned = [score for score in result.scores if score.system == LEARNED]
    wrong = [score.coverage - score.accuracy.value for score in learned]
    assert wrong == sorted(wrong, reverse=True)
    assert learned[0].abstention.value < learned[-1].abstention.value == 1.0
    for at_price, price in zip(learned, prices, strict=True):
        static = next(s for s in result.scores if (s.price, s.system) == (price, "best static"))
        oracle = next(s for s in result.scores if (s.price, s.system) == (price, "oracle"))
        assert static.utility.value - 1e-9 <= at_price.utility.value <= oracle.utility.value + 1e-9


def test_the_curve_of_refusal_goes_by_confidence():
    closed = NUMBER[PUBLISHED[8]]
    rows = [
        question(0, SURE, {closed: Judgement.ANSWERED_RIGHT}, 0.9),
        question(1, SURE, {closed: Judgement.ANSWERED_WRONG}, 0.5),
        question(2, SURE, {closed: Judgement.MISSED}, 0.2),
    ]
    assert refusal_curve(rows) == [(1 / 3, 0.0), (2 / 3, 0.5), (2 / 3, 0.5)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"price": (-1.0,)}, "price"),
        ({"price": (math.nan,)}, "price"),
        ({"price": ()}, "price"),
        ({"value": (0.0,)}, "value"),
        ({"value": (math.inf,)}, "value"),
    ],
)
def test_stakes_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(ParlourError, match=message):
        StakesConfig(**settings)


# -- the command -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_command_leaves_table_policies_and_picture(grace_run, tmp_path, output_of):
    before = (grace_run / "calibration" / "partial.csv").read_bytes()
    words = ["evaluate", "stakes", str(grace_run), "--price", "0,50,inf", "--value", "110,20", "--out", str(tmp_path)]
    assert "nothing" not in output_of(words)
    rows = list(csv.DictReader((tmp_path / "stakes.csv").read_text().splitlines()))
    assert len(rows) == 2 * 3 * 6
    assert {row["price"] for row in rows} == {"0.0", "50.0", "inf"}
    policy = policy_file.read(tmp_path / stakes_report.policy_name(110.0, 50.0))
    assert policy.thresholds == policy_file.read(grace_run / "policy.json").thresholds != {}
    assert (tmp_path / stakes_report.STAKES_PICTURE).read_bytes()[:4] == b"\x89PNG"
    assert (grace_run / "calibration" / "partial.csv").read_bytes() == before


@pytest.mark.slow
def test_the_shrinkage_is_that_of_the_run_unless_it_is_given(grace_run, tmp_path, json_of):
    folder = tmp_path / "run"
    shutil.copytree(grace_run, folder)
    summary = json.loads((folder / "summary.json").read_text())
    summary["settings"]["shrinkage"] = 1e6
    (folder / "summary.json").write_text(json.dumps(summary))

    def scores(*words):
        return json_of(["evaluate", "stakes", str(folder), "--price", "50", "--json", *words])["scores"]

    assert scores() == scores("--shrinkage", "1000000") != scores("--shrinkage", "0")
    (folder / "summary.json").unlink()
    assert scores() == scores("--shrinkage", "0")


def test_a_folder_without_a_calibrated_run_is_refused_in_one_line(grace_run, tmp_path, error_of):
    error_of(["evaluate", "stakes", str(tmp_path)])
    own = tmp_path / "own"
    own.mkdir()
    settings = json.loads((grace_run / "calibration" / "config.json").read_text())
    (own / "config.json").write_text(json.dumps(settings | {"actions": "actions.json"}))
    (own / "partial.csv").write_text((grace_run / "calibration" / "partial.csv").read_text())
    with pytest.raises(ParlourError, match="has actions of its own; accepted: a run over the published actions"):
        calibrated_run.read_run(own)
    broken = tmp_path / "calibration"
    broken.mkdir()
    for name in ("config.json", "partial.csv"):
        text = (grace_run / "calibration" / name).read_text()
        (broken / name).write_text(text if name == "config.json" else "".join(text.splitlines(keepends=True)[:-5]))
    with pytest.raises(ParlourError, match="lacks 5 of 140 questions"):
        calibrated_run.read_run(tmp_path)


# -- parlour show recommendation -----------------------------------------------------------------------------------------


CORPUS = generate(seed=UNSEEN, size=140, difficulty="medium")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("documents")
    for passage in CORPUS.passages:
        (path / f"{passage.title}.txt").write_text("\n\n".join(passage.sentences))
    return path


@pytest.fixture
def explained(json_of):
    return lambda *words: json_of(["show", "recommendation", *words, "--json"])


def test_a_question_of_the_run_has_what_each_action_came_to(grace_run, explained):
    rows = list(csv.DictReader((grace_run / "calibration" / "table.csv").read_text().splitlines()))
    question = CORPUS.questions[3].text
    output = explained(question, "--run", str(grace_run))
    assert (output["question"], output["part"], output["state"]) == (question, "training", rows[3]["state"])
    nets = {tuple(action["joint"]): action["net"] for action in output["actions"]}
    assert set(nets) == set(PUBLISHED)
    assert nets[PUBLISHED[0]] == float(rows[3]["u_shallow_gen_nli"])
    assert nets[PUBLISHED[8]] == float(rows[3]["u_skip_param_nocheck"])
    assert sum(action["probability"] for action in output["actions"]) == pytest.approx(1)
    utilities = {"right": 120, "wrong": -40, "rightly_silent": 10, "wrongly_silent": -20}
    assert all(
        action["net"] == pytest.approx(utilities[action["outcome"]] - action["cost"]) for action in output["actions"]
    )
    assert explained("3", "--run", str(grace_run)) == output
    assert explained("100", "--run", str(grace_run))["part"] == "held out"


def test_the_passages_are_those_that_the_answers_were_read_from(grace_run, explained):
    run = calibrated_run.read_run(grace_run)
    pipeline = held_out.pipeline_of(run.config, experiment.corpus_of(run.config))
    asked = next(number for number in range(80) if pipeline.retrieve(number, 0) != pipeline.retrieve(number, 1))
    passages = explained(str(asked), "--run", str(grace_run))["passages"]
    for action, depth in enumerate(("shallow", "deep")):
        assert " ¶ ".join(f"{piece['title']}: {piece['sentence']}" for piece in passages[depth]) == pipeline.retrieve(
            asked, action
        )


def test_a_policy_of_another_reader_is_warned_of(grace_run, tmp_path, capsys):
    words = ["show", "recommendation", "3", "--run", str(grace_run)]
    assert run(words) == 0
    assert "another reader" not in capsys.readouterr().err
    other = replace(policy_file.read(grace_run / "policy.json"), reader="answered by somebody")
    (tmp_path / "other.json").write_text(other.dumps())
    assert run([*words, "--policy", str(tmp_path / "other.json")]) == 0
    assert "another reader (answered by somebody" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [[], ["--documents", "here"], ["--documents", "here", "--run", "there"], ["--run", "nowhere"]]
)
def test_it_takes_documents_with_a_policy_or_a_run(words, tmp_path, error_of, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error_of(["show", "recommendation", "Who?", *words])


# -- modules that follow advice or do not, and whether it would pay them -------------------------------------------


STATE = "T:mid_Q:mid"
DEEP, SHALLOW = PUBLISHED[4], PUBLISHED[1]  # generate, skip_check
PUBLISHED_COSTS = Payment().costs


def calibrated(costs=PUBLISHED_COSTS):
    """Ten questions of one state: the deep answer is right on five of them, the shallow one on four."""
    rows = []
    for k in range(10):
        outcomes = [Judgement.KEPT_SILENT] * len(ALL)
        outcomes[4] = Judgement.ANSWERED_RIGHT if k < 5 else Judgement.ANSWERED_WRONG
        outcomes[1] = Judgement.ANSWERED_RIGHT if k < 4 else Judgement.ANSWERED_WRONG
        bare = Simulated(k, STATE, (0.0,) * len(ALL), tuple(outcomes))
        rows.append(Simulated(k, STATE, bare.net(Payment(costs=costs)), tuple(outcomes)))
    return tuple(rows)


def run_of(folder, costs=PUBLISHED_COSTS):
    rows = calibrated(costs)
    return CalibratedRun(folder, HeldOutConfig(train=10, held_out=10, costs=costs), rows, rows, None)


def test_a_correlated_equilibrium_is_followed_by_all_and_earns_no_more(tmp_path):
    run_of_one = run_of(tmp_path)
    best = PolicyTable({STATE: {DEEP: 1.0}})
    rows, equilibria = private_obedience(run_of_one, best, (1.0, 0.05, 0.001))
    for as_it_is, obeyed in zip(rows[::2], rows[1::2], strict=True):
        assert obeyed.follows == pytest.approx((1.0, 1.0, 1.0))
        assert obeyed.regrets == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)
        assert obeyed.utility.value <= as_it_is.utility.value + 1e-9
    assert equilibria[1.0].rows[STATE][DEEP] == pytest.approx(1.0)
    assert equilibria[0.001].rows[STATE].get(DEEP, 0.0) == pytest.approx(0.0)


@pytest.mark.parametrize("share", [0.0, 1.1, -1.0])
def test_a_share_is_above_0_up_to_1(tmp_path, share):
    with pytest.raises(ParlourError, match=f"share {share} is not accepted"):
        private_obedience(run_of(tmp_path), PolicyTable({STATE: {DEEP: 1.0}}), (share,))


def test_a_table_of_ones_own_is_played_at_ones_own_costs(tmp_path, output_of):
    """As above: from share 1/2 on the retriever follows to the deep search that costs eight more."""
    dear = (1.0, 9.0, 0.0, 2.0, 5.0, 2.0, 0.0, 4.0, 0.0)
    (tmp_path / "table.csv").write_text(table(calibrated(dear)).dumps())
    words = ["train", "grace", "--from-table", str(tmp_path / "table.csv"), "--method", "correlated"]
    words += ["--individual-costs", "--share", "0.49", "--validation", "0", "--deploy", "learned"]
    for name, priced, followed in (("own", ["--costs", "retrieve_deep=9"], SHALLOW), ("published", [], DEEP)):
        output_of([*words, *priced, "--out", str(tmp_path / name)])
        row = policy_file.read(tmp_path / name / "policy.json").rows[STATE]
        assert max(row, key=row.__getitem__) == followed


# -- the player ------------------------------------------------------------------------------------------------


def test_it_is_no_mediator(error_of):
    assert "the seats retriever, generator and verifier" in error_of(["play", "mediated_qa_v0", "--policy", "obedient"])
