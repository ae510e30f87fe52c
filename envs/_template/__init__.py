"""Coin: a tiny complete game, to copy. One player sees a coin and speaks; the other guesses.

| | |
|---|---|
| Name | `template_v0` |
| Players | 2, agents `player_0` (keeper) and `player_1` (guesser) |
| Returns | guesser: +1 if right, -1 if wrong; keeper: the opposite |
| Reasons of the end | `guess`, `forfeit` (a wrapper's setting) |
| Time | turns have one fixed order and reveal nothing; a game with hidden turns defines its cycles (`parlour.envs.moment`) |

`parlour new NAME` makes a package of its own from this game. Change `vocabulary.py`, `rules.py`, `text.py`, `encode.py`, the
heuristic and this card, then run `parlour check`.

Versions: v0, first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from parlour.envs._template.rules import Coin
from parlour.envs._template.text import CoinText
from parlour.envs._template.vocabulary import SIDES, SUMMARY
from parlour.envs.core import TABLE, GameSpec, own_frame_only

if TYPE_CHECKING:
    from parlour.envs._template.encode import CoinEncoder


class CoinSpec(GameSpec):
    """What the registry reads; `parlour.envs.core.GameSpec` has more that a game may tell."""

    id = "template_v0"
    title = "Coin, a tiny game to copy"
    sides = SIDES
    features = (TABLE, SUMMARY)
    heuristic = "parlour.policies.heuristic.template:CoinPlayer"

    def build(self) -> Coin:
        return Coin()

    def text(self, game: Coin) -> CoinText:
        return CoinText()

    def encoder(self, game: Coin) -> CoinEncoder:
        from parlour.envs._template.encode import CoinEncoder  # NumPy is imported with the first environment

        return CoinEncoder()

    def seat_encoder(self, game: Coin, features: str) -> CoinEncoder:
        """Keeper and guesser differ by their place, so that each sees from its own what it sees at the table."""
        if features != SUMMARY:
            raise own_frame_only(self, features)
        return self.encoder(game)


GAME = CoinSpec()
