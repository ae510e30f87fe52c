"""What a clone is compared with on games that none of them was learned from; all learn from the same training games.

* clone: the network; *clone, unheard*: the same network as if nothing had been said
* logistic: the same features without hidden units, with weights of each group drawn to common ones (a hierarchical logit)
* heuristic: how often the heuristic of parlour chose each move at the same View (`DRAWS`), mixed with even chances; the share
  of even chances is the one by which the training games are likeliest, so no recorded move is impossible
* heuristic, aided: mixed with the frequencies below instead
* habits: `AvalonHabits` with what the seat itself knows of the team; votes and cards only
* frequency: how often seats of the role chose a move of the sort in the training games, one more of each sort; even within it
* chance: all legal moves alike
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from parlour.policies.cloned.record import Array
from parlour.training.learn.clone.choices import ImitatedChoice

MODELS: Final = (
    "clone",
    "clone, unheard",
    "logistic",
    "heuristic",
    "heuristic, aided",
    "habits",
    "frequency",
    "chance",
)
CLONE, UNHEARD, LOGISTIC, HEURISTIC, AIDED, HABITS, FREQUENCY, CHANCE = MODELS

Model = Callable[[ImitatedChoice], Array]
"""The chances of the legal moves, shape (moves,); an empty array where it says nothing."""
