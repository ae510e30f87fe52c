"""Werewolf as the AIWolf contest plays it: a possessed, a medium and a bodyguard, talk in turns, revotes, its language of talk.

| | |
|---|---|
| Name | `aiwolf_v0` |
| Players | 5, or 15, agents `player_0` ... |
| Returns | +1 for every seat of the winning side, -1 for the losing side; 0 before the end |
| Reasons of the end | `wolves_dead`, `parity`, `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: lines of the talk, proposals among wolves, targets by night and by day |
| Features | see `encode.py`; kernels show `summary` and `record` |
| Time | at night the AEC form shows whose turn it is, and so the roles: do not pass it to a seat |

Five players are a werewolf, a possessed, a seer and two villagers. Fifteen are three werewolves, a possessed, a seer, a medium, a
bodyguard and eight villagers. The rules, their source, and where parlour differs are in `rules.py`.

Versions: v0, first.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from parlour.envs.settings import OneOf
from parlour.envs.spec import GameOptions, GameSpec
from parlour.envs.werewolf.vocabulary import VILLAGE, WOLVES

from parlour_aiwolf.rules import AIWolf
from parlour_aiwolf.vocabulary import TABLES

if TYPE_CHECKING:
    from parlour_aiwolf.text import AIWolfText

EXPERTS: Final = Path(__file__).parent / "experts"
"""Trained networks and their cards."""


class AIWolfOptions(GameOptions):
    """What a table is made from."""

    num_players: Annotated[int, OneOf(tuple(TABLES))] = 5
    """Players at the table; the number decides the roles."""
    talk: bool = True
    """Whether wolves speak by night, and everybody by day."""


class AIWolfSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "aiwolf_v0"
    title: ClassVar[str] = "AIWolf's Werewolf"
    options: ClassVar[type[AIWolfOptions]] = AIWolfOptions
    sides = (VILLAGE, WOLVES)
    heuristic = "parlour_aiwolf.heuristic:AIWolfPlayer"

    def build(self, options: AIWolfOptions) -> AIWolf:
        """The rules of one table."""
        return AIWolf(rules=TABLES[options.num_players], talk=options.talk, config=options.plain())

    def text(self, game: AIWolf) -> AIWolfText:
        """The wording."""
        from parlour_aiwolf.text import AIWolfText

        return AIWolfText(game)

    def encoder(self, game: AIWolf) -> Any:
        """The features; see `encode.py`."""
        from parlour_aiwolf.encode import AIWolfEncoders

        return AIWolfEncoders(game)


GAME = AIWolfSpec()
