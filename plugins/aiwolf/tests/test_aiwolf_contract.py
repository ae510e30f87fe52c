"""The suites of `parlour.envs.testing` for AIWolf's Werewolf."""

import pytest
from parlour.envs.testing import check_game
from parlour_aiwolf import GAME


@pytest.mark.slow
@pytest.mark.parametrize("players", [5, 15])
def test_the_game_keeps_the_contract(players):
    check_game(GAME, [{"num_players": players}])
