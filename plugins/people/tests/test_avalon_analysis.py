"""Analysis of recorded games: surprise in bits, right votes, and the comparison paired by game.

The games are written down by hand at a table of five (official rules, no talk): player_0 Merlin, player_1 Percival,
player_2 Loyal Servant, player_3 Morgana, player_4 Assassin; player_0 leads first, everybody approves unless a test says
otherwise. Numbers in comments are those of `AvalonHabits`.
"""

from __future__ import annotations

import csv
import json
from math import log2

import pytest
from parlour.envs.avalon import GAME
from parlour.envs.avalon.belief import AvalonHabits
from parlour.envs.avalon.vocabulary import APPROVE, BALLOT, CARD, DEALT, GUESS, TEAM, Move
from parlour.envs.language.entries import Entry
from parlour.envs.language.transcript_lines import header_line
from parlour.envs.replay import Transcript
from parlour.training.measure.avalon.games import analysed_game
from parlour_people.analysis.compare import compared_guesses, compared_votes, wrong_guesses
from parlour_people.analysis.decisions import decisions_of
from parlour_people.analysis.report import plain
from parlour_people.analysis.run import AnalysisSettings, analyse

from tests.training.measure.avalon.transcripts import write

SPEC = GAME
CONFIG = {"num_players": 5, "rules": "official", "talk": False}
MERLIN, PERCIVAL, SERVANT, MORGANA, ASSASSIN = range(5)
ROLES = ["Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin"]
HABITS = AvalonHabits()


def quest(team, fails=(), against=()):
    """A team that is named, voted on and sent: the seats in `fails` play fail, those in `against` reject."""
    votes = [Move(BALLOT, (int(seat not in against),)) for seat in range(5)]
    cards = [Move(CARD, (int(seat not in fails),)) for seat in team]
    return [Move(TEAM, tuple(team)), *votes, *(cards if len(against) < 3 else [])]


def game_of(*parts, name="one", header=None, **config):
    """A game from its moves, behind the deal above."""
    rules = SPEC.build(SPEC.options(**{**CONFIG, **config}))
    dealt = Move(DEALT, (*map(rules.role_names.index, ROLES), 0))
    moves = [dealt, *(move for part in parts for move in part)]
    state, entries = rules.initial(), []
    for move in moves:
        entries.append(Entry(state.actor, move, None, None))
        state = rules.apply(state, move)
    head = {"game": "avalon_v0", "config": dict(rules.config), **(header or {})}
    return analysed_game(name, Transcript(head, tuple(entries), rules.outcome(state)))


GOOD_WINS = (quest([0, 1]), quest([0, 1, 2]), quest([0, 1]))


def bits_of(game, seat, kind):
    return [decision.bits for decision in decisions_of(game, HABITS) if (decision.seat, decision.kind) == (seat, kind)]


def merlin_before_the_guess(game):
    """The Assassin's chances of each seat to be Merlin."""
    belief = game.opening_belief(ASSASSIN, HABITS)
    for event in game.log:
        if event.move.kind == GUESS:
            break
        if event.to is None or ASSASSIN in event.to:
            belief.see(event.seat, *event.move)
    return belief.merlin_chance()


# -- surprise --------------------------------------------------------------------------------------------------


def test_a_vote_is_as_surprising_as_habits_make_it_for_the_role_that_knows_the_team():
    dirty, clean = game_of(quest([0, 3])), game_of(quest([0, 1], against=(ASSASSIN,)))
    assert bits_of(dirty, MERLIN, "vote") == pytest.approx([-log2(0.15)])  # approve_dirty_merlin
    assert bits_of(dirty, MORGANA, "vote") == pytest.approx([-log2(0.75)])  # approve_dirty_evil
    assert bits_of(clean, MORGANA, "vote") == pytest.approx([-log2(0.35)])  # approve_clean_evil
    assert bits_of(clean, ASSASSIN, "vote") == pytest.approx([-log2(0.65)])
    assert bits_of(dirty, SERVANT, "vote") == pytest.approx([-log2(0.55)])  # approve_blind, whatever the team


def test_a_card_is_a_surprise_of_evil_seats_alone():
    game = game_of(quest([0, 3], fails=(MORGANA,)), quest([0, 3, 4], fails=(ASSASSIN,)))
    assert bits_of(game, MORGANA, "card") == pytest.approx([-log2(0.8), -log2(0.2)])  # fail
    assert bits_of(game, MERLIN, "card") == [0.0, 0.0]  # one legal card is no choice


def test_a_team_is_as_surprising_as_its_being_clean_to_what_its_leader_knows():
    # Merlin leads a clean team in 0.9 of the cases, and knows that this one is clean, or not
    assert bits_of(game_of(quest([0, 1])), MERLIN, "team") == pytest.approx([-log2(0.9)])
    assert bits_of(game_of(quest([3, 4])), MERLIN, "team") == pytest.approx([-log2(0.1)])
    # Percival leads after a rejection and knows neither side: of himself and two others he has seen nothing yet but
    # a vote on (3, 4), so both outcomes weigh: between the likelihoods 0.44 (clean) and 0.56 (dirty) of a blind leader
    blind = bits_of(game_of(quest([3, 4], against=(0, 1, 2)), quest([1, 2])), PERCIVAL, "team")[0]
    assert -log2(0.56) < blind < -log2(0.44)


def test_a_guess_is_as_surprising_as_the_guessers_belief_makes_it():
    game = game_of(*GOOD_WINS, [Move(GUESS, (PERCIVAL,))])
    assert bits_of(game, ASSASSIN, "guess") == pytest.approx([-log2(merlin_before_the_guess(game)[PERCIVAL])])


# -- right and wrong -------------------------------------------------------------------------------------------


def test_right_votes_are_those_of_good_seats_by_the_true_team():
    game = game_of(quest([0, 3], against=(MERLIN,)))
    rights = {decision.seat: decision.right for decision in decisions_of(game, HABITS) if decision.kind == "vote"}
    assert rights == {MERLIN: True, PERCIVAL: False, SERVANT: False, MORGANA: None, ASSASSIN: None}


def test_a_vote_that_can_change_nothing_is_neither_right_nor_wrong():
    rejected = [quest([0, 1], against=(2, 3, 4)), *(quest([0, 1], against=(2, 3, 4)) for _ in range(3))]
    last = quest([0, 1])
    paper = game_of(*rejected, last, rules="paper", name="paper")  # the fifth team goes whatever the vote
    official = game_of(*rejected, last, name="official")  # a fifth rejection loses
    of_last = [[move for move in decisions_of(game, HABITS) if move.kind == "vote"][-5:] for game in (paper, official)]
    assert [decision.right for decision in of_last[0]] == [None] * 5
    assert {decision.bits for decision in of_last[0]} == {0.0}
    assert [decision.right for decision in of_last[1]] == [True, True, True, None, None]


def test_the_heuristic_is_asked_at_the_same_view():
    """Merlin's fellow servant on a team that has failed: the heuristic rejects it, whatever the seat did."""
    game = game_of(quest([0, 3], fails=(MORGANA,)), quest([2, 3, 4], against=(0, 1)))
    servant = [move for move in decisions_of(game, HABITS) if (move.seat, move.kind) == (SERVANT, "vote")][-1]
    assert (servant.move, servant.ours, servant.right, servant.ours_right) == (APPROVE, Move(BALLOT, (0,)), False, True)


def test_moves_that_a_record_does_not_tell_are_no_decisions():
    """ProAvalon's records name the moves that were assumed: here both cards of the quest, moves 7 and 8."""
    known = game_of(quest([0, 3], fails=(3,)))
    assumed = game_of(quest([0, 3], fails=(3,)), header={"record": {"assumed": [7, 8]}})
    numbers = [[decision.number for decision in decisions_of(game, HABITS)] for game in (known, assumed)]
    assert numbers[0] == [*range(1, 9)]
    assert numbers[1] == [*range(1, 7)]


# -- a folder --------------------------------------------------------------------------------------------------


def test_votes_and_guesses_are_compared_on_the_same_views():
    """Two games with right guesses 1 and 0: of wrong ones the role that was hit is counted."""
    right = game_of(*GOOD_WINS, [Move(GUESS, (MERLIN,))], name="right")
    wrong = game_of(*GOOD_WINS, [Move(GUESS, (SERVANT,))], name="wrong")
    games = [(game, decisions_of(game, HABITS)) for game in (right, wrong)]
    every = next(iter(compared_guesses(games)))
    assert (every.by, every.theirs.hits, every.theirs.n) == ("all", 1, 2)
    assert every.chance == pytest.approx(2 / 3)  # one of three good seats, twice
    assert every.ours.hits in (0, 2)  # the same View both times
    assert wrong_guesses(games) == {"Loyal Servant": 1}
    votes = next(iter(compared_votes(games)))
    assert (votes.games, votes.votes) == (2, 2 * 3 * 3)  # three good seats, three teams
    assert votes.theirs.value == 1.0  # all teams were clean and approved
    assert votes.difference.value == pytest.approx(votes.theirs.value - votes.ours.value)


def test_votes_weigh_alike_and_intervals_go_by_games():
    """One right vote of 3 in a game, 6 of 6 in another: 7 of 9, though the mean of the games is 2/3."""
    first, second = (
        game_of(quest([0, 3], against=(MERLIN,)), name="a"),
        game_of(quest([0, 1]), quest([0, 1, 2]), name="b"),
    )
    votes = next(iter(compared_votes([(game, decisions_of(game, HABITS)) for game in (first, second)])))
    assert votes.theirs.value == pytest.approx(7 / 9)
    assert votes.theirs.n == 2


def test_clean_and_dirty_teams_are_told_apart():
    """Merlin alone rejects the dirty team, all three approve the clean one: 1 of 3 and 3 of 3."""
    game = game_of(quest([0, 3], against=(MERLIN,)), quest([0, 1, 2]))
    rows = {row.group: row for row in compared_votes([(game, decisions_of(game, HABITS))]) if row.by == "team"}
    assert {group: (row.votes, row.theirs.value) for group, row in rows.items()} == {
        "clean": (3, 1.0),
        "dirty": (3, pytest.approx(1 / 3)),
    }


def test_games_are_grouped_by_what_their_records_say():
    notes = {"record": {"model": "m", "reasoning_effort": "low", "memory": True}}
    games = [game_of(*GOOD_WINS, [Move(GUESS, (0,))], header=notes), game_of(*GOOD_WINS, [Move(GUESS, (0,))])]
    rows = [
        (row.by, row.group, row.theirs.n) for row in compared_guesses([(g, decisions_of(g, HABITS)) for g in games])
    ]
    assert rows == [("all", "all", 2), ("players", "5", 2), ("reasoning effort", "low", 1), ("memory", "with", 1)]


@pytest.fixture
def folder(tmp_path):
    hostile = {"record": {"model": "GPT <b>x|y", "source": "../../x`", "memory": False}}
    write(
        tmp_path / "games" / "first.jsonl", game_of(*GOOD_WINS, [Move(GUESS, (PERCIVAL,))], header=hostile).transcript
    )
    write(tmp_path / "games" / "second.jsonl", game_of(quest([0, 3], fails=(3,)), [Move(TEAM, (0, 1, 2))]).transcript)
    return tmp_path / "games"


def contents(out):
    return {path.relative_to(out): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def test_a_folder_becomes_tables_and_a_report(folder, tmp_path, capsys):
    settings = AnalysisSettings(pictures=False)
    analysis = analyse(folder, tmp_path / "out", settings)
    assert [game.end for game, _ in analysis.folder.games] == [
        "Good wins: three quests succeeded and Merlin was not found.",
        "not finished",
    ]
    assert analysis.figures["guesses"][0]["theirs"]["hits"] == 0
    assert "<b>" not in (tmp_path / "out" / "report.md").read_text("utf-8")  # words of a record are shown, not obeyed
    with (tmp_path / "out" / "decisions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(decisions) for _, decisions in analysis.folder.games)
    assert [row["did"] for row in rows if row["kind"] == "guess"] == ["guess 1"]
    again = analyse(folder, tmp_path / "again", settings)
    assert again.figures == analysis.figures
    assert contents(tmp_path / "out") == contents(tmp_path / "again")


def test_the_command_prints_its_figures_as_json(folder, tmp_path, output_of, json_of):
    words = ["analyse", str(folder), "--out", str(tmp_path / "out"), "--no-pictures"]
    output = json_of([*words, "--json"])
    written = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert "the heuristic" in output.pop("verdict")
    assert "the heuristic" in written.pop("verdict")  # with the names of the record as Markdown shows them
    assert output == written
    assert "2 games analysed" in output_of(words)


def test_other_games_and_games_without_a_deal_are_refused_in_one_line(folder, tmp_path, capsys, error_of):
    (folder / "third.jsonl").write_text(header_line("werewolf_v0", {}, {}), "utf-8")
    words = ["analyse", str(folder), "--out", str(tmp_path / "out")]
    assert "third.jsonl': game 'werewolf_v0' is not accepted; accepted: avalon_v0" in error_of(words)
    (folder / "third.jsonl").write_text(header_line("avalon_v0", CONFIG, {}), "utf-8")
    assert "ends before the deal" in error_of(words)
    assert not (tmp_path / "out").exists()


def test_pictures_are_drawn(folder, tmp_path):
    pytest.importorskip("matplotlib")
    analyse(folder, tmp_path / "out", AnalysisSettings())
    made = {path.name for path in (tmp_path / "out").rglob("*.png")}
    assert made == {"votes.png", "guesses.png"}


def test_words_of_records_cannot_leave_their_line():
    assert plain("a\n# b | [c](d)") == r"a \# b \| \[c\]\(d\)"
