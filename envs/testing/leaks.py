"""No seat learns from numbers, options, its View or the time that passes what its prose does not tell it.

A game is compared with twins in which nature and the other seats move differently where the seat cannot see it, so that
its prose stays equal. Everything else that reaches the seat must then be equal too: see `parlour.envs.testing.redeal`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.aec import GameEnv
from parlour.envs.testing.redeal import redeals
from parlour.envs.testing.table import ConfiguredGame

_GAMES: Final = 8
_SEATS: Final = 3
"""Games, and seats of each, that are compared with twins, at most."""
_ENOUGH: Final = 60
"""Re-deals that are enough."""


def event_visibility(table: ConfiguredGame) -> None:
    """The events of a View are those of the log that were shown to the seat."""
    for state in table.playouts[0].states:
        for seat in range(table.game.seats):
            shown = [event for event in state.log if event.to is None or seat in event.to]
            assert list(table.game.view(state, seat).events) == shown


def hidden_information(table: ConfiguredGame) -> None:
    """A seat gets the same, in every form and cycle by cycle, in two games in which it knows the same."""
    moments = 0
    for number in range(_GAMES):
        found = redeals(table, np.random.default_rng(number), seats=_SEATS, twins=1)
        assert not found.leaks, found.leaks[0]
        moments += found.moments
        if moments >= _ENOUGH:
            break


def hidden_phases(table: ConfiguredGame) -> None:
    """Phases of which not all see the turns, if the game has them, last as long for all seats, and ask for every turn."""
    game = table.game
    if not hasattr(game, "hidden_cycles"):
        return
    for state in table.states:
        assert len({game.hidden_cycles(game.view(state, seat)) for seat in range(game.seats)}) == 1
    env, rng = table.parallel_env(observation="features"), np.random.default_rng(0)
    seen, infos = env.reset(seed=0)
    while env.agents:
        actions = {agent: rng.choice(np.flatnonzero(told["action_mask"])) for agent, told in seen.items()}
        seen, _, _, _, infos = env.step(actions)
        assert all(info["replaced"] == 0 for info in infos.values())


def everything(env: GameEnv, seat: int) -> tuple[Any, ...]:
    """All that reaches a seat, of an environment with `observation="both", info="full", render_mode="ansi"`."""
    agent = env.possible_agents[seat]
    seen, info = env.observe(agent), env.infos[agent]
    told = {key: value.tobytes() if key == "action_mask" else value for key, value in info.items()}
    arrays = seen["observation"].tobytes(), seen["action_mask"].tobytes()
    reward = env.rewards[agent] if env.outcome is None else None  # the result tells who won, and so it should
    return seen["text"], *arrays, told, env.view(seat), env.render(), reward
