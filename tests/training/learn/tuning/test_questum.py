"""`parlour train questum`: beta and epsilon as a problem for the tuner; its reward by hand; the command."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.agents.murder_mystery import InterviewSettings
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.model import OfflineModel
from parlour.training.learn.tuning.questum import GAIN_SPACE, PLAN_SPACE, QuestumTuning, most, with_settings
from parlour.training.measure.murder_mystery.games import CaseJob, CaseResult, CaseSetting, Verdict, play_case
from parlour.training.measure.murder_mystery.methods import QUESTUM
from parlour.training.measure.murder_mystery.quiz import Mark


def test_the_defaults_are_those_of_the_paper_and_every_point_is_accepted():
    assert GAIN_SPACE.defaults == {"beta": 0.2, "epsilon": 0.1}
    for space in (GAIN_SPACE, PLAN_SPACE):
        assert space.defaults == {name: getattr(InterviewSettings(), name) for name in space.names}
        for parameter in space.parameters:
            for value in (parameter.low, parameter.high):
                InterviewSettings(**{parameter.name: value})


def test_most_questions_of_a_game():
    """Decisions 8: 4 players, 1 victim, everybody asked: 60 a round, pruning 16 (12 readings, 4 lists); 4 introductions, 4 votes."""
    assert most(4, 1, 1) == 4 + 60 + 4
    assert most(4, 1, 3) == 4 + 3 * 60 + 2 * 16 + 4


def test_a_reward_mixes_wins_points_and_cost():
    """One of two victims solved; 15 of 20 points; a tenth of the most questions: 0.5 x 0.4 + 0.75 x 0.4 - 0.1 x 0.2."""
    asked = most(4, 2, 3) / 10
    played = CaseResult(
        case="c",
        title="t",
        language="en",
        method="questum",
        seed=0,
        seats=4,
        verdicts=(Verdict(0, True, 1, True), Verdict(1, True, -1, False)),
        marks=(Mark(0, "a", "who", 10, (True,)), Mark(0, "b", "who", 5, (True,)), Mark(0, "c", "who", 5, (False,))),
        omniscient=(),
        asked=3,
        play=Decisions(first=asked),  # type: ignore[arg-type]  # a tenth
        quiz=Decisions(),
    )
    assert QuestumTuning().of(played) == pytest.approx(0.2 + 0.3 - 0.02)
    assert QuestumTuning(weights=(1, 0, 0)).of(played) == 0.5
    nobody = replace(played, verdicts=(Verdict(0, False, -1, False),) * 2)
    assert QuestumTuning(weights=(1, 0, 0)).of(nobody) == 0.0


@pytest.mark.parametrize(
    ("problem", "chosen", "policy"),
    [
        (QuestumTuning(rounds=2), {"beta": 0.75, "epsilon": 1.0}, "questum:mode=score,beta=0.75,epsilon=1"),
        (QuestumTuning(rounds=2, parameters=("price",)), {"price": 0.05}, "questum:mode=plan,price=0.05"),
    ],
)
def test_a_reward_is_that_of_the_case_played_with_these_numbers(problem, chosen, policy):
    problem = pickle.loads(pickle.dumps(problem))
    assert problem.space.names == tuple(chosen)
    assert with_settings(chosen).policy == policy
    setting = CaseSetting(rounds=2, repetitions=1)
    games = [CaseJob(f"seed:{seed}:en", replace(QUESTUM, policy=policy), seed, setting) for seed in (12, 13)]
    rewards = [problem.of(play_case(game, OfflineModel())) for game in games]
    assert problem.reward(chosen, [12, 13]) == problem.reward(chosen, [13, 12])[::-1] == rewards


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"parameters": ("price", "beta")}, "parameter 'beta' is not accepted"),
        ({"parameters": ("rho",)}, "parameter 'rho' is not accepted"),
        ({"weights": (-1.0, 0.4, 0.2)}, "weights"),
        ({"weights": (0.4, 0.4, float("nan"))}, "weights"),
        ({"language": "fr"}, "language 'fr'"),
        ({"rounds": 0}, "rounds 0"),
    ],
)
def test_other_settings_are_refused(settings: dict[str, Any], why: str):
    with pytest.raises(ParlourError, match=why):
        QuestumTuning(**settings)


@pytest.mark.slow
def test_the_command_trains_tests_and_draws(tmp_path, json_of):
    pytest.importorskip("optuna")
    words = "train questum --games 2 --budget 2 --held-out 2 --finalists 0 --rounds 1 --json"
    output = json_of([*words.split(), "--out", str(tmp_path)])
    assert output["problem"] == "questum"
    assert output["held_out"]["difference"]["n"] == 2
    assert (tmp_path / "report.md").exists()


def test_weights_are_three_numbers(error_of):
    assert "weights" in error_of(["train", "questum", "--weights", "1,2"])
