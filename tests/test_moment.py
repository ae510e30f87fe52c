"""Who decides at the same moment (`parlour.envs.moment`): by the rules of each game, and by playing on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.core import OVER
from parlour.envs.moment import before_moderator, certain_moment, moment
from parlour.envs.registry import lookup, registry

TABLES: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in sorted(registry)),
    *(("avalon_v0", {"num_players": 7, "rules": rules}) for rules in ("paper", "reference", "official")),
    *(("werewolf_v0", {"num_players": 8, "rules": rules}) for rules in ("paper", "reference", "official")),
    ("werewolf_v0", {"num_players": 10, "rules": "official", "talk": False}),
    ("murder_mystery_v0", {"case": "seed:3", "rules": "player", "hearing": "two"}),
    ("mediated_qa_v0", {"modules": True}),
]


def states(game: Any, seed: int):
    """The states of a random game, in which a seat is to move."""
    rng = np.random.default_rng(seed)
    state = game.initial()
    while (seat := game.actor(state)) != OVER:
        if seat >= 0:
            yield state
        legal = game.legal(state)
        state = game.apply(state, legal[int(rng.integers(len(legal)))] if seat >= 0 else game.nature(state, rng))


@pytest.mark.parametrize(("name", "options"), TABLES, ids=str)
def test_every_turn_of_a_certain_moment_comes_with_the_view_that_was_foreseen(name, options):
    """Whatever is played: the turns come in the order foreseen, and each seat sees then what it was told before."""
    game = lookup(name).raw_env(**options).game
    for seed in range(6):
        foreseen: list[tuple[int, Any]] = []
        for state in states(game, seed):
            if not foreseen:
                foreseen = [(seat, game.view(later, seat)) for seat, later in certain_moment(game, state)]
            seat, view = foreseen.pop(0)
            assert (game.actor(state), game.view(state, seat)) == (seat, view)
        assert foreseen == []


@pytest.mark.parametrize(
    ("name", "options"), [one for one in TABLES if one[0] in ("avalon_v0", "werewolf_v0")], ids=str
)
def test_turns_before_the_moderator_speaks_come(name, options):
    """Whatever is played. Views of a seat grow until then by what players say and do, and by nothing else."""
    game = lookup(name).raw_env(**options).game
    for seed in range(6):
        played = list(states(game, seed))
        for k, state in enumerate(played[:-1]):
            for seat in before_moderator(game, state):
                turn = next(later for later in played[k:] if game.actor(later) == seat)
                seen = len(game.view(state, seat).events)
                assert all(event.seat >= 0 for event in game.view(turn, seat).events[seen:])


def test_speakers_hear_nothing_but_players_until_they_speak():
    game = lookup("avalon_v0").raw_env(num_players=5).game
    talk = next(states(game, 1))
    speakers = [(game.actor(talk) + k) % 5 for k in range(5)]
    assert before_moderator(game, talk) == speakers


def test_all_seats_vote_on_a_team_at_the_same_moment():
    game = lookup("avalon_v0").raw_env(num_players=5, talk=False).game
    ballots = [state for state in states(game, 1) if avalon.APPROVE in game.legal(state)]
    assert [seat for seat, _ in certain_moment(game, ballots[0])] == [0, 1, 2, 3, 4]
    assert [seat for seat, _ in certain_moment(game, ballots[2])] == [2, 3, 4]  # seats 0 and 1 have voted


def test_the_witch_is_not_foreseen_while_the_wolves_may_choose_her():
    """Whom the wolves attack does not act again; by their first choices alone the witch would be among those who decide."""
    game = lookup("werewolf_v0").raw_env(num_players=8, rules="paper").game
    hunts = [state for seed in range(30) for state in states(game, seed) if game.legal(state)[0].kind == "hunt"]
    kinds = {
        look: {game.legal(later)[0].kind for state in hunts for _, later in look(game, state)}
        for look in (moment, certain_moment)
    }
    assert "poison" in kinds[moment]
    assert "poison" not in kinds[certain_moment]


def test_others_play_the_given_move_where_they_may():
    game = lookup("avalon_v0").raw_env(num_players=5, talk=False).game
    ballot = next(state for state in states(game, 1) if avalon.APPROVE in game.legal(state))
    last = list(moment(game, ballot, avalon.REJECT))[-1][1]
    log = game.apply(last, avalon.REJECT).log
    assert [event.move.args for event in log if event.move.kind == avalon.VOTES] == [(0, 0, 0, 0, 0, 0)]
