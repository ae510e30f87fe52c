"""A table whose mediator sees more than the state: who is told what, replay without a service, and a policy that uses it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import IllegalMove, Move, ParlourError
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline, generated
from parlour.envs.mediated_qa.vocabulary import FEATURES, STATES, Payment
from parlour.policies import make_policy
from parlour.policies.agents.mediated_qa import GraceMediator, policy_file
from parlour.policies.agents.mediated_qa.documents import DocumentProbe
from parlour.training.learn.mediators.contextual import ContextualConfig, cross_fit
from parlour.training.learn.mediators.learn import GraceConfig, fit_policy
from parlour.training.learn.mediators.simulate import calibrate, table
from parlour.training.play.named_table import named_table

from tests import ROOT

SETTINGS = {"observation": "both", "info": "full"}


def opened(seed=1, **options):
    env = registry["mediated_qa_v0"].raw_env(**options, **SETTINGS)
    env.reset(seed=seed)
    return env


def test_what_the_mediator_sees_is_measured_on_the_question():
    env = opened(mediator_sees="question", corpus_seed=3)
    view = env.view(0)
    pipeline = generated(3, 60, "medium", "ours")
    (number,) = [k for k in range(60) if pipeline.text(k) == view.question]
    assert view.sees == "question"
    assert view.context == pipeline.context(number)
    assert view.signals == tuple(pipeline.signals(number))


def test_by_default_nothing_changes_and_the_configuration_does_not_name_it():
    plain, said = opened(), opened(mediator_sees="state")
    assert "mediator_sees" not in plain.game.config
    assert plain.game.config == said.game.config
    assert opened(mediator_sees="signals").game.config == {**plain.game.config, "mediator_sees": "signals"}
    view = plain.view(0)
    assert (view.sees, view.signals, view.context) == ("state", (), ())
    assert [event[1].kind for event in view.events] == ["signal", "question"]
    assert plain.game.max_moves + 1 == opened(mediator_sees="signals").game.max_moves


def test_modules_are_told_nothing_of_it():
    env = opened(mediator_sees="question")
    for seat in (1, 2, 3):
        view = env.view(seat)
        assert (view.signals, view.context) == ((), ())
        assert all(event[1].kind != "measured" for event in view.events)
        assert "Measured" not in env.observe(env.possible_agents[seat])["text"]
    assert [event[1].kind for event in env.view(0).events] == ["signal", "question", "measured"]


def test_the_mediator_reads_the_features_in_words():
    env = opened(mediator_sees="signals")
    text = ", ".join(f"{name} {value:.3g}" for name, value in zip(FEATURES, env.view(0).context, strict=False))
    assert f"Measured: {text}." in env.observe("mediator")["text"]


def test_features_are_scaled_into_the_numbers_of_the_mediator():
    plain, more = opened(), opened(mediator_sees="question")
    vector, wider = (env.observe("mediator")["observation"] for env in (plain, more))
    assert len(wider) == len(vector) + len(FEATURES)
    assert wider[: len(vector)].tolist() == vector.tolist()
    context = np.array(more.view(0).context)
    assert np.allclose(wider[len(vector) :], context / (1 + np.abs(context)))
    assert np.abs(wider).max() <= 1
    assert more.observe("generator")["observation"][len(vector) :].tolist() == [0] * len(FEATURES)


@pytest.mark.parametrize("words", ["", "1 2", "1 2 3 4 5 x", "1 2 3 4 5 nan", "1 2 3 4 5 6 7"])
def test_nature_may_not_tell_other_numbers(words):
    game = opened(mediator_sees="signals").game
    state = game.apply(game.initial(), Move("question", (0, 4), "Who?"))
    with pytest.raises(IllegalMove, match="accepted: measured with 6 finite numbers"):
        game.apply(state, Move("measured", (), words))
    assert game.apply(state, Move("measured", (), "1 2 3 4 5 6")).context == (1, 2, 3, 4, 5, 6)


def test_a_service_that_measures_nothing_is_refused():
    class Plain:
        size = 3
        ask = retrieve = answer = check = gold = right = known = lambda self, *args: None

    with pytest.raises(ParlourError, match="no context"):
        opened(mediator_sees="question", service=Plain())


# -- a policy that uses it -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learned():
    """A pipeline of 120 questions, and a policy file for what each mediator sees."""
    pipeline = Pipeline(generate(seed=3, size=120, difficulty="medium"))
    bins = pipeline.learn_bins(range(120))
    rows = calibrate(pipeline, range(120))
    contexts = np.array([pipeline.context(k) for k in range(120)])
    plain = fit_policy(table(rows, "published", bins), GraceConfig(temperature=1.0, floor=0.0)).policy
    config = ContextualConfig(temperature=0.0, floor=0.0, folds=2)
    models = {
        sees: cross_fit(rows, contexts, Payment(), config.replace(sees=sees)).model for sees in ("signals", "question")
    }
    models = {sees: replace(model, strength=0.0) for sees, model in models.items()}
    return pipeline, {sees: replace(plain, contextual=model) for sees, model in models.items()}, plain


@pytest.mark.parametrize("sees", ["signals", "question"])
def test_the_mediator_recommends_at_the_table_what_the_model_says_of_the_question(learned, sees, tmp_path):
    pipeline, policies, _ = learned
    path = tmp_path / "policy.json"
    GraceMediator(policies[sees]).save(path)
    env = opened(mediator_sees=sees, service=pipeline, modules=False, questions=30, seed=2)
    policy = make_policy(f"grace:file={path}", "mediated_qa_v0", env.game.config)
    policy.reset(0, 1)
    joints = set()
    while env.view(0).legal:
        view = env.view(0)
        number = policy.act(
            env.observe("mediator"), {"view": view, "legal": np.flatnonzero(env.observe("mediator")["action_mask"])}
        )
        row = policies[sees].contextual.row(view.context, STATES[view.signal])
        joint = max(row, key=row.__getitem__)
        assert env.game.catalogue[number].args == tuple(policies_args(env, joint))
        joints.add(joint)
        env.step(number)
    assert len(joints) > 1


def test_a_table_shows_what_the_policy_of_a_mediators_file_sees(learned, tmp_path):
    _, policies, plain = learned
    for name, policy in (("question", policies["question"]), ("plain", plain)):
        GraceMediator(policy).save(tmp_path / f"{name}.json")
    assert named_table("mediated_qa_v0", {"modules": False}, [f"grace:file={tmp_path / 'question.json'}"]) == (
        "mediated_qa_v0",
        {"modules": False, "mediator_sees": "question"},
    )
    assert named_table("mediated_qa_v0", {}, [f"grace:file={tmp_path / 'plain.json'}"]) == ("mediated_qa_v0", {})


def policies_args(env, joint):
    return [names.index(action) for names, action in zip(env.game.actions.names[1:], joint, strict=True)]


def test_a_policy_that_sees_more_than_the_table_shows_is_refused(learned):
    pipeline, policies, _ = learned
    policy = GraceMediator(policies["question"])
    policy.reset(0, 1)
    env = opened(mediator_sees="signals", service=pipeline, modules=False, seed=2)
    with pytest.raises(ParlourError, match="sees the question; accepted: a table with mediator_sees='question'"):
        policy.act(None, {"view": env.view(0), "legal": range(9)})


def test_in_a_pipeline_of_ones_own_it_sees_the_question_and_the_documents(learned):
    pipeline, policies, _ = learned
    corpus = generate(seed=3, size=120, difficulty="medium")
    probe = DocumentProbe(corpus.passages)
    mediator = GraceMediator(policies["question"], choice="best")
    for number in range(0, 120, 12):
        assert probe.context(pipeline.text(number)) == pipeline.context(number)
        row = policies["question"].contextual.row(pipeline.context(number), STATES[pipeline.ask(number).state])
        assert mediator.recommend(pipeline.text(number), probe) == max(row, key=row.__getitem__)
    with pytest.raises(ParlourError, match="or a question with its documents"):
        mediator.recommend("T:low_Q:low")
    by_signals = GraceMediator(policies["signals"], choice="best")
    assert by_signals.recommend(pipeline.signals(0)) == by_signals.recommend(pipeline.text(0), probe)


def test_the_example_of_the_page_runs(tmp_path, monkeypatch):
    """With a fifth of its questions, to be quick."""
    page = (ROOT / "docs" / "howto" / "contextual_mediators.md").read_text("utf-8")
    code = next(part for part in page.split("```python\n")[1:] if "cross_fit" in part).partition("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(compile(code.replace("300", "60"), "docs/howto/contextual_mediators.md", "exec"), {})
    assert policy_file.read(tmp_path / "policy.json").contextual.sees == "question"
