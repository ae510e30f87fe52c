"""A mediator that sees the question: its numbers are scikit-learn's, it leans on the table, and it learns what can be learned."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.vocabulary import ALL, FEATURES, PUBLISHED, STATES, Payment
from parlour.policies.agents.mediated_qa import GraceMediator, PolicyTable, policy_file
from parlour.policies.agents.mediated_qa.contextual import (
    LEAN,
    BoostedTrees,
    ContextualModel,
    OutcomeModel,
    contextual_model,
    inputs,
    response,
)
from parlour.policies.agents.mediated_qa.joint import PUBLISHED as NAMES
from parlour.training.learn.mediators import baselines, contextual
from parlour.training.learn.mediators.contextual import (
    BOOSTING,
    INVERSE_PENALTY,
    ContextualConfig,
    cross_fit,
    fit_outcomes,
)
from parlour.training.learn.mediators.simulate import Simulated

from tests.refused_values import refusal

RIGHT, WRONG, SILENT, MISSED = range(4)


# -- the numbers are scikit-learn's ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_predictions_are_those_of_scikit_learn(classes):
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(classes)
    x = rng.normal(size=(300, 5)).round(1)  # rounded: many values lie on a threshold
    y = (x[:, 0] + 2 * (x[:, 1] > 0) + rng.normal(size=300)).round().astype(int) % classes
    made = fit_outcomes(x, y)
    center, scale = x.mean(axis=0), x.std(axis=0)
    logistic = LogisticRegression(C=INVERSE_PENALTY, max_iter=500).fit((x - center) / scale, y)
    boosted = HistGradientBoostingClassifier(**BOOSTING).fit(x, y)
    new = rng.normal(size=(200, 5)).round(1)
    theirs = (logistic.predict_proba((new - center) / scale) + boosted.predict_proba(new)) / 2
    ours = made.chances(new)
    assert np.allclose(ours[:, :classes], theirs, atol=1e-12)
    assert np.all(ours[:, classes:] == 0)
    assert len({row.tobytes() for row in ours}) > 100  # they do differ from question to question


def test_a_single_outcome_is_certain():
    made = fit_outcomes(np.zeros((10, 3)), np.full(10, SILENT))
    assert made.chances(np.ones((2, 3))).tolist() == [[0, 0, 1, 0]] * 2


def trees(**changed):
    """One tree: x_0 <= 0.5 adds 1, else 2; and one that is a leaf of 3 from the start."""
    parts = {
        "start": np.array([0.5, 0.0]),
        "roots": np.array([[0, 3]]),
        "feature": np.array([0, 0, 0, 0]),
        "threshold": np.array([0.5, 0.0, 0.0, 0.0]),
        "left": np.array([1, 0, 0, 0]),
        "right": np.array([2, 0, 0, 0]),
        "value": np.array([0.0, 1.0, 2.0, 3.0]),
    }
    return BoostedTrees(**(parts | changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"left": np.array([0, 1, 0, 0]), "right": np.array([2, 1, 0, 0])},  # a child that is its own parent
        {"right": np.array([9, 0, 0, 0])},
        {"roots": np.array([[0, 4]])},
        {"value": np.zeros(3)},
    ],
)
def test_trees_that_would_never_end_are_refused(changed):
    with pytest.raises(ParlourError, match="trees whose arrays do not fit; accepted"):
        trees(**changed)


# -- leaning on the table --------------------------------------------------------------------------------------


def certain(outcome, width):
    return OutcomeModel((outcome,), np.zeros(width), np.ones(width), np.zeros((1, width)), np.zeros(1))


def model(strength=0.0, counts=None, **settings):
    """Shallow reading is right and refusing missed, says the model; the state's table may say otherwise."""
    shown = np.zeros((len(STATES), 2, 4)) if counts is None else counts
    parts = {
        "sees": "signals",
        "joints": (NAMES[1], NAMES[2]),
        "model_of": (0, 1),
        "models": (certain(RIGHT, 8), certain(MISSED, 8)),
        "counts": shown,
        "strength": strength,
        "found": np.array([[0.5, 1.0], [0.5, 1.0]]),
        "payment": Payment(),
    }
    return ContextualModel(**(parts | settings))


LINKED = np.array([[1.0, 0, 0, 0, 0, 0]])


def test_expected_net_utility_is_the_chances_times_what_they_pay_less_what_is_carried_out():
    counts = np.zeros((len(STATES), 2, 4))
    counts[4, 0, RIGHT] = counts[4, 1, MISSED] = 30
    # right 120 less shallow 1 and generating 2; missed -20 less shallow 1
    assert model(counts=counts).values(LINKED, [STATES[4]]).tolist() == [[117.0, -21.0]]
    pays = Payment((10.0, -1.0, 2.0, -3.0), (5.0, 0, 0, 7.0, 0, 0, 0, 0, 0))
    assert model(counts=counts).values(LINKED, [STATES[4]], pays).tolist() == [[-2.0, -8.0]]
    # without a link half of the searches find nothing: generating is then from memory, at 2 as well; here at 1
    cheaper = Payment(costs=(1.0, 3.0, 0.0, 2.0, 5.0, 1.0, 0.0, 4.0, 0.0))
    assert model(counts=counts).values(np.zeros((1, 6)), [STATES[4]], cheaper).tolist() == [[117.5, -21.0]]


def test_a_state_with_few_questions_leans_on_the_table():
    """30 questions in the state, all answered wrong, and 10 elsewhere answered right: the table, leaning by 10, says

    wrong (30 + 10 x 30/40) / 40 = 15/16. With a strength of 10 the model counts 30 of 40: wrong 1/4 x 15/16.
    """
    counts = np.zeros((len(STATES), 2, 4))
    counts[4, 0, WRONG], counts[0, 0, RIGHT] = 30, 10
    counts[4, 1, SILENT], counts[0, 1, SILENT] = 30, 10
    assert LEAN == 10
    chances = model(10.0, counts).chances(LINKED, [STATES[4]])[0, 0]
    assert chances.tolist() == pytest.approx([1 - 15 / 64, 15 / 64, 0, 0])
    assert model(math.inf, counts).chances(LINKED, [STATES[4]])[0, 0, WRONG] == pytest.approx(15 / 16)
    assert model(0.0, counts).chances(LINKED, [STATES[4]])[0, 0].tolist() == [1, 0, 0, 0]
    # a state without any question is the table's alone: 30 of 40 wrong
    assert model(10.0, counts).chances(LINKED, [STATES[8]])[0, 0].tolist() == pytest.approx([0.25, 0.75, 0, 0])


def test_a_response_is_the_best_action_or_a_quantal_one():
    values = np.array([[1.0, 1.0, 0.0], [0.0, 5.0, 0.0]])
    assert response(values, 0.0, 0.0).tolist() == [[1, 0, 0], [0, 1, 0]]
    e = math.e
    assert response(values[:1], 1.0, 0.0)[0].tolist() == pytest.approx(
        [e / (2 * e + 1), e / (2 * e + 1), 1 / (2 * e + 1)]
    )
    assert response(values, 0.0, 0.1)[1].tolist() == pytest.approx([0.1, 0.8, 0.1])


def test_a_model_is_read_back_from_the_policy_file():
    loaded = contextual_model(json.loads(json.dumps(model(30.0, temperature=0.7, floor=0.02).as_json())))
    assert (loaded.sees, loaded.strength, loaded.temperature, loaded.floor) == ("signals", 30, 0.7, 0.02)
    assert loaded.row([1.0, 0, 0, 0, 0, 0], STATES[0]) == model(30.0, temperature=0.7, floor=0.02).row(
        LINKED[0], STATES[0]
    )
    assert contextual_model(json.loads(json.dumps(model(math.inf).as_json()))).strength == math.inf


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sees": "everything"}, "sees 'everything'"),
        ({"features": ["fame"]}, "features of another version"),
        ({"counts": [[1]]}, "counts"),
        ({"found": [[0.5, "x"], [0, 0]]}, "found"),
        ({"costs": [1, 2]}, "utilities and costs"),
        ({"models": [{}]}, "outcomes"),
        ({"floor": 0.5}, "floor"),
        ({"strength": -1}, "strength"),
        ({"actions": ["('fly',)"]}, "action"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused_in_one_line(changed, reason):
    stored = json.loads(json.dumps(model().as_json())) | changed
    line = refusal(contextual_model, stored)
    assert "accepted" in line
    assert reason in line


# -- learning --------------------------------------------------------------------------------------------------


def made_up(count, seed=0):
    """Questions of one state: shallow reading is right where a feature is above 0, memory where it is not."""
    rng = np.random.default_rng(seed)
    contexts = np.zeros((count, len(FEATURES)))
    contexts[:, 0] = 1
    contexts[:, 20] = rng.choice([-1.0, 1.0], size=count)
    rows = []
    for number, known in enumerate(contexts[:, 20] > 0):
        outcomes = []
        for joint in ALL:
            if joint.generator == vocabulary.Generate.REFUSE:
                outcomes.append(SILENT if known else MISSED)
            elif joint.generator == vocabulary.Generate.FROM_EVIDENCE:
                outcomes.append(RIGHT if known else WRONG)
            else:
                outcomes.append(WRONG if known else RIGHT)
        net = tuple(Payment().net(joint, outcome) for joint, outcome in zip(ALL, outcomes, strict=True))
        rows.append(Simulated(number, STATES[4], net, tuple(outcomes), (True, True)))
    return rows, contexts


def test_what_the_context_tells_is_learned_and_the_table_cannot():
    (rows, contexts), (new, put) = made_up(200), made_up(100, 1)
    seen = {
        sees: cross_fit(rows, contexts, config=ContextualConfig(sees=sees)).model
        for sees in ("state", "signals", "question")
    }
    played = {sees: contextual.contextual(sees, made, new, put).utility.mean() for sees, made in seen.items()}
    oracle = baselines.oracle(new).utility.mean()
    assert played["question"] == pytest.approx(oracle, abs=0.5)
    assert played["signals"] < 60  # one action for all of them: right on half
    assert played["state"] < 60


def test_cross_fitting_scores_each_question_by_a_model_that_did_not_see_it():
    """All but the first question follow their context, so the others teach what is wrong for it: -40 and the costs."""
    rows, contexts = made_up(40)
    contexts[0, 20] *= -1
    earned = cross_fit(rows, contexts).earned
    assert earned.shape == (40,)
    assert earned[0] < -40 < 50 < earned[1:].mean()


def test_where_nothing_can_be_learned_the_table_is_believed():
    """Features that tell nothing: the models only add noise, and the cross-fitting sees it."""
    rows, contexts = made_up(120)
    contexts[:, 20:] = np.random.default_rng(5).normal(size=(120, len(FEATURES) - 20))
    assert cross_fit(rows, contexts).model.strength >= 100


def test_a_payment_moves_the_recommendation_without_learning_again():
    rows, contexts = made_up(200)
    made = cross_fit(rows, contexts).model
    known = contexts[:, 20] > 0
    states = [row.state for row in rows]
    dear = made.policy(contexts, states, Payment(utilities=(0.0, -1e6, 0.0, 0.0)))
    refusing = [NAMES[k][1] == "refuse_to_generate" for k in range(9)]
    assert dear[:, refusing].sum(axis=1).min() == 1
    free = made.policy(contexts, states, Payment(utilities=(100.0, 0.0, -50.0, -50.0)))
    assert free[:, refusing].sum() == 0
    assert np.all(free[known][:, NAMES.index(PUBLISHED[1].names)] == 1)


@pytest.mark.parametrize("count", [0, 4])
def test_too_few_questions_are_refused(count):
    rows, contexts = made_up(10)
    with pytest.raises(ParlourError, match="at least 5 questions"):
        cross_fit(rows[:count], contexts[:count])


def test_a_table_of_form_and_state_takes_the_best_action_of_each_cell():
    """200 questions of two forms in one state: one is read, the other one remembered."""
    rows, contexts = made_up(200)
    who, when = FEATURES.index("form_who"), FEATURES.index("form_when")
    contexts[:, who] = contexts[:, 20] > 0
    contexts[:, when] = contexts[:, 20] <= 0
    played = contextual.form_by_state(rows, contexts, rows, contexts, Payment())
    assert played.utility.mean() == baselines.oracle(rows).utility.mean()
    contexts[:, [who, when]] = 0  # of one form: one action for all
    assert contextual.form_by_state(rows, contexts, rows, contexts, Payment()).utility.mean() < 60


def test_what_is_given_to_the_models_is_what_is_seen_and_the_state():
    contexts = np.arange(2 * len(FEATURES), dtype=float).reshape(2, -1)
    assert inputs("state", contexts, [STATES[5], "s0"]).tolist() == [[1, 2], [-1, -1]]
    assert inputs("signals", contexts, [STATES[5], "s0"])[0].tolist() == [0, 1, 2, 3, 4, 5, 1, 2]
    assert inputs("question", contexts, [STATES[5], "s0"]).shape == (2, len(FEATURES) + 2)


# -- the correlated form ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def of_sixty():
    """A model learned from sixty questions, their contexts and states."""
    rows, contexts = made_up(60)
    return cross_fit(rows, contexts).model, contexts, [row.state for row in rows]


MINE = 0.001
"""With a thousandth of the outcome, generating (0.12 - 2) is worth less to the generator than refusing (0.01): a regret."""


def test_the_mediator_plays_the_correlated_form_from_its_file(of_sixty):
    """With a thousandth of the outcome for each module the best equilibrium is another policy than the best action."""
    model, contexts, states = of_sixty
    obeyed = replace(model, temperature=0.0, floor=0.0, share=MINE)
    kept = PolicyTable({}, contextual=obeyed).dumps()
    stored = policy_file.loads(kept)
    assert stored.contextual.share == 0.001
    assert stored.dumps() == kept
    assert "share" not in json.loads(PolicyTable({}, contextual=model).dumps())["contextual"]
    played, best = obeyed.policy(contexts, states), replace(model, temperature=0.0, floor=0.0, share=1.0)
    assert np.abs(played - best.policy(contexts, states)).max() > 0.1
    mediator, greedy = (GraceMediator(PolicyTable({}, contextual=model), "best") for model in (stored.contextual, best))
    for k in range(6):
        advised = mediator._drawn(states[k], None, tuple(contexts[k])).joint
        assert played[k, NAMES.index(advised)] == played[k].max()
        assert list(stored.contextual.row(contexts[k], states[k]).values()) == played[k].tolist()
        taken = greedy._drawn(states[k], None, tuple(contexts[k])).joint
        assert taken == NAMES[int(model.values(contexts[k : k + 1], states[k : k + 1])[0].argmax())]
    with pytest.raises(ParlourError, match=r"share -1\.0 is not accepted"):
        contextual_model(obeyed.as_json() | {"share": -1})
