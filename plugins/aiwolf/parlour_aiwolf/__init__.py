"""Werewolf as the AIWolf contest plays it: a possessed, a medium and a bodyguard, talk in turns, revotes, its language of talk.

| | |
|---|---|
| Name | `aiwolf_v0` |
| Players | 5 or 15, agents `player_0` ... |
| Options | `num_players`, `talk` |
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

from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from parlour.envs.core import TABLE, GameSpec, accept, own_frame_only
from parlour.envs.hidden_roles import FEATURES
from parlour.envs.werewolf.vocabulary import VILLAGE, WOLVES, turned

from parlour_aiwolf.rules import AIWolf
from parlour_aiwolf.vocabulary import TABLES

if TYPE_CHECKING:
    from parlour.envs.frames import Frame

    from parlour_aiwolf.encode import AIWolfEncoder, AIWolfTableEncoder
    from parlour_aiwolf.text import AIWolfText

EXPERTS: Final = Path(__file__).parent / "experts"
"""Trained networks and their cards."""


class AIWolfSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "aiwolf_v0"
    title: ClassVar[str] = "AIWolf's Werewolf"
    options: ClassVar[Mapping[str, str]] = {"num_players": ", ".join(map(str, TABLES)), "talk": "True, False"}
    sides = (VILLAGE, WOLVES)
    features = (TABLE, *FEATURES)
    heuristic = "parlour_aiwolf.heuristic:AIWolfPlayer"
    replay_page = "parlour_aiwolf.replay_page:aiwolf_matter"
    batch = "parlour_aiwolf.batch:AIWolfTables"
    batch_heuristic = "parlour_aiwolf.batch.heuristic:choose"

    def build(self, *, num_players: int = 5, talk: bool = True) -> AIWolf:
        """The rules of one table.

        Args:
            num_players: 5 or 15; the number decides the roles.
            talk: Whether wolves speak by night, and everybody by day.

        Raises:
            ParlourError: An argument is not accepted.
        """
        if not isinstance(num_players, Integral) or isinstance(num_players, bool) or num_players not in TABLES:
            raise accept("num_players", num_players, TABLES)
        if not isinstance(talk, bool):
            raise accept("talk", talk, ("True", "False"))
        return AIWolf(rules=TABLES[num_players], talk=talk, config={"num_players": num_players, "talk": talk})

    def text(self, game: AIWolf) -> AIWolfText:
        """The wording."""
        from parlour_aiwolf.text import AIWolfText

        return AIWolfText(game)

    def encoder(self, game: AIWolf) -> AIWolfTableEncoder:
        """The features as the table numbers seats; see `encode.py`."""
        from parlour_aiwolf.encode import AIWolfTableEncoder

        return AIWolfTableEncoder(game)

    def seat_encoder(self, game: AIWolf, features: str) -> AIWolfEncoder:
        """The features of one seat in its own frame.

        Raises:
            ParlourError: The table does not have the kind.
        """
        if features not in FEATURES:
            raise own_frame_only(self, features)
        from parlour_aiwolf.encode import AIWolfEncoder

        return AIWolfEncoder(game, features)

    def frame(self, game: AIWolf) -> Frame:
        """Seats differ only by where they sit: each counts from itself."""
        from parlour.envs.frames import Frame

        return Frame.of(game.catalogue, game.seats, lambda move, by: turned(move, by, game.seats))


GAME = AIWolfSpec()
