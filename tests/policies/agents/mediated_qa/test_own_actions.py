"""Learning a mediator over other actions: two retrievers and two readers as actions of their own, calibrated, learned, scored, played."""

from __future__ import annotations

import json

import numpy as np
import pytest
from parlour.envs import mediated_qa_v0
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import Action, ActionSet
from parlour.envs.mediated_qa.corpus import generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.readers import OfflineReader
from parlour.policies.agents.mediated_qa import GraceMediator, policy_file
from parlour.policies.agents.mediated_qa.joint import column, from_column, from_key, key
from parlour.training.cli import run as run_command
from parlour.training.learn.mediators import held_out
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.learn.mediators.learn import GraceConfig
from parlour.training.learn.mediators.simulate import simulate
from parlour.training.learn.mediators.train import train
from parlour.training.play import rollout
from parlour.training.runs.run import Run

OWN = ActionSet(
    retriever=(
        Action(name="words", kind="search", cost=1.0, by="bm25"),
        Action(name="walk", kind="search", cost=2.0, by="graph"),
        Action(name="none", kind="skip"),
    ),
    generator=(
        Action(name="careless", kind="read", cost=1.0, by="careless"),
        Action(name="careful", kind="read", cost=8.0),
        Action(name="by_heart", kind="recall", cost=2.0),
        Action(name="silent", kind="refuse"),
    ),
    verifier=(Action(name="check", kind="check", cost=3.0), Action(name="trust", kind="skip")),
)
"""24 joint actions, 16 feasible: each search with 3 answers, checked or not, or silence: 2 (3 x 2 + 1); 2 without a search."""
QUESTIONS = 60


class Careless(OfflineReader):
    """Reads the last sentence only."""

    def generate(self, question, evidence, rng):
        return super().generate(question, evidence.rpartition("¶")[2], rng)


def pipeline():
    corpus = generate(seed=5, size=QUESTIONS, difficulty="medium")
    return Pipeline(corpus, actions=OWN, parts={"careless": Careless()})


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """The experiment in a run directory: 40 questions to learn from, 20 held out."""
    out = tmp_path_factory.mktemp("own")
    setting = HeldOutConfig(train=40, held_out=20)
    calibrated = held_out.prepare(setting, pipeline=pipeline(), run=Run(out / "calibration"))
    return train(GraceConfig(deploy="learned"), calibrated.table, Run(out), calibrated=calibrated), out


def test_the_policy_of_a_run_has_its_verdict(learned):
    result, out = learned
    stored = policy_file.read(out / "policy.json")
    assert stored.usable is False  # 40 questions of the cross-validation show no gain
    assert stored.verdict == result.deployment.verdict != ""


# -- calibration -------------------------------------------------------------------------------------------------


def by_game(service, number, names):
    """Net utility and outcome of a joint action by the rules of the game, move by move."""
    env = mediated_qa_v0.raw_env(service=service, modules=False)
    game, rng = env.game, np.random.default_rng(0)
    asked = service.ask(number)
    state = game.apply(game.initial(), vocabulary.Move(vocabulary.QUESTION, (number, asked.state), asked.text))
    advice = vocabulary.Move(vocabulary.ADVISE, tuple(OWN.joint_of(names)))
    while game.outcome(state) is None:
        state = game.apply(state, advice if game.legal(state) else game.nature(state, rng))
    return game.outcome(state).returns[0], state.outcome


def test_calibration_pays_what_the_game_pays():
    service = pipeline()
    for number in range(6):
        row = simulate(service, number, OWN.payment())
        for joint, utility, outcome in zip(OWN.all, row.utilities, row.outcomes, strict=True):
            assert (utility, outcome) == by_game(service, number, OWN.names_of(joint)), OWN.names_of(joint)


def test_nothing_found_is_told_of_each_search():
    service = pipeline()
    service._retrievers["bm25"] = Nothing()
    row = simulate(service, 3, OWN.payment())
    assert row.found == (False, True)
    utilities = dict(zip(map(OWN.names_of, OWN.all), row.utilities, strict=True))
    read, recalled = utilities["words", "careful", "check"], utilities["words", "by_heart", "trust"]
    assert read == recalled  # what is carried out is the closed-book answer, unchecked
    assert row.net(OWN.payment(), OWN) == row.utilities


class Nothing:
    """A retriever that finds nothing."""

    def evidence(self, question, depth):
        return ""


# -- names in files ----------------------------------------------------------------------------------------------


def test_columns_and_keys_by_names():
    names = OWN.names_of(OWN.all[0])
    assert (column(names), key(names)) == ("u_words+careless+check", "('words', 'careless', 'check')")
    assert from_column(column(names), OWN) == from_key(key(names), OWN) == names
    with pytest.raises(ParlourError, match="accepted: the 16 feasible joint actions, such as u_words"):
        from_column("u_shallow_gen_nli", OWN)
    with pytest.raises(ParlourError, match="careful reads evidence, and nothing was retrieved"):
        from_key("('none', 'careful', 'trust')", OWN)


# -- learning ----------------------------------------------------------------------------------------------------


def test_a_mediator_is_learned_and_scored_over_its_own_actions(learned):
    result, out = learned
    assert result.learned.policy.actions == OWN
    assert {joint for row in result.learned.policy.rows.values() for joint in row} <= set(map(OWN.names_of, OWN.all))
    assert [score.name for score in result.scores[:5]] == [
        "learned mediator", "best action by state", "no retrieval", "always words, careless, trust",
        "refusal by self-reported confidence",
    ]  # fmt: skip
    oracle = result.scores[-1]
    assert all(score.utility.value <= oracle.utility.value for score in result.scores)
    stored = json.loads((out / "calibration" / "config.json").read_text())
    assert stored["actions"] == OWN.plain()


# -- the policy file and the mediator ----------------------------------------------------------------------------


def test_a_policy_file_names_its_actions(learned):
    result, out = learned
    text = (out / "policy.json").read_text()
    assert json.loads(text)["actions"] == OWN.plain()
    assert policy_file.loads(text).rows == result.learned.policy.rows
    assert policy_file.loads(text).dumps() == text
    without = json.dumps({name: value for name, value in json.loads(text).items() if name != "actions"})
    with pytest.raises(ParlourError, match=r"action \"\('words', 'careless', 'check'\)\" is not accepted"):
        policy_file.loads(without)


def test_the_mediator_plays_its_policy_at_a_table_of_its_actions(learned):
    _, out = learned
    mediator = GraceMediator.load(out / "policy.json")
    env = rollout.table("mediated_qa_v0", service=pipeline(), modules=False, questions=20)
    rollout.play(env, [mediator], 1)
    advised = [OWN.names_of(move.args) for move in env.game_env.moves if move.kind == "advise"]
    states = [vocabulary.STATES[move.args[1]] for move in env.game_env.moves if move.kind == "question"]
    assert len(states) == 20
    for state, joint in zip(states, advised, strict=True):
        assert mediator.table.rows.get(state, {mediator.table.fallback: 1.0})[joint] > 0


def test_a_policy_is_refused_at_a_table_of_other_actions(learned):
    _, out = learned
    env = mediated_qa_v0.env(corpus_size=5, info="full")
    env.reset(seed=1)
    observation, *_, info = env.last()
    with pytest.raises(
        ParlourError, match="this table has other actions than the policy; accepted: a table with words"
    ):
        GraceMediator.load(out / "policy.json").act(observation, info)


# -- from the command line ---------------------------------------------------------------------------------------


def test_the_command_learns_over_a_file_of_actions(tmp_path, capsys, error_of):
    plain = OWN.replace(generator=OWN.generator[1:])  # of no part but the retrievers
    (tmp_path / "actions.json").write_text(json.dumps(plain.plain()))
    out, asked = tmp_path / "run", ["--questions", "20", "--held-out", "10", "--difficulty", "easy"]
    command = ["train", "grace", *asked, "--actions", str(tmp_path / "actions.json"), "--out", str(out)]
    assert run_command(command) == 0
    assert "always words, careful, trust" in (out / "scores.csv").read_text()
    assert policy_file.read(out / "policy.json").actions == plain
    assert json.loads((out / "calibration" / "config.json").read_text())["actions"] == plain.plain()
    assert "accepted: their costs in the file of actions" in error_of(
        [*command, "--costs", "retrieve_deep=4"], notes=True
    )
    assert run_command(["evaluate", "stakes", str(out), "--out", str(tmp_path / "stakes")]) == 2
    assert "has actions of its own; accepted: a run over the published actions" in capsys.readouterr().err
