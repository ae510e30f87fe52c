"""One seat of a game among opponents named by strings: `gymnasium.make("parlour/avalon-v0", ...)` calls `make_seat`."""

from __future__ import annotations

from typing import Any, Literal

from parlour.envs.registry import lookup
from parlour.wrappers.learner_seats import SeatEnv


def make_seat(
    game: str,
    *,
    opponents: str = "heuristic",
    seat: int | Literal["random"] = "random",
    observation: Literal["features", "text"] = "features",
    on_illegal: Literal["random", "raise"] = "random",
    render_mode: str | None = None,
    **options: Any,
) -> SeatEnv:
    """One learner's seat.

    Args:
        game: Registry name, or `module:ATTRIBUTE` of a spec.
        opponents: The policy of all other seats, by name: see `parlour.policies.make_policy`.
        seat: See `SeatEnv`.
        observation: See `SeatEnv`.
        on_illegal: See `SeatEnv`.
        render_mode: None, `"ansi"` or `"human"`.
        **options: The game's own, such as `num_players`, and `features` (see `parlour.envs.adapters.aec.GameEnv`).

    Raises:
        ParlourError: A name or an option is not accepted.
    """
    env = lookup(game).raw_env(info="full", observation="features", render_mode=render_mode, **options)
    return SeatEnv(env, opponents, seat=seat, observation=observation, on_illegal=on_illegal)
