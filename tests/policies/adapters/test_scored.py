"""Networks of other libraries at our tables (policies/adapters/scored.py): which action is taken, what is counted, what is refused.

That the numbers are those of a library is tested in tests/integrations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from parlour.envs.core import ParlourError
from parlour.policies.adapters.scored import ScoredSeat, check_algorithm
from parlour.policies.adapters.settings import Sb3Settings

BOX = spaces.Box(-1, 1, (3,), np.float32)
SEEN = {"observation": np.zeros(3, np.float32), "action_mask": np.array([1, 1, 0, 0], np.int8)}


class Given(ScoredSeat):
    """Says the same numbers whatever it sees."""

    name = "given"

    def __init__(self, *numbers: float, space: spaces.Space[Any] = BOX, sample: bool = False, actions: str = "moves"):
        super().__init__(space, spaces.Discrete(len(numbers)), sample=sample, actions=actions)
        self.numbers, self.seen = np.array(numbers, float), None

    def scores(self, seen: Any) -> Any:
        self.seen = seen
        return self.numbers.copy()


@pytest.mark.parametrize(
    ("numbers", "knew_mask", "replaced", "notes"),
    [
        ((0, 1, 9, 2), False, 1, {"wanted": 2}),
        ((0, 1, 9, 2), True, 0, {}),
        ((0, 3, 1, 2), False, 0, {}),
        ((0, 1, 0, 0, 9), False, 1, {"wanted": 4}),  # `wait` of a parallel table: here nobody waits who decides
    ],
)
def test_the_legal_action_of_the_highest_number_is_taken_and_another_first_choice_counted(
    numbers, knew_mask, replaced, notes
):
    player = Given(*numbers)
    player.knew_mask = knew_mask
    assert player.act(SEEN, {}) == 1
    assert (player.replaced, player.notes()) == (replaced, notes)
    player.reset(0, 1)
    assert (player.replaced, player.notes()) == (replaced, {})


def test_samples_come_from_the_probabilities_of_the_legal_actions_by_the_seed():
    player = Given(0.0, np.log(3.0), 9.0, 0.0, sample=True)

    def drawn(seed: int) -> list[int]:
        player.reset(0, seed)
        return [player.act(SEEN, {}) for _ in range(800)]

    assert set(drawn(1)) == {0, 1}
    assert abs(np.mean(drawn(1)) - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 800)
    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize(("rank", "sample"), [(0, False), (3, False), (9, True)])
def test_a_rank_is_the_legal_move_of_this_place_counted_around(rank, sample):
    numbers = np.full(10, -50.0)
    numbers[rank] = 9.0
    player = Given(*numbers, sample=sample, actions="ranks")
    assert player.act({**SEEN, "action_mask": np.array([0, 1, 1, 1], np.int8)}, {}) == 1 + rank % 3
    assert player.replaced == 0


def test_a_network_may_read_the_dictionary_of_features_and_mask():
    player = Given(1, 0, 0, 0, 9, space=spaces.Dict({"observation": BOX, "action_mask": spaces.MultiBinary(5)}))
    assert player.act(SEEN, {}) == 0
    assert player.seen["action_mask"].tolist() == [1, 1, 0, 0, 0]
    assert player.seen["observation"] is SEEN["observation"]


def test_a_table_with_other_numbers_and_other_settings_are_refused():
    for count in (3, 6):
        with pytest.raises(ParlourError, match=rf"3 features and 4 actions; accepted: \(3,\) and {count} actions, as"):
            Given(*range(count)).act(SEEN, {})
    for actions in ("moves", "ranks"):
        with pytest.raises(ParlourError, match="a table with 2 features"):
            Given(*range(4), actions=actions).act({**SEEN, "observation": np.zeros(2, np.float32)}, {})
    with pytest.raises(ParlourError, match="actions 'all' is not accepted; accepted: moves, ranks"):
        Given(1, actions="all")
    with pytest.raises(ParlourError, match=r"a checkpoint with actions Box.* is not accepted; accepted: Discrete"):
        ScoredSeat.__init__(Given(1), BOX, BOX, sample=False, actions="moves")
    with pytest.raises(ParlourError, match="saved by its own library; accepted: given:file=PATH"):
        Given(1).save("x")


def test_settings_of_a_checkpoint_are_read_and_checked():
    words = {"file": __file__, "algorithm": "DQN", "sample": "true", "actions": "ranks", "features": "table"}
    read = Sb3Settings.from_words(words)
    assert (read.file, read.algorithm, read.sample, read.actions) == (__file__, "DQN", True, "ranks")
    assert Sb3Settings(file=__file__) == Sb3Settings.from_words({"file": __file__})
    for name, word in {
        "file": "nowhere",
        "algorithm": "SAC",
        "sample": "perhaps",
        "actions": "all",
        "colour": "red",
    }.items():
        with pytest.raises(ParlourError, match=rf"{name}|there is no checkpoint"):
            Sb3Settings.from_words({"file": __file__, name: word})


def test_values_are_no_logits_to_draw_by():
    with pytest.raises(ParlourError, match="sample=true is not accepted with DQN; accepted: sample=false"):
        check_algorithm("DQN", ("PPO", "DQN"), ("DQN",), sample=True)
