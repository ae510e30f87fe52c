"""The format `gpt51`: games of language models played for "multi-round-avalon-agents" (S. Ellawela, 2026; MIT).

A record is a JSON object: `config`, `players`, `missions` with `discussion`, `proposals` and `quest_actions`, `winner`,
`assassin_phase`, `post_game_reflections`. It is played by `avalon_multi_round_v0`, whose sizes, roles by number of
players, nights and choice of the player who names Merlin match the published games.

Moves and words: the deal with the first leader; each statement of a discussion, with the act that the game's own reader
finds in it; teams with the leader's reason; votes with their comments; cards; the consultation of evil; the guess with
its reason. Comments are for the voter alone: in them evil seats speak of their side, and nobody ever answers one. In heard words,
names are seat names (`names`); `raw` keeps the words as recorded. Only role and result are compared with the reflections after
the game (`post_game_reflections`). Thinking times and other fields are ignored.

Everything that the rules bind is compared with the state that the moves lead to: night knowledge, sizes, numbers of
missions and proposals, the rotation of leaders, the results of votes and missions, fails, who names Merlin, the winner. The fifth
team of a mission goes without a vote: its list of votes is empty. Turns are counted from 0 in each discussion
(`timestamp`) and through the whole game (`global_turn_id`), by the statements that a reader of the record sees.

A record whose `winner` is null or missing ends early: it holds whole missions, and then perhaps a mission without
`quest_actions`, with all or part of its discussion and the proposals so far. Its transcript is that of a
game that was not finished.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
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

from parlour_people.multi_round import GAME, MultiRoundOptions
from parlour_people.multi_round.rules import CONSULTATION

ROLES: Final = {
    "merlin": avalon.MERLIN,
    "percival": avalon.PERCIVAL,
    "good": avalon.SERVANT,
    "evil": avalon.MINION,
    "assassin": avalon.ASSASSIN,
    "morgana": avalon.MORGANA,
    "mordred": avalon.MORDRED,
    "oberon": avalon.OBERON,
}


class Conversation(RecordedGame):
    """A game of language models on its way through the rules."""

    def __init__(self, at: JsonObject) -> None:
        players = at.records("players", "player")
        if len(players) not in PLAYERS:
            raise at.error(f"players are {len(players)}", f"{PLAYERS[0]} to {PLAYERS[-1]} players")
        super().__init__(_table(len(players)), GAME.id)
        self.names: Names = Names.of(players, "name")
        self.turns = 0
        """Statements so far."""
        self.ends_early = at.fields.get("winner") is None
        """Whether the record may stop before the end of the game."""

    @property
    def decided(self) -> bool:
        """Whether no further mission is played: Merlin may be named, or the game is over."""
        return self.state.phase in (CONSULTATION, AvalonPhase.HUNT, AvalonPhase.DONE)

    def words_of(self, at: JsonObject, key: str) -> tuple[str, str | None]:
        """A field with words: as the table hears them, and as they came in."""
        if key in at.fields and at.fields[key] is None:
            return "", None
        raw = at.of(str, key, "a text, or null")
        return self.names.with_seats(raw), raw

    def statement(self, at: JsonObject, number: int, phase: str) -> None:
        """The seat to move speaks, the `number`th in its discussion."""
        speaker = self.names.names[self.state.actor]
        at.expect("player", speaker, "all speak once, in the order of the seats")
        at.expect("phase", phase, "what is said in this list")
        at.expect("timestamp", number, "statements are counted from 0 in each discussion")
        at.expect("global_turn_id", self.turns, "statements are counted from 0 through the game")
        self.turns += 1
        words, raw = self.words_of(at, "content")
        self.read(words, at, raw)


@cache
def _table(players: int) -> Any:
    rules = GAME.build(MultiRoundOptions(num_players=players))
    return rules, GAME.text(rules)


def _transcript(at: JsonObject, _logs: Path | None) -> str:
    table = Conversation(at)
    _check_config(table, at.record("config"))
    missions = at.records("missions", "mission")
    _deal(table, at, missions[0])
    for number, mission in enumerate(missions, 1):
        _mission(table, mission, number, last=number == len(missions))
    _assassin(table, at)
    _ending(table, at)
    config, wrote = at.fields["config"], bool(at.fields.get("post_game_reflections"))
    notes = record_notes("gpt51", at, at.fields.get("game_id"), table.names.names)
    source = {"model": config["model"], "reasoning_effort": config["reasoning_effort"], "memory": wrote}
    return table.transcript({"record": notes | source})


def _check_config(table: Conversation, at: JsonObject) -> None:
    at.of(str, "model", "a text")
    at.of(str, "reasoning_effort", "a text")
    seats = table.game.seats
    at.expect("mission_team_sizes", list(table.game.sizes), f"the sizes for {seats} players")
    at.expect("num_messages_per_player", 1, "all speak once in a discussion")
    if at.fields.get("num_players") is not None:
        at.expect("num_players", seats, "the players of the record")


def _deal(table: Conversation, at: JsonObject, first: JsonObject) -> None:
    game, players = table.game, at.records("players", "player")
    dealt = [ROLES[player.one_of("role", list(ROLES))] for player in players]
    if sorted(dealt) != sorted(game.roles):
        names = {role: name for name, role in ROLES.items()}
        wanted = ", ".join(names[role] for role in game.roles)
        raise at.error(
            f"the roles of players are {json.dumps([names[r] for r in dealt])}", f"each of these once: {wanted}"
        )
    leader = table.names.seat(first.records("proposals", "proposal")[0], "leader")
    table.deal(dealt, leader, at)
    for seat, player in enumerate(players):
        player.expect("is_good", side_of(dealt[seat]) == avalon.GOOD, f"the side of {player.fields['role']}")
        known = sorted(k for fact in game.night(table.state.standing.roles, seat) for k in fact.seats)
        if sorted(table.names.seats(player, "special_knowledge")) != known:
            accepted = json.dumps([table.names.names[k] for k in known])
            raise player.refused("special_knowledge", accepted, f"what the night shows {player.fields['role']}")


# -- one mission -----------------------------------------------------------------------------------------------


def _mission(table: Conversation, at: JsonObject, number: int, *, last: bool) -> None:
    if table.decided:
        raise at.error(
            f"a side has three successes or fails before this mission ({json.dumps(table.score)})", "no further one"
        )
    if at.fields.get("mission_number") != str(number):  # the program wrote whole numbers and texts
        at.expect("mission_number", number, "missions are numbered from 1")
    cut = last and table.ends_early and not at.fields.get("quest_actions")
    statements = at.records("discussion", "statement")
    if len(statements) != table.game.seats and not (cut and len(statements) < table.game.seats):
        raise at.error(f"discussion has {len(statements)} statements", f"{table.game.seats}, one by each player")
    for turn, statement in enumerate(statements):
        table.statement(statement, turn, "discussion")
    proposals = at.records("proposals", "proposal") if at.fields.get("proposals") or not cut else []
    for turn, proposal in enumerate(proposals):
        _proposal(table, proposal, turn)
    if cut and not table.goes:
        for key in ("final_team_index", "mission_result", "fail_count"):
            if at.fields.get(key) is not None:
                raise at.refused(key, "null", "no team of this mission goes")
    elif not table.goes:
        raise at.error("no team of this mission goes", "proposals up to an approved team")
    else:
        _quest(table, at, len(proposals) - 1)


def _proposal(table: Conversation, at: JsonObject, turn: int) -> None:
    if table.goes:
        raise at.error("a team of this mission goes already", "no proposal after it")
    at.expect("proposal_id", turn, "proposals are counted from 0 in each mission")
    leader = table.names.names[table.state.standing.leader]
    at.expect("leader", leader, "the lead moves on by one seat with every proposal")
    team = table.names.seats(at, "team_members")
    words, raw = table.words_of(at, "reasoning")
    table.play(Move(avalon.TEAM, tuple(sorted(team)), words), at, raw)
    if table.goes:
        at.expect("votes", [], "the fifth team goes without a vote")
    else:
        _votes(table, at)
    at.expect(
        "vote_result", "approved" if table.goes else "rejected", "whether more than half approve, or the fifth goes"
    )


def _votes(table: Conversation, at: JsonObject) -> None:
    votes = _by_seat(table, at, "votes", "vote", range(table.game.seats))
    for vote in votes.values():
        approves = vote.one_of("vote", ("approve", "reject")) == "approve"
        words, raw = table.words_of(vote, "comment")
        table.play(Move(avalon.BALLOT, (int(approves),), words), vote, raw)


def _by_seat(table: Conversation, at: JsonObject, key: str, what: str, seats: Sequence[int]) -> dict[int, JsonObject]:
    """A list with one object for each of `seats`, in any order, put in theirs."""
    given = at.records(key, what)
    by_seat = {table.names.seat(entry, "player"): entry for entry in given}
    if len(given) != len(seats) or set(by_seat) != set(seats):
        raise at.error(
            f"{key} are of {', '.join([entry.fields['player'] for entry in given])}",
            f"one of each: {', '.join([table.names.names[seat] for seat in seats])}",
        )
    return {seat: by_seat[seat] for seat in seats}


def _quest(table: Conversation, at: JsonObject, last: int) -> None:
    at.expect("final_team_index", last, "the last proposal is the approved team")
    for card in _by_seat(table, at, "quest_actions", "card", table.state.team).values():
        succeeds = card.one_of("action", ("success", "fail")) == "success"
        table.play(Move(avalon.CARD, (int(succeeds),)), card)
    _, fails, success = table.results[-1]
    at.expect("fail_count", fails, "the fail cards")
    at.expect("mission_result", "success" if success else "fail", f"the mission has {fails} fail cards")


# -- the end ---------------------------------------------------------------------------------------------------


def _assassin(table: Conversation, within: JsonObject) -> None:
    if table.over or not table.decided:
        if within.fields.get("assassin_phase") is not None:
            raise within.error(
                "assassin_phase is there", f"null, as good has {table.score[avalon.GOOD]} successes of three"
            )
        return
    if table.ends_early and within.fields.get("assassin_phase") is None:
        return
    at = within.record("assassin_phase", "an object, after three successes")
    guesser = table.state.standing.roles.index(table.game.guesser)
    at.expect("assassin", table.names.names[guesser], f"the seat of {table.game.rules.guesser}, who names Merlin")
    for turn, statement in enumerate(at.records("evil_discussion", "statement")):
        if table.state.phase != CONSULTATION:
            raise statement.error("all evil seats have spoken", "one statement by each of them")
        table.statement(statement, turn, "evil_discussion")
    if table.ends_early and at.fields.get("guess") is None:
        return
    if table.state.phase == CONSULTATION:
        missing = table.names.names[table.state.actor]
        raise at.error(f"evil_discussion has no statement of {missing}", "one statement by each evil seat, by number")
    named = table.names.seat(at, "guess")
    words, raw = table.words_of(at, "reasoning")
    table.play(Move(avalon.GUESS, (named,), words), at, raw)
    at.expect("correct", table.state.standing.reason == "assassination", "who Merlin is")


def _ending(table: Conversation, at: JsonObject) -> None:
    if table.over:
        outcome = table.outcome
        at.expect("winner", outcome.winner, f"the game ends by {outcome.reason} at {json.dumps(table.score)}")
    elif not table.ends_early:
        why = f"the game stops at {json.dumps(table.score)}"
        raise at.refused("winner", "null, in a record that ends early; or all of the game up to its end", why)
    if at.fields.get("post_game_reflections"):
        _reflections(table, at)


def _reflections(table: Conversation, at: JsonObject) -> None:
    """What players wrote after the game: their roles and results."""
    if not table.over:
        raise at.error("post_game_reflections are there", "none, as the game is not over")
    outcome, players = table.outcome, at.records("players", "player")
    reflections = at.records("post_game_reflections", "reflection")
    for reflection in reflections:
        seat = table.names.seat(reflection, "player_name")
        reflection.expect("role_played", players[seat].fields["role"], f"the role of {table.names.names[seat]}")
        won = outcome.returns[seat] > 0
        reflection.expect("game_result", "won" if won else "lost", f"{outcome.winner} wins")
    if len({reflection.fields["player_name"] for reflection in reflections}) != len(reflections):
        raise at.error("a player has two post_game_reflections", "one of each player at most")


def _named(at: JsonObject) -> str:
    """By its id; without one, or if another game has it, by where it comes from, such as `group/game_02.json`."""
    source = _by_source(at)
    return at.file_name("game_id") if source is None or "game_id" in at.fields else source


def _by_source(at: JsonObject) -> str | None:
    source = at.fields.get("source")
    if type(source) is not str and source is not None:
        raise at.refused("source", "a text")
    if source is None:
        return None
    return JsonObject(at.where, {"source": source.removesuffix(".json").replace("/", "-")}).file_name("source")


GPT51: Final = RecordFormat(
    game=lookup("avalon_v0").spec.id,
    name="gpt51",
    fields=("config", "players", "missions"),
    key="game_id",
    named=_named,
    transcript=_transcript,
    other=_by_source,
)
