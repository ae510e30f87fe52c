"""What a calibration would ask of a language model, before anything is asked: calls, tokens and dollars, at most.

The questions are put under all joint actions with a model that only counts: it renders each prompt, and gives answers
that lead to the most checks. A reply is taken to use all the room that it has, and to be readable at once; what is
asked again because it is not, and what a cache answers for nothing, is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, cast

from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.policies.agents.mediated_qa.asks import CheckAnswer, EntailmentVerdict, ShortAnswer
from parlour.policies.llm import fit
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.make import ModelConfig
from parlour.policies.llm.model import OFFLINE, Answered, Model, RequestContext
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.request import Completion, Usage
from parlour.training.learn.mediators import readers, simulate
from parlour.training.learn.mediators.held_out import HeldOutConfig


@dataclass(frozen=True)
class CalibrationForecast:
    """What would be asked, at most."""

    model: str
    questions: int
    """That are not answered yet."""
    done: int
    """That are."""
    calls: dict[str, int]
    """Kind of question -> calls."""
    prompt: int
    """Tokens read, by estimate."""
    completion: int
    """Tokens written, if each reply uses all its room."""
    dollars: float | None
    """None if the price is unknown."""

    def told(self) -> str:
        """In one sentence."""
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in self.calls.items()) or "none"
        cost = "cost unknown (no price for the model; accepted: --price)"
        cost = cost if self.dollars is None else f"{self.dollars:.4f} dollars"
        done = f", {self.done:,} are done" if self.done else ""
        return (
            f"{self.questions:,} questions to ask{done}: at most {sum(self.calls.values()):,} calls ({kinds}), "
            f"{self.prompt:,} + {self.completion:,} tokens, {cost}"
        )


@dataclass
class CountingModel(Model):
    """Counts what it is asked; its answers are made up, all different, and entailed. It is no language model."""

    name: str
    templates: Templates
    room: int
    """Least tokens of a reply."""
    calls: Counter[str] = field(default_factory=Counter)
    prompt: int = 0
    completion: int = 0

    is_language_model: ClassVar[bool] = True
    """As whom it stands in for."""

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        return self.answers(question, context, 1)[0]

    def answers(self, question: Ask[A], context: RequestContext, n: int) -> list[Answered[A]]:
        self.calls[question.kind.removeprefix("grace.")] += 1
        self.prompt += fit.opening(question, context.rules, self.templates).tokens()
        self.completion += n * max(question.max_tokens, self.room)
        if isinstance(question, CheckAnswer):
            made: Any = EntailmentVerdict(reason="", label="entailment")
        else:
            made = ShortAnswer(reason="", answer=f"answer {self.calls.total()}", confidence=1.0)
        return [Answered(cast(A, made))] * n

    def settings(self) -> dict[str, Any]:
        return {"model": self.name}


def forecast(
    config: HeldOutConfig,
    pipeline: Pipeline,
    asked: ModelConfig,
    partial: Path | None = None,
) -> CalibrationForecast:
    """What a calibration would ask.

    Args:
        config: The experiment.
        pipeline: Of its corpus; what it finds in the graph is not looked for again.
        asked: The model that will be asked; nobody is asked where it is the offline one.
        partial: The table of a calibration that was begun; it is read, not touched.
    """
    done = simulate.numbers_in(partial)
    counting = CountingModel(asked.model, Templates(asked.prompts), asked.max_tokens or 0)
    missing: Sequence[int] = [number for number in range(config.train + config.held_out) if number not in done]
    if asked.model != OFFLINE:
        _count(config, pipeline, counting, missing)
    calls = dict(sorted(counting.calls.items()))
    return CalibrationForecast(
        asked.model, len(missing), len(done), calls, counting.prompt, counting.completion, _dollars(asked, counting)
    )


def _count(config: HeldOutConfig, pipeline: Pipeline, counting: CountingModel, numbers: Sequence[int]) -> None:
    service = pipeline.read_by(readers.make(config, counting))
    service.learn_bins(range(config.train))
    for number in numbers:
        simulate.simulate(service, number, config.payment, config.seed)


def _dollars(asked: ModelConfig, counting: CountingModel) -> float | None:
    if not counting.calls:
        return 0.0
    prices = Prices.load(asked.prices)
    prices = prices if asked.price is None else prices.with_price(asked.model, *asked.price)
    return prices.cost(asked.model, Completion((), Usage(counting.prompt, counting.completion), ()))
