"""The Resistance: Avalon, for 5-10 players: hidden sides, talk, teams, secret votes, secret cards, one assassin.

| | |
|---|---|
| Name | `avalon_v0` |
| Players | 5-10, agents `player_0` ... |
| Returns | +1 for every seat of the winning side, -1 for the losing side; 0 before the end |
| Reasons of the end | `quests`, `rejections` (official), `assassination`, `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: speeches, teams, two ballots, two cards, guesses |
| Features | see `encode.py` |
| Time | the AEC form shows whose turn it is, and so who the Assassin is: do not pass it to a seat. Cycles of the parallel form reveal nothing |

Merlin sees the evil side except Mordred. Percival sees Merlin and Morgana, but not which is which. Evil players see each
other; Oberon does not see them, nor they him. By default a game has Merlin, Percival, Morgana and the Assassin; Loyal Servants
and plain Minions take the other seats. `roles` also accepts a name in `ROLE_SETS` (`presets.py`).

The presets of `rules` differ in these points:

| point | paper | reference | official |
|---|---|---|---|
| a team is approved by | half of the votes: 3 of 6 | half | more than half |
| fifth proposal | approved whatever the vote | the same; a short team counts twice | a rejection loses the game |
| short teams | filled up before the vote (text actions) | voted on; then a whole team is drawn | not accepted |
| good may play fail | no | yes | no |
| quest 4 from 7 players | one fail | one fail | two fails |
| Merlin is guessed | once, after any quest, before its result counts | the same | once, after three good quests |
| unreadable vote | approves | approves | approves |
| unreadable card | success for good, fail for evil | success | success for good, fail for evil |

Everybody speaks before each proposal, the leader first.

The options `majority`, `hunt`, `two_fails`, `sizes` and `guesser` override single points of a preset; `speaking="bids"` lets players
bid for the floor.
`talk=False` removes the speeches. Players vote in seat order; votes are revealed together.

`paper` follows the published games: 3 of 6 votes approve a team. Appendices A.1 and A.2 of the paper say "more than half". For their
text, set `majority="strict"`; for the guess at the end, as in A.1, set `hunt="end"`.

Sources: Lan et al., arXiv 2310.14985, appendices A.1 and A.4 (paper); the game logs published with its code (reference); the
boxed game's rule sheet (official, and the team sizes of all presets). Reasons: decisions 3.1.

Versions: v0, first.
"""

from __future__ import annotations

from typing import ClassVar

from parlour.envs.avalon.bidding import BiddingAvalon
from parlour.envs.avalon.options import AvalonOptions
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import EVIL, GOOD
from parlour.envs.spec import GameSpec


class AvalonSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "avalon_v0"
    title: ClassVar[str] = "The Resistance: Avalon"
    options: ClassVar[type[AvalonOptions]] = AvalonOptions
    sides = (GOOD, EVIL)
    heuristic: ClassVar[str] = "parlour.policies.heuristic.avalon:AvalonPlayer"
    wording = "parlour.envs.avalon.text:AvalonText"
    encoders = "parlour.envs.avalon.encode:AvalonEncoders"

    def build(self, options: AvalonOptions) -> Avalon:
        """The rules of one table."""
        return Avalon(options) if options.speaking == "order" else BiddingAvalon(options)


GAME = AvalonSpec()
