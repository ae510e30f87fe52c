"""Avalon's kernels against Avalon's scalar rules, move by move: actors, masks, features, beliefs, rewards, ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon import vocabulary as game
from parlour.envs.common import dotted
from parlour.envs.core import Move, ParlourError

from tests.envs.batch.lockstep import Mirror, random_actions

batch = pytest.importorskip("parlour.envs.batch")
pytest.importorskip("numba")
pytestmark = (
    pytest.mark.slow
)  # kernels are compiled once for each number of players: those of five at every change, the others nightly

ROLES = {
    5: [
        None,
        (game.MERLIN, game.PERCIVAL, game.SERVANT, game.MORDRED, game.ASSASSIN),
        (game.MERLIN, game.SERVANT, game.SERVANT, game.OBERON, game.ASSASSIN),
        (game.MERLIN, game.PERCIVAL, game.SERVANT, game.MINION, game.ASSASSIN),
    ],
    7: [
        None,
        (*(game.MERLIN, game.PERCIVAL, game.SERVANT, game.SERVANT), *(game.MORDRED, game.ASSASSIN, game.OBERON)),
        (*(game.MERLIN, game.PERCIVAL, game.SERVANT, game.SERVANT), *(game.MORGANA, game.ASSASSIN, game.OBERON)),
    ],
    10: [
        None,
        (
            *(game.MERLIN, game.PERCIVAL, game.SERVANT, game.SERVANT, game.SERVANT, game.SERVANT),
            *(game.MORGANA, game.ASSASSIN, game.MORDRED, game.OBERON),
        ),
    ],
}
TABLES = [
    {"num_players": n, "rules": rules, "roles": roles, "talk": talk}
    for n in range(5, 11)
    for roles in ROLES.get(n, [None])
    for rules in ("paper", "reference", "official")
    for talk in (False, True)
]
TABLES += [
    {"num_players": 5, "rules": "official", "roles": roles, "talk": False, "guesser": roles[-1]}
    for roles in [
        (game.MERLIN, game.PERCIVAL, game.SERVANT, game.MORGANA, game.MORDRED),
        (game.MERLIN, game.PERCIVAL, game.SERVANT, game.OBERON, game.MORGANA),
    ]
]
"""Where another evil role than the Assassin names Merlin."""


def dealt(tables: Any, b: int) -> Move:
    return Move(game.DEALT, (*map(int, tables.games.roles[b]), int(tables.games.leader[b])))


def drawn(tables: Any, b: int) -> Move:
    team = int(tables.games.team[b])
    return Move(game.DRAWN, tuple(j for j in range(tables.seats) if team >> j & 1))


def name_of(options: dict[str, Any]) -> str:
    roles = "usual" if options["roles"] is None else "".join(role[:2] for role in options["roles"])
    guesser = options.get("guesser", "")
    return f"{options['num_players']}p-{options['rules']}-{roles}-{'talk' if options['talk'] else 'silent'}{guesser}"


MARKED = [
    pytest.param(options, id=name_of(options), marks=[pytest.mark.nightly] if options["num_players"] > 5 else [])
    for options in TABLES
]


@pytest.mark.parametrize("options", MARKED)
def test_kernels_play_as_the_scalar_rules_do(options):
    tables = batch.make("avalon_v0", num_envs=4, features="record+belief", **options)
    turns = tables.reset(seed=14)
    mirror, rng = Mirror(tables, dealt, drawn), np.random.default_rng(14)
    mirror.compare(turns)
    while mirror.games < 6:
        turns = mirror.step(random_actions(turns.mask, rng))
        mirror.compare(turns)


def test_acts_with_a_price_are_what_the_scalar_game_says():
    """Beside the scalar game: a good seat votes for a team with an evil member."""
    tables = batch.make("avalon_v0", num_envs=8, features="belief", num_players=5, rules="official", talk=False)
    turns = tables.reset(seed=5)
    mirror, rng = Mirror(tables, dealt, drawn), np.random.default_rng(5)
    judge, counts = dotted.load(tables.judged()["bad_approval"], "bad_approval"), np.zeros(2, int)
    while mirror.games < 12:
        actions = random_actions(turns.mask, rng)
        for b, bad in enumerate(judge(tables, actions)):
            state, seat = mirror.states[b], int(turns.actor[b])
            move, view = tables.game.catalogue[tables.frame.order[seat, actions[b]]], tables.game.view(state, seat)
            approves = move.kind == game.BALLOT and move.args == (1,)
            assert bad == (approves and view.side == game.GOOD and any(tables.side[b, j] for j in view.team))
            counts[int(bad)] += 1
        turns = mirror.step(actions)
    assert counts.min() > 20


@pytest.mark.parametrize("name", ["avalon_v0", "werewolf_v0", "template_v0"])
def test_the_next_step_deals_the_games_that_the_same_step_deals(name):
    """Each table passes through the same turns; with `next_step`, one step more lies between two games."""
    passed: dict[str, list[list[bytes]]] = {}
    for autoreset in ("same_step", "next_step"):
        tables = batch.make(name, num_envs=4, autoreset=autoreset)
        turns, seen = tables.reset(seed=4), [[] for _ in range(4)]
        over = np.zeros(4, bool)
        for _ in range(300):
            for b in np.flatnonzero(~over):
                seen[b].append(turns.actor[b].tobytes() + turns.observation[b].tobytes())
            legal = [np.flatnonzero(mask) for mask in turns.mask]
            chosen = [own[len(seen[b]) % len(own)] if len(own) else 99 for b, own in enumerate(legal)]
            turns = tables.step(np.array(chosen))
            if autoreset == "next_step":
                assert not turns.rewards[over].any()  # the step that deals pays nothing
                assert not turns.terminated[over].any()
                assert (turns.actor[over] >= 0).all()
                over = turns.terminated.astype(bool)
                assert (turns.actor[over] == -1).all()
        passed[autoreset] = seen
    for same, following in zip(passed["same_step"], passed["next_step"], strict=True):
        assert len(following) < len(same)
        assert following == same[: len(following)]


def test_another_way_to_reset_is_refused():
    with pytest.raises(ParlourError, match="autoreset 'later' is not accepted"):
        batch.make("avalon_v0", num_envs=1, autoreset="later")


@pytest.mark.parametrize("name", ["avalon_v0", "werewolf_v0"])
def test_a_finished_game_stays_over_without_autoreset_and_its_end_is_told_once(name):
    tables = batch.make(name, num_envs=6, autoreset=None)
    turns, rng, ends = tables.reset(seed=4), np.random.default_rng(0), np.zeros(6, int)
    while (turns.actor >= 0).any():
        over = turns.actor < 0
        turns = tables.step(np.where(over, 99, random_actions(turns.mask | over[:, None], rng)))
        ends += turns.terminated
        assert not turns.terminated[over].any()
        assert not turns.rewards[over].any()
        assert (tables.winner[over] == -1).all()
    assert ends.tolist() == [1] * 6
    assert not turns.mask.any()
