"""Learn DeepRole's value networks, from the last standing of the game to the first (Serrino et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Final

import numpy as np
import torch
from parlour.training.learn.batch.networks import mlp, put_weights, use_one_thread, weights_of
from parlour.training.play import seeds
from parlour.training.report.report import Report
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run

from parlour_deeprole.config import DeepRoleConfig
from parlour_deeprole.deals import DEALS, EVIL, SEATS, VIEW, VIEWS, Array, other_seatings
from parlour_deeprole.solver import solve
from parlour_deeprole.values import STANDINGS, Standing, ValueNetwork, ValueNetworks

TEAM_SIZES: Final = {5: (2, 3, 2, 3, 3)}

_ONE_FAIL = 0.8
"""Share of failed quests with one fail card; the others have two."""


def draw_belief(at: Standing, rng: np.random.Generator) -> Array:
    """A public belief at a standing, float32 (60,), sums to 1.

    What a seat has shown is a factor for each of its views; their spread is drawn for each belief. A quest counts by the
    probability of its number of fails, where an evil member fails with a probability that is drawn, too.
    """
    while True:
        belief = np.ones(len(DEALS))
        spread = rng.uniform(0, 2)
        for seat in range(SEATS):
            belief *= np.exp(spread * rng.normal(size=VIEWS))[VIEW[seat]]
        results = rng.permutation([True] * at.successes + [False] * at.fails)
        for size, success in zip(TEAM_SIZES[SEATS], results, strict=False):
            belief *= _likelihood(size, bool(success), rng)
        if belief.sum() > 0:
            drawn: Array = (belief / belief.sum()).astype(np.float32)
            return drawn


def _likelihood(size: int, success: bool, rng: np.random.Generator) -> Array:
    """Of a quest's result in each deal, (60,)."""
    evil = EVIL[rng.choice(SEATS, size, replace=False)].sum(axis=0)
    fail = rng.uniform(0.1, 0.9)
    if success:
        likely: Array = (1 - fail) ** evil
    elif rng.random() < _ONE_FAIL:
        likely = evil * fail * (1 - fail) ** np.maximum(evil - 1, 0)
    else:
        likely = np.where(evil == 2, fail**2, 0)
    return likely


_BATCH: Final = 256
_RATE: Final = 3e-3
_POSSIBLE: Final = 0.3
"""Share of the error that counts all deals alike; the rest counts them by the belief."""
_SCALE: Final = 10


def fit(beliefs: Array, values: Array, config: DeepRoleConfig, start: ValueNetwork | None = None) -> ValueNetwork:
    """Fit a network.

    Args:
        beliefs: (N, 60).
        values: (N, 60): probability that good wins.
        config: Settings; each step sees 256 solved beliefs with the seats beside the leader exchanged at random.
        start: Weights to begin with.
    """
    use_one_thread()
    generator, rng = torch.Generator().manual_seed(config.seed), np.random.default_rng(config.seed)
    network = mlp((len(DEALS), config.hidden, config.hidden, len(DEALS)), "relu", generator)
    if start is not None:
        put_weights(network, [(weights.T, bias) for weights, bias in start.layers])
    optimiser = torch.optim.Adam(network.parameters(), _RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1, 0.01, config.fit_steps)
    seatings = other_seatings()
    for _ in range(config.fit_steps):
        rows, order = rng.integers(len(beliefs), size=_BATCH), seatings[rng.integers(len(seatings), size=_BATCH)]
        seen, wanted = (np.take_along_axis(of[rows], order, axis=1).astype(np.float32) for of in (beliefs, values))
        loss = _loss(network, torch.from_numpy(seen), torch.from_numpy(wanted))
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
    return ValueNetwork(tuple((np.ascontiguousarray(weights.T), bias) for weights, bias in weights_of(network)))


def _loss(network: torch.nn.Module, beliefs: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    weight = (1 - _POSSIBLE) * len(DEALS) * beliefs + _POSSIBLE
    loss: torch.Tensor = (weight * (torch.sigmoid(network(_SCALE * beliefs)) - values) ** 2).mean()
    return loss


def error(network: ValueNetwork, beliefs: Array, values: Array) -> float:
    """Root mean square error of the game's value, the mean over deals by the belief, over the rows."""
    game = (beliefs * (network(beliefs.astype(np.float32)) - values)).sum(axis=1)
    return float(np.sqrt((game**2).mean()))


PLAYER: Final = "deeprole.npz"
ERROR: Final = "eval/value_error"
_HELD: Final = 0.1
"""Share of the solved beliefs of a network that measure its error and are not fitted."""


@dataclass(frozen=True)
class LearnedValues:
    """What a run found."""

    networks: ValueNetworks
    errors: dict[str, float]
    """By standing: root mean square error of the game's value on held-out beliefs, 0..1."""
    seconds: float
    """Processor time of this process."""

    @property
    def report(self) -> Report:
        """The error of each network."""
        title = "Error of the game's value on held-out beliefs, by successes, fails and rejections"
        table = ResultTable(title, (Column("standing"), Column("error", ".4f")), tuple(self.errors.items()))
        values = {"networks": len(self.networks.networks), "errors": self.errors, "seconds": self.seconds}
        return Report("DeepRole's value networks", parts=(table,), values=values)


def learn(config: DeepRoleConfig, run: Run) -> LearnedValues:
    """Learn all networks, or resume a run after its last finished network.

    Writes `deeprole.npz`, which `--policy deeprole:FILE` plays.

    Raises:
        ParlourError: The directory holds another run or is in use.
    """
    began = process_time()
    with run.opened(config.plain()) as folder:
        done = run.restore(ValueNetworks.of_state) or ValueNetworks({}, config.plain())
        networks = dict(done.networks)
        standings = STANDINGS[:-1]  # nothing leads to the first one
        stage = Stage("Learning value networks", len(standings), "networks")
        for number, at in enumerate(standings):
            run.progress(stage, number)
            if at in networks:
                continue
            last = networks[standings[number - 1]] if number else None
            networks[at], wrong = _learn(at, number, config, ValueNetworks(networks), last)
            run.log({ERROR: wrong}, number + 1)
            run.checkpoint(ValueNetworks(networks, config.plain()).state_dict())
        player = ValueNetworks(networks, config.plain())
        player.save(folder / PLAYER)
        run.progress(stage, len(standings))
        errors = {at.name: row[ERROR] or 0.0 for at, (_, row) in zip(standings, run.curve, strict=False)}
        learned = LearnedValues(player, errors, round(process_time() - began, 1))
        learned.report.write(folder)
    return learned


def _learn(
    at: Standing, number: int, config: DeepRoleConfig, after: ValueNetworks, start: ValueNetwork | None
) -> tuple[ValueNetwork, float]:
    """The network of a standing, which begins with the weights of the one before; and its error."""
    seed = seeds.derive(config.seed, number)
    rng, size = np.random.default_rng(seed), TEAM_SIZES[SEATS][at.successes + at.fails]
    leaves, parts = after.leaves(at), []
    for _ in range(config.points):
        belief = draw_belief(at, rng)
        parts.append((belief, solve(belief, size, leaves, config.iterations).values))
    beliefs, values = map(np.array, zip(*parts, strict=True))
    held_out = max(1, round(_HELD * config.points))
    network = fit(beliefs[held_out:], values[held_out:], config.replace(seed=seed), start)
    return network, round(error(network, beliefs[:held_out], values[:held_out]), 6)
