"""The simulation table: what each joint action earned on each calibration question.

Two forms are read, both of the published run of GRACE: CSV (`id`, `state`, and one column of net utilities for each joint
action, such as `u_shallow_gen_nli`) and the JSON list it was made from. An empty cell, or null, is an action that was not
tried on that question. Written is CSV.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from parlour.envs.common.json_values import json_value
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.policies.agents.mediated_qa.joint import Joint, check_state, column, from_column, from_key

LARGEST: Final = 1e100
"""Largest size of a utility, so that squares and sums stay finite."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class UtilityTable:
    """Utilities of joint actions on questions.

    Raises:
        ParlourError: The parts do not fit, hold unknown names or unusable numbers, or there is no utility at all.
    """

    ids: tuple[str, ...]
    """Ids of the questions; a question that was executed several times has several rows."""
    states: tuple[str, ...]
    """State of each question."""
    actions: tuple[Joint, ...]
    utilities: Floats
    """Net utilities, shape (questions, actions); NaN where an action was not tried."""
    thresholds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Cut points of the signals that gave the states, if they are known."""
    action_set: ActionSet = PUBLISHED_ACTIONS
    """What the modules may do."""
    costs: tuple[float, ...] | None = None
    """What the actions cost, in the order of `action_set.costs`; None for these."""

    def __post_init__(self) -> None:
        shape = (len(self.ids), len(self.actions))
        if self.utilities.shape != shape or len(self.states) != len(self.ids):
            raise ParlourError(f"utilities of shape {self.utilities.shape}; accepted: (questions, actions) {shape}")
        if len(set(self.actions)) < len(self.actions):
            raise ParlourError("an action stands twice in a table; accepted: each once")
        for state in set(self.states):
            check_state(state)
        if np.isnan(self.utilities).all():
            raise ParlourError("a table without any utility; accepted: at least one row with one utility")
        if not np.all(np.abs(self.utilities[~np.isnan(self.utilities)]) <= LARGEST):
            raise ParlourError(f"a utility that is not finite; accepted: numbers up to {LARGEST:g} in size")

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, chosen: Sequence[int] | NDArray[np.intp]) -> UtilityTable:
        """The table with these rows only, in this order."""
        picked = np.asarray(chosen, dtype=np.intp)
        names = [(self.ids[k], self.states[k]) for k in picked]
        ids, states = zip(*names, strict=True) if names else ((), ())
        return replace(self, ids=ids, states=states, utilities=self.utilities[picked])

    def dumps(self) -> str:
        """The table as CSV. Numbers are written so that they are read back exactly."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(("id", "state", *(column(joint) for joint in self.actions)))
        for name, state, row in zip(self.ids, self.states, self.utilities.tolist(), strict=True):
            writer.writerow((name, state, *("" if math.isnan(u) else _shortest(u) for u in row)))
        return text.getvalue()


def read(path: str | Path, actions: ActionSet = PUBLISHED_ACTIONS) -> UtilityTable:
    """Read a table over these actions, as JSON if the name ends in `.json`, else as CSV.

    Raises:
        ParlourError: There is no such file, or it holds no such table; the message says what was wrong and where.
    """
    try:
        text = Path(path).read_text("utf-8-sig")
    except FileNotFoundError:
        raise ParlourError(f"there is no table {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ParlourError(f"table {str(path)!r} cannot be read: {error}") from None
    try:
        return (from_json if Path(path).suffix == ".json" else from_csv)(text, actions)
    except ParlourError as error:
        raise ParlourError(f"table {str(path)!r}: {error}") from None


def from_csv(text: str, actions: ActionSet = PUBLISHED_ACTIONS) -> UtilityTable:
    """Read a table in CSV. Raises `ParlourError` as `read` does; the heading is line 1."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        lines = [(reader.line_num, line) for line in reader if any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise ParlourError(f"it is not CSV: {error}") from None
    if not lines:
        raise ParlourError("it is empty; accepted: a heading id, state, u_..., and one row for each question")
    heading = [cell.strip() for cell in lines[0][1]]
    if heading[:2] != ["id", "state"] or len(heading) < 3:
        raise ParlourError(f"heading {','.join(heading)[:80]!r}; accepted: id, state, and columns u_...")
    joints = tuple(from_column(cell, actions) for cell in heading[2:])
    if len(lines) == 1:
        raise ParlourError("it has no rows; accepted: one for each question")
    rows = [_row(f"line {number}", line, len(heading)) for number, line in lines[1:]]
    ids, states, utilities = zip(*rows, strict=True)
    return UtilityTable(ids, states, joints, np.array(utilities, dtype=np.float64), action_set=actions)


def from_json(text: str, actions: ActionSet = PUBLISHED_ACTIONS) -> UtilityTable:
    """Read a table in the JSON shape of the published run. Raises `ParlourError` as `read` does."""
    try:
        stored = json_value(text, finite=False)
    except ValueError as error:
        raise ParlourError(f"it is not JSON: {error}") from None
    if not isinstance(stored, list) or not stored:
        raise ParlourError("it is not a list of questions; accepted: [{id, signal_bin, action_utilities}, ...]")
    questions = [_question(f"question {number}", entry, actions) for number, entry in enumerate(stored, 1)]
    joints = list(dict.fromkeys(joint for _, _, by_joint, _ in questions for joint in by_joint))
    if len({json.dumps(cuts) for _, _, _, cuts in questions}) > 1:
        raise ParlourError("its questions have different signal_thresholds; accepted: the same for all")
    ids, states, rows, cuts = zip(*questions, strict=True)
    utilities = np.array([[row.get(joint, math.nan) for joint in joints] for row in rows], dtype=np.float64)
    return UtilityTable(ids, states, tuple(joints), utilities, cuts[0], actions)


def _row(where: str, line: list[str], width: int) -> tuple[str, str, list[float]]:
    if len(line) != width:
        raise ParlourError(f"{where} has {len(line)} cells; accepted: {width}, as the heading")
    name, state, *cells = (cell.strip() for cell in line)
    try:
        check_state(state)
    except ParlourError as error:
        raise ParlourError(f"{where}: {error}") from None
    return name, state, [math.nan if cell == "" else _utility(where, cell) for cell in cells]


def _question(
    where: str, entry: Any, actions: ActionSet
) -> tuple[str, str, dict[Joint, float], dict[str, tuple[float, float]]]:
    try:
        name, state, utilities_by_key = entry["id"], entry["signal_bin"], entry["action_utilities"].items()
        cuts = {signal: (float(a), float(b)) for signal, (a, b) in (entry.get("signal_thresholds") or {}).items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        accepted = "accepted: id, signal_bin, action_utilities, and signal_thresholds or none"
        raise ParlourError(f"{where} cannot be read; {accepted}") from None
    try:
        utilities = {
            from_key(key, actions): math.nan if u is None else _utility(where, u) for key, u in utilities_by_key
        }
        return str(name), check_state(state), utilities, cuts
    except ParlourError as error:
        raise ParlourError(f"{where}: {error}" if where not in str(error) else str(error)) from None


def _utility(where: str, cell: Any) -> float:
    try:
        utility = math.nan if isinstance(cell, bool) else float(cell)
    except (TypeError, ValueError, OverflowError):
        utility = math.nan
    if not abs(utility) <= LARGEST:  # NaN too
        accepted = f"a number up to {LARGEST:g} in size, or an empty cell"
        raise ParlourError(f"{where}: {accept('utility', cell, accepted)}")
    return utility


def _shortest(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
