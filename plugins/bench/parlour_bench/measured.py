"""What is measured of a benchmark's games, apart from their results: seconds of the player's turns.

`measured.jsonl` in the directory of a run has a line for each game that was played, in the order in which games were finished:

    {"table": "avalon-6", "game": "avalon_v0-2197483648-...", "decisions": 21, "seconds": 34.2}

It grows over all calls of a run. A game whose line was lost in a kill is not among them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Final

from parlour.envs.common.json_values import json_value
from parlour.training.statistics import Estimate

GAMES: Final = "measured.jsonl"


@dataclass(frozen=True)
class GameClock:
    """Writes the lines of one table's games. Satisfies `GameRunner.finished`."""

    folder: Path
    """The directory of the run."""
    table: str
    player: str
    """The name under which the player sits."""

    def __call__(self, job: Any, game: Any) -> None:
        own = [made for (name, _), made in zip(job.players, game.decisions, strict=True) if name == self.player]
        line = {
            "table": self.table,
            "game": f"{job.transcript.parent.name}/{job.transcript.stem}" if job.transcript else "",
            "decisions": sum(decision.decisions for decision in own),
            "seconds": round(sum(decision.seconds for decision in own), 3),
        }
        path = self.folder / GAMES
        torn = path.exists() and not path.read_bytes().endswith(b"\n")
        with path.open("a", encoding="utf-8") as file:
            file.write("\n" * torn + json.dumps(line) + "\n")


def seconds_a_game(folder: Path) -> Estimate | None:
    """Seconds of the player's turns in a game, over all games of a run that have a line; None without one."""
    path = folder / GAMES
    if not path.exists():
        return None
    by_game: dict[tuple[str, str], float] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            stored = json_value(line)
            by_game[str(stored["table"]), str(stored["game"])] = float(stored["seconds"])
        except (ValueError, KeyError, TypeError):
            continue  # a kill left a part of it
    return Estimate.mean(list(by_game.values()), (0.0, inf)) if by_game else None
