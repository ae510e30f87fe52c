"""Tables of scalar games have the interface of `parlour.envs.batch`, for every game; Coin's kernels play as its scalar rules do."""

from __future__ import annotations

import numpy as np
import pytest
from lockstep import Mirror, random_actions
from parlour.envs import batch, registry
from parlour.envs.batch.scalar import ScalarTables
from parlour.envs.batch.tables import NOBODY
from parlour.envs.core import NATURE, Move, ParlourError

GAMES = [
    ("avalon_v0", {"num_players": 5, "rules": "official", "talk": False}),
    ("werewolf_v0", {"num_players": 6, "talk": False}),
    ("murder_mystery_v0", {}),
    ("template_v0", {}),
]
KINDS = [pytest.param(*one, kind, id=f"{one[0]}-{kind}") for one in GAMES for kind in registry[one[0]].spec.features]
EVERY = pytest.mark.parametrize(("name", "options", "kind"), KINDS)


def tables_of(name: str, options: dict, kind: str, num_envs: int = 3, **settings) -> ScalarTables:
    return ScalarTables(registry[name].spec, num_envs=num_envs, features=kind, **settings, **options)


def copied(turns):
    return [array.copy() for array in turns]


@EVERY
def test_turns_are_those_of_the_scalar_environment(name, options, kind):
    """Table b plays what an environment does that is given the same moves of nature."""
    tables, rng = tables_of(name, options, kind, autoreset=False), np.random.default_rng(0)
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
    one, two = (tables_of(name, options, kind) for _ in range(2))
    one.reset(1)
    one.play_random(7)
    two.reset(2)
    turns = two.restore(one.state())
    assert all(np.array_equal(a, b) for a, b in zip(turns[:3], one.observe()[:3], strict=True))
    for _ in range(60):
        theirs = copied(two.play_random())
        assert all(np.array_equal(a, b) for a, b in zip(one.play_random(), theirs, strict=True))
    with pytest.raises(ParlourError, match="this state is not accepted"):
        two.restore(np.zeros((3, 5), np.uint8))


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


def test_the_scalar_heuristic_plays_at_chosen_tables():
    tables = tables_of("avalon_v0", {"num_players": 5}, "table", num_envs=3)
    turns, actions = tables.reset(4), np.full(3, -7)
    tables.choose_by_heuristic(np.array([1, 0, 1]), actions)
    assert actions[1] == -7
    assert turns.mask[[0, 2], actions[[0, 2]]].all()


def test_illegal_actions_are_refused_and_nothing_is_played():
    tables = tables_of("template_v0", {}, "table", num_envs=2)
    turns = tables.reset(0)
    with pytest.raises(ParlourError, match="action 4 of seat 0 at table 1 is not accepted; accepted: 0, 1, 2"):
        tables.step(np.array([0, 4]))
    assert turns.actor.tolist() == [1, 0]


def test_make_takes_kernels_where_a_game_has_them_and_scalar_games_elsewhere():
    pytest.importorskip("numba")
    assert type(batch.make("murder_mystery_v0", num_envs=2)) is ScalarTables
    assert type(batch.make("template_v0", num_envs=2)).__name__ == "CoinTables"
    assert type(batch.make("template_v0", num_envs=2, features="table")) is ScalarTables
    with pytest.raises(ParlourError, match="features 'belief' is not accepted; accepted: table"):
        batch.make("murder_mystery_v0", num_envs=2, features="belief")


@pytest.mark.parametrize("kind", registry["werewolf_v0"].spec.features[1:])
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


def tossed(tables, b: int) -> Move:
    return Move("toss", (int(tables.games.coin[b]),))


def test_kernels_of_the_coin_play_as_its_scalar_rules_do():
    tables = batch.make("template_v0", num_envs=16)
    turns = tables.reset(seed=1)
    mirror, rng = Mirror(tables, tossed), np.random.default_rng(1)
    for _ in range(200):
        mirror.compare(turns)
        turns = mirror.step(random_actions(turns.mask, rng))
    assert mirror.games == 16 * 100


def test_both_faces_are_as_likely_and_random_play_wins_half():
    tables = batch.make("template_v0", num_envs=1000)
    tables.reset(seed=2)
    heads, won = 0, 0
    for _ in range(10):
        heads += int((tables.games.coin == 0).sum())
        tables.play_random(2)
        won += int((tables.winner == 1).sum())
    # 10,000 tosses: standard deviation 50
    assert abs(heads - 5000) < 250
    assert abs(won - 5000) < 250


def test_the_same_seed_is_the_same_game_and_a_given_toss_is_kept():
    one, two = batch.make("template_v0", num_envs=3), batch.make("template_v0", num_envs=5)
    one.reset([4, 5, 6])
    two.reset([6, 6, 5, 4, 4])
    assert one.games.coin.tolist() == [two.games.coin[k] for k in (3, 2, 0)]
    assert one.deal(np.array([[0], [1], [1]])).observation[:, 1].tolist() == [-1.0, 1.0, 1.0]


def test_a_copy_of_the_kernels_state_goes_on_byte_for_byte():
    one, two = (batch.make("template_v0", num_envs=8) for _ in range(2))
    one.reset(1)
    one.play_random(3)
    two.reset(2)
    two.restore(one.state())
    for _ in range(10):
        theirs = [array.copy() for array in two.play_random()]
        assert all(np.array_equal(a, b) for a, b in zip(one.play_random(), theirs, strict=True))
