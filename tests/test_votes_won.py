"""Votes that words win: voters are played again, once with a seat's words and once without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from parlour.envs.avalon.vocabulary import APPROVE, REJECT, AvalonView
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.training.measure.abilities.moments import is_players
from parlour.training.measure.abilities.votes import replayed_votes, vote_effects, votes_won
from parlour.training.measure.analysis.games import AnalysedGame, read_game
from parlour.training.measure.benchmark.played import Candidate, play_suite
from parlour.training.measure.benchmark.suite import BenchmarkTable, Suite

SPOKE = ("accuse", "defend", "recommend", "claim_role")


def games_of(player: str, opponent: str, folder: Path) -> list[AnalysedGame]:
    six = {"num_players": 6, "rules": "paper"}
    play_suite(
        Suite("test", (BenchmarkTable("avalon-6", "avalon_v0", six, 2, (opponent,)),)), Candidate(player), folder
    )
    return [read_game(path) for path in sorted(folder.glob("games/*/*/*.jsonl"))]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> list[AnalysedGame]:
    """Two deals from both sides: the heuristic against the expert, and a random player against the heuristic."""
    folder = tmp_path_factory.mktemp("votes")
    return games_of("heuristic", "expert", folder / "heuristic") + games_of("random", "heuristic", folder / "random")


def test_every_vote_of_heuristics_networks_and_random_players_is_played_again_as_it_was_cast(games):
    for game in games:
        cast = [(moment.view.seat, moment.move) for moment in game.moments() if moment.move.kind == "vote"]
        again = list(replayed_votes(game))
        assert [(vote.view.seat, vote.move) for vote in again] == cast
        assert [vote.again(vote.view) for vote in again] == [vote.move for vote in again]


def test_a_seat_that_did_not_play_by_its_name_counts_up_to_its_first_other_move(games):
    game = games[0]
    seat, number = next(
        (moment.view.seat, moment.number)
        for moment in game.moments()
        if moment.move.kind == "vote" and moment.number > 50
    )
    moves = list(game.transcript.moves)
    moves[number] = REJECT if moves[number] == APPROVE else APPROVE
    entries = [entry._replace(move=moves[k]) for k, entry in enumerate(game.transcript.entries)]
    other = replace(game, transcript=replace(game.transcript, entries=tuple(entries)))
    kept = [moment.number for moment in game.moments() if moment.view.seat == seat and moment.move.kind == "vote"]
    assert sum(vote.view.seat == seat for vote in replayed_votes(other)) == kept.index(number)


def test_effects_are_those_of_the_players_seats_that_spoke_on_the_votes_of_all_others(games):
    for game in games:
        expected = 0
        spoke: set[int] = set()
        for event in game.log:
            if event.move.kind in SPOKE and is_players(game, event.seat):
                spoke.add(event.seat)
            elif event.move.kind == "votes":
                expected += len(spoke) * (game.seats - 1)
                spoke.clear()
        assert len(list(vote_effects(game))) == expected


def recommenders(view: AvalonView) -> set[int]:
    """Who has recommended somebody since the last vote."""
    since = max((k for k, event in enumerate(view.events) if event.move.kind == "votes"), default=0)
    return {event.seat for event in view.events[since:] if event.move.kind == "recommend"}


def test_a_vote_that_words_win_counts_for_the_side_of_the_speaker(tmp_path, monkeypatch):
    """Voters approve exactly if somebody was recommended, so that the words of the only one who did so win or lose each vote."""
    monkeypatch.setattr(AvalonPlayer, "_approves", lambda _, view: bool(recommenders(view)))
    seen = set()
    for game in games_of("heuristic", "heuristic", tmp_path):
        expected = []
        for ballot in replayed_votes(game):
            by = recommenders(ballot.view)
            if len(by) == 1 and not by & {ballot.view.seat} and is_players(game, min(by)):
                expected.append(1 if bool(game.evil & set(ballot.view.team)) == (min(by) in game.evil) else -1)
        assert sorted(effect.effect for effect in vote_effects(game) if effect.effect) == sorted(expected)
        seen |= set(expected)
    assert seen == {1, -1}


def test_players_that_ask_a_model_are_not_played_again(games):
    game = games[0]
    header = dict(game.transcript.header)
    header["players"] = dict.fromkeys(header["players"], "chat")
    silent = replace(game, transcript=replace(game.transcript, header=header))
    assert list(replayed_votes(silent)) == []
    assert votes_won([silent], np.random.default_rng(0)).changed is None


def test_words_to_random_voters_change_no_vote(tmp_path: Path):
    games = games_of("heuristic", "random", tmp_path)
    by_random = [effect for game in games for effect in vote_effects(game) if not is_players(game, effect.voter)]
    assert by_random
    assert {effect.effect for effect in by_random} == {0}
