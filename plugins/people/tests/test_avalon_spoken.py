"""Words as evidence (`habits/spoken.py`): what beliefs make of them, whom they come from, and how the habits are learned.

The chances expected here are worked out from the definitions alone, deal by deal, with the terms as `spoken.py` states them.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.deals import Key
from parlour.envs.avalon.habits import LEADERS
from parlour.envs.avalon.public import Public
from parlour.envs.core import Event, Knowledge, Move, ParlourError
from parlour.envs.language.speech import ACCUSE, SILENT
from parlour_people.habits import avalon as fitting, spoken
from parlour_people.habits.avalon import PublicGame
from parlour_people.habits.model import (
    CLAIM_TERMS,
    STANCES,
    ClaimHabits,
    PeopleHabits,
    PeopleHabitsFile,
    read_people_habits,
)
from parlour_people.multi_round import GAME as MULTI_ROUND
from parlour_people.multi_round.rules import CONSULT
from test_conduct import FIVE, SEVEN, begun, conduct, posterior
from test_multi_round import with_consultation

SAID = "I trust player_0. player_2 is evil."
"""Of player_1: defends 0, accuses 2, says nothing of the others."""


INDIFFERENT = conduct().conduct
"""Votes and teams that tell nothing."""


def claimed(weight=1.0, **by_kind):
    """Habits by kind of speaker, stance and term; what is not given is zero."""
    stances = tuple(
        tuple(tuple(by_kind.get(kind, {}).get(stance, {}).get(term, 0.0) for term in CLAIM_TERMS) for stance in STANCES)
        for kind in LEADERS
    )
    return PeopleHabits(conduct=INDIFFERENT, words=ClaimHabits(stances, weight))


HABITS = claimed(
    Merlin={"defend": {"evil": -3.0}, "accuse": {"evil": 2.0}},
    evil={"defend": {"evil": 1.0}, "accuse": {"always": 0.5, "evil": -1.0}},
    good={"accuse": {"evil": 0.25, "self": 5.0}},
)


def softmax(odds, chosen):
    return math.exp(odds[chosen]) / sum(map(math.exp, odds))


def kind(role):
    return {"Merlin": "Merlin", "Oberon": "Oberon"}.get(role, "evil" if role in game.EVIL_ROLES else "good")


def chance_of_said(deal):
    """Of SAID by player_1 under HABITS, before any quest: the terms that are not 0 are always, self and evil."""
    speaker = kind(deal[1])
    hidden = {"Merlin": "Mordred", "evil": "Oberon"}.get(speaker)
    product = 1.0
    for seat, stance in enumerate((2, 0, 3, *[0] * (len(deal) - 3))):
        evil = deal[seat] in game.EVIL_ROLES and deal[seat] != hidden and seat != 1
        odds = {
            "Merlin": (0, 0, -3.0 * evil, 2.0 * evil),
            "evil": (0, 0, 1.0 * evil, 0.5 * (seat != 1) - 1.0 * evil),
            "good": (0, 0, 0, 5.0 if seat == 1 else 0.25 * evil),
            "Oberon": (0, 0, 0, 0),
        }[speaker]
        product *= softmax(odds, stance)
    return product


@pytest.mark.parametrize("roles", [FIVE, SEVEN])
def test_words_count_by_kind_of_speaker_and_by_what_it_knows(roles):
    belief = begun(roles, HABITS)
    belief.see(1, SILENT, (), SAID)
    assert belief.evil_chance() == pytest.approx(posterior(roles, chance_of_said))
    assert belief.merlin_chance() == pytest.approx(posterior(roles, chance_of_said, {"Merlin"}))


def test_the_weight_multiplies_the_log_likelihood():
    once, half = (begun(FIVE, claimed(w, Merlin={"accuse": {"evil": 2.0}})) for w in (1.0, 0.5))
    for belief in (once, half):
        belief.see(1, SILENT, (), SAID)
    assert half.log_weights == pytest.approx(once.log_weights / 2)


def test_a_seats_own_words_tell_it_nothing_but_are_heard():
    knows = (Knowledge(("Assassin", "Minion"), (3, 4)),)
    belief = begun(FIVE, HABITS, 0, "Merlin", knows)
    before = belief.weights.copy()
    belief.see(0, SILENT, (), "player_3 is evil.")
    assert (belief.weights == before).all()
    assert belief._learned.stance_counts.statements == 1


@pytest.mark.parametrize("kind", [game.BALLOT, CONSULT, game.GUESS])
def test_words_that_not_all_hear_are_not_read(kind):
    belief = begun(FIVE, HABITS)
    before = belief.weights.copy()
    belief.see(1, kind, (1,), SAID)
    assert (belief.weights == before).all()


def test_the_claim_that_the_table_read_does_not_count_beside_the_words():
    free, taken = begun(FIVE, HABITS), begun(FIVE, HABITS)
    free.see(1, SILENT, (), SAID)
    taken.see(1, ACCUSE, (2,), SAID)
    assert (free.weights == taken.weights).all()


def test_a_leaders_reasons_count_beside_its_team():
    informed, untold = begun(FIVE, HABITS), begun(FIVE, HABITS)
    informed.see(1, game.TEAM, (0, 1), SAID)
    untold.see(1, game.TEAM, (0, 1))
    assert not np.allclose(informed.weights, untold.weights)


def test_what_was_heard_is_that_of_this_quest():
    habits = claimed(good={"accuse": {"against": 4.0}})
    again, fresh = begun(FIVE, habits), begun(FIVE, habits)
    for belief in (again, fresh):
        belief.see(1, SILENT, (), SAID)
    fresh.see(-1, game.LEADS, (1, 1, 3, 0, 1))  # the next quest: player_2 has not been accused in it
    before = [belief.log_weights.copy() for belief in (again, fresh)]
    for belief in (again, fresh):
        belief.see(3, SILENT, (), "player_2 is evil.")
    # a good player_3 who has heard player_2 accused by all: 4 + 0 of the others; else 0
    good = np.array([again.evil[k, 3] + again.merlin[k, 3] == 0 for k in range(len(again.evil))])
    gain = [belief.log_weights[good][0] - start[good][0] for belief, start in zip((again, fresh), before, strict=True)]
    assert gain[0] == pytest.approx(math.log(math.exp(4) / (3 + math.exp(4))) + 4 * math.log(1 / 4))
    assert gain[1] == pytest.approx(5 * math.log(1 / 4))


def test_doubt_is_what_the_cards_tell_a_good_speaker():
    public = Public(Key(FIVE, -1, "", (), ()).sides()[0])
    statements = spoken.Heard(5)
    doubt = CLAIM_TERMS.index("doubt")
    assert spoken.claim_terms(public, statements, 0, reason=False)[:, doubt] == pytest.approx(np.zeros(5))
    public.see_cards((0, 1), 1)  # one fail of 0 and 1: to a good player_0 it was player_1
    terms = spoken.claim_terms(public, statements, 0, reason=False)[:, doubt]
    assert terms[1] == pytest.approx(math.log(0.98 / 0.02) - math.log(0.5 / 0.5))  # before: 2 evil of 4 others
    assert terms[0] == 0.0
    assert (terms[2:] < 0).all()


def test_copies_hear_for_themselves():
    belief = begun(FIVE, HABITS)
    other = belief.copied()
    other.see(1, SILENT, (), SAID)
    assert belief._learned.stance_counts.statements == 0
    assert np.ptp(belief.weights) == 0.0


@pytest.mark.parametrize(
    ("words", "stances"),
    [
        ("I want player_0 and player_2.", (1, 0, 1, 0, 0)),
        ("I trust player_0 and want player_0.", (2, 0, 0, 0, 0)),
        ("I'd like player_0 here. player_0 is evil.", (3, 0, 0, 0, 0)),  # accusation first
        ("I'd like player_0. There is one evil in player_0/player_2.", (1, 0, 3, 0, 0)),  # of one of them counts half
        ("Hello.", (0, 0, 0, 0, 0)),
    ],
)
def test_a_statement_has_one_stance_to_each_seat(words, stances):
    assert spoken.stances(words, 1, 5) == stances


@pytest.mark.parametrize(
    "spoil", [lambda w: w.pop("weight"), lambda w: w["Merlin"].pop("accuse"), lambda w: w.update(weight="1")]
)
def test_a_file_with_half_its_words_is_refused_in_one_line(tmp_path, spoil):
    file = PeopleHabitsFile({5: HABITS, 6: PeopleHabits(conduct=INDIFFERENT)})
    data = file.as_json()
    (tmp_path / "h.json").write_text(json.dumps(data), "utf-8")
    assert read_people_habits(tmp_path / "h.json") == file
    spoil(data["players"]["5"]["words"])
    (tmp_path / "h.json").write_text(json.dumps(data), "utf-8")
    with pytest.raises(ParlourError, match="cannot be used") as caught:
        read_people_habits(tmp_path / "h.json")
    assert "\n" not in str(caught.value)


def talk(rng, roles):
    """A game of talk alone: Merlin accuses evil seats and no others, everybody else accuses anybody."""
    events = [Event(-1, Move(game.LEADS, (0, 0, 2, 0, 1)), None)]
    for seat, role in enumerate(roles):
        others = [j for j in range(5) if j != seat and (role != "Merlin" or roles[j] in game.EVIL_ROLES)]
        events.append(Event(seat, Move(SILENT, (), f"player_{rng.choice(others)} is evil."), None))
    return PublicGame("", tuple(roles), tuple(events))


def test_what_merlin_does_is_learned_from_what_merlins_said():
    rng = np.random.default_rng(0)
    games = [talk(rng, [FIVE[k] for k in rng.permutation(5)]) for _ in range(200)]
    habits = fitting.fit_words(fitting.statements_of(games))[5]
    accuse, evil = STANCES.index("accuse"), CLAIM_TERMS.index("evil")
    learned = dict(zip(LEADERS, (stances[accuse][evil] for stances in habits.stances), strict=True))
    assert learned["Merlin"] > 2.5  # one of two evil seats each time, no good one ever
    assert abs(learned["good"]) < 0.8
    # so the one who accuses both evil seats is taken for Merlin
    belief = AvalonBelief(FIVE, -1, "", (), PeopleHabits(conduct=INDIFFERENT, words=habits))
    belief.see(-1, game.LEADS, (0, 0, 2, 0, 1))
    before = belief.merlin_chance()[0]
    belief.see(0, SILENT, (), "player_3 is evil.")
    assert belief.evil_chance()[3] > 0.4
    assert before == pytest.approx(0.2)


@pytest.mark.parametrize(("kinds", "evidence"), [(("vote", "consult", "guess"), False), (("propose",), True)])
def test_words_with_votes_in_the_consultation_and_with_the_guess_are_no_evidence(kinds, evidence):
    """Habits that know words hear what is said to all: a team's reason counts, comments do not."""
    game, ends = MULTI_ROUND.build(MULTI_ROUND.options(num_players=5)), []
    for words in ("", SAID):
        state, beliefs = game.initial(), list[float]()
        for move in with_consultation(game):
            state = game.apply(state, move._replace(words=words if move.kind in kinds else ""))
        for seat in range(5):
            view = game.view(state, seat)
            for belief in (
                AvalonBelief(view.roles, seat, view.role, view.knows, HABITS),
                AvalonBelief(view.roles, -1, "", (), HABITS),
            ):
                for event in view.events:
                    belief.see(event.seat, *event.move)
                beliefs += [*belief.evil_chance(), *belief.merlin_chance()]
        ends.append(beliefs)
    assert (ends[0] != ends[1]) == evidence
