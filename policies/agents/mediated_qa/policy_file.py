"""The file of a mediator's policy: JSON in the shape that the published run of GRACE left.

{"policy": {state: {joint action: probability}}, "signal_thresholds": {signal: [low cut, high cut]}, "temperature": number,
"min_prob_floor": number, "reader": words}. Temperature and floor are null for a policy that was not made by quantal response;
"reader" says who answered when it was learned, and is not there where that is not told.
A policy that sees more than the state has one entry more, "contextual": the numbers of its models (`contextual`), in one line.
A policy over other actions than the published ones has them as "actions", as `ActionSet.plain` tells them.
A policy of `train grace` has "usable", true or false, and "verdict", the result in words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.settings import Accepts, Settings
from parlour.policies.agents.mediated_qa.contextual import ContextualModel, contextual_model
from parlour.policies.agents.mediated_qa.joint import Joint, check_state, from_key, key
from pydantic import AfterValidator, Field

TOLERANCE: Final = 1e-6
"""How far the probabilities of a row may sum from one."""
SIGNAL_NAMES: Final = ("reliability", "degree", "len", "coherence", "diversity")
"""Names of the thresholds, as in the published tables."""
Row = Mapping[Joint, float]
Thresholds = Mapping[str, tuple[float, float]]


def _ascending(cuts: tuple[float, float]) -> tuple[float, float]:
    if cuts[0] > cuts[1]:
        raise accept("signal_thresholds", list(cuts), "the lower cut first")
    return cuts


_Cuts = Annotated[tuple[float, float], AfterValidator(_ascending)]
_FromZero = Annotated[float, Field(ge=0)]


class _Entries(Settings):
    """The entries of a file."""

    called = "entry"
    policy: Annotated[Mapping[str, Mapping[str, float]], Accepts("an object {state: {action: a number from 0 to 1}}")]
    """State -> joint action -> probability."""
    signal_thresholds: Annotated[
        Mapping[str, _Cuts] | None, Accepts("an object {signal: [low cut, high cut]}, the lower one first")
    ] = None
    """Signal -> the two cut points between its three bins."""
    temperature: _FromZero | None = None
    """In units of utility."""
    min_prob_floor: _FromZero | None = None
    """Least probability of an action."""
    reader: str = ""
    """Who answered when the policy was learned."""
    contextual: Any = None
    """Coefficients of a policy that sees the question."""
    actions: ActionSet = PUBLISHED_ACTIONS
    """What each module may do."""
    usable: Annotated[bool | None, Accepts("true, false or null")] = None
    """Whether the held-out questions speak for the policy."""
    verdict: str = ""
    """The same in words."""


@dataclass(frozen=True)
class PolicyTable:
    """What to recommend in each state."""

    rows: Mapping[str, Row]
    """State -> joint action -> probability."""
    thresholds: Thresholds = field(default_factory=dict)
    """Signal -> the two cut points between its three bins; empty if they are not known."""
    temperature: float | None = None
    """In units of utility."""
    floor: float | None = None
    """Least probability of an action."""
    reader: str = ""
    """Who answered when it was learned, such as "simulated memory"; empty if it is not told."""
    contextual: ContextualModel | None = None
    """What is recommended instead of the rows by a mediator that sees more than the state."""
    actions: ActionSet = PUBLISHED_ACTIONS
    """What the modules may do."""
    usable: bool | None = None
    """Whether it earned more than the best static policy on held-out questions; None if it was not tested."""
    verdict: str = ""
    """The result of that test in words; empty if it was not tested."""

    @property
    def fallback(self) -> Joint:
        """What is recommended in a state without a row."""
        return self.actions.names_of(self.actions.fallback)

    def __post_init__(self) -> None:
        if self.contextual is not None and self.actions != PUBLISHED_ACTIONS:
            raise ParlourError("a contextual policy has the published actions only; accepted: no actions of its own")
        for state, row in self.rows.items():
            check_state(state)
            _check_row(state, row)

    def check_by_state(self, what: str) -> None:
        """Raise `ParlourError` if it sees more than the state, where only states are known."""
        if self.contextual is not None:
            raise ParlourError(
                f"{what} knows states alone, and this policy sees the {self.contextual.sees}; accepted: a table"
            )

    def dumps(self) -> str:
        """The text of the file."""
        entries: dict[str, Any] = {
            "policy": {state: {key(joint): p for joint, p in row.items()} for state, row in self.rows.items()},
            "signal_thresholds": {signal: list(cuts) for signal, cuts in self.thresholds.items()},
            "temperature": self.temperature,
            "min_prob_floor": self.floor,
        }
        entries |= {"reader": self.reader} if self.reader else {}
        entries |= {} if self.usable is None else {"usable": self.usable, "verdict": self.verdict}
        if self.actions != PUBLISHED_ACTIONS:
            entries["actions"] = self.actions.plain()
        text = json.dumps(entries, indent=2, allow_nan=False)
        if self.contextual is not None:
            models = json.dumps(self.contextual.as_json(), allow_nan=False, separators=(",", ":"))
            text = f'{text[:-2]},\n  "contextual": {models}\n}}'
        return text + "\n"


def read(path: str | Path) -> PolicyTable:
    """Read a policy; only `"policy"` must be there.

    Raises:
        ParlourError: There is no such file, it has another shape, an unknown state or action, or a row of it is no
            probability distribution.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
    except FileNotFoundError:
        raise ParlourError(f"there is no policy file {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ParlourError(
            f"{str(path)!r} cannot be read ({error}); accepted: a policy.json of `train grace`"
        ) from None
    try:
        return loads(text)
    except ParlourError as error:
        raise ParlourError(f"{str(path)!r}: {error}") from None


def loads(text: str) -> PolicyTable:
    """Read the text of a policy file. Raises `ParlourError` as `read` does."""
    try:
        stored = json_value(text, _no_name_twice, finite=False)
    except ValueError as error:
        if isinstance(error, ParlourError):
            raise
        raise ParlourError(f"it holds no JSON ({error}); accepted: a policy.json of `train grace`") from None
    if not isinstance(stored, dict) or not isinstance(stored.get("policy"), dict):
        raise ParlourError("it holds no policy; accepted: an object with policy: {state: {action: probability}}")
    entries = _Entries.from_plain(stored)
    return PolicyTable(
        {
            state: {from_key(name, entries.actions): p for name, p in row.items()}
            for state, row in entries.policy.items()
        },
        entries.signal_thresholds or {},
        entries.temperature,
        entries.min_prob_floor,
        entries.reader,
        None if entries.contextual is None else contextual_model(entries.contextual),
        entries.actions,
        entries.usable,
        entries.verdict,
    )


def _check_row(state: str, row: Row) -> None:
    if not row:
        raise ParlourError(f"state {state} has no actions; accepted: at least one, or no row (the fallback is used)")
    for joint, p in row.items():
        if not 0 <= p <= 1:  # NaN too
            raise accept(f"probability of {key(joint)} in {state}", p, "a number from 0 to 1")
    total = math.fsum(row.values())
    if abs(total - 1) > TOLERANCE:
        raise ParlourError(f"the probabilities of state {state} sum to {total:.9g}; accepted: 1")


def _no_name_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    no_name_twice = dict(pairs)
    if len(no_name_twice) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ParlourError(f"{twice!r} stands twice in one object; accepted: once")
    return no_name_twice
