"""Where a policy is to sit, and who answers its questions: what `Policy.make` gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from parlour.policies.llm.model import Model


class Seating(NamedTuple):
    """Where a policy is to sit, and who answers its questions."""

    game: str
    """The game's id."""
    config: Mapping[str, Any]
    """Its configuration."""
    model: Model
