"""Costs of the modules' actions: as a user writes them, or from their use in a calibration (tokens read and written, seconds).

An action is measured each time that it is carried out, its questions to a model included. A reply from the cache counts with the
tokens that it took when it was asked; the cache stores no times, so the action counts for the tokens and not for the seconds. The
closed-book answer is asked once for all that it is needed for, and is charged to the action that gives it.
What is measured grows with the table, a line for each question and action, and is kept when a run is killed.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.policies.agents.mediated_qa.joint import COSTS
from parlour.policies.files import atomic_write
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.meter import heard_by
from parlour.policies.llm.transport.request import NO_USAGE, Completion
from parlour.training.results.runs import whole_lines, write_csv


def stated(text: str | None) -> tuple[float, ...]:
    """The costs of the nine actions, in the order of `joint.COSTS`; those that are not named are the published run's.

    >>> stated("retrieve_deep=4,run_nli_check=0.5")
    (1.0, 4.0, 0.0, 2.0, 5.0, 2.0, 0.0, 0.5, 0.0)

    Raises:
        ParlourError: There are neither nine numbers nor names with numbers.
    """
    refused = accept("costs", text, f"{len(COSTS)} numbers, or NAME=NUMBER")
    parts = [part.strip() for part in (text or "").split(",") if part.strip()]
    named = [part.partition("=") for part in parts if "=" in part]
    if len(parts) != (len(named) if named or not parts else len(COSTS)):
        raise refused
    for name, _, _ in named:
        check_one_of("costs", name, COSTS)
    try:
        if parts and not named:
            return tuple(map(float, parts))
        return tuple((dict(COSTS) | {name: float(value) for name, _, value in named}).values())
    except ValueError:
        raise refused from None


USAGE: Final = "usage.csv"
"""Means of a calibration, in its folder."""
FREE: Final = ("skip_retrieval", "refuse_to_generate", "skip_check")
"""Actions that do nothing."""
_HEADING: Final = ("action", "n", "prompt", "completion", "n_seconds", "seconds")
_PARTIAL_HEADING: Final = f"number,{','.join(_HEADING)}\n"
_MILLION: Final = 1_000_000


@dataclass(frozen=True)
class ActionUsage:
    """Sums over the times that an action was carried out."""

    n: int = 0
    prompt: float = 0.0
    """Tokens read; NaN where a server does not say."""
    completion: float = 0.0
    """Tokens written."""
    timed: int = 0
    """Of `n`, those without a reply from the cache."""
    seconds: float = field(default=0.0, compare=False)
    """Seconds of these calls."""

    def __add__(self, other: ActionUsage) -> ActionUsage:
        tokens = self.prompt + other.prompt, self.completion + other.completion
        return ActionUsage(self.n + other.n, *tokens, self.timed + other.timed, self.seconds + other.seconds)


class Tally:
    """Measures the actions of one question, in one thread."""

    def __init__(self) -> None:
        self.usage: dict[str, ActionUsage] = {}

    @contextmanager
    def of(self, action: str) -> Iterator[None]:
        """Charge an action with what happens meanwhile."""
        replies: list[Completion] = []
        with heard_by(replies.append):
            begun = perf_counter()
            yield
            seconds = perf_counter() - begun
        unknown = any(NO_USAGE in reply.dropped for reply in replies)
        prompt = math.nan if unknown else sum(reply.usage.prompt for reply in replies)
        completion = math.nan if unknown else sum(reply.usage.completion for reply in replies)
        timed = not any(reply.cached for reply in replies)
        used = ActionUsage(1, prompt, completion, int(timed), seconds if timed else 0.0)
        self.usage[action] = self.usage.get(action, ActionUsage()) + used


# -- files -----------------------------------------------------------------------------------------------------


def beside(table: Path) -> Path:
    """The file that grows beside a partial table.

    >>> beside(Path("partial.csv")).name
    'partial_usage.csv'
    """
    return table.with_name(f"{table.stem}_usage.csv")


Questions = dict[int, dict[str, ActionUsage]]
"""Number of a question -> action -> what it used."""


def lines_of(number: int, usage: Mapping[str, ActionUsage]) -> str:
    """A question's lines of the growing file."""
    return "".join(
        f"{number},{action},{used.n},{used.prompt:g},{used.completion:g},{used.timed},{used.seconds:.6f}\n"
        for action, used in sorted(usage.items())
    )


def resume(path: Path, kept: Iterable[int]) -> None:
    """Leave what was measured of these questions; what the file holds of others is taken out of it, they are measured again.

    Raises:
        ParlourError: The file is damaged.
    """
    stored, wanted = _read(path), set(kept)
    wanted_usage = {number: used for number, used in stored.items() if number in wanted}
    if wanted_usage != stored or not stored:
        atomic_write(path, _PARTIAL_HEADING + "".join(lines_of(number, used) for number, used in wanted_usage.items()))


def _read(path: Path) -> Questions:
    def read(lines: list[str]) -> Questions:
        questions: Questions = {}
        try:
            for number, action, *numbers in csv.reader(lines[1:]):
                n, prompt, completion, timed, seconds = numbers
                usage = ActionUsage(int(n), float(prompt), float(completion), int(timed), float(seconds))
                questions.setdefault(int(number), {})[action] = usage
        except (ValueError, TypeError) as error:
            raise ParlourError(f"{str(path)!r} holds no usage ({error}); accepted: what a calibration left") from None
        return questions

    return whole_lines(path, read)


def total(questions: Questions) -> dict[str, ActionUsage]:
    """Sums by action, in the order of the actions' names."""
    sums: dict[str, ActionUsage] = {}
    for _, used in sorted(questions.items()):
        for action, usage in sorted(used.items()):
            sums[action] = sums.get(action, ActionUsage()) + usage
    order = {action: k for k, action in enumerate(COSTS)}
    return dict(sorted(sums.items(), key=lambda item: (order.get(item[0], len(order)), item[0])))


def store_means(partial: Path, path: Path) -> None:
    """Write the means of what a growing file holds: tokens read and written, seconds; empty where nothing is known."""
    rows: list[list[Any]] = []
    for action, usage in total(_read(partial)).items():
        tokens = ["" if math.isnan(tokens) else tokens / usage.n for tokens in (usage.prompt, usage.completion)]
        rows.append([action, usage.n, *tokens, usage.timed, usage.seconds / usage.timed if usage.timed else ""])
    write_csv(path, _HEADING, rows)


# -- rates -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UseRate:
    """What tokens and seconds cost, in the unit of the utilities.

    Raises:
        ParlourError: A number is not accepted.
    """

    prompt: float
    """A million tokens read."""
    completion: float
    """A million tokens written."""
    second: float

    def __post_init__(self) -> None:
        if not all(0 <= price < math.inf for price in (self.prompt, self.completion, self.second)):
            raise accept("rate", str(self), "numbers from 0")

    def __str__(self) -> str:
        return f"{self.prompt:g},{self.completion:g},{self.second:g}"

    def told(self, costs: tuple[float, ...]) -> str:
        """For titles of tables: what the actions cost by it."""
        each = ", ".join(f"{action} {cost:.3g}" for action, cost in zip(COSTS, costs, strict=True) if cost)
        return f"costs by use at rate {self}: {each or 'none'}"


def rate(text: str, prices: str | None = None) -> UseRate:
    """A rate as it is written: a model of the price table and the price of a second, or three numbers.

    >>> rate("gpt-4o-mini,0.0001")
    UseRate(prompt=0.15, completion=0.6, second=0.0001)

    Raises:
        ParlourError: It is no rate, or the model has no price.
    """
    *first, second = (part.strip() for part in text.split(","))
    try:
        if len(first) == 1:
            price = Prices.load(prices).price(first[0])
            if price is None:
                raise accept("model of a rate", first[0], "one of the price table, or READ,WRITTEN,SECOND")
            return UseRate(*price, float(second))
        read, written = map(float, first)
        return UseRate(read, written, float(second))
    except ParlourError:
        raise
    except ValueError:
        raise accept("rate", text, "READ,WRITTEN,SECOND: a million tokens each, a second; or MODEL,SECOND") from None


def costs_by(path: Path, by: UseRate) -> tuple[float, ...]:
    """Costs of the nine actions, in the order of `joint.COSTS`, from their use in a calibration (`store_means`).

    Raises:
        ParlourError: There is no such file, or tokens or seconds that have a price were not measured.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            by_action = {row["action"]: row for row in csv.DictReader(file)}
        return tuple(
            0.0 if action in FREE or action not in by_action else _cost(by_action[action], by) for action in COSTS
        )
    except ParlourError:
        raise
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ParlourError(
            f"{str(path)!r} holds no usage ({error}); accepted: a calibration that measured it"
        ) from None


def _cost(row: Mapping[str, str], by: UseRate) -> float:
    cost, prices = 0.0, (by.prompt / _MILLION, by.completion / _MILLION, by.second)
    for name, price in zip(("prompt", "completion", "seconds"), prices, strict=True):
        if price and not row[name]:
            what = "seconds" if name == "seconds" else "tokens"
            raise ParlourError(
                f"{what} of {row['action']} were not measured; accepted: a rate without them, or --costs"
            )
        cost += price * float(row[name]) if price else 0.0
    return cost
