"""Games that kernels play are followed by the scalar rules to the same end."""

from __future__ import annotations

import numpy as np
import pytest

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")
pytestmark = pytest.mark.slow  # kernels are compiled

from parlour.envs.batch.followed import FollowedGames  # noqa: E402
from parlour.envs.core import OVER  # noqa: E402

from tests.envs.batch.lockstep import random_actions  # noqa: E402


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("avalon_v0", {"num_players": 5, "rules": "reference"}),  # nature draws teams
        ("werewolf_v0", {"num_players": 6}),  # nature draws among tied victims
    ],
)
def test_followed_games_end_with_the_roles_and_the_winner_of_the_kernels(game, options, monkeypatch):
    tables, rng = batch.make(game, num_envs=20, autoreset=None, **options), np.random.default_rng(3)
    drawn, asked = tables.drawn, set()
    monkeypatch.setattr(tables, "drawn", lambda b: (asked.add(b), drawn(b))[1])
    turns = tables.reset(seed=5)
    followed, roles, winners = FollowedGames(tables, 19), tables.roles.tolist(), np.full(20, -1)
    while (turns.actor >= 0).any():
        actions = random_actions(turns.mask, rng)
        turns = tables.step(actions)
        followed.step(actions)
        winners[turns.terminated != 0] = tables.winner[turns.terminated != 0]
    assert len(followed.states) == 19  # the last game is not followed
    assert len(asked) > 5  # nature has moved after the deal in more than five of the games
    for state, own, winner in zip(followed.states, roles, winners, strict=False):
        assert tables.game.actor(state) == OVER
        assert list(state.standing.roles) == own
        outcome = tables.game.outcome(state)
        assert tables.spec.sides.index(outcome.winner) == winner if winner >= 0 else outcome.winner == "draw"
