"""Conduct learned from records: what beliefs make of it, and the file it comes in (`habits/model.py`, `habits/conduct.py`).

The chances expected here are worked out from the definitions alone, deal by deal, with the terms as `conduct.py` states them.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.habits import LEADERS, read_habits
from parlour.envs.core import Knowledge, ParlourError
from parlour_people.habits import conduct as terms
from parlour_people.habits.model import (
    CARD_TERMS,
    TEAM_TERMS,
    VOTE_TERMS,
    VOTERS,
    Conduct,
    PeopleHabits,
    PeopleHabitsFile,
    Weights,
    read_people_habits,
)

FIVE = ("Merlin", "Loyal Servant", "Loyal Servant", "Assassin", "Minion")
SIX = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Mordred")
SEVEN = (*SIX, "Oberon")


def of(names, **given):
    assert set(given) <= set(names)
    return tuple(float(given.get(name, 0.0)) for name in names)


def conduct(votes=None, teams=None, cards=None, joins=0.0, weights=None):
    votes, teams = votes or {}, teams or {}
    return PeopleHabits(
        conduct=Conduct(
            tuple(of(VOTE_TERMS, **votes.get(kind, {})) for kind in VOTERS),
            tuple(of(TEAM_TERMS, **teams.get(kind, {})) for kind in LEADERS),
            of(CARD_TERMS, **(cards or {})),
            joins,
            weights or Weights(),
        )
    )


def posterior(roles, likelihood, among=game.EVIL_ROLES):
    """Chance of each seat to hold one of some roles, by all deals of the roles, the likelihood a function of a deal."""
    weights = {deal: likelihood(deal) for deal in set(itertools.permutations(roles))}
    total = sum(weights.values())
    return [sum(w for deal, w in weights.items() if deal[seat] in among) / total for seat in range(len(roles))]


def begun(roles, habits, seat=-1, role="", knows=()):
    belief = AvalonBelief(roles, seat, role, knows, habits)
    belief.see(-1, game.LEADS, (0, 0, 2, 0, 1))
    return belief


VOTES = {
    "by kind of voter and by what it knows": (
        FIVE,
        {"evil, dirty": {"always": 2}, "evil, clean": {"always": -1}, "Merlin, dirty": {"always": -3},
         "Merlin, clean": {"always": 3}, "good": {"always": 0.5, "on team": 1, "own": 2}},
        (1, 1, 0, 0, 1),
    ),
    "Merlin does not know Mordred, and evil seats do not know Oberon": (
        SEVEN,
        {"evil, dirty": {"always": 2}, "Merlin, dirty": {"always": -2}, "Merlin, clean": {"always": 2}},
        (1, 1, 1, 0, 0, 0, 1),
    ),
    "good seats share a mood that nobody sees": (
        FIVE,
        {"good": {"always": 0.5, "mood": 2.0}, "evil, dirty": {"always": 1}, "evil, clean": {"always": -1}},
        (0, 0, 1, 1, 1),
    ),
}  # fmt: skip
MOODS = np.linspace(-7, 7, 1401)


def approval(deal, seat, terms):
    """The log-odds that a seat approves the team of 0 and 1, which 0 named, in each mood."""
    role = deal[seat]
    hidden = "Mordred" if role == "Merlin" else "Oberon"
    dirty = any(deal[j] in game.EVIL_ROLES and deal[j] != hidden for j in (0, 1))
    side = "Merlin" if role == "Merlin" else "evil" if role in game.EVIL_ROLES else "good"
    given = (
        {}
        if role == "Oberon"
        else terms.get(side if side == "good" else f"{side}, {'dirty' if dirty else 'clean'}", {})
    )
    place = {0: given.get("own", 0), 1: given.get("on team", 0)}.get(seat, 0)
    return given.get("always", 0) + place + given.get("mood", 0) * MOODS


@pytest.mark.parametrize(("roles", "terms", "votes"), VOTES.values(), ids=VOTES)
def test_votes_count_by_all_deals(roles, terms, votes):
    """In each deal the votes are independent in each mood, and the moods are summed over; the integral by small steps."""
    belief = begun(roles, conduct(terms))
    belief.see(0, game.TEAM, (0, 1))
    belief.see(-1, game.VOTES, (1, *votes))
    density = np.exp(-(MOODS**2) / 2) / np.exp(-(MOODS**2) / 2).sum()

    def likelihood(deal):
        signs = (1 if vote else -1 for vote in votes)
        odds = [sign * approval(deal, seat, terms) for seat, sign in enumerate(signs)]
        return float(density @ np.prod([1 / (1 + np.exp(-of_seat)) for of_seat in odds], axis=0))

    tolerance = {"abs": 2e-3} if "mood" in terms.get("good", {}) else {}
    assert belief.evil_chance() == pytest.approx(posterior(roles, likelihood), **tolerance)


def test_the_sum_over_moods_is_the_integral_over_the_normal():
    logs = -np.logaddexp(0.0, -(0.7 + 1.5 * terms.MOODS))
    x = np.linspace(-8, 8, 4001)
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    expected = float((density / (1 + np.exp(-(0.7 + 1.5 * x)))).sum() * (x[1] - x[0]))
    assert math.exp(float(terms.over_moods(logs))) == pytest.approx(expected, abs=1e-3)


def test_a_leader_chooses_among_all_teams_of_the_size():
    habits = conduct(teams={"evil": {"self": 1.0, "more evil": -2.0}, "good": {"self": 0.5}, "Merlin": {"dirty": -1.5}})
    belief = begun(FIVE, habits)
    belief.see(2, game.TEAM, (1, 2))
    every = list(itertools.combinations(range(5), 2))

    def weight(deal, team):
        evil = sum(deal[j] in game.EVIL_ROLES for j in team)
        if deal[2] == "Merlin":
            return math.exp(-1.5 * (evil > 0))
        if deal[2] in game.EVIL_ROLES:
            return math.exp(1.0 * (2 in team) - 2.0 * max(0, evil - 1))
        return math.exp(0.5 * (2 in team))

    expected = posterior(FIVE, lambda deal: weight(deal, (1, 2)) / sum(weight(deal, team) for team in every))
    assert belief.evil_chance() == pytest.approx(expected)


def test_cards_one_evil_member_begins_and_others_join():
    # two evil members: nobody fails 1 - a, one a (1 - j), two a j; with a = 0.75, j = 0.2
    habits = replace(conduct(cards={"always": math.log(3)}, joins=math.log(0.25)), good_fails=1e-9)
    for fails, two in ((0, 0.25), (1, 0.75 * 0.8), (2, 0.75 * 0.2)):
        belief = begun(FIVE, habits)
        belief.see(0, game.TEAM, (0, 1))
        belief.see(-1, game.FAILS, (0, fails, int(not fails)))
        by_evil = (float(fails == 0), {0: 0.25, 1: 0.75, 2: 0.0}[fails], two)

        def likelihood(deal, by_evil=by_evil):
            return by_evil[sum(deal[j] in game.EVIL_ROLES for j in (0, 1))]

        assert belief.evil_chance() == pytest.approx(posterior(FIVE, likelihood), abs=1e-6)


def test_an_evil_seat_takes_its_own_card_out():
    # Oberon failed, and two fails are shown: of two evil members both, of one nobody else
    habits = conduct(cards={"always": math.log(3)}, joins=math.log(0.25))
    belief = begun(SEVEN, habits, seat=0, role="Oberon")
    belief.see(-1, game.TEAM, (0, 1))
    belief.see(0, game.CARD, (0,))
    belief.see(-1, game.FAILS, (0, 2, 0))
    assert belief.evil_chance()[1] > 0.99
    alone = begun(SEVEN, habits, seat=0, role="Oberon")
    alone.see(-1, game.TEAM, (0, 1))
    alone.see(0, game.CARD, (0,))
    alone.see(-1, game.FAILS, (0, 1, 0))
    # with one evil other: own fail and no other: 0.75 (1 - 0.2) / 2 of 0.75 (0.8 / 2 + 0.2) = 2/3; with none: 1; before: 2 of 6
    assert alone.evil_chance()[1] == pytest.approx((2 / 6 * 2 / 3) / (2 / 6 * 2 / 3 + 4 / 6), abs=2e-3)


def test_own_moves_tell_a_seat_nothing():
    habits = conduct({kind: {"always": 3} for kind in VOTERS}, {kind: {"self": 2} for kind in LEADERS})
    knows = (Knowledge(("Morgana", "Mordred"), (1,)),)
    seen = []
    for vote in (0, 1):
        belief = begun(SIX, habits, 0, "Morgana", knows)
        belief.see(0, game.TEAM, (0, 3))
        belief.see(-1, game.VOTES, (1, vote, 1, 1, 0, 0, 1))
        seen.append(belief.weights)
    assert seen[0] == pytest.approx(seen[1])


def test_a_copy_goes_its_own_way():
    belief, fresh = (begun(FIVE, conduct({"good": {"doubt": -2.0, "evil two": 1.0}})) for _ in range(2))
    other = belief.copied()
    for event in ((0, game.TEAM, (0, 1)), (-1, game.FAILS, (0, 1, 0)), (-1, game.SCORE, (0, 2))):
        other.see(*event)
    for event in ((-1, game.LEADS, (1, 1, 2, 0, 1)), (1, game.TEAM, (1, 2)), (-1, game.VOTES, (1, 1, 1, 0, 0, 1))):
        for tracker in (belief, fresh, other):
            tracker.see(*event)
    assert belief.log_weights.tobytes() == fresh.log_weights.tobytes() != other.log_weights.tobytes()


def test_weights_scale_each_kind_of_evidence():
    votes = {"evil, dirty": {"always": 2}}
    beliefs = []
    for weights in (Weights(1, 0, 1), Weights(0, 0, 1), Weights(0.5, 0, 1)):
        belief = begun(FIVE, conduct(votes, weights=weights))
        belief.see(0, game.TEAM, (0, 1))
        belief.see(-1, game.VOTES, (1, 1, 1, 1, 0, 0))
        beliefs.append(belief.log_weights)
    assert beliefs[1] == pytest.approx(np.zeros(len(beliefs[1])))
    assert beliefs[2] == pytest.approx(beliefs[0] / 2)


# -- the file ----------------------------------------------------------------------------------------------------

HABITS = conduct({"good": {"always": 1.25}}, {"evil": {"self": 0.5}}, {"pair": -1.0}, 0.75, Weights(0.5, 0.25, 1.5))


def test_a_file_reads_back_as_it_was_written(tmp_path):
    path = tmp_path / "habits.json"
    path.write_text(json.dumps(PeopleHabitsFile({5: HABITS, 6: PeopleHabits()}, {"games": 94}).as_json()))
    habits = read_people_habits(path)
    assert habits.of(5) == HABITS
    assert habits.of(6) == PeopleHabits()
    assert habits.notes == {"games": 94}
    with pytest.raises(ParlourError, match=r"7 players are not in the file; accepted: 5, 6 players"):
        habits.of(7)


def test_the_core_says_what_it_does_not_read(tmp_path):
    path = tmp_path / "habits.json"
    path.write_text(json.dumps(PeopleHabitsFile({5: HABITS}).as_json()))
    with pytest.raises(ParlourError, match="habits 'conduct' is not accepted; accepted: evidence"):
        read_habits(path)


WHOLE = json.dumps(PeopleHabitsFile({5: HABITS}).as_json())


@pytest.mark.parametrize(
    "text",
    [
        *(WHOLE.replace("1.25", value) for value in ("1e400", "true", '"2"', "null", "99")),
        *("", "[]", "{}", '{"parlour_habits": 1, "game": "werewolf_v0"}', '{"parlour_habits": 1, "game": "avalon_v0"}'),
    ],
)
def test_what_is_no_file_of_habits_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "habits.json"
    path.write_text(text)
    with pytest.raises(ParlourError, match=r"^[^\n]*habits\.json[^\n]*$"):
        read_people_habits(path)
