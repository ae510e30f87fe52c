"""The suites of `parlour.envs.testing` for AIWolf's Werewolf."""

import pytest
from parlour.envs.testing import check_game
from parlour_aiwolf import GAME


@pytest.mark.slow
def test_the_game_keeps_the_contract():
    check_game(GAME, [{"num_players": 5}])
