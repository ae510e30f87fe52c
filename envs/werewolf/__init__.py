"""Werewolf, for 4-15 players: wolves who know each other kill by night; by day the village talks and votes one out.

| | |
|---|---|
| Name | `werewolf_v0` |
| Players | 4-15, agents `player_0` ... |
| Options | `num_players`, `rules`, `roles`, `talk`, `max_days`, `speaking` |
| Returns | +1 for every seat of the winning side, -1 for the losing side, 0 after a draw; 0 before the end |
| Reasons of the end | `wolves_dead`, `village_dead`, `parity` (official), `days` (a draw), `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: speeches, proposals among wolves, targets by night and by day, the antidote |
| Features | see `encode.py` |
| Time | at night the AEC form shows whose turn it is, and so the roles: do not pass it to a seat. Cycles of the parallel form reveal nothing, see `choices.py` |

The default is the paper's table of eight: three werewolves, witch, guard, seer, two villagers. Tables of four and five players
are parlour's own: one werewolf, a seer, and villagers.

A night has four steps, in this order:

1. The wolves speak among themselves and vote for a victim.
2. The guard protects one seat from the wolves; it may be the guard's own.
3. The witch learns of the victim while she has the antidote. She may save it, even if it is herself. She may poison one seat once a game.
4. The seer learns whether one seat is a werewolf.

A player killed before acting does not act. By day everybody speaks once, in an order drawn with the roles, then votes. The
player with most votes speaks last words and is executed. After `max_days` days the game is a draw. With `speaking="bids"` the
living bid for the floor instead of speaking in an order (`bidding.py`).

The presets of `rules` differ in these points:

| point | paper | reference | official |
|---|---|---|---|
| wolves' votes | independent; wolves learn the choice | later wolves see earlier votes | independent; wolves learn the choice |
| tied hunt | drawn among the tied; "nobody" counts as one of them | the same | no kill |
| wolves may hunt wolves | yes | yes | no |
| guard, two nights running | not the same player | any player | not the same player |
| killed witch without antidote | does nothing | may still poison | does nothing |
| votes by day | revealed together | public as cast | revealed together |
| tied vote, or most pass | nobody is executed | the same | the same |
| revealed roles | first night's dead | first night's dead | all dead |
| wolves win | when nobody else lives | when nobody else lives | when they are half of the living |
| antidote, by words | a yes without a denial | any yes-word | a yes without a denial |
| unreadable vote | pass | pass | pass |

Sources: Zhu et al. 2024, "Graph Retrieval Augmented Trustworthiness Reasoning" (paper); the code published with it, as its game
records show it (reference); for the points of `official` in the table the rule sheet of The Werewolves of Miller's Hollow, and for
parity the party game Mafia. The order of the night, last words, the witch and the seer follow the paper in all presets. So the seer
learns only whether a player is a werewolf, and nothing if killed that night. In the boxed game the seer wakes first and sees the
character.

The published code contradicts the rules that it announces to its players in four points: the guard's memory, the dying witch,
the yes-words, and votes called one by one. `paper` plays the announced rules, `reference` the code. No preset copies three
oddities of the code: of two deaths only the first was announced, a seer's pass checked player 1, and games had no last day.

Versions: v0, first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from parlour.envs.bidding import SPEAKING
from parlour.envs.core import TABLE, GameSpec, ParlourError, check_one_of, own_frame_only
from parlour.envs.hidden_roles import FEATURES, check_table
from parlour.envs.werewolf.bidding import BiddingWerewolf
from parlour.envs.werewolf.presets import DAYS_ACCEPTED, MAX_DAYS, PLAYERS, PRESETS, check_roles, default_roles
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.vocabulary import ROLES, VILLAGE, WOLVES, turned

if TYPE_CHECKING:
    from parlour.envs.frames import Frame
    from parlour.envs.werewolf.encode import WerewolfEncoder, WerewolfSeatEncoder
    from parlour.envs.werewolf.text import WerewolfText


class WerewolfSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "werewolf_v0"
    title: ClassVar[str] = "Werewolf"
    options: ClassVar[Mapping[str, str]] = {
        "num_players": "4..15",
        "rules": ", ".join(PRESETS),
        "roles": f"None, or one for each player of: {', '.join(ROLES)}",
        "talk": "True, False",
        "max_days": "1..20",
        "speaking": ", ".join(SPEAKING),
    }
    sides = (VILLAGE, WOLVES)
    features = (TABLE, *FEATURES)
    heuristic = "parlour.policies.heuristic.werewolf:WerewolfPlayer"
    voice = "parlour.policies.voice.werewolf:WerewolfMind"
    metrics = "parlour.training.measure.werewolf.measures:of_directory"
    replay_page = "parlour.training.replay.werewolf:werewolf_matter"
    batch = "parlour.envs.batch.werewolf:WerewolfTables"
    batch_heuristic = "parlour.policies.heuristic.batch.werewolf:choose"
    rounds = "parlour.envs.batch.werewolf.rounds:WerewolfRounds"

    def build(
        self,
        *,
        num_players: int = 8,
        rules: str = "paper",
        roles: Sequence[str] | None = None,
        talk: bool = True,
        max_days: int = MAX_DAYS,
        speaking: str = "order",
    ) -> Werewolf:
        """The rules of one table.

        Args:
            num_players: 4-15.
            rules: `"paper"`, `"reference"` or `"official"`.
            roles: One role for each player; None for the usual ones.
            talk: Whether wolves speak by night, everybody by day, and the executed at last.
            max_days: Days after which the game is a draw, 1-20.
            speaking: By day all speak once in an `"order"`, or they make `"bids"` for the floor (`bidding.py`).

        Raises:
            ParlourError: An argument is not accepted.
        """
        check_one_of("speaking", speaking, SPEAKING)
        if speaking == "bids" and not talk:
            raise ParlourError("speaking 'bids' is not accepted here; accepted: with talk")
        check_table(num_players, PLAYERS, rules, PRESETS, talk)
        check_one_of("max_days", max_days, DAYS_ACCEPTED)
        dealt = default_roles(num_players) if roles is None else check_roles(num_players, roles)
        config: dict[str, Any] = {
            "num_players": num_players,
            "rules": rules,
            "roles": list(dealt),
            "talk": talk,
            "max_days": max_days,
        }
        rules_class = Werewolf if speaking == "order" else BiddingWerewolf
        config |= {} if speaking == "order" else {"speaking": speaking}
        return rules_class(
            num_players=num_players, rules=PRESETS[rules], roles=dealt, talk=talk, max_days=max_days, config=config
        )

    def text(self, game: Werewolf) -> WerewolfText:
        """The wording."""
        from parlour.envs.werewolf.text import WerewolfText

        return WerewolfText(game)

    def encoder(self, game: Werewolf) -> WerewolfEncoder:
        """The features as the table numbers seats; see `encode.py`."""
        from parlour.envs.werewolf.encode import WerewolfEncoder

        return WerewolfEncoder(game)

    def seat_encoder(self, game: Werewolf, features: str) -> WerewolfSeatEncoder:
        """The features of one seat in its own frame.

        Raises:
            ParlourError: The table does not have the kind.
        """
        if features not in FEATURES:
            raise own_frame_only(self, features)
        from parlour.envs.werewolf.encode import WerewolfSeatEncoder

        return WerewolfSeatEncoder(game, features)

    def frame(self, game: Werewolf) -> Frame:
        """Seats differ only by where they sit: each counts from itself."""
        from parlour.envs.frames import Frame

        return Frame.of(game.catalogue, game.seats, lambda move, by: turned(move, by, game.seats))


GAME = WerewolfSpec()
