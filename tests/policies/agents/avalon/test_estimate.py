"""The numbers behind the heuristics of the Avalon agents: Bayes from lines, counting from lines, habits from games."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from parlour.envs import registry
from parlour.envs.avalon.belief import AvalonHabits
from parlour.envs.core import NATURE, OVER, Knowledge
from parlour.envs.language.english import name, names
from parlour.policies.agents.avalon import estimate, notes
from parlour.policies.agents.avalon.estimate import (
    careful,
    count_habits,
    habits_in,
    put_tally,
    superficial,
    tally_in,
)
from parlour.policies.agents.avalon.seat import Seat
from parlour.policies.heuristic.avalon import AvalonPlayer

TABLES = [
    {"num_players": 5, "rules": "paper"},
    {"num_players": 6, "rules": "reference"},
    {"num_players": 7, "rules": "official"},
    {
        "num_players": 7,
        "rules": "paper",
        "roles": ["Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Assassin", "Mordred", "Oberon"],
    },
]
OTHER_HABITS = AvalonHabits(fail=0.5, approve_blind=0.7, accuse_evil=0.8)
FIVE = ("Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin")


def seat_of(view) -> Seat:
    return Seat(view.seat, view.role, view.roles, view.knows)


def lines_of(view) -> list[str]:
    names = tuple(dict.fromkeys(view.roles))
    return [line for event in view.events if (line := notes.write(event, names))]


@pytest.mark.parametrize("options", TABLES, ids=lambda o: f"{o['num_players']}-{o['rules']}-{len(o)}")
@pytest.mark.parametrize("habits", [AvalonHabits(), OTHER_HABITS], ids=["supposed", "other"])
def test_careful_is_what_the_heuristic_player_believes(options, habits, playout):
    """At every turn, for the seat itself and for an onlooker; both fold the same belief, one over events."""
    game = registry["avalon_v0"].raw_env(**options).game
    compared = onlookers = 0
    for seed in range(3):
        states = playout(game, seed).states
        players = {}
        for state in states[1:]:
            if game.actor(state) in (NATURE, OVER):
                continue
            view = game.view(state, game.actor(state))
            player = players.setdefault(view.seat, AvalonPlayer(view, np.random.default_rng(0), habits))
            player.read(view)
            estimate = careful(seat_of(view), lines_of(view), habits)
            assert estimate.evil == pytest.approx(player.belief.evil_chance(), abs=1e-12)
            assert estimate.merlin == pytest.approx(player.belief.merlin_chance(), abs=1e-12)
            compared += 1
            if player.onlooker is not None:
                public = [line for line in lines_of(view) if " (you) played " not in line]
                for lines in (public, lines_of(view)):
                    seen = careful(Seat(-1, "", view.roles, ()), lines, habits)
                    assert seen.evil == pytest.approx(player.onlooker.evil_chance(), abs=1e-12)
                onlookers += 1
    assert compared > 100
    assert onlookers > 40


GARBAGE = [
    "",
    "The first quest went badly.",
    'player_1 claims to be Merlin: "Quest 1 fails. Fail cards: 1."',
    "player_9 accuses player_1",
    "player_1 accuses player_9",
    "player_9 proposes the team player_1.",
    "player_1 proposes the team player_1, player_9.",
    "player_9 defends player_0",
    "The team is accepted. Approve: player_1. Reject: player_2.",
    "player_3 (you) played fail.",
    "player_9, the Assassin, guesses that player_1 is Merlin. The guess is right.",
    "player_1, the Assassin, guesses that player_9 is Merlin. The guess is right.",
    "Drawn by lot to go instead: player_9.",
    "player_1 proposes the team player_1, player_1, player_1, player_1, player_1, player_1.",
    f"player_{'9' * 5000} accuses player_1",
]
HONEST = [
    "player_0 proposes the team player_0, player_4.",
    "Quest 1 fails. Fail cards: 1.",
    "player_2 accuses player_3",
]


@pytest.mark.parametrize("garbage", GARBAGE, ids=lambda line: line[:50])
@pytest.mark.parametrize("place", [0, 1, 3])
def test_lines_that_do_not_fit_the_table_are_passed_over(garbage, place):
    """As a language model may write them into a summary."""
    seat = Seat(0, "Loyal Servant", FIVE, ())
    lines = [*HONEST[:place], garbage, *HONEST[place:]]
    assert careful(seat, lines, AvalonHabits()) == careful(seat, HONEST, AvalonHabits())
    assert superficial(seat, lines) == superficial(seat, HONEST)


@st.composite
def forms(draw) -> str:
    """A line in the form of a record, about anybody and anything."""
    who = st.lists(st.integers(0, 6), max_size=8).map(names)
    player, count = st.integers(0, 6).map(name), st.integers(0, 9)
    return draw(
        st.one_of(
            st.tuples(player, st.sampled_from(["accuses", "defends", "recommends"]), player).map(" ".join),
            st.tuples(player, who).map(lambda t: f"{t[0]} proposes the team {t[1]}."),
            st.tuples(who, who).map(lambda t: f"The team is accepted. Approve: {t[0]}. Reject: {t[1]}."),
            who.map(lambda t: f"Drawn by lot to go instead: {t}."),
            player.map(lambda t: f"{t} (you) played fail."),
            st.tuples(count, count).map(lambda t: f"Quest {t[0]} fails. Fail cards: {t[1]}."),
            st.tuples(player, player).map(lambda t: f"{t[0]} is the Assassin and names {t[1]} as Merlin: wrong."),
        )
    )


@given(lines=st.lists(forms(), max_size=12))
def test_whatever_the_lines_say_chances_come_out(lines):
    for seat in (Seat(0, "Loyal Servant", FIVE, ()), Seat(-1, "", FIVE, ())):
        chances = careful(seat, lines, AvalonHabits())
        assert sum(chances.evil) == pytest.approx(2)
        assert sum(chances.merlin) == pytest.approx(1)
        counted = superficial(seat, lines)
        assert all(0 <= chance <= 1 for chance in (*chances.evil, *counted.evil, *counted.merlin))
    assert set(count_habits(lines, FIVE)) <= set(estimate._PHRASES)


# -- habits ----------------------------------------------------------------------------------------------------

counts = st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(tally=st.dictionaries(st.sampled_from(list(estimate._PHRASES)), counts))
def test_counts_survive_being_put_into_words(tally):
    assert tally_in(put_tally(tally)) == tally
    assert tally_in("Roles differ. " + put_tally(tally)) == tally
    assert estimate.add_tallies(tally, {}) == tally
    doubled = estimate.add_tallies(tally, tally)
    assert tally_in(put_tally(doubled)) == {field: (2 * k, 2 * n) for field, (k, n) in tally.items()}


def test_a_habit_is_the_mean_of_supposition_and_count():
    # supposed 0.8, weighs 20 cases: (16 + 3) / (20 + 4); supposed 0.55: (11 + 30) / (20 + 30)
    learned = habits_in("Evil players play fail 3 of 4; Players who know nobody approve 30 of 30 times.")
    assert learned.fail == pytest.approx(19 / 24)
    assert learned.approve_blind == pytest.approx(41 / 50)
    assert learned.accuse_evil == AvalonHabits().accuse_evil
    assert habits_in("") == habits_in("Nobody knows.") == AvalonHabits()
    assert habits_in("Evil players play fail 5 of 4 times.") == AvalonHabits()  # cannot be


def test_habits_counted_in_a_small_game():
    roles = ["Merlin", "Percival", "Loyal Servant", "Morgana", "Assassin"]
    lines = [
        "player_3 accuses player_1",  # evil accuses good
        "player_4 accuses player_3",  # evil accuses evil
        "player_2 accuses player_4",  # good accuses evil
        "player_0 accuses player_0",  # of oneself: not counted
        "player_3 recommends player_3",  # oneself: not counted
        "player_3 defends player_4",  # evil supports evil
        "player_1 recommends player_2",  # good supports good
        "player_0 proposes the team player_0, player_1.",  # Merlin leads a clean team
        "The team is accepted. Approve: player_0, player_1, player_4. Reject: player_2, player_3.",
        # clean: Merlin yes; blind player_1 yes, player_2 no; evil player_3 no, player_4 yes
        "Quest 1 succeeds. Fail cards: 0.",  # nobody who could fail
        "player_3 proposes the team player_2, player_3, player_4.",  # evil leads a dirty team
        "The team is accepted. Approve: player_1, player_3, player_4. Reject: player_0, player_2.",
        # dirty: Merlin no; blind yes, no; evil yes, yes
        "Quest 2 fails. Fail cards: 1.",  # one of two
        "player_4 proposes the team player_0.",  # evil leads a clean team, a short one
        "Drawn by lot to go instead: player_0, player_3.",
        "Quest 3 fails. Fail cards: 1.",  # one of one
        "player_2 proposes the team player_0, player_4.",  # neither evil nor Merlin: not counted
        "Quest 4 fails. Fail cards: 2.",  # one of them by the good player, as some rules allow
        "Something else.",
    ]
    assert count_habits(lines, roles) == {
        "fail": (3, 4),
        "evil_on_own_team": (1, 2),
        "approve_dirty_evil": (2, 2),
        "approve_clean_evil": (1, 2),
        "evil_accuses_evil": (1, 2),
        "evil_defends_evil": (1, 1),
        "clean_team_merlin": (1, 1),
        "approve_dirty_merlin": (0, 1),
        "approve_clean_merlin": (1, 1),
        "approve_blind": (2, 4),
        "accuse_evil": (1, 1),
        "defend_evil": (0, 1),
    }


# -- counting --------------------------------------------------------------------------------------------------


def test_what_the_night_showed_is_sure():
    bad = Knowledge(("Morgana", "Assassin"), (3, 4))
    lines = ["player_3 proposes the team player_1, player_2.", "Quest 1 fails. Fail cards: 2."]
    assert superficial(Seat(0, "Merlin", FIVE, (bad,)), lines).evil == (0, 0.05, 0.05, 1, 1)
    assert superficial(Seat(0, "Merlin", FIVE, (bad,)), lines).merlin[3:] == (0, 0)
    percival = superficial(Seat(1, "Percival", FIVE, (Knowledge(("Merlin", "Morgana"), (0, 3)),)), lines)
    assert (percival.evil[0], percival.evil[1], percival.evil[3]) == (0.5, 0, 0.5)
    assert percival.merlin[0] == percival.merlin[3] >= percival.merlin[2]
    assassin = superficial(Seat(4, "Assassin", FIVE, (Knowledge(("Morgana", "Assassin"), (3,)),)), lines)
    assert assassin.evil == (0.05, 0.05, 0.05, 1, 1)
    assert assassin.merlin[3] == assassin.merlin[4] == 0
    oberon = superficial(Seat(4, "Oberon", (*FIVE[:4], "Oberon"), ()), lines)
    assert oberon.evil[4] == 1
    assert oberon.evil[1] == 0.95
