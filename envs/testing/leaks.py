"""No seat gets in numbers, options or View what its prose does not tell.

A game is played beside a twin in which nature and the other seats do what this seat cannot see: other moves where they
show the same, so that who it is and all that it read stay equal. Then all else that reaches it must be equal, too.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.aec import GameEnv
from parlour.envs.core import NATURE, GameText, Move
from parlour.envs.testing.table import Table

_TRIES: Final = 12


def everything(env: GameEnv, seat: int) -> tuple[Any, ...]:
    """All that reaches a seat, of an environment with `observation="both", info="full", render_mode="ansi"`."""
    agent = env.possible_agents[seat]
    seen, info = env.observe(agent), env.infos[agent]
    return (
        seen["text"],
        seen["observation"].tobytes(),
        seen["action_mask"].tobytes(),
        info["action_mask"].tobytes(),
        {key: value for key, value in info.items() if key != "action_mask"},
        env.view(seat),
        env.render(),
        env.rewards[agent] if env.outcome is None else None,  # the result tells who won, and so it should
    )


def what_a_seat_cannot_see_changes_nothing_that_it_gets(table: Table) -> None:
    """What a seat cannot see changes nothing that it gets."""
    settings = {"observation": "both", "info": "full", "render_mode": "ansi"}
    one, two = table.raw_env(**settings), table.raw_env(**settings)
    for seed in range(2):
        moves = table.play(seed).moves
        for seat in range(one.game.seats):
            twin = _twin(one.game, one.text, moves, seat, np.random.default_rng((seed, seat)))
            _side_by_side(one, two, moves, twin, seat)


def events_are_shown_to_those_who_saw_them(table: Table) -> None:
    """A seat's events are those of the record that were shown to it."""
    game = table.game
    for state in table.play(seed=2).states:
        for seat in range(game.seats):
            assert list(game.view(state, seat).events) == [e for e in state.log if e.to is None or seat in e.to]


def _twin(game: Any, text: GameText[Any], moves: list[Move], seat: int, rng: np.random.Generator) -> list[Move]:
    """The moves of another game that reads the same for a seat, as long as one is found."""
    state, other = game.initial(), game.initial()
    found: list[Move] = []
    for move in moves:
        actor, after = game.actor(state), game.apply(state, move)
        if game.actor(other) != actor:
            break
        for candidate in _candidates(game, other, move, own=actor == seat, rng=rng):
            reached = game.apply(other, candidate)
            if _read(game, text, reached, seat) == _read(game, text, after, seat):
                break
        else:
            break
        found.append(candidate)
        state, other = after, reached
    return found


def _candidates(game: Any, state: Any, move: Move, *, own: bool, rng: np.random.Generator) -> list[Move]:
    """Moves to try in the twin: others first, unless the seat itself moves; the same one last."""
    if own:
        return [move]
    if game.actor(state) == NATURE:
        others = [game.nature(state, rng) for _ in range(_TRIES)]
        return [*others, move] if move in others else others
    legal = game.legal(state)
    chosen = [legal[int(k)]._replace(words=move.words) for k in rng.permutation(len(legal))[:_TRIES]]
    return [*chosen, move] if Move(move.kind, move.args) in legal else chosen


def _read(game: Any, text: GameText[Any], state: Any, seat: int) -> tuple[Any, ...]:
    """Who a seat is and all that it has read, and whose turn it is."""
    actor = game.actor(state)
    who = text.who(game.view(state, seat)) if actor != NATURE else ""
    return actor, who, *[text.line(event) for event in state.log if event.to is None or seat in event.to]


def _side_by_side(one: GameEnv, two: GameEnv, moves: list[Move], others: list[Move], seat: int) -> None:
    states = [one.game.initial(), two.game.initial()]
    actors = []
    for move in moves[: len(others)]:
        actors.append(one.game.actor(states[0]))
        states[0] = one.game.apply(states[0], move)
    for env, played in ((one, moves), (two, others)):
        nature = [m for actor, m in zip(actors, played, strict=False) if actor == NATURE]
        env.reset(seed=0, options={"nature": nature})
    pairs = [pair for actor, pair in zip(actors, zip(moves, others, strict=False), strict=False) if actor != NATURE]
    for mine, theirs in pairs:
        assert everything(one, seat) == everything(two, seat), f"seat {seat} can tell what it cannot see"
        one.play(mine)
        two.play(theirs)


CHECKS: Final = (what_a_seat_cannot_see_changes_nothing_that_it_gets, events_are_shown_to_those_who_saw_them)
