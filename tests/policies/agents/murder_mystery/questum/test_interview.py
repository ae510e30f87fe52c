"""Questum's procedure by setting (decisions 4.2 to 4.5, 5): ties, the first question, gains, pruning, the murderer, PLAYER*'s extras.

The case has four players and one victim; the murderer's own procedure is Questum's by score, whatever the others play.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.cases.find import find
from parlour.policies import make_policy
from parlour.policies.agents.murder_mystery.questum.gain import score

from tests.policies.agents.murder_mystery.players import Listener, Scripted, game_of

FOUR = "seed:3:en:4:1"
GUILTY = find(FOUR).murderers(0)[0]
SEAT = next(seat for seat in range(4) if seat != GUILTY)


def played(name: str, rounds: int = 2, model: Listener | None = None) -> tuple[Listener, list[Any], list[Any]]:
    """The model, the calls of one civilian, and all players."""
    model = model or Listener()
    players, _ = game_of(name, FOUR, model, seed=5, rounds=rounds)
    return model, [q for context, q, _ in model.calls if context.seat == f"player_{SEAT}"], players


def of(calls: list[Any], kind: str) -> list[Any]:
    return [question for question in calls if question.kind == f"questum.{kind}"]


# -- whom to ask first -------------------------------------------------------------------------------------------


def test_read_first_the_information_value_of_the_whole_list_is_read_before_any_question():
    _, calls, _ = played("questum:first=read,epsilon=0", rounds=1)
    kinds = [question.kind.removeprefix("questum.") for question in calls if question.kind != "questum.reply"]
    assert kinds[:5] == ["introduce", "sense_all", "sense_all", "sense_all", "sense"]
    read = of(calls, "sense_all")[:3]
    assert [card.sensor for card in read[0].sensors] == ["information value"]
    assert [q.about for q in read] == [find(FOUR).names[(SEAT + k) % 4] for k in (1, 2, 3)]
    model, _, _ = played("questum:first=ring,epsilon=0", rounds=1)
    assert not [q for _, q, _ in model.calls if q.kind == "questum.sense_all" and len(q.sensors) == 1]


def test_in_the_ring_the_first_question_goes_to_the_next_seat_and_read_first_to_the_highest_value():
    """The third on the list has a high value, the others a low one: .8 * 1 against .8 * -1."""
    third = find(FOUR).names[(SEAT + 3) % 4]
    for first, expected in (("ring", find(FOUR).names[(SEAT + 1) % 4]), ("read", third)):
        _, calls, _ = played(f"questum:first={first},epsilon=0", rounds=1, model=_Values(third))
        assert of(calls, "question")[0].about == expected


class _Values(Listener):
    """Finds one character worth more questions, and nobody else."""

    def __init__(self, worth: str) -> None:
        super().__init__()
        self.worth = worth

    def answer(self, question: Any, context: Any) -> Any:
        answered = super().answer(question, context)
        if question.kind != "questum.sense_all":
            return answered
        value = "high" if question.about == self.worth else "low"
        readings = {**answered.value.readings}
        readings["information value"] = readings["information value"].model_copy(update={"choice": value})
        return type(answered)(answered.value.model_copy(update={"readings": readings}))


def test_ties_are_drawn_from_the_own_generator_after_the_first_round():
    """Nothing is read, so that all scores are 0: least asked goes round, drawn does not, and a seed repeats it."""

    def asked(ties: str, seed: int) -> list[tuple[int, ...]]:
        _, episode = game_of(f"questum:prune=unread,epsilon=0,ties={ties}", FOUR, seed=seed, rounds=3)
        events = [e for e in episode.last_views[SEAT].events if e.seat == SEAT and e.move.kind == "choose"]
        return [event.move.args for event in events if event.move.args]

    ring = [((SEAT + k) % 4,) for k in (1, 2, 3)]
    assert [asked("least", seed) for seed in range(6)] == [ring] * 6
    drawn = [asked("drawn", seed) for seed in range(6)]
    assert {targets[0] for targets in drawn} == {ring[0]}
    assert len({tuple(targets) for targets in drawn}) > 1
    assert drawn == [asked("drawn", seed) for seed in range(6)]


# -- gains -----------------------------------------------------------------------------------------------------


def test_gains_of_every_round_are_what_the_list_lost_for_those_who_answered_in_it_and_zero_for_the_rest():
    _, calls, players = played("questum:gain=every,epsilon=0,mode=score", rounds=3)
    procedure, (victim,) = players[SEAT].procedure, find(FOUR).vocabulary.persons[4:]
    lists = [len(question.suspects) for question in of(calls, "prune")]
    assert lists[0] == 3
    sizes = [*lists, len(procedure.suspects[victim])]
    lost = [math.log(a) - math.log(b) for a, b in pairwise(sizes)]
    changed = [gained for gained in lost if gained]
    assert changed
    for seat in procedure.room.others:
        history = procedure.gains[victim, seat]
        assert len(history) == len(changed)
        assert all(entry in (0.0, pytest.approx(gained)) for entry, gained in zip(history, changed, strict=True))
    assert any(entry for seat in procedure.room.others for entry in procedure.gains[victim, seat])


def test_of_equal_levels_the_past_decides_and_a_level_outweighs_it():
    """Eq. 3 with beta .2: a level is worth .8, a list that fell from 3 to 1 is worth .2 ln 3 = .2197."""
    assert score([math.log(3)], 0.0) == pytest.approx(0.219722, abs=1e-6)
    assert score([math.log(3)], 0.0) > score([0.0], 0.0)
    # entries of every round: (ln 3 / e + 0) / (1 / e + 1) = .295463 in the weighted mean; times .2 is .059093
    assert score([math.log(3), 0.0], 0.0) == pytest.approx(0.059093, abs=1e-6)
    assert score([math.log(8), math.log(8)], 0.0) < score([], 1.0)  # .4159 against .8


# -- pruning and the vote ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prune", "prunings", "readings"), [("rounds", 3, 9), ("between", 2, 9), ("no", 0, 9), ("unread", 0, 0)]
)
def test_how_often_a_seat_reads_and_prunes_in_three_rounds(prune, prunings, readings):
    _, calls, _ = played(f"questum:prune={prune}", rounds=3)
    assert (len(of(calls, "prune")), len(of(calls, "sense_all"))) == (prunings, readings)


def test_the_vote_sees_the_readings_and_the_list_of_the_last_round():
    model, calls, _ = played("questum:prune=rounds", rounds=2)
    order = [question.kind for question in calls]
    assert order[-5:] == [*["questum.sense_all"] * 3, "questum.prune", "questum.vote"]
    said = [value for c, q, value in model.calls if q.kind == "questum.prune" and c.seat == f"player_{SEAT}"]
    vote, last = calls[-1], of(calls, "prune")[-1]
    assert set(vote.suspects) == set(said[-1].suspicion)
    assert vote.suspects[0] == said[-1].suspicion[0]
    assert vote.summaries == last.summaries
    assert [talk.text for talk in of(calls, "sense_all")[-1].dialogue]


def test_without_the_pruner_the_list_stays_whole_and_the_information_value_is_still_read():
    _, calls, players = played("questum:prune=no", rounds=2)
    assert [len(listed) for listed in players[SEAT].procedure.suspects.values()] == [3]
    assert "information value" in [card.sensor for card in of(calls, "sense_all")[0].sensors]
    assert players[SEAT].procedure.expected


def test_a_reply_about_the_murderer_is_in_the_next_pruning():
    """The death was an accident: a motive is no longer looked for."""
    names = ("emotion", "motivation", "suspicion")
    choices = dict(zip(names, ("negative", "no", "yes"), strict=True))
    reply = {name: {"reason": "An accident.", "choice": choices[name]} for name in names}
    model = Scripted({"questum.profile": json.dumps({"readings": reply})})
    _, calls, _ = played("questum:murderer=updated", model=model)
    pruning = of(calls, "prune")[0]
    assert {reading.sensor: reading.choice for reading in pruning.murderer} == choices
    assert "An accident." in pruning.prompt()
    _, calls, _ = played("questum:murderer=fixed")
    assert of(calls, "prune")[0].murderer == of(calls, "profile") == []


def test_graded_suspicion_lists_those_with_half_of_the_highest_grade_strongest_first():
    others = [find(FOUR).names[(SEAT + k) % 4] for k in (1, 2, 3)]
    grades = dict(zip(others, (0.45, 0.9, 0.44), strict=True))
    model = Scripted({"questum.grade": json.dumps({"reason": "", "grades": grades})})
    _, _, players = played("questum:suspicion=graded,prune=rounds", rounds=1, model=model)
    procedure, (victim,) = players[SEAT].procedure, find(FOUR).vocabulary.persons[4:]
    assert [procedure.room.name(seat) for seat in procedure.suspects[victim]] == others[:2]
    assert procedure.suspects_of(victim)[0] == others[1]
    assert procedure.grades[victim] == grades


# -- PLAYER* ---------------------------------------------------------------------------------------------------


def test_player_star_reads_the_chance_of_information_from_the_last_readings_and_asks_with_it():
    model, calls, _ = played("player_star", rounds=2)
    first, second = of(calls, "sense_all")[:3], of(calls, "sense_all")[3:6]
    assert [question.before for question in first] == [[]] * 3
    said = [v.readings for c, q, v in model.calls if q.kind == "questum.sense_all" and c.seat == f"player_{SEAT}"]
    assert {r.sensor: r.choice for r in second[0].before} == {name: a.choice for name, a in said[0].items()}
    assert "information value" in [reading.sensor for reading in of(calls, "question")[-1].summary.readings]
    assert {context.temperature for context, _, _ in model.calls if context.seat == f"player_{SEAT}"} == {0.8}
    assert make_policy("player_star:temperature=0", "murder_mystery_v0", {}).chosen.temperature == 0  # type: ignore[attr-defined]
    _, plain, _ = played("questum:mode=score", rounds=2)
    assert all(question.before == [] and question.asked is None for question in of(plain, "sense_all"))


# -- sensors of one's own ----------------------------------------------------------------------------------------


def test_a_sensor_of_ones_own_is_a_file_with_its_question_and_choices(tmp_path):
    file = tmp_path / "alibi.toml"
    file.write_text('[en]\nquestion = "Who confirms where the character was?"\nchoices = ["two", "one", "nobody"]\n')
    _, calls, players = played(f"questum:sensors=emotion+{file}", rounds=2)
    sensed = of(calls, "sense")[1]
    assert (sensed.sensor.sensor, sensed.sensor.choices) == ("alibi", ["two", "one", "nobody"])
    assert "Who confirms where the character was?" in sensed.prompt()
    with pytest.raises(Exception, match="choice"):
        sensed.read('{"reason": "", "choice": "three"}')
    assert "alibi" in [reading.sensor for reading in of(calls, "prune")[0].summaries[0].readings]
    players[SEAT].save(tmp_path / "saved.json")
    with pytest.raises(ParlourError, match="opens no file"):
        type(players[SEAT]).load(tmp_path / "saved.json")
    file.write_text("[zh]\n")
    with pytest.raises(ParlourError, match="sensors"):
        make_policy("questum:sensors=smell", "murder_mystery_v0", {})


# -- the other methods ---------------------------------------------------------------------------------------------


def test_o_cot_asks_with_its_script_and_think_thrice_answers_with_relations():
    _, calls, _ = played("mystery_ocot", rounds=1)
    assert all(question.script for question in of(calls, "ocot_question"))
    _, calls, _ = played("mystery_thinkthrice", rounds=1)
    assert "related to each other" in of(calls, "think_answer")[0].prompt()
