"""BatchSeatEnv: what one seat sees, may do and is paid at many tables at once (its docstring).

Every table is played again by the scalar rules: the learner's turns must be the same, and its reward that of its seat. The
traps are those of SeatEnv: rewards that come after the last move, seats that never get to move, drawn seats.
"""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from parlour.envs import registry
from parlour.envs.batch.players import drawn
from parlour.envs.batch.scalar import ScalarTables
from parlour.envs.core import ParlourError
from parlour.wrappers import BatchObservationsKey, BatchSeatEnv

WEREWOLF = ("werewolf_v0", {"num_players": 6, "talk": False})


def scalar(num_envs: int = 4) -> ScalarTables:
    return ScalarTables(registry[WEREWOLF[0]].spec, num_envs=num_envs, features="summary", **WEREWOLF[1])


def coins(num_envs: int) -> ScalarTables:
    return ScalarTables(registry["template_v0"].spec, num_envs=num_envs, features="summary")


class Written:
    """Plays at random and writes down at which tables it was asked, and for which seat."""

    name = "written"

    def reset(self, tables, seeds):
        self.rng, self.asked = np.random.default_rng(sum(seeds)), []

    def choose(self, turns, rows, actions):
        self.asked += [(int(row), int(turns.actor[row])) for row in rows]
        actions[rows] = drawn(turns.mask[rows], self.rng)


def test_spaces_and_the_autoreset_mode_are_declared():
    env = BatchSeatEnv(scalar(), "random")
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observed, infos = env.reset(seed=1)
    assert env.observation_space.contains(observed)
    assert env.single_observation_space.contains(observed[0])
    assert env.action_space.shape == (4,)
    assert infos["action_mask"].shape == (4, env.single_action_space.n)
    assert np.array_equal(env.action_masks(), infos["action_mask"] == 1)


@pytest.mark.parametrize("seat", [2, "random"])
def test_the_learner_moves_whenever_its_seat_does_and_is_paid_what_its_seat_earns(seat):
    tables, opponents = scalar(), Written()
    env = BatchSeatEnv(tables, opponents, seat=seat)
    observed, infos = env.reset(seed=7)
    rng, games = np.random.default_rng(0), 0
    paid = []
    play = tables._move

    def watched(b, action):  # what the seats get for each game that ends
        play(b, action)
        if tables.observe().terminated[b]:
            paid.append((b, tables.observe().rewards[b].copy()))

    tables._move = watched
    for _ in range(60):
        assert np.array_equal(tables.observe().actor, infos["seat"])
        for b in range(4):
            view = tables.tables[b].view()
            assert np.array_equal(observed[b], tables.spec.seat_encoder(tables.game, "summary")(view))
            assert infos["action_mask"][b].sum() == len(view.legal)
        if seat != "random":
            assert (infos["seat"] == seat).all()
            assert all(asked != seat for _, asked in opponents.asked)
        before, redeals = infos["seat"], infos["redeals"]
        paid.clear()
        observed, rewards, terminated, truncated, infos = env.step(drawn(infos["action_mask"], rng))
        assert not truncated.any()
        for b in range(4):
            ends = [returns for table, returns in paid if table == b]
            assert terminated[b] == bool(ends)
            assert rewards[b] == (ends[0][before[b]] if ends else 0)
            assert infos["redeals"][b] - redeals[b] == max(len(ends) - 1, 0)
            if ends:
                games += 1
                assert infos["_final_info"][b]
                assert infos["final_info"]["return"][b] == rewards[b]
                assert infos["final_info"]["seat"][b] == before[b]
                assert not infos["final_obs"][b].any()
    assert games > 10


def test_actions_that_are_not_legal():
    env = BatchSeatEnv(coins(3), "random", seat=0)
    env.reset(seed=0)
    *_, infos = env.step(np.array([0, 4, 3]))
    assert infos["replaced"].tolist() == [0, 1, 1]
    strict = BatchSeatEnv(coins(3), "random", seat=0, on_illegal="raise")
    strict.reset(seed=0)
    with pytest.raises(ParlourError, match="action at table 1 4 is not accepted; accepted: 0, 1, 2"):
        strict.step(np.array([0, 4, 1]))
    for actions in ([0, 1, -1], [0, 1, 6], [0, 1, 999], [0.0, 1.0, 2.0]):  # five kinds of actions there are
        with pytest.raises(
            ParlourError, match=r"action at table . .* is not accepted; accepted: a whole number 0\.\.\d"
        ):
            env.step(np.array(actions))


def test_settings_that_are_not_accepted():
    for settings, message in [
        ({"opponents": "nobody"}, "opponents 'nobody' is not accepted; accepted: heuristic, random"),
        ({"seat": 6}, "seat 6 is not accepted"),
        ({"on_illegal": "cry"}, "on_illegal 'cry' is not accepted"),
    ]:
        with pytest.raises(ParlourError, match=message):
            BatchSeatEnv(scalar(), **settings)
    with pytest.raises(ParlourError, match="no game yet"):
        BatchSeatEnv(scalar()).step(np.zeros(4, int))
    env = BatchSeatEnv(scalar())
    env.reset(seed=0)
    with pytest.raises(ParlourError, match="shape of actions"):
        env.step(np.zeros(3, int))


def test_a_legal_action_is_drawn_from_each_row_of_masks():
    rng = np.random.default_rng(0)
    mask = np.tile(np.array([[0, 1, 0, 1, 1], [0, 0, 0, 0, 1]], np.uint8), (3000, 1))
    found = drawn(mask, rng)
    assert (found[1::2] == 4).all()
    counts = np.bincount(found[::2], minlength=5)
    assert counts[[0, 2]].sum() == 0
    assert (abs(counts[[1, 3, 4]] - 1000) < 130).all()  # standard deviation 26


def test_in_the_mode_next_step_a_game_that_ends_is_followed_by_a_step_without_a_move():
    """The same games as in the mode same step, with one step more after each of them."""
    same = BatchSeatEnv(scalar(), Written(), seat=1)
    later = BatchSeatEnv(scalar(), Written(), seat=1, autoreset="next_step")
    assert later.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observed, _ = later.reset(seed=4)
    assert np.array_equal(observed, same.reset(seed=4)[0])
    over, games = np.zeros(4, bool), 0
    for _ in range(60):
        played = [len(table.moves) for table in later.tables.tables]
        before = over
        observed, rewards, over, _, infos = later.step(later.action_masks().argmax(1))
        games += int(over.sum())
        assert not observed[over].any()
        assert (infos["action_mask"][over] == 1).all()
        assert infos["replaced"].sum() == 0
        assert not over[before].any()
        assert not rewards[before].any()
        for b in np.flatnonzero(before):
            table = later.tables.tables[b]
            assert len(table.moves) == played[b]
            encode = later.tables.spec.seat_encoder(later.tables.game, "summary")
            assert np.array_equal(observed[b], encode(table.view()))
    assert games > 5


def test_masks_among_the_observations():
    env = BatchObservationsKey(BatchSeatEnv(scalar(), "random", autoreset="next_step"))
    observed, infos = env.reset(seed=0)
    assert env.observation_space.contains(observed)
    assert infos == {}
    for _ in range(20):
        observed, rewards, over, _, infos = env.step(observed["action_mask"].argmax(1))
        assert env.observation_space.contains(observed)
        assert rewards.shape == over.shape == (4,)
        assert infos == {}
