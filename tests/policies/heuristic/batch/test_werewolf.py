"""Werewolf's heuristic over arrays against the scalar one: the same choices in the same states, as often; the same wins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.heuristic.werewolf import WerewolfPlayer

from tests.envs.batch.lockstep import Mirror, random_actions
from tests.envs.batch.test_werewolf import dealt, drawn

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")
kernels = pytest.importorskip("parlour.policies.heuristic.batch.werewolf")
pytestmark = pytest.mark.slow  # kernels are compiled

DRAWS = 40


class Seats:
    """The scalar heuristic on every seat of every game of a mirror."""

    def __init__(self, mirror: Any, player: Any = WerewolfPlayer) -> None:
        self._mirror, self._player = mirror, player
        self._players: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._rng = np.random.default_rng(1)

    def counts(self, b: int) -> Any:
        """How many times of `DRAWS` it takes each action in game b, in the frame of the seat to move."""
        mirror, state = self._mirror, self._mirror.states[b]
        actor = mirror.game.actor(state)
        encoders, player = self._players.get((b, actor), (None, None))
        view = mirror.game.view(state, actor)
        if encoders is not mirror.encoders[b] or player is None:  # another game since
            player = self._player(view, self._rng)
            self._players[b, actor] = (mirror.encoders[b], player)
        numbers = [mirror.game.catalogue.index(player.act(view)) for _ in range(DRAWS)]
        own = mirror.tables.frame.own[actor, numbers]
        return np.bincount(own, minlength=mirror.tables.actions)


def assert_chosen_as_often(mirror, turns, player, choose, share, until):
    """Kernels choose as the scalar player does in every state of games in which some of the actions are drawn at random."""
    games, rng = len(turns.mask), np.random.default_rng(2)
    seats, everywhere = Seats(mirror, player), np.ones(games, bool)
    statistic = freedom = by_lot = 0.0
    actions = np.zeros(games, np.int32)
    while not until():
        counts = np.zeros((games, mirror.tables.actions))
        for _ in range(DRAWS):
            choose(mirror.tables, everywhere, actions)
            counts[np.arange(games), actions] += 1
        for b in range(games):
            expected = seats.counts(b)
            either = counts[b] + expected > 0
            statistic += ((counts[b] - expected)[either] ** 2 / (counts[b] + expected)[either]).sum()
            freedom += either.sum() - 1
            by_lot += either.sum() > 1
        chosen = np.where(rng.random(games) < share, random_actions(turns.mask, rng), actions)
        turns = mirror.step(chosen)
        mirror.compare(turns)
    assert by_lot > 20
    # chi-squared of two samples in each state, summed; mean `freedom`, variance twice that. A wrong choice adds 80
    assert abs(statistic - freedom) < 4 * (2 * freedom) ** 0.5


def assert_villages_win(tables, share, choose=kernels.choose):
    """Where all seats play the heuristic, the village wins this share of 2,000 games."""
    tables.reset(seed=5)
    actions, everywhere = np.zeros(1000, np.int32), np.ones(1000, bool)
    won, games = np.zeros(2), np.zeros(1000, int)
    while games.min() < 2:
        choose(tables, everywhere, actions)
        turns = tables.step(actions)
        counted = (turns.terminated == 1) & (games < 2)
        won += [((tables.winner == side) & counted).sum() for side in (0, 1)]
        games += counted
    assert won[0] / 2000 == pytest.approx(share, abs=0.05)  # 3.2 standard deviations of the difference


def assert_writes_only_where_it_acts(tables, choose=kernels.choose):
    tables.reset(seed=0)
    actions = np.full(3, -7, np.int32)
    choose(tables, np.array([True, False, True]), actions)
    assert actions[1] == -7
    assert (actions[[0, 2]] >= 0).all()


@pytest.mark.parametrize("share", [0.0, 0.5])
@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 8},
        {"num_players": 8, "rules": "reference"},
        {"num_players": 9, "rules": "official"},
        {"num_players": 7, "talk": False},
        {"num_players": 6, "roles": ["Werewolf"] * 2 + ["Witch"] + ["Villager"] * 3},
        {"num_players": 9, "roles": "hunter"},
    ],
    ids=str,
)
def test_it_does_what_the_scalar_heuristic_does_as_often(options, share):
    """Games of the heuristic itself (share 0), and with half of the actions at random."""
    tables = batch.make("werewolf_v0", num_envs=6, features="summary", beliefs=True, **options)
    turns = tables.reset(seed=2)
    mirror = Mirror(tables, dealt, drawn)
    assert_chosen_as_often(mirror, turns, WerewolfPlayer, kernels.choose, share, lambda: mirror.games >= 8)


def test_it_writes_only_where_it_has_to_act():
    assert_writes_only_where_it_acts(batch.make("werewolf_v0", num_envs=3, beliefs=True))


def test_tables_without_beliefs_are_refused():
    tables = batch.make("werewolf_v0", num_envs=3)
    tables.reset(seed=0)
    with pytest.raises(ParlourError, match="needs tables with beliefs"):
        kernels.choose(tables, np.ones(3, bool), np.zeros(3, np.int32))
