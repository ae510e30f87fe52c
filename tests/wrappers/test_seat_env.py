"""SeatEnv: what one seat sees, may do and is paid.

The traps: a reward that comes after the seat's last move must reach it, once; a seat may never get to move, and then the
game is dealt again; a finished game takes no more moves.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from parlour.envs import registry
from parlour.envs._template import CoinSpec
from parlour.envs._template.rules import Coin
from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import OVER, Move, Outcome, ParlourError
from parlour.policies import RandomPolicy
from parlour.training.play.rollout import play, table
from parlour.wrappers import LearnerSeats, NumericFeatures, SealedTurn, SeatEnv, TextActions

# -- a game in which most seats do not get to move -------------------------------------------------------------


class Rare(Coin):
    """Coin, but the guesser moves only where the coin shows tails, and everybody is paid otherwise.

    The keeper gets 10 times its speech, the guesser 20 times its guess plus 1: unequal, and due to a seat that has not moved.
    """

    tails = 0.05

    def nature(self, s: Any, rng: np.random.Generator) -> Move:
        return Move("toss", (int(rng.random() < self.tails),))

    def actor(self, s: Any) -> int:
        return OVER if s.moves == 2 and s.coin == 0 else super().actor(s)

    def legal(self, s: Any) -> tuple[Move, ...]:
        return super().legal(s) if self.actor(s) >= 0 else ()

    def outcome(self, s: Any) -> Outcome | None:
        if self.actor(s) != OVER:
            return None
        spoken, *guessed = (event.move.args for event in s.log[1:])
        return Outcome((10.0 * sum(spoken), 20.0 * sum(guessed[0]) + 1 if guessed else 0.0), "draw", "guess")


def lottery(**settings: Any) -> SeatEnv:
    return SeatEnv(GameEnv(CoinSpec(), Rare(), info="full"), lambda _: RandomPolicy(), **settings)


def avalon(seat: Any = 0, policy: Any = RandomPolicy, **settings: Any) -> SeatEnv:
    return SeatEnv(table("avalon_v0", num_players=5), lambda _: policy(), seat=seat, **settings)


def episode(env: SeatEnv, seed: int | None, pick: int = 0) -> tuple[float, int]:
    """Play the legal action number `pick` until the end. Returns the sum of rewards and the number of moves."""
    env.reset(seed=seed)
    total, moves, over = 0.0, 0, False
    while not over:
        legal = np.flatnonzero(env.action_masks())
        _, reward, over, cut, _ = env.step(int(legal[pick % len(legal)]))
        assert not cut
        total += reward
        moves += 1
    return total, moves


# -- rewards ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", range(5))
def test_the_sum_of_rewards_is_the_return(seat):
    env = avalon(seat)
    returns = []
    for seed in range(6):
        total, _ = episode(env, seed, pick=seed)
        outcome = env.game_env.outcome
        assert outcome is not None
        assert total == outcome.returns[seat]
        returns.append(total)
    assert set(returns) <= {1.0, -1.0}


@pytest.mark.parametrize(("seat", "pick", "paid"), [(0, 1, 0.0), (0, 2, 10.0), (1, 0, 1.0), (1, 1, 21.0)])
def test_unequal_seats_get_their_own_return(seat, pick, paid):
    env = lottery(seat=seat)
    assert {episode(env, seed=seed, pick=pick) for seed in range(3)} == {(paid, 1)}


def test_a_finished_episode_takes_no_more_moves():
    env = avalon(0)
    episode(env, seed=1)
    with pytest.raises(ParlourError, match=r"the game is over; accepted: reset\(\)"):
        env.step(0)
    assert env.action_masks().all()


# -- seats -----------------------------------------------------------------------------------------------------


def test_a_seat_that_does_not_get_to_move_is_dealt_again():
    """The guesser moves in one game of twenty; `reset` deals until it does, and says how often."""
    env = lottery(seat=1)
    redeals = []
    for seed in range(60):
        _, info = env.reset(seed=seed)
        redeals.append(info["redeals"])
        assert env.game_env.seat == 1
        assert np.array_equal(env.action_masks(), [False, False, False, True, True])
        assert env.step(4)[1:3] == (21.0, True)
    # geometric with p = 0.05: mean 19, standard deviation of the mean of 60 is 2.5
    assert 10 < np.mean(redeals) < 30


def test_a_seat_that_never_moves_is_told_of():
    env = lottery(seat=1)
    env.game_env.game.tails = 0.0
    with pytest.raises(ParlourError, match="seat 1 did not get to move in 1000 games"):
        env.reset(seed=1)


def test_only_the_others_play_by_their_policies():
    class Counting(RandomPolicy):
        def __init__(self) -> None:
            super().__init__()
            self.games, self.moves = 0, 0

        def reset(self, seat: int, seed: int) -> None:
            super().reset(seat, seed)
            self.games += 1

        def act(self, observation: Any, info: dict[str, Any]) -> int:
            assert info["view"].seat == self.seat
            assert observation == {}  # it wants the view only
            self.moves += 1
            return super().act(observation, info)

    players = [Counting() for _ in range(5)]
    env = SeatEnv(table("avalon_v0", num_players=5), players, seat=3)
    _, moves = episode(env, seed=2)
    assert [p.games for p in players] == [1, 1, 1, 0, 1]
    assert players[3].moves == 0
    nature = sum(m.kind in ("deal", "draw") for m in env.game_env.moves)
    assert sum(p.moves for p in players) + moves + nature == len(env.game_env.moves)


# -- what may be done ------------------------------------------------------------------------------------------


def test_an_illegal_action_is_replaced_by_a_legal_one_and_counted():
    env = avalon(0)
    _, info = env.reset(seed=1)
    assert info["replaced"] == 0
    over, turns = False, 0
    while not over:
        wrong = int(np.flatnonzero(~env.action_masks())[turns % 7])
        _, _, over, _, info = env.step(wrong)
        turns += 1
        assert info["replaced"] == turns
    assert env.reset(seed=1)[1]["replaced"] == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seat": 5}, "seat 5 is not accepted; accepted: random, 0, 1, 2, 3, 4"),
        ({"seat": "first"}, "seat 'first' is not accepted"),
        ({"observation": "both"}, "observation 'both' is not accepted; accepted: features, text"),
        ({"on_illegal": "ignore"}, "on_illegal 'ignore' is not accepted; accepted: random, raise"),
    ],
)
def test_settings_outside_what_is_accepted_are_refused(settings, message):
    with pytest.raises(ParlourError, match=message):
        avalon(**settings)


OPPONENTS: dict[str, Any] = {
    "name": "random",
    "class": RandomPolicy,
    "function of a seat": lambda _: RandomPolicy(),
    "list with a name": ["random", RandomPolicy()],
    "tuple": (RandomPolicy(), "heuristic"),
    "function of a name": lambda _: "random",
}


@pytest.mark.parametrize("wrapper", [SeatEnv, LearnerSeats])
@pytest.mark.parametrize("opponents", OPPONENTS.values(), ids=OPPONENTS)
def test_opponents_are_named_made_or_handed_over(wrapper, opponents):
    env = wrapper(registry["template_v0"].raw_env(info="full"), opponents)
    env.reset(seed=1)


@pytest.mark.parametrize("wrapper", [SeatEnv, LearnerSeats])
@pytest.mark.parametrize(
    ("opponents", "reason"),
    [
        (RandomPolicy(), "one RandomPolicy for all seats is"),
        (None, "opponents None are"),
        (42, "opponents 42 are"),
        ("nobody", "policy 'nobody' is"),
        ([None, RandomPolicy()], "opponent None is"),
        (lambda seat: seat, "opponent 0 is"),
        (lambda a, b: RandomPolicy(), "<lambda>, which takes other arguments, is"),
        ([RandomPolicy], "1 opponents are"),
    ],
)
def test_other_opponents_are_refused_with_what_is_accepted(wrapper, opponents, reason):
    with pytest.raises(ParlourError, match=f"^{reason} not accepted; accepted: ") as caught:
        wrapper(registry["template_v0"].raw_env(info="full"), opponents)
    assert "\n" not in str(caught.value)
    assert "random" in str(caught.value)


@pytest.mark.parametrize("wrapper", [SeatEnv, LearnerSeats, TextActions, NumericFeatures, SealedTurn])
def test_environments_of_other_kinds_are_refused_with_what_is_accepted(wrapper):
    settings = (RandomPolicy,) if wrapper in (SeatEnv, LearnerSeats) else ()
    for env, what in (
        (
            registry["avalon_v0"].parallel_env(num_players=5),
            "GameParallelEnv is not accepted: seats step at once in it",
        ),
        (gymnasium.make("CartPole-v1"), "CartPoleEnv is not accepted"),
        (None, "NoneType is not accepted"),
    ):
        with pytest.raises(
            ParlourError, match=f"^{wrapper.__name__} of {what}; accepted: an AEC environment of parlour"
        ):
            wrapper(env, *settings)


@pytest.mark.parametrize("on_illegal", ["random", "raise"])
@pytest.mark.parametrize("action", [30, 999, -1, 1.5, None, [3], np.array([0.5])], ids=repr)
def test_what_is_no_action_at_all_is_refused_and_changes_nothing(action, on_illegal):
    env = SeatEnv(table("avalon_v0", num_players=5, talk=False), RandomPolicy, seat=0, on_illegal=on_illegal)
    env.reset(seed=1)
    assert env.action_space.n == 30
    before = env.game_env.state_now
    with pytest.raises(ParlourError, match=r"action .* is not accepted; accepted: a whole number 0\.\.29"):
        env.step(action)
    assert env.game_env.state_now is before
    env.step(np.array(int(np.flatnonzero(env.action_masks())[0])))  # as a policy of stable-baselines3 answers
    assert env.game_env.state_now is not before


def test_play_takes_an_environment_of_parlour_with_the_full_info() -> None:
    players = [RandomPolicy() for _ in range(5)]
    with pytest.raises(ParlourError, match="play of an environment with info='numeric' is not accepted"):
        play(registry["avalon_v0"].env(num_players=5), players, 1)
    with pytest.raises(ParlourError, match="play of GameParallelEnv is not accepted"):
        play(registry["avalon_v0"].parallel_env(num_players=5), players, 1)
