"""The ceiling that knows everything but the lottery of the simulated memory.

What a simulated reader remembers is drawn by hash (`parlour.envs.mediated_qa.readers`): each fact by the fame of its subject, then
what is misremembered, then each guess and sample. The oracle sees how these draws fell. The ceiling sees evidence, answers from
it, verdicts and all chances of the memory, and takes the joint action with the highest expected net utility, which is
computed exactly by going through what memory may hold; it is then scored on what in fact came out, as all others are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, comb
from typing import NamedTuple

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS
from parlour.envs.mediated_qa.corpus import CorpusQuestion
from parlour.envs.mediated_qa.pipeline import AGREEMENT, SAMPLES, Pipeline
from parlour.envs.mediated_qa.readers import Memory, OfflineReader
from parlour.envs.mediated_qa.vocabulary import JOINTS, Joint, Payment, executed, outcome_of
from parlour.policies.agents.mediated_qa.contextual import Floats
from parlour.training.learn.mediators.baselines import SystemAnswers, drawn
from parlour.training.learn.mediators.simulate import Simulated


class Recollection(NamedTuple):
    """One thing that memory may hold."""

    chance: float
    plain: str
    """The closed-book answer."""
    agreed: Mapping[str, float]
    """Chance of each answer on which the samples agree; the rest is none."""


def recollections(memory: Memory, question: CorpusQuestion) -> list[Recollection]:
    """All that a memory may hold of a question; the chances sum to 1."""
    options = (*question.decoys, question.answer) if len(question.decoys) < 2 else question.decoys
    known = 1.0 if question.answer else 0.0  # what has no answer is not known, whatever is remembered
    for _, _, fame in set(question.facts):
        known *= memory.unknown + (memory.famous - memory.unknown) * fame
    mistaken = (1 - known) * (memory.mistaken if question.decoys else 0.0)
    found = [Recollection(known, question.answer, _agreed(options, question.answer, memory.slip))]
    for decoy in question.decoys:
        share = mistaken / len(question.decoys)
        found.append(Recollection(share, decoy, _agreed(options, decoy, memory.slip)))
    guessed = _agreed(options, "", 1.0)
    guesses = [Recollection((1 - known - mistaken) / len(options), option, guessed) for option in options]
    return found + guesses


def knows_chances(pipeline: Pipeline) -> bool:
    """Whether there is a ceiling: rules and a simulated memory answer and check, by the published actions."""
    return pipeline.offline and pipeline.actions == PUBLISHED_ACTIONS


def _agreed(options: Sequence[str], belief: str, slip: float) -> dict[str, float]:
    """Chance that enough of the samples are each answer, none of which can be so together with another."""
    single = dict.fromkeys((*options, *filter(None, [belief])), 0.0)
    if belief:
        single[belief] += 1 - slip
    for option in options:
        single[option] += slip / len(options)
    least = ceil(AGREEMENT * SAMPLES - 1e-9)
    return {
        answer: sum(comb(SAMPLES, k) * p**k * (1 - p) ** (SAMPLES - k) for k in range(least, SAMPLES + 1))
        for answer, p in single.items()
    }


def expected(pipeline: Pipeline, number: int, joints: Sequence[Joint], payment: Payment) -> list[float]:
    """Expected net utility of each joint action over all that memory may hold.

    Raises:
        ParlourError: The reader has no simulated memory.
    """
    if not (isinstance(pipeline.reader, OfflineReader) and knows_chances(pipeline)):
        raise ParlourError(
            "the ceiling goes through a simulated memory; accepted: the offline reader and the published actions"
        )
    question, told = pipeline.questions[number], recollections(pipeline.reader.memory, pipeline.questions[number])
    return [sum(one.chance * _net(pipeline, number, question, joint, one, payment) for one in told) for joint in joints]


def _net(
    pipeline: Pipeline, number: int, question: CorpusQuestion, joint: Joint, held: Recollection, payment: Payment
) -> float:
    nothing = joint.retriever == vocabulary.NO_RETRIEVAL
    evidence = "" if nothing else pipeline.retrieve(number, joint.retriever)
    plan = executed(joint, evidence != "")
    chances: Mapping[str, float] = {"": 1.0}
    if plan.generator == vocabulary.FROM_EVIDENCE:
        chances = {pipeline.reader.generate(question, evidence, np.random.default_rng(0)): 1.0}
    elif plan.generator == vocabulary.PARAMETRIC:
        chances = {held.plain: 1.0}
    elif plan.generator == vocabulary.CONSISTENT:
        chances = {**held.agreed, "": 1 - sum(p for answer, p in held.agreed.items() if answer != "")}
    known, total = pipeline.right(number, held.plain), 0.0
    for answer, chance in chances.items():
        checked = plan.verifier == vocabulary.CHECK and answer != ""
        contradicted = checked and pipeline.check(number, evidence, answer) == vocabulary.CONTRADICTED
        answered = answer != "" and not contradicted
        right = answered and pipeline.right(number, answer)
        total += chance * payment.net(plan, outcome_of(answered=answered, right=right, known=known))
    return total


def ceiling(pipeline: Pipeline, rows: Sequence[Simulated], payment: Payment, joint: str = "published") -> SystemAnswers:
    """On each question the joint action that is best in expectation, as it came out. Raises `ParlourError` as `expected`."""
    offered = JOINTS[joint]
    best = [offered[int(np.argmax(expected(pipeline, row.number, offered, payment)))] for row in rows]
    return drawn("ceiling: all but memory's lottery", [one.names for one in best], rows)


def expectations(pipeline: Pipeline, rows: Sequence[Simulated], payment: Payment, joint: str = "published") -> Floats:
    """`expected` for questions, shape (questions, joint actions)."""
    return np.array([expected(pipeline, row.number, JOINTS[joint], payment) for row in rows])
