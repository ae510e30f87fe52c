"""Avalon by the rules under which the published games of GPT-5.1 were played.

| | |
|---|---|
| Name | `avalon_multi_round_v0` |
| Players | 5-10, agents `player_0` ... |
| Returns | +1 for every seat of the winning side, -1 for the losing side; 0 before the end |
| Reasons of the end | `quests`, `assassination`, `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: those of `avalon_v0`, then whom an evil seat holds for Merlin |
| Features | those of `avalon_v0`; they do not show the consultation |
| Time | the AEC form shows whose turn it is, and so who is evil before the guess: do not pass it to a seat |

It is Avalon with one difference for each sentence in `rules.py`. In text actions, words with a team, a vote or a guess follow its
sentence: "I approve the team. They have done well." Beliefs of `avalon_v0` do not know who gathered; the heuristic does.

Source: the records of "multi-round-avalon-agents" (S. Ellawela, 2026, MIT).

Versions: v0, first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.avalon.vocabulary import EVIL, GOOD
from parlour.envs.spec import GameOptions, GameSpec
from pydantic import Field

from parlour_people.multi_round.rules import MultiRoundAvalon

if TYPE_CHECKING:
    from parlour_people.multi_round.encode import MultiRoundEncoders
    from parlour_people.multi_round.text import MultiRoundText


class MultiRoundOptions(GameOptions):
    """What a table is made from."""

    num_players: int = Field(default=5, ge=PLAYERS[0], le=PLAYERS[-1])
    """Players at the table; the number decides the roles."""


class MultiRoundSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "avalon_multi_round_v0"
    title: ClassVar[str] = "Avalon as GPT-5.1 played it"
    options: ClassVar[type[MultiRoundOptions]] = MultiRoundOptions
    sides = (GOOD, EVIL)
    heuristic = "parlour_people.multi_round.player:MultiRoundPlayer"

    def build(self, options: MultiRoundOptions) -> MultiRoundAvalon:
        """The rules of one table."""
        return MultiRoundAvalon(options.num_players)

    def text(self, game: MultiRoundAvalon) -> MultiRoundText:
        """The wording."""
        from parlour_people.multi_round.text import MultiRoundText

        return MultiRoundText(game)

    def encoder(self, game: MultiRoundAvalon) -> MultiRoundEncoders:
        """The features of Avalon, with one move more."""
        from parlour_people.multi_round.encode import MultiRoundEncoders

        return MultiRoundEncoders(game)


GAME = MultiRoundSpec()
