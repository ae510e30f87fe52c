"""What the answerer of a player's questions does elsewhere: murder mysteries that it solves, and the net utility of a mediator over it.

Both have a fixed corpus. In the mysteries all seats ask and conclude by O-CoT, which leaves asking and concluding to the model, with a limit
of questions in a game, introductions and votes included. The mediator of GRACE learns on one part of a generated corpus when to search,
answer, check or stay silent, where the model answers and checks, and its net utility is measured on the other part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from parlour.envs.core import check_from
from parlour.policies.agents.mediated_qa.readers import AskingReader
from parlour.policies.llm.decisions import mostly_foreign
from parlour.policies.llm.model import Model, OfflineModel
from parlour.training.learn.mediators import held_out
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.measure.abilities.beliefs import mean_by_game
from parlour.training.measure.murder_mystery.games import CaseJob, CaseSetting, generated, play_all
from parlour.training.measure.murder_mystery.methods import OCOT
from parlour.training.measure.statistics import Estimate
from parlour.training.play import seeds
from parlour.training.play.runner import GameRunner
from parlour.training.results.progress import StageProgress

BUDGETS: Final = (25, 50, 100)
"""Questions to the model in a game, of all players together."""
FIRST_CASE: Final = 60_000_000
"""Number of the first case among the held-out ones; no page or expert of parlour uses those behind it."""
CORPUS: Final = 6001
"""Seed of the generated questions."""
LEARNS_FROM: Final = 2
"""How many times as many questions the mediator learns from as it is measured on."""
_RESAMPLED: Final = 13  # what the seed of the intervals is derived for


@dataclass(frozen=True, kw_only=True)
class QuestionSizes:
    """How much is asked; by default nothing.

    Raises:
        ParlourError: A number is below 0.
    """

    cases: int = 0
    """Murder mysteries with each budget."""
    mediated: int = 0
    """Questions on which the mediator is measured."""

    def __post_init__(self) -> None:
        check_from("cases", self.cases, 0)
        check_from("mediated", self.mediated, 0)


@dataclass(frozen=True)
class QuestionAbilities:
    """What was measured; None where nothing was asked."""

    solved: Mapping[int, Estimate | None]
    """Budget -> share of murders that were solved, a case is one unit; None if it gave too few answers itself."""
    utility: Estimate | None
    """Net utility of a question with the learned mediator, in units of the payment."""
    static: Estimate | None
    """The same with the joint action that was best on the questions learned from."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "solved": {str(budget): share and share.as_json() for budget, share in self.solved.items()},
            "utility": self.utility and self.utility.as_json(),
            "static": self.static and self.static.as_json(),
        }


def question_abilities(
    sizes: QuestionSizes, model: Model, progress: StageProgress, beside: str
) -> dict[str, QuestionAbilities]:
    """The figures of a model, and of the heuristic on the same cases and questions; empty if nothing is asked.

    Args:
        sizes: How much is asked.
        model: Who answers; where it is no language model, the heuristic's figures are all.
        progress: Counts games and questions.
        beside: Name of the heuristic in the result. The model's name is empty.
    """
    if not (sizes.cases or sizes.mediated):
        return {}
    models = {beside: OfflineModel(), **({"": model} if model.is_language_model else {})}
    return {name: _of(sizes, model, progress) for name, model in models.items()}


def _of(sizes: QuestionSizes, model: Model, progress: StageProgress) -> QuestionAbilities:
    solved = {budget: _solved(sizes.cases, budget, model, progress) for budget in BUDGETS} if sizes.cases else {}
    utility, static = _mediated(sizes.mediated, model, progress) if sizes.mediated else (None, None)
    return QuestionAbilities(solved, utility, static)


def _solved(cases: int, budget: int, model: Model, progress: StageProgress) -> Estimate | None:
    table = CaseSetting(repetitions=0, budget=budget)
    jobs = [CaseJob(case, OCOT, seed, table) for case, seed in generated(cases, FIRST_CASE)]
    played = play_all(jobs, model, GameRunner(progress=progress), f"mysteries, {budget} questions")
    asked, valid = sum(game.play.asked for game in played), sum(game.play.valid for game in played)
    if mostly_foreign(valid, asked):
        return None
    verdicts = [[float(verdict.solved) for verdict in game.verdicts if verdict.counts] for game in played]
    return mean_by_game(verdicts, np.random.default_rng(seeds.derive(0, _RESAMPLED)))


def _mediated(questions: int, model: Model, progress: StageProgress) -> tuple[Estimate, Estimate]:
    config = HeldOutConfig(train=LEARNS_FROM * questions, held_out=questions, corpus_seed=CORPUS)
    reader = AskingReader(model) if model.is_language_model else None
    learned, *others = held_out.run(config, reader=reader, progress=progress).scores
    static = next(score for score in others if score.name.startswith("best static"))
    return learned.utility, static.utility
