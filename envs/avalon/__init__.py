"""The Resistance: Avalon, for 5-10 players: hidden sides, talk, teams, secret votes, secret cards, one assassin.

| | |
|---|---|
| Name | `avalon_v0` |
| Players | 5-10, agents `player_0` ... |
| Options | `num_players`, `rules`, `roles`, `talk` |
| Returns | +1 for every seat of the side that wins, -1 for the other side; nothing before the end |
| Reasons of the end | `quests`, `rejections` (official), `assassination`, `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: speeches, teams, two ballots, two cards, guesses |
| Features | see `encode.py`; in the frame of the seat `seat_encode.py` |
| Time | whoever runs the AEC form sees whose turn it is, and so who the Assassin is: no seat may; cycles tell nothing |

Roles: Merlin sees the evil side but Mordred; Percival sees Merlin and Morgana and not which is which; the evil side
see each other but Oberon, who sees nobody. Without `roles`, a game has Merlin, Percival, Morgana, the Assassin, and
Loyal Servants and plain Minions in the other seats. `roles` may also be a name in `ROLE_SETS` (`presets.py`).

| point | paper | reference | official |
|---|---|---|---|
| a team goes with | half of the votes | half | more than half |
| fifth proposal | goes whatever the vote | the same; a short team counts twice | a rejection loses for good |
| short teams | filled up before the vote (text actions) | voted on; then a whole team is drawn | not accepted |
| good may play fail | no | yes | no |
| quest 4 from 7 players | one fail | one fail | two fails |
| Merlin is named | once, after any quest, before it is scored | the same | once, after three good quests |
| unreadable vote | agrees | agrees | agrees |
| unreadable card | success for good, fail for evil | success | success for good, fail for evil |

Sources: Lan et al., arXiv 2310.14985, appendices A.1 and A.4 (paper); the game logs published with its code
(reference); the boxed game's rule sheet (official; team sizes of all three). Discussion is the paper's in all three:
before every proposal each seat speaks once, leader first. Votes are asked for in seat order and shown all at once.

Versions: v0, first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from parlour.envs.avalon.encode import AvalonEncoder
from parlour.envs.avalon.presets import PLAYERS, PRESETS, ROLE_SETS, check_roles, default_roles
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.seat_encode import KINDS, AvalonSeatEncoder
from parlour.envs.avalon.text import AvalonText
from parlour.envs.avalon.vocabulary import EVIL, GOOD, ROLES, turned
from parlour.envs.core import TABLE, GameSpec, own_frame_only
from parlour.envs.frames import Frame
from parlour.envs.hidden_roles import check_table


class AvalonSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "avalon_v0"
    title: ClassVar[str] = "The Resistance: Avalon"
    options: ClassVar[Mapping[str, str]] = {
        "num_players": "5..10",
        "rules": ", ".join(PRESETS),
        "roles": f"None, {', '.join(ROLE_SETS)}, or one for each player of: {', '.join(ROLES)}",
        "talk": "True, False",
    }
    sides = (GOOD, EVIL)
    heuristic = "parlour.policies.heuristic.avalon:AvalonPlayer"
    metrics = "parlour.training.avalon.metrics:of_directory"
    demo = (
        "parlour.training.demo.avalon:avalon_section",
        "parlour.training.demo.avalon_networks:avalon_networks_section",
        "parlour.training.demo.avalon_agents:avalon_agents_section",
    )
    features = (TABLE, *KINDS)
    batch = "parlour.envs.batch.avalon:AvalonTables"
    batch_heuristic = "parlour.policies.heuristic.batch.avalon:choose"
    prose = "parlour.envs.avalon.prose:AvalonProse"
    text = AvalonText
    encoder = AvalonEncoder

    def build(
        self, *, num_players: int = 6, rules: str = "paper", roles: Sequence[str] | str | None = None, talk: bool = True
    ) -> Avalon:
        """The rules of one table.

        Args:
            num_players: 5-10.
            rules: `"paper"`, `"reference"` or `"official"`.
            roles: One role for each player, or the name of a set: `"deeprole"`; None for the usual ones.
            talk: Whether there is a discussion before each proposal.

        Raises:
            ParlourError: An argument is not accepted.
        """
        check_table(num_players, PLAYERS, rules, PRESETS, talk)
        dealt = default_roles(num_players) if roles is None else check_roles(num_players, roles)
        config = {"num_players": num_players, "rules": rules, "roles": list(dealt), "talk": talk}
        return Avalon(num_players=num_players, rules=PRESETS[rules], roles=dealt, talk=talk, config=config)

    def seat_encoder(self, game: Avalon, features: str) -> AvalonSeatEncoder:
        """The features of one seat in its own frame; see `seat_encode.py`."""
        if features not in KINDS:
            raise own_frame_only(self, features)
        return AvalonSeatEncoder(game, features)

    def frame(self, game: Avalon) -> Frame:
        """Seats differ only by where they sit: each counts from itself."""
        return Frame.of(game.catalogue, game.seats, lambda move, by: turned(move, by, game.seats))


GAME = AvalonSpec()
