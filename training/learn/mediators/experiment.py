"""What a calibration experiment is: its settings, its corpus and how that is split, and its questions under all joint actions.

The graph holds the passages of one corpus, generated or from files; its questions are split, the first for training, the
rest held out. The questions of a file are brought into a random order first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

import numpy as np
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa import corpora
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.corpus import Corpus, generate
from parlour.envs.mediated_qa.graph import Normalisation
from parlour.envs.mediated_qa.judge import ENOUGH
from parlour.envs.mediated_qa.service import Consistency
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.envs.settings import COMMON, SPARSE, Settings
from parlour.training.learn.mediators.simulate import Simulated
from parlour.training.learn.mediators.table import Floats, UtilityTable
from parlour.training.play import seeds
from pydantic import Field, model_validator

UNSEEN: Final = 101
"""The first corpus for results: those with smaller numbers were looked at while graph and search were designed."""
LEAST_QUESTIONS: Final = 3
"""Questions of a corpus: two to learn from, one held out."""


class HeldOutConfig(Settings):
    """Everything that decides an experiment; stored with it, what was added since the first runs only where it is chosen.

    Raises:
        ParlourError: A setting is not accepted.
    """

    difficulty: Literal["easy", "medium", "hard"] = "medium"
    """Difficulty of generated questions: easy, medium or hard."""
    train: int = Field(default=2000, ge=2)
    """Number of generated questions to learn from."""
    held_out: int = Field(default=1000, ge=1)
    """Number of generated questions to compare with baselines on."""
    normalisation: Normalisation = "ours"
    """Graph and signals: by the paper's code (`paper`), by its text, or ours."""
    guide: float | None = Field(default=None, ge=0)
    """Weight of the question in the search of the retriever, 0 for none; None: as the normalisation has it."""
    consistency: Annotated[Consistency, SPARSE] = "question"
    """What the samples that must agree are drawn from: the evidence, or the question alone."""
    joint: Literal["published", "all"] = "published"
    """Joint actions that the mediator may recommend: the published nine, or all."""
    corpus_seed: int = Field(default=UNSEEN, ge=0)
    """Seed of the generated questions."""
    seed: int = Field(default=0, ge=0)
    """Seed of samples, folds, and of the order of a file's questions."""
    corpus: Annotated[str, SPARSE, COMMON] = ""
    """File of questions of your own; None: generated ones."""
    documents: Annotated[str, SPARSE, COMMON] = ""
    """Folder or file of the documents that go with `corpus`; None: those in `corpus`."""
    form: Annotated[str, SPARSE] = "auto"
    """Form of `corpus`."""
    limit: Annotated[int | None, SPARSE] = Field(default=None, ge=3)
    """Number of questions of `corpus`, from its beginning; None: all."""
    held_out_share: Annotated[float, SPARSE] = Field(default=1 / 3, gt=0, lt=1)
    """Share of the questions of `corpus` that are held out."""
    utilities: Annotated[tuple[float, float, float, float], SPARSE] = Payment().utilities
    """What an answer pays: right, wrong, rightly silent, wrongly silent."""
    costs: Annotated[tuple[float, ...], SPARSE] = Field(default=Payment().costs, min_length=9, max_length=9)
    """What the actions cost, of the retriever's, the generator's, the verifier's; in the unit of the utilities."""
    reader: Annotated[str, SPARSE, COMMON] = ""
    """Reader that answers: offline (rules and a simulated memory), extract (rules, no memory), model (from --model),
    qa:PATH (an extractive model in a folder); None: the model where there is one, else offline."""
    nli: Annotated[str, SPARSE] = ""
    """Verifier of answers: lexical (shared words), model (from --model), or the folder of an inference model; None: the
    model where it answers, else lexical."""
    model: Annotated[str, SPARSE] = ""
    """The language model that answers or checks, with what its answers depend on; empty for none."""
    entailment: Annotated[float | None, SPARSE] = Field(default=None, ge=0, le=1)
    """Least entailment score of an answer that passes the check; None: all pass that are not contradicted."""
    judge: Annotated[Literal["f1", "similarity"], SPARSE] = "f1"
    """What decides whether a long answer is right: f1 (of words), or similarity (of embeddings, extra embed)."""
    judge_threshold: Annotated[float, SPARSE] = Field(default=ENOUGH, gt=0, le=1)
    """From where on it is right; the paper has 0.9 for BERTScore."""
    simulate_memory: Annotated[bool, SPARSE] = False
    """Whether reader offline may answer the questions of `corpus`, which its memory does not know."""
    retriever: Annotated[Literal["graph", "bm25", "dense", "hybrid"], SPARSE] = "graph"
    """Retriever of evidence: graph, bm25, dense or hybrid; the signals are the graph's in any case."""
    least_linked: Annotated[float, SPARSE] = Field(default=0.5, ge=0, le=1)
    """Least share of questions linked to a document for the retriever graph; with fewer, bm25 is chosen where no retriever is named.
    The graph has no evidence for a question without a link."""
    sees: Annotated[Literal["state", "signals", "question"], SPARSE] = "state"
    """What the mediator knows about a question: state, signals (their raw values), or question (its form, names, links and
    path)."""
    actions: Annotated[str, SPARSE] = ""
    """JSON file of actions of your own, with their costs; None: the published ones."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.actions and self.costs != Payment().costs:
            raise ParlourError(
                "costs of actions of your own are not accepted; accepted: their costs in the file of actions"
            )
        if self.actions and self.sees != "state":
            raise accept("sees", self.sees, "state, with actions of your own")
        return self

    @property
    def payment(self) -> Payment:
        """Utilities and costs."""
        return Payment(self.utilities, self.costs)


@dataclass(frozen=True, eq=False)
class Calibrated:
    """The questions of an experiment under all joint actions."""

    config: HeldOutConfig
    train: tuple[Simulated, ...]
    held_out: tuple[Simulated, ...]
    confidences: tuple[float, ...]
    """Confidences of the closed-book answers to the held-out questions."""
    by_tokens: bool
    """Whether they are probabilities of the answers' tokens."""
    table: UtilityTable
    """Utilities of the training questions, with the joint actions of the configuration."""
    contexts: Floats | None = None
    """Contexts of the training questions, then of the held-out questions, shape (questions, features); None if the mediator sees
    only the state."""
    texts: tuple[str, ...] = ()
    """The words of the held-out questions."""
    retriever: str = "graph"
    """Name of the retriever."""

    @property
    def actions(self) -> ActionSet:
        """What the modules may do."""
        return self.table.action_set

    @property
    def payment(self) -> Payment:
        """Utilities and costs, of these actions."""
        return payment_for(self.config, self.actions)

    @property
    def states(self) -> dict[str, int]:
        """Training questions in each state, most first."""
        return dict(Counter(row.state for row in self.train).most_common())


def corpus_of(config: HeldOutConfig) -> Corpus:
    """The corpus, with the training questions first. Raises `ParlourError` as `corpora.load` does."""
    if not config.corpus:
        return generate(seed=config.corpus_seed, size=config.train + config.held_out, difficulty=config.difficulty)
    return in_random_order(
        corpora.load(config.corpus, config.documents or None, config.form, config.limit), config.seed
    )


def in_random_order(corpus: Corpus, seed: int = 0) -> Corpus:
    """A corpus whose questions are in a random order, so that training and held-out questions are alike."""
    order = np.random.default_rng(seeds.derive(seed, seeds.Purpose.QUESTIONS)).permutation(len(corpus.questions))
    return corpus._replace(questions=tuple(corpus.questions[k] for k in order))


def split(config: HeldOutConfig, corpus: Corpus) -> HeldOutConfig:
    """The same experiment with the numbers of training and held-out questions that a corpus from a file has.

    Raises:
        ParlourError: There are too few.
    """
    if not config.corpus:
        return config
    count = len(corpus.questions)
    held_out = max(1, round(count * config.held_out_share))
    if count - held_out < LEAST_QUESTIONS - 1:
        raise ParlourError(
            f"{config.corpus!r} has {count} questions; accepted: at least {LEAST_QUESTIONS - 1} to learn from"
        )
    return config.replace(train=count - held_out, held_out=held_out)


def actions_of(config: HeldOutConfig) -> ActionSet:
    """What the modules may do. Raises `ParlourError` if the file holds no actions."""
    return ActionSet.load(config.actions) if config.actions else PUBLISHED_ACTIONS


def payment_for(config: HeldOutConfig, actions: ActionSet) -> Payment:
    """Utilities and costs; actions of your own bring their costs."""
    return config.payment if actions == PUBLISHED_ACTIONS else actions.payment(config.utilities)
