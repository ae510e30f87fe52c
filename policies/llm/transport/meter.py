"""What was asked, what it took and how it came out: calls, tokens, dollars, seconds, answers; per seat and question.

Whether a player's decisions were its own is counted at the table, and told to the meter when a game ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from parlour.policies.llm.decisions import Decisions, summed
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.request import (
    Completion,
    Layer,
    ModelUnavailable,
    Request,
    ServedModel,
    Transport,
)


class Label(NamedTuple):
    """The account that is charged."""

    seat: str
    ask: str


@dataclass(frozen=True)
class Taken:
    """What was counted for a while."""

    counts: Mapping[Label, Decisions] = field(default_factory=dict)
    """Questions, by who answered them, and the calls that they took."""
    decisions: Decisions = field(default_factory=Decisions)
    """Decisions of all players that the model answered for, in games that ended or were given up."""
    last_failure: str = ""
    """The words of the last call without a reply; empty if there was none."""

    @property
    def total(self) -> Decisions:
        """Everything."""
        return reduce(add, self.counts.values(), Decisions())

    @property
    def by_seat(self) -> dict[str, Decisions]:
        """Seat -> its sums."""
        seats = sorted({label.seat for label in self.counts})
        return {seat: Taken({k: v for k, v in self.counts.items() if k.seat == seat}).total for seat in seats}

    def __add__(self, other: Taken) -> Taken:
        return Taken(**{**summed(self, other), "last_failure": other.last_failure or self.last_failure})


class Underway:
    """The calls under way and what has been answered, for those who wait. The caller holds a lock."""

    def __init__(self) -> None:
        self.answered = 0
        """Questions, by whomever."""
        self._awaited: dict[object, tuple[float, str]] = {}
        """The calls under way: since when, and for whom."""
        self._tokens, self._waited, self._since = 0, 0.0, 0.0

    def begin(self, call: object, label: Label, now: float) -> None:
        """A call begins."""
        if not self._awaited:
            self._since = now
        self._awaited[call] = now, f"{label.seat or 'a reply'} ({label.ask})" if label.ask else label.seat or "a reply"

    def end(self, call: object, tokens: int, now: float) -> None:
        """It has ended, with so many tokens written."""
        del self._awaited[call]
        self._tokens += tokens
        if not self._awaited:
            self._waited += now - self._since

    def words(self, now: float) -> str:
        """Questions answered, the speed of the calls that have ended, and the call that is awaited longest; empty before the first."""
        if not (self.answered or self._awaited):
            return ""
        seconds = self._waited + (now - self._since if self._awaited else 0.0)
        parts = [f"{self.answered:,} question{'' if self.answered == 1 else 's'} answered"]
        parts += [f"{self._tokens / seconds:,.{0 if self._tokens >= 10 * seconds else 1}f} tokens/s"] * bool(
            self._tokens and seconds
        )
        if self._awaited:
            began, who = min(self._awaited.values())
            others = f" and {len(self._awaited) - 1} more" if len(self._awaited) > 1 else ""
            parts.append(f"waiting {now - began:.0f} s for {who}{others}")
        return " · ".join(parts)


class Meter(Layer):
    """A transport that counts. It stands outermost and knows the prices.

    Args:
        inner: Where replies come from.
        prices: What they cost.
        context: Tokens of the model's context, where the user knows better than the server.
    """

    def __init__(self, inner: Transport, prices: Prices, context: int | None = None) -> None:
        super().__init__(inner)
        self.prices, self._context = prices, context
        self.taken = Taken()
        """Everything since the last `take`."""
        self._underway = Underway()
        self._ahead: dict[str, Completion] = {}

    def complete(self, request: Request) -> Completion:
        """The inner reply, or the reply that `ask_ahead` has kept."""
        label = Label(request.seat, request.ask)
        reply = self._ahead.pop(request.key(), None) if self._ahead else None
        try:
            reply = reply or self._made(request)
        except ModelUnavailable as error:
            self.add(Taken({label: Decisions(failed=1, retries=error.retries)}, last_failure=str(error)))
            raise
        self.add(Taken({label: self._counted(request, reply)}))
        return reply

    def ask_ahead(self, request: Request) -> Completion:
        """The inner reply to a request that will be made later; it is kept for it, and counts then. Raises as the call does."""
        reply = self._made(request)
        self._ahead[request.key()] = reply
        return reply

    def underway(self) -> str:
        """The calls under way in words, for a line of progress. They depend on time, so they go to the terminal alone."""
        with self._lock:
            return self._underway.words(time.monotonic())

    def _made(self, request: Request) -> Completion:
        with self._watched(request) as written:
            reply = self._inner.complete(request)
            written.append(0 if reply.cached else reply.usage.completion or 0)
        return reply

    @contextmanager
    def _watched(self, request: Request) -> Iterator[list[int]]:
        """A call is under way; the list gets the tokens that it has written."""
        written: list[int] = []
        with self._lock:
            self._underway.begin(id(written), Label(request.seat, request.ask), time.monotonic())
        try:
            yield written
        finally:
            with self._lock:
                self._underway.end(id(written), sum(written), time.monotonic())

    def served_model(self, model: str) -> ServedModel:
        """The description of a model: the server's address, its entry for the model, the context."""
        served = super().served_model(model)
        return served if self._context is None else replace(served, context=self._context)

    def take(self) -> Taken:
        """Everything since the last time; it is counted from zero again."""
        with self._lock:
            taken, self.taken = self.taken, Taken()
        return taken

    def add(self, taken: Taken) -> None:
        """Decisions something: a call, a question, decisions, or what a copy of this meter took in another process."""
        with self._lock:
            self.taken += taken
            self._underway.answered += taken.total.asked

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_underway": Underway(), "_ahead": {}}

    def _counted(self, request: Request, reply: Completion) -> Decisions:
        said = Decisions(dropped=reply.dropped, served=tuple({reply.served} - {""}))
        if reply.cached:
            return replace(said, from_cache=1)
        used = reply.usage
        return replace(
            said,
            requests=1,
            retries=reply.retries,
            prompt=used.prompt,
            completion=used.completion,
            cached=used.cached,
            dollars=self.prices.cost(request.model, used),
            seconds=reply.seconds,
        )
