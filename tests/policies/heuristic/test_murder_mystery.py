"""The heuristic for murder mysteries: honest where it must be, silent where it may, and no worse than chance."""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs import registry
from parlour.envs.adapters.turn import take_turn
from parlour.envs.core import Move
from parlour.envs.murder_mystery.legal_moves import fact_of
from parlour.envs.murder_mystery.vocabulary import ANSWER, ASK, TELL, TURN, VERDICT, VOTE, Verdict
from parlour.envs.murder_mystery.vocabulary.facts import Fact
from parlour.policies import HeuristicPolicy, RandomPolicy

from tests.envs.murder_mystery.table import BEN, path
from tests.policies.networks import moves_of


def play(case: str, players: Any = HeuristicPolicy, seed: int = 0, **options: Any) -> Any:
    reference = case if ":" in case else path(case)
    env = registry["murder_mystery_v0"].raw_env(case=reference, info="full", **options)
    moves_of(env, [players() for _ in range(env.game.seats)], seed)
    return env


def verdicts(env: Any) -> list[int]:
    return [e.move.args[2] for e in env.state_now.log if e.move.kind == VERDICT]


@pytest.mark.parametrize("case", ["tower_en", "lake_zh", "seed:3:zh"])
def test_civilians_tell_everything_that_they_are_asked_for(case):
    env = play(case)
    people, victim, told = env.game.case.characters, -1, 0
    for seat, move, _ in env.state_now.log:
        victim = move.args[1] if move.kind == TURN else victim
        told += move.kind == TELL
        assert move.kind != ANSWER or people[seat].murders[victim]
    assert told


def test_a_murderer_tells_its_lies_and_no_truth_against_itself():
    """Ben, of Edgar: he was in the hall at ten, Eve had a reason; nothing of the garden, of his debt and his hatred."""
    said: dict[int, set[Fact]] = {0: set(), 1: set()}
    victim = -1
    for event in play("tower_en", rounds=3).state_now.log:
        victim = event.move.args[1] if event.move.kind == TURN else victim
        if event.move.kind == TELL and event.seat == BEN:
            said[victim].add(fact_of(event.move))
    assert {Fact("at", (BEN, 0, 1)), Fact("motive", (4, 1, 5))} <= said[0]
    assert not said[0] & {Fact("at", (BEN, 2, 1)), Fact("relation", (BEN, 1, 5)), Fact("feels", (BEN, -1, 5))}


def test_it_asks_until_nothing_new_is_to_be_had_and_then_nobody():
    env = play("tower_en", rounds=3)
    asked = [e for e in env.state_now.log if e.move.kind == ASK]
    # 5 seats x 2 victims x 3 rounds x 4 targets is the most
    assert 20 < len(asked) < 120
    questions = [(e.seat, e.move.args) for e in asked]
    assert len({args for _, args in questions}) == 6


def test_cases_are_solved_far_above_chance():
    """Among five others chance finds the murderer alone on top of half of the votes in few cases."""
    cases = [f"seed:{seed}:en:5:1" for seed in range(8)]
    by_rule = sum(Verdict.SOLVED in verdicts(play(case, rounds=2)) for case in cases)
    by_chance = sum(Verdict.SOLVED in verdicts(play(case, RandomPolicy, rounds=2)) for case in cases)
    assert by_rule >= 6
    assert by_chance <= 3


def test_in_a_case_of_prose_only_it_asks_and_has_nothing_to_say():
    env = play("letter_en", rounds=2)
    kinds = {e.move.kind for e in env.state_now.log}
    assert {ASK, VOTE} <= kinds
    assert TELL not in kinds


def test_it_reads_facts_in_free_words():
    """Eve hears in words what Ada knows of Ben, and votes accordingly."""
    env = registry["murder_mystery_v0"].raw_env(case=path("tower_en"), rounds=1, targets=1, info="full")
    env.reset(seed=1)
    player = HeuristicPolicy()
    player.reset(4, 1)
    while env.outcome is None:
        move = env.game.legal(env.state_now)[0]
        if env.seat == 4:
            if move.kind == VOTE and env.view(4).victim == 0:
                action = player.act({}, env.infos["player_4"])
                assert env.game.catalogue[action] == Move(VOTE, (BEN,))
                return
            take_turn(env, player)
        elif env.seat == 0 and move.kind == "introduce":
            env.play(
                move._replace(
                    words="Ben Marsh had a reason to kill Edgar Marsh: money. Ben Marsh could get at the poison."
                )
            )
        else:
            env.play(move)
    raise AssertionError("Eve did not vote")
