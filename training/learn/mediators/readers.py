"""Who answers and checks in an experiment: the reader of the pipeline, chosen by words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.mediated_qa.corpus import CorpusQuestion
from parlour.envs.mediated_qa.pipeline import OfflineReader, Reader
from parlour.envs.mediated_qa.readers import ExtractiveReader
from parlour.envs.mediated_qa.reading import EstimatedAnswer
from parlour.policies.agents.mediated_qa.asks import AskingReader
from parlour.policies.agents.mediated_qa.nli import NLIReader
from parlour.policies.agents.mediated_qa.qa import QAReader
from parlour.policies.llm.model import Model, OfflineModel
from parlour.training.learn.mediators.held_out import HeldOutConfig

OFFLINE, EXTRACT, MODEL, QA, LEXICAL = "offline", "extract", "model", "qa:", "lexical"
READERS: Final = (OFFLINE, EXTRACT, MODEL, "qa:PATH")
CHECKERS: Final = (LEXICAL, MODEL, "PATH of an inference model")
SIMULATED: Final = "simulated memory"
"""What results say of answers that a simulated memory gave to questions of a file."""


class Checker(Protocol):
    """Who checks answers."""

    def check(self, question: CorpusQuestion, evidence: str, answer: str) -> str:
        """`entailment`, `neutral` or `contradiction`."""


@dataclass(frozen=True)
class CheckedReader:
    """A reader whose answers somebody else checks. Satisfies `parlour.envs.mediated_qa.pipeline.Reader`."""

    inner: Reader
    checker: Checker

    def generate(self, question: CorpusQuestion, evidence: str, rng: np.random.Generator) -> str:
        return self.inner.generate(question, evidence, rng)

    def sample(self, question: CorpusQuestion, count: int, rng: np.random.Generator) -> list[str]:
        return self.inner.sample(question, count, rng)

    def recall(self, question: CorpusQuestion) -> EstimatedAnswer:
        return self.inner.recall(question)

    def check(self, question: CorpusQuestion, evidence: str, answer: str) -> str:
        return self.checker.check(question, evidence, answer)


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
            f"reader {OFFLINE!r} remembers made-up facts, not those of a corpus; accepted: --reader extract, "
            "--reader qa:PATH, --model NAME, or --simulate-memory to have its memory drawn at random"
        )
    return reader, checker


def make(config: HeldOutConfig, model: Model | None = None) -> Reader:
    """The reader of an experiment; `model` is who is asked where `config` has a model.

    Raises:
        ParlourError: As `chosen`, or a folder holds no model.
    """
    asked = OfflineModel() if model is None else model
    reader, checker = chosen(config)
    made: Reader
    match reader:
        case "offline":
            made = OfflineReader()
        case "extract":
            made = ExtractiveReader()
        case "model":
            made = AskingReader(asked, config.seed)
        case _:
            made = QAReader(reader.removeprefix(QA))
    if checker == (MODEL if reader == MODEL else LEXICAL):
        return made
    return CheckedReader(made, _checker(checker, asked, config.seed))


def _checker(name: str, model: Model, seed: int) -> Any:
    if name == LEXICAL:
        return ExtractiveReader()
    if name == MODEL:
        return AskingReader(model, seed)
    if not (Path(name) / "config.json").is_file():
        raise accept("nli", name, CHECKERS)
    return NLIReader(AskingReader(), checkpoint=name)


def note(config: HeldOutConfig) -> str:
    """What tables and policies say of who answered; empty for generated questions and the offline reader.

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
