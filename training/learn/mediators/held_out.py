"""The experiment: calibrate on questions, learn a mediator, and score it on others of the same corpus.

The graph holds the passages of one corpus, generated or from files; its questions are split, the first for training (cut
points of the signals, Q-hat, temperature and floor by cross-validation, the best static action), the rest held out. The
questions of a file are brought into a random order first.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError, accept, check_from, check_one_of
from parlour.envs.mediated_qa import corpora, retrievers
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.corpus import DIFFICULTIES, Corpus, generate
from parlour.envs.mediated_qa.graph import NORMALISATIONS, Normalisation
from parlour.envs.mediated_qa.pipeline import Pipeline, Reader
from parlour.envs.mediated_qa.retrieve import Search
from parlour.envs.mediated_qa.vocabulary import FEATURES, JOINTS, SEES, Payment
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.policies.files import atomic_write
from parlour.policies.retrieval.embedders import MiniLMEmbedder
from parlour.training.learn.mediators import baselines, usage
from parlour.training.learn.mediators.baselines import Scores, SystemAnswers
from parlour.training.learn.mediators.contextual import systems
from parlour.training.learn.mediators.contextual.ceiling import ceiling, knows_chances
from parlour.training.learn.mediators.learn import GraceConfig, LearnedMediator, learn
from parlour.training.learn.mediators.simulate import Simulated, calibrate, table
from parlour.training.learn.mediators.table import Floats, UtilityTable
from parlour.training.play import seeds
from parlour.training.play.parallel.executor import Pool
from parlour.training.results.runs import run_directory, write_csv

UNSEEN: Final = 101
"""The first corpus for results: those with smaller numbers were looked at while graph and search were designed."""
_ORDER: Final = 18
"""What the order of a file's questions is drawn for."""
PARTIAL: Final = "partial.csv"
"""The table of a calibration as it grows."""
_EMBEDS: Final = ("dense", "hybrid")
_FEWEST: Final = 2
"""Questions to learn from."""
_ALWAYS: Final = ("difficulty", "train", "held_out", "normalisation", "guide", "joint", "corpus_seed", "seed")
"""Settings that are stored in any case; others only where they are chosen."""


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
    """Seed of samples, folds, and of the order of a file's questions."""
    corpus: str = ""
    """File of questions of your own; None: generated ones."""
    documents: str = ""
    """Folder or file of the documents that go with `corpus`; None: those in `corpus`."""
    form: str = "auto"
    """Form of `corpus`."""
    limit: int | None = None
    """Number of questions of `corpus`, from its beginning; None: all."""
    held_out_share: float = 1 / 3
    """Share of the questions of `corpus` that are held out."""
    utilities: tuple[float, float, float, float] = Payment().utilities
    """What an answer pays: right, wrong, rightly silent, wrongly silent."""
    costs: tuple[float, ...] = Payment().costs
    """What the actions cost, of the retriever's, the generator's, the verifier's; in the unit of the utilities."""
    reader: str = ""
    """Who answers: offline (rules and a simulated memory), extract (rules, no memory), model (that of --model), qa:PATH (an
    extractive model in a folder); None: the model where there is one, else offline."""
    nli: str = ""
    """Who checks answers: lexical (shared words), model (that of --model), or the folder of an inference model; None: the
    model where it answers, else lexical."""
    model: str = ""
    """The language model that answers or checks, with what its answers depend on; empty for none."""
    simulate_memory: bool = False
    """Whether reader offline may answer the questions of `corpus`, which its memory does not know."""
    retriever: str = "graph"
    """Who finds evidence: graph, bm25, dense or hybrid; the signals are the graph's in any case."""
    sees: str = "state"
    """What the mediator knows of a question: state, signals (their raw values), or question (its form, names, links and path)."""
    actions: str = ""
    """JSON file of actions of your own, with their costs; None: the published ones."""

    def __post_init__(self) -> None:
        for name, accepted in (
            ("difficulty", DIFFICULTIES),
            ("normalisation", NORMALISATIONS),
            ("joint", JOINTS),
            ("retriever", retrievers.NAMES),
            ("sees", SEES),
        ):
            check_one_of(name, getattr(self, name), accepted)
        object.__setattr__(self, "utilities", _finite("utilities", self.utilities, Payment().utilities))
        object.__setattr__(self, "costs", _finite("costs", self.costs, Payment().costs))
        if self.actions and self.costs != Payment().costs:
            raise ParlourError(
                "costs of actions of your own are not accepted; accepted: their costs in the file of actions"
            )
        if self.actions and self.sees != "state":
            raise accept("sees", self.sees, "state, with actions of your own")
        if not 0 < self.held_out_share < 1:
            raise accept("held_out_share", self.held_out_share, "a number between 0 and 1")
        if self.limit is not None:
            check_from("limit", self.limit, 3)
        if self.guide is not None and not 0 <= self.guide < float("inf"):
            raise accept("guide", self.guide, "None, or a number from 0")
        for name, least in (("train", 2), ("held_out", 1), ("corpus_seed", 0), ("seed", 0)):
            check_from(name, getattr(self, name), least)

    @property
    def payment(self) -> Payment:
        """Utilities and costs."""
        return Payment(self.utilities, self.costs)

    def stored(self) -> dict[str, Any]:
        """The settings as plain values; what was added since the first runs only where it is chosen."""
        told = asdict(self)
        return {
            one.name: told[one.name] for one in fields(self) if one.name in _ALWAYS or told[one.name] != one.default
        }


def _finite(name: str, numbers: Sequence[float], like: Sequence[float]) -> tuple[float, ...]:
    """The numbers as a tuple. Raises `ParlourError` unless there are as many as in `like`, all finite."""
    if len(numbers) != len(like) or not all(map(math.isfinite, numbers)):
        raise accept(name, ",".join(map(str, numbers)), f"{len(like)} finite numbers")
    return tuple(map(float, numbers))


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
    contexts: Floats | None = None
    """Of the training questions and then the held-out ones, shape (questions, features); None where the mediator sees the
    state alone."""

    @property
    def actions(self) -> ActionSet:
        """What the modules may do."""
        return self.table.action_set

    @property
    def payment(self) -> Payment:
        """Utilities and costs, of these actions."""
        return _payment(self.config, self.actions)

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
    """The corpus, with the training questions first. Raises `ParlourError` as `corpora.load` does."""
    if not config.corpus:
        return generate(seed=config.corpus_seed, size=config.train + config.held_out, difficulty=config.difficulty)
    corpus = corpora.load(config.corpus, config.documents or None, config.form, config.limit)
    order = np.random.default_rng(seeds.derive(config.seed, _ORDER)).permutation(len(corpus.questions))
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
    if count - held_out < _FEWEST:
        raise ParlourError(f"{config.corpus!r} has {count} questions; accepted: at least {_FEWEST} to learn from")
    return replace(config, train=count - held_out, held_out=held_out)


def pipeline_of(config: HeldOutConfig, corpus: Corpus, reader: Reader | None = None) -> Pipeline:
    """The pipeline of an experiment; its cut points are not learned yet. `reader`: the offline one if None.

    Raises:
        ParlourError: The retriever needs an extra that is not installed.
    """
    search = None if config.guide is None else Search(config.guide)
    actions = actions_of(config)
    used = {config.retriever, *(action.by for action in actions.retriever)}
    embedder = MiniLMEmbedder() if used & set(_EMBEDS) else None
    return Pipeline(
        corpus,
        normalisation=config.normalisation,
        reader=reader,
        search=search,
        retriever=config.retriever,
        embedder=embedder,
        actions=actions,
    )


def actions_of(config: HeldOutConfig) -> ActionSet:
    """What the modules may do. Raises `ParlourError` if the file holds no actions."""
    return ActionSet.load(config.actions) if config.actions else PUBLISHED_ACTIONS


def _payment(config: HeldOutConfig, actions: ActionSet) -> Payment:
    """Utilities and costs; actions of one's own bring their costs."""
    return config.payment if actions == PUBLISHED_ACTIONS else actions.payment(config.utilities)


def prepare(
    config: HeldOutConfig,
    *,
    corpus: Corpus | None = None,
    reader: Reader | None = None,
    out: Path | None = None,
    progress: Callable[[int], object] | None = None,
    pool: Pool | None = None,
    at_once: int = 1,
    pipeline: Pipeline | None = None,
) -> Calibrated:
    """Build the pipeline, learn the cut points, and put all questions under all joint actions.

    Args:
        config: The experiment.
        corpus: In place of that of `corpus_of`; has at least train + held_out questions.
        reader: Who answers and checks; the offline one if None.
        out: Run directory, for the settings and the table as it grows; resumes if it exists.
        progress: Called after each question with the number of questions done.
        pool: Processes that put the questions under the joint actions; the reader must be picklable then.
        at_once: How many questions are put at once, in threads (`simulate.calibrate`).
        pipeline: That of the corpus and the reader, where there is one already; its parts and its actions count. Without
            `corpus` the questions are its own.

    Raises:
        ParlourError: The corpus is too small, or the folder holds another run or is in use.
    """
    if corpus is None and pipeline is not None:
        corpus = Corpus((), pipeline.questions)
    elif corpus is None:
        corpus = corpus_of(config)
        config = split(config, corpus)
    total = config.train + config.held_out
    if len(corpus.questions) < total:
        raise ParlourError(f"a corpus of {len(corpus.questions)} questions; accepted: at least {total}")
    actions = actions_of(config) if pipeline is None else pipeline.actions
    with nullcontext() if out is None else run_directory(out, _settings(config, corpus, actions)):
        pipeline = pipeline_of(config, corpus, reader) if pipeline is None else pipeline
        bins = pipeline.learn_bins(range(config.train))
        partial = None if out is None else out / PARTIAL
        rows = calibrate(
            pipeline,
            range(total),
            payment=_payment(config, actions),
            seed=config.seed,
            out=partial,
            progress=progress,
            pool=pool,
            at_once=at_once,
        )
        train, held_out = rows[: config.train], rows[config.train :]
        confidences = tuple(row.confidence for row in held_out)
        found = table(train, config.joint, bins, actions, _payment(config, actions).costs)
        if out is not None:
            atomic_write(out / "table.csv", found.dumps())
            usage.store_means(usage.beside(out / PARTIAL), out / usage.USAGE)
        seen = None if config.sees == SEES[0] else np.array([pipeline.context(number) for number in range(total)])
        if seen is not None and out is not None:
            named = [[row.id or row.number, *context] for row, context in zip(rows, seen.tolist(), strict=True)]
            write_csv(out / "contexts.csv", ["id", *FEATURES], named)
        return Calibrated(config, tuple(train), tuple(held_out), confidences, found, seen)


def _settings(config: HeldOutConfig, corpus: Corpus, actions: ActionSet) -> dict[str, Any]:
    """What decides an experiment; of a corpus from a file also what is in it, and actions of one's own."""
    told = config.stored() | ({} if actions == PUBLISHED_ACTIONS else {"actions": actions.as_plain()})
    if not config.corpus:
        return told
    return told | {"corpus_sha256": hashlib.sha256(repr(corpus).encode()).hexdigest()}


def compare(
    calibrated: Calibrated,
    policy: PolicyTable,
    out: Path | None = None,
    reader: str = "",
    pipeline: Pipeline | None = None,
) -> tuple[Scores, ...]:
    """The scores of a policy and of the baselines on the held-out questions.

    Args:
        calibrated: The questions.
        policy: What is compared.
        out: Folder for the tables, if there is one.
        reader: Who answered, for a column of the table of scores; empty for no such column.
        pipeline: That of the questions; where its memory is simulated, the ceiling that knows all but how the memory fell
            stands before the oracle.
    """
    rows, joint, actions = calibrated.held_out, calibrated.config.joint, calibrated.actions
    played = [
        *_learned(calibrated, policy),
        baselines.fixed("no retrieval", actions.closed_book, rows, actions),
        baselines.fixed(_retrieval(calibrated), actions.plain_reading, rows, actions),
        baselines.refusing(rows, calibrated.confidences, calibrated.payment, actions=actions),
        baselines.best_static(calibrated.train, rows, joint, actions),
        *_ceiling(calibrated, pipeline),
        baselines.oracle(rows, joint, actions),
    ]
    scores = tuple(baselines.score(played, calibrated.payment))
    if out is not None:
        heading, *lines = baselines.lines(scores)
        told = [reader] if reader else []
        write_csv(out / "scores.csv", [*heading, *(["reader"] if reader else [])], [[*line, *told] for line in lines])
        write_csv(out / "states.csv", ["state", "questions"], list(calibrated.states.items()))
    return scores


def _ceiling(calibrated: Calibrated, pipeline: Pipeline | None) -> list[SystemAnswers]:
    """The ceiling, where the memory is simulated."""
    if pipeline is None or not knows_chances(pipeline):
        return []
    return [ceiling(pipeline, calibrated.held_out, calibrated.payment, calibrated.config.joint)]


def _retrieval(calibrated: Calibrated) -> str:
    """What the baseline is called that searches, reads, and lets pass."""
    if calibrated.actions != PUBLISHED_ACTIONS:
        return f"always {', '.join(calibrated.actions.names_of(calibrated.actions.plain_reading))}"
    return "GraphRAG" if calibrated.config.retriever == "graph" else f"{calibrated.config.retriever} and read"


def _learned(calibrated: Calibrated, policy: PolicyTable) -> list[SystemAnswers]:
    """What was learned; where it sees more than the state, the tables of states and of forms x states behind it."""
    rows, setting = calibrated.held_out, calibrated.config
    if policy.contextual is None or calibrated.contexts is None:
        return [baselines.learned("learned mediator", policy, rows)]
    before, seen = calibrated.contexts[: setting.train], calibrated.contexts[setting.train :]
    return [
        systems.contextual(f"learned mediator, sees the {setting.sees}", policy.contextual, rows, seen),
        baselines.learned("learned table of states", policy, rows),
        systems.form_by_state(calibrated.train, before, rows, seen, setting.payment, setting.joint),
    ]


def run(
    config: HeldOutConfig,
    *,
    corpus: Corpus | None = None,
    reader: Reader | None = None,
    pipeline: Pipeline | None = None,
    out: Path | None = None,
    progress: Callable[[int], object] | None = None,
) -> HeldOut:
    """`prepare`, learn by quantal response with cross-validated settings, `compare`; arguments as there."""
    calibrated = prepare(config, corpus=corpus, reader=reader, pipeline=pipeline, out=out, progress=progress)
    learned = learn(calibrated.table, GraceConfig(seed=config.seed))
    if out is not None:
        atomic_write(out / "policy.json", learned.policy.dumps())
    return HeldOut(calibrated, learned, compare(calibrated, learned.policy, out))
