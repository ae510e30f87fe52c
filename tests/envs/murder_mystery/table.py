"""Tables of the murder mystery for its tests.

The tower (`cases/tower_en.json`): Ada, Ben, Cleo, Dov, Eve are seats 0 to 4; Ben killed Edgar (victim 0), Cleo and Dov
killed Fay (victim 1). The letter: four seats, nobody of them killed Lars (victim 0), Jun (seat 2) killed Mora (victim 1).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from parlour.envs.core import Move
from parlour.envs.murder_mystery import GAME
from parlour.envs.murder_mystery.vocabulary import ASK, CHOOSE, INTRODUCE

CASES = Path(__file__).parent / "cases"
ADA, BEN, CLEO, DOV, EVE = range(5)
INTRODUCED = Move(INTRODUCE)


def path(name: str) -> str:
    return str(CASES / f"{name}.json")


def table(name: str = "tower_en", **options: Any) -> Any:
    return GAME.build(GAME.options(case=path(name), **options))


def changed_case(file: Path, name: str, change: Any) -> str:
    """A case with changes, written to a file; its path."""
    case = json.loads(Path(path(name)).read_text("utf-8"))
    change(case)
    file.write_text(json.dumps(case), encoding="utf-8")
    return str(file)


def play(game: Any, *moves: Move, start: Any = None) -> Any:
    """The state after these moves."""
    s = game.initial() if start is None else start
    for move in moves:
        s = game.apply(s, move)
    return s


def introduced(game: Any, *moves: Move) -> Any:
    """The state after the introductions and these moves."""
    return play(game, *[INTRODUCED] * game.seats, *moves)


def choose(*seat: int) -> Move:
    return Move(CHOOSE, seat)


def ask(topic: int, about: int = -1, words: str = "") -> Move:
    return Move(ASK, (topic, about), words)
