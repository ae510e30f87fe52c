"""Avalon's kernels with evidence learned from records: the same beliefs as the scalar game's, move by move."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.habits import HabitsFile
from parlour.envs.core import ParlourError
from parlour.policies.files import write_json

from tests.envs.avalon.evidence import drawn_evidence
from tests.envs.batch.lockstep import Mirror, random_actions
from tests.envs.batch.test_avalon import dealt, drawn

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")


@pytest.fixture(scope="module")
def habits(tmp_path_factory):
    """A file with evidence of any coefficients, for 5, 6 and 10 players."""
    path = tmp_path_factory.mktemp("habits") / "habits.json"
    write_json(path, HabitsFile({n: drawn_evidence(n) for n in (5, 6, 10)}).as_json())
    return path


@pytest.mark.slow  # kernels are compiled once for each number of players
@pytest.mark.parametrize(
    ("players", "rules", "talk"),
    [
        (5, "official", False),
        (5, "paper", True),
        pytest.param(6, "paper", False, marks=pytest.mark.nightly),
        pytest.param(10, "official", False, marks=pytest.mark.nightly),
    ],
)
def test_kernels_believe_learned_evidence_as_the_scalar_belief_does(habits, players, rules, talk):
    tables = batch.make(
        "avalon_v0", num_envs=12, features=f"belief:habits={habits}", num_players=players, rules=rules, talk=talk
    )
    turns = tables.reset(seed=3)
    mirror, rng = Mirror(tables, dealt, drawn), np.random.default_rng(4)
    for _ in range(150 if players < 10 else 60):
        mirror.compare(turns, every=3)
        turns = mirror.step(random_actions(turns.mask, rng))
    assert mirror.features > 200


@pytest.mark.slow
def test_evidence_moves_beliefs_away_from_those_by_fixed_rates(habits):
    table = {"num_players": 5, "rules": "official", "talk": False, "num_envs": 20}
    learned = batch.make("avalon_v0", features=f"belief:habits={habits}", **table)
    fixed = batch.make("avalon_v0", features="belief", **table)
    turns, others = learned.reset(seed=1), fixed.reset(seed=1)
    rng = np.random.default_rng(2)
    for _ in range(8):
        actions = random_actions(turns.mask, rng)
        turns, others = learned.step(actions), fixed.step(actions)
    assert np.array_equal(turns.actor, others.actor)
    assert np.abs(turns.observation - others.observation).max() > 0.05


@pytest.mark.parametrize("role", [game.MORDRED, game.OBERON])
def test_tables_with_evil_seats_that_some_do_not_know_refuse_learned_habits(habits, role):
    roles = (game.MERLIN, game.PERCIVAL, game.SERVANT, role, game.ASSASSIN)
    with pytest.raises(ParlourError, match=f"with {role} do not know learned habits"):
        batch.make("avalon_v0", num_envs=1, features=f"belief:habits={habits}", num_players=5, roles=roles)


def test_tables_with_short_teams_refuse_learned_habits(habits):
    with pytest.raises(ParlourError, match="with short teams do not know learned habits"):
        batch.make("avalon_v0", num_envs=1, features=f"belief:habits={habits}", num_players=5, rules="reference")
