"""How likely a seat's own next move is under each of its deals (`AvalonBelief`)."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs.avalon import GAME, vocabulary as game
from parlour.envs.avalon.belief import AvalonBelief

from tests.envs.avalon.evidence import drawn_evidence

ROLES = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Mordred")
DEAL = ("Morgana", "Merlin", "Percival", "Loyal Servant", "Mordred", "Loyal Servant")
RULES = GAME.build(GAME.options(num_players=6, rules="official", roles=ROLES, guesser="Mordred"))
SEEN = ((-1, game.LEADS, (0, 3, 2, 0, 1)), (3, game.TEAM, (0, 3)), (-1, game.VOTES, (1, 1, 0, 1, 1, 1, 0)),
        (-1, game.FAILS, (0, 1, 0)), (-1, game.SCORE, (0, 1)), (-1, game.LEADS, (1, 4, 3, 0, 1)))  # fmt: skip


LEARNED = drawn_evidence(3)
"""No good seat ever fails."""


def belief_of(seat, habits=None, seen=SEEN):
    number = tuple(RULES.role_names.index(role) for role in DEAL)
    made = AvalonBelief(ROLES, seat, DEAL[seat], RULES.night(number, seat), habits)
    for event in seen:
        made.see(*event)
    return made


@pytest.mark.parametrize("seat", range(6), ids=DEAL)
def test_the_chances_of_both_moves_are_one_under_every_deal(seat):
    """With learned evidence: of both votes on a team, and of both cards."""
    belief = belief_of(seat, LEARNED)
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


def test_fixed_rates_by_hand():
    """Mordred knows Morgana: approves a dirty team in 0.75, a clean one in 0.35; a servant approves in 0.55."""
    dirty, clean = ((*SEEN, (4, game.TEAM, team)) for team in ((0, 3, 4), (1, 2, 3)))
    assert belief_of(4, None, dirty).own_chances(game.BALLOT, (1,)) == pytest.approx(0.75)
    assert belief_of(4, None, clean).own_chances(game.BALLOT, (0,)) == pytest.approx(0.65)
    assert belief_of(3, None, clean).own_chances(game.BALLOT, (1,)) == pytest.approx(0.55)
    assert belief_of(4, None, dirty).own_chances(game.CARD, (0,)) == pytest.approx(0.8)
    assert belief_of(4).own_chances("accuse", (1,)) is None
