"""Tokens of many replies at once, each drawn by chance of its own and as if its prompt were computed alone.

A token is the one of highest log-probability / temperature + Gumbel noise, which draws from the distribution (Gumbel 1954; Maddison,
Tarlow and Minka, A* Sampling, 2014); at temperature 0 the one of highest score. The noise of a game comes from its own generator.

What else is in a batch changes scores in their last digits, because sums are taken in another order: by less than 1e-5 in
float32. So where the two best are closer than `CLOSE`, the row is computed again alone, without padding, and that decides. What
is drawn is the same in any batch as long as the scores differ by less than half of `CLOSE`; in half precision they differ
by more, and nothing is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import torch
import transformers

CLOSE: Final = 1e-3
"""Of scores over temperature."""
_EXACT: Final = (torch.float32, torch.float64)


@dataclass
class Drawing:
    """One reply in the making."""

    prompt: tuple[int, ...]
    rng: np.random.Generator
    temperature: float
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    ended: bool = False
    again: int = 0
    """How many tokens were computed again alone."""

    def noise(self, size: int) -> torch.Tensor | None:
        """Of the next token, shape (tokens,); None at temperature 0."""
        return torch.from_numpy(self.rng.gumbel(size=size)) if self.temperature else None

    def scaled(self, scores: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of the distribution that is drawn from, shape (tokens,), in double precision."""
        return torch.log_softmax(scores.double().cpu() / (self.temperature or 1.0), dim=-1)

    def take(self, token: int, scaled: torch.Tensor) -> None:
        """Add a token."""
        self.ids.append(token)
        self.logprobs.append(float(scaled[token]))


class OwnDraws(transformers.LogitsProcessor):
    """Leaves, of the scores of each row, the token that it draws.

    Args:
        rows: The replies, in the order of the rows.
        model: Computes a row alone.
    """

    def __init__(self, rows: Sequence[Drawing], model: Any) -> None:
        self._rows, self._model = rows, model
        self._checked = model.dtype in _EXACT

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores, shape (rows, tokens) -> the same shape: 0 for the token that is taken, else minus infinity."""
        chosen = torch.zeros(len(self._rows), 1, dtype=torch.long)
        for k, row in enumerate(self._rows):
            if not row.ended:
                chosen[k] = self._draw(row, scores[k])
        left = torch.full_like(scores, -torch.inf)
        return left.scatter_(1, chosen.to(scores.device), 0.0)

    def _draw(self, row: Drawing, scores: torch.Tensor) -> int:
        noise = row.noise(scores.shape[-1])
        scaled = row.scaled(scores)
        best = torch.topk(scaled if noise is None else scaled + noise, min(2, scaled.numel()))
        if self._checked and len(best.values) > 1 and float(best.values[0] - best.values[1]) < CLOSE:
            scaled = row.scaled(self._alone(row))
            best = torch.topk(scaled if noise is None else scaled + noise, 1)
            row.again += 1
        row.take(int(best.indices[0]), scaled)
        return row.ids[-1]

    @torch.no_grad()
    def _alone(self, row: Drawing) -> torch.Tensor:
        """Scores of the next token of one row, computed from its own tokens alone: shape (tokens,)."""
        ids = torch.tensor([[*row.prompt, *row.ids]], device=self._model.device)
        scores: torch.Tensor = self._model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False).logits[
            0, -1
        ]
        return scores


class Finished(transformers.StoppingCriteria):
    """Which replies are complete.

    Args:
        rows: The replies, in the order of the rows.
        ends: Tokens that end a reply.
        complete: Whether these tokens are a complete reply; None: only `ends` tell.
    """

    def __init__(
        self, rows: Sequence[Drawing], ends: frozenset[int], complete: Callable[[Sequence[int]], bool] | None
    ) -> None:
        self._rows, self._ends, self._complete = rows, ends, complete

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        """A truth value for each row."""
        for row in self._rows:
            if not row.ended:
                row.ended = row.ids[-1] in self._ends or (self._complete is not None and self._complete(row.ids))
        return torch.tensor([row.ended for row in self._rows], device=input_ids.device)
