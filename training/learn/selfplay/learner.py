"""The learner: a policy, a critic that sees all roles while learning, and an anchor; proximal policy optimisation.

PPO with clipped ratios (Schulman et al., arXiv 1707.06347). The divergence from the anchor, as in magnetic mirror
descent (Sokota et al., arXiv 2206.05825), preserves the imitation, and fades.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from parlour.envs.batch.tables import BatchTables
from parlour.envs.core import ParlourError, check_one_of
from parlour.policies import TrainedSeat
from parlour.training.learn.batch import kernels, networks
from parlour.training.learn.batch.networks import NetworkPlayer
from parlour.training.learn.selfplay.collect import Experience
from parlour.training.learn.selfplay.config import SelfplayConfig
from parlour.training.play import seeds
from parlour.training.runs.checkpoints import State
from torch import nn
from torch.nn import functional

META: Final = "parlour_learner"
_CHUNK: Final = 16_384  # decisions that the critic looks at in one call
_ILLEGAL: Final = -1e9


@dataclass(frozen=True)
class Rates:
    """The changing state of a run."""

    learning_rate: float
    entropy: float
    kl: float


def rates(config: SelfplayConfig, progress: float) -> Rates:
    """The coefficients at a share of the run, 0 to 1."""
    return Rates(
        config.learning_rate * max(0.1, 1 - progress),
        _between(config.entropy, config.last_entropy, progress),
        _between(config.kl, config.last_kl, progress),
    )


def _between(first: float, last: float, progress: float) -> float:
    """By equal factors; linearly where one end is zero."""
    if first > 0 and last > 0:
        return float(first * (last / first) ** progress)
    return first + (last - first) * progress


def on_device(device: str) -> torch.device:
    """Raises `ParlourError` for a device that this machine or this PyTorch does not have."""
    if device == "cpu":
        return torch.device("cpu")
    kind = device.split(":")[0]
    if kind != "cuda" or not torch.cuda.is_available():
        raise ParlourError(
            f"device {device!r} is not available here; accepted: cpu{', cuda' * torch.cuda.is_available()}"
        )
    return torch.device(device)


class SelfplayLearner:
    """The networks of a run and their optimiser.

    Args:
        config: Widths, coefficients, device.
        tables: Where it learns.
    """

    def __init__(self, config: SelfplayConfig, tables: BatchTables) -> None:
        self.config, self.tables, self.device = config, tables, on_device(config.device)
        generator = torch.Generator().manual_seed(seeds.derive(config.seed))
        self._sees = tables.hidden_size if config.critic == "roles" else 0
        if config.shared:
            self.policy = networks.shared_mlp(tables, config.hidden, config.activation, generator)
        else:
            self.policy = networks.mlp((tables.size, *config.hidden, tables.actions), config.activation, generator)
        self.critic = networks.mlp((tables.size + self._sees, *config.critic_hidden, 1), config.activation, generator)
        self.head = nn.Linear(config.hidden[-1], tables.hidden_size)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)
        for network in (self.policy, self.critic, self.head):
            network.to(self.device)
        kinds = [move.kind for move in tables.game.catalogue]
        for kind in config.entropy_of:
            check_one_of("kind of move", kind, tuple(dict.fromkeys(kinds)))
        self._fixed_entropy = torch.tensor([config.entropy_of.get(kind, -1.0) for kind in kinds], device=self.device)
        self.anchor = deepcopy(self.policy)
        self.optimiser = self._adam(config.learning_rate)
        self.rng = np.random.default_rng(seeds.derive(config.seed, seeds.Purpose.MINIBATCHES))

    def _adam(self, rate: float) -> torch.optim.Adam:
        return torch.optim.Adam(self._parameters(), lr=rate, eps=1e-5)

    def _parameters(self) -> list[nn.Parameter]:
        head = self.head.parameters() if self.config.infer else ()
        return [*self.policy.parameters(), *self.critic.parameters(), *head]

    def begin(self) -> None:
        """Imitation is over: a fresh optimiser, and the anchor is where learning starts."""
        self.optimiser = self._adam(self.config.learning_rate)
        self.anchor = deepcopy(self.policy)

    def adopt(self, player: NetworkPlayer) -> None:
        """Take over the weights of a player that sees the same features through layers of the same sizes, shared as here; no other one."""
        if player.features == tuple(self.tables.names) and (alike := networks.taken_over(self.policy, player.network)):
            self.policy.load_state_dict(alike.state_dict())

    def playing(self) -> nn.Module:
        """The policy where games are played: on the processor."""
        return self.policy if self.device.type == "cpu" else deepcopy(self.policy).cpu()

    # -- one update --------------------------------------------------------------------------------------------

    def update(self, experience: Experience, now: Rates) -> dict[str, float]:
        """Learn from the decisions; means over the last pass, none where no decision can be learned from."""
        config = self.config
        self._set_rate(now.learning_rate)
        seen, full, hidden, mask, action = self._on_device(experience)
        with torch.inference_mode():
            values = torch.cat([self.critic(part)[:, 0] for part in torch.split(full, _CHUNK)]).cpu().numpy()
        with torch.no_grad():
            anchored = torch.cat([self.anchor(part) for part in torch.split(seen, _CHUNK)])
        gains = np.zeros(len(values), np.float32)
        usable = np.zeros(len(values), np.bool_)
        kernels.advantages(*experience.turns, values, config.gae_lambda, gains, usable)
        arrays = (experience.log_prob, gains, gains + values)
        log_prob, gain, target = (torch.from_numpy(array).to(self.device) for array in arrays)
        batch = _Batch(seen, full, hidden, mask, action, log_prob, gain, target, anchored)
        losses: dict[str, float] = {}
        for _ in range(config.epochs):
            totals = [self._minibatch(batch, rows, now) for rows in self._minibatches(usable, experience)]
            if totals:
                means = torch.stack(totals).mean(dim=0).tolist()
                losses = dict(zip(("policy", "value", "entropy", "divergence", "change"), means, strict=True))
        return losses

    def _set_rate(self, rate: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def _on_device(self, experience: Experience) -> tuple[torch.Tensor, ...]:
        """Observations, the critic's inputs, hidden roles, masks and actions."""
        arrays = (experience.observation, experience.hidden, experience.mask, experience.action)
        seen, hidden, mask, action = (torch.from_numpy(array).to(self.device) for array in arrays)
        return seen, torch.cat([seen, hidden], dim=1) if self._sees else seen, hidden, mask, action

    def _minibatches(self, usable: NDArray[np.bool_], experience: Experience) -> Iterator[torch.Tensor]:
        """Numbers of the decisions that are learned from, of those with a choice, in a new order.

        None where there are fewer than two, as in few turns of long games: their advantages have no spread.
        """
        order = self.rng.permutation(np.flatnonzero(usable & (experience.mask.sum(axis=1) > 1)))
        if len(order) > 1:
            for part in np.array_split(order, max(1, len(order) // self.config.batch)):
                yield torch.from_numpy(part).to(self.device)

    def _minibatch(self, batch: _Batch, rows: torch.Tensor, now: Rates) -> torch.Tensor:
        config = self.config
        illegal = batch.mask[rows] == 0
        inside = self.policy[:-1](batch.seen[rows])
        logs = functional.log_softmax(self.policy[-1](inside).masked_fill(illegal, _ILLEGAL), dim=1)
        own = logs.gather(1, batch.action[rows, None])[:, 0]
        probabilities = logs.exp()
        entropies = -(probabilities * logs.masked_fill(illegal, 0.0)).sum(dim=1)
        entropy = entropies.mean()
        advantage = batch.advantage[rows]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        ratio = (own - batch.log_prob[rows]).exp()
        gain = torch.min(ratio * advantage, ratio.clamp(1 - config.clip, 1 + config.clip) * advantage).mean()
        value = ((self.critic(batch.full[rows])[:, 0] - batch.target[rows]) ** 2).mean()
        divergence = torch.zeros(())
        loss = -gain + 0.5 * value - (self._entropy_weights(illegal, now.entropy) * entropies).mean()
        if now.kl > 0:
            anchored = functional.log_softmax(batch.anchored[rows].masked_fill(illegal, _ILLEGAL), dim=1)
            divergence = (probabilities * (logs - anchored)).sum(dim=1).mean()
            loss = loss + now.kl * divergence
        if config.infer:
            loss = loss + config.infer * self._role_loss(inside, batch.hidden[rows])
        self._descend(loss)
        change = (batch.log_prob[rows] - own).mean()
        return torch.stack([x.detach().to("cpu") for x in (-gain, value, entropy, divergence, change)])

    def _entropy_weights(self, illegal: torch.Tensor, usual: float) -> torch.Tensor | float:
        """Coefficient of the entropy of each decision, by the kind of its legal moves."""
        if not self.config.entropy_of:
            return usual
        fixed = self._fixed_entropy.expand_as(illegal).masked_fill(illegal, -1.0).amax(dim=1)
        return torch.where(fixed >= 0, fixed, usual)

    def _role_loss(self, inside: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy of the roles of the other seats, as the head predicts them."""
        roles = hidden.reshape(len(hidden), self.tables.seats, -1)[:, 1:]
        logs = functional.log_softmax(self.head(inside).reshape(len(hidden), self.tables.seats, -1)[:, 1:], dim=2)
        return -(logs * roles).sum(dim=2).mean()

    def _descend(self, loss: torch.Tensor) -> None:
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._parameters(), 0.5)
        self.optimiser.step()

    # -- imitation ---------------------------------------------------------------------------------------------

    def imitate(self, experience: Experience) -> float:
        """One pass over decisions of another player: its actions, and the returns they led to. Mean cross-entropy."""
        returns = np.zeros(len(experience.action), np.float32)
        usable = np.zeros(len(experience.action), np.bool_)
        kernels.returns(*experience.turns, returns, usable)
        self._set_rate(self.config.imitation_rate)
        seen, full, hidden, mask, action = self._on_device(experience)
        target = torch.from_numpy(returns).to(self.device)
        losses: list[torch.Tensor] = []
        for rows in self._minibatches(usable, experience):
            inside = self.policy[:-1](seen[rows])
            logits = self.policy[-1](inside).masked_fill(mask[rows] == 0, _ILLEGAL)
            cross = functional.cross_entropy(logits, action[rows])
            loss = cross + 0.5 * functional.mse_loss(self.critic(full[rows])[:, 0], target[rows])
            if self.config.infer:
                loss = loss + self.config.infer * self._role_loss(inside, hidden[rows])
            self._descend(loss)
            losses.append(cross.detach().to("cpu"))
        return float(torch.stack(losses).mean()) if losses else 0.0

    # -- state -------------------------------------------------------------------------------------------------

    def state_dict(self, own_state: dict[str, Any]) -> dict[str, Any]:
        """Weights, optimiser and generator, with plain values of the run beside them."""
        arrays = {
            key: of for name, made in self._networks().items() for key, of in networks.arrays_of(name, made).items()
        }
        meta = {"kind": META, "told": own_state, "generator": self.rng.bit_generator.state}
        return meta | arrays | networks.adam_arrays(self.optimiser)

    def _networks(self) -> dict[str, nn.Module]:
        return {"policy": self.policy, "critic": self.critic, "anchor": self.anchor, "head": self.head}

    def load_state_dict(self, state: State) -> dict[str, Any]:
        """Put back what `state_dict` gave, and give the plain values of the run. Raises KeyError or RuntimeError for another state."""
        for name, network in self._networks().items():
            networks.load_arrays(name, network, state)
        networks.load_adam(self.optimiser, state)
        self.rng.bit_generator.state = state["generator"]
        own_state: dict[str, Any] = state["told"]
        return own_state

    def seat(self, *, sample: bool = True) -> TrainedSeat:
        """The policy as a trained seat, which needs no PyTorch; it draws from its probabilities, or plays the most probable."""
        tables, shape = self.tables, {"features": self.tables.features, "activation": self.config.activation}
        return TrainedSeat(tables.spec.id, tables.game.config, networks.weights_of(self.policy), sample=sample, **shape)


@dataclass(frozen=True)
class _Batch:
    """N decisions on the device."""

    seen: torch.Tensor
    full: torch.Tensor
    hidden: torch.Tensor
    mask: torch.Tensor
    action: torch.Tensor
    log_prob: torch.Tensor
    advantage: torch.Tensor
    target: torch.Tensor
    anchored: torch.Tensor
