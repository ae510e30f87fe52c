"""What the stakes decide, from one calibrated run (training/learn/mediators/stakes.py): nothing is asked again."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.vocabulary import (
    ALL,
    ANSWERED_RIGHT,
    ANSWERED_WRONG,
    KEPT_SILENT,
    MISSED,
    PUBLISHED,
    Payment,
)
from parlour.policies.agents.mediated_qa import policy_file
from parlour.policies.agents.mediated_qa.joint import NUMBER
from parlour.training.cli import run
from parlour.training.learn.mediators import calibrated_run, stakes_files
from parlour.training.learn.mediators.simulate import Simulated, calibrate
from parlour.training.learn.mediators.stakes import (
    CONTEXTUAL,
    LEARNED,
    SeenQuestions,
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
    results = tuple(outcomes.get(k, KEPT_SILENT) for k in range(len(ALL)))
    row = Simulated(number, state, (0.0,) * len(ALL), results, (True, True), confidence)
    return replace(row, utilities=row.net(Payment()))


@pytest.fixture(scope="module")
def small():
    """Two states. The second joint action (shallow, generate, no check: 3) is right on 3 of 4, in the other state on 1 of 4."""
    right, wrong = {1: ANSWERED_RIGHT}, {1: ANSWERED_WRONG}
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
    answer, silent = PUBLISHED[1].names, PUBLISHED[2].names
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
        action.names for action in PUBLISHED if any(row.outcomes[ALL.index(action)] == ANSWERED_WRONG for row in train)
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


@pytest.mark.slow
def test_a_policy_that_sees_the_question_is_priced_anew_too(generated):
    pytest.importorskip("sklearn")
    from parlour.training.learn.mediators.contextual import ContextualConfig, learn_contextual

    train, held_out = generated
    pipeline = Pipeline(generate(seed=11, size=240, difficulty="medium"))
    seen = np.array([pipeline.context(k) for k in range(240)])
    model = learn_contextual(train, seen[:160], Payment(), ContextualConfig(temperature=0.0, floor=0.0))
    result = stakes(
        train, held_out, StakesConfig(price=(0.0, 50.0, 400.0, math.inf)), seen=SeenQuestions(model, seen[160:])
    )
    scored = [score for score in result.scores if score.system == CONTEXTUAL]
    assert [score.price for score in scored] == [0.0, 50.0, 400.0, math.inf]
    silence = [score.abstention.value for score in scored]
    assert silence == sorted(silence)
    assert silence[0] < 0.5
    assert silence[-1] == 1.0
    assert math.isfinite(scored[-1].utility.value)
    # at its own stakes it does what it was learned for
    best = model.values(seen[160:], [row.state for row in held_out]).argmax(axis=1)
    net = np.mean([row.utilities[NUMBER[model.joints[k]]] for row, k in zip(held_out, best, strict=True)])
    assert scored[1].utility.value == pytest.approx(float(net))
    assert stakes_files.headings(result)[6] == CONTEXTUAL


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
    closed = ALL.index(PUBLISHED[8])
    rows = [
        question(0, SURE, {closed: ANSWERED_RIGHT}, 0.9),
        question(1, SURE, {closed: ANSWERED_WRONG}, 0.5),
        question(2, SURE, {closed: MISSED}, 0.2),
    ]
    assert refusal_curve(rows) == [(1 / 3, 0.0), (2 / 3, 0.5), (2 / 3, 0.5)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"price": (-1.0,)}, "price '-1.0'"),
        ({"price": (math.nan,)}, "price 'nan'"),
        ({"price": ()}, "price ''"),
        ({"value": (0.0,)}, "value '0.0'"),
        ({"value": (math.inf,)}, "value 'inf'"),
    ],
)
def test_stakes_that_mean_nothing_are_refused(settings, message):
    with pytest.raises(ParlourError, match=message):
        StakesConfig(**settings)


# -- the command -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "grace"
    words = ["train", "grace", "--questions", "80", "--held-out", "60", "--temperature", "0.7", "--floor", "0.02"]
    assert run([*words, "--out", str(out)]) == 0
    return out


@pytest.mark.slow
def test_the_command_leaves_table_policies_and_picture(trained, output_of):
    before = (trained / "calibration" / "partial.csv").read_bytes()
    assert "nothing" not in output_of(["grace", "stakes", str(trained), "--price", "0,50,inf", "--value", "110,20"])
    folder = trained / "stakes"
    rows = list(csv.DictReader((folder / "stakes.csv").read_text().splitlines()))
    assert len(rows) == 2 * 3 * 6
    assert {row["price"] for row in rows} == {"0.0", "50.0", "inf"}
    policy = policy_file.read(folder / stakes_files.policy_name(110.0, 50.0))
    assert policy.thresholds == policy_file.read(trained / "policy.json").thresholds != {}
    assert (folder / stakes_files.STAKES_PICTURE).read_bytes()[:4] == b"\x89PNG"
    assert (trained / "calibration" / "partial.csv").read_bytes() == before


def test_a_folder_without_a_calibrated_run_is_refused_in_one_line(trained, tmp_path, error_of):
    error_of(["grace", "stakes", str(tmp_path)])
    own = tmp_path / "own"
    own.mkdir()
    settings = json.loads((trained / "calibration" / "config.json").read_text())
    (own / "config.json").write_text(json.dumps(settings | {"actions": "actions.json"}))
    (own / "partial.csv").write_text((trained / "calibration" / "partial.csv").read_text())
    with pytest.raises(ParlourError, match="has actions of its own; accepted: a run over the published actions"):
        calibrated_run.read_run(own)
    broken = tmp_path / "calibration"
    broken.mkdir()
    for name in ("config.json", "partial.csv"):
        text = (trained / "calibration" / name).read_text()
        (broken / name).write_text(text if name == "config.json" else "".join(text.splitlines(keepends=True)[:-5]))
    with pytest.raises(ParlourError, match="lacks 5 of 140 questions"):
        calibrated_run.read_run(tmp_path)


@pytest.mark.slow
def test_who_answered_is_told_by_every_table_and_policy(tmp_path, capsys, output_of):
    """Questions of one's own answered by a simulated memory are a fiction, and say so wherever they are shown."""
    lines = [{"question": f"Who wrote Book {k}?", "answer": f"Ann Reed{k}"} for k in range(12)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    notes = tmp_path / "notes"
    notes.mkdir()
    for k in range(12):
        (notes / f"Book {k}.txt").write_text(f"Book {k} was written by Ann Reed{k} in 19{k + 10}. It is long.")
    words = ["train", "grace", "--corpus", str(tmp_path / "questions.jsonl"), "--documents", str(notes)]
    settings = ["--reader", "offline", "--simulate-memory", "--temperature", "0.7", "--floor", "0.02"]
    assert run([*words, *settings, "--out", str(tmp_path / "run")]) == 0
    for command in (["stakes", "--price", "0,inf"], ["obey"]):
        capsys.readouterr()
        assert run(["grace", command[0], str(tmp_path / "run"), *command[1:]]) == 0
        assert "simulated memory" in " ".join(capsys.readouterr().out.split())
    assert "simulated memory" in " ".join(output_of(["grace", "explain", "0", "--run", str(tmp_path / "run")]).split())
    made = [policy_file.read(path) for path in (tmp_path / "run" / "stakes").glob("*.json")]
    assert len(made) == 2
    assert all("simulated memory" in result.reader for result in made)
