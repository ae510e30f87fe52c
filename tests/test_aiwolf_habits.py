"""Habits of AIWolf's Werewolf counted from games: what counts as a case, and how well an onlooker then knows the wolves."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from aiwolf_games import played
from parlour.envs.core import Event
from parlour.envs.werewolf import GAME
from parlour.envs.werewolf.aiwolf.habits import AIWolfHabits
from parlour.training.learn.habits.aiwolf import AIWolfRecord, aiwolf_reads, count_habits, fit_weight
from played_by_hand import announced, said

ROLES = ("Villager", "Villager", "Seer", "Werewolf", "Possessed")


def record(*events: Event) -> AIWolfRecord:
    game = GAME.build(rules="aiwolf-5")
    return AIWolfRecord(ROLES, events, game.view(game.initial(), 0))


def test_an_accusation_counts_once_until_the_seat_accuses_another():
    # seat 0 accuses the werewolf, again, a villager, and the werewolf: 2 of 3
    seen = [said(0, "accuse", target) for target in (3, 3, 1, 3)]
    assert count_habits([record(announced("dawn", 1), *seen)]).accuses_wolf == pytest.approx(2 / 3)


def test_who_has_spoken_and_not_come_out_when_votes_are_shown_counts_against_the_claim():
    # of two games, the seer comes out in one: 1 of 2
    votes = announced("votes", 1, 3, 3, 3, 0, 0)
    out = record(announced("dawn", 1), said(2, "claim_role", 2), votes)
    hidden = record(announced("dawn", 1), said(2, "silent"), votes)
    assert count_habits([out, hidden]).seer_claims_first == pytest.approx(1 / 2)


def test_a_rate_with_the_same_result_in_all_cases_stays_as_it_is():
    usual = AIWolfHabits()
    assert count_habits([record(announced("dawn", 1), said(0, "accuse", 3))]).accuses_wolf == usual.accuses_wolf
    assert count_habits([]) == usual


def recorded(deal: int) -> AIWolfRecord:
    """A game of the heuristic."""
    game, state = played("aiwolf-5", deal)
    roles = tuple(game.role_names[number] for number in state.standing.roles)
    return AIWolfRecord(roles, state.log, game.view(state, 0))


def test_an_onlooker_of_games_not_counted_knows_the_wolf_better_than_the_deal_tells():
    habits = count_habits([recorded(deal) for deal in range(40)])
    reads = [read for deal in range(100, 140) for read in aiwolf_reads(recorded(deal), habits)]
    # five seats, one werewolf: the deal alone has a loss of log 5 = 1.609
    assert np.mean([read.loss for read in reads if read.day == 1]) < log(5) - 0.1


def test_the_weight_of_aims_is_that_with_the_least_loss():
    games = [recorded(deal) for deal in range(10)]
    fitted = fit_weight(games, AIWolfHabits())
    of = lambda habits: sum(read.loss for game in games for read in aiwolf_reads(game, habits))  # noqa: E731
    assert of(fitted) <= of(AIWolfHabits(aims_weight=1.0))
    assert fitted.aims_weight < 1  # the heuristic's seats follow each other
