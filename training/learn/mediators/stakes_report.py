"""The report of `parlour evaluate stakes`: tables, and the picture of risk against coverage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from parlour.policies.agents.mediated_qa.joint import Joint
from parlour.training.learn.mediators.enough import too_few
from parlour.training.learn.mediators.simulate import Simulated
from parlour.training.learn.mediators.stakes import CONTEXTUAL, LEARNED, Stakes, StakesScore, refusal_curve
from parlour.training.report import plots
from parlour.training.report.report import Picture, Report
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import together

STAKES_PICTURE: Final = "stakes.png"
_SHORT: Final = {"refusal by confidence": "refusal"}
_CHANGING: Final = ((LEARNED, "-", "o"), (CONTEXTUAL, "-", "v"), ("best static", "--", "s"), ("oracle", ":", "^"))
"""Systems that go with the stakes: name, line, marker."""


def policy_name(value: float, price: float) -> str:
    """File of the policy of some stakes.

    >>> policy_name(110.0, 50.0)
    'policy-value110-price50.json'
    """
    return f"policy-value{value:g}-price{price:g}.json"


def report_of(stakes: Stakes, held_out: Sequence[Simulated], warning: str = "") -> Report:
    """The learned mediator at each pair of stakes beside the others, and what its policies do.

    `warning` is what else is said where there are enough questions for a verdict.
    """
    n, suffix = stakes.scores[0].n, f"; {stakes.reader}" if stakes.reader else ""
    title = f"The learned mediator on {n} held-out questions (95 % interval), and net utilities of others{suffix}"
    return Report(
        "What stakes decide",
        stakes.verdict if too_few(n) else together([stakes.verdict, warning]),
        (_beside_others(stakes, title), _changes(stakes)),
        (_all_scores(stakes),),
        Picture(partial(draw_risks, stakes, held_out), "Risk against coverage", STAKES_PICTURE),
        {"reader": stakes.reader, "scores": [as_json(score) for score in stakes.scores]},
    )


_STAKES: Final = (Column("value", "g"), Column("price", "g"))


def _beside_others(stakes: Stakes, title: str) -> ResultTable:
    """A row for each pair of stakes: the learned mediator, and the net utility of the others."""
    rows, names = [], list[str]()
    for at in stakes.policies:
        learned, *others = [score for score in stakes.scores if (score.value, score.price) == at]
        names = [_SHORT.get(other.system, other.system) for other in others]
        shares = (learned.accuracy, learned.abstention, learned.risk)
        rows.append((*at, *shares, learned.utility, *(other.utility.value for other in others)))
    shown = (*(Column(name, ".1%") for name in ("accuracy", "abstention", "risk")), Column("net utility", ".2f"))
    columns = (*_STAKES, *shown, *(Column(name, ".2f") for name in names))
    return ResultTable(title, columns, tuple(rows), wrap=True)


def _changes(stakes: Stakes) -> ResultTable:
    """What the learned policy does at each price: its joint actions with their states, most states first."""
    rows = []
    for at, policy in stakes.policies.items():
        states: dict[Joint, list[str]] = {}
        for state, row in policy.rows.items():
            states.setdefault(next(iter(row)), []).append(state)
        ordered = sorted(states.items(), key=lambda item: (-len(item[1]), item[0]))
        rows += [(*at, " ".join(joint), " ".join(sorted(where))) for joint, where in ordered]
    return ResultTable(
        "The learned policy", (*_STAKES, Column("joint action"), Column("states")), tuple(rows), wrap=True
    )


def _all_scores(stakes: Stakes) -> ResultTable:
    shares = (Column(name, ".1%") for name in ("accuracy", "abstention", "coverage", "risk"))
    columns = (*_STAKES, Column("system"), Column("n"), *shares, Column("net utility", ".2f", key="net"))
    rows = (
        (of.value, of.price, of.system, of.n, of.accuracy, of.abstention, of.coverage, of.risk, of.utility)
        for of in stakes.scores
    )
    return ResultTable("All systems", columns, tuple(rows), file="stakes.csv")


def as_json(score: StakesScore) -> dict[str, Any]:
    """A score as plain values; infinite ones in words, as JSON has no others."""
    risk = (None, None, None) if score.risk is None else score.risk.with_ends
    shares = {name: getattr(score, name).value for name in ("accuracy", "abstention")}
    ends = dict(zip(("risk", "risk_low", "risk_high"), risk, strict=True))
    ends |= dict(zip(("net", "net_low", "net_high"), score.utility.with_ends, strict=True))
    first = {name: getattr(score, name) for name in ("value", "price", "system", "n")}
    values = {**first, **shares, "coverage": score.coverage, **ends}
    return {name: str(of) if isinstance(of, float) and math.isinf(of) else of for name, of in values.items()}


def draw_risks(stakes: Stakes, held_out: Sequence[Simulated], path: Path) -> None:
    """Risk against coverage: one panel for each value of a right answer."""
    values = list(dict.fromkeys(score.value for score in stakes.scores))
    answered = f"{stakes.reader}; " if stakes.reader else ""
    with plots.picture(
        path,
        6.5 * len(values),
        5.8,
        title="What stakes decide: risk against coverage; beside the points the price of a wrong answer",
        who=f"{answered}systems as in the key, on the same held-out questions",
        n=f"n = {plots.range_of([score.n for score in stakes.scores])} questions a point",
    ) as made:
        for place, value in enumerate(values, 1):
            axes = made.add_subplot(1, len(values), place)
            scores = [score for score in stakes.scores if score.value == value]
            _panel(axes, scores, refusal_curve(held_out), stakes.reading)
            title = f"a right answer is worth {value:g} more than silence"
            plots.label(
                axes, "coverage: share of questions answered", "risk: share of the answers that are wrong", title
            )
        plots.key(made)


def _panel(axes: Any, scores: Sequence[StakesScore], refusal: Sequence[tuple[float, float]], reading: str) -> None:
    colours = plots.colours([name for name, *_ in _CHANGING])
    for name, line, marker in _CHANGING:
        of_system = [score for score in scores if score.system == name]
        points = [(score.coverage, score.risk, score.price) for score in of_system if score.risk is not None]
        if not points:
            continue
        colour, at = colours[name], [coverage for coverage, _, _ in points]
        if name == LEARNED:
            risks = [risk.with_ends for _, risk, _ in points]
            label = f"{name}, {plots.INTERVAL}"
            plots.points(axes, at, risks, fmt=f"{line}{marker}", color=colour, label=label)
            _prices(axes, [(coverage, risk.value, price) for coverage, risk, price in points])
        else:
            axes.plot(at, [risk.value for _, risk, _ in points], line, marker=marker, color=colour, label=name)
    if silent := [score.price for score in scores if score.system == LEARNED and score.risk is None]:
        text = ", ".join(f"{price:g}" for price in silent)
        axes.text(0.0, 0.02, f"price {text}: nothing is answered", fontsize=8)  # nor is there a risk
    for name, marker in (("no retrieval", "D"), (reading, "X"), ("refusal by confidence", "P")):
        first = next(score for score in scores if score.system == name)
        if first.risk is not None:
            axes.plot([first.coverage], [first.risk.value], marker, color=plots.REFERENCE, label=name)
    if refusal:
        label = "refusal by confidence, any threshold"
        axes.plot(*zip(*refusal, strict=True), "-", color=plots.REFERENCE, linewidth=0.8, label=label)
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)


def _prices(axes: Any, points: Sequence[tuple[float, float, float]]) -> None:
    """The prices beside the points (coverage, risk, price); those of points in one place stand together."""
    places: dict[tuple[float, float], list[float]] = {}
    for coverage, risk, price in points:
        places.setdefault((round(coverage, 2), round(risk, 2)), []).append(price)
    for (x, y), prices in places.items():
        text = ", ".join(f"{price:g}" for price in prices)
        axes.annotate(text, (x, y), xytext=(6, -10), textcoords="offset points", fontsize=8)
