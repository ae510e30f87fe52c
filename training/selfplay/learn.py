"""The learner's phases: each ends with a snapshot that joins the pool, a tally of its games, and a checkpoint.

The files of a phase are written before the checkpoint, which says how many phases are done. What a kill left of a phase that was
not finished is written anew, with the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import torch
from parlour.envs.core import ParlourError
from parlour.policies.files import read_json, replacing, write_json
from parlour.training.ppo import phases as learning
from parlour.training.ppo.phase_config import env_seeds
from parlour.training.ppo.vec import SeatVecEnv
from parlour.training.selfplay import pool, sampling
from parlour.training.selfplay.config import RULE, SelfplayConfig
from parlour.training.selfplay.sampling import Lineup, MemberScore
from parlour.training.selfplay.table import MakePoolSeat
from parlour.training.statistics import Rate, rate

PHASES: Final = "phases"


@dataclass(frozen=True)
class Phase:
    """A finished phase."""

    number: int
    """From 0."""
    tallies: tuple[MemberScore, ...]
    chances: dict[str, dict[str, float]]
    """Side of the learner -> member -> chance in the games that were not against itself."""

    @property
    def roles(self) -> list[tuple[str, str]]:
        """Each side and role that the learner played."""
        return sorted({(one.side, one.role) for one in self.tallies})

    def won(self, **of: str) -> Rate | None:
        """Share of the games that the learner won: of those whose `member`, `side` or `role` are these."""
        own = [one for one in self.tallies if of.items() <= vars(one).items()]
        return rate(sum(one.won for one in own), sum(one.n for one in own))


def learn(
    config: SelfplayConfig, sides: Sequence[str], folder: Path, progress: Callable[[int, str], None]
) -> list[Phase]:
    """Play all phases, or those that are missing in the folder.

    Args:
        config: How.
        sides: The two sides of the game.
        folder: Run directory.
        progress: Told the number of decisions made since the last call, and how it stands.
    """
    torch.set_num_threads(1)  # small networks: one thread is fastest, and sums in one order
    model = learning.load_model(folder)
    done = 0 if model is None else model.num_timesteps // config.phase_steps
    finished = [_read(folder, number) for number in range(done)]
    progress(done * config.phase_steps, _note(finished))
    for number in range(done, config.phases):
        lineup = sampling.lineup(
            config, pool.members(config, folder, number), sides, [phase.tallies for phase in finished]
        )
        make = MakePoolSeat(config.game, config.options, lineup)
        env = SeatVecEnv(make, env_seeds(config, number), config.processes)
        try:
            model = model or learning.new_model(config, env)
            counter = learning.Counter(progress)
            learning.learn_phase(model, config, number, env, counter)
        finally:
            env.close()
        with replacing(pool.snapshot_path(folder, number)) as new:
            learning.export(model, config).save(new)
        finished.append(_store(folder, number, lineup, counter.games))
        learning.save_model(model, folder)
        progress(0, _note(finished))
    return finished


def _note(finished: Sequence[Phase]) -> str:
    """How the last phase's games against the heuristic went; drawn actions, training games."""
    if not finished or (found := finished[-1].won(member=RULE)) is None:
        return ""
    return f"{found.rate:.2f} against {RULE}"


def _file(folder: Path, number: int) -> Path:
    return folder / PHASES / f"phase{number + 1:02d}.json"


def _store(folder: Path, number: int, lineup: Lineup, games: Sequence[dict[str, Any]]) -> Phase:
    names = [one.name for one in lineup.members]
    chances = {side: dict(zip(names, own, strict=True)) for side, own in lineup.chances.items()}
    phase = Phase(number, tuple(sampling.member_scores(games)), chances)
    write_json(_file(folder, number), asdict(phase))
    return phase


def _read(folder: Path, number: int) -> Phase:
    path = _file(folder, number)
    told = read_json(path)
    try:
        return Phase(told["number"], tuple(MemberScore(**one) for one in told["tallies"]), told["chances"])
    except (KeyError, TypeError) as error:
        raise ParlourError(f"{str(path)!r} cannot be used ({error}); accepted: what `train selfplay` left") from None
