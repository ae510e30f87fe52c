"""The Resistance: Avalon, for 5-10 players: hidden sides, talk, teams, secret votes, secret cards, one assassin.

| | |
|---|---|
| Name | `avalon_v0` |
| Players | 5-10, agents `player_0` ... |
| Options | `num_players`, `rules`, `roles`, `talk`, `two_fails`, `sizes`, `guesser`, `speaking` |
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
| a team is approved by | half of the votes | half | more than half |
| fifth proposal | approved whatever the vote | the same; a short team counts twice | a rejection loses the game |
| short teams | filled up before the vote (text actions) | voted on; then a whole team is drawn | not accepted |
| good may play fail | no | yes | no |
| quest 4 from 7 players | one fail | one fail | two fails |
| Merlin is guessed | once, after any quest, before its result counts | the same | once, after three good quests |
| unreadable vote | approves | approves | approves |
| unreadable card | success for good, fail for evil | success | success for good, fail for evil |

Everybody speaks before each proposal, the leader first.

These options override single points of a preset:

- `speaking`: all speak once in an `"order"`, or they make `"bids"` for the floor (`parlour.envs.bidding`).
- `two_fails`: whether quest 4 needs two fails from 7 players; `sizes`: five team sizes.
- `guesser`: the role that guesses Merlin. It is needed where nobody is the Assassin.

`talk=False` removes the speeches. Players vote in seat order; votes are revealed together.

Sources: Lan et al., arXiv 2310.14985, appendices A.1 and A.4 (paper); the game logs published with its code (reference); the
boxed game's rule sheet (official, and the team sizes of all presets).

Versions: v0, first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from parlour.envs.avalon.bidding import BiddingAvalon
from parlour.envs.avalon.presets import (
    PLAYERS,
    PRESETS,
    ROLE_SETS,
    check_roles,
    default_roles,
    rules_of,
)
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import EVIL, EVIL_ROLES, GOOD, ROLES, turned
from parlour.envs.bidding import SPEAKING
from parlour.envs.core import TABLE, GameSpec, ParlourError, accept, check_one_of, own_frame_only
from parlour.envs.hidden_roles import FEATURES, check_table

if TYPE_CHECKING:
    from parlour.envs.avalon.encode import AvalonEncoder, AvalonSeatEncoder
    from parlour.envs.avalon.text import AvalonText
    from parlour.envs.frames import Frame


class AvalonSpec(GameSpec):
    """The registry reads it."""

    id: ClassVar[str] = "avalon_v0"
    title: ClassVar[str] = "The Resistance: Avalon"
    options: ClassVar[Mapping[str, str]] = {
        "num_players": "5..10",
        "rules": ", ".join(PRESETS),
        "roles": f"None, {', '.join(ROLE_SETS)}, or one for each player of: {', '.join(ROLES)}",
        "talk": "True, False",
        "two_fails": "None, True, False",
        "sizes": "None, or five team sizes",
        "guesser": f"None, or a role of one player among: {', '.join(EVIL_ROLES)}",
        "speaking": ", ".join(SPEAKING),
    }
    sides = (GOOD, EVIL)
    heuristic = "parlour.policies.heuristic.avalon:AvalonPlayer"
    voice = "parlour.policies.voice.avalon:AvalonMind"
    metrics = "parlour.training.measure.avalon.measures:of_directory"
    replay_page = "parlour.training.replay.avalon:avalon_matter"
    features = (TABLE, *FEATURES)
    batch = "parlour.envs.batch.avalon:AvalonTables"
    batch_heuristic = "parlour.policies.heuristic.batch.avalon:choose"
    histories = "parlour.envs.avalon.histories:histories"
    prose = "parlour.envs.avalon.prose:AvalonProse"

    def build(
        self,
        *,
        num_players: int = 6,
        rules: str = "paper",
        roles: Sequence[str] | str | None = None,
        talk: bool = True,
        two_fails: bool | None = None,
        sizes: Sequence[int] | None = None,
        guesser: str | None = None,
        speaking: str = "order",
    ) -> Avalon:
        """The rules of one table. Each point from `two_fails` on is the preset's if it is None.

        Args:
            num_players: 5-10.
            rules: `"paper"`, `"reference"` or `"official"`.
            roles: One role for each player, or the name of a set: `"deeprole"`; None for the usual ones.
            talk: Whether there is a discussion.
            two_fails: Whether the fourth quest needs two fails from seven players.
            sizes: Team sizes of the five quests, each 1..`num_players`.
            guesser: The evil role that names Merlin, held by one player; the Assassin as a rule.
            speaking: In a discussion all speak once in an `"order"`, or they make `"bids"` for the floor (`parlour.envs.bidding`).

        Raises:
            ParlourError: An argument is not accepted.
        """
        check_table(num_players, PLAYERS, rules, PRESETS, talk)
        check_one_of("speaking", speaking, SPEAKING)
        if speaking == "bids" and not talk:
            raise ParlourError("speaking 'bids' is not accepted without talk; accepted: talk=True")
        dealt = default_roles(num_players) if roles is None else check_roles(num_players, roles)
        config: dict[str, Any] = {"num_players": num_players, "rules": rules, "roles": list(dealt), "talk": talk}
        points = {
            "two_fails": two_fails,
            "sizes": list(sizes) if isinstance(sizes, tuple) else sizes,
            "guesser": guesser,
        }
        config |= {name: value for name, value in points.items() if value is not None}
        config |= {} if speaking == "order" else {"speaking": speaking}
        point = rules_of(rules, num_players, dealt, points)
        rules_class = Avalon if speaking == "order" else BiddingAvalon
        return rules_class(num_players=num_players, rules=point, roles=dealt, talk=talk, config=config)

    def text(self, game: Avalon) -> AvalonText:
        """The wording."""
        from parlour.envs.avalon.text import AvalonText

        return AvalonText(game)

    def encoder(self, game: Avalon) -> AvalonEncoder:
        """The features as the table numbers seats; see `encode.py`."""
        from parlour.envs.avalon.encode import AvalonEncoder

        return AvalonEncoder(game)

    def seat_encoder(self, game: Avalon, features: str) -> AvalonSeatEncoder:
        """The features of one seat in its own frame; see `encode.py`."""
        from parlour.envs.avalon.encode import AvalonSeatEncoder
        from parlour.envs.avalon.habits import read_habits

        kind, _, setting = features.partition(":")
        if kind not in FEATURES:
            raise own_frame_only(self, features)
        if not setting:
            return AvalonSeatEncoder(game, kind)
        name, _, path = setting.partition("=")
        if name != "habits" or not path or "belief" not in kind:
            raise accept(f"features of {self.id}", features, "belief:habits=FILE, record+belief:habits=FILE")
        return AvalonSeatEncoder(game, kind, read_habits(path).of(game.seats))

    def frame(self, game: Avalon) -> Frame:
        """Seats differ only by where they sit: each counts from itself."""
        from parlour.envs.frames import Frame

        return Frame.of(game.catalogue, game.seats, lambda move, by: turned(move, by, game.seats))


GAME = AvalonSpec()
