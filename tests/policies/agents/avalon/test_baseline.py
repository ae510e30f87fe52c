"""The agent that the six-module agent is compared with: what it keeps, what it asks, what it learns."""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.policies import BaselineAgent, make_policy
from parlour.policies.agents.avalon import Pool, baseline as asks
from parlour.policies.agents.avalon.baseline import Past
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.model import Answered, RequestContext
from parlour.policies.retrieval.embedders import HashingEmbedder
from parlour.training.play import rollout

from tests.policies.llm.schema_fuzz import Listener


def played(pool: Pool | None = None, seed: int = 4, model: Any = None) -> tuple[Listener, list[BaselineAgent], Any]:
    """A game in which the one at seat 2 is heard."""
    model, env = model or Listener(), rollout.table("avalon_v0", num_players=6)
    agents = [BaselineAgent(model if seat == 2 else None, experience=pool or Pool()) for seat in range(6)]
    return model, agents, rollout.play(env, agents, seed)


def past(number: int, score: int = 0, response: str = "I approve the team.") -> Past:
    return Past(reflection=f"situation {number}", response=response, score=score)


# -- what it keeps of the record -------------------------------------------------------------------------------


def keeping(weights: list[int]) -> list[int]:
    agent = BaselineAgent()
    agent._lines, agent._weights = [str(k) for k in range(len(weights))], weights
    return [int(line) for line in agent._kept()]


def test_it_keeps_the_newest_and_the_most_informative_in_order():
    assert keeping([]) == []
    assert keeping([1] * 10) == list(range(10))
    assert keeping([1] * 30) == list(range(30))
    assert keeping([1] * 40) == list(range(10, 40))  # of equal ones the newer
    weights = [1] * 50
    for k in (0, 3, 20, 34):
        weights[k] = 5
    weights[49] = 5
    assert keeping(weights) == [0, 3, 20, *range(23, 35), *range(35, 50)]
    weights = [5] * 20 + [2] * 20 + [1] * 15
    assert keeping(weights) == [*range(5, 20), *range(40, 55)]


def test_every_message_is_rated_once_and_remembered():
    model, agents, _ = played()
    rated = [
        message for question in model.questions if isinstance(question, asks.Weigh) for message in question.messages
    ]
    assert len(rated) > 60
    assert rated == agents[2]._lines == [line for lines in agents[2].notes_taken.rounds for line in lines][: len(rated)]
    assert len(agents[2]._memory) == len(agents[2]._weights) == len(rated)
    for question in model.questions:
        if isinstance(question, asks.AnswerTable):
            assert len(question.messages) <= 30
            at = [rated.index(message) for message in question.messages if rated.count(message) == 1]
            assert at == sorted(at)
    assert max(len(question.messages) for question in model.questions if isinstance(question, asks.AnswerTable)) == 30


# -- the heuristics ----------------------------------------------------------------------------------------


def test_weights_and_answers_of_the_rules_of_thumb():
    rng = np.random.default_rng(0)
    lines = [
        "Quest 1 fails. Fail cards: 1.", "The team is accepted. Approve: player_0. Reject: player_1.",
        "player_0 proposes the team player_1.", 'player_0 accuses player_1: "x"', "player_0 recommends player_1", "player_0 says no more",
    ]  # fmt: skip
    assert asks.Weigh(messages=lines).heuristic(rng).weights == [5, 4, 3, 3, 2, 1]
    me = next(question for question in played()[0].questions if isinstance(question, asks.LookUp)).me
    look = asks.LookUp(me=me, questions=["a", "b"], material=[[lines[3], lines[0]], []])
    assert look.heuristic(rng).answers == ["player_0 accuses player_1. Quest 1 fails. Fail cards: 1.", "Unknown."]
    scored = [past(1, 900, "yes"), past(2, 90, "no"), past(3, 80, "yes"), past(4, 500, "maybe")]
    advice = asks.Advise(me=me, reflection="", past=scored).heuristic(rng).suggestion
    assert advice.endswith(": maybe")  # yes 490, no 90, maybe 500
    assert asks.Advise(me=me, reflection="", past=[]).heuristic(rng).suggestion == ""


# -- experience ------------------------------------------------------------------------------------------------


def test_scores_reward_quick_wins_and_long_losses():
    _, agents, _ = played()
    turns = agents[2]._turns
    won, lost = agents[2].learn(won=True, moves=80), agents[2].learn(won=False, moves=80)
    assert {lesson.score for lesson in won} == {920}
    assert {lesson.score for lesson in lost} == {80}
    assert [(lesson.reflection, lesson.response) for lesson in won] == turns
    assert len(turns) > 5


def test_words_that_could_not_be_used_are_no_experience():
    """Only the last answer of a turn was given; what was refused before it must not be learned from."""

    class Mumbler(Listener):
        def answer(self, question: Ask[Any], context: RequestContext) -> Answered[Any]:
            if isinstance(question, asks.AnswerTable) and question.now.does == "vote" and not question.refused:
                return Answered(asks.TableWords(words="hmm"))
            return super().answer(question, context)

    model, agents, episode = played(model=Mumbler())
    assert episode.faults["player_2"]["unreadable"] > 1
    turns = [question for question in model.questions if isinstance(question, asks.ReflectOnFindings)]
    learned = agents[2].learn(won=True, moves=80)
    assert "hmm" not in {lesson.response for lesson in learned}
    assert len(learned) == len(turns)


def test_the_pool_keeps_the_fifty_newest_of_each_role():
    pool = Pool()
    pool.add("Merlin", [past(k) for k in range(30)])
    pool.add("Morgana", [past(99)])
    pool.add("Merlin", [past(k) for k in range(30, 70)])
    assert pool.roles["Merlin"] == [past(k) for k in range(20, 70)]
    assert pool.roles["Morgana"] == [past(99)]


def test_alike_is_a_cosine_above_085():
    said = "As Merlin I must vote: quest 2, score 1 to 0, off the team. I suspect 2 players."
    others = [
        said,
        said.replace("2 players", "1 players"),
        said.replace("vote: quest 2, score 1 to 0", "speak: quest 4, score 2 to 1"),
        "Something else entirely.",
        "vote",
    ]
    pool = Pool(roles={"Merlin": [Past(reflection=other, response=other, score=0) for other in others]})
    rows = HashingEmbedder().embed([said, *others]).astype(float)
    cosines = [float(rows[0] @ row / np.linalg.norm(rows[0]) / np.linalg.norm(row)) for row in rows[1:]]
    assert [lesson.response for lesson in pool.alike("Merlin", said)] == [
        o for o, c in zip(others, cosines, strict=True) if c > 0.85
    ]
    assert 0 < len(pool.alike("Merlin", said)) < len(others)
    assert pool.alike("Morgana", said) == []
    assert min(abs(cosine - 0.85) for cosine in cosines) > 0.01


# -- files -----------------------------------------------------------------------------------------------------


def test_a_pool_survives_its_file(tmp_path):
    pool = Pool(roles={"Merlin": [past(1, 920, 'two\nlines "我" \u2028')], "Oberon": []})
    pool.save(tmp_path / "deep" / "pool.json")
    assert Pool.load(tmp_path / "deep" / "pool.json") == pool
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["pool.json"]
    policy = make_policy(f"avalon_baseline:experience={tmp_path / 'deep' / 'pool.json'}", "avalon_v0", {})
    assert isinstance(policy, BaselineAgent)
    assert policy.chosen.experience == pool
