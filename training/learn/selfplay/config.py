"""The settings of a run of self-play. Needs no PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from parlour.envs.core import ParlourError, accept
from parlour.envs.settings import COMMON, SPARSE, Settings
from parlour.policies import HeuristicPolicy, RandomPolicy
from pydantic import Field, model_validator

RANDOM: Final = RandomPolicy.name
RULE: Final = HeuristicPolicy.name
FIXED: Final = (RANDOM, RULE)
"""Members of every cross-play; the heuristic is the reference of all pictures."""

Critic = Literal["roles", "own"]
Weighting = Literal["hard", "near"]
Fixed = Literal["heuristic", "start"]
MINUTES: Final = 4.0
"""Processor time of a best response, where its settings have neither a time nor a number of decisions."""
LOSSES: Final = {
    "policy": "losses/policy_loss",
    "value": "losses/value_loss",
    "entropy": "losses/entropy",
    "divergence": "losses/anchor_kl",
    "change": "losses/old_approx_kl",
    "imitation": "losses/imitation_loss",
}
"""A loss -> the name of its metric."""
NOT_DECIDING: Final = ("device",)
"""Settings on which the result does not depend, except for rounding on another device."""
OF_0_3: Final[Mapping[str, Any]] = {"anchor": "start", "believed": 0.0, "exploit_every": 0}
"""Settings that a run of version 0.3 has besides -> the values with which it is as a run of today."""
UNUSED_OF_0_3: Final = ("anchor_every", "exploit_updates")
"""More of its settings, which have no effect then."""


class SelfplayConfig(Settings):
    """Everything that decides a run; stored with it.

    Raises:
        ParlourError: A setting is not accepted.
    """

    game: str = "avalon_v0"
    """Name of the game."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the game; those left out are the game's own defaults."""
    features: Annotated[str | None, COMMON] = None
    """Kind of features that it learns from; by default `belief` if the game has it, else `table`."""
    steps: Annotated[int, COMMON] = Field(default=12_000_000, ge=1)
    """Number of decisions to learn from."""
    minutes: Annotated[float | None, COMMON] = Field(default=None, gt=0)
    """Processor time after which learning ends at the next snapshot. A run with this limit is not reproducible byte for
    byte."""
    tables: int = Field(default=512, ge=1)
    """Number of games played side by side."""
    turns: int = Field(default=128, ge=1)
    """Turns of each game between two updates."""
    updates: int = Field(default=16, ge=1)
    """Updates between two snapshots."""

    start: Annotated[str, COMMON] = "heuristic"
    """Player that the network imitates first: heuristic, a policy file, a folder of transcripts, or none."""
    imitation_steps: int = Field(default=1_500_000, ge=1)
    """Decisions to imitate."""
    imitation_rate: float = Field(default=1e-3, gt=0, le=1)
    """Learning rate while imitating."""

    batch: int = Field(default=4096, ge=1)
    """Decisions in a minibatch of an update."""
    epochs: int = Field(default=2, ge=1)
    """Passes over the decisions in an update."""
    learning_rate: float = Field(default=5e-4, gt=0, le=1)
    """Learning rate; it decreases linearly to a tenth."""
    clip: float = Field(default=0.2, gt=0, le=1)
    """Limit of the change of an action's probability in an update (PPO)."""
    gae_lambda: float = Field(default=0.95, ge=0, le=1)
    """Lambda of generalised advantage estimation."""
    entropy: float = Field(default=0.003, ge=0)
    """Coefficient of the entropy bonus at the beginning."""
    last_entropy: float = Field(default=0.001, ge=0)
    """Coefficient of the entropy bonus at the end; in between it changes by equal factors."""
    entropy_of: Mapping[str, float] = Field(default_factory=dict)
    """Constant coefficient of the entropy bonus for one kind of move, such as guess=0.3; repeatable."""
    kl: float = Field(default=0.03, ge=0)
    """Coefficient of the divergence from the anchor, the network after imitation, at the beginning."""
    last_kl: float = Field(default=0.003, ge=0)
    """The same at the end; in between it changes by equal factors."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers."""
    shared: bool = False
    """Use one set of weights for all other seats: learns from fewer decisions at large tables. For features in the frame of a seat."""
    critic_hidden: tuple[int, ...] = (64, 64)
    """Widths of the critic's hidden layers."""
    activation: Literal["tanh", "relu"] = "relu"
    """Activation of the hidden layers."""
    critic: Critic = "roles"
    """Extra input of the critic while learning: the roles of all seats, or nothing."""
    false_claim: Annotated[float, SPARSE] = Field(default=0.0, ge=0)
    """Price of each claim that the network makes in a good seat and knows to be false, such as a check that it did not make. It counts
    while learning only."""
    infer: float = Field(default=0.0, ge=0)
    """Coefficient of an auxiliary loss: the network predicts the roles of the other seats from the same hidden layers."""
    bad_approval: Annotated[float, SPARSE] = Field(default=0.0, ge=0)
    """Price of each vote of the network in a good seat for a team with an evil seat, known to it or not. It counts while learning only."""

    fixed: Fixed = "heuristic"
    """Fixed opponent in addition to `members`: the heuristic, or the network after imitation (`start`)."""
    fixed_share: float = Field(default=0.5, ge=0, le=1)
    """Share of games against fixed players."""
    pool_share: float = Field(default=0.2, ge=0, le=1)
    """Share of the games against earlier snapshots; in the others the network plays all seats."""
    one_seat: float = Field(default=0.3, ge=0, le=1)
    """Share of the games against fixed players in which the network has a single seat."""
    opponents: int = Field(default=4, ge=1)
    """Number of earlier snapshots in the opponent pool between two snapshots."""
    members: tuple[str, ...] = ()
    """Another fixed player; repeatable."""
    population: Annotated[tuple[str, ...], COMMON] = ()
    """Stranger to play among: a player, or a run's folder for its early, middle and last snapshot; repeatable."""
    population_share: float = Field(default=0.3, ge=0, le=1)
    """Share of games among strangers, if there is a population."""
    stranger_seats: float = Field(default=1.0, ge=0, le=1)
    """Share of the other seats that strangers hold there; the network holds the rest."""
    weighting: Weighting = "hard"
    """Weight of a snapshot against which the network wins with frequency p: `hard`, (1 - p) ** power; `near`, 4 p (1 - p)."""
    power: float = Field(default=2.0, ge=0)
    """Power of the weighting `hard`."""
    floor: float = Field(default=0.02, gt=0, le=1)
    """Least weight of a snapshot."""
    memory: float = Field(default=0.5, ge=0, le=1)
    """Weight of a game in the estimates of p, one snapshot later."""

    validation_deals: int = Field(default=500, ge=1)
    """Number of deals for each point of the curve, each from both sides."""
    deals: Annotated[int, COMMON] = Field(default=500, ge=1)
    """Number of held-out deals for each pair of members, each from both sides."""
    test_deals: int = Field(default=2000, ge=1)
    """Number of held-out deals between the last snapshot, the first one and the heuristic, and in one seat."""
    shown: int = Field(default=6, ge=2)
    """Number of snapshots in the cross-play, evenly spaced, with the first and the last."""
    seed: Annotated[int, COMMON] = Field(default=0, ge=0)
    """The same seed gives the same result."""
    device: str = "cpu"
    """Where the network learns: cpu, cuda."""

    @property
    def prices(self) -> dict[str, float]:
        """What seats pay for while learning, by the names of settings."""
        return {name: getattr(self, name) for name in ("false_claim", "bad_approval")}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        shares = {name: getattr(self, name) for name in ("fixed_share", "pool_share")}
        shares |= {"population_share": self.population_share} if self.population else {}
        if sum(shares.values()) > 1 + 1e-9:
            given = " and ".join(f"{name} {share}" for name, share in shares.items())
            raise ParlourError(f"{given} are not accepted; accepted: at most 1 together")
        if self.test_deals < self.deals:
            raise accept("test_deals", self.test_deals, f"a whole number from deals ({self.deals})")
        known = (*FIXED, *self.members)
        if len(set(known)) < len(known):
            raise accept("members", ", ".join(self.members), f"different policies, none of {', '.join(FIXED)}")
        if len(set(self.population)) < len(self.population):
            raise accept("population", ", ".join(self.population), "different players or folders")
        return self


class BestResponseConfig(Settings):
    """What a best response learns with.

    Raises:
        ParlourError: A setting is not accepted.
    """

    game: str = "avalon_v0"
    """Name of the game."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of the game."""
    against: Annotated[str, COMMON] = RULE
    """The player to beat: heuristic, random or a policy file."""
    side: Annotated[str, COMMON] = "all"
    """The side that learns; `all`: each in turn."""
    minutes: Annotated[float | None, COMMON] = Field(default=None, gt=0)
    """Processor time of each best response, in minutes; None: 4, without `steps`."""
    steps: Annotated[int | None, COMMON] = Field(default=None, ge=1)
    """Decisions that each best response learns from, instead of minutes: the same on every machine."""
    deals: int = Field(default=2000, ge=1)
    """Number of held-out deals."""
    first_deal: int = Field(default=0, ge=0)
    """Number of the first of them."""
    features: str | None = None
    """Kind of features that it learns from; by default the own features of a network that sees the record, else `belief` if the game has it."""
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers."""
    seed: int = 0
    """Seed of the learner."""

    @model_validator(mode="after")
    def _one_budget(self) -> Self:
        if self.minutes is not None and self.steps is not None:
            raise ParlourError("minutes and steps are not accepted together; accepted: one of them")
        return self
