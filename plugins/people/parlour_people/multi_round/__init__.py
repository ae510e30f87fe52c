"""Avalon by the rules under which the published games of GPT-5.1 were played.

| | |
|---|---|
| Name | `avalon_multi_round_v0` |
| Players | 5-10, agents `player_0` ... |
| Options | `num_players` |
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

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from parlour.envs.avalon import AvalonSpec
from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.avalon.vocabulary import turned
from parlour.envs.core import Move, check_one_of, counted
from parlour.envs.frames import Frame

from parlour_people.multi_round.rules import CONSULT, MultiRoundAvalon

if TYPE_CHECKING:
    from parlour.envs.avalon.rules import Avalon

    from parlour_people.multi_round.text import MultiRoundText


class MultiRoundSpec(AvalonSpec):
    """The registry reads it."""

    id: ClassVar[str] = "avalon_multi_round_v0"
    title: ClassVar[str] = "Avalon as GPT-5.1 played it"
    options: ClassVar[Mapping[str, str]] = {"num_players": "5..10"}
    heuristic = "parlour_people.multi_round.player:MultiRoundPlayer"
    batch = ""
    batch_heuristic = ""
    histories = ""
    prose = ""

    def build(self, *, num_players: int = 5) -> MultiRoundAvalon:  # type: ignore[override]
        """The rules of one table.

        Args:
            num_players: 5-10; the number decides the roles.

        Raises:
            ParlourError: An argument is not accepted.
        """
        check_one_of("num_players", num_players, PLAYERS)
        return MultiRoundAvalon(num_players)

    def text(self, game: Avalon) -> MultiRoundText:
        """The wording."""
        from parlour_people.multi_round.text import MultiRoundText

        return MultiRoundText(game)

    def frame(self, game: Avalon) -> Frame:
        """Seats differ only by where they sit: each counts from itself."""

        def moved(move: Move, by: int) -> Move:
            if move.kind != CONSULT:
                return turned(move, by, game.seats)
            return move._replace(args=tuple(counted(seat, by, game.seats) for seat in move.args))

        return Frame.of(game.catalogue, game.seats, moved)


GAME = MultiRoundSpec()
