"""Coefficients in log-odds under normal priors: a part that tables of all numbers of players share, and a part of each one's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from parlour.envs.avalon.deals import Array
from parlour.envs.avalon.habits import Terms
from scipy.optimize import minimize


@dataclass(frozen=True)
class Widths:
    """Standard deviations of the priors, in log-odds."""

    shared: float = 1.5
    """Of what all tables share, around today's rates."""
    own: float = 0.5
    """Of what a number of players has of its own."""


def odds(chance: float) -> float:
    """Log-odds of a chance."""
    return log(chance / (1 - chance))


def one_hot(names: Sequence[str], **given: float) -> Terms:
    """Terms by name; those not given are zero."""
    return tuple(given.get(name, 0.0) for name in names)


Loss = Callable[[Array], tuple[float, Array]]
"""Coefficients -> - log likelihood and its gradient."""


def by_table(losses: Sequence[Loss], prior: Terms, widths: Widths) -> list[Terms]:
    """Coefficients for each of several tables that share a part: those of the least loss and squared distance to the prior."""
    size = len(prior)

    def loss(packed: Array) -> tuple[float, Array]:
        shared, *own = packed.reshape(-1, size)
        shift = shared - prior
        total = 0.5 * float((shift @ shift) / widths.shared**2 + (packed[size:] @ packed[size:]) / widths.own**2)
        slope = np.concatenate([shift / widths.shared**2, packed[size:] / widths.own**2])
        for k, (one, part) in enumerate(zip(losses, own, strict=True)):
            value, gradient = one(shared + part)
            total += value
            slope[:size] += gradient
            slope[(k + 1) * size : (k + 2) * size] += gradient
        return total, slope

    start = np.concatenate([np.array(prior), np.zeros(size * len(losses))])
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-10, "gtol": 1e-7})
    shared, *own = best.x.reshape(-1, size)
    return [tuple(float(one) for one in shared + part) for part in own]
