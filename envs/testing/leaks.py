"""No seat learns from numbers, options or its View what its prose does not tell it.

A game is compared with a twin in which nature and the other seats move differently where the seat cannot see it, so that
its prose stays equal. Everything else that reaches the seat must then be equal too.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.aec import GameEnv
from parlour.envs.core import NATURE, GameText, Move
from parlour.envs.testing.table import ConfiguredGame, follow

_TRIES: Final = 12


def event_visibility(table: ConfiguredGame) -> None:
    """The events of a View are those of the log that were shown to the seat."""
    for state in table.playouts[0].states:
        for seat in range(table.game.seats):
            shown = [event for event in state.log if event.to is None or seat in event.to]
            assert list(table.game.view(state, seat).events) == shown


def hidden_information(table: ConfiguredGame) -> None:
    """A seat gets the same features, options and View in two games in which it reads the same prose."""
    settings = {"observation": "both", "info": "full", "render_mode": "ansi"}
    one, two = table.raw_env(**settings), table.raw_env(**settings)
    for number, played in enumerate(table.playouts[:2]):
        for seat in range(one.game.seats):
            twin = _twin(one.game, one.text, played.moves, seat, np.random.default_rng((number, seat)))
            for move, _ in zip(follow(one, played.moves[: len(twin)]), follow(two, twin), strict=True):
                if move:  # where the twin ends, nature may go on in two ways
                    assert everything(one, seat) == everything(two, seat), f"seat {seat} is shown hidden information"


def everything(env: GameEnv, seat: int) -> tuple[Any, ...]:
    """All that reaches a seat, of an environment with `observation="both", info="full", render_mode="ansi"`."""
    agent = env.possible_agents[seat]
    seen, info = env.observe(agent), env.infos[agent]
    told = {key: value.tobytes() if key == "action_mask" else value for key, value in info.items()}
    arrays = seen["observation"].tobytes(), seen["action_mask"].tobytes()
    reward = env.rewards[agent] if env.outcome is None else None  # the result tells who won, and so it should
    return seen["text"], *arrays, told, env.view(seat), env.render(), reward


def _twin(game: Any, text: GameText[Any], moves: list[Move], seat: int, rng: np.random.Generator) -> list[Move]:
    """The moves of another game that reads the same for a seat, as far as one is found."""
    state, other, twin = game.initial(), game.initial(), list[Move]()
    for move in moves:
        actor, state = game.actor(state), game.apply(state, move)
        read = _read(game, text, state, seat)
        for candidate in [move] if actor == seat else _candidates(game, other, move, rng):
            reached = game.apply(other, candidate)
            if _read(game, text, reached, seat) == read:
                break
        else:
            break
        twin.append(candidate)
        other = reached
    return twin


def _candidates(game: Any, state: Any, move: Move, rng: np.random.Generator) -> list[Move]:
    """Moves to try in the twin in place of a move of nature or of another seat; the same move last."""
    if game.actor(state) == NATURE:
        drawn = [game.nature(state, rng) for _ in range(_TRIES)]
        return [*drawn, move] if move in drawn else drawn
    legal = game.legal(state)
    chosen = [legal[int(k)]._replace(words=move.words) for k in rng.permutation(len(legal))[:_TRIES]]
    return [*chosen, move] if Move(move.kind, move.args) in legal else chosen


def _read(game: Any, text: GameText[Any], state: Any, seat: int) -> tuple[Any, ...]:
    """Whose turn it is, and the first two sections of a seat's prose."""
    actor = game.actor(state)
    who = text.who(game.view(state, seat)) if actor != NATURE else ""
    return actor, who, *[text.line(event) for event in state.log if event.to is None or seat in event.to]
