"""The log of recommendations, and what it says of policies that were not in use (training/learn/mediators/off_policy.py)."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.policies import GraceMediator
from parlour.policies.agents.mediated_qa import PolicyTable, policy_file, recommendation_log
from parlour.policies.agents.mediated_qa.joint import NUMBER, PUBLISHED, STATES
from parlour.policies.agents.mediated_qa.policy_file import SIGNAL_NAMES
from parlour.policies.agents.mediated_qa.recommendation_log import (
    OUTCOME_NAMES,
    LoggedRecommendation,
    RecommendationLog,
)
from parlour.training.cli import run
from parlour.training.learn.mediators import learn as quantal, off_policy
from parlour.training.learn.mediators.contextual import ContextualConfig, contextual, learn_contextual
from parlour.training.learn.mediators.learn import GraceConfig, learn
from parlour.training.learn.mediators.quantities import estimate, measure
from parlour.training.learn.mediators.simulate import calibrate, table
from refused_values import refusal

NLI, PLAIN, REFUSE = PUBLISHED[:3]
STATE = STATES[4]
EVEN = PolicyTable({STATE: {NLI: 0.5, PLAIN: 0.5}})


# -- the log ---------------------------------------------------------------------------------------------------


def test_a_recommendation_and_its_result_are_read_back(tmp_path):
    mediator, path = GraceMediator(EVEN), tmp_path / "log.jsonl"
    with RecommendationLog(path) as log:
        first = log.recommended("Who wrote it?", mediator.advise(STATE))
        second = log.recommended("Who else?", mediator.advise(STATE), id="of mine")
        log.result(second, "wrong", 2.5)
        log.result(first, "right")
        log.result(second, "rightly_silent", 1.0)  # it was looked at again
    with RecommendationLog(path) as log:  # another process goes on
        assert log.recommended("And who?", mediator.advise(STATE)) == "3"
    logged = recommendation_log.read_log(path)
    assert [(entry.id, entry.outcome, entry.cost) for entry in logged] == [
        ("1", "right", None),
        ("of mine", "rightly_silent", 1.0),
        ("3", None, None),
    ]
    assert {entry.probability for entry in logged} == {0.5}
    assert {entry.joint for entry in logged} <= {NLI, PLAIN}


def test_net_utilities_are_by_the_costs_told_or_by_the_nominal_ones():
    recommendation = LoggedRecommendation("1", "", STATE, None, NLI, 0.5, "right", 3.0)
    assert recommendation.net(Payment()) == 117.0
    # shallow 1, generate 2, check 4
    assert LoggedRecommendation("1", "", STATE, None, NLI, 0.5, "right").net(Payment()) == 113.0
    assert LoggedRecommendation("1", "", STATE, None, REFUSE, 0.5, "wrongly_silent").net(Payment()) == -21.0
    assert LoggedRecommendation("1", "", STATE, None, NLI, 0.5).net(Payment()) is None


def test_a_log_knows_the_cut_points_of_its_states(tmp_path):
    cuts, path = {"degree": (1.0, 2.0)}, tmp_path / "log.jsonl"
    with RecommendationLog(path, cuts) as log:
        log.result(log.recommended("Who?", GraceMediator(EVEN).advise(STATE)), "right")
    assert recommendation_log.read_log(path).thresholds == cuts
    assert off_policy.utility_table(recommendation_log.read_log(path)).thresholds == cuts
    with pytest.raises(ParlourError, match="other signal_thresholds; accepted: a log for each"):
        RecommendationLog(path, {"degree": (1.0, 3.0)})


def test_a_line_that_a_kill_cut_off_is_left_out(tmp_path):
    path = tmp_path / "log.jsonl"
    with RecommendationLog(path) as log:
        log.recommended("Who?", GraceMediator(EVEN).advise(STATE))
    with path.open("a") as file:
        file.write('{"id": "2", "quest')
    assert [entry.id for entry in recommendation_log.read_log(path)] == ["1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("3", "line 1: it is not an object with an id"),
        ('{"id": "1", "outcome": "right"}', "line 1: a result of '1', which was not recommended before"),
        ('{"id": "1", "state": "T:low_Q:low", "probability": 1}', "line 1: it has no joint"),
        ('{"id": "1", "state": "low", "joint": 3, "probability": 1}', "line 1: joint 3 is not accepted"),
        (
            '{"id": "1", "state": "T:low_Q:low", "joint": ["retrieve_deep", "generate", "skip_check"], "probability": 1, '
            '"context": [1, 2]}',
            r"line 1: context \[1, 2\] is not accepted; accepted: a list of 6 or",
        ),
        ('{"id": "1", "oops": 1}', "line 1: field of a recommendation 'oops' is not accepted"),
        ("{", "line 1: "),
    ],
)
def test_a_line_that_is_neither_is_told(tmp_path, line, message):
    path = tmp_path / "log.jsonl"
    path.write_text(line + "\n")
    assert re.search(message, refusal(recommendation_log.read_log, path))


def test_a_result_needs_a_recommendation_and_an_outcome(tmp_path):
    with RecommendationLog(tmp_path / "log.jsonl") as log:
        log.recommended("Who?", GraceMediator(EVEN).advise(STATE))
        with pytest.raises(ParlourError, match="id '9' is not accepted"):
            log.result("9", "right")
        with pytest.raises(ParlourError, match="outcome 'good' is not accepted; accepted: right, wrong"):
            log.result("1", "good")
        with pytest.raises(ParlourError, match="cost -1 is not accepted"):
            log.result("1", "right", -1)
        with pytest.raises(ParlourError, match="the log has a recommendation '1'"):
            log.recommended("Who?", GraceMediator(EVEN).advise(STATE), id="1")


# -- what another policy is worth ------------------------------------------------------------------------------


def logged(outcomes, joint, p):
    return [LoggedRecommendation(str(k), "", STATE, None, joint, p, outcome, 0.0) for k, outcome in enumerate(outcomes)]


def test_the_estimates_of_a_log_small_enough_to_reckon():
    # twelve draws, half of each action: the checked ones are all right (120), the others all wrong (-40)
    log = [
        LoggedRecommendation(str(k), "", STATE, None, *((NLI, 0.5, "right") if k % 2 else (PLAIN, 0.5, "wrong")), 0.0)
        for k in range(12)
    ]
    estimates = off_policy.value(PolicyTable({STATE: {NLI: 0.75, PLAIN: 0.25}}), log)
    assert estimates.logged.value == pytest.approx(40.0)
    # weights 1.5 and 0.5: (1.5 * 120 + 0.5 * -40) / 2 = 80 = 0.75 * 120 + 0.25 * -40
    assert estimates.inverse_propensity.value == pytest.approx(80.0)
    assert estimates.self_normalised.value == pytest.approx(80.0)
    assert estimates.doubly_robust.value == pytest.approx(80.0)
    assert estimates.effective == pytest.approx(12**2 / (6 * 2.25 + 6 * 0.25))
    assert estimates.unsupported == 0.0


def test_what_was_never_taken_is_unsupported():
    log = logged(["right"] * 12, NLI, 1.0)
    estimates = off_policy.value(PolicyTable({STATE: {NLI: 0.25, PLAIN: 0.75}}), log)
    assert estimates.unsupported == 0.75
    nothing = off_policy.value(PolicyTable({STATE: {PLAIN: 1.0}}), log)
    assert (nothing.unsupported, nothing.self_normalised, nothing.effective) == (1.0, None, 0.0)
    assert off_policy.value(PolicyTable({}), log).unsupported == 1.0  # the fallback


def test_too_few_results_are_refused():
    with pytest.raises(ParlourError, match="3 recommendations with a result; accepted: at least 10"):
        off_policy.value(EVEN, logged(["right"] * 3, NLI, 0.5))
    with pytest.raises(ParlourError, match="no recommendation of the log has a result"):
        off_policy.utility_table([LoggedRecommendation("1", "", STATE, None, NLI, 0.5)])


@pytest.fixture(scope="module")
def rows():
    pipeline = Pipeline(generate(seed=7, size=300, difficulty="medium"))
    return calibrate(pipeline, range(300))


def drawn(rows, n, rng, advise):
    """A log of n questions drawn from these; `advise(place)`: joint action, its probability, and what was seen."""
    log = []
    for k, place in enumerate(rng.integers(len(rows), size=n).tolist()):
        row, (joint, p, context) = rows[place], advise(place)
        outcome = row.outcomes[NUMBER[joint]]
        cost = Payment().utilities[outcome] - row.utilities[NUMBER[joint]]  # of what was carried out
        log.append(LoggedRecommendation(str(k), "", row.state, None, joint, p, OUTCOME_NAMES[outcome], cost, context))
    return log


def by_state(policy, rows, rng):
    mediator = GraceMediator(policy)
    mediator.rng = rng

    def advise(place):
        advice = mediator.advise(rows[place].state)
        return advice.joint, advice.probability, ()

    return advise


def by_question(model, rows, contexts, rng):
    chances = model.policy(contexts, [row.state for row in rows])

    def advise(place):
        choice = int(rng.choice(len(model.joints), p=chances[place]))
        return model.joints[choice], float(chances[place, choice]), tuple(contexts[place].tolist())

    return advise


def check_intervals(policy, worth, log):
    """Of forty logs; half the width of the intervals, in sum. 38 of 40 are expected to hold the truth."""
    covered, halves = {"inverse_propensity": 0, "doubly_robust": 0}, {"inverse_propensity": 0.0, "doubly_robust": 0.0}
    for _ in range(40):
        estimates = off_policy.value(policy, log())
        assert estimates.effective < 400
        for name in covered:
            interval = getattr(estimates, name)
            covered[name] += interval.low <= worth <= interval.high
            halves[name] += (interval.high - interval.low) / 2
    # 34 or fewer come once in 25 (inverse propensity is skewed)
    assert covered["doubly_robust"] >= 34
    assert covered["inverse_propensity"] >= 32
    return halves


def truth(policy, rows):
    """What a policy earns over these questions, whose utilities are all known."""
    return float(np.mean(quantal.earned(policy, table(rows))))


@pytest.mark.slow
def test_intervals_hold_the_known_truth_on_generated_questions(rows):
    model = estimate(measure(table(rows)))
    used = quantal.policy(model, 50.0, 0.05)  # explores
    asked = quantal.policy(model, 3.0, 0.0)  # is nearly sure
    worth, rng = truth(asked, rows), np.random.default_rng(5)
    assert worth > truth(used, rows) + 3
    halves = check_intervals(asked, worth, lambda: drawn(rows, 400, rng, by_state(used, rows, rng)))
    assert halves["doubly_robust"] < halves["inverse_propensity"]


def test_what_learning_from_a_log_is_worth_is_told_by_what_was_not_learned_from(rows):
    """Learned from a short log and measured on it, a policy looks better than it is; by the other folds it does not."""
    rng = np.random.default_rng(8)
    used = PolicyTable({state: dict.fromkeys(PUBLISHED, 1 / 9) for state in {row.state for row in rows}})

    def make(rows):
        return learn(rows, GraceConfig(temperature=0.7, floor=0.0)).policy

    flattery, fair = [], []
    for _ in range(20):
        log = drawn(rows, 300, rng, by_state(used, rows, rng))
        worth = truth(make(off_policy.utility_table(log)), rows)
        flattery.append(off_policy.value(make(off_policy.utility_table(log)), log).doubly_robust.value - worth)
        fair.append(off_policy.value_of_learning(make, log).doubly_robust.value - worth)
    assert np.mean(flattery) > 10
    assert abs(np.mean(fair)) < 8


# -- a policy that sees more than the state ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def seen(rows):
    """Contexts of the questions, and a model that sees them."""
    pytest.importorskip("sklearn")
    pipeline = Pipeline(generate(seed=7, size=300, difficulty="medium"))
    contexts = np.array([pipeline.context(row.number) for row in rows])
    return contexts, learn_contextual(rows, contexts, None, ContextualConfig(temperature=3.0, floor=0.0, folds=2))


@pytest.mark.slow
def test_intervals_hold_the_known_truth_of_a_policy_that_sees_the_question(rows, seen):
    contexts, asked = seen
    used = replace(asked, temperature=50.0, floor=0.05)  # explores
    worth, explored = (contextual("", policy, rows, contexts).utility.mean() for policy in (asked, used))
    assert worth > explored + 10
    policy, rng = PolicyTable({}, contextual=asked), np.random.default_rng(5)

    def log():
        return drawn(rows, 400, rng, by_question(used, rows, contexts, rng))

    check_intervals(policy, worth, log)
    mine = off_policy.value(PolicyTable({}, contextual=used), log())
    assert mine.inverse_propensity.value == pytest.approx(mine.logged.value)  # all weights are 1


def test_what_the_mediator_saw_is_in_the_log_and_is_read_back(rows, seen, tmp_path):
    contexts, model = seen
    cuts, documents = dict.fromkeys(SIGNAL_NAMES, (0.25, 0.75)), generate(seed=7, size=300, difficulty="medium")
    mediator = GraceMediator(PolicyTable({}, cuts, contextual=model))
    with RecommendationLog(tmp_path / "log.jsonl", cuts) as log:
        probe = mediator.probe(documents.passages)
        log.recommended("Who?", mediator.advise(documents.questions[0].text, probe))
    (entry,) = recommendation_log.read_log(tmp_path / "log.jsonl")
    assert entry.context == probe.context(documents.questions[0].text) == tuple(contexts[0].tolist())
    with RecommendationLog(tmp_path / "plain.jsonl") as log:  # by state: as ever
        log.recommended("Who?", GraceMediator(EVEN).advise(STATE))
    assert "context" not in (tmp_path / "plain.jsonl").read_text()


def test_logs_without_contexts_hold_the_signals_and_no_more(rows, seen):
    contexts, model = seen
    signals = learn_contextual(
        rows, contexts, None, ContextualConfig(sees="signals", temperature=3.0, floor=0.0, folds=2)
    )
    rng = np.random.default_rng(1)
    log = drawn(rows, 100, rng, by_question(model, rows, contexts, rng))
    old = [
        replace(entry, context=(), signals=entry.context[1:6] if entry.context[0] else None) for entry in log
    ]  # as older versions wrote it
    unlinked = replace(log[0], state="s0", context=(0.0,) * len(log[0].context))
    log, old = [*log, unlinked], [*old, replace(unlinked, context=(), signals=None)]
    policy = PolicyTable({}, contextual=signals)
    assert off_policy.value(policy, old) == off_policy.value(policy, log)
    with pytest.raises(ParlourError, match="'0' of the log does not hold what a policy sees that sees the question"):
        off_policy.value(PolicyTable({}, contextual=model), old)


# -- the commands ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def in_use(rows, tmp_path_factory):
    """The folder of a mediator in use: its policy and its log, of 400 questions drawn from those calibrated."""
    folder, rng = tmp_path_factory.mktemp("use"), np.random.default_rng(9)
    cuts = dict.fromkeys(SIGNAL_NAMES, (0.25, 0.75))
    used = PolicyTable({state: dict.fromkeys(PUBLISHED, 1 / 9) for state in {row.state for row in rows}}, cuts)
    (folder / "policy.json").write_text(used.dumps())
    with RecommendationLog(folder / "log.jsonl", cuts) as log:
        mediator = GraceMediator.load(folder / "policy.json")
        for place in rng.integers(len(rows), size=400).tolist():
            advice = mediator.advise(rows[place].state)
            log.result(log.recommended("?", advice), OUTCOME_NAMES[rows[place].outcomes[NUMBER[advice.joint]]])
    return folder


def test_a_policy_is_learned_from_the_log_and_told_what_it_is_worth(in_use, tmp_path, capsys, json_of):
    words = ["train", "grace", "--from-log", str(in_use / "log.jsonl"), "--out", str(tmp_path / "run"), "--json"]
    output = json_of([*words, "--temperature", "0.7", "--floor", "0.02", "--shrinkage", "auto"])["off_policy"]
    assert output["n"] == 400
    assert output["gain"]["low"] < output["gain"]["mean"] < output["gain"]["high"]
    policy = policy_file.read(tmp_path / "run" / "policy.json")
    assert policy.thresholds == dict.fromkeys(SIGNAL_NAMES, (0.25, 0.75))
    assert run(["grace", "value", str(in_use / "log.jsonl"), "--policy", str(tmp_path / "run" / "policy.json")]) == 0
    assert "doubly robust" in " ".join(capsys.readouterr().out.split())


def test_the_policy_in_use_is_worth_what_it_earned(in_use, capsys, json_of):
    words = ["grace", "value", str(in_use / "log.jsonl"), "--policy", str(in_use / "policy.json"), "--json"]
    output = json_of(words)[str(in_use / "policy.json")]
    assert output["inverse_propensity"]["mean"] == pytest.approx(output["logged"]["mean"])
    assert output["effective"] == pytest.approx(400)
    shares = json_of([*words, "--utilities", "1,0,0,0"])[str(in_use / "policy.json")]
    assert -5 < shares["logged"]["mean"] < 1  # the share of right answers, less the nominal costs
    assert run([*words, "--utilities", "1,0"]) == 2


def test_settings_cannot_be_cross_validated_on_a_log(in_use, tmp_path, capsys):
    assert run(["train", "grace", "--from-log", str(in_use / "log.jsonl"), "--out", str(tmp_path / "run")]) == 2
    assert "accepted: --temperature and --floor" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
