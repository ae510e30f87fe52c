"""Claims that a seat of the village knows to be false: what kernels find and what Views show, in random games; counts of a short game."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.core import Move
from parlour.envs.language.speech import ACCUSE, DEFEND, SILENT
from parlour.training.measure.conventions import ConventionTally, convention_rows
from parlour_aiwolf import GAME
from parlour_aiwolf.vocabulary import IDENTIFIED, REMARK, TALK_OVER, side_of

from tests.envs.batch.lockstep import random_actions

WOLF, POSSESSED, SEER, FIRST, SECOND = range(5)
OTHER_TALK = {SILENT, REMARK, TALK_OVER, ACCUSE, DEFEND}
"""By day, neither a role nor a report."""
OVER, SEER_ROLE = Move("over"), GAME.build(GAME.options()).role_names.index("Seer")


def counts(seat: int, of: str) -> dict[str, tuple[float, int]]:
    """Measure -> hits of a rate, or the mean of a number, and the cases: in the first day of a game, night 0 before it."""
    rules = GAME.build(GAME.options(num_players=5))
    roles = tuple(rules.role_names.index(role) for role in ("Werewolf", "Possessed", "Seer", "Villager", "Villager"))
    report = Move("report", (WOLF, 1))
    turns = [
        (OVER, OVER, report, report, Move("claim_role", (SEER_ROLE,))),
        (OVER, Move("report", (SEER, 1)), report, OVER, OVER),
    ]
    state = rules.initial()
    for move in (Move("deal", roles), Move("check", (WOLF,)), *(line for turn in turns for line in turn)):
        state = rules.apply(state, move)
    tally = ConventionTally("aiwolf_v0")
    tally.add([rules.view(state, other) for other in range(5)], seat)
    estimates = {row.measure: row.players["x"] for row in convention_rows("", {"x": [tally]}) if row.of == of}
    return {name: (e.value if e.hits is None else e.hits, e.n) for name, e in estimates.items() if e is not None}


def test_a_seer_reports_his_result_twice():
    assert counts(SEER, "role: Seer") == {
        "claims a game": (2, 1),
        "false claims": (0, 2),
        "claims known to be false": (0, 2),
        "reports a game": (2, 1),
        "reports of no check": (0, 2),
        "first true reports a game": (1, 1),
        "repeated or false reports a game": (1, 1),
    }


@pytest.mark.parametrize(("seat", "false"), [(FIRST, 0), (SECOND, 1)])
def test_a_villager_without_a_check_knows_his_report_to_be_false_though_it_is_so(seat, false):
    counted = counts(seat, "village")
    assert (counted["false claims"], counted["claims known to be false"]) == ((false, 1), (1, 1))


def test_a_possessed_lies():
    assert counts(POSSESSED, "werewolf") == {
        "claims a game": (1, 1),
        "false claims": (1, 1),
        "reports a game": (1, 1),
        "reports of no check": (1, 1),
    }


def knows_better(view: Any, move: Move) -> bool:
    """What `known_false` finds, from the View of a seat of the village."""
    kind, args, _ = move
    results = {event.move.args for event in view.events if event.move.kind in ("checked", IDENTIFIED)}
    last = {
        event.move.args[0]: event.move.args
        for event in view.events
        if event.seat == view.seat and event.move.kind == "report"
    }
    if not {result[0] for result in results} <= set(last) and kind in OTHER_TALK:
        return True
    return {
        "accuse": lambda: (*args, 0) in results,
        "defend": lambda: (*args, 1) in results,
        "claim_role": lambda: view.role_names[args[0]] != view.role,
        "report": lambda: args not in results or last.get(args[0]) == args,
    }.get(kind, lambda: False)()


@pytest.mark.slow  # kernels are compiled
@pytest.mark.parametrize(("players", "games"), [(5, 20), (15, 2)])
def test_in_random_games_kernels_and_views_agree_and_only_the_village_pays(players, games):
    batch = pytest.importorskip("parlour.envs.batch")
    pytest.importorskip("numba")
    from parlour.envs.batch.followed import FollowedGames
    from parlour_aiwolf.batch.claims import known_false

    tables, rng = batch.make("aiwolf_v0", num_envs=games, autoreset=None, num_players=players), np.random.default_rng(1)
    turns, counts = tables.reset(seed=2), {True: 0, False: 0}
    followed = FollowedGames(tables, games)
    while (turns.actor >= 0).any():
        actions = random_actions(turns.mask, rng)
        judged = known_false(tables, np.maximum(actions, 0))
        for b in np.flatnonzero(turns.actor >= 0):
            seat = int(turns.actor[b])
            view = tables.game.view(followed.states[b], seat)
            move = tables.game.catalogue[tables.frame.order[seat, actions[b]]]
            assert judged[b] == (side_of(view.role) == "village" and knows_better(view, move)), (view, move)
            counts[bool(judged[b])] += 1
        turns = tables.step(actions)
        followed.step(actions)
    assert min(counts.values()) > 50
