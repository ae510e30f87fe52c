"""Calibration: what every joint action would earn on every question, with the stages that they share computed once.

A question has at most two searches, four answers (from either evidence, by consistency, from memory), a check for each pair of
evidence and answer, and a judgement for each different answer; all joint actions are put together from these. Costs are
those of what is carried out (`parlour.envs.mediated_qa.vocabulary.executed`). The table is written as it grows, a line a
question, and resumes where a killed run stopped.
"""

from __future__ import annotations

import csv
import io
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.service import Service
from parlour.envs.mediated_qa.signals import Bins
from parlour.envs.mediated_qa.vocabulary import ALL, JOINTS, STATES, Payment, executed, outcome_of
from parlour.envs.writing import LineFile, writing
from parlour.policies.agents.mediated_qa import joint as names
from parlour.policies.llm.model import Model
from parlour.training.mediated_qa.table import UtilityTable
from parlour.training.parallel.executor import Pool, Shared, add_usage, as_finished, in_order, take_usage
from parlour.training.runs import whole_lines

SIGNAL_NAMES: Final = ("reliability", "degree", "len", "coherence", "diversity")
"""Of the cut points, as the published tables write them."""
_BLOCK: Final = 25
"""Number of questions in a task of a pool."""
_HEADER: Final = (
    "number",
    "state",
    *(names.column(joint.names) for joint in ALL),
    *(f"o{k}" for k in range(len(ALL))),
    "found_shallow",
    "found_deep",
    "confidence",
    "id",
)


@dataclass(frozen=True)
class Simulated:
    """One question under all joint actions of `vocabulary.ALL`, in that order."""

    number: int
    state: str
    utilities: tuple[float, ...]
    """Net of the costs of what is carried out."""
    outcomes: tuple[int, ...]
    """As `vocabulary.outcome_of` numbers them."""
    found: tuple[bool, bool] = (True, True)
    """Whether the shallow search found evidence, and the deep one."""
    confidence: float = 0.0
    """Of the closed-book answer, 0..1."""
    id: str = ""
    """What its file calls the question; empty for a generated one."""

    def net(self, payment: Payment) -> tuple[float, ...]:
        """The utilities as another payment has them; nothing is asked again."""
        found = (*self.found, False)  # in the order of the retriever's actions
        plans = [executed(joint, found[joint.retriever]) for joint in ALL]
        return tuple(payment.net(plan, outcome) for plan, outcome in zip(plans, self.outcomes, strict=True))


class CalibrationService(Service, Protocol):
    """A service that can also say who a question is, and how sure the reader is of its closed-book answer."""

    def id(self, number: int) -> str:
        """What its file calls a question; empty for a generated one."""

    def confidence(self, number: int) -> float:
        """Of the closed-book answer, 0..1."""


def simulate(service: CalibrationService, number: int, payment: Payment, seed: int = 0) -> Simulated:
    """One question under all joint actions; each stage is computed when a joint action first needs it."""

    @cache
    def evidence_by(action: int) -> str:
        return "" if action == vocabulary.NO_RETRIEVAL else service.retrieve(number, action)

    @cache
    def answer_by(action: int, evidence: str) -> str:
        rng = np.random.default_rng((seed, number, action))
        return "" if action == vocabulary.REFUSE else service.answer(number, action, evidence, rng)

    check, right = cache(partial(service.check, number)), cache(partial(service.right, number))
    state, known = STATES[service.ask(number).state], service.known(number)
    utilities, outcomes = [], []
    for chosen in ALL:
        evidence = evidence_by(chosen.retriever)
        plan = executed(chosen, evidence != "")
        answer = answer_by(plan.generator, evidence if plan.generator == vocabulary.FROM_EVIDENCE else "")
        checked = plan.verifier == vocabulary.CHECK and answer != ""
        answered = answer != "" and not (checked and check(evidence, answer) == vocabulary.CONTRADICTED)
        outcome = outcome_of(answered=answered, right=answered and right(answer), known=known)
        outcomes.append(outcome)
        utilities.append(payment.net(plan, outcome))
    found = evidence_by(vocabulary.SHALLOW) != "", evidence_by(vocabulary.DEEP) != ""
    sure, called = service.confidence(number), " ".join(service.id(number).split())
    return Simulated(number, state, tuple(utilities), tuple(outcomes), found, sure, called)


def calibrate(
    service: CalibrationService,
    numbers: Iterable[int],
    *,
    payment: Payment | None = None,
    seed: int = 0,
    out: Path | None = None,
    progress: Callable[[int], object] | None = None,
    pool: Pool | None = None,
    at_once: int = 1,
) -> list[Simulated]:
    """All questions under all joint actions, in the order of `numbers`.

    Args:
        service: Who retrieves, answers, checks and judges.
        numbers: The questions.
        payment: Utilities and costs; those of the published run if None.
        seed: Of what is drawn, such as the samples of consistency; each question draws on its own.
        out: A CSV file that grows by a line a question. What it holds already is not computed again.
        progress: Called after each question with the number of questions done.
        pool: Processes that simulate; the service must be picklable then. The table grows as without them.
        at_once: How many questions are simulated at once, in threads, for a reader that waits for a server. The result
            does not depend on it.

    Raises:
        ParlourError: `out` holds something else than such a table, or one that was made with another payment or seed.
    """
    payment = payment or Payment()
    stamp = f"# seed {seed}, utilities {payment.utilities}, costs {payment.costs}"
    stored = {} if out is None else read_partial(out, stamp)
    rows = []
    asked = list(numbers)
    missing = _simulated(service, [number for number in asked if number not in stored], payment, seed, pool, at_once)
    with _growing(out, stamp) as add:
        for done, number in enumerate(asked, 1):
            row = stored.get(number)
            if row is None:
                row = next(missing)
                add(row)
            rows.append(row)
            if progress is not None:
                progress(done)
    return rows


def _simulated(
    service: CalibrationService, numbers: Sequence[int], payment: Payment, seed: int, pool: Pool | None, at_once: int
) -> Iterator[Simulated]:
    """The questions in their order."""
    if pool is None and at_once > 1:
        yield from _in_threads([partial(simulate, service, number, payment, seed) for number in numbers], at_once)
    elif pool is None:
        for number in numbers:
            yield simulate(service, number, payment, seed)
    elif numbers:
        shared = pool.share((service, pool.model))
        pieces = [numbers[k : k + _BLOCK] for k in range(0, len(numbers), _BLOCK)]
        calls = ((shared, piece, payment, seed) for piece in pieces)
        for rows, usage in in_order(as_finished(pool, _simulate_block, calls)):
            add_usage(pool.model, usage)
            yield from rows


def _in_threads(calls: Sequence[Callable[[], Simulated]], most: int) -> Iterator[Simulated]:
    """The results in order; `most` calls are under way at once, and as many may be ahead of the first that is not done."""
    waiting, under_way = iter(calls), deque[Future[Simulated]]()
    with ThreadPoolExecutor(most, "questions") as threads:
        try:
            for call in waiting:
                under_way.append(threads.submit(call))
                if len(under_way) == 2 * most:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:  # an error, or nobody asks for more: what is not begun is given up
            for one in under_way:
                one.cancel()


def _simulate_block(
    shared: Shared[tuple[CalibrationService, Model | None]], numbers: Sequence[int], payment: Payment, seed: int
) -> tuple[list[Simulated], Any]:
    """Called in the processes of a pool; with what the model used."""
    service, model = shared.get()
    take_usage(model)  # of a block that was given up
    return [simulate(service, number, payment, seed) for number in numbers], take_usage(model)


def table(rows: Sequence[Simulated], joint: str = "published", bins: Bins | None = None) -> UtilityTable:
    """The simulation table of these questions, with the columns of `joint`: `"published"` or `"all"`.

    Raises:
        ParlourError: There are no rows.
    """
    offered = JOINTS[joint]
    utilities = np.array([row.utilities for row in rows], dtype=np.float64).reshape(len(rows), len(ALL))
    chosen = utilities[:, [ALL.index(one) for one in offered]]
    cuts = {} if bins is None else dict(zip(SIGNAL_NAMES, bins.cuts, strict=True))
    ids, states = tuple(row.id or str(row.number) for row in rows), tuple(row.state for row in rows)
    return UtilityTable(ids, states, tuple(one.names for one in offered), chosen, cuts)


# -- the partial table -----------------------------------------------------------------------------------------


def read_partial(path: Path, stamp: str) -> dict[int, Simulated]:
    """The whole lines of a partial table, by question; nothing if there is no file. An unfinished last line is cut off.

    Raises:
        ParlourError: The file is no such table, or is stamped otherwise.
    """
    head = [stamp, ",".join(_HEADER)]

    def read(lines: list[str]) -> dict[int, Simulated]:
        if lines[:2] != head[: len(lines)]:
            raise ParlourError(f"{str(path)!r} is not a table of this run; accepted: one that begins with {stamp!r}")
        rows = (_row(path, at, cells) for at, cells in enumerate(csv.reader(lines[2:]), 3))
        return {row.number: row for row in rows}

    found = whole_lines(path, read)
    if not found and path.exists():  # a head, or a part of it
        with writing(path):
            os.truncate(path, 0)
    return found


def numbers_in(path: Path | None) -> set[int]:
    """The questions of a partial table, which is left as it is; none if there is no such table."""
    if path is None or not path.exists():
        return set()
    lines = path.read_text("utf-8").split("\n")[2:-1]  # a last line that was not finished does not count
    return {int(first) for first in (line.partition(",")[0] for line in lines) if first.isdigit()}


def _row(path: Path, line: int, cells: Sequence[str]) -> Simulated:
    count = len(ALL)
    try:
        number, state = int(cells[0]), names.check_state(cells[1])
        utilities, outcomes = tuple(map(float, cells[2 : 2 + count])), tuple(map(int, cells[2 + count : 2 + 2 * count]))
        shallow, deep, sure, called = cells[2 + 2 * count :] if len(cells) == len(_HEADER) else ("0", "0", "0", "")
        found, confidence = (bool(int(shallow)), bool(int(deep))), float(sure)
    except (ValueError, IndexError) as error:
        raise ParlourError(f"{str(path)!r} line {line} is no row of a table: {error}") from None
    if len(cells) != len(_HEADER):
        raise ParlourError(f"{str(path)!r} line {line} has {len(cells)} cells; accepted: {len(_HEADER)}")
    return Simulated(number, state, utilities, outcomes, found, confidence, called)


@contextmanager
def _growing(path: Path | None, stamp: str) -> Iterator[Callable[[Simulated], None]]:
    """Adds a row to a partial table, and before the first one its head; to none, nothing."""
    if path is None:
        yield lambda _row: None
        return
    with closing(LineFile(path)) as file:
        if path.stat().st_size == 0:
            file.write(f"{stamp}\n{','.join(_HEADER)}\n")
        yield lambda row: file.write(_line(row))


def _line(row: Simulated) -> str:
    text, found = io.StringIO(), map(int, row.found)
    cells = (row.number, row.state, *row.utilities, *row.outcomes, *found, row.confidence, row.id)
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
