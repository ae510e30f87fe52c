"""How likely a seat's own next move is by learned conduct."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.habits import LEADERS
from parlour_people.habits.model import CARD_TERMS, TEAM_TERMS, VOTE_TERMS, VOTERS, Conduct, PeopleHabits

from tests.envs.avalon.test_own_chances import DEAL, SEEN, belief_of


def terms(names, **given):
    return tuple(given.get(name, 0.1 * k) for k, name in enumerate(names))


CONDUCT = Conduct(
    tuple(terms(VOTE_TERMS, always=0.3 * k) for k in range(len(VOTERS))),
    tuple(terms(TEAM_TERMS, doubt=-1.0 * k) for k in range(len(LEADERS))),
    terms(CARD_TERMS, always=2.0),
    -0.7,
)
LEARNED = PeopleHabits(conduct=CONDUCT)
"""No good seat ever fails."""


@pytest.mark.parametrize("seat", range(6), ids=DEAL)
def test_the_chances_of_all_moves_are_one_under_every_deal(seat):
    """With learned conduct: of all teams of three, of both votes on one of them, and of both cards."""
    belief = belief_of(seat, LEARNED)
    teams = sum(belief.own_chances(game.TEAM, team) for team in combinations(range(6), 3))
    assert teams == pytest.approx(np.ones(len(belief.weights)))
    belief.see(4, game.TEAM, (0, 3, 4))
    for kind in (game.BALLOT, game.CARD):
        both = [belief.own_chances(kind, (yes,)) for yes in (0, 1)]
        assert sum(both) == pytest.approx(np.ones(len(belief.weights)))
        assert all((weights > 0).all() for weights in both)


def test_asking_changes_nothing():
    for habits in (LEARNED,):
        belief, other = belief_of(4, habits), belief_of(4, habits)
        for kind, args in ((game.TEAM, (0, 3, 4)), (game.BALLOT, (1,)), (game.CARD, (0,))):
            belief.own_chances(kind, args)
        for tracker in (belief, other):
            tracker.see(4, game.TEAM, (0, 3, 4))
            tracker.see(-1, game.VOTES, (1, 1, 0, 1, 1, 1, 0))
        assert (belief.log_weights == other.log_weights).all()


def test_an_evil_members_card_by_hand():
    """Of one evil member on a team 2.0 in log-odds is the chance of a fail; of two, those of both and of one of two.

    A later quest, the second: "second quest" counts 0.2, and "several" 0.4 (the terms count 0.1 each by their order); the
    second one fails with -0.7.
    """
    belief = belief_of(4, LEARNED, (*SEEN, (4, game.TEAM, (1, 3, 4))))
    order = {name: 0.1 * k for k, name in enumerate(CARD_TERMS)}
    alone = 2.0 + order["second quest"]
    assert belief.own_chances(game.CARD, (0,)) == pytest.approx(1 / (1 + math.exp(-alone)))
    belief = belief_of(4, LEARNED, (*SEEN, (4, game.TEAM, (0, 3, 4))))
    some = 1 / (1 + math.exp(-(alone + order["several"])))
    joins = 1 / (1 + math.exp(0.7))
    assert belief.own_chances(game.CARD, (0,)) == pytest.approx(some * (1 - joins) / 2 + some * joins)
