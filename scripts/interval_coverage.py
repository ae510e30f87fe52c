"""How often the intervals of `parlour.training.statistics` contain the value they estimate; ends with 1 where it is too rarely.

    python scripts/interval_coverage.py [--draws 2000] [--seed 0]

Each line draws cases from a law whose mean is known, many times. An interval at 95 % should contain the mean in 95 of 100 draws; the
least that is accepted, LEAST, leaves room for small numbers of cases and for chance in the draws.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Final

import numpy as np
from parlour.envs.common.terminal import tell
from parlour.training.statistics import Estimate

LEAST: Final = 0.92
Draw = Callable[[np.random.Generator], Estimate | None]


def laws() -> dict[str, tuple[float, Draw]]:
    """What is drawn -> the true value, and an estimate from one draw."""
    found: dict[str, tuple[float, Draw]] = {}
    for n in (30, 200):
        for p in (0.1, 0.5, 0.9):
            found[f"rate {p} of {n}"] = (p, lambda rng, n=n, p=p: Estimate.rate(int(rng.binomial(n, p)), n))
        found[f"mean of rates .2 and .7, {n} each"] = (0.45, lambda rng, n=n: _rates(rng, n))
        found[f"paired .6 and .4, {n} deals"] = (0.2, lambda rng, n=n: _paired(rng, n))
        found[f"mean of points 0..1, {n} deals"] = (0.3, lambda rng, n=n: Estimate.mean(rng.beta(1.5, 3.5, n)))
        found[f"weighted mean, {n} cases"] = (
            0.3,
            lambda rng, n=n: Estimate.weighted_mean(rng.beta(1.5, 3.5, n), rng.integers(1, 4, n)),
        )
    return found


def _rates(rng: np.random.Generator, n: int) -> Estimate | None:
    both = [Estimate.rate(int(rng.binomial(n, p)), n) for p in (0.2, 0.7)]
    return Estimate.mean_of_rates([estimate for estimate in both if estimate is not None])


def _paired(rng: np.random.Generator, n: int) -> Estimate:
    """On the same deals: a deal has its own luck, so that both win or lose together more often than not."""
    luck = rng.random(n)
    a, b = luck + rng.normal(0, 0.2, n), luck + rng.normal(0, 0.2, n)
    less, more = np.quantile(_LUCK, (0.4, 0.6))
    return Estimate.paired(list(a > less), list(b > more))


_LUCK: Final = np.random.default_rng(0).random(400_000) + np.random.default_rng(1).normal(0, 0.2, 400_000)


def covered(true: float, draw: Draw, draws: int, rng: np.random.Generator) -> float:
    """The share of draws whose interval contains the true value."""
    inside = 0
    for _ in range(draws):
        estimate = draw(rng)
        inside += bool(estimate and estimate.low is not None and estimate.low <= true <= (estimate.high or 0.0))
    return inside / draws


def main() -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    shares = {}
    for number, (name, (true, draw)) in enumerate(laws().items()):
        shares[name] = covered(true, draw, given.draws, np.random.default_rng([given.seed, number]))
        tell(f"{name:36}{shares[name]:7.1%}")
    rare = [name for name, share in shares.items() if share < LEAST]
    if rare:
        tell(f"below {LEAST:.0%}: {', '.join(rare)}", error=True)
    return 1 if rare else 0


if __name__ == "__main__":
    sys.exit(main())
