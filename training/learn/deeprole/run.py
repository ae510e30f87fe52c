"""Learn DeepRole's value networks, from the last standing of the game to the first (Serrino et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any, Final

import numpy as np
from parlour.envs.avalon.presets import TEAM_SIZES
from parlour.policies.deeprole.deals import SEATS
from parlour.policies.deeprole.values import STANDINGS, Standing, ValueNetwork, ValueNetworks, solve
from parlour.training.learn.checkpoints import Checkpoint
from parlour.training.learn.deeprole.config import DeepRoleConfig
from parlour.training.learn.deeprole.fit import Fitting, error, fit, joined
from parlour.training.learn.deeprole.samples import draw_belief
from parlour.training.play import seeds
from parlour.training.results.loggers import loggers, read_curve
from parlour.training.results.progress import Stage, StageProgress, no_progress
from parlour.training.results.runs import run_directory

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

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"networks": len(self.networks.networks), "errors": self.errors, "seconds": self.seconds}


def learn(
    config: DeepRoleConfig, out: str | Path, progress: StageProgress = no_progress, log: Iterable[str] = ()
) -> LearnedValues:
    """Learn all networks, or resume the run in `out` after its last finished network.

    Writes `deeprole.npz`, which `--policy deeprole:FILE` plays.

    Raises:
        ParlourError: `out` holds another run or is in use.
    """
    began = process_time()
    with run_directory(out, asdict(config)) as folder:
        checkpoint = Checkpoint(folder / "checkpoint.npz")
        done = checkpoint.load(ValueNetworks.load) or ValueNetworks({}, asdict(config))
        networks = dict(done.networks)
        standings = STANDINGS[:-1]  # nothing leads to the first one
        stage = Stage("Learning value networks", len(standings), "networks")
        curve = read_curve(folder)[: len(networks)]
        with loggers(folder, log, curve) as logger:
            for number, at in enumerate(standings):
                progress(stage, number)
                if at in networks:
                    continue
                last = networks[standings[number - 1]] if number else None
                networks[at], wrong = _learn(at, number, config, ValueNetworks(networks), last)
                curve.append((number + 1, {ERROR: wrong}))
                logger.log(curve[-1][1], number + 1)
                checkpoint.save(ValueNetworks(networks, asdict(config)).save)
        player = ValueNetworks(networks, asdict(config))
        player.save(folder / PLAYER)
        progress(stage, len(standings))
    errors = {at.name: row[ERROR] or 0.0 for at, (_, row) in zip(standings, curve, strict=False)}
    return LearnedValues(player, errors, round(process_time() - began, 1))


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
    beliefs, values = joined(parts)
    held_out = max(1, round(_HELD * config.points))
    network = fit(beliefs[held_out:], values[held_out:], Fitting(config.hidden, config.fit_steps, seed), start)
    return network, round(error(network, beliefs[:held_out], values[:held_out]), 6)
