"""The first part of a calibrated run's report: a mediator against each static policy, held-out questions on which it decides differently
from the best static policy, and how to use the policy in a pipeline.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from parlour.envs.mediated_qa.vocabulary import Joint, Judgement, Payment
from parlour.policies.agents.mediated_qa.joint import Joint as Names
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.training.learn.mediators import baselines, held_out
from parlour.training.learn.mediators.experiment import Calibrated
from parlour.training.learn.mediators.simulate import Simulated
from parlour.training.report.report import Code, Part
from parlour.training.report.result_table import Cell, Column, ResultTable
from parlour.training.statistics import Estimate

MOST_STATIC: Final = 9
"""Static policies that are shown: the published ones; of more, those that earned most on the training questions."""
_SILENT: Final = "no answer"


@dataclass(frozen=True)
class StaticScore:
    """A static policy on the held-out questions."""

    joint: Names
    utility: Estimate
    """Net utility a question."""
    gain: Estimate
    """That of the mediator minus it, question by question."""


@dataclass(frozen=True)
class Decision:
    """What one joint action came to on a question."""

    joint: Names
    answer: str
    """Empty for silence, or where it is not stored."""
    result: str
    """The answer, or why there is none, in words."""
    net: float


@dataclass(frozen=True)
class DecidedDifferently:
    """A held-out question on which the mediator's most probable decision is not that of the best static policy."""

    question: str
    mediator: Decision
    static: Decision

    @property
    def gain(self) -> float:
        """Net utility that the mediator earned more."""
        return self.mediator.net - self.static.net


@dataclass(frozen=True)
class MediatorVerdict:
    """A mediator against static policies on held-out questions."""

    name: str
    """The mediator."""
    utility: Estimate
    """Its net utility a question, expected over its draws."""
    static: tuple[StaticScore, ...]
    """The best of the training questions first, then by net utility."""
    questions: tuple[DecidedDifferently, ...]
    """Greatest gain, middle one, least gain or greatest loss."""
    differing: int
    """Held-out questions on which it decides differently."""
    payment: Payment
    """The stakes."""


def verdict_of(calibrated: Calibrated, name: str, policy: PolicyTable) -> MediatorVerdict:
    """Compare a mediator with each static policy, and find the questions that show what it does."""
    rows, actions = calibrated.held_out, calibrated.actions
    earned = held_out.played(calibrated, name, policy).utility
    limits = baselines.possible(calibrated.payment, [earned])
    first, *others = _static(calibrated)
    scores = []
    for joint in (first, *others):
        fixed = baselines.fixed("", joint, rows, actions).utility
        gain = baselines.gain(earned, fixed, limits)
        scores.append(StaticScore(actions.names_of(joint), Estimate.mean(fixed, limits), gain))
    ordered = (scores[0], *sorted(scores[1:], key=lambda score: -score.utility.value))
    chosen = held_out.decisions(calibrated, policy)
    differing = [
        DecidedDifferently(text, _decision(calibrated, row, joint), _decision(calibrated, row, first))
        for text, row, joint in zip(calibrated.texts, rows, chosen, strict=True)
        if joint != first
    ]
    shown = _three(sorted(differing, key=lambda question: -question.gain))
    utility = Estimate.mean(earned, limits)
    return MediatorVerdict(name, utility, ordered, shown, len(differing), calibrated.payment)


def opening(verdict: MediatorVerdict, code: Sequence[str]) -> tuple[Part, ...]:
    """Comparison, questions and code, as a report shows them first."""
    columns = (Column("policy"), Column("net utility", "z.2f"), Column("mediator less this", "+z.2f"))
    rows: list[tuple[Cell, ...]] = [(verdict.name, verdict.utility, None)]
    for score in verdict.static:
        best = " (best in training)" if score is verdict.static[0] else ""
        rows.append((" ".join(score.joint) + best, score.utility, score.gain))
    n = verdict.utility.n
    title = f"Net utility a question with its 95 % interval, {n} held-out questions"
    compared = ResultTable(title, columns, tuple(rows), file="static.csv")
    headings = ("question", "mediator, most probable", "best static policy", "earned", "static earned")
    cells = [
        (of.question, _in_words(of.mediator), _in_words(of.static), f"{of.mediator.net:g}", f"{of.static.net:g}")
        for of in verdict.questions
    ]
    title = (
        f"Decided differently on {verdict.differing} of {n} held-out questions: best, middle and worst for the mediator"
    )
    asked: Part = ResultTable.plain(title, headings, cells)
    if not cells:
        asked = f"The {verdict.name} decides as the best static policy on all {n} held-out questions."
    return _stakes(verdict.payment), compared, asked, "Use the policy:", Code("\n".join(code))


def _stakes(payment: Payment) -> str:
    """What right, wrong and no answers pay, in one line."""
    right, wrong, silent, missed = payment.utilities
    silence = f"silence {silent:g} where the answer from memory would be wrong, else {missed:g}"
    return f"Stakes (--utilities): a right answer pays {right:g}, a wrong one {wrong:g}, {silence}. Actions cost (--costs)."


def use(policy: Path, calibrated: Calibrated) -> tuple[str, ...]:
    """The lines of Python that put a policy into a pipeline, and the command that explains it."""
    question, own = calibrated.texts[0], calibrated.config
    reads = ["from pathlib import Path", "from parlour.envs.mediated_qa.corpora.documents import read_documents"]
    documents = f"read_documents(Path({own.documents or 'notes'!r}))"
    if own.corpus and not own.documents:  # they come with the questions
        reads = ["from parlour.envs.mediated_qa.corpora import load"]
        documents = f"load({own.corpus!r}).passages"
    return (
        *reads,
        "from parlour.policies import GraceMediator",
        "",
        f"mediator = GraceMediator.load({str(policy)!r})",
        f"documents = mediator.probe({documents})",
        f"question = {question!r}",
        "retriever, generator, verifier = mediator.recommend(question, documents)",
        "",
        "# LangChain, LlamaIndex: examples/mediated_pipeline.py. Why this decision, in a shell:",
        f"# parlour show recommendation {shlex.quote(question)} --run {shlex.quote(str(policy.parent))}",
    )


def _static(calibrated: Calibrated) -> list[Joint]:
    """The static policies that are shown, those that earned most on the training questions first."""
    actions = calibrated.actions
    means = np.array([row.utilities for row in calibrated.train]).mean(axis=0)
    order = sorted(actions.joints(calibrated.config.joint), key=lambda joint: -means[actions.all.index(joint)])
    return order[:MOST_STATIC]


def _decision(calibrated: Calibrated, row: Simulated, joint: Joint) -> Decision:
    place = calibrated.actions.all.index(joint)
    answer = row.answers[place] if row.answers else ""
    outcome = Judgement(row.outcomes[place])
    gave = outcome in (Judgement.ANSWERED_RIGHT, Judgement.ANSWERED_WRONG)
    result = _SILENT if not answer else f"{_SILENT}: the check refused {answer!r}"
    if gave:
        result = f"{answer!r}, {'right' if outcome == Judgement.ANSWERED_RIGHT else 'wrong'}"
    return Decision(calibrated.actions.names_of(joint), answer if gave else "", result, row.utilities[place])


def _in_words(decision: Decision) -> str:
    return f"{' '.join(decision.joint)}: {decision.result}"


def _three(ordered: list[DecidedDifferently]) -> tuple[DecidedDifferently, ...]:
    """The first, the middle and the last; all of fewer."""
    if len(ordered) <= 3:
        return tuple(ordered)
    return ordered[0], ordered[len(ordered) // 2], ordered[-1]
