"""Answers that cannot be illegal: whatever fits the schema of a question of Avalon is an answer to it.

Must hold, with a server that enforces schemas: at least 99 of 100 first replies are legal, of each kind.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from parlour.policies import AvalonAgent, BaselineAgent
from parlour.policies.agents.avalon import Pool, asks
from parlour.policies.llm.ask import ASKS, Ask
from parlour.training.play import rollout

from tests.policies.llm.schema_fuzz import Listener, SchemaPlayer, refused
from tests.training.papers.avalon_social.test_words import questions_of as judged

TABLES = [
    {"num_players": 5, "rules": "official"},
    {"num_players": 6, "rules": "reference"},
    {"num_players": 7, "rules": "paper", "about": "teammates"},
    {"num_players": 10, "rules": "official", "without": ("action",)},
]


@cache
def questions_put() -> list[Ask[Any]]:
    """All that is asked in games of both agents at several tables, and after them."""
    model, pool = Listener(), Pool()
    for number, options in enumerate(TABLES):
        settings = {name: options[name] for name in ("about", "without") if name in options}
        env = rollout.table("avalon_v0", **{name: options[name] for name in ("num_players", "rules")})
        for _ in range(2):  # the second time there are experiences
            agents = [
                BaselineAgent(model, experience=pool) if seat % 3 == 2 else AvalonAgent(model, **settings)
                for seat in range(env.unwrapped.game.seats)
            ]
            views = rollout.play(env, agents, number).last_views
            roles = [view.role for view in views]
            for agent, role in zip(agents, roles, strict=True):
                if isinstance(agent, BaselineAgent):
                    pool.add(role, agent.learn(won=True, moves=80))
                else:
                    agent.learn(roles, won=False, seed=1)
    return model.questions


@pytest.mark.slow
def test_whatever_fits_the_schema_is_an_answer():
    faults = refused(questions_put(), np.random.default_rng(0))
    assert set(faults) == {kind for kind in ASKS if kind.startswith("avalon_agent.")}
    assert faults == {kind: [] for kind in faults}


def test_whatever_fits_the_schema_is_an_answer_of_the_judge():
    faults = refused(judged("I trust player_1, and player_4 is evil.", 1), np.random.default_rng(0))
    assert len(faults) == 4
    assert faults == {kind: [] for kind in faults}


@pytest.mark.parametrize("make", [AvalonAgent, BaselineAgent])
def test_a_player_who_answers_at_random_by_the_schema_is_never_refused_a_decision(make):
    """Its talk is nonsense, and its votes are votes: the table refuses nothing and replaces nothing."""
    model = SchemaPlayer()
    env = rollout.table("avalon_v0", num_players=6)
    episode = rollout.play(env, [make(model) for _ in range(6)], 2)
    assert len(model.questions) > 100
    assert not any(count for faults in episode.faults.values() for count in faults.values())
    assert not any(info.get("replaced") for info in env.infos.values())


# -- read leniently --------------------------------------------------------------------------------------------


def question(kind: type[Any], **wanted: Any) -> Any:
    """The first question of a kind that was heard at a turn like this."""
    return next(
        question
        for question in questions_put()
        if isinstance(question, kind) and all(getattr(question.now, field) == value for field, value in wanted.items())
    )


@pytest.mark.parametrize(
    "choice",
    ["vote:0", "VOTE: 0", " vote:0 ", "I reject the team.", "i reject the team", "vote:0 = I reject the team."],
)
def test_a_choice_is_read_in_any_spelling_that_only_it_can_have(choice):
    asked = question(asks.Act, does="vote")
    assert asked.read(json.dumps({"why": "w", "choice": choice})).choice == "vote:0"


def test_of_two_opinions_on_a_player_the_last_one_counts_and_per_cent_are_chances():
    asked = next(question for question in questions_put() if isinstance(question, asks.Analyse))
    plain = {"evil": 0.25, "merlin": 0, "looks_evil": 1}
    reply = {"words": "w", "opinions": [{"player": 1, **plain}, {"player": "Player 1", **plain, "evil": 80}]}
    (opinion,) = asked.read(json.dumps(reply)).opinions
    assert (opinion.player, opinion.evil, opinion.merlin, opinion.looks_evil) == (1, 0.8, 0.0, 1.0)


def test_an_analysis_and_a_plan_are_told_in_lines_that_are_read_back():
    analysis = asks.Analysis(
        words='player_0: evil 1, Merlin 1, looks evil 1\n"x"',
        opinions=[
            asks.PlayerOpinion(player=j, evil=j / 70, merlin=1 / 3, looks_evil=float(j == 0)) for j in (0, 3, 10)
        ],
    )
    assert analysis.in_lines()[1] == "player_3: evil 0.043, Merlin 0.333, looks evil 0"
    assert list(asks.opinions_in(analysis.in_lines()).values()) == analysis.opinions
    assert asks.opinions_in(["player_0: evil 7, Merlin 0, looks evil 0", "player_1 is evil", ""]) == {}
    plan = asks.Plan(goal="Win.", steps=["Line of play: open"], line="quiet")
    assert plan.in_lines() == ["Line of play: quiet", "Goal: Win.", "Line of play: open"]
    assert asks.line_in(plan.in_lines()) == "quiet"
    assert asks.line_in([]) == asks.line_in(["I shall hide."]) == ""
