"""The game with more or other actions: kinds decide what is feasible and what is carried out; the published set is as it was."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from parlour.envs import mediated_qa, mediated_qa_v0
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, Action, ActionSet
from parlour.envs.mediated_qa.corpus import CorpusQuestion, generate
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.readers import ExtractiveReader, OfflineReader
from parlour.envs.mediated_qa.reading import EstimatedAnswer
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.envs.testing import check_game

from tests.refused_values import refusal

OWN = ActionSet(
    retriever=(
        Action(name="bm25", kind="search", cost=1.0, by="bm25"),
        Action(name="graph", kind="search", cost=2.0, by="graph"),
        Action(name="graph_deep", kind="search", cost=4.0, by="graph", depth="deep"),
        Action(name="none", kind="skip"),
    ),
    generator=(
        Action(name="small", kind="read", cost=1.0),
        Action(name="large", kind="read", cost=6.0, by="large"),
        Action(name="from_memory", kind="recall", cost=2.0),
        Action(name="silent", kind="refuse"),
    ),
    verifier=(
        Action(name="strict", kind="check", cost=3.0, by="strict"),
        Action(name="usual", kind="check", cost=2.0),
        Action(name="trust", kind="skip"),
    ),
)
"""Two retrievers, one of them shallow and deep; two readers; two checks."""


class Large(OfflineReader):
    """Answers in capitals."""

    def generate(self, question: CorpusQuestion, evidence: str, rng: np.random.Generator) -> str:
        return super().generate(question, evidence, rng).upper()


class Strict:
    """A verifier that lets nothing pass."""

    def check(self, question: CorpusQuestion, evidence: str, answer: str) -> str:
        return "contradiction"


def own_pipeline(size: int = 30) -> Pipeline:
    corpus = generate(seed=2, size=size, difficulty="easy")
    return Pipeline(corpus, actions=OWN, parts={"large": Large(), "strict": Strict()})


# -- the published set -------------------------------------------------------------------------------------------


def test_the_published_set_is_the_vocabulary():
    assert PUBLISHED_ACTIONS.names == vocabulary.MODULE_ACTIONS
    assert PUBLISHED_ACTIONS.all == vocabulary.ALL
    assert PUBLISHED_ACTIONS.joints("published") == vocabulary.PUBLISHED
    assert PUBLISHED_ACTIONS.fallback == vocabulary.FALLBACK
    assert PUBLISHED_ACTIONS.payment() == Payment()
    for given in ({}, {"actions": PUBLISHED_ACTIONS}):  # a table of these actions does not speak of actions
        game = mediated_qa.GAME.build(mediated_qa.GAME.options(**given))
        assert "actions" not in game.config
        assert mediated_qa_v0.raw_env(**given).game.config == game.config


# -- kinds -------------------------------------------------------------------------------------------------------


def test_feasible_joint_actions_of_another_set():
    # 3 searches: 2 readings and the recall with 3 verifier actions each, the refusal with trust alone: 3 (3 * 3 + 1) = 30
    # without a search: recall or refusal, and trust: 2
    assert len(OWN.all) == 32 == len(OWN.joints("published"))
    assert OWN.infeasible(OWN.joint_of(("none", "small", "trust"))) == "small reads evidence, and nothing was retrieved"
    assert OWN.infeasible(OWN.joint_of(("bm25", "silent", "usual"))) == "there is no answer to check"
    assert OWN.infeasible(OWN.joint_of(("none", "from_memory", "usual"))) == "there is no evidence to check against"


def test_what_is_carried_out_where_nothing_is_found():
    chosen = OWN.joint_of(("bm25", "large", "strict"))
    assert OWN.names_of(OWN.executed(chosen, found=True)) == ("bm25", "large", "strict")
    assert OWN.names_of(OWN.executed(chosen, found=False)) == ("bm25", "from_memory", "trust")
    silent = OWN.replace(generator=(OWN.generator[0], OWN.generator[3]))  # nothing to recall
    chosen = silent.joint_of(("bm25", "small", "usual"))
    assert silent.names_of(silent.executed(chosen, found=False)) == ("bm25", "silent", "trust")


def test_the_fallback_searches_first_and_refuses():
    assert OWN.names_of(OWN.fallback) == ("bm25", "silent", "trust")
    offered = (("graph", "small", "trust"), ("none", "from_memory", "trust"))
    few = OWN.replace(offered=offered)
    assert few.names_of(few.fallback) == offered[0]  # what is not offered cannot be recommended
    assert tuple(map(few.names_of, few.joints("published"))) == offered
    assert len(few.joints("all")) == 32


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"retriever": ()}, "retriever [] is not accepted; accepted: a list of 1..30"),
        ({"retriever": [{"name": "a", "kind": "check"}]}, "kind of a 'check' is not accepted; accepted: search, skip"),
        ({"retriever": [{"name": "A b", "kind": "search"}]}, "retriever.name 'A b' is not accepted"),
        ({"retriever": [{"name": "trust", "kind": "skip"}]}, "action 'trust' stands twice in a set"),
        ({"retriever": [{"name": "a", "kind": "search", "cost": -1.0}]}, "retriever.cost -1.0 is not accepted"),
        ({"retriever": [{"name": "a", "kind": "search", "cost": float("nan")}]}, "retriever.cost nan is not accepted"),
        (
            {"retriever": [{"name": "a", "kind": "search", "depth": "deeper"}]},
            "retriever.depth 'deeper' is not accepted",
        ),
        ({"generator": [{"name": "a", "kind": "read"}]}, "the generator can do nothing without evidence"),
        ({"verifier": [{"name": "a", "kind": "check"}]}, "the verifier can do nothing without evidence"),
        ({"offered": (("none", "small", "trust"),)}, "joint action none, small, trust is not accepted: small reads"),
        ({"offered": (("none", "big", "trust"),)}, "action of the generator 'big' is not accepted"),
        ({"offered": (("none", "silent", "trust"),) * 2}, "a joint action is offered twice"),
    ],
)
def test_sets_that_are_refused(parts: dict[str, Any], reason: str):
    assert reason in refusal(ActionSet.from_plain, OWN.plain() | parts)


@pytest.mark.parametrize(
    ("plain", "reason"),
    [
        (7, "settings 7 is not accepted"),
        (
            OWN.plain() | {"retriever": 3},
            "retriever 3 is not accepted; accepted: a list of 1..30, each an object with name",
        ),
        (OWN.plain() | {"checker": []}, "setting 'checker' is not accepted"),
        (
            OWN.plain() | {"retriever": [{"name": "a", "kind": "skip", "sort": "search"}]},
            "setting 'retriever.sort' is not accepted",
        ),
        (OWN.plain() | {"retriever": [{"name": "a"}]}, "retriever.kind is missing"),
    ],
)
def test_plain_values_that_are_no_set(plain: Any, reason: str):
    with pytest.raises(ParlourError) as caught:
        ActionSet.from_plain(plain)
    assert reason in str(caught.value)


# -- in the pipeline ---------------------------------------------------------------------------------------------


def test_each_action_is_done_by_its_part():
    pipeline, rng = own_pipeline(), np.random.default_rng(0)
    read = (pipeline.answer(k, 0, pipeline.retrieve(k, 1), rng) for k in range(30))
    number = next(k for k, answer in enumerate(read) if answer != answer.upper())  # a name
    plain = Pipeline(generate(seed=2, size=30, difficulty="easy"))
    assert pipeline.retrieve(number, 1) == plain.retrieve(number, vocabulary.Retrieve.SHALLOW)
    assert pipeline.retrieve(number, 2) == plain.retrieve(number, vocabulary.Retrieve.DEEP)
    by_words = Pipeline(generate(seed=2, size=30, difficulty="easy"), retriever="bm25")
    assert pipeline.retrieve(number, 0) == by_words.retrieve(number, vocabulary.Retrieve.SHALLOW)
    evidence = pipeline.retrieve(number, 1)
    small, large = (pipeline.answer(number, action, evidence, rng) for action in (0, 1))
    assert large == small.upper() != small
    assert pipeline.verify(number, 0, evidence, small) == vocabulary.CheckVerdict.CONTRADICTED
    assert pipeline.verify(number, 1, evidence, small) == pipeline.check(number, evidence, small)


class Speaker:
    """A generator without a check."""

    generate = sample = recall = lambda self, *arguments: ""


def test_a_part_that_is_not_there_is_refused():
    corpus = generate(seed=2, size=5, difficulty="easy")
    with pytest.raises(ParlourError, match="part of the generator 'large' is not accepted; accepted: strict"):
        Pipeline(corpus, actions=OWN, parts={"strict": Strict()})
    with pytest.raises(ParlourError, match=r"large .* is not accepted; accepted: an object with generate"):
        Pipeline(corpus, actions=OWN, parts={"large": Strict(), "strict": Strict()})
    with pytest.raises(ParlourError, match=r"verifier .* is not accepted; accepted: an object with check"):
        Pipeline(corpus, reader=Speaker())


def test_a_reader_put_in_later_answers_and_checks():
    pipeline = Pipeline(generate(seed=2, size=5, difficulty="easy"))
    before = pipeline.answer(
        0, vocabulary.Generate.FROM_EVIDENCE, "Telby: It was built in 1912.", np.random.default_rng(0)
    )
    for other in (pipeline.read_by(Doubter()), pipeline):
        other.reader = Doubter()
        assert other.answer(0, vocabulary.Generate.PARAMETRIC, "", np.random.default_rng(0)) == "doubt"
        assert other.check(0, "Telby: It was built in 1912.", before) == vocabulary.CheckVerdict.CONTRADICTED


class Doubter(Strict, ExtractiveReader):
    """Recalls one word, and lets nothing pass."""

    def recall(self, question: CorpusQuestion) -> EstimatedAnswer:
        return EstimatedAnswer("doubt", 1.0)


# -- at the table ------------------------------------------------------------------------------------------------


def test_a_table_takes_its_actions_from_the_service_and_is_built_again_from_its_configuration():
    service = own_pipeline()
    game = mediated_qa.GAME.build(mediated_qa.GAME.options(service=service))
    assert game.joints == OWN.all
    assert game.payment == OWN.payment()
    assert game.config["actions"] == OWN.plain()
    again = mediated_qa.GAME.build(mediated_qa.GAME.options.from_plain(json.loads(json.dumps(game.config))))
    assert (again.actions, again.payment, again.config) == (game.actions, game.payment, game.config)
    plain = Pipeline(generate(seed=2, size=5, difficulty="easy"))
    with pytest.raises(ParlourError, match="the table's actions differ from the service's actions"):
        mediated_qa.GAME.build(mediated_qa.GAME.options(service=plain, actions=OWN))


def test_an_episode_by_words_pays_for_what_is_carried_out():
    env = mediated_qa_v0.raw_env(service=own_pipeline(), modules=False)
    env.reset(seed=4)
    game, text = env.game, mediated_qa.GAME.text(env.game)
    state = game.apply(game.initial(), game.nature(game.initial(), np.random.default_rng(4)))
    view = game.view(state, 0)
    assert view.own == OWN.names
    assert "bm25 1, graph 2, graph_deep 4, none 0; small 1, large 6" in text.who(view)
    move = text.parse("Let us take graph_deep, then the large one, and trust it.", view)
    assert OWN.names_of(move.args) == ("graph_deep", "large", "trust")
    while game.outcome(state) is None:
        state = game.apply(state, move if game.legal(state) else game.nature(state, np.random.default_rng(4)))
    reward = game.payment.utilities[state.outcome] - 10.0
    assert game.outcome(state).returns == (reward,)


def test_a_table_of_other_actions_keeps_the_contract_of_a_game():
    by_names = OWN.replace(
        generator=(OWN.generator[0], *OWN.generator[2:]), verifier=OWN.verifier[1:]
    )  # of no other part
    check_game(mediated_qa.GAME, [{"actions": by_names.plain(), "corpus_size": 10, "questions": 2}])
