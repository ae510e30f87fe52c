"""Makes policies better, and measures them.

`play` (one game, many games, people) -> `measure` (evaluate, arena, benchmark) -> `learn` (networks, tuning, mediators,
habits, clones); `records` (games that others played), `results` (tables, pictures, pages), `papers` (published results
reproduced), `harnesses` (other people's programs), `cli` (the command `parlour`).
"""

import sys

from parlour.training.moved import MovedModules

sys.meta_path.insert(0, MovedModules())
