"""DeepRole (Serrino et al. 2019, "Finding Friend and Foe in Multi-Agent Games", arXiv 1906.02330): a plugin of parlour."""

from __future__ import annotations

from typing import Final

from parlour.policies.registry import PolicyKind

DEEPROLE: Final = "deeprole"
KIND: Final[PolicyKind] = PolicyKind(
    DEEPROLE,
    "parlour_deeprole.player:DeepRolePlayer",
    "file",
    extra="batch",
    first="file",
    shown=f"{DEEPROLE}:FILE",
    about="DeepRole, at its own table of Avalon, with the deeprole.npz that `train deeprole` wrote",
)
