"""The format `avalonlogs`: games of people on avalongame.online, as the site's log of a game writes them.

A record is one document of the site: `missions` with `proposals`, `outcome` with `roles`, the cards (`votes`) and the player shot as
Merlin (`assassinated`), and mostly `players`, the seats in order. Nothing that was said is recorded. The site plays the preset
`official` without talk: more than half of the votes carry a team, five rejections lose, the lead goes round, quest 4 needs two
fails from seven players.

A player of any evil role may name Merlin (`assassin`). A Minion who does so is dealt the Assassin: nothing else distinguishes the two
roles. Any other role becomes the game's `guesser`.

What a record leaves open:

- Old documents have no `players`. The proposers then give the order of the seats, and players who never led follow in any order,
  because the lead never reached them.
- Some documents mark several players as the Assassin, or nobody. Then the first possible player names Merlin, and the
  guess is listed in the header under `record.assumed`.
- A game that was given up has no winner. Its transcript is that of a game that was not finished.

A game that cannot be played is left out, with a reason (`JsonObject.unplayable`): games without Merlin, games in which good has three successes
and nobody is shot, and records that contradict the rules or themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.avalon.state import AvalonPhase
from parlour.envs.core import Move
from parlour.envs.registry import lookup
from parlour.training.records.avalon.table import RecordedGame
from parlour.training.records.json_objects import JsonObject
from parlour.training.records.reading import Names, RecordFormat, record_notes

from parlour_people.records import table_at

FILE_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")

SITE_ROLES: Final = {
    "MERLIN": avalon.MERLIN,
    "PERCIVAL": avalon.PERCIVAL,
    "LOYAL FOLLOWER": avalon.SERVANT,
    "EVIL MINION": avalon.MINION,
    "MORGANA": avalon.MORGANA,
    "MORDRED": avalon.MORDRED,
    "OBERON": avalon.OBERON,
    "ASSASSIN": avalon.ASSASSIN,
}
WINNERS: Final = {avalon.GOOD: "GOOD_WIN", avalon.EVIL: "EVIL_WIN"}
WITHOUT_MERLIN: Final = "without Merlin"
SHOT_AT_NOBODY: Final = "good has three successes and nobody is shot"
_PLAYED: Final = ("SUCCESS", "FAIL")
_DECIDED: Final = {True: "APPROVED", False: "REJECTED"}


class LoggedGame(RecordedGame):
    """A game of the site on its way through the rules."""

    def __init__(self, at: JsonObject) -> None:
        self.at = at
        self.outcome_told = at.record("outcome")
        players = self.outcome_told.records("roles", "role")
        self.missions = at.records("missions", "mission")
        self.names: Names = _seats(at, players, self.missions)
        roles = {self.names.seat(player, "name"): player for player in players}
        if len(roles) != len(self.names) or len(players) != len(self.names):
            raise self.outcome_told.error("roles are not of the players", "one role for each player")
        dealt = [SITE_ROLES[roles[seat].one_of("role", list(SITE_ROLES))] for seat in range(len(self.names))]
        if avalon.MERLIN not in dealt:
            raise at.unplayable(WITHOUT_MERLIN, "a game with Merlin")
        marked = [seat for seat in range(len(self.names)) if roles[seat].fields.get("assassin") is True]
        self.guesser = _guesser(dealt, marked, self.shot)
        self.guess_is_assumed = len(marked) != 1 and dealt[self.guesser] != avalon.ASSASSIN
        if dealt[self.guesser] == avalon.MINION:
            dealt[self.guesser] = avalon.ASSASSIN
        self.dealt = dealt
        super().__init__(table_at(at, tuple(dealt), dealt[self.guesser]))

    @property
    def shot(self) -> int | None:
        """The seat that is named as Merlin."""
        if self.outcome_told.fields.get("assassinated") in (None, ""):
            return None
        return self.names.seat(self.outcome_told, "assassinated")

    def guess(self) -> None:
        """The shot, in a game that came to it."""
        shot = self.shot
        if shot is None:
            raise self.at.unplayable(SHOT_AT_NOBODY, "a game in which Merlin is guessed after three successes")
        make = self.suppose if self.guess_is_assumed else self.play
        make(Move(avalon.GUESS, (shot,)), self.outcome_told)


def _seats(at: JsonObject, players: Sequence[JsonObject], missions: Sequence[JsonObject]) -> Names:
    if "players" in at.fields:
        names = Names.of(at.records("players", "player"), "name")
    else:
        names = Names.of(players, "name")
        proposals = [proposal for mission in missions for proposal in _proposals(mission)]
        led = dict.fromkeys(names.names[names.seat(proposal, "proposer")] for proposal in proposals)
        names = Names([*led, *(name for name in names.names if name not in led)])
    if len(names) not in PLAYERS:
        raise at.error(f"{len(names)} players", f"{PLAYERS[0]} to {PLAYERS[-1]} players")
    return names


def _guesser(dealt: Sequence[str], marked: Sequence[int], shot: int | None) -> int:
    """The seat that names Merlin: of those marked, or else of the evil side, the Assassin or the first who is not shot."""
    evil = [seat for seat, role in enumerate(dealt) if role in avalon.EVIL_ROLES]
    if avalon.ASSASSIN in dealt:
        return dealt.index(avalon.ASSASSIN)
    among = [seat for seat in marked if seat in evil] or evil
    return next((seat for seat in among if seat != shot), among[0] if among else 0)


def _transcript(at: JsonObject, _logs: Path | None) -> str:
    table = LoggedGame(at)
    played = [mission for mission in table.missions if mission.fields.get("proposals")]
    if not played:
        raise at.unplayable("no team was proposed", "a game with a proposal")
    table.deal(table.dealt, table.names.seat(_proposals(played[0])[0], "proposer"), at)
    for number, mission in enumerate(played):
        _mission(table, mission, number)
    _ending(table)
    notes = record_notes("avalonlogs", at, _named(at), table.names.names)
    return table.transcript({"record": notes | {"assumed": table.assumed}})


def _proposals(mission: JsonObject) -> list[JsonObject]:
    return mission.records("proposals", "proposal") if mission.fields.get("proposals") else []


def _mission(table: LoggedGame, at: JsonObject, number: int) -> None:
    if table.state.phase != AvalonPhase.PROPOSE:
        raise at.error("the missions end before it", "no further mission")
    at.expect("teamSize", table.game.sizes[number], "the size for this number of players")
    at.expect("failsRequired", table.game.fails_needed[number], "the fails for this number of players")
    for proposal in _proposals(at):
        _proposal(table, proposal)
    if table.goes:
        _quest(table, at, number)


def _proposal(table: LoggedGame, at: JsonObject) -> None:
    if table.state.phase != AvalonPhase.PROPOSE:
        raise at.error("a team of this mission goes already, or the game is over", "no proposal after it")
    at.expect("proposer", table.names.names[table.state.actor], "the lead goes round")
    if at.fields.get("state") not in _DECIDED.values():
        return  # the game was given up before the votes
    table.play(Move(avalon.TEAM, tuple(sorted(table.names.seats(at, "team")))), at)
    approved = table.names.seats(at, "votes")
    for seat in range(len(table.names)):
        table.play(avalon.APPROVE if seat in approved else avalon.REJECT, at)
    at.expect("state", _DECIDED[table.goes], "whether more than half approve")


def _quest(table: LoggedGame, at: JsonObject, number: int) -> None:
    cards_played = table.outcome_told.of(list, "votes", "a list with the cards of each mission played")
    if number >= len(cards_played):
        return  # the game was given up before the cards
    members = [table.names.names[seat] for seat in table.state.team]
    if sorted(at.texts("team")) != sorted(members):
        raise at.refused("team", members, "the approved team")
    cards = JsonObject(table.outcome_told.where, {"votes": cards_played[number]}).entries("votes", members)
    for name in members:
        table.play(avalon.SUCCESS if cards.of(bool, name, "true or false") else avalon.FAIL, cards)
    _, fails, success = table.results[-1]
    at.expect("numFails", fails, "the cards of this mission")
    at.expect("state", _PLAYED[1 - success], f"the mission has {fails} fail cards")


def _ending(table: LoggedGame) -> None:
    outcome = table.outcome_told
    winner = outcome.of(str, "state", "a text")
    decided = winner in WINNERS.values()
    if table.state.phase == AvalonPhase.HUNT and (decided or table.shot is not None):
        table.guess()
    elif outcome.fields.get("assassinated") not in (None, ""):
        raise outcome.refused("assassinated", "null", f"nobody is shot at {table.score}")
    if len(outcome.of(list, "votes", "a list")) != len(table.results):
        raise outcome.error("votes are of more or fewer missions", f"the cards of {len(table.results)} missions")
    if table.over:
        outcome.expect("state", WINNERS[table.outcome.winner], f"the game ends by {table.outcome.reason}")
    elif decided:
        raise outcome.refused("state", "another, in a record that ends early", f"the game stops at {table.score}")


def _named(at: JsonObject) -> str:
    """By its `id`, or else by the time at which it began."""
    made = at.fields.get("id")
    if made is None and type(at.fields.get("timeCreated")) is dict:
        since = JsonObject(f"{at.where}, timeCreated", at.fields["timeCreated"])
        seconds, parts = (since.of(int, key, "a whole number") for key in ("_seconds", "_nanoseconds"))
        if 0 <= seconds < 2**33 and 0 <= parts < 10**9:
            made = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H-%M-%S}.{parts // 1_000_000:03d}"
    if type(made) is not str or not FILE_NAME.fullmatch(made):
        accepted = "id: a name of up to 200 letters, digits and _ - . that begins with no dot; or timeCreated"
        raise at.error("no name of the game", accepted)
    return made


AVALONLOGS: Final = RecordFormat(
    game=lookup("avalon_v0").spec.id,
    name="avalonlogs",
    fields=("missions", "outcome"),
    key="id",
    named=_named,
    transcript=_transcript,
    leaves_out=True,
)
