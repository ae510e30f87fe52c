"""The format `proavalon`: game records of the site ProAvalon, as its source writes them (github.com/vck3000/ProAvalon).

A record is one document of the site's collection of games: `playerUsernamesOrderedReversed`, `playerRoles`, `voteHistory`,
`missionHistory`, `numFailsHistory`, `winningTeam`, `howTheGameWasWon`, `whoAssassinShot`, `cards`. Source of what they
mean: its `gameRecord` model and game engine; no real record was available when this was written. The site plays the rules
`official`; what was said is not in its records, so the table is one without talk.

The lead moves on through `playerUsernamesOrderedReversed`, which are the seats. `voteHistory` has for each player, mission
and proposal the words `VHleader`, `VHpicked` and `VHapprove` or `VHreject`, as far as they hold. When the fifth proposal is
rejected, `missionHistory` has a failed mission more than was played.

Records lack two facts: which of several spies on a team played the fails (`numFailsHistory` counts them), and which player the
Assassin shot if several players hold the role in `whoAssassinShot`. Where the record leaves a choice, the first spies by
seat failed, and the first seat with the role was shot; the header lists the numbers of these moves under `record.assumed`, and
trainers that learn from cards or guesses skip them. Games with cards (the Lady of the Lake and
others), with roles that this game does not have, or without an Assassin are refused.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.presets import PLAYERS
from parlour.envs.avalon.state import AvalonPhase
from parlour.envs.avalon.vocabulary import side_of
from parlour.envs.core import Move
from parlour.envs.registry import lookup
from parlour.training.records.avalon.table import RecordedGame
from parlour.training.records.json_objects import JsonObject
from parlour.training.records.reading import Names, RecordFormat, record_notes

from parlour_people.records import table_at

FILE_NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")

SEATS: Final = "playerUsernamesOrderedReversed"
HELD: Final = {
    "Merlin": avalon.MERLIN,
    "Percival": avalon.PERCIVAL,
    "Resistance": avalon.SERVANT,
    "Morgana": avalon.MORGANA,
    "Assassin": avalon.ASSASSIN,
    "Mordred": avalon.MORDRED,
    "Oberon": avalon.OBERON,
    "Spy": avalon.MINION,
}
ALLIANCES: Final = {avalon.GOOD: "Resistance", avalon.EVIL: "Spy"}
# By winner and reason of our rules, `howTheGameWasWon`.
HOW: Final = {
    (avalon.EVIL, "quests"): "Mission fails.",
    (avalon.EVIL, "rejections"): "Hammer rejected.",
    (avalon.EVIL, "assassination"): "Assassinated Merlin correctly.",
    (avalon.GOOD, "quests"): "Mission successes and assassin shot wrong.",
}
_LEADS, _PICKED, _APPROVES, _REJECTS = "VHleader", "VHpicked", "VHapprove", "VHreject"
_MARKS: Final = (_LEADS, _PICKED, _APPROVES, _REJECTS)


class SiteGame(RecordedGame):
    """A game of the site on its way through the rules."""

    def __init__(self, at: JsonObject) -> None:
        self.names: Names = _seats(at)
        self.dealt = _roles(at, self.names)
        super().__init__(table_at(at, self.dealt))


def _seats(at: JsonObject) -> Names:
    given = at.texts(SEATS)
    if len(given) not in PLAYERS:
        raise at.refused(SEATS, f"{PLAYERS[0]} to {PLAYERS[-1]} players")
    at.expect("numberOfPlayers", len(given), f"the players in {SEATS}")
    return Names.of([JsonObject(f"{at.where}, {SEATS}", {"name": seat_name}) for seat_name in given], "name")


def _roles(at: JsonObject, names: Names) -> list[str]:
    cards = at.fields.get("cards") or []
    if cards:
        raise at.refused("cards", "none: games with the Lady of the Lake and other cards are not played here")
    roles = at.entries("playerRoles", names.names)
    dealt = []
    for name in names.names:
        player = roles.record(name)
        dealt.append(HELD[player.one_of("role", list(HELD))])
        player.expect("alliance", ALLIANCES[side_of(dealt[-1])], f"the side of {player.fields['role']}")
    if dealt.count(avalon.ASSASSIN) != 1:
        raise at.refused("playerRoles", "one Assassin")
    for key, side in (("resistanceTeam", avalon.GOOD), ("spyTeam", avalon.EVIL)):
        members = [name for name, role in zip(names.names, dealt, strict=True) if side_of(role) == side]
        if at.fields.get(key) is not None and sorted(at.texts(key)) != sorted(members):
            raise at.refused(key, ", ".join(members), "the players of the alliance")
    return dealt


def _transcript(at: JsonObject, _logs: Path | None) -> str:
    table = SiteGame(at)
    history = at.entries("voteHistory", table.names.names)
    votes = {seat: _missions(history, name) for seat, name in enumerate(table.names.names)}
    played = [len(mission) for mission in votes[0]]
    for seat, missions in votes.items():
        if [len(mission) for mission in missions] != played:
            raise history.refused(table.names.names[seat], "as many missions and proposals for each player")
    first = [seat for seat, missions in votes.items() if played and played[0] and _LEADS in missions[0][0]]
    if len(first) != 1:
        raise history.error(f"the first proposal has {len(first)} leaders", "one")
    table.deal(table.dealt, first[0], at)
    for number, proposals in enumerate(played):
        _mission(table, at, number, [{s: m[number][k] for s, m in votes.items()} for k in range(proposals)])
    _ending(table, at)
    notes = record_notes("proavalon", at, _named(at), table.names.names)
    return table.transcript({"record": notes | {"assumed": table.assumed}})


def _missions(history: JsonObject, name: str) -> list[list[set[str]]]:
    """The marks of a player for each proposal of each mission."""
    accepted = f"a list of missions, each a list of texts made of {', '.join(_MARKS)}, one vote in each"
    missions: list[list[set[str]]] = []
    for mission in history.of(list, name, accepted):
        if type(mission) is not list or not mission or any(type(turn) is not str for turn in mission):
            raise history.refused(name, accepted)
        missions.append([set(turn.split()) for turn in mission])
        for words, marks in zip(map(str.split, mission), missions[-1], strict=True):
            if not marks <= set(_MARKS) or len(marks) != len(words) or len({_APPROVES, _REJECTS} & marks) != 1:
                raise history.error(f"{name} {json.dumps(' '.join(words)[:100])} is not accepted", accepted)
    return missions


def _mission(table: SiteGame, at: JsonObject, number: int, proposals: list[dict[int, set[str]]]) -> None:
    where = f"{at.where}, voteHistory, mission {number + 1}"
    if table.state.phase != AvalonPhase.PROPOSE:
        raise JsonObject(where, {}).error(
            f"the missions end before it, at {json.dumps(table.score)}", "no further mission"
        )
    for turn, marks in enumerate(proposals, 1):
        here = JsonObject(f"{where}, proposal {turn}", {})
        if table.goes:
            raise here.error("a team of this mission goes already", "no proposal after it")
        leads = [seat for seat, mark in marks.items() if _LEADS in mark]
        if leads != [table.state.actor]:
            leaders = ", ".join([table.names.names[seat] for seat in leads]) or "nobody"
            raise here.error(f"{leaders} leads", f"{table.names.names[table.state.actor]}, the next leader")
        table.play(Move(avalon.TEAM, tuple(seat for seat, mark in marks.items() if _PICKED in mark)), here)
        for said in marks.values():
            table.play(avalon.APPROVE if _APPROVES in said else avalon.REJECT, here)
    if table.goes:
        _quest(table, JsonObject(where, at.fields), number)
    elif not table.over and at.fields.get("winningTeam") is not None:
        raise JsonObject(where, {}).error("no team of this mission goes", "proposals up to an approved team, or five")


def _quest(table: SiteGame, at: JsonObject, number: int) -> None:
    fails = at.of(list, "numFailsHistory", "a list of numbers")
    results = at.of(list, "missionHistory", "a list of results")
    team = table.state.team
    spies = [seat for seat in team if side_of(table.dealt[seat]) == avalon.EVIL]
    if len(fails) <= number or type(fails[number]) is not int or not 0 <= fails[number] <= len(spies):
        raise at.refused("numFailsHistory", f"a number of fails 0..{len(spies)} for it, as many as spies on the team")
    failed = spies[: fails[number]]
    for seat in team:
        make = table.suppose if seat in spies and 0 < len(failed) < len(spies) else table.play
        make(avalon.FAIL if seat in failed else avalon.SUCCESS, at)
    result = "succeeded" if table.results[-1][2] else "failed"
    if len(results) <= number or results[number] != result:
        raise at.refused("missionHistory", f"{result!r} for it", f"it has {fails[number]} fails")


def _ending(table: SiteGame, at: JsonObject) -> None:
    if table.state.phase == AvalonPhase.HUNT and at.fields.get("whoAssassinShot") is not None:
        role = HELD[at.one_of("whoAssassinShot", list(HELD))]
        assassin = table.state.actor
        holders = [seat for seat, held_role in enumerate(table.dealt) if held_role == role and seat != assassin]
        if not holders:
            raise at.refused("whoAssassinShot", "a role that another player holds")
        (table.play if len(holders) == 1 else table.suppose)(Move(avalon.GUESS, (holders[0],)), at)
    elif at.fields.get("whoAssassinShot") is not None:
        raise at.refused("whoAssassinShot", "null", f"nobody is shot at {json.dumps(table.score)}")
    if at.fields.get("whoAssassinShot2") is not None:
        raise at.refused("whoAssassinShot2", "null", "one player is named")
    results = ["succeeded" if success else "failed" for _, _, success in table.results]
    at.expect("numFailsHistory", [fails for _, fails, _ in table.results], "the fails of the missions played")
    if not table.over:
        at.expect("missionHistory", results, "the missions played")
        if at.fields.get("winningTeam") is not None:
            raise at.refused(
                "winningTeam", "null, in a record that ends early", f"the game stops at {json.dumps(table.score)}"
            )
        return
    outcome = table.outcome
    rejected = ["failed"] if outcome.reason == "rejections" else []
    at.expect("missionHistory", results + rejected, "the missions played, and a failed one for a fifth rejection")
    at.expect(
        "winningTeam", ALLIANCES[outcome.winner], f"the game ends by {outcome.reason} at {json.dumps(table.score)}"
    )
    at.expect("howTheGameWasWon", HOW[outcome.winner, outcome.reason], f"the game ends by {outcome.reason}")


def _named(at: JsonObject) -> str:
    """By its id in the database, as a text or as exports of MongoDB write it."""
    key = "_id" if "_id" in at.fields else "game_id"
    given: Any = at.fields.get(key)
    name = given.get("$oid") if type(given) is dict else given
    if type(name) is not str or not FILE_NAME.fullmatch(name):
        accepted = 'a name of up to 200 letters, digits and _ - . that begins with no dot, or {"$oid": the same}'
        raise at.refused(key, accepted) if key in at.fields else at.error("_id is missing", accepted)
    return name


PROAVALON: Final = RecordFormat(
    game=lookup("avalon_v0").spec.id,
    name="proavalon",
    fields=("voteHistory", "missionHistory"),
    key="_id",
    named=_named,
    transcript=_transcript,
)
