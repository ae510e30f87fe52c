"""The Resistance: Avalon, for 5-10 players: hidden sides, talk, teams, secret votes, secret cards, one assassin.

| | |
|---|---|
| Name | `avalon_v0` |
| Players | 5-10, agents `player_0` ... |
| Options | `num_players`, `rules`, `roles`, `talk`, `discussion`, `speaks_first`, `two_fails`, `sizes`, `guesser`, `reasons`, `comments`, `consult` |
| Returns | +1 for every seat of the side that wins, -1 for the other side; nothing before the end |
| Reasons of the end | `quests`, `rejections` (official), `assassination`, `forfeit` (a wrapper's setting) |
| Actions | numbers in `game.catalogue`: speeches, teams, two ballots, two cards, guesses |
| Features | see `encode.py` |
| Time | whoever runs the AEC form sees whose turn it is, and so who the Assassin is: no seat may; cycles tell nothing |

Roles: Merlin sees the evil side but Mordred; Percival sees Merlin and Morgana and not which is which; the evil side
see each other but Oberon, who sees nobody. Without `roles`, a game has Merlin, Percival, Morgana, the Assassin, and
Loyal Servants and plain Minions in the other seats. `roles` may also be a name in `ROLE_SETS` (`presets.py`).

| point | paper | reference | official | multi_round |
|---|---|---|---|---|
| a team goes with | half of the votes | half | more than half | more than half |
| fifth proposal | goes whatever the vote | the same; a short team counts twice | a rejection loses for good | goes without a vote |
| short teams | filled up before the vote (text actions) | voted on; then a whole team is drawn | not accepted | not accepted |
| good may play fail | no | yes | no | no |
| quest 4 from 7 players | one fail | one fail | two fails | one fail |
| Merlin is named | once, after any quest, before it is scored | the same | once, after three good quests | once, after three good quests |
| all speak | before each proposal, leader first | the same | the same | before the first proposal of a quest, seat 0 first |
| words with a team | no | no | no | all hear them |
| words with a vote | no | no | no | only the voter sees them |
| before the guess | nothing | nothing | nothing | evil seats speak once each among themselves |
| usual roles | see above | see above | see above | those of the records: `MULTI_ROUND_ROLES` |
| unreadable vote | agrees | agrees | agrees | agrees |
| unreadable card | success for good, fail for evil | success | success for good, fail for evil | success for good, fail for evil |

Each of these options takes the place of one point of the preset: `discussion` (`"proposal"`, `"mission"`), `speaks_first`
(`"leader"`, `"seat_0"`), `two_fails`, `sizes` (five team sizes), `guesser` (the role that names Merlin), `reasons` (words
with a team and with the guess), `comments` (words with a vote: `"none"`, `"private"`, or `"public"`, shown after the
votes), `consult`. Without talk a preset has no words of any kind. Where nobody is the Assassin, `guesser` says who names
Merlin; in `multi_round` Mordred does at six players and Morgana at seven.

Sources: Lan et al., arXiv 2310.14985, appendices A.1 and A.4 (paper); the game logs published with its code
(reference); the boxed game's rule sheet (official; team sizes of all four); the records of "multi-round-avalon-agents"
(S. Ellawela, 2026, MIT; multi_round). Votes are asked for in seat order and shown all at once. In text actions, words that
go with a team, a vote or a guess stand behind its sentence: "I approve the team. They have done well."

Versions: v0, first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from parlour.envs.avalon.encode import KINDS, AvalonEncoder, AvalonSeatEncoder
from parlour.envs.avalon.habits import read_habits
from parlour.envs.avalon.presets import (
    COMMENTS,
    DISCUSSIONS,
    PLAYERS,
    PRESETS,
    ROLE_SETS,
    SPEAKS_FIRST,
    check_roles,
    default_roles,
    rules_of,
)
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.text import AvalonText
from parlour.envs.avalon.vocabulary import EVIL, EVIL_ROLES, GOOD, ROLES, turned
from parlour.envs.core import TABLE, GameSpec, accept, own_frame_only
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
        "discussion": ", ".join(("None", *DISCUSSIONS)),
        "speaks_first": ", ".join(("None", *SPEAKS_FIRST)),
        "two_fails": "None, True, False",
        "sizes": "None, or five team sizes",
        "guesser": f"None, or a role of one player among: {', '.join(EVIL_ROLES)}",
        "reasons": "None, True, False",
        "comments": ", ".join(("None", *COMMENTS)),
        "consult": "None, True, False",
    }
    sides = (GOOD, EVIL)
    heuristic = "parlour.policies.heuristic.avalon:AvalonPlayer"
    metrics = "parlour.training.measure.avalon:of_directory"
    replay_page = "parlour.training.results.replay_page.avalon:avalon_matter"
    demo = (
        "parlour.training.papers.demo.avalon:avalon_section",
        "parlour.training.papers.demo.avalon_networks:avalon_networks_section",
        "parlour.training.papers.demo.avalon_agents:avalon_agents_section",
    )
    features = (TABLE, *KINDS)
    batch = "parlour.envs.batch.avalon:AvalonTables"
    batch_heuristic = "parlour.policies.heuristic.batch.avalon:choose"
    prose = "parlour.envs.avalon.prose:AvalonProse"
    text = AvalonText
    encoder = AvalonEncoder

    def build(
        self,
        *,
        num_players: int = 6,
        rules: str = "paper",
        roles: Sequence[str] | str | None = None,
        talk: bool = True,
        discussion: str | None = None,
        speaks_first: str | None = None,
        two_fails: bool | None = None,
        sizes: Sequence[int] | None = None,
        guesser: str | None = None,
        reasons: bool | None = None,
        comments: str | None = None,
        consult: bool | None = None,
    ) -> Avalon:
        """The rules of one table. Each point from `discussion` on is the preset's if it is None.

        Args:
            num_players: 5-10.
            rules: `"paper"`, `"reference"`, `"official"` or `"multi_round"`.
            roles: One role for each player, or the name of a set: `"deeprole"`; None for the usual ones.
            talk: Whether there is a discussion; without it, a preset has no other words either.
            discussion: All speak before each `"proposal"`, or once a `"mission"`, before its first proposal.
            speaks_first: The `"leader"`, or `"seat_0"`; the others follow by number.
            two_fails: Whether the fourth quest needs two fails from seven players.
            sizes: Team sizes of the five quests, each 1..`num_players`.
            guesser: The evil role that names Merlin, held by one player; the Assassin as a rule.
            reasons: Whether words may go with a team.
            comments: Words of votes: `"none"`; `"private"`, seen by the voter; `"public"`, by all after the vote.
            consult: Whether the evil side talks among itself before a guess at the end.

        Raises:
            ParlourError: An argument is not accepted.
        """
        check_table(num_players, PLAYERS, rules, PRESETS, talk)
        dealt = default_roles(num_players, rules) if roles is None else check_roles(num_players, roles)
        config: dict[str, Any] = {"num_players": num_players, "rules": rules, "roles": list(dealt), "talk": talk}
        given = {
            "discussion": discussion,
            "speaks_first": speaks_first,
            "two_fails": two_fails,
            "sizes": list(sizes) if isinstance(sizes, tuple) else sizes,
            "guesser": guesser,
            "reasons": reasons,
            "comments": comments,
            "consult": consult,
        }
        config |= {name: value for name, value in given.items() if value is not None}
        point = rules_of(rules, num_players, dealt, talk=talk, given=given)
        return Avalon(num_players=num_players, rules=point, roles=dealt, talk=talk, config=config)

    def seat_encoder(self, game: Avalon, features: str) -> AvalonSeatEncoder:
        """The features of one seat in its own frame; see `encode.py`."""
        kind, _, setting = features.partition(":")
        if kind not in KINDS:
            raise own_frame_only(self, features)
        if not setting:
            return AvalonSeatEncoder(game, kind)
        name, _, path = setting.partition("=")
        if name != "habits" or not path or "belief" not in kind:
            raise accept(f"features of {self.id}", features, "belief:habits=FILE, record+belief:habits=FILE")
        return AvalonSeatEncoder(game, kind, read_habits(path).of(game.seats))

    def frame(self, game: Avalon) -> Frame:
        """Seats differ only by where they sit: each counts from itself."""
        return Frame.of(game.catalogue, game.seats, lambda move, by: turned(move, by, game.seats))


GAME = AvalonSpec()
