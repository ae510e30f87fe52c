"""The log of a mediator in use: JSON lines, one for each recommendation, and one for each result when it is known.

    {"signal_thresholds": {"reliability": [0.3, 0.6], ...}}
    {"id": "1", "question": "...", "state": "T:low_Q:mid", "signals": [0.4, 12.0, ...], "joint": ["retrieve_deep", ...], "probability": 0.9}
    {"id": "1", "outcome": "right", "cost": 5.0}

The first line has the cut points that made states of signals; states of other cut points would be other states. A recommendation by a
policy that sees more than the state also has its `context`, what was seen in the order of `vocabulary.FEATURES`. Lines are only ever added,
each as a whole, so that a process that is killed leaves a readable file. A result names its
recommendation by id; of several the last counts. The outcomes are the game's four: `right`, `wrong`, and for silence
`rightly_silent` or `wrongly_silent`, by whether the closed-book answer would have been wrong.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.json_values import json_value
from parlour.envs.mediated_qa import vocabulary as game
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.envs.writing import LineFile
from parlour.policies.agents.mediated_qa.joint import ALL, NUMBER, Joint, check_state
from parlour.policies.agents.mediated_qa.mediator import Recommendation
from parlour.policies.agents.mediated_qa.policy_file import Thresholds, is_number, number_or_none, thresholds_of

OUTCOME_NAMES: Final = ("right", "wrong", "rightly_silent", "wrongly_silent")
"""In the order of `Payment.utilities`."""
_RESULT: Final = ("id", "outcome", "cost")
_RECOMMENDED: Final = ("id", "question", "state", "signals", "joint", "probability")
_CONTEXT: Final = "context"
"""Field of a recommendation by a policy that sees more than the state; older logs have none."""


@dataclass(frozen=True)
class LoggedRecommendation:
    """A recommendation, and its result."""

    id: str
    question: str
    state: str
    signals: tuple[float, ...] | None
    joint: Joint
    probability: float
    """With which the mediator drew it, above 0."""
    outcome: str | None = None
    """One of `OUTCOME_NAMES`; None while it is not known."""
    cost: float | None = None
    """Cost of the executed actions, in the unit of the utilities; None: the nominal costs of the joint action."""
    context: tuple[float, ...] = ()
    """What the mediator saw beside the state, in the order of `vocabulary.FEATURES`; empty if it saw nothing or it is not known."""

    def net(self, payment: Payment) -> float | None:
        """Net utility; None while the outcome is not known."""
        if self.outcome is None:
            return None
        nominal = sum(payment.costs_of(game.ALL[NUMBER[self.joint]]))
        return payment.utilities[OUTCOME_NAMES.index(self.outcome)] - (nominal if self.cost is None else self.cost)


class Recommendations(tuple[LoggedRecommendation, ...]):
    """The recommendations of a log, in their order."""

    thresholds: Thresholds = MappingProxyType({})
    """Cut points of the signals; empty if they are not known."""


class RecommendationLog:
    """Adds to a log. For one process, numbering continues after the last entry; several processes give their own ids.

    Args:
        path: The file; made if there is none.
        thresholds: The cut points of the policy in use (`mediator.table.thresholds`).

    Raises:
        ParlourError: The file is no such log or one with other cut points, or cannot be written.
    """

    def __init__(self, path: str | Path, thresholds: Thresholds | None = None) -> None:
        stored = read_log(path) if Path(path).exists() and Path(path).stat().st_size else None
        self._known = set() if stored is None else {recommendation.id for recommendation in stored}
        cuts = {signal: (float(a), float(b)) for signal, (a, b) in (thresholds or {}).items()}
        if stored is not None and stored.thresholds != cuts:
            raise ParlourError(f"{str(path)!r} is of a policy with other signal_thresholds; accepted: a log for each")
        self._file = LineFile(path)
        if stored is None:
            self._add({"signal_thresholds": {signal: list(pair) for signal, pair in cuts.items()}})

    def recommended(self, question: str, advice: Recommendation, id: str | None = None) -> str:
        """Store what a mediator advised (`GraceMediator.advise`); returns the id that a result names."""
        number = str(len(self._known) + 1) if id is None else id
        if number in self._known:
            raise ParlourError(f"the log has a recommendation {number!r}; accepted: an id of its own for each")
        self._known.add(number)
        signals = None if advice.signals is None else _finite(advice.signals)
        values = (number, question, advice.state, signals, list(advice.joint), advice.probability)
        seen = {_CONTEXT: _finite(advice.context)} if advice.context else {}
        self._add(dict(zip(_RECOMMENDED, values, strict=True)) | seen)
        return number

    def result(self, id: str, outcome: str, cost: float | None = None) -> None:
        """Store the result of a recommendation. Raises `ParlourError` for an unknown id, outcome or cost."""
        if id not in self._known:
            raise accept("id", id, "that of a recommendation in the log")
        self._add({"id": id, "outcome": _outcome(outcome), "cost": number_or_none("cost", cost)})

    def close(self) -> None:
        """No line follows."""
        self._file.close()

    def __enter__(self) -> RecommendationLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _add(self, value: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


def read_log(path: str | Path) -> Recommendations:
    """The recommendations of a log in their order, with the results that are known. A last line that was cut off is left out.

    Raises:
        ParlourError: There is no such file, or a line is neither; the message says which line and what was wrong.
    """
    try:
        lines = Path(path).read_text("utf-8-sig").split("\n")[:-1]
    except (OSError, UnicodeDecodeError) as error:
        raise ParlourError(f"{str(path)!r} cannot be read ({error}); accepted: a log of recommendations") from None
    entries: dict[str, LoggedRecommendation] = {}
    thresholds: Thresholds = {}
    for number, line in enumerate(lines, 1):
        try:
            value = json_value(line)
            if number == 1 and isinstance(value, dict) and list(value) == ["signal_thresholds"]:
                thresholds = thresholds_of(value["signal_thresholds"])
            else:
                _take(value, entries)
        except (ParlourError, ValueError, TypeError) as error:
            raise ParlourError(f"{str(path)!r} line {number}: {error}") from None
    log = Recommendations(entries.values())
    log.thresholds = thresholds
    return log


def _take(value: Any, entries: dict[str, LoggedRecommendation]) -> None:
    if not isinstance(value, dict) or not isinstance(value.get("id"), str):
        raise ParlourError("it is not an object with an id; accepted: a recommendation or a result")
    called = value["id"]
    if "outcome" in value:
        for name in value:
            check_one_of("field of a result", name, _RESULT)
        if called not in entries:
            raise ParlourError(f"a result of {called!r}, which was not recommended before; accepted: ids above it")
        entries[called] = replace(
            entries[called], outcome=_outcome(value["outcome"]), cost=number_or_none("cost", value.get("cost"))
        )
        return
    if called in entries:
        raise ParlourError(f"{called!r} is recommended twice; accepted: an id of its own for each")
    entries[called] = _recommendation(value)


def _recommendation(value: Mapping[str, Any]) -> LoggedRecommendation:
    for name in value:
        check_one_of("field of a recommendation", name, (*_RECOMMENDED, _CONTEXT))
    missing = [name for name in ("state", "joint", "probability") if name not in value]
    if missing:
        raise ParlourError(f"it has no {missing[0]}; accepted: {', '.join(_RECOMMENDED)}")
    joint, p, signals = value["joint"], value["probability"], value.get("signals")
    if not isinstance(joint, list) or tuple(joint) not in ALL:
        raise accept("joint", joint, "actions of retriever, generator and verifier that can be done together")
    if not is_number(p) or not 0 < p <= 1:
        raise accept("probability", p, "a number above 0, up to 1")
    if signals is not None and not (isinstance(signals, list) and len(signals) == 5):
        raise accept("signals", signals, "five numbers, or null")
    raw = None if signals is None else tuple(math.nan if signal is None else float(signal) for signal in signals)
    question, context = str(value.get("question", "")), _context(value.get(_CONTEXT, []))
    state = check_state(value["state"])
    return LoggedRecommendation(value["id"], question, state, raw, tuple(joint), float(p), context=context)


def _context(stored: Any) -> tuple[float, ...]:
    lengths = {0, *map(len, game.SEEN.values())}
    if not isinstance(stored, list) or len(stored) not in lengths:
        raise accept("context", stored, f"a list of {' or '.join(map(str, sorted(lengths - {0})))} numbers")
    return tuple(math.nan if number is None else float(number) for number in stored)


def _finite(numbers: Sequence[float]) -> list[float | None]:
    """As JSON has them: null for what is no finite number."""
    return [number if math.isfinite(number) else None for number in numbers]


def _outcome(outcome: Any) -> str:
    check_one_of("outcome", outcome, OUTCOME_NAMES)
    return str(outcome)
