"""The experiment: calibrate on generated questions, learn a mediator, and score it on others of the same corpus.

The graph holds the passages of one generated corpus; its questions are split, the first for training (cut points of the
signals, Q-hat, temperature and floor by cross-validation, the best static action), the rest held out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError, accept, check_from, check_one_of
from parlour.envs.mediated_qa.corpus import DIFFICULTIES, Corpus, generate
from parlour.envs.mediated_qa.graph import NORMALISATIONS, Normalisation
from parlour.envs.mediated_qa.pipeline import Pipeline, Reader
from parlour.envs.mediated_qa.retrieve import Search
from parlour.envs.mediated_qa.vocabulary import JOINTS, Payment
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.policies.files import atomic_write
from parlour.training.mediated_qa import baselines
from parlour.training.mediated_qa.baselines import Scores
from parlour.training.mediated_qa.learn import GraceConfig, LearnedMediator, learn
from parlour.training.mediated_qa.simulate import Simulated, calibrate, table
from parlour.training.mediated_qa.table import UtilityTable
from parlour.training.parallel.executor import Pool
from parlour.training.runs import run_directory, write_csv

UNSEEN: Final = 101
"""The first corpus for results: those with smaller numbers were looked at while graph and search were designed."""


@dataclass(frozen=True, kw_only=True)
class HeldOutConfig:
    """Everything that decides an experiment; stored with it.

    Raises:
        ParlourError: A setting is not accepted.
    """

    difficulty: str = "medium"
    """Difficulty of generated questions: easy, medium or hard."""
    train: int = 2000
    """Number of generated questions to learn from."""
    held_out: int = 1000
    """Number of generated questions to compare with baselines on."""
    normalisation: Normalisation = "ours"
    """Normalisation of the signals of the retrieved graph."""
    guide: float | None = None
    """Weight of the question in the search of the retriever, 0 for none; None: as the normalisation has it."""
    joint: str = "published"
    """Joint actions that the mediator may recommend: the published nine, or all."""
    corpus_seed: int = UNSEEN
    """Seed of the generated questions."""
    seed: int = 0
    """Seed of samples and folds."""

    def __post_init__(self) -> None:
        for name, accepted in (
            ("difficulty", DIFFICULTIES),
            ("normalisation", NORMALISATIONS),
            ("joint", JOINTS),
        ):
            check_one_of(name, getattr(self, name), accepted)
        if self.guide is not None and not 0 <= self.guide < float("inf"):
            raise accept("guide", self.guide, "None, or a number from 0")
        for name, least in (("train", 2), ("held_out", 1), ("corpus_seed", 0), ("seed", 0)):
            check_from(name, getattr(self, name), least)


@dataclass(frozen=True, eq=False)
class Calibrated:
    """The questions of an experiment under all joint actions."""

    config: HeldOutConfig
    train: tuple[Simulated, ...]
    held_out: tuple[Simulated, ...]
    confidences: tuple[float, ...]
    """Of the closed-book answers to the held-out questions."""
    table: UtilityTable
    """Of the training questions, with the joint actions of the configuration."""

    @property
    def states(self) -> dict[str, int]:
        """Training questions in each state, most first."""
        return dict(Counter(row.state for row in self.train).most_common())


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The result of an experiment."""

    calibrated: Calibrated
    learned: LearnedMediator
    scores: tuple[Scores, ...]
    """The learned mediator first, then the baselines, the oracle last."""


def corpus_of(config: HeldOutConfig) -> Corpus:
    """The generated corpus, with the training questions first."""
    return generate(seed=config.corpus_seed, size=config.train + config.held_out, difficulty=config.difficulty)


def prepare(
    config: HeldOutConfig,
    *,
    corpus: Corpus | None = None,
    reader: Reader | None = None,
    out: Path | None = None,
    progress: Callable[[int], object] | None = None,
    pool: Pool | None = None,
) -> Calibrated:
    """Build the pipeline, learn the cut points, and put all questions under all joint actions.

    Args:
        config: The experiment.
        corpus: In place of the generated one; has at least train + held_out questions.
        reader: Who answers and checks; the offline one if None.
        out: Run directory, for the settings and the table as it grows; resumes if it exists.
        progress: Called after each question with the number of questions done.
        pool: Processes that put the questions under the joint actions; the reader must be picklable then.

    Raises:
        ParlourError: The corpus is too small, or the folder holds another run or is in use.
    """
    corpus = corpus_of(config) if corpus is None else corpus
    total = config.train + config.held_out
    if len(corpus.questions) < total:
        raise ParlourError(f"a corpus of {len(corpus.questions)} questions; accepted: at least {total}")
    with nullcontext() if out is None else run_directory(out, asdict(config)):
        search = None if config.guide is None else Search(config.guide)
        pipeline = Pipeline(corpus, normalisation=config.normalisation, reader=reader, search=search)
        bins = pipeline.learn_bins(range(config.train))
        partial = None if out is None else out / "partial.csv"
        rows = calibrate(pipeline, range(total), seed=config.seed, out=partial, progress=progress, pool=pool)
        train, held_out = rows[: config.train], rows[config.train :]
        confidences = tuple(pipeline.confidence(row.number) for row in held_out)
        found = table(train, config.joint, bins)
        if out is not None:
            atomic_write(out / "table.csv", found.dumps())
        return Calibrated(config, tuple(train), tuple(held_out), confidences, found)


def compare(calibrated: Calibrated, policy: PolicyTable, out: Path | None = None) -> tuple[Scores, ...]:
    """The scores of a policy and of the baselines on the held-out questions; written to a folder if there is one."""
    rows, joint = calibrated.held_out, calibrated.config.joint
    systems = [
        baselines.learned("learned mediator", policy, rows),
        baselines.fixed("no retrieval", baselines.CLOSED_BOOK, rows),
        baselines.fixed("GraphRAG", baselines.GRAPH_RAG, rows),
        baselines.refusing(rows, calibrated.confidences, Payment()),
        baselines.best_static(calibrated.train, rows, joint),
        baselines.oracle(rows, joint),
    ]
    scores = tuple(baselines.score(systems))
    if out is not None:
        heading, *lines = baselines.lines(scores)
        write_csv(out / "scores.csv", heading, lines)
        write_csv(out / "states.csv", ["state", "questions"], list(calibrated.states.items()))
    return scores


def run(
    config: HeldOutConfig,
    *,
    corpus: Corpus | None = None,
    reader: Reader | None = None,
    out: Path | None = None,
    progress: Callable[[int], object] | None = None,
) -> HeldOut:
    """`prepare`, learn by quantal response with cross-validated settings, `compare`; arguments as there."""
    calibrated = prepare(config, corpus=corpus, reader=reader, out=out, progress=progress)
    learned = learn(calibrated.table, GraceConfig(seed=config.seed))
    if out is not None:
        atomic_write(out / "policy.json", learned.policy.dumps())
    return HeldOut(calibrated, learned, compare(calibrated, learned.policy, out))
