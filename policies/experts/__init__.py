"""Experts: trained networks that come with parlour, each for one table, found by the game and its configuration.

`data/NAME.npz` is a `TrainedSeat` in half precision, `data/NAME.json` its card. `scripts/make-expert` writes both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies.experts.card import ExpertCard, Exploit, Points
from parlour.policies.trained import SUFFIX, TrainedSeat

__all__ = ["EXPERT", "ExpertCard", "Exploit", "Points", "card_for", "cards", "expert", "has_expert"]

EXPERT: Final = "expert"
"""What experts are called on the command line, whatever the table."""
DATA: Final = Path(__file__).parent / "data"
"""Where networks and cards are."""


def cards(folder: Path | None = None) -> list[ExpertCard]:
    """The cards of all experts, by name.

    Args:
        folder: Where they are; None: those that come with parlour.

    Raises:
        ParlourError: A file is no card.
    """
    return [ExpertCard.read(path) for path in sorted((folder or DATA).glob("*.json"))]


def expert(game: str, config: Mapping[str, Any], folder: Path | None = None) -> TrainedSeat:
    """The expert for a table.

    Args:
        game: Registry name of the game.
        config: Its configuration, `game.config`.
        folder: As for `cards`.

    Raises:
        ParlourError: There is none for this table, or its file is not the one that its card tells of.
    """
    found = card_for(game, config, folder)
    if found is None:
        tables = "; ".join(f"{card.game} with {dict(card.config)}" for card in cards(folder))
        raise ParlourError(
            f"there is no expert for {game} with {dict(config)}; there are experts for: {tables or 'none'}"
        )
    path = (folder or DATA) / f"{found.name}{SUFFIX}"
    if not path.exists() or sha256(path.read_bytes()).hexdigest() != found.sha256:
        raise ParlourError(f"{str(path)!r} is missing or not the file of its card; accepted: sha256 {found.sha256}")
    return TrainedSeat.load_for(path, game, config)


def has_expert(game: str, config: Mapping[str, Any]) -> bool:
    """Whether there is an expert for a table; arguments as for `expert`."""
    return card_for(game, config) is not None


def card_for(game: str, config: Mapping[str, Any], folder: Path | None = None) -> ExpertCard | None:
    """The card of the expert for a table, None where there is none; arguments as for `expert`."""
    return next((card for card in cards(folder) if _same_table(card, game, config)), None)


def _same_table(card: ExpertCard, game: str, config: Mapping[str, Any]) -> bool:
    """Compared as files hold configurations: lists in place of tuples."""
    return card.game == game and dict(card.config) == json.loads(json.dumps(dict(config)))
