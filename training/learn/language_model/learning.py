"""Learning from whole games with credit for each reply: our own loop, no trainer of TRL's.

The credit of a reply is

    return_weight x (return of its game - mean return of the games of its deal)
    + canonical_weight x (1 if it is one of the options word for word, else 0; - the mean of that over the batch)

The second part is of replies that choose: any words are good speech. (With legality in its
place, words drifted from the options: of the choices of one run .96 were canonical before and .93 after.) The loss is PPO's clipped one (Schulman et al. 2017) without
a learned value: the group of games on one deal takes the value's place, as in GRPO (Shao et al. 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from parlour.training.learn.language_model.config import LearningConfig
from parlour.training.learn.language_model.games import SeatGame
from parlour.training.learn.language_model.imitation import places, step
from parlour.training.learn.language_model.network import token_logits


@dataclass(frozen=True)
class Played:
    """What a batch of games came to."""

    games: int
    wins: int
    choices: int
    """Replies that choose."""
    legal: int
    """Of these."""

    @classmethod
    def of(cls, games: Sequence[SeatGame]) -> Played:
        """Counts of games."""
        choices = [one.judged.legal for game in games for one in game.replies if not one.judged.speech]
        return cls(len(games), sum(game.won for game in games), len(choices), sum(choices))


def credits_of(games: Sequence[SeatGame], config: LearningConfig) -> list[list[float]]:
    """The credit of each reply of each game.

    Args:
        games: A batch; those with the same seed are of one deal.
        config: The weights.
    """
    returns: dict[int, list[float]] = {}
    for game in games:
        returns.setdefault(game.seed, []).append(game.reward)
    canonical = [one.judged.canonical for game in games for one in game.replies if not one.judged.speech]
    usual = sum(canonical) / max(1, len(canonical))
    found = []
    for game in games:
        gain = config.return_weight * (game.reward - float(np.mean(returns[game.seed])))
        found.append(
            [
                gain if one.judged.speech else gain + config.canonical_weight * (one.judged.canonical - usual)
                for one in game.replies
            ]
        )
    return found


def learn(
    model: Any,
    optimizer: Any,
    games: Sequence[SeatGame],
    credit: Sequence[Sequence[float]],
    config: LearningConfig,
    rate: float,
    pad: int,
) -> None:
    """Move the weights once by games and the credit of their replies."""
    kept = [(game, own) for game, own in zip(games, credit, strict=True) if game.replies]
    logits = token_logits(model, [game.tokens for game, _ in kept], [places(game) for game, _ in kept], pad)
    replies = [(one, gain) for game, own in kept for one, gain in zip(game.replies, own, strict=True)]
    said = torch.as_tensor([token for one, _ in replies for token in one.tokens])
    sampled = torch.as_tensor([chance for one, _ in replies for chance in one.chances], dtype=torch.float32)
    gains = torch.as_tensor([gain for one, gain in replies for _ in one.tokens], dtype=torch.float32)
    now = logits.log_softmax(-1).gather(1, said[:, None])[:, 0]
    ratio = (now - sampled).exp()
    clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
    step(model, optimizer, -torch.minimum(ratio * gains, clipped * gains).mean(), rate)
