"""Who answers and checks in an experiment, chosen by words; and what that would ask of a language model, before anything is asked.

The forecast runs the questions under all joint actions with a model that only counts: it renders each prompt, and gives answers
that lead to the most checks. A reply is taken to use all the room that it has, and to be readable at once; what is
asked again because it is not, and what a cache answers for nothing, is left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final, cast

from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.readers import ExtractiveReader, OfflineReader, Reader, entailment_score
from parlour.policies.agents.mediated_qa.readers import (
    AskingReader,
    CheckAnswer,
    EntailmentVerdict,
    NLIReader,
    QAReader,
    ShortAnswer,
)
from parlour.policies.llm import fit
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.make import ModelConfig
from parlour.policies.llm.model import OFFLINE, Answered, Model, OfflineModel, RequestContext
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.request import Usage
from parlour.training.learn.mediators import simulate
from parlour.training.learn.mediators.experiment import HeldOutConfig

EXTRACT, MODEL, QA, LEXICAL = "extract", "model", "qa:", "lexical"
READERS: Final = (OFFLINE, EXTRACT, MODEL, "qa:PATH")
CHECKERS: Final = (LEXICAL, MODEL, "PATH of an inference model")
SIMULATED: Final = "simulated memory"
"""What results say about answers that a simulated memory gave to questions of a file."""


class CheckedReader:
    """A reader whose answers somebody else checks. Satisfies `parlour.envs.mediated_qa.readers.Reader`."""

    def __init__(self, inner: Reader, checker: Reader) -> None:
        self.generate, self.sample, self.recall = inner.generate, inner.sample, inner.recall
        self.check, self.entailment = checker.check, partial(entailment_score, checker)


def chosen(config: HeldOutConfig) -> tuple[str, str]:
    """Who answers, and who checks, in words.

    Raises:
        ParlourError: They are not accepted, a language model is wanted and not given or given and not wanted, or a
            simulated memory would be a fiction that nobody asked for.
    """
    asks = config.model != ""
    reader = config.reader or (MODEL if asks else OFFLINE)
    checker = config.nli or (MODEL if reader == MODEL else LEXICAL)
    if not reader.startswith(QA):
        check_one_of("reader", reader, READERS)
    if MODEL in (reader, checker) and not asks:
        raise ParlourError("a language model is to answer or to check; accepted: with --model NAME")
    if asks and MODEL not in (reader, checker):
        raise ParlourError(f"reader {reader!r} leaves model {config.model!r} nothing to do; accepted: reader {MODEL}")
    if config.simulate_memory and reader != OFFLINE:
        raise ParlourError(
            f"reader {reader!r} with simulate_memory; accepted: reader {OFFLINE}, or no simulated memory"
        )
    if config.corpus and reader == OFFLINE and not config.simulate_memory:
        raise ParlourError(
            f"reader {OFFLINE!r} remembers made-up facts, not facts of a corpus; accepted: --reader extract, "
            "--reader qa:PATH, --model NAME, or --simulate-memory to have its memory drawn at random"
        )
    return reader, checker


def make(config: HeldOutConfig, model: Model | None = None) -> Reader:
    """The reader of an experiment; `model` is who is asked where `config` has a model.

    Raises:
        ParlourError: As `chosen`, or a folder holds no model.
    """
    asked = AskingReader(OfflineModel() if model is None else model, config.seed)
    reader, checker = chosen(config)
    readers: dict[str, Reader] = {OFFLINE: OfflineReader(), EXTRACT: ExtractiveReader(), MODEL: asked}
    made = readers[reader] if reader in readers else QAReader(reader.removeprefix(QA))
    if checker == (MODEL if reader == MODEL else LEXICAL):
        return made
    checkers: dict[str, Reader] = {LEXICAL: ExtractiveReader(), MODEL: asked}
    if checker not in checkers and not (Path(checker) / "config.json").is_file():
        raise accept("nli", checker, CHECKERS)
    own = checkers[checker] if checker in checkers else NLIReader(AskingReader(), checkpoint=checker)
    return CheckedReader(made, own)


def note(config: HeldOutConfig) -> str:
    """What tables and policies say about who answered; empty for generated questions and the offline reader.

    Raises:
        ParlourError: As `chosen`.
    """
    reader, checker = chosen(config)
    if not config.corpus and (reader, checker) == (OFFLINE, LEXICAL):
        return ""
    who = {
        OFFLINE: f"{SIMULATED} and rules",
        EXTRACT: "rules without memory",
        MODEL: config.model,
        LEXICAL: "shared words",
    }
    return f"answered by {who.get(reader, reader)}, checked by {who.get(checker, checker)}"


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

    @property
    def message(self) -> str:
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
    """Name of the model that it replaces."""
    templates: Templates
    room: int
    """Most tokens of a reply; 0: as each question has it."""
    calls: Counter[str] = field(default_factory=Counter)
    prompt: int = 0
    completion: int = 0
    is_language_model: ClassVar[bool] = True

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        return self.answers(question, context, 1)[0]

    def answers(self, question: Ask[A], context: RequestContext, n: int) -> list[Answered[A]]:
        self.calls[question.kind.removeprefix("grace.")] += 1
        self.prompt += fit.opening(question, context.rules, self.templates).tokens()
        self.completion += n * (self.room or question.max_tokens)
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
        pipeline: Pipeline of its corpus; its results from the graph are reused.
        asked: The model that will be asked; nobody is asked if it is the offline model.
        partial: The table of a calibration that was begun; it is read, not touched.
    """
    done = simulate.numbers_in(partial)
    counting = CountingModel(asked.model, Templates(asked.prompts), asked.max_tokens or 0)
    missing = [number for number in range(config.train + config.held_out) if number not in done]
    if asked.model != OFFLINE:
        service = pipeline.read_by(make(config, counting))
        service.learn_bins(range(config.train))
        for number in missing:
            simulate.simulate(service, number, config.payment, config.seed)
    calls = dict(sorted(counting.calls.items()))
    dollars: float | None = 0.0
    if calls:
        dollars = Prices.of(asked).cost(asked.model, Usage(counting.prompt, counting.completion))
    used = counting.prompt, counting.completion
    return CalibrationForecast(asked.model, len(missing), len(done), calls, *used, dollars)
