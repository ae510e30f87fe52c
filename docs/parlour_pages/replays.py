"""A recorded game of each kind, as a page of `parlour replay FILE --html`. Heuristics play it at each build."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from parlour.envs.registry import GAMES
from parlour.envs.replay import read
from parlour.policies import make_policy
from parlour.training.play import rollout
from parlour.training.play.parallel.concurrent_games import play_recorded
from parlour.training.replay.write import replay_html

SEED = 7


def pages() -> dict[str, str]:
    """`GAME.html` for each game of parlour."""
    return {f"{name}.html": _page(name) for name in GAMES}


def _page(name: str) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}-{SEED}.jsonl"
        table = rollout.table(name)
        game = table.unwrapped.game
        seats = [make_policy("heuristic", name, game.config) for _ in range(game.seats)]
        play_recorded(table, seats, ["heuristic"] * game.seats, SEED, path)
        return replay_html(read(path))
