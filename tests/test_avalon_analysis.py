"""Analysis of recorded games: surprise in bits, right votes, what decisions cost, and the comparison paired by game.

The games are written down by hand at a table of five (official rules, no talk): player_0 Merlin, player_1 Percival,
player_2 Loyal Servant, player_3 Morgana, player_4 Assassin; player_0 leads first, everybody approves unless a test says
otherwise. Numbers in comments are those of `AvalonHabits`.
"""

from __future__ import annotations

import csv
import json
from math import log2

import numpy as np
import pytest
from avalon_transcripts import write
from parlour.envs.avalon import GAME
from parlour.envs.avalon.belief import ONLOOKER, AvalonHabits
from parlour.envs.avalon.vocabulary import APPROVE, BALLOT, CARD, DEALT, GUESS, TEAM, Move
from parlour.envs.core import ParlourError
from parlour.envs.entries import Entry
from parlour.envs.replay import Transcript, header_line
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.training.measure.analysis.beliefs import belief_lines
from parlour.training.measure.analysis.compare import compared_guesses, compared_votes, wrong_guesses
from parlour.training.measure.analysis.decisions import decisions_of
from parlour.training.measure.analysis.games import analysed_game
from parlour.training.measure.analysis.pages import plain
from parlour.training.measure.analysis.run import AnalysisSettings, analyse
from parlour.training.measure.analysis.values import Valuing, players_for, read_values

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
    rules = SPEC.build(**{**CONFIG, **config})
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
    line = next(belief_line for belief_line in belief_lines(game, HABITS) if belief_line.viewer == ASSASSIN)
    before = next(point for point in reversed(line.points) if point.kind == "fails")
    assert bits_of(game, ASSASSIN, "guess") == pytest.approx([-log2(before.merlin[PERCIVAL])])


# -- beliefs ---------------------------------------------------------------------------------------------------


def test_beliefs_begin_where_the_night_leaves_them():
    lines = {line.viewer: line.points for line in belief_lines(game_of(*GOOD_WINS), HABITS)}
    assert list(lines) == [ONLOOKER, 0, 1, 2, 3, 4]
    assert lines[ONLOOKER][0].truth == pytest.approx(1 / 10)  # two evil of five
    assert lines[SERVANT][0].truth == pytest.approx(1 / 6)  # two of the four others
    assert lines[PERCIVAL][0].truth == pytest.approx(1 / 4)  # Morgana is one of two, her fellow one of the two others
    assert {point.truth for point in lines[MERLIN]} == {1.0}
    assert lines[ONLOOKER][-1].truth > 0.8


def test_a_belief_line_has_a_point_after_each_event_that_tells_something():
    game = game_of(quest([0, 3], fails=(MORGANA,)))
    line = next(iter(belief_lines(game, HABITS)))
    assert [point.kind for point in line.points] == ["deal", "propose", "votes", "fails"]
    assert line.points[-1].evil[MERLIN] + line.points[-1].evil[MORGANA] >= 1  # one of the two failed


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


# -- what decisions cost ---------------------------------------------------------------------------------------


def valued(game, votes=0, continuations=6):
    _, seat = players_for(game, "rollouts", HABITS)
    return list(Valuing(game, HABITS, seat, continuations, votes, 0).values(decisions_of(game, HABITS)))


def test_a_guess_costs_what_its_own_probability_is_below_the_best():
    game = game_of(*GOOD_WINS, [Move(GUESS, (PERCIVAL,))])
    line = next(belief_line for belief_line in belief_lines(game, HABITS) if belief_line.viewer == ASSASSIN)
    merlin = next(point for point in reversed(line.points) if point.kind == "fails").merlin
    (guess,) = valued(game)
    assert (guess.value, guess.best) == (pytest.approx(merlin[PERCIVAL]), pytest.approx(max(merlin)))
    assert (guess.continuations, guess.error) == (0, 0.0)


def test_a_fail_that_would_have_won_the_game_costs_what_success_leaves():
    game = game_of(quest([0, 3], fails=(3,)), quest([0, 1, 3], fails=(3,)), quest([0, 3]))
    last = valued(game)[-1]
    assert last.best == 1.0  # the third failed quest wins for evil in every continuation
    assert last.best_move == Move(CARD, (0,))
    assert last.value < 1
    assert last.continuations == 6  # a deal that fits what Morgana saw was found for each


def test_only_the_most_surprising_votes_are_valued():
    game = game_of(quest([0, 3], against=(1,)), quest([1, 2, 4], against=(0, 3)))
    votes = {move.number: move.bits for move in decisions_of(game, HABITS) if move.kind == "vote" and move.choices > 1}
    chosen = [decision.number for decision in valued(game, votes=2, continuations=2) if decision.number in votes]
    assert sorted((votes[number] for number in chosen), reverse=True) == sorted(votes.values(), reverse=True)[:2]
    assert all(decision.best >= decision.value for decision in valued(game, votes=2, continuations=2))


def test_a_copied_heuristic_goes_on_by_itself_with_what_it_has_read():
    game = game_of(quest([0, 3], fails=(3,)), quest([1, 2, 4], against=(0, 3)))
    moments = [moment for moment in game.moments() if moment.view.seat == SERVANT]
    first = AvalonPlayer(moments[0].view, np.random.default_rng(0))
    first.read(moments[1].view)
    before = first.belief.log_weights.copy()
    twin = first.copied(np.random.default_rng(5))
    twin.read(moments[-1].view)
    assert (first.belief.log_weights == before).all()
    assert not (twin.belief.log_weights == before).all()
    whole = AvalonPlayer(moments[0].view, np.random.default_rng(5))
    assert twin.act(moments[-1].view) == whole.act(moments[-1].view)
    assert (twin.belief.log_weights == whole.belief.log_weights).all()


def test_the_expert_of_a_table_plays_on_and_elsewhere_the_heuristic():
    assert players_for(game_of(quest([0, 1])), "expert", HABITS)[0] == "expert"
    assert players_for(game_of(quest([0, 1]), rules="paper"), "expert", HABITS)[0] == "heuristic"


@pytest.mark.parametrize("text", ["", "rollouts=0", "rollouts=x", "expert=-1", "none=3", "all", "rollouts=9999999"])
def test_other_ways_to_value_are_refused(text):
    with pytest.raises(ParlourError, match=r"values .* is not accepted; accepted: none, expert"):
        read_values(text)


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


def test_a_folder_becomes_pages_tables_and_a_report(folder, tmp_path, capsys):
    settings = AnalysisSettings(values="rollouts=2", votes=1, pictures=False)
    analysis = analyse(folder, tmp_path / "out", settings)
    assert [game.end for game, _ in analysis.folder.games] == [
        "Good wins: three quests succeeded and Merlin was not found.",
        "not finished",
    ]
    assert analysis.figures["guesses"][0]["theirs"]["hits"] == 0
    pages = {path.name: path.read_text("utf-8") for path in (tmp_path / "out").rglob("*.md")}
    assert set(pages) == {"index.md", "report.md", "first.md", "second.md"}
    assert "[first](<games/first.md>)" in pages["index.md"]
    assert "parlour replay '../../games/first.jsonl'" in pages["first.md"]
    assert all("<b>" not in text for text in pages.values())  # words of a record are shown, not obeyed
    with (tmp_path / "out" / "decisions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(decisions) for _, decisions in analysis.folder.games)
    assert [row["did"] for row in rows if row["kind"] == "guess"] == ["guess 1"]
    again = analyse(folder, tmp_path / "again", settings)
    assert again.figures == analysis.figures
    assert contents(tmp_path / "out") == contents(tmp_path / "again")


def test_the_command_prints_its_figures_as_json(folder, tmp_path, output_of, json_of):
    words = ["analyse", str(folder), "--out", str(tmp_path / "out"), "--values", "none", "--no-pictures"]
    output = json_of([*words, "--json"])
    assert "the heuristic" in output.pop("verdict")
    assert output == json.loads((tmp_path / "out" / "analysis.json").read_text("utf-8"))
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
    analyse(folder, tmp_path / "out", AnalysisSettings(values="none"))
    made = {path.name for path in (tmp_path / "out").rglob("*.png")}
    assert made == {"first.png", "second.png", "votes.png", "guesses.png"}
    assert "![Beliefs over the game](first.png)" in (tmp_path / "out" / "games" / "first.md").read_text("utf-8")


def test_words_of_records_cannot_leave_their_line():
    assert plain("a\n# b | [c](d)") == r"a \# b \| \[c\]\(d\)"
