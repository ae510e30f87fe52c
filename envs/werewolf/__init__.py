"""Werewolf, for 4-15 players: wolves who know each other kill by night; by day the village talks and votes one out.

| | |
|---|---|
| Name | `werewolf_v0` |
| Players | 4-15, agents `player_0` ... |
| Returns | +1 for every seat of the winning side, -1 for the losing side, 0 after a draw; 0 before the end |
| Reasons of the end | `wolves_dead`, `village_dead`, `parity` (official), `days` (a draw), `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: speeches, proposals among wolves, targets by night and by day, the antidote |
| Features | see `encode.py` |
| Time | at night the AEC form shows whose turn it is, and so the roles: do not pass it to a seat. Cycles of the parallel form reveal nothing, see `choices.py` |

The default is the paper's table of eight: three werewolves, witch, guard, seer, two villagers. Tables of four and five players
are parlour's own: one werewolf, a seer, and villagers. `roles="hunter"` is the usual table of nine without a guard: three werewolves,
seer, witch, hunter, three villagers.

A night has four steps, in this order:

1. The wolves speak among themselves and vote for a victim.
2. The guard protects one seat from the wolves; it may be the guard's own.
3. The witch learns of the victim while she has the antidote. She may save it, even if it is herself. She may poison one seat once a game.
4. The seer learns whether one seat is a werewolf, or with `seer="character"` its role.

A player killed before acting does not act. By day everybody speaks once, in an order drawn with the roles, then votes. The
player with most votes speaks last words and is executed. After `max_days` days the game is a draw. With `speaking="bids"` the
living bid for the floor instead of speaking in an order (`bidding.py`).

A hunter who is executed or killed by the werewolves shows the card and may shoot one living seat. A poisoned hunter may not. Everybody
sees the shot, or that there is none. It comes after the announcement and last words; then the end is checked.
With a hunter the catalogue ends with the shots.

The presets of `rules` differ in these points; the option `votes` sets votes by day:

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
parity the party game Mafia. The order of the night, last words, the witch and the seer follow the paper in all presets. In the boxed
game the seer wakes first and sees the character. Decisions 1.7 say where the code contradicts the rules that it announces.

Versions: v0, first.
"""

from __future__ import annotations

from typing import ClassVar

from parlour.envs.spec import GameSpec
from parlour.envs.werewolf.bidding import BiddingWerewolf
from parlour.envs.werewolf.options import WerewolfOptions
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.vocabulary import VILLAGE, WOLVES


class WerewolfSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "werewolf_v0"
    title: ClassVar[str] = "Werewolf"
    options: ClassVar[type[WerewolfOptions]] = WerewolfOptions
    sides = (VILLAGE, WOLVES)
    heuristic = "parlour.policies.heuristic.werewolf:WerewolfPlayer"
    wording = "parlour.envs.werewolf.text:WerewolfText"
    encoders = "parlour.envs.werewolf.encode:WerewolfEncoders"

    def build(self, options: WerewolfOptions) -> Werewolf:
        """The rules of one table."""
        return Werewolf(options) if options.speaking == "order" else BiddingWerewolf(options)


GAME = WerewolfSpec()
