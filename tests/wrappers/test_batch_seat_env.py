"""Batches of tables: scalar games behind the interface of `parlour.envs.batch`, and one seat of many (BatchSeatEnv).

Every table is played again by the scalar rules: turns must be the same, and a learner's reward that of its seat. The traps
are those of SeatEnv: rewards that come after the last move, seats that never get to move, drawn seats.
"""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from parlour.envs import batch, registry
from parlour.envs.batch.players import drawn
from parlour.envs.batch.scalar import ScalarTables
from parlour.envs.batch.tables import NOBODY
from parlour.envs.core import NATURE, ParlourError
from parlour.envs.registry import kinds_of
from parlour.wrappers import BatchObservationsKey, BatchSeatEnv

from tests.envs.batch.lockstep import Mirror, random_actions

GAMES = [
    ("avalon_v0", {"num_players": 5, "rules": "official", "talk": False}),
    ("werewolf_v0", {"num_players": 6, "talk": False}),
    ("murder_mystery_v0", {}),
    ("template_v0", {}),
]
KINDS = [
    pytest.param(*game, kind, id=f"{game[0]}-{kind}") for game in GAMES for kind in kinds_of(registry[game[0]].spec, {})
]
EVERY = pytest.mark.parametrize(("name", "options", "kind"), KINDS)


def tables_of(name: str, options: dict, kind: str, num_envs: int = 3, **settings) -> ScalarTables:
    return ScalarTables(registry[name].spec, num_envs=num_envs, features=kind, **settings, **options)


def copied(turns):
    return [array.copy() for array in turns]


@pytest.mark.slow
@EVERY
def test_turns_are_those_of_the_scalar_environment(name, options, kind):
    """Table b plays what an environment does that is given the same moves of nature."""
    tables, rng = tables_of(name, options, kind, autoreset=None), np.random.default_rng(0)
    turns = tables.reset(seed=5)
    envs = [registry[name].raw_env(observation="features", features=kind, **options) for _ in tables.tables]
    spaces = envs[0].observation_space(envs[0].possible_agents[0])
    assert turns.observation.shape == (3, spaces["observation"].shape[0])
    ended = np.zeros(3, bool)
    while not ended.all():
        actions = random_actions(turns.mask, rng)
        for b, env in enumerate(envs):
            game, table = tables.game, tables.tables[b]
            states, nature = game.initial(), []
            for move in table.moves:
                nature += [move] if game.actor(states) == NATURE else []
                states = game.apply(states, move)
            if ended[b]:
                assert (turns.actor[b], turns.mask[b].any()) == (-1, False)
                continue
            env.reset(seed=0, options={"nature": nature})
            for move in [move for move in table.moves if move in game.catalogue]:
                env.play(move)
            seen = env.observe(env.agent_selection)
            assert turns.actor[b] == env.seat
            assert np.array_equal(turns.mask[b], seen["action_mask"])
            assert np.array_equal(turns.observation[b], seen["observation"])
        turns = tables.step(actions)
        for b in np.flatnonzero(turns.terminated):
            outcome = tables.game.outcome(tables.tables[b].now)
            assert np.array_equal(turns.rewards[b], np.float32(outcome.returns))
            sides = tables.spec.sides
            assert tables.winner[b] == (sides.index(outcome.winner) if outcome.winner in sides else NOBODY)
        ended |= turns.terminated != 0


def test_a_game_that_ends_is_dealt_anew_from_its_own_stream():
    """Table 1 deals the same games whatever is played at table 0, and its second game is another one than its first."""
    deals = []
    for seeds in ([1, 7], [2, 7]):
        tables = tables_of("werewolf_v0", {"num_players": 6, "talk": False}, "summary", num_envs=2)
        tables.reset(seeds)
        rng, games = np.random.default_rng(0), []
        while len(games) < 3:
            games += [tables.tables[1].moves[0]] if not games or tables.tables[1].moves[0] != games[-1] else []
            tables.step(random_actions(tables.observe().mask, rng))
        deals.append(games)
    assert deals[0] == deals[1]
    assert len(set(deals[0])) == 3


@EVERY
def test_a_copy_of_the_state_goes_on_byte_for_byte(name, options, kind):
    first, second = (tables_of(name, options, kind) for _ in range(2))
    first.reset(1)
    first.play_random(7)
    second.reset(2)
    turns = second.restore(first.state())
    assert all(np.array_equal(a, b) for a, b in zip(turns[:3], first.observe()[:3], strict=True))
    for _ in range(60):
        theirs = copied(second.play_random())
        assert all(np.array_equal(a, b) for a, b in zip(first.play_random(), theirs, strict=True))
    with pytest.raises(ParlourError, match="this state is not accepted"):
        second.restore(np.zeros((3, 5), np.uint8))


def test_hidden_features_are_the_roles_as_the_actor_counts():
    tables = tables_of("werewolf_v0", {"num_players": 6}, "summary", num_envs=4)
    tables.reset(3)
    tables.play_random(3)
    names = tables.game.role_names
    shown = tables.hidden().reshape(4, 6, len(names))
    assert shown.shape == (4, 6, tables.hidden_size // 6)
    for b in range(4):
        actor = int(tables.observe().actor[b])
        for j in range(6):
            seat = (actor + j) % 6
            role = tables.game.view(tables.tables[b].now, seat).role
            assert shown[b, j, names.index(role)] == shown[b, j].sum() == 1
            assert names[tables.roles[b, seat]] == role
            assert tables.spec.sides[tables.side[b, seat]] == ("werewolf" if role == "Werewolf" else "village")


def test_make_takes_kernels_where_a_game_has_them_and_scalar_games_elsewhere():
    pytest.importorskip("numba")
    assert type(batch.make("murder_mystery_v0", num_envs=2)) is ScalarTables
    assert type(batch.make("template_v0", num_envs=2)) is ScalarTables
    assert type(batch.make("werewolf_v0", num_envs=2)).__name__ == "WerewolfTables"
    assert type(batch.make("werewolf_v0", num_envs=2, features="table")) is ScalarTables
    with pytest.raises(ParlourError, match="features 'belief' is not accepted; accepted: table"):
        batch.make("murder_mystery_v0", num_envs=2, features="belief")


@pytest.mark.parametrize("kind", kinds_of(registry["werewolf_v0"].spec, {})[1:])
def test_the_mirror_that_kernels_are_held_to_agrees(kind):
    """The lockstep test of the kernels, on tables that cannot be wrong: so what it finds elsewhere is no fault of its own."""
    tables = tables_of("werewolf_v0", {"num_players": 6, "talk": False, "rules": "reference"}, kind, num_envs=2)
    turns = tables.reset(8)
    mirror = Mirror(tables, lambda t, b: t.tables[b].moves[0], lambda t, b: t.tables[b].moves[-1])
    rng = np.random.default_rng(0)
    for _ in range(40):
        mirror.compare(turns)
        turns = mirror.step(random_actions(turns.mask, rng))
    assert mirror.turns == 80


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


@pytest.mark.slow
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
            assert np.array_equal(observed[b], tables.spec.encoder(tables.game).of_seat("summary")(view))
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
            encode = later.tables.spec.encoder(later.tables.game).of_seat("summary")
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
