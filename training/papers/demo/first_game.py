"""The demo's first look: one game of Avalon with the expert of the table in a seat, recorded within seconds. Ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from parlour.policies import HeuristicPolicy, make_policy
from parlour.policies.experts import EXPERT, has_expert
from parlour.training.papers.demo.section import DemoConfig
from parlour.training.play import rollout
from parlour.wrappers import Recorder

_GAME: Final = "avalon_v0"
FOLDER: Final = "first-game"
_SEAT: Final = 0
"""The expert's; the others are played by heuristic."""


def first_game(out: Path, config: DemoConfig) -> Path:
    """Play and record the game; returns its transcript. Without an expert for the table all seats are heuristics."""
    bare: Any = rollout.table(_GAME)
    table = bare.game_env.game.config
    names = [HeuristicPolicy.name] * len(bare.possible_agents)
    if has_expert(_GAME, table):
        names[_SEAT] = EXPERT
    header = {"players": dict(zip(bare.possible_agents, names, strict=True))}
    path = out / FOLDER / f"{_GAME}-1.jsonl"
    env = Recorder(bare, path, header=header, overwrite=True)
    rollout.play(env, [make_policy(name, _GAME, table) for name in names], config.seed)
    env.close()
    return path
