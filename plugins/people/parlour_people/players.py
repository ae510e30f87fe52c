"""The policies `clone` and `conduct`, by their names."""

from typing import Final

from parlour.policies.registry import PolicyKind

CLONE: Final[PolicyKind] = PolicyKind(
    "clone",
    "parlour_people.cloned:ClonedPlayer",
    "file",
    first="file",
    shown="clone:FILE",
    about="Players of Avalon cloned from recorded games, the clone.npz that `train clone` wrote",
)
CONDUCT: Final[PolicyKind] = PolicyKind(
    "conduct",
    "parlour_people.habits.player:ConductPlayer",
    "file",
    first="file",
    shown="conduct:FILE",
    about="The heuristic of Avalon by the habits.json that `train habits` wrote, with conduct and words",
)
