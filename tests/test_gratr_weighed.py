"""`gratr:doubt=...`: all evidence of the graph weighed together by a reader that knows how often it errs."""

from __future__ import annotations

import pytest
from parlour.policies.agents.werewolf.gratr.evidence import WeighedEvidence


def evidence_of(*acts, doubt=0.0):
    evidence = WeighedEvidence(doubt)
    for kind, source, target in acts:
        evidence.act(kind, source, target)
    return evidence


def trust(evidence, known=None, players=8, wolves=3):
    return evidence.trust(players, 0, wolves, known or {})


def test_before_anything_is_said_all_others_are_alike():
    # three werewolves among seven others: 1 - 2 * 3/7
    assert trust(evidence_of()) == pytest.approx([1.0] + [1 / 7] * 7, abs=1e-6)


def test_what_is_known_stands_and_counts_for_the_others():
    # two of three werewolves known, one of the village: one among the four others
    trusts = trust(evidence_of(), {1: True, 2: True, 3: False})
    assert trusts == pytest.approx([1, -1, -1, 1, 0.5, 0.5, 0.5, 0.5], abs=1e-6)
    assert trust(evidence_of(), {1: True, 2: True, 3: True})[4:] == [1.0] * 4


def test_of_a_check_one_of_the_two_is_a_werewolf_and_a_counter_claim_makes_them_alike():
    once = trust(evidence_of(("evil", 1, 2)))
    assert sum((1 - once[seat]) / 2 for seat in (1, 2)) == pytest.approx(1, abs=0.05)
    both = trust(evidence_of(("evil", 1, 2), ("evil", 2, 1)))
    assert both[1:3] == pytest.approx([0, 0], abs=0.01)


def test_no_single_accuser_settles_a_belief_however_often_he_repeats_it():
    often = [trust(evidence_of(*[("accuse", 1, 2)] * times), {1: False})[2] for times in (1, 2, 30, 1000)]
    # each further time counts half of the one before: all together as much as two statements
    assert often[0] > often[1] > often[2] == pytest.approx(often[3])
    assert often[3] > -0.7
    others = trust(evidence_of(*[("accuse", seat, 2) for seat in (1, 3, 4, 5)]), dict.fromkeys((1, 3, 4, 5), False))
    assert others[2] < often[3]


@pytest.mark.parametrize("kind", ["accuse", "evil", "good"])
def test_the_more_readings_err_the_less_words_move(kind):
    # said by one of the village: without it three of six others are werewolves, a trust of 0
    moved = [abs(trust(evidence_of((kind, 1, 2), doubt=doubt), {1: False})[2]) for doubt in (0.0, 0.2, 0.5)]
    assert moved[0] > moved[1] > moved[2]


def test_where_readings_err_a_defence_may_have_been_an_accusation():
    # the village accuses in 55 of 100 statements and defends in 12: of ten heard defences many are accusations misheard
    plain, doubted = (trust(evidence_of(("defend", 1, 2), doubt=doubt), {1: False})[2] for doubt in (0.0, 0.5))
    assert plain > 0 > doubted


def test_votes_are_seen_and_not_read():
    assert trust(evidence_of(("vote", 1, 2), doubt=0.0)) == trust(evidence_of(("vote", 1, 2), doubt=0.5))


def test_a_death_by_night_and_a_claim_speak_for_a_player():
    evidence = evidence_of()
    evidence.die(2)
    assert trust(evidence)[2] > 0.8
    evidence = evidence_of()
    evidence.claim(3)
    assert trust(evidence)[3] > 0.5


def test_what_is_done_to_the_observer_tells_of_the_doer():
    # a vote for one who is known to be of the village: the village hits a werewolf more often than chance, a werewolf hardly
    assert trust(evidence_of(("vote", 1, 0)))[1] < 1 / 7


def test_the_sum_of_chances_is_the_number_of_werewolves():
    trusts = trust(evidence_of(("accuse", 1, 2), ("evil", 3, 4), ("defend", 5, 1), ("vote", 6, 7)), {7: True})
    assert sum((1 - value) / 2 for value in trusts) == pytest.approx(3, abs=1e-4)
