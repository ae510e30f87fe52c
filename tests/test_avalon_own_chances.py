"""How likely a seat's own next move is under each of its deals, and deals drawn from a belief (`AvalonBelief`)."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from parlour.envs.avalon import GAME, vocabulary as game
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.habits import (
    CARD_TERMS,
    LEADERS,
    TEAM_TERMS,
    VOTE_TERMS,
    VOTERS,
    AvalonHabits,
    Conduct,
    LearnedHabits,
)
from parlour.envs.core import Knowledge

ROLES = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Mordred")
DEAL = ("Morgana", "Merlin", "Percival", "Loyal Servant", "Mordred", "Loyal Servant")
RULES = GAME.build(num_players=6, rules="multi_round", roles=ROLES)
SEEN = ((-1, game.LEADS, (0, 3, 2, 0, 1)), (3, game.TEAM, (0, 3)), (-1, game.VOTES, (1, 1, 0, 1, 1, 1, 0)),
        (-1, game.FAILS, (0, 1, 0)), (-1, game.SCORE, (0, 1)), (-1, game.LEADS, (1, 4, 3, 0, 1)))  # fmt: skip


def terms(names, **given):
    return tuple(given.get(name, 0.1 * k) for k, name in enumerate(names))


CONDUCT = Conduct(
    tuple(terms(VOTE_TERMS, always=0.3 * k) for k in range(len(VOTERS))),
    tuple(terms(TEAM_TERMS, doubt=-1.0 * k) for k in range(len(LEADERS))),
    terms(CARD_TERMS, always=2.0),
    -0.7,
)
LEARNED = LearnedHabits(conduct=CONDUCT)
FIRM = (AvalonHabits(good_fails=0.0), LearnedHabits(conduct=CONDUCT, good_fails=0.0))
"""No good seat ever fails."""


def belief_of(seat, habits=None, seen=SEEN):
    number = tuple(RULES.role_names.index(role) for role in DEAL)
    made = AvalonBelief(ROLES, seat, DEAL[seat], RULES.night(number, seat), habits)
    for event in seen:
        made.see(*event)
    return made


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
    for habits in (None, LEARNED):
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


def test_fixed_rates_by_hand():
    """Mordred knows Morgana: approves a dirty team in 0.75, a clean one in 0.35; a servant approves in 0.55."""
    dirty, clean = ((*SEEN, (4, game.TEAM, team)) for team in ((0, 3, 4), (1, 2, 3)))
    assert belief_of(4, None, dirty).own_chances(game.BALLOT, (1,)) == pytest.approx(0.75)
    assert belief_of(4, None, clean).own_chances(game.BALLOT, (0,)) == pytest.approx(0.65)
    assert belief_of(3, None, clean).own_chances(game.BALLOT, (1,)) == pytest.approx(0.55)
    assert belief_of(4, None, dirty).own_chances(game.CARD, (0,)) == pytest.approx(0.8)
    assert belief_of(4).own_chances("accuse", (1,)) is None


@pytest.mark.parametrize("habits", FIRM, ids=["usual", "learned"])
@pytest.mark.parametrize("seat", range(6), ids=DEAL)
def test_drawn_roles_are_deals_that_the_seat_cannot_rule_out(seat, habits):
    belief = belief_of(seat, habits)
    number = tuple(RULES.role_names.index(role) for role in DEAL)
    rng = np.random.default_rng(seat)
    for _ in range(30):
        roles = belief.drawn_roles(rng)
        assert sorted(roles) == sorted(ROLES)
        assert roles[seat] == DEAL[seat]
        assert RULES.night(tuple(map(RULES.role_names.index, roles)), seat) == RULES.night(number, seat)
        assert {"Morgana", "Mordred"} & {roles[0], roles[3]}  # one of this team failed


def test_roles_are_drawn_as_often_as_the_belief_has_them():
    """Before the first event Percival holds either of the two seats that he saw for Merlin: 1000 draws, 3 deviations."""
    seen = Knowledge(("Merlin", "Morgana"), (0, 1))
    belief = AvalonBelief(ROLES, 2, "Percival", (seen,))
    rng = np.random.default_rng(0)
    counts = Counter(belief.drawn_roles(rng).index("Merlin") for _ in range(1000))
    assert set(counts) == {0, 1}
    assert abs(counts[0] - 500) < 3 * math.sqrt(1000 / 4)
