"""Games talked through in step (training/harnesses/in_flight.py), and the news that all conversations tell (envs/headings.py)."""

from __future__ import annotations

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.envs.headings import ENGLISH, LANGUAGES, SeatNews
from parlour.training.harnesses.in_flight import TalkGame, play_in_flight
from parlour.wrappers import ConversationSeat
from parlour.wrappers.conversation import table

TABLES = pytest.mark.parametrize(
    ("game", "options"), [("avalon_v0", {"num_players": 5}), ("werewolf_v0", {"num_players": 6}), ("template_v0", {})]
)
GAMES = [TalkGame(seed) for seed in range(7)]


def seat_at(game, **options):
    return lambda: ConversationSeat(table(game, **options), "player_1")


class Drawing:
    """Answers each turn by an option drawn by a generator of the game's own; keeps which turns came together."""

    def __init__(self):
        self.rngs, self.calls = {}, []

    def __call__(self, turns):
        self.calls.append([turn.game for turn in turns])
        return [self.one(turn) for turn in turns]

    def one(self, turn):
        rng = self.rngs.setdefault(turn.game, np.random.default_rng(turn.seed))
        return turn.options[int(rng.integers(len(turn.options)))]


@TABLES
@pytest.mark.parametrize("at_once", [1, 3, 32])
def test_games_in_step_are_the_games_that_one_seat_plays_alone(game, options, at_once):
    played = play_in_flight(seat_at(game, **options), GAMES, Drawing(), at_once=at_once)
    seat = seat_at(game, **options)()
    for number, one in enumerate(played):
        told = [seat.reset(seed=one.seed)]
        rng = np.random.default_rng(one.seed)
        while not seat.done:
            told.append(seat.say(seat.options[int(rng.integers(len(seat.options)))]))
        assert (one.game, one.reward, one.faults, one.left) == (number, seat.reward, seat.faults, False)
        assert [reply.message for reply in one.replies] + [one.end] == told


def test_a_game_that_ends_makes_room_for_the_next_and_turns_come_in_the_order_of_the_games():
    drawing = Drawing()
    play_in_flight(seat_at("avalon_v0"), GAMES, drawing, at_once=3)
    assert all(call == sorted(set(call)) and len(call) <= 3 for call in drawing.calls)
    assert drawing.calls[0] == [0, 1, 2]
    assert {number for call in drawing.calls for number in call} == set(range(7))
    last = next(number for number, call in enumerate(drawing.calls) if 6 in call)
    assert {len(call) for call in drawing.calls[: last + 1]} == {3}


def test_faults_stand_at_the_reply_that_made_them():
    """Three tries: two refusals are counted at their replies, the third brings the table's own move."""
    words = iter(["???", "", "???"])

    def reply(turns):
        return [next(words, turn.options[0]) for turn in turns]

    (one,) = play_in_flight(seat_at("template_v0"), GAMES[:1], reply)
    first = {**one.replies[0].faults}
    assert first == {"unreadable": 1}
    assert one.replies[1].faults == {"unreadable": 1}
    assert one.replies[2].faults == {"unreadable": 1, "replaced": 1}
    assert one.faults == {"unreadable": 3, "ambiguous": 0, "illegal": 0, "replaced": 1}


def test_a_seat_that_leaves_is_played_on_by_the_table():
    (one, other) = play_in_flight(
        seat_at("avalon_v0"), GAMES[:2], lambda turns: [None if turn.game == 0 else turn.options[0] for turn in turns]
    )
    assert one.left
    assert [reply.words for reply in one.replies] == [None]
    assert one.faults["replaced"] > 0
    assert not other.left
    assert other.faults["replaced"] == 0


@pytest.mark.parametrize("answers", [[], ["one", "another"]])
def test_another_number_of_answers_is_refused(answers):
    with pytest.raises(ParlourError, match=f"{len(answers)} answers for 1 turns"):
        play_in_flight(seat_at("template_v0"), GAMES[:1], lambda turns: answers)


# -- the news --------------------------------------------------------------------------------------------------


def prose(record, choice="Vote.\n- Yes.\n- No.\n"):
    told = LANGUAGES[ENGLISH]
    return f"{told.who}You are player_0.\n{told.record}{record}{told.choice}{choice}"


def test_the_first_message_is_the_whole_and_later_ones_hold_what_is_new():
    news = SeatNews()
    assert news.tell_prose(prose("A.\n")).message == prose("A.\n")
    later = news.tell_prose(prose("A.\nB.\n"))
    assert later.told == "# What has happened since then\nB.\n"
    assert later.choice == "# What you may do now\nVote.\n- Yes.\n- No.\n"
    assert news.tell_prose(prose("A.\nB.\n")).told == ""


def test_a_record_that_does_not_go_on_is_told_anew():
    news = SeatNews()
    news.tell_prose(prose("A.\nB.\n"))
    window = prose("(1 earlier lines left out)\nB.\nC.\n")
    assert news.tell_prose(window).message == window
