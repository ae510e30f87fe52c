"""What a contextual policy did on held-out questions, and its baseline: a table of question form x state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.mediated_qa.vocabulary import ALL, FEATURES, FORMS, JOINTS, STATES, Payment
from parlour.policies.agents.mediated_qa.contextual import ContextualModel
from parlour.policies.agents.mediated_qa.joint import NUMBER
from parlour.policies.agents.mediated_qa.outcome_model import Floats
from parlour.training.learn.mediators.baselines import SystemAnswers, drawn, mixed
from parlour.training.learn.mediators.simulate import Simulated

LEAN: Final = 10.0
"""Pseudo-questions by which a cell of form x state leans on its state, and a state on all questions."""
_FORM: Final = FEATURES.index(f"form_{FORMS[0]}")


def contextual(name: str, model: ContextualModel, rows: Sequence[Simulated], contexts: Floats) -> SystemAnswers:
    """A contextual policy, scored by what it earns in expectation over its draws."""
    p = model.policy(np.asarray(contexts, dtype=np.float64), [row.state for row in rows])
    places = [ALL[NUMBER[joint]] for joint in model.joints]
    return mixed(name, [dict(zip(places, chances, strict=True)) for chances in p.tolist()], rows)


def form_by_state(
    train: Sequence[Simulated],
    train_contexts: Floats,
    rows: Sequence[Simulated],
    contexts: Floats,
    payment: Payment,
    joint: str = "published",
) -> SystemAnswers:
    """In each cell of question form x state the joint action with the highest mean over the training questions."""
    offered = JOINTS[joint]
    places = [ALL.index(one) for one in offered]
    earned = np.array([row.net(payment) for row in train])[:, places]
    values = np.tile(earned.mean(axis=0), (len(STATES), 1))
    values = _leaning(earned, _states(train), values)
    values = np.repeat(values[:, None], len(FORMS), axis=1).reshape(-1, len(offered))
    values = _leaning(earned, _cells(train, train_contexts), values)
    best = [offered[k] for k in values[_cells(rows, contexts)].argmax(axis=1)]
    return drawn("question form x state", [one.names for one in best], rows)


def _leaning(earned: Floats, group: NDArray[Any], parent: Floats) -> Floats:
    """(sum + `LEAN` x parent) / (n + `LEAN`) of each group, shape (groups, actions)."""
    member = (np.arange(len(parent))[:, None] == group).astype(np.float64)
    return np.asarray((member @ earned + LEAN * parent) / (member.sum(axis=1, keepdims=True) + LEAN))


def _states(rows: Sequence[Simulated]) -> NDArray[Any]:
    return np.array([STATES.index(row.state) for row in rows])


def _cells(rows: Sequence[Simulated], contexts: Floats) -> NDArray[Any]:
    forms = np.asarray(contexts)[:, _FORM : _FORM + len(FORMS)].argmax(axis=1)
    return np.asarray(_states(rows) * len(FORMS) + forms)
