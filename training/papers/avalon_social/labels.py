"""Agreement of a judge with labels that were set by hand, on discussion statements of the published games.

The labels are in `data/labels.json`, with the rules by which they were set. It holds no words of the games, so the logs must be
available.

What the agreement of the heuristics is worth: the labels were set before the rules were written, and the rules were
developed on the other statements; but both are one person's, who had read all of these ten games, in which players repeat
themselves. So it measures how well the rules do what their author meant, in these games. It says nothing about other tables, or
about agreement with other people.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs.avalon.vocabulary import EVIL, MERLIN, MORGANA, side_of
from parlour.envs.core import ParlourError
from parlour.envs.english import name
from parlour.policies.llm.model import Model, OfflineModel
from parlour.training.measure.statistics import plain, rate
from parlour.training.papers.avalon_social.judging import (
    INFORMED,
    JudgeBench,
    attitude,
    disclosure,
    self_proposal,
    sharing_question,
)
from parlour.training.papers.avalon_social.roles import IDENTITIES
from parlour.training.records.avalon.published_log import Statement, as_heard, statements

ATTITUDE_LABELS: Final = ("trust", "distrust", "neutral")
YES_NO: Final = ("yes", "no")
CLASSES: Final = {"attitude": ATTITUDE_LABELS, "self_proposal": YES_NO, "identity": IDENTITIES, "sharing": YES_NO}


class Case(NamedTuple):
    """One thing that was labelled."""

    question: str
    label: str
    judged: str


def load() -> list[dict[str, Any]]:
    """The labels that come with the package."""
    text = resources.files(__package__).joinpath("data", "labels.json").read_text(encoding="utf-8")
    labels: list[dict[str, Any]] = json.loads(text)["labels"]
    return labels


def agreement(
    labels: Iterable[Mapping[str, Any]], logs_dir: str | Path, model: Model | None = None, workers: int = 1
) -> dict[str, Any]:
    """How far a judge agrees with labels.

    Args:
        labels: As `load` gives them.
        logs_dir: The folder with the logs of the published games.
        model: Who judges; the heuristics by default.
        workers: How many questions are put at once.

    Returns:
        `judge`, the number of `statements`, and for each question: `agreement` (a rate with its Wilson interval), `kappa`
        (Cohen 1960; None where both use one class only), `classes` (for each class how often it is the label, how often
        it was judged, and how often both). An attitude is a case for each other player, sharing one for each player
        that the night showed.

    Raises:
        ParlourError: A log cannot be read, or lacks a statement that is labelled.
    """
    labelled = [(label, *_find(Path(logs_dir), label)) for label in labels]
    bench = JudgeBench(model or OfflineModel(), workers)
    asked = [(label, said, _questions(said, roles), roles) for label, said, roles in labelled]
    bench.ask((question, True) for *_, questions, _ in asked for question in questions.values())
    cases = [
        case
        for label, said, questions, roles in asked
        for case in _cases(label, said, {key: bench.answer(question) for key, question in questions.items()}, roles)
    ]
    by_question = {key: _agreement([case for case in cases if case.question == key], CLASSES[key]) for key in CLASSES}
    return {"judge": bench.model.name, "statements": len(labelled), **by_question}


def _find(folder: Path, label: Mapping[str, Any]) -> tuple[Statement, tuple[str, ...]]:
    """A labelled statement, and the roles at its table by seat."""
    path = folder / label["log"]
    rounds = statements(path)
    roles = {said.player: said.role for said in rounds[0]}
    try:
        said = rounds[label["round"] - 1][label["statement"]]
        return said, tuple(roles[player] for player in range(1, len(roles) + 1))
    except (IndexError, KeyError):
        place = f"statement {label['statement']} of round {label['round']}"
        raise ParlourError(f"log {str(path)!r} has no {place}; accepted: the published log") from None


def _questions(said: Statement, roles: tuple[str, ...]) -> dict[str, Any]:
    words, speaker = as_heard(said.text, len(roles)), said.player - 1
    asked: dict[str, Any] = {
        "attitude": attitude(words, speaker, len(roles)),
        "self_proposal": self_proposal(words, speaker),
        "identity": disclosure(words, speaker, said.role),
    }
    if said.role in INFORMED:
        asked["sharing"] = sharing_question(words, speaker, roles, _known(speaker, roles))
    return asked


def _known(speaker: int, roles: tuple[str, ...]) -> tuple[int, ...]:
    """Whom the night shows Merlin or Percival at the table of the published games."""
    if roles[speaker] == MERLIN:
        return tuple(seat for seat, role in enumerate(roles) if side_of(role) == EVIL)
    return tuple(seat for seat, role in enumerate(roles) if role in (MERLIN, MORGANA))


def _cases(
    label: Mapping[str, Any], said: Statement, answers: Mapping[str, Any], roles: tuple[str, ...]
) -> Iterator[Case]:
    met = answers["attitude"]
    for player in range(1, len(roles) + 1):
        if player != said.player:
            labelled = _attitude(player, label["trust"], label["distrust"])
            yield Case("attitude", labelled, _attitude(name(player - 1), met.trusts, met.distrusts))
    yield Case("self_proposal", _yes(label["self_proposal"]), _yes(answers["self_proposal"].proposes_self))
    yield Case("identity", label["identity"], answers["identity"].identity)
    if "sharing" in answers:
        for seat in _known(said.player - 1, roles):
            judged = name(seat) in answers["sharing"].told
            yield Case("sharing", _yes(seat + 1 in label["shared"]), _yes(judged))


def _attitude(player: object, trusted: Sequence[object], distrusted: Sequence[object]) -> str:
    return ATTITUDE_LABELS[0 if player in trusted else 1 if player in distrusted else 2]


def _yes(value: bool) -> str:
    return YES_NO[0 if value else 1]


def _agreement(cases: Sequence[Case], classes: Sequence[str]) -> dict[str, Any]:
    both = [case for case in cases if case.label == case.judged]
    agreement = rate(len(both), len(cases))
    labels, judged = Counter(case.label for case in cases), Counter(case.judged for case in cases)
    agreed = Counter(case.label for case in both)
    return {
        "agreement": None if agreement is None else plain(agreement),
        "kappa": kappa([(case.label, case.judged) for case in cases]),
        "classes": {name: {"labelled": labels[name], "judged": judged[name], "both": agreed[name]} for name in classes},
    }


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of two raters; None if there is nothing to rate, or chance alone would always agree.

    >>> kappa([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")])
    0.5
    """
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    # n times n times the agreement by chance, in whole numbers
    chance = sum(first[name] * second[name] for name in first)
    if n == 0 or chance == n * n:
        return None
    observed = sum(a == b for a, b in pairs) * n
    return (observed - chance) / (n * n - chance)
