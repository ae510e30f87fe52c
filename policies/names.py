"""Names of players, and of the offline model, that several modules use."""

from typing import Final

RANDOM: Final = "random"
HEURISTIC: Final = "heuristic"
EXPERT: Final = "expert"
MIXED: Final = "mixed"
OFFLINE: Final = "offline"
"""The model that answers by heuristics; no language model."""
SUFFIX: Final = ".npz"
"""Ending of a trained seat's file."""
LOGIC: Final = "logic"
MCTS: Final = "mcts"
ZOO: Final = (LOGIC, MCTS)
"""Players of `parlour.policies.zoo`."""
