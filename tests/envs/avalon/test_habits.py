"""Habits of Avalon: what all have seen (`public.py`), fixed rates and learned evidence, and the file it comes in (`habits.py`)."""

from __future__ import annotations

import itertools
import json

import pytest
from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.belief import AvalonBelief
from parlour.envs.avalon.deals import Key, deals, merged
from parlour.envs.avalon.habits import AvalonHabits, HabitsFile, LearnedHabits, read_habits
from parlour.envs.avalon.public import Public
from parlour.envs.core import ParlourError

from tests.envs.avalon.evidence import drawn_evidence

FIVE = ("Merlin", "Loyal Servant", "Loyal Servant", "Assassin", "Minion")
SIX = ("Merlin", "Percival", "Loyal Servant", "Loyal Servant", "Morgana", "Mordred")


def test_a_seat_that_is_good_doubts_those_who_failed_with_it():
    public = Public(Key(FIVE, -1, "", ()).sides()[0])
    public.see_cards((0, 1), 1)
    doubts = public.doubts(Key(FIVE, -1, "", ()).clean(2))
    team = {pair: k for k, pair in enumerate(itertools.combinations(range(5), 2))}
    assert doubts[0, team[0, 1]] == pytest.approx(1, abs=1e-4)  # seat 0, if good, knows that seat 1 failed
    # seat 2 cannot tell 0 from 1. If both are evil one fails with 2 (0.8) (0.2) = 0.32, of one with another (3 or 4) 0.8. Of these
    # 0.32 + 4 (0.8) = 3.52 a team of 0 and 2 is clean in 1.6, one of 2 and 3 in 0.32 + 1.6 = 1.92, the best: 1 - 1.6 / 1.92
    assert doubts[2, team[0, 2]] == pytest.approx(1 / 6, abs=1e-5)
    assert doubts[2, team[2, 3]] == pytest.approx(0)


def test_terms_of_the_stage_follow_the_announcements():
    public = Public(Key(FIVE, -1, "", ()).sides()[0])
    public.lead(0)
    assert public.stage() == (0, 0, 0, 0, 0)
    public.propose((0, 1))
    public.lead(0)
    assert public.stage() == (0, 0, 1, 0, 0)
    assert public.again == (0, 1)
    assert public.kept == ()
    public.propose((1, 2))
    public.score(1, 0)
    public.lead(1)
    assert public.stage() == (1, 0, 0, 0, 0)
    assert public.again == ()
    assert public.kept == (1, 2)
    public.score(2, 0)
    public.lead(2)
    assert public.stage() == (0, 1, 0, 0, 1)


def test_mordred_is_told_apart_only_where_it_is_asked_for():
    assert merged(SIX, ())["Mordred"] == "Morgana"
    assert merged(SIX, (), ("Mordred",))["Mordred"] == "Mordred"
    # 6 seats: Merlin 6 x evil sides of the other five 10 = 60; who of the two is Mordred doubles them
    assert len(deals(SIX, -1, "", ())[1]) == 60
    assert len(deals(SIX, -1, "", (), ("Mordred",))[1]) == 120


def test_habits_without_evidence_are_the_fixed_rates():
    beliefs = [AvalonBelief(SIX, -1, "", (), habits) for habits in (AvalonHabits(), LearnedHabits())]
    for belief in beliefs:
        belief.see(-1, game.LEADS, (0, 0, 2, 0, 1))
        belief.see(0, game.TEAM, (0, 1))
        belief.see(-1, game.VOTES, (1, 1, 1, 0, 1, 0, 1))
        belief.see(-1, game.FAILS, (0, 1, 0))
    assert beliefs[0].log_weights.tobytes() == beliefs[1].log_weights.tobytes()


# -- the file ----------------------------------------------------------------------------------------------------

HABITS = drawn_evidence(0)


def test_a_file_reads_back_as_it_was_written(tmp_path):
    path = tmp_path / "habits.json"
    path.write_text(json.dumps(HabitsFile({5: HABITS, 6: LearnedHabits()}, {"games": 94}).as_json()))
    habits = read_habits(path)
    assert habits.of(5) == HABITS
    assert habits.of(6) == LearnedHabits()
    assert habits.notes == {"games": 94}
    with pytest.raises(ParlourError, match=r"7 players are not in the file; accepted: 5, 6 players"):
        habits.of(7)


WHOLE = json.dumps(HabitsFile({5: HABITS}).as_json())
FIRST = str(HABITS.evidence.votes[0][0])


@pytest.mark.parametrize(
    "text",
    [
        *(WHOLE.replace(FIRST, value) for value in ("1e400", "true", '"2"', "null", "99")),
        *("", "[]", "{}", '{"parlour_habits": 1, "game": "werewolf_v0"}', '{"parlour_habits": 1, "game": "avalon_v0"}'),
        WHOLE.replace('"evidence"', '"conduct"'),
    ],
)
def test_what_is_no_file_of_habits_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "habits.json"
    path.write_text(text)
    with pytest.raises(ParlourError, match=r"^[^\n]*habits\.json[^\n]*$"):
        read_habits(path)
