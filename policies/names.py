"""Names of players that several modules use."""

from typing import Final

RANDOM: Final = "random"
HEURISTIC: Final = "heuristic"
EXPERT: Final = "expert"
SUFFIX: Final = ".npz"
"""Ending of a trained seat's file."""
