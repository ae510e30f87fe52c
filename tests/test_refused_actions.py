"""What is no action is refused in one short line, and the value of a refusal is shown as far as a line holds it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs.core import LONGEST_SHOWN, MOST_LISTED, ParlourError, accept
from parlour.wrappers import LegalRanks, ParallelLegalRanks, SeatEnv

NO_NUMBERS = [
    *(np.array([]), np.array([0, 1]), np.zeros((2, 2)), np.array(float("nan")), np.array("x")),
    *(None, "x", "0", 0.5, 1.7, float("nan"), float("inf"), 1j, [], [0], (), {0}, {0: 0}, b"0", 10**400, -1, object()),
]


def named(value: object) -> str:
    """The same in every process, and short."""
    return type(value).__name__ if type(value) in (object, np.ndarray) else repr(value)[:20]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=named)
def test_an_environment_refuses_what_is_no_number_of_a_move(value):
    env = registry["template_v0"].raw_env()
    env.reset(seed=1)
    with pytest.raises(ParlourError, match="is not accepted; accepted: a whole number 0") as refusal:
        env.step(value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=named)
def test_ranks_refuse_what_is_no_rank(value):
    """1.7 is not rank 1, and "0" is not rank 0."""
    env = LegalRanks(registry["template_v0"].env(observation="features"))
    env.reset(seed=1)
    with pytest.raises(ParlourError, match="is not accepted; accepted: a whole number 0") as refusal:
        env.step(value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("value", [value for value in NO_NUMBERS if value is not None], ids=named)
def test_ranks_refuse_what_is_no_rank_where_all_step_at_once(value):
    env = ParallelLegalRanks(registry["template_v0"].parallel_env(observation="features"))
    env.reset(seed=1)
    with pytest.raises(ParlourError, match="is not accepted; accepted: a whole number 0"):
        env.step({"player_0": value})


def test_a_refused_value_is_shown_in_one_line_up_to_its_longest():
    for value in ("9" * 100_000, np.zeros((50, 50)), [["a\nb"] * 300]):
        words = str(accept("action", value, "a whole number"))
        assert "\n" not in words
        assert len(words) < LONGEST_SHOWN + 100
    assert str(accept("case", "x  y", ("a", "b"))) == "case 'x  y' is not accepted; accepted: a, b"


def test_of_many_accepted_values_the_first_are_listed_and_the_others_counted():
    words = str(accept("action", "x", [f"move {k}" for k in range(252)]))
    assert words.endswith(f", move {MOST_LISTED - 1}, ... ({252 - MOST_LISTED} more)")


def test_a_seat_that_is_to_raise_lists_some_of_many_options():
    """Ten players, five in a team: 252 options."""

    class First:
        wants = "view"

        def reset(self, seed: int, seat: int) -> None: ...

        def act(self, observation: Any, info: dict[str, Any]) -> int:
            return int(info["legal"][0])

    env = SeatEnv(registry["avalon_v0"].env(num_players=10, info="full"), lambda _: First(), seat=0, on_illegal="raise")
    env.reset(seed=3)
    for _ in range(200):
        wrong = int(np.flatnonzero(~env.action_masks())[0])
        with pytest.raises(ParlourError) as refusal:
            env.step(wrong)
        assert len(str(refusal.value)) < 4000
        if env.step(int(np.flatnonzero(env.action_masks())[0]))[2]:
            break
