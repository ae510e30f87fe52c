"""Imitation: a network learns to say what the heuristic says. Cross-entropy of its replies' tokens, AdamW."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from parlour.training.learn.language_model.config import ImitationConfig
from parlour.training.learn.language_model.games import SeatGame
from parlour.training.learn.language_model.network import token_logits

CLIP: Final = 1.0
"""Norm of a gradient at most."""


def optimizer_of(model: Any, rate: float) -> Any:
    """AdamW without weight decay."""
    return torch.optim.AdamW(model.parameters(), lr=rate, betas=(0.9, 0.95), weight_decay=0.0)


def rate_at(config: ImitationConfig, step: int, steps: int) -> float:
    """The learning rate of a step: it rises over the warm-up, and falls to zero over the last half.

    >>> config = ImitationConfig(rate=1.0, warm_up=4)
    >>> [rate_at(config, step, 12) for step in (0, 3, 6, 9, 11)]
    [0.25, 1.0, 1.0, 0.5, 0.16666666666666666]
    """
    return config.rate * min((step + 1) / config.warm_up, 1.0, 2 * (steps - step) / steps)


def places(game: SeatGame) -> list[int]:
    """Where the tokens of the replies are predicted: one place before each."""
    return [one.start + k - 1 for one in game.replies for k in range(len(one.tokens))]


def imitate(model: Any, optimizer: Any, games: Sequence[SeatGame], rate: float, pad: int) -> float:
    """One step on games of the heuristic: the mean cross-entropy of the tokens of its replies, in nats, before the step."""
    kept = [game for game in games if game.replies]
    logits = token_logits(model, [game.tokens for game in kept], [places(game) for game in kept], pad)
    wanted = torch.as_tensor([token for game in kept for one in game.replies for token in one.tokens])
    loss = torch.nn.functional.cross_entropy(logits, wanted)
    step(model, optimizer, loss, rate)
    return float(loss.detach())


def step(model: Any, optimizer: Any, loss: Any, rate: float) -> None:
    """Move the weights once."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    optimizer.step()
