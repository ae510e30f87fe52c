"""What was asked, what it took and how it came out: calls, tokens, dollars, seconds, answers; per seat and question.

Whether a player's decisions were its own is counted at the table, and told to the meter when a game ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Final, NamedTuple, Self

from parlour.policies.llm.decisions import Answers, Decisions, summed
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.request import (
    Completion,
    Layer,
    ModelUnavailable,
    Request,
    ServedModel,
    Transport,
)

_ROUNDED: Final = 6
"""Digits of reported seconds and dollars; the order in which threads add does not change them."""


@dataclass(frozen=True)
class Count(Answers):
    """Questions, by who answered them, and the calls that they took."""

    calls: int = 0
    """Calls to the server that brought a reply."""
    cached: int = 0
    """Replies from the cache, which cost nothing."""
    failed: int = 0
    """Calls without a reply: unavailable after all retries."""
    retries: int = 0
    prompt: int | None = 0
    """Tokens read and written in calls; None if the server did not say so of any of them."""
    completion: int | None = 0
    prompt_cached: int | None = 0
    """Prompt tokens that the server had in its own cache."""
    dollars: float | None = 0.0
    """None if any of the calls has an unknown cost."""
    seconds: float = field(default=0.0, compare=False)
    """Time spent waiting for replies, including retries; simultaneous calls add up. The only thing that differs from run to
    run."""
    cut: int = 0
    """Lines of the record that did not fit into a prompt."""
    replies: int = 0
    """Texts that were read as answers, valid or not."""

    @property
    def tokens(self) -> int | None:
        """Read and written."""
        return None if self.prompt is None or self.completion is None else self.prompt + self.completion

    @property
    def valid_share(self) -> float | None:
        """Valid replies among all replies (the papers' VRR); None if there were none."""
        return self.own / self.replies if self.replies else None

    def as_stored(self) -> dict[str, Any]:
        """Plain values from which `from_stored` makes the same again; answers by the names that files have for them."""
        values = asdict(self)
        fallbacks = values.pop("heuristic")
        answers = {"asked": self.asked, "valid": values.pop("first"), "repaired": values.pop("again")}
        answers |= {"fallbacks": sum(fallbacks.values()), "reasons": fallbacks}
        last = {name: values.pop(name) for name in ("cut", "replies")}
        return {**values, **answers, **last}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Self:
        """From what `as_stored` gave. Raises `TypeError` or `KeyError` for anything else."""
        values = dict(stored)
        asked, fallbacks = values.pop("asked"), values.pop("fallbacks")
        made = cls(first=values.pop("valid"), again=values.pop("repaired"), heuristic=values.pop("reasons"), **values)
        if (made.asked, sum(made.heuristic.values())) != (asked, fallbacks):
            raise TypeError("the answers do not add up")
        return made

    def as_json(self) -> dict[str, Any]:
        """Plain values, rounded, and the share of valid replies."""
        stored = self.as_stored().items()
        return {
            **{k: round(v, _ROUNDED) if isinstance(v, float) else v for k, v in stored},
            "valid_share": self.valid_share,
        }


class Label(NamedTuple):
    """The account that is charged."""

    seat: str
    ask: str


@dataclass(frozen=True)
class Taken:
    """What was counted for a while."""

    counts: Mapping[Label, Count] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    """Parameters that the server did not take, in any reply. Results must say so."""
    served: tuple[str, ...] = ()
    """What the servers said had answered."""
    decisions: Decisions = field(default_factory=Decisions)
    """Decisions of all players that the model answered for, in games that ended or were given up."""
    last_failure: str = ""
    """The words of the last call without a reply; empty if there was none."""

    @property
    def total(self) -> Count:
        """Everything."""
        return reduce(add, self.counts.values(), Count())

    @property
    def by_seat(self) -> dict[str, Count]:
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
            self.add(Taken({label: Count(failed=1, retries=error.retries)}, last_failure=str(error)))
            raise
        self.add(Taken({label: self._counted(request, reply)}, reply.dropped, tuple({reply.served} - {""})))
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
        """Count something: a call, a question, decisions, or what a copy of this meter took in another process."""
        with self._lock:
            self.taken += taken

    def _counted(self, request: Request, reply: Completion) -> Count:
        if reply.cached:
            return Count(cached=1)
        used = reply.usage
        return Count(
            calls=1,
            retries=reply.retries,
            prompt=used.prompt,
            completion=used.completion,
            prompt_cached=used.cached,
            dollars=self.prices.cost(request.model, used),
            seconds=reply.seconds,
        )
