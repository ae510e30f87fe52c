"""A loop that draws legal actions by the logits of a network.

Every table has a stream of its own for what a player draws (`parlour.envs.batch.streams`), so that a game does not depend on
which games are played beside it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from parlour.envs.batch.compiled import loop
from parlour.envs.batch.streams import advance, fraction


@partial(loop, parallel=False)
def draw(logits: Any, mask: Any, rows: Any, stream: Any, actions: Any, log_probs: Any) -> None:
    """Draw a legal action for some tables from the softmax of its logits.

    Args:
        logits: Shape (m, A), a row for each of `rows`.
        mask: Legal actions of all tables, shape (B, A).
        rows: The tables, shape (m,).
        stream: Random streams of all tables, shape (B,).
        actions: Output: the drawn action of each table, shape (B,).
        log_probs: Output: their log-probabilities, shape (m,).
    """
    count = logits.shape[1]
    weight = np.empty(count, np.float64)
    for k in range(len(rows)):
        b = rows[k]
        top = -np.inf
        for a in range(count):
            if mask[b, a] and logits[k, a] > top:
                top = logits[k, a]
        total = 0.0
        last = 0
        for a in range(count):
            weight[a] = 0.0
            if mask[b, a]:
                weight[a] = np.exp(logits[k, a] - top)
                total += weight[a]
                last = a
        stream[b] = advance(stream[b])
        left = fraction(stream[b]) * total
        chosen = last
        for a in range(last):
            left -= weight[a]
            if left < 0 and weight[a] > 0:
                chosen = a
                break
        actions[b] = chosen
        log_probs[k] = np.log(weight[chosen] / total)
