"""Who made a player's decisions, and what its questions took, as numbers that add up.

They are counted from the calls that a transcript holds, so that a game tells the same when it is played, replayed from a
cache, or read from its file. A call has `reply` (a text of the model, with `fault` if it was no answer), or only a `fault` (the
server refused it), or `answer` (of the offline model), or `by` and `reason` (the heuristic answered in the model's place,
and why; or a paper, with its `rule`).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, reduce
from operator import add
from os.path import commonprefix
from typing import Any, Final, NamedTuple

from parlour.envs.common.plain import fields_of
from parlour.envs.language.transcript_lines import BY_HEURISTIC, BY_PAPER
from parlour.policies.llm.transport.request import NO_USAGE, UNKNOWN_USAGE, Usage


class Beginnings:
    """The prompts of one game so far, of all seats."""

    def __init__(self) -> None:
        self._seen: list[str] = []
        """In alphabetical order: of all of them, a neighbour shares most with a new one."""

    def shared(self, prompt: str) -> int:
        """Characters with which a prompt begins like one before; it is one of them from then on.

        >>> seen = Beginnings()
        >>> seen.shared("the rules; night"), seen.shared("the rules; day"), seen.shared("the rules; day 2")
        (0, 11, 14)
        """
        place = bisect(self._seen, prompt)
        beside = self._seen[max(place - 1, 0) : place + 1]
        self._seen.insert(place, prompt)
        return max((len(commonprefix([prompt, other])) for other in beside), default=0)  # noqa: RUF071 - letter by letter


INVALID: Final = "invalid"
"""The reason where no reply could be read as an answer."""
MOST_FOREIGN: Final = 0.05
"""Share of decisions that were not a player's own above which results are marked."""
LEAST_OWN: Final = 0.5
"""Share of decisions that have to be a player's own for it to have a score."""
_ROUNDED: Final = 6
"""Digits of reported dollars and seconds."""


class AskedQuestion(NamedTuple):
    """A question that was put to a model."""

    ask: str
    """Its kind."""
    replies: int
    """How many were read."""
    reason: str | None
    """Why the heuristic answered it; None if the model did."""
    cut: int = 0
    """Lines of the record that did not fit into its prompt."""
    decides: bool = False
    """Whether it was decided by, in the model's place, whatever was asked afterwards."""
    rule: str = ""
    """Rule of a paper by which it was answered, as `unclear=paper`; empty for the heuristic and the model."""

    @property
    def by(self) -> dict[str, str]:
        """Who answered it in the model's place, and why or by which rule; empty if the model did."""
        if self.rule:
            return {"by": BY_PAPER, "reason": self.rule}
        return {} if self.reason is None else {"by": BY_HEURISTIC, "reason": self.reason}


def questions(calls: Iterable[Mapping[str, Any]]) -> list[AskedQuestion]:
    """The questions of one turn, from the calls of its line.

    >>> questions([{"ask": "chat", "reply": "?", "fault": "no JSON"}, {"ask": "chat", "reply": "{}"}])
    [AskedQuestion(ask='chat', replies=2, reason=None, cut=0, decides=False, rule='')]
    """
    asked_questions: list[AskedQuestion] = []
    asked, replies, cut = "", 0, 0
    for call in calls:
        ask = str(call.get("ask", ""))
        if replies and ask != asked:  # of a transcript that does not tell of heuristics
            asked_questions.append(AskedQuestion(asked, replies, INVALID))
            replies = 0
        asked, cut = ask, max(cut, call.get("cut", 0))
        replies += "reply" in call
        if call.get("by") in (BY_HEURISTIC, BY_PAPER):
            reason, rule = str(call.get("reason", INVALID)), str(call.get("rule", ""))
            asked_questions.append(AskedQuestion(ask, replies, reason, cut, bool(call.get("decides")), rule))
        elif not call.get("fault"):
            asked_questions.append(AskedQuestion(ask, max(1, replies), None, cut))
        else:
            continue
        replies = cut = 0
    return [*asked_questions, AskedQuestion(asked, replies, INVALID)] if replies else asked_questions


def made_by(calls: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """What the line of a move says about it: nothing, or that the heuristic or a paper decided, with the reason or the rule.

    The last question of a turn decides it; the others prepare it, unless they say that they decide as well.
    """
    asked = questions(calls)
    decided = [question for question in asked if question.decides or question is asked[-1]]
    return next((question.by for question in decided if question.by), {})


@dataclass(frozen=True)
class Decisions:
    """Who made a player's decisions, or answered questions of one kind, each counted once: `first`, `again`, `heuristic`, `paper` or
    `replaced`; and what that took. The one record of usage, from a model's reply to the tables of results.
    """

    first: int = 0
    """By the model's first reply; for a decision, the table also took the player's first words or number."""
    again: int = 0
    """By the model, after it or the player had been asked again."""
    heuristic: Mapping[str, int] = field(default_factory=dict)
    """Reason -> by the heuristic in the model's place."""
    paper: Mapping[str, int] = field(default_factory=dict)
    """Rule of a paper, such as `unclear=paper` -> by it in the model's place, and not by the heuristic."""
    replaced: Mapping[str, int] = field(default_factory=dict)
    """`default`, `random`, `forfeit`, `clock` -> made by the table instead of words that could not be used, or did not come."""
    talk: int = 0
    """Turns of its own words from which the table read no more than from any others, such as a remark in a discussion: these
    are no decisions."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """`unreadable`, `ambiguous`, `illegal` -> how often the table refused its words, whoever spoke them."""
    questions: Mapping[str, Decisions] = field(default_factory=dict)
    """Kind of question -> how those were answered that it put to its model, for decisions and for what prepares them."""
    models: tuple[str, ...] = ()
    """Which model at which server answers it; `offline` for heuristics; none if it asks nobody."""
    served: tuple[str, ...] = ()
    """What the servers said had answered."""
    requests: int = 0
    """Replies of the model. Counted from the calls of a game, a reply from a cache of replies counts as when it was first made,
    here and below; a meter counts what was paid for now."""
    prompt: int | None = 0
    """Tokens read; None if a server did not say so of any reply, here and below."""
    cached: int | None = 0
    """Prompt tokens that the server had in its own cache."""
    completion: int | None = 0
    """Tokens written."""
    characters: int = 0
    """Characters of the prompts."""
    shared: int = 0
    """Characters that a prompt shares with the beginning of an earlier prompt in the game, of any seat: a server with a prompt
    cache need not read them again."""
    dollars: float | None = 0.0
    """None if any reply has an unknown cost."""
    cut: int = 0
    """Lines of the record that did not fit into a prompt."""
    mended: int = 0
    """Replies that were answers after a repair, such as of quotation marks or of words of the model's template."""
    dropped: tuple[str, ...] = ()
    """Parameters that the server did not take."""
    seconds: float = field(default=0.0, compare=False, repr=False)
    """Duration of its turns, or of calls with their retries, where simultaneous ones add up; reported only if a language model
    was asked, and never in a transcript."""
    replies: int = 0
    """Texts that were read as answers, valid or not; with the three below, counted by a meter alone."""
    from_cache: int = 0
    """Replies from a cache of replies, which cost nothing."""
    failed: int = 0
    """Calls without a reply: unavailable after all retries."""
    retries: int = 0

    @property
    def own(self) -> int:
        """Those that are the model's, or the player's, own."""
        return self.first + self.again

    @property
    def asked(self) -> int:
        """Those that the model, or the heuristic or a paper in its place, answered."""
        return self.own + sum(self.heuristic.values()) + sum(self.paper.values())

    @property
    def decisions(self) -> int:
        """All of them."""
        return self.asked + sum(self.replaced.values())

    @property
    def own_share(self) -> float | None:
        """Share of decisions that are the player's own; None without any."""
        return self.own / self.decisions if self.decisions else None

    @property
    def tokens(self) -> int | None:
        """Read and written."""
        return None if self.prompt is None or self.completion is None else self.prompt + self.completion

    @property
    def answers(self) -> Decisions:
        """The questions of all kinds together."""
        return sum(self.questions.values(), Decisions())

    @property
    def valid_share(self) -> float | None:
        """Valid replies among all replies (the papers' VRR); None if there were none."""
        return self.own / self.replies if self.replies else None

    @classmethod
    def of_calls(cls, calls: Iterable[Mapping[str, Any]], seen: Beginnings | None = None) -> Decisions:
        """What the calls of one turn took: questions, requests, tokens, dollars; no decision.

        Args:
            calls: Calls of one seat, in their order.
            seen: The prompts of the game before; these join them.
        """
        calls = list(calls)
        put = questions(calls)
        asked = _sum([{question.ask: _answered(question)} for question in put]) if put else {}
        replies = [call for call in calls if "reply" in call]
        used, costs = tokens_of(replies), [call.get("cost") for call in replies]
        prompts = ["\n".join(message["content"] for message in call["prompt"]) for call in replies if "prompt" in call]
        return cls(
            questions=asked,
            served=_names(call.get("served") for call in replies),
            requests=len(replies),
            prompt=used.prompt,
            cached=used.cached,
            completion=used.completion,
            characters=sum(map(len, prompts)),
            shared=sum(map(seen.shared, prompts)) if seen else 0,
            dollars=None if None in costs else sum(cost for cost in costs if cost is not None),
            cut=sum(question.cut for question in put),
            mended=sum(bool(call.get("mended")) for call in replies),
            dropped=_names(name for call in replies for name in call.get("dropped", ())),
        )

    def __add__(self, other: Decisions) -> Decisions:
        return Decisions(**summed(self, other))

    def as_json(self) -> dict[str, Any]:
        """Plain values, None for what is unknown; what did not happen is left out, and seconds where no model was called."""
        counts = {name: round(n, _ROUNDED) if isinstance(n, float) else n for name, n in self.as_stored().items()}
        if self.questions:
            counts["questions"] = {ask: {"asked": of.asked, **of.as_stored()} for ask, of in self.questions.items()}
        if not self.requests:
            counts.pop("seconds", None)
        return {"decisions": self.decisions, "own": self.own, "own_share": self.own_share, **counts}

    def as_stored(self) -> dict[str, Any]:
        """Plain values from which the same can be made again; what did not happen is left out."""
        counts = fields_of(self, sparse=True)
        if self.questions:
            counts["questions"] = {ask: of.as_stored() for ask, of in self.questions.items()}
        return counts


def by_player(made: Iterable[tuple[str, Decisions]]) -> dict[str, Decisions]:
    """Name of a player -> the sum of its decisions."""
    players: dict[str, Decisions] = {}
    for name, decisions in made:
        players[name] = players.get(name, Decisions()) + decisions
    return players


def foreign(own: int, decisions: int) -> bool:
    """Whether so many decisions were not the player's own that a result has to say so.

    >>> foreign(95, 100), foreign(94, 100), foreign(0, 0)
    (False, True, False)
    """
    return decisions - own > MOST_FOREIGN * decisions


def mostly_foreign(own: int, decisions: int) -> bool:
    """Whether more than half of the decisions were not the player's own, so that a result has no figure.

    >>> mostly_foreign(50, 100), mostly_foreign(49, 100), mostly_foreign(0, 0)
    (False, True, False)
    """
    return own < LEAST_OWN * decisions


def tokens_of(calls: Iterable[Mapping[str, Any]]) -> Usage:
    """The tokens of all calls; None for a count that is unknown of any of them.

    >>> tokens_of([{"usage": {"prompt": 10, "completion": None}}, {"usage": {"prompt": 5, "completion": 2}}, {"fault": "refused"}])
    Usage(prompt=15, completion=None, cached=0)
    """
    return sum(map(_usage, calls), Usage(0, 0))


def _usage(call: Mapping[str, Any]) -> Usage:
    """Files from before 2026-12 have zeros where the server did not say how many tokens it used."""
    counts = call.get("usage") or {}
    used = Usage(counts.get("prompt", 0), counts.get("completion", 0), counts.get("cached", 0))
    return UNKNOWN_USAGE if NO_USAGE in call.get("dropped", ()) and not any(used) else used


def _answered(question: AskedQuestion) -> Decisions:
    """Who answered it."""
    if by := question.by:
        return in_place(by)
    return Decisions(first=1) if question.replies == 1 else Decisions(again=1)


def in_place(by: Mapping[str, str]) -> Decisions:
    """A decision that was made in the model's place.

    >>> in_place({"by": "paper", "reason": "unclear=paper"}).paper
    {'unclear=paper': 1}
    """
    counts = {by.get("reason", INVALID): 1}
    return Decisions(paper=counts) if by["by"] == BY_PAPER else Decisions(heuristic=counts)


def _names(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({name for name in names if name}))


# -- sums of dataclasses ---------------------------------------------------------------------------------------------


def summed(*counts: Any) -> dict[str, Any]:
    """Field -> sum over dataclasses of one kind: numbers add up, names are put together, None stays."""
    return {name: _sum([getattr(count, name) for count in counts]) for name in _names_of(counts[0].__class__)}


@cache
def _names_of(kind: Any) -> tuple[str, ...]:
    """The fields of a dataclass; counts are summed after every decision."""
    return tuple(f.name for f in fields(kind))


def _sum(values: Sequence[Any]) -> Any:
    first = values[0]
    if isinstance(first, (int, float)):
        return None if None in values else reduce(add, values)
    if first is None:
        return None
    if isinstance(first, tuple):
        return tuple(sorted(set().union(*values)))
    if not isinstance(first, Mapping):
        return reduce(add, values)
    together: dict[str, list[Any]] = {}
    for value in filter(None, values):
        for key, count in value.items():
            together.setdefault(key, []).append(count)
    return {key: _of_key(counts) for key, counts in sorted(together.items())}


def _of_key(counts: Sequence[Any]) -> Any:
    """The sum of numbers, or of dataclasses."""
    first = counts[0]
    if len(counts) == 1:
        return first
    return _sum(counts) if isinstance(first, (int, float)) else first.__class__(**summed(*counts))
