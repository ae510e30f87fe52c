"""The questions of an experiment are calibrated, and policies are scored on those that are held out, beside the baselines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.corpus import Corpus
from parlour.envs.mediated_qa.judge import cosine
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.readers import Reader
from parlour.envs.mediated_qa.retrieve import Search
from parlour.envs.mediated_qa.retrievers import GraphRetriever
from parlour.envs.mediated_qa.signals import NO_BINS
from parlour.envs.mediated_qa.vocabulary import FEATURES, SEES, Joint
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.policies.files import atomic_write
from parlour.policies.retrieval.embedders import MiniLMEmbedder
from parlour.training.learn.mediators import baselines, contextual, experiment
from parlour.training.learn.mediators.baselines import Scores, SystemAnswers
from parlour.training.learn.mediators.enough import PILOT
from parlour.training.learn.mediators.simulate import Simulated, calibrate, table
from parlour.training.play.runner import ONE_AT_A_TIME, GameRunner
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate

PARTIAL: Final = "partial.csv"
"""The table of a calibration as it grows."""


def pipeline_of(config: experiment.HeldOutConfig, corpus: Corpus, reader: Reader | None = None) -> Pipeline:
    """The pipeline of an experiment; its cut points are not learned yet. `reader`: the offline one if None.

    Raises:
        ParlourError: The retriever needs an extra that is not installed.
    """
    search = None if config.guide is None else Search(config.guide)
    actions = experiment.actions_of(config)
    used = {config.retriever, *(action.by for action in actions.retriever)}
    embedder = MiniLMEmbedder() if used & {"dense", "hybrid"} else None
    return Pipeline(
        corpus,
        normalisation=config.normalisation,
        reader=reader,
        search=search,
        retriever=config.retriever,
        embedder=embedder,
        actions=actions,
        consistency=config.consistency,
        similarity=partial(cosine, MiniLMEmbedder()) if config.judge == "similarity" else None,
        enough=config.judge_threshold,
        entailment=config.entailment,
    )


def prepare(
    config: experiment.HeldOutConfig,
    *,
    corpus: Corpus | None = None,
    reader: Reader | None = None,
    run: Run | None = None,
    runner: GameRunner = ONE_AT_A_TIME,
    pipeline: Pipeline | None = None,
    pilot: Callable[[Sequence[Simulated]], object] | None = None,
) -> experiment.Calibrated:
    """Build the pipeline, learn the cut points, and put all questions under all joint actions.

    Args:
        config: The experiment.
        corpus: Replaces the corpus of `corpus_of`; has at least train + held_out questions.
        reader: Who answers and checks; the offline one if None.
        run: Where the settings are stored, and the table as it grows; None: nowhere.
        runner: Processes or threads that run the questions under the joint actions (`simulate.calibrate`).
        pipeline: The pipeline of the corpus and the reader, if there is one already; its parts and its actions count. Without
            `corpus` the questions are its own.
        pilot: Called with the first `PILOT` questions as soon as they are calibrated.

    Raises:
        ParlourError: The corpus is too small, the graph retrieves and no training question is linked to it, or the folder holds
            another run or is in use.
    """
    if corpus is None and pipeline is not None:
        corpus = Corpus((), pipeline.questions)
    elif corpus is None:
        corpus = experiment.corpus_of(config)
        config = experiment.split(config, corpus)
    total = config.train + config.held_out
    if len(corpus.questions) < total:
        raise ParlourError(f"a corpus of {len(corpus.questions)} questions; accepted: at least {total}")
    actions = experiment.actions_of(config) if pipeline is None else pipeline.actions
    run = run or Run(None)
    with run.opened(_settings(config, corpus, actions)) as folder:
        pipeline = pipeline_of(config, corpus, reader) if pipeline is None else pipeline
        bins = pipeline.learn_bins(range(config.train))
        if bins is NO_BINS and isinstance(pipeline.retriever, GraphRetriever):
            raise ParlourError(
                "no training question is linked to a document, so the graph has no evidence; accepted: --retriever bm25, or "
                "questions that contain the title of a document"
            )
        pays = experiment.payment_for(config, actions)
        calibrated = partial(
            calibrate,
            pipeline,
            payment=pays,
            seed=config.seed,
            out=folder / PARTIAL,
            runner=replace(runner, progress=run.progress),
        )
        if pilot is not None:
            pilot(calibrated(range(min(PILOT, config.train))))
        rows = calibrated(range(total))
        train, held_out = rows[: config.train], rows[config.train :]
        confidences = tuple(row.confidence for row in held_out)
        utilities = table(train, config.joint, bins, actions, pays.costs)
        atomic_write(folder / "table.csv", utilities.dumps())
        seen = None if config.sees == SEES[0] else np.array([pipeline.context(number) for number in range(total)])
        if seen is not None:
            named = [[row.id or row.number, *context] for row, context in zip(rows, seen.tolist(), strict=True)]
            run.table("contexts.csv", ["id", *FEATURES], named)
        by_tokens = pipeline.recall(0).by_tokens  # the reader keeps, or a cache has, what was asked before
        texts = tuple(question.text for question in corpus.questions[config.train : total])
        return experiment.Calibrated(
            config,
            tuple(train),
            tuple(held_out),
            confidences,
            by_tokens,
            utilities,
            seen,
            texts,
            _retriever(config, pipeline),
        )


def _retriever(config: experiment.HeldOutConfig, pipeline: Pipeline) -> str:
    """Name of the retriever; that of a pipeline of the caller's has none."""
    if isinstance(pipeline.retriever, GraphRetriever):
        return "graph"
    return "own retriever" if config.retriever == "graph" else config.retriever


def _settings(config: experiment.HeldOutConfig, corpus: Corpus, actions: ActionSet) -> dict[str, Any]:
    """What decides an experiment; of a corpus from a file also what is in it, and actions of one's own."""
    settings = config.plain() | ({} if actions == PUBLISHED_ACTIONS else {"actions": actions.plain()})
    if not config.corpus:
        return settings
    return settings | {"corpus_sha256": hashlib.sha256(repr(corpus).encode()).hexdigest()}


def compare(calibrated: experiment.Calibrated, policies: Mapping[str, PolicyTable]) -> tuple[Scores, ...]:
    """The scores of policies and of the baselines on the held-out questions."""
    rows, joint, actions = calibrated.held_out, calibrated.config.joint, calibrated.actions
    systems = [
        *(played(calibrated, name, policy) for name, policy in policies.items()),
        *_by_form(calibrated),
        baselines.fixed("no retrieval", actions.closed_book, rows, actions),
        baselines.fixed(_retrieval(calibrated), actions.plain_reading, rows, actions),
        baselines.refusing(rows, calibrated.confidences, calibrated.payment, actions, by_tokens=calibrated.by_tokens),
        baselines.best_static(calibrated.train, rows, joint, actions),
        baselines.oracle(rows, joint, actions),
    ]
    return tuple(baselines.score(systems, calibrated.payment))


def _retrieval(calibrated: experiment.Calibrated) -> str:
    """What the baseline is called that searches, reads, and lets pass."""
    if calibrated.actions != PUBLISHED_ACTIONS:
        return f"always {', '.join(calibrated.actions.names_of(calibrated.actions.plain_reading))}"
    return baselines.reading_name(calibrated.retriever)


def gains(calibrated: experiment.Calibrated, policies: Mapping[str, PolicyTable]) -> dict[str, Estimate | None]:
    """How much more each policy earns than the best static one, on the held-out questions."""
    rows, joint, actions = calibrated.held_out, calibrated.config.joint, calibrated.actions
    static = baselines.best_static(calibrated.train, rows, joint, actions).utility
    earned = {name: played(calibrated, name, policy).utility for name, policy in policies.items()}
    limits = baselines.possible(calibrated.payment, [static, *earned.values()])
    return {name: baselines.gain(utility, static, limits) for name, utility in earned.items()}


def decisions(calibrated: experiment.Calibrated, policy: PolicyTable) -> list[Joint]:
    """The most probable joint action of a policy on each held-out question; of equals the first."""
    rows, seen = calibrated.held_out, calibrated.contexts
    if policy.contextual is None or seen is None:
        best = {state: max(row, key=row.__getitem__) for state, row in policy.rows.items()}
        return [calibrated.actions.joint_of(best.get(row.state, policy.fallback)) for row in rows]
    p = policy.contextual.policy(seen[calibrated.config.train :], [row.state for row in rows])
    return [calibrated.actions.joint_of(policy.contextual.joints[k]) for k in p.argmax(axis=1).tolist()]


def played(calibrated: experiment.Calibrated, name: str, policy: PolicyTable) -> SystemAnswers:
    """A policy on the held-out questions."""
    rows = calibrated.held_out
    if policy.contextual is None or calibrated.contexts is None:
        return baselines.learned(name, policy, rows)
    return contextual.contextual(name, policy.contextual, rows, calibrated.contexts[calibrated.config.train :])


def _by_form(calibrated: experiment.Calibrated) -> list[SystemAnswers]:
    """The table of forms x states, beside a mediator that sees more than the state."""
    setting, train, rows = calibrated.config, calibrated.train, calibrated.held_out
    if calibrated.contexts is None:
        return []
    before, seen = calibrated.contexts[: setting.train], calibrated.contexts[setting.train :]
    return [contextual.form_by_state(train, before, rows, seen, setting.payment, setting.joint)]
