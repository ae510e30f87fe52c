"""Calibration: what every joint action would earn on every question, with the stages that they share computed once.

A question has at most two searches, four answers (from either evidence, by consistency, from memory), a check for each pair of
evidence and answer, and a judgement for each different answer; all joint actions are put together from these. Costs are the costs
of the executed actions (`parlour.envs.mediated_qa.actions.ActionSet.executed`). A service that knows other actions is put under
theirs. The table is written as it grows, a line a question, and resumes where a killed run stopped.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from parlour.envs.common.writing import LineFile, writing
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.actions import PUBLISHED_ACTIONS, ActionSet
from parlour.envs.mediated_qa.service import Service, actions_of, seen_evidence, verdict_of
from parlour.envs.mediated_qa.signals import Bins
from parlour.envs.mediated_qa.vocabulary import STATES, Payment, outcome_of
from parlour.policies.agents.mediated_qa import joint as names
from parlour.policies.agents.mediated_qa.policy_file import SIGNAL_NAMES
from parlour.policies.llm.model import Model
from parlour.training.learn.mediators.table import UtilityTable
from parlour.training.play.parallel.executor import Shared, add_usage, as_finished, in_order, take_usage
from parlour.training.play.runner import ONE_AT_A_TIME, GameRunner
from parlour.training.runs.folder import whole_lines
from parlour.training.runs.progress import Stage

_BLOCK: Final = 25
"""Number of questions in a task of a pool."""
_FOUND: Final = {"retrieve_shallow": "found_shallow", "retrieve_deep": "found_deep"}


@dataclass(frozen=True)
class Simulated:
    """One question under all joint actions of `vocabulary.ALL`, or of another action set's `all`, in that order."""

    number: int
    state: str
    utilities: tuple[float, ...]
    """Net of the costs of what is carried out."""
    outcomes: tuple[int, ...]
    """As `vocabulary.outcome_of` numbers them."""
    found: tuple[bool, ...] = (True, True)
    """Whether the shallow search found evidence, and the deep one; or each search of another action set, in its order."""
    confidence: float = 0.0
    """Confidence of the closed-book answer, 0..1."""
    id: str = ""
    """What its file calls the question; empty for a generated one."""
    answers: tuple[str, ...] = ()
    """The answer of each joint action before any check, empty for none; () if they are not known."""

    def net(self, payment: Payment, actions: ActionSet = PUBLISHED_ACTIONS) -> tuple[float, ...]:
        """The utilities as another payment has them; nothing is asked again."""
        retrieved = dict(zip(_searches(actions), self.found, strict=True))
        plans = [actions.executed(joint, retrieved.get(joint.retriever, False)) for joint in actions.all]
        return tuple(payment.net(plan, outcome) for plan, outcome in zip(plans, self.outcomes, strict=True))


class CalibrationService(Service, Protocol):
    """A service that can also say who a question is, and how sure the reader is of its closed-book answer."""

    def id(self, number: int) -> str:
        """What its file calls a question; empty for a generated one."""

    def confidence(self, number: int) -> float:
        """Confidence of the closed-book answer, 0..1."""


def simulate(service: CalibrationService, number: int, payment: Payment, seed: int = 0) -> Simulated:
    """One question under all joint actions; each stage is computed when a joint action first needs it."""
    actions, sure = actions_of(service), service.confidence(number)

    @cache
    def evidence_by(action: int) -> str:
        return service.retrieve(number, action) if actions.searches(action) else ""

    @cache
    def answer_by(action: int, evidence: str) -> str:
        rng = np.random.default_rng((seed, number, action))
        if actions.refuses(action):
            return ""
        return service.answer(number, action, evidence, rng)

    @cache
    def check(action: int, evidence: str, answer: str) -> int:
        return verdict_of(service, actions, number, action, evidence, answer)

    right = cache(partial(service.right, number))
    state, known = STATES[service.ask(number).state], service.known(number)
    utilities, outcomes, answers = list[float](), list[int](), list[str]()
    for chosen in actions.all:
        evidence = evidence_by(chosen.retriever)
        plan = actions.executed(chosen, evidence != "")
        answer = answer_by(plan.generator, seen_evidence(service, actions, plan.generator, evidence))
        checked = actions.checks(plan.verifier) and answer != ""
        contradicted = checked and check(plan.verifier, evidence, answer) == vocabulary.CheckVerdict.CONTRADICTED
        answered = answer != "" and not contradicted
        outcome = outcome_of(answered=answered, right=answered and right(answer), known=known)
        outcomes.append(outcome)
        answers.append(answer)
        utilities.append(payment.net(plan, outcome))
    retrieved = tuple(evidence_by(action) != "" for action in _searches(actions))
    called = " ".join(service.id(number).split())
    return Simulated(number, state, tuple(utilities), tuple(outcomes), retrieved, sure, called, tuple(answers))


def _searches(actions: ActionSet) -> list[int]:
    """The retriever's actions that look for evidence."""
    return [k for k in range(len(actions.retriever)) if actions.searches(k)]


def calibrate(
    service: CalibrationService,
    numbers: Iterable[int],
    *,
    payment: Payment | None = None,
    seed: int = 0,
    out: Path | None = None,
    runner: GameRunner = ONE_AT_A_TIME,
) -> list[Simulated]:
    """All questions under all joint actions, in the order of `numbers`.

    Args:
        service: Who retrieves, answers, checks and judges.
        numbers: The questions.
        payment: Utilities and costs; None: the published run's, or the costs of the service's own actions.
        seed: Seed of all draws, such as the samples of consistency; each question draws on its own.
        out: A CSV file that grows by a line a question. What it holds already is not computed again.
        runner: Its processes simulate, and the service must be picklable then; or its workers, in threads, for a reader that
            waits for a server. The table grows as without them.

    Raises:
        ParlourError: `out` holds no simulation table, or a table of another payment or seed.
    """
    actions = actions_of(service)
    payment = payment or actions.payment()
    stamp = f"# seed {seed}, utilities {payment.utilities}, costs {payment.costs}"
    stored = {} if out is None else read_partial(out, stamp, actions)
    rows = []
    asked = list(numbers)
    missing = _simulated(service, [number for number in asked if number not in stored], payment, seed, runner)
    with _growing(out, stamp, actions) as add:
        for number in Stage("Calibrating", len(asked), "questions").counted(asked, runner.progress):
            row = stored.get(number)
            if row is None:
                row = next(missing)
                add(row)
            rows.append(row)
    return rows


def _simulated(
    service: CalibrationService, numbers: Sequence[int], payment: Payment, seed: int, runner: GameRunner
) -> Iterator[Simulated]:
    """The questions in their order."""
    pool = runner.pool
    if pool is None:
        calls = [partial(simulate, service, number, payment, seed) for number in numbers]
        yield from _in_threads(calls, runner.workers) if runner.workers > 1 else (call() for call in calls)
    elif numbers:
        shared = pool.share((service, pool.model))
        pieces = [numbers[k : k + _BLOCK] for k in range(0, len(numbers), _BLOCK)]
        blocks = ((shared, piece, payment, seed) for piece in pieces)
        for rows, usage in in_order(as_finished(pool, _simulate_block, blocks)):
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
            for future in under_way:
                future.cancel()


def _simulate_block(
    shared: Shared[tuple[CalibrationService, Model | None]], numbers: Sequence[int], payment: Payment, seed: int
) -> tuple[list[Simulated], Any]:
    """Called in the processes of a pool; with what the model used."""
    service, model = shared.get()
    take_usage(model)  # of a block that was given up
    return [simulate(service, number, payment, seed) for number in numbers], take_usage(model)


def table(
    rows: Sequence[Simulated],
    joint: str = "published",
    bins: Bins | None = None,
    actions: ActionSet = PUBLISHED_ACTIONS,
    costs: tuple[float, ...] | None = None,
) -> UtilityTable:
    """The simulation table of these questions, with the columns of `joint`: `"published"` or `"all"`; `costs` of the actions, if
    they differ from `actions`.

    Raises:
        ParlourError: There are no rows.
    """
    offered, every = actions.joints(joint), actions.all
    utilities = np.array([row.utilities for row in rows], dtype=np.float64).reshape(len(rows), len(every))
    chosen = utilities[:, [every.index(joint) for joint in offered]]
    cuts = {} if bins is None else dict(zip(SIGNAL_NAMES, bins.cuts, strict=True))
    ids, states = tuple(row.id or str(row.number) for row in rows), tuple(row.state for row in rows)
    return UtilityTable(ids, states, tuple(map(actions.names_of, offered)), chosen, cuts, actions, costs)


def paid(rows: Sequence[Simulated], payment: Payment) -> tuple[Simulated, ...]:
    """The same questions with the net utilities of another payment; nothing is asked again."""
    return tuple(replace(row, utilities=row.net(payment)) for row in rows)


# -- the partial table -----------------------------------------------------------------------------------------


def _header(actions: ActionSet) -> list[str]:
    searches = [actions.retriever[k].name for k in _searches(actions)]
    utilities = [names.column(actions.names_of(joint)) for joint in actions.all]
    outcomes = [f"o{k}" for k in range(len(actions.all))]
    columns = [_FOUND.get(name, f"found_{name}") for name in searches]
    return ["number", "state", *utilities, *outcomes, *columns, "confidence", "id", "answers"]


def read_partial(path: Path, stamp: str, actions: ActionSet = PUBLISHED_ACTIONS) -> dict[int, Simulated]:
    """The whole lines of a partial table, by question; nothing if there is no file. An unfinished last line is cut off.

    Raises:
        ParlourError: The file is no such table, or is stamped otherwise.
    """
    head = [stamp, ",".join(_header(actions))]

    def read(lines: list[str]) -> dict[int, Simulated]:
        if lines[:2] != head[: len(lines)]:
            raise ParlourError(f"{str(path)!r} is not a table of this run; accepted: a file that begins with {stamp!r}")
        rows = (_row(path, at, cells, actions) for at, cells in enumerate(csv.reader(lines[2:]), 3))
        return {row.number: row for row in rows}

    stored = whole_lines(path, read)
    if not stored and path.exists():  # a head, or a part of it
        with writing(path):
            os.truncate(path, 0)
    return stored


def numbers_in(path: Path | None) -> set[int]:
    """The questions of a partial table, which is left as it is; none if there is no such table."""
    if path is None or not path.exists():
        return set()
    lines = path.read_text("utf-8").split("\n")[2:-1]  # a last line that was not finished does not count
    return {int(first) for first in (line.partition(",")[0] for line in lines) if first.isdigit()}


def _row(path: Path, line: int, cells: Sequence[str], actions: ActionSet) -> Simulated:
    count, width = len(actions.all), len(_header(actions))
    try:
        number, state = int(cells[0]), names.check_state(cells[1])
        utilities, outcomes = tuple(map(float, cells[2 : 2 + count])), tuple(map(int, cells[2 + count : 2 + 2 * count]))
        *searched, sure, called, listed = cells[2 + 2 * count :] if len(cells) == width else ("0", "", "[]")
        retrieved, confidence = tuple(bool(int(cell)) for cell in searched), float(sure)
        answers = tuple(map(str, json.loads(listed)))
    except (ValueError, IndexError, TypeError) as error:
        raise ParlourError(f"{str(path)!r} line {line} is not a row of a table: {error}") from None
    if len(cells) != width:
        raise ParlourError(f"{str(path)!r} line {line} has {len(cells)} cells; accepted: {width}")
    return Simulated(number, state, utilities, outcomes, retrieved, confidence, called, answers)


@contextmanager
def _growing(path: Path | None, stamp: str, actions: ActionSet) -> Iterator[Callable[[Simulated], None]]:
    """Adds a row to a partial table, and before the first one its head; to none, nothing."""
    if path is None:
        yield lambda _row: None
        return
    with closing(LineFile(path)) as file:
        if path.stat().st_size == 0:
            file.write(f"{stamp}\n{','.join(_header(actions))}\n")

        def add(row: Simulated) -> None:
            text, retrieved = io.StringIO(), map(int, row.found)
            cells = (row.number, row.state, *row.utilities, *row.outcomes, *retrieved, row.confidence, row.id)
            csv.writer(text, lineterminator="\n").writerow((*cells, json.dumps(row.answers)))
            file.write(text.getvalue())

        yield add
