"""What was asked, what it took and how it came out: calls, tokens, dollars, seconds, answers; per seat and question.

Whether a player's decisions were its own is counted at the table, and told to the meter when a game ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import NamedTuple

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

    def complete(self, request: Request) -> Completion:
        """The inner reply."""
        label = Label(request.seat, request.ask)
        try:
            reply = self._inner.complete(request)
        except ModelUnavailable as error:
            self.add(Taken({label: Decisions(failed=1, retries=error.retries)}, last_failure=str(error)))
            raise
        self.add(Taken({label: self._counted(request, reply)}))
        return reply

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
