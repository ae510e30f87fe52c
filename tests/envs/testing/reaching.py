"""All that reaches a seat, for tests that compare what it is shown in two games."""

from __future__ import annotations

from typing import Any


def everything(env: Any, seat: int) -> tuple[Any, ...]:
    """Prose, numbers, masks, info, View, the public record and the reward of a seat; needs `observation="both"`."""
    agent = env.possible_agents[seat]
    seen, info = env.observe(agent), env.infos[agent]
    return (
        seen["text"],
        seen["observation"].tobytes(),
        seen["action_mask"].tobytes(),
        {key: value.tobytes() if key == "action_mask" else value for key, value in info.items()},
        env.view(seat),
        env.render(),
        env.rewards[agent],
    )
