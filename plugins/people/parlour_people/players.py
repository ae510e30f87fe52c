"""The policies `clone` and `conduct`, by their names."""

from typing import Final

from parlour.policies.registry import PolicyKind, kind_of

CLONE: Final[PolicyKind] = kind_of(
    "clone",
    "table",
    "file",
    "parlour_people.cloned:ClonedPlayer",
    first="file",
    shown="clone:FILE",
    about="Players of Avalon cloned from recorded games, the clone.npz that `train clone` wrote",
)
CONDUCT: Final[PolicyKind] = kind_of(
    "conduct",
    "table",
    "file",
    "parlour_people.habits.player:ConductPlayer",
    first="file",
    shown="conduct:FILE",
    about="The heuristic of Avalon by the habits.json that `train habits` wrote, with conduct and words",
)
