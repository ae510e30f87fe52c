"""What the tests of other libraries share: turns of a learner, and whole games whose moves are looked at."""

from __future__ import annotations

import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parlour.policies import RandomPolicy, make_policy
from parlour.policies.base import Policy
from parlour.training.cli import run
from parlour.training.learn import examples
from parlour.training.play.rollout import play, table

from tests import ROOT
from tests.integrations.pages import commands_of

FEATURES, MOVES = 99, 30  # of the examples' table
RANKS = 10


def turns(games: int = 3, seed: int = 0) -> Iterator[Any]:
    """Observations with features and mask, of a learner who plays at random."""
    env, rng = examples.learner_env(), np.random.default_rng(seed)
    for number in range(games):
        env.reset(seed=number)
        for _ in env.agent_iter():
            seen, _, over, _, info = env.last()
            if not over:
                yield seen
            env.step(None if over else int(rng.choice(np.flatnonzero(info["action_mask"]))))


class Watched(Policy):
    """Somebody else's player, whose moves are looked at."""

    wants = "features"

    def __init__(self, inner: Any) -> None:
        super().__init__()
        self.inner, self.moves = inner, 0

    def reset(self, seat: int, seed: int) -> None:
        self.inner.reset(seat, seed)

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        chosen: int = self.inner.act(observation, info)
        assert chosen in info["legal"]
        self.moves += 1
        return chosen


def play_a_hundred_games(name: str) -> Any:
    """The player of a name, after games at every seat of our table without an illegal move."""
    env = table(examples.GAME, **examples.OPTIONS)
    player = Watched(make_policy(name, examples.GAME, env.game_env.game.config))
    for seed in range(100):
        others = [RandomPolicy() for _ in range(4)]
        episode = play(env, [*others[: seed % 5], player, *others[seed % 5 :]], seed)
        assert not any(count for faults in episode.faults.values() for count in faults.values())
    assert player.moves > 700
    return getattr(player.inner, "player", player.inner)  # of another library, in its own features


def run_commands(
    name: str, steps: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    """Run the commands of a page in a folder: a shorter training, and on two deals the comparison that it proposes.

    Returns:
        The names that the training leaves.
    """
    _, training, comparison = commands_of(name)[:3]
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(ROOT))
    script = str(ROOT / training.removeprefix("python "))
    monkeypatch.setattr(sys, "argv", [script, "--steps", str(steps)])
    names = runpy.run_path(script, run_name="__main__")
    assert capsys.readouterr().out.splitlines()[-1] == comparison
    assert "--policy expert" in comparison
    assert run([*shlex.split(comparison)[1:], "--games", "2"]) == 0
    return names
