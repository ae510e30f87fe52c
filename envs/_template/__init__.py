"""Coin: a tiny complete game, to copy. One player sees a coin and speaks; the other guesses.

| | |
|---|---|
| Name | `template_v0` |
| Players | 2, agents `player_0` (keeper) and `player_1` (guesser) |
| Returns | guesser: +1 if right, -1 if wrong; keeper: the opposite |
| Reasons of the end | `guess`, `forfeit` (a wrapper's setting) |
| Time | turns have one fixed order and reveal nothing; a game with hidden turns defines its cycles (`parlour.envs.adapters.moment`) |

`parlour new NAME` makes a package of its own from this game. Change `vocabulary.py`, `rules.py`, `text.py`, `encode.py`, the
heuristic and this card, then run `parlour check`.

Versions: v0, first.
"""

from __future__ import annotations

from parlour.envs._template.rules import Coin
from parlour.envs._template.text import CoinText
from parlour.envs._template.vocabulary import SIDES
from parlour.envs.spec import Encoders, GameOptions, GameSpec


class CoinSpec(GameSpec):
    """What the registry reads. A game with options has a class of them, as `parlour.envs.avalon.options`."""

    id = "template_v0"
    title = "Coin, a tiny game to copy"
    sides = SIDES
    heuristic = "parlour.policies.heuristic.template:CoinPlayer"

    def build(self, options: GameOptions) -> Coin:
        return Coin()

    def text(self, game: Coin) -> CoinText:
        return CoinText()

    def encoder(self, game: Coin) -> Encoders:
        from parlour.envs._template.encode import CoinEncoders  # NumPy is imported with the first environment

        return CoinEncoders(game)


GAME = CoinSpec()
