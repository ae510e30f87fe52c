"""Why a mediator recommends what it does: linked documents, signals and their bins, state, row; and what each action came to.

What the actions cost and earned is known of the questions of a calibrated run alone; of any other question there is the
recommendation without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import ALL, JOINTS
from parlour.policies.agents.mediated_qa import documents
from parlour.policies.agents.mediated_qa.documents import DocumentProbe, SignalBin
from parlour.policies.agents.mediated_qa.joint import FALLBACK, Joint
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.policies.agents.mediated_qa.recommendation_log import OUTCOME_NAMES
from parlour.training.learn.mediators.calibrated_run import CalibratedRun
from parlour.training.learn.mediators.held_out import corpus_of
from parlour.training.learn.mediators.simulate import Simulated

LEVELS: Final = ("low", "mid", "high")
"""Of a bin, by its number."""


@dataclass(frozen=True)
class ActionCame:
    """A joint action on the question."""

    joint: Joint
    probability: float
    """In the row of the state."""
    outcome: str | None = None
    """One of `OUTCOME_NAMES`; None where the question was not calibrated, as below."""
    cost: float | None = None
    """Of what was carried out."""
    net: float | None = None


@dataclass(frozen=True)
class Explanation:
    """All that is told of a question."""

    question: str
    linked: tuple[str, ...]
    """Titles of documents, best match first."""
    signals: tuple[SignalBin, ...]
    """Empty without a link."""
    state: str
    fallback: bool
    """Whether the policy has no row for the state."""
    actions: tuple[ActionCame, ...]
    """Most probable first."""
    part: str = ""
    """Of a calibrated question: `training` or `held out`."""
    reader: str = ""
    """Who answered it; empty if it is not told."""


def explain(question: str, policy: PolicyTable, probe: DocumentProbe) -> Explanation:
    """Explain a question by documents. Raises `ParlourError` for a policy without the cut points of the signals."""
    signals = probe.signals(question)
    state = documents.state_of(signals, policy.thresholds)
    shown = () if signals is None else documents.binned(signals, policy.thresholds)
    seen = policy.contextual
    row = policy.rows.get(state, {FALLBACK: 1.0}) if seen is None else seen.row(probe.context(question), state)
    ordered = sorted(row, key=lambda joint: -row[joint])
    actions = tuple(ActionCame(joint, row[joint]) for joint in ordered)
    falls_back = seen is None and state not in policy.rows
    return Explanation(question, probe.linked(question), shown, state, falls_back, actions)


def explain_calibrated(asked: str, run: CalibratedRun, policy: PolicyTable) -> Explanation:
    """Explain a question of a run, by its text, its id or its number; or a new one, by the documents of the run.

    Raises:
        ParlourError: As `explain`; or the corpus of the run is not what it was.
    """
    corpus = corpus_of(run.config)
    if len(corpus.questions) < len(run.rows):
        raise ParlourError(f"a corpus of {len(corpus.questions)} questions; accepted: that of the run, {len(run.rows)}")
    number = _number(asked, [(one.id, one.text) for one in corpus.questions[: len(run.rows)]])
    text = asked if number is None else corpus.questions[number].text
    found = explain(text, policy, DocumentProbe(corpus.passages, run.config.normalisation))
    if number is None:
        return found
    row = run.rows[number]
    known = {one.joint: one.probability for one in found.actions}
    came = [_came(row, run, joint.names, k, known) for k, joint in enumerate(ALL) if joint in JOINTS[run.config.joint]]
    came.sort(key=lambda one: -one.probability)
    part = "training" if number < len(run.train) else "held out"
    return Explanation(text, found.linked, found.signals, found.state, found.fallback, tuple(came), part, run.note)


def _number(asked: str, known: list[tuple[str, str]]) -> int | None:
    """Number of a question by text, id or number; None for a new one."""
    for place in (1, 0):
        for number, names in enumerate(known):
            if names[place] and names[place] == asked.strip():
                return number
    return int(asked) if asked.isascii() and asked.isdigit() and int(asked) < len(known) else None


def _came(row: Simulated, run: CalibratedRun, joint: Joint, number: int, known: dict[Joint, float]) -> ActionCame:
    outcome, net = row.outcomes[number], row.net(run.config.payment)[number]
    cost = run.config.payment.utilities[outcome] - net
    return ActionCame(joint, known.get(joint, 0.0), OUTCOME_NAMES[outcome], cost, net)
