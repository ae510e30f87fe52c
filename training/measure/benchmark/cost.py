"""What a benchmark will take of a language model, before it starts.

Questions are counted in games of other deals, in which the heuristic answers. Tokens and dollars of a question are measured: some
of these questions go to the model.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

import numpy as np
from parlour.policies.llm import fit
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.decisions import Decisions, took
from parlour.policies.llm.model import Answered, Model, RequestContext
from parlour.policies.llm.prompt import Templates
from parlour.training.measure.benchmark.played import Candidate, play_suite
from parlour.training.measure.benchmark.suite import Suite
from parlour.training.play import seeds
from parlour.training.results.progress import StageProgress, no_progress

DEALS: Final = 12
"""Deals of each table that are played to count, each from both sides against every opponent."""
PROBES: Final = 12
"""Questions that are put to the model."""


@dataclass(frozen=True)
class BenchmarkCost:
    """What the games of a suite take, about."""

    model: str
    games: int
    questions: int
    """That the model answers. A question that is put again after an unreadable answer counts once more."""
    characters: int
    """Characters of the prompts."""
    prompt: int
    """Tokens read; 0 where the server does not say how many it read."""
    completion: int
    """Tokens written; likewise."""
    dollars: float | None
    """None if the price is unknown."""

    def told(self) -> str:
        """In one line."""
        tokens = f"{self.prompt:,} + {self.completion:,} tokens" if self.prompt else "tokens unknown"
        cost = "cost unknown (no price for the model)" if self.dollars is None else f"{self.dollars:.4f} dollars"
        return (
            f"forecast: about {self.questions:,} questions to {self.model} in {self.games:,} games, {self.characters:,} characters "
            f"of prompts, {tokens}, {cost}"
        )


@dataclass
class QuestionCounter(Model):
    """Keeps the questions that it is asked, and answers by their heuristics. It is no language model."""

    templates: Templates = field(default_factory=Templates)
    asked: list[tuple[Ask[Any], RequestContext]] = field(default_factory=list)
    characters: int = 0

    name: str = "counted"
    is_language_model: ClassVar[bool] = False

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        self.asked.append((question, context))
        opening = fit.opening(question, context.rules, self.templates)
        self.characters += len(opening.system) + 1 + len(opening.user)
        return Answered(question.heuristic(np.random.default_rng(context.sample)))

    def settings(self) -> dict[str, Any]:
        return {"model": self.name}


def forecast(suite: Suite, candidate: Candidate, progress: StageProgress = no_progress) -> BenchmarkCost:
    """Count the questions, put some of them to the candidate's model, and scale both to the suite.

    Args:
        suite: What is to be played.
        candidate: Who, and the model that answers.
        progress: Counts the games that are played to count.

    Raises:
        ParlourError: The player does not fit a table.
    """
    questions = characters = 0.0
    asked: list[tuple[Ask[Any], RequestContext]] = []
    for table in suite.tables:
        counter = QuestionCounter()
        few = replace(table, deals=DEALS, first=len(seeds.HELD_OUT) - DEALS)  # deals that no suite has
        play_suite(replace(suite, tables=(few,)), replace(candidate, model=counter), progress=progress)
        share = table.games / few.games
        questions += share * len(counter.asked)
        characters += share * counter.characters
        asked += counter.asked
    places = np.linspace(0, len(asked) - 1, min(PROBES, len(asked))).round().astype(int)
    probed = sum((took(candidate.model.answer(*asked[place]).calls) for place in places), Decisions())
    per_character = probed.prompt / probed.characters if probed.characters else 0.0
    per_question = probed.completion / probed.requests if probed.requests else 0.0
    prompt, completion = round(per_character * characters), round(per_question * questions)
    read = probed.prompt + probed.completion
    dollars = probed.dollars
    if dollars is not None and read:
        dollars *= (prompt + completion) / read
    return BenchmarkCost(
        candidate.model.name, suite.games_played, round(questions), round(characters), prompt, completion, dollars
    )
