"""What `parlour grace stakes` leaves: a table as CSV, the policy of each pair of stakes, and the picture of risk against coverage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from parlour.policies.agents.mediated_qa.joint import Joint
from parlour.policies.files import atomic_write
from parlour.training.learn.mediators.baselines import in_percent
from parlour.training.learn.mediators.simulate import Simulated
from parlour.training.learn.mediators.stakes import CONTEXTUAL, LEARNED, Stakes, StakesScore, refusal_curve
from parlour.training.report import plots
from parlour.training.runs.folder import write_csv
from parlour.training.statistics import show_estimate

STAKES_PICTURE: Final = "stakes.png"
_SHOWN: Final = ("value", "price", "accuracy", "abstention", "risk", "net utility")
_SHORT: Final = {"token-confidence refusal": "refusal"}
_COLUMNS: Final = (
    "value",
    "price",
    "system",
    "n",
    "accuracy",
    "abstention",
    "coverage",
    "risk",
    "risk_low",
    "risk_high",
    "net",
    "net_low",
    "net_high",
)
_CHANGING: Final = ((LEARNED, "-", "o"), (CONTEXTUAL, "-", "v"), ("best static", "--", "s"), ("oracle", ":", "^"))
"""Systems that go with the stakes: name, line, marker."""
_FIXED: Final = (("no retrieval", "D"), ("GraphRAG", "X"), ("token-confidence refusal", "P"))


def store(stakes_measured: Stakes, held_out: Sequence[Simulated], out: Path) -> bool:
    """Write the files into a folder; False if the picture was not drawn, for want of matplotlib."""
    out.mkdir(parents=True, exist_ok=True)
    write_csv(out / "stakes.csv", _COLUMNS, [_cells(score) for score in stakes_measured.scores])
    for stakes, policy in stakes_measured.policies.items():
        atomic_write(out / policy_name(*stakes), policy.dumps())
    if not plots.available():
        return False
    _draw(stakes_measured, held_out, out / STAKES_PICTURE)
    return True


def policy_name(value: float, price: float) -> str:
    """File of the policy of some stakes.

    >>> policy_name(110.0, 50.0)
    'policy-value110-price50.json'
    """
    return f"policy-value{value:g}-price{price:g}.json"


def headings(stakes: Stakes) -> tuple[str, ...]:
    """Headings of `rows`: columns of the learned mediator, then the names of the others."""
    first = next(iter(stakes.policies))
    others = [score.system for score in stakes.scores if (score.value, score.price) == first][1:]
    return (*_SHOWN, *(_SHORT.get(name, name) for name in others))


def rows(stakes_measured: Stakes) -> list[tuple[str, ...]]:
    """One line for each pair of stakes: the learned mediator, and the net utility of the others; below `headings`."""
    lines = []
    for stakes in stakes_measured.policies:
        learned, *others = [score for score in stakes_measured.scores if (score.value, score.price) == stakes]
        lines.append(
            (
                *(f"{learned.value:g}", f"{learned.price:g}"),
                *map(in_percent, (learned.accuracy, learned.abstention, learned.risk)),
                show_estimate(learned.utility, ".2f"),
                *(f"{other.utility.value:.2f}" for other in others),
            )
        )
    return lines


def changes(stakes: Stakes) -> list[tuple[str, ...]]:
    """What the learned policy does at each price: value, price, and its joint actions with their states, most states first."""
    lines: list[tuple[str, ...]] = []
    for (value, price), policy in stakes.policies.items():
        states: dict[Joint, list[str]] = {}
        for state, row in policy.rows.items():
            states.setdefault(next(iter(row)), []).append(state)
        ordered = sorted(states.items(), key=lambda item: (-len(item[1]), item[0]))
        for joint, where in ordered:
            lines.append((f"{value:g}", f"{price:g}", " ".join(joint), " ".join(sorted(where))))
    return lines


def as_json(score: StakesScore) -> dict[str, Any]:
    """A score as plain values; infinite ones in words, as JSON has no others."""
    cells = zip(_COLUMNS, _cells(score), strict=True)
    return {name: str(cell) if isinstance(cell, float) and math.isinf(cell) else cell for name, cell in cells}


def _cells(score: StakesScore) -> list[Any]:
    risk = (None, None, None) if score.risk is None else score.risk.with_ends
    shares = score.accuracy.value, score.abstention.value, score.coverage
    return [score.value, score.price, score.system, score.n, *shares, *risk, *score.utility.with_ends]


def _draw(stakes: Stakes, held_out: Sequence[Simulated], path: Path) -> None:
    """Risk against coverage: one panel for each value of a right answer."""
    values = list(dict.fromkeys(score.value for score in stakes.scores))
    answered = f"answers by {stakes.reader}; " if stakes.reader else ""
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
            _panel(axes, scores, refusal_curve(held_out))
            title = f"a right answer is worth {value:g} more than silence"
            plots.label(
                axes, "coverage: share of questions answered", "risk: share of the answers that are wrong", title
            )
        plots.key(made)


def _panel(axes: Any, scores: Sequence[StakesScore], refusal: Sequence[tuple[float, float]]) -> None:
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
    for name, marker in _FIXED:
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
