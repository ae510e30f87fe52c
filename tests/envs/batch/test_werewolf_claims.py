"""Claims that a seat of the village knows to be false: a game that is written down, and random games beside their Views."""

from __future__ import annotations

import numpy as np
import pytest

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")
pytestmark = pytest.mark.slow  # kernels are compiled

from parlour.envs.batch.followed import FollowedGames  # noqa: E402
from parlour.envs.batch.werewolf.claims import known_false  # noqa: E402
from parlour.envs.core import Move  # noqa: E402
from parlour.envs.werewolf.vocabulary import WEREWOLF, WOLVES  # noqa: E402

from tests.envs.batch.lockstep import random_actions  # noqa: E402

WOLF, SEER, FIRST, SECOND, VICTIM = range(5)


def test_a_short_game_has_these_claims_that_the_speaker_knows_to_be_false():
    """The wolf kills player_4 and then player_3; the seer checks the wolf, then player_2; votes are tied."""
    tables = batch.make("werewolf_v0", num_envs=1, autoreset=None, num_players=5)
    tables.reset(0)
    turns = tables.deal(np.array([(0, 1, 2, 2, 2, 0, 1, 2, 3, 4)]))
    told = []
    moves = [
        (Move("hunt", (VICTIM,)), False),
        (Move("check", (WOLF,)), False),
        (Move("report", (SECOND, 1)), False),  # of the wolf: it may lie
        (Move("report", (WOLF, 1)), False),  # of the seer: he saw it
        (Move("report", (WOLF, 1)), True),  # of a villager: it is so, but he did not see it
        (Move("claim_role", (1,)), True),  # of a villager: he is no seer
        *((Move("vote", (target,)), False) for target in (SEER, WOLF, SECOND, FIRST)),
        *((Move("hunt", (SECOND,)), False), (Move("check", (FIRST,)), False)),
        (Move("silent"), False),
        (Move("report", (WOLF, 1)), True),  # of the seer: once more
        (Move("defend", (WOLF,)), False),  # of a villager: a guess
    ]
    for move, _ in moves:
        seat = int(turns.actor[0])
        number = [tables.game.catalogue[k] for k in tables.frame.order[seat]].index(move)
        told.append(bool(known_false(tables, np.array([number]))[0]))
        turns = tables.step(np.array([number]))
    assert told == [false for _, false in moves]


def knows_better(view, move):
    """The same, from the View of a seat of the village."""
    kind, args, _ = move
    checks = {(seat, int(wolf)) for seat, wolf in view.checks}
    wolves = {seat for seat, wolf in checks if wolf}
    good = {seat for seat, wolf in checks if not wolf}
    for event in view.events:
        if event.move.kind == "hunter":
            good.add(event.move.args[0])
        if event.move.kind == "revealed":
            seat, role = event.move.args
            (wolves if view.role_names[role] == WEREWOLF else good).add(seat)
    reported = {event.move.args for event in view.events if event.seat == view.seat and event.move.kind == "report"}
    return {
        "accuse": lambda: args[0] in good,
        "defend": lambda: args[0] in wolves,
        "claim_role": lambda: view.role_names[args[0]] != view.role,
        "report": lambda: args not in checks - reported,
    }.get(kind, lambda: False)()


@pytest.mark.parametrize(
    "options", [{"rules": "official", "num_players": 9, "roles": "hunter", "seer": "character"}, {"num_players": 6}]
)
def test_in_random_games_kernels_and_views_agree_and_a_wolf_never_pays(options):
    tables, rng = batch.make("werewolf_v0", num_envs=30, autoreset=None, **options), np.random.default_rng(1)
    turns, counts = tables.reset(seed=2), {True: 0, False: 0}
    followed = FollowedGames(tables, 30)
    while (turns.actor >= 0).any():
        actions = random_actions(turns.mask, rng)
        judged = known_false(tables, np.maximum(actions, 0))
        for b in np.flatnonzero(turns.actor >= 0):
            seat = int(turns.actor[b])
            view, move = (
                tables.game.view(followed.states[b], seat),
                tables.game.catalogue[tables.frame.order[seat, actions[b]]],
            )
            assert judged[b] == (view.side != WOLVES and knows_better(view, move)), (view, move)
            counts[bool(judged[b])] += 1
        turns = tables.step(actions)
        followed.step(actions)
    assert min(counts.values()) > 50
