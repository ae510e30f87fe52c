"""Verdicts: one to three sentences that a person can quote, made from estimates. All that measures ends with one.

A difference is better, worse, the same (zero as shown), or not shown; a sentence always has its interval at 95 % and the number of cases. Where no difference
could be shown, it says how many cases would show one of a size that matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from parlour.policies.llm.decisions import foreign, mostly_foreign
from parlour.training.statistics import BETTER, UNCLEAR, WORSE, Estimate

SAME: Final = "the same"
_PLURAL: Final = re.compile(r"(?<=ss)es\b|s\b")


@dataclass(frozen=True)
class DifferenceScale:
    """How differences of one measure are reported; more is better."""

    unit: str
    """Behind the number, such as `points`."""
    format: str = "+.1f"
    times: float = 1.0
    """What estimates are multiplied by before they are shown."""
    matters: float | None = None
    """The smallest difference of interest, in the unit of the estimate; None: as large as the observed difference."""
    cases: str = "deals"
    """Unit of n."""

    def of(self, cases: str) -> DifferenceScale:
        """The same over other cases, such as `questions`."""
        return replace(self, cases=cases)

    def told(self, estimate: Estimate) -> str:
        """Value, interval and number of cases.

        >>> WIN_RATE.told(Estimate(0.17, 0.14, 0.2, 900))
        '+17.0 points [+14.0, +20.0]; 900 deals'
        """
        interval = estimate.interval(self.format, self.times)
        shown = "" if interval == "-" else f" {interval}"
        return f"{self.number(estimate.value)}{shown}; {self.counted(estimate.n)}"

    def counted(self, n: int) -> str:
        """A number of cases.

        >>> WIN_RATE.counted(1), WIN_RATE.counted(2000), WIN_RATE.of("guesses").counted(1)
        ('1 deal', '2,000 deals', '1 guess')
        """
        return f"{n:,} {self.cases if n != 1 else _PLURAL.sub('', self.cases, count=1)}"

    def is_zero(self, difference: Estimate) -> bool:
        """Whether two or more cases show a difference of zero, and its interval, if any, is zero as it is shown.

        >>> UTILITY.is_zero(Estimate(-0.001, -0.002, -0.0005, 40)), UTILITY.is_zero(Estimate(-0.001, -0.01, -0.0005, 40))
        (True, False)
        """
        shown = (f"{self.times * end:{self.format}}" for end in (difference.value, *difference.ends))
        return difference.n > 1 and all(float(text) == 0 for text in shown)

    def number(self, value: float) -> str:
        """A value with its unit."""
        return f"{self.times * value:{self.format}} {self.unit}"

    def outcome(self, difference: Estimate) -> str:
        """`Estimate.outcome`, or `SAME` for a difference that is zero as it is shown."""
        return SAME if self.is_zero(difference) else difference.outcome

    def compared(self, name: str, other: str, difference: Estimate) -> str:
        """One sentence about two players on the same cases.

        >>> WIN_RATE.compared("the seat", "the heuristic", Estimate(0.17, 0.14, 0.2, 900))
        'The seat is better than the heuristic: +17.0 points [+14.0, +20.0]; 900 deals.'
        >>> WIN_RATE.compared("the seat", "the heuristic", Estimate(0.01, -0.03, 0.05, 200))
        'No difference between the seat and the heuristic was shown: +1.0 points [-3.0, +5.0]; 200 deals; about 730 would show 3.0 points.'

        Args:
            name: Whose gain the difference is.
            other: The baseline.
            difference: Estimate of `name` minus `other`, paired.
        """
        outcome = self.outcome(difference)
        if outcome == SAME:
            return f"{_capital(name)} and {other} came out the same on all {self.counted(difference.n)}."
        if outcome != UNCLEAR:
            return f"{_capital(name)} is {outcome} than {other}: {self.told(difference)}."
        if difference.low is None:
            why = "one case tells nothing of others" if difference.n < 2 else "all went alike, which gives no interval"
            return f"No difference between {name} and {other} was shown: {self.told(difference)}; {why}."
        return f"No difference between {name} and {other} was shown: {self.told(difference)}{self._more(difference)}."

    def compared_with_each(self, name: str, differences: Mapping[str, Estimate]) -> str:
        """A sentence for each outcome of comparisons with several others, which name the others with their differences.

        >>> print(WIN_RATE.compared_with_each("GRATR", {"a": Estimate(0.2, 0.1, 0.3, 50), "b": Estimate(0.1, -0.1, 0.3, 50)}))
        GRATR is better than a (+20.0 points [+10.0, +30.0]; 50 deals). No difference between GRATR and b (+10.0 points [-10.0, +30.0]; 50 deals) was shown.

        Args:
            name: Whose gain the differences are.
            differences: Name of the other -> estimate of `name` minus the other, paired; differences of shares.
        """
        said = []
        for outcome in (BETTER, WORSE, UNCLEAR):
            others = [
                f"{other} ({self.told(gain)})" for other, gain in differences.items() if self.outcome(gain) == outcome
            ]
            names = " and ".join(filter(None, [", ".join(others[:-1]), *others[-1:]]))
            if names and outcome == UNCLEAR:
                said.append(f"No difference between {name} and {names} was shown.")
            elif names:
                said.append(f"{_capital(name)} is {outcome} than {names}.")
        return together(said)

    def _more(self, difference: Estimate) -> str:
        size = abs(difference.value) if self.matters is None else self.matters
        needed = difference.cases_needed(size)
        if needed is None:
            return ""
        shown = self.number(size).lstrip("+")
        if needed > difference.n:
            return f"; about {needed:,} would show {shown}"
        return f"; a difference of {shown} would most likely have been shown"


WIN_RATE: Final = DifferenceScale("points", times=100, matters=0.03)
"""Differences of shares; a point is one per cent."""
POINTS: Final = DifferenceScale("points", matters=3.0)
"""Differences of points of 100."""
LOG_LOSS: Final = DifferenceScale("nats of log loss", "+.3f", cases="games")
UTILITY: Final = DifferenceScale("net utility a question", "+.2f", cases="questions")
REWARD: Final = DifferenceScale("reward a deal", "+.4f")
LOG_LIKELIHOOD: Final = DifferenceScale("nats a decision", "+.4f", cases="games")


def won(name: str, rate: Estimate, where: str = "") -> str:
    """A share of games by itself, where nobody is compared.

    >>> won("heuristic", Estimate(0.45, 0.38, 0.52, 200), "as one seat among random")
    'heuristic won 45.0 % [38.0, 52.0] of 200 games as one seat among random.'
    """
    interval = rate.interval(".1f", 100)
    shown = "" if interval == "-" else f" {interval}"
    return f"{_capital(name)} won {100 * rate.value:.1f} %{shown} of {rate.n:,} games{where and f' {where}'}."


SIGN: Final = "†"
"""Mark after the name of a player that made too few of its decisions itself."""


class DecidedBy(NamedTuple):
    """Whose decisions a result of a player rests on."""

    name: str
    own: int
    """Decisions of the player itself."""
    decisions: int
    """All decisions."""

    @property
    def no_score(self) -> str:
        """The sentence instead of a score, where a player made fewer than half of its decisions itself; empty where it made them.

        >>> DecidedBy("the model", 0, 841).no_score, DecidedBy("the model", 800, 841).no_score
        ('No score: the model decided 0 of 841 moves itself.', '')
        """
        if not mostly_foreign(self.own, self.decisions):
            return ""
        return f"No score: {self.name} decided {self.own:,} of {self.decisions:,} moves itself."

    @property
    def doubt(self) -> str:
        """What is said beside a score that rests on too many decisions of others; empty where the player decided.

        >>> DecidedBy("chat", 80, 100).doubt, DecidedBy("chat", 96, 100).doubt
        ('Only 80.0 % of the decisions of chat were its own.', '')
        """
        if not foreign(self.own, self.decisions):
            return ""
        share = f"{100 * self.own / self.decisions:.1f} %"
        return self.no_score or f"Only {share} of the decisions of {self.name} were its own."

    @property
    def marked(self) -> str:
        """The player's name, with `SIGN` where it has to be.

        >>> DecidedBy("chat", 19, 20).marked, DecidedBy("chat", 9, 10).marked
        ('chat', 'chat †')
        """
        return f"{self.name} {SIGN}" if foreign(self.own, self.decisions) else self.name


def together(sentences: Iterable[str]) -> str:
    """A verdict of several sentences; empty ones are left out.

    >>> together(["One.", "", "Two."])
    'One. Two.'
    """
    return " ".join(dict.fromkeys(filter(None, sentences)))


def _capital(text: str) -> str:
    """Words begin a sentence with a capital; the name of a player stays as it is typed.

    >>> _capital("the seat"), _capital("heuristic"), _capital("runs/seat/policy.npz")
    ('The seat', 'heuristic', 'runs/seat/policy.npz')
    """
    return text[:1].upper() + text[1:] if " " in text else text
