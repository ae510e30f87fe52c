"""The format `published-2023`: games of the preset `reference` that were published with their code.

The games are those that Lan et al. 2023 (arXiv 2310.14985) published with their code, one JSON object a line: roles,
proposals, votes, cards, the Assassin's answers, the score. What was said is not in these records: everybody is silent in
the transcripts, unless the folder with the games' logs is named (`published_log`).

A record holds choices and consequences. The choices (the deal, teams, votes, cards, guesses) are moves and go through
`Game.apply`, which alone decides what is legal; the consequences (who leads, what passes, the score, the winner) are
compared with the state that the moves lead to. A record that says anything else is refused, and with it the file.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon import GAME, vocabulary as avalon
from parlour.envs.avalon.presets import PROPOSALS
from parlour.envs.avalon.state import AvalonPhase
from parlour.envs.common.json_values import json_shown
from parlour.envs.core import Move, listed
from parlour.envs.language.speech import SILENT
from parlour.training.records.avalon.published_log import Words, compare
from parlour.training.records.avalon.table import RecordedGame, table_of
from parlour.training.records.json_objects import FILE_NAME, JsonObject
from parlour.training.records.reading import RecordFormat

PLAYERS: Final = 6
NUMBERS: Final = tuple(str(player) for player in range(1, PLAYERS + 1))
SIDES: Final = (avalon.GOOD, avalon.EVIL)
MOST_GAMES: Final = 1_000_000
"""Games are numbered below it."""
BASES: Final = ("text", "count", "unclear_default")
"""How a card was read from the log: from the reply; from the number of fails; success, for want of a decision."""
# By basis and card: what the reply alone may say.
SAID: Final = {
    ("text", "success"): ("success",),
    ("text", "fail"): ("fail",),
    ("count", "fail"): ("success", "unclear"),
    ("unclear_default", "success"): ("unclear",),
}


class PublishedGame(RecordedGame):
    """A published game of 2023 on its way through the rules, with what its header tells besides."""

    def __init__(self, words: Words | None = None) -> None:
        super().__init__(table_of(PLAYERS, "reference"))
        self.words = words
        """What is said; None if it is not known."""
        self.confirmed: list[bool] = []
        """For each proposal, whether the leader's choice was logged."""
        self.cards: list[list[str]] = []
        """For each card, how it was read from the log, then what the reply alone says where the record tells."""
        self.answers: list[str] = []
        """For each answer of the Assassin, how it was read from the log."""

    def speak(self, at: JsonObject) -> None:
        """The seat to move says what the log has for it."""
        if self.words is None:
            self.play(Move(SILENT), at)
        else:
            move, raw = self.words.spoken(self.game, self.state)
            self.play(move, at, raw)


def _transcript(at: JsonObject, logs: str | Path | None) -> str:
    _check_labels(at)
    table = PublishedGame(None if logs is None else _words(at, Path(logs)))
    rounds = at.records("rounds", "round")
    _deal(table, at, rounds[0])
    for quest, round_ in enumerate(rounds):
        _round(table, round_, quest)
    if not table.over:
        raise rounds[-1].error(f"the game stops at {json_shown(table.score)}", "all rounds up to the end of the game")
    _check_ending(table, at)
    if table.words is not None and logs is not None:
        table.words.finish()
        compare(at, Path(logs) / at.fields["log_file"])
    return _text(table, at)


def _words(at: JsonObject, logs: Path) -> Words:
    roles = at.entries("roles", NUMBERS)
    dealt = {int(number): roles.of(str, number, "a role") for number in NUMBERS}
    if not FILE_NAME.fullmatch(at.fields["log_file"]):
        raise at.refused("log_file", "the name of a file in the folder of logs")
    return Words(at.where, logs / at.fields["log_file"], dealt)


def _check_labels(at: JsonObject) -> None:
    """The fields that the rules have no say in."""
    proposed = at.one_of("proposed_method_side", SIDES)
    at.expect(
        "baseline_side",
        avalon.EVIL if proposed == avalon.GOOD else avalon.GOOD,
        "the proposed method plays the other side",
    )
    named = re.fullmatch(r"(blue|red)_([0-9]+)", at.fields["game_id"])
    if named and (named[1] == "blue") != (proposed == avalon.GOOD):
        raise at.refused("proposed_method_side", "good in games called blue_..., evil in games called red_...")
    at.of(str, "log_file", "a text")
    at.of(str, "source_dir", "a text")
    at.texts("ambiguities")
    _check_index(at)


def _check_index(at: JsonObject) -> None:
    """The number of a game among those played alike: that of its log and of its folder, where they have one."""
    accepted = f"a whole number 0..{MOST_GAMES - 1}"
    index = at.of(int, "index", accepted)
    if index not in range(MOST_GAMES):
        raise at.refused("index", accepted)
    folder = re.fullmatch(r"battle\S*_game_([0-9]+)", at.fields["source_dir"])
    log = re.fullmatch(r"(?:blue|red)_([0-9]+)\.json", at.fields["log_file"])
    for match, key in ((folder, "source_dir"), (log, "log_file")):
        if match and match[1].lstrip("0") != str(index).lstrip("0"):
            raise at.refused(key, f"the number of index {index}", "a game has one number")


def _deal(table: PublishedGame, at: JsonObject, first: JsonObject) -> None:
    game, roles = table.game, at.entries("roles", NUMBERS)
    dealt = [roles.one_of(number, game.role_names) for number in NUMBERS]
    if sorted(dealt) != sorted(game.roles):
        raise at.refused("roles", f"each of these once, in any order: {listed(game.roles)}")
    leader = first.records("proposals", "proposal")[0].one_of("leader", range(1, PLAYERS + 1)) - 1
    table.deal(dealt, leader, at)


def _round(table: PublishedGame, at: JsonObject, quest: int) -> None:
    if table.over:
        raise at.error(f"the game ended before this round, by {table.outcome.reason}", "no further round")
    at.expect("round", quest + 1, "rounds are numbered from 1 without gaps")
    size = table.game.sizes[quest]
    at.expect("team_size", size, f"quest {quest + 1} of {PLAYERS} players")
    for proposal in at.records("proposals", "proposal"):
        if table.goes:
            raise proposal.error("a team of this round goes already", "no proposal after the executed one")
        _proposal(table, proposal, size)
    if not table.goes:
        raise at.error(
            "no team of this round goes", f"proposals up to an approved team, or until they use up {PROPOSALS}"
        )
    _quest(table, at.record("quest"), size)
    _assassin(table, at)
    at.expect("score_after", table.score, "the quests won by then")


def _proposal(table: PublishedGame, at: JsonObject, size: int) -> None:
    at.expect("leader", table.state.standing.leader + 1, "the lead moves on by one seat with every proposal")
    order = []
    for _ in NUMBERS:
        order.append(table.state.actor + 1)
        table.speak(at)
    at.expect("speech_order", order, "all speak once, the leader first")
    team = _team(at, "proposed_team", range(size + 1))
    short, why = len(team) < size, f"{len(team)} of {size} players are named"
    at.expect("short", short, why)
    # the leader's choice is logged exactly if enough players could be read from it
    at.expect("confirm_logged", not short, why)
    table.confirmed.append(not short)
    table.play(Move(avalon.TEAM, team), at)
    _vote(table, at)


def _team(at: JsonObject, key: str, sizes: range) -> tuple[int, ...]:
    """The seats of a list of players, in the order of the table."""
    return tuple(sorted(player - 1 for player in at.some_of(key, range(1, PLAYERS + 1), sizes)))


def _vote(table: PublishedGame, at: JsonObject) -> None:
    votes = at.entries("votes", NUMBERS)
    ballots = [votes.one_of(number, ("agree", "disagree")) == "agree" for number in NUMBERS]
    agreed, needed, counted = sum(ballots), table.game.carries, table.state.standing.counted
    for ballot in ballots:
        table.play(avalon.APPROVE if ballot else avalon.REJECT, at)
    passed = agreed >= needed
    why = f"{agreed} agree, {needed} are needed; {counted} of {PROPOSALS} proposals are used up"
    at.expect("approvals", agreed, "the votes to agree")
    at.expect("vote_passed", passed, why)
    at.expect("executed", table.goes, why)
    at.expect("forced_by_retry_limit", table.goes and not passed, why)


def _quest(table: PublishedGame, at: JsonObject, size: int) -> None:
    drawn = table.state.phase == AvalonPhase.DRAW
    at.expect("team_source", "random_sample" if drawn else "proposal", "a team is drawn instead of a short one only")
    team = _team(at, "team", range(size, size + 1))
    if drawn:
        table.play(Move(avalon.DRAWN, team), at)
    elif team != table.state.team:
        raise at.refused("team", json_shown([seat + 1 for seat in table.state.team]), "the proposed team goes")
    cards = at.entries("cards", [str(seat + 1) for seat in team])
    for seat in team:
        _card(table, cards.record(str(seat + 1)), seat)
    _, fails, success = table.results[-1]
    at.expect("fails_reported", fails, "the fail cards")
    at.expect("result", "success" if success else "fail", f"the quest has {fails} fail cards")


def _card(table: PublishedGame, at: JsonObject, seat: int) -> None:
    role = table.game.role_names[table.state.standing.roles[seat]]
    card, basis = at.one_of("card", ("success", "fail")), at.one_of("basis", BASES)
    # what the host counted against the words was an evil player's fail
    possible = [b for b, c in SAID if c == card and (b != "count" or avalon.side_of(role) == avalon.EVIL)]
    at.one_of("basis", possible, f"a {card} card of {role}")
    said = [at.one_of("text_class", SAID[basis, card], f"read by {basis}")] if "text_class" in at.fields else []
    table.cards.append([basis, *said])
    table.play(avalon.SUCCESS if card == "success" else avalon.FAIL, at)


def _assassin(table: PublishedGame, within: JsonObject) -> None:
    if table.state.phase != AvalonPhase.HUNT:
        within.expect("assassin", None, "the guess was used before")
        return
    at = within.record("assassin", "an object, while the guess is unused")
    actor = table.state.actor
    at.expect("player", actor + 1, "the Assassin's seat")
    table.answers.append(at.of(str, "answer_basis", "a text"))
    named = _named(at, actor)
    table.play(avalon.PASS if named is None else Move(avalon.GUESS, (named,)), at)
    if named is None:
        at.expect("correct", None, "nobody is named")
    else:
        at.expect("correct", table.state.standing.reason == "assassination", "who Merlin is")


def _named(at: JsonObject, assassin: int) -> int | None:
    """The seat named as Merlin; None for a no. A yes names one: without a target there was no guess, and no yes."""
    if at.one_of("answer", ("yes", "no")) == "no":
        at.expect("target", None, "nobody is named with a no")
        return None
    others = [int(number) for number in NUMBERS if int(number) != assassin + 1]
    return at.one_of("target", others, "one of the other players") - 1


def _check_ending(table: PublishedGame, at: JsonObject) -> None:
    winner, reason = table.outcome.winner, table.outcome.reason
    results = ["success" if success else "fail" for _, _, success in table.results]
    proposed = winner == at.fields["proposed_method_side"]
    at.expect("winner", winner, f"the game ends by {reason} at {json_shown(table.score)}")
    at.expect("win_by", reason, f"how round {len(results)} ends")
    at.expect("quest_results", results, "the results of the rounds")
    at.expect("final_score", table.score, f"the quests scored by the end of round {len(results)}")
    at.expect("winner_method", "proposed" if proposed else "baseline", f"{winner} wins")


def _text(table: PublishedGame, at: JsonObject) -> str:
    published: dict[str, Any] = {key: at.fields[key] for key in ("game_id", "proposed_method_side", "baseline_side")}
    published |= {"confirm_logged": table.confirmed, "cards": table.cards}
    if table.words is not None:
        source = {"log": at.fields["log_file"], "players": "numbered from 0; in the log and in `raw` from 1"}
        published |= {"answers": table.answers, "words": source}
    return table.transcript({"published": published})


PUBLISHED_2023: Final = RecordFormat(
    game=GAME.id,
    name="published-2023",
    fields=("game_id", "log_file", "rounds"),
    key="game_id",
    named=lambda at: at.file_name("game_id"),
    transcript=_transcript,
    logs=True,
)
