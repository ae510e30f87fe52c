"""The settings of `scripts/train_lm.py`: which game and role, the network, the budgets, and how credit is given.

Budgets are counted in steps and games, so that a seed reproduces a run whatever else the machine does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from parlour.envs.core import check_from


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """A Llama of one to three million parameters."""

    hidden: int = 192
    layers: int = 2
    heads: int = 8
    inner: int = 512
    """Width of the feed-forward layers."""
    spread: float = 0.06
    """Standard deviation of the first weights."""
    vocabulary: int = 1536
    """Tokens at most, bytes and special ones included."""
    context: int = 1024
    """Tokens of a game at most."""
    reply: int = 16
    """Tokens of a reply at most; a longer one is cut there."""


@dataclass(frozen=True, kw_only=True)
class ImitationConfig:
    """Learning to say what the heuristic says, from games in which it plays the role."""

    steps: int = 400
    games: int = 16
    """In each step, each seen once."""
    rate: float = 3e-3
    """Learning rate after the warm-up, before it falls to zero over the last half."""
    warm_up: int = 20


@dataclass(frozen=True, kw_only=True)
class LearningConfig:
    """Learning from whole games of its own, with credit for each reply."""

    steps: int = 32
    deals: int = 16
    """In each step."""
    group: int = 8
    """Games of each deal, which differ in what the model says alone."""
    updates: int = 4
    """Of the weights in each step, with the games of as many parts of the deals; at most one for each deal."""
    rate: float = 5e-4
    """Learning rate of the first step; it falls to zero over the run."""
    return_weight: float = 0.5
    """Of a game's return less the mean of its group."""
    canonical_weight: float = 1.0
    """Of whether a reply is one of the options word for word, less the mean of the batch; replies that choose, not speech."""
    clip: float = 0.2
    """How far the chance of a token may move from what it was sampled with, as in PPO."""


@dataclass(frozen=True, kw_only=True)
class LanguageModelConfig:
    """All that decides a run.

    Raises:
        ParlourError: A setting is not accepted.
    """

    game: str = "werewolf_v0"
    options: Mapping[str, Any] = field(default_factory=lambda: {"num_players": 4})
    role: str = "Werewolf"
    """Which the model plays; the heuristic plays the other seats."""
    seed: int = 0
    network: NetworkConfig = NetworkConfig()
    imitation: ImitationConfig = ImitationConfig()
    learning: LearningConfig = LearningConfig()
    longer_steps: int = 700
    """More steps of imitation, for the model that learning is compared with: no less processor time than
    `learning` takes (about twice as much)."""
    every: int = 2
    """Steps of learning between two points of the curve."""
    held_out: int = 400
    """Deals of the final measurement, used once."""

    def __post_init__(self) -> None:
        check_from("seed", self.seed, 0)
        for name in ("longer_steps", "every", "held_out"):
            check_from(name, int(vars(self)[name]), 1)
        for name in ("steps", "games"):
            check_from(f"imitation.{name}", int(vars(self.imitation)[name]), 1)
        for name in ("steps", "deals", "group", "updates"):
            check_from(f"learning.{name}", int(vars(self.learning)[name]), 1)
