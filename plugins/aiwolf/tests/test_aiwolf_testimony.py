"""What claims come to for a seat of fifteen, in numbers; roles are in the order of the table: 4 is the seer, 5 the medium."""

from __future__ import annotations

import pytest
from parlour.envs.core import Move
from parlour.envs.language.speech import ACCUSE, CLAIM_ROLE, RECOMMEND, REPORT
from parlour.envs.werewolf.vocabulary import CHECKS, KILL
from parlour_aiwolf import GAME
from parlour_aiwolf.testimony import TESTIMONY
from test_aiwolf_rules import DONE, Village

POSSESSED, SEER, MEDIUM, BODYGUARD, VILLAGER = 3, 4, 5, 6, 7


def said(course, lines):
    """A turn of talk: these seats speak, all others are over."""
    return course.do(*(lines.get(seat, DONE) for seat in range(15)))


def comes_out(course, **claims):
    return said(course, {seat: Move(CLAIM_ROLE, (role_number(course, role),)) for role, seat in claims.items()})


def role_number(course, role):
    return course.game.role_names.index(role)


def shown(course, seat, column):
    """A column as a seat sees it, by the seat that it is about; zeros are left out."""
    encoder = GAME.encoder(course.game).of_seat("summary")
    numbers = dict(zip(encoder.names, encoder(course.game.view(course.state, seat)), strict=True))
    values = {(seat + j) % 15: float(numbers[f"seat +{j}: {column}"]) for j in range(15)}
    return {about: pytest.approx(number) for about, number in values.items() if number}


def at_talk(aim=9):
    """The first day: the seer has divined a player in night 0."""
    return Village(15).until(CHECKS).do(Move(CHECKS, (aim,))).until(ACCUSE)


def test_reports_of_two_who_claim_to_be_the_seer_count_half():
    course = comes_out(at_talk(), Seer=4)
    said(course, {3: Move(CLAIM_ROLE, (role_number(course, "Seer"),))})
    said(course, {3: Move(REPORT, (8, 1)), 4: Move(REPORT, (9, 0))})
    assert shown(course, VILLAGER, TESTIMONY[0]) == {8: 0.5, 9: -0.5}


def test_who_reports_me_as_a_werewolf_is_refuted_to_me_alone():
    course = said(at_talk(), {3: Move(REPORT, (8, 1))})
    assert shown(course, 8, "refuted") == {3: 1}
    assert shown(course, 8, TESTIMONY[0]) == {}  # its report does not count
    assert shown(course, 7, "refuted") == {}
    assert shown(course, 7, TESTIMONY[0]) == {8: 1}  # the only one who claims to be the seer, by reporting


def test_a_lone_medium_refutes_who_reported_otherwise_and_a_rival_takes_that_away():
    course = comes_out(at_talk(), Seer=0, Medium=5)
    said(course, {0: Move(REPORT, (9, 0)), 5: Move(REPORT, (9, 1))})
    assert shown(course, 14, "refuted") == {0: 1}
    assert shown(course, 14, TESTIMONY[0]) == {9: 1}
    comes_out(course, Medium=1)
    assert shown(course, 14, "refuted") == {}


def test_the_seer_refutes_by_its_results_and_whoever_claims_its_role():
    course = said(at_talk(aim=9), {2: Move(REPORT, (9, 1)), 3: Move(CLAIM_ROLE, (2,))})
    assert course.game.role_names[2] == "Seer"
    assert shown(course, SEER, "refuted") == {2: 1, 3: 1}  # seat 9 was found to be no werewolf


def test_werewolves_know_who_clears_a_fellow():
    course = said(at_talk(), {3: Move(REPORT, (1, 0))})
    assert shown(course, 0, "refuted") == {3: 1}
    assert shown(course, VILLAGER, "refuted") == {}


def test_latest_accusations_of_the_living_others_count_by_the_most_accused_living_seat():
    course = said(
        at_talk(), {7: Move(ACCUSE, (1,)), 8: Move(ACCUSE, (1,)), 9: Move(ACCUSE, (1,)), 10: Move(ACCUSE, (2,))}
    )
    assert shown(course, 11, "accused now") == {1: 1, 2: 1 / 3}
    assert shown(course, 10, "accused now") == {1: 1}
    assert shown(course, 10, "I accuse it") == {2: 1}
    said(course, {7: Move(ACCUSE, (2,))})
    assert shown(course, 11, "accused now") == {1: 1, 2: 1}


def test_own_reports_are_kept_by_their_verdict():
    course = said(at_talk(), {4: Move(REPORT, (9, 0))})
    said(course, {4: Move(REPORT, (2, 1))})
    assert shown(course, 4, "I reported it") == {9: -1, 2: 1}
    assert shown(course, 5, "I reported it") == {}


def test_who_alone_claims_a_role_of_which_there_is_one():
    course = comes_out(at_talk(), Seer=4, Medium=5, Villager=7)
    assert shown(course, 14, "alone claims its role") == {4: 1, 5: 1}
    comes_out(course, Seer=3)
    assert shown(course, 14, "alone claims its role") == {5: 1}


def test_victims_are_named_among_the_werewolves_the_latest_counts_most():
    course = Village(15).until(RECOMMEND).do(Move(RECOMMEND, (7,)), Move(RECOMMEND, (9,)), DONE)
    assert shown(course, 0, "named as the victim") == {7: 0.5, 9: 1}
    assert shown(course, 7, "named as the victim") == {}
    course.until(KILL)
    assert shown(course, 2, "named as the victim") == {7: 0.5, 9: 1}


def test_tables_without_a_medium_have_none_of_it():
    course = Village(5)
    assert not any(
        column in name for name in GAME.encoder(course.game).of_seat("summary").names for column in TESTIMONY
    )
