"""Rewards of listening and speaking beside a game's return (`training/harnesses/social.py`): worked figures, and what is refused."""

from __future__ import annotations

from functools import partial
from math import log
from typing import Any

import numpy as np
import pytest
from parlour.envs.avalon.vocabulary import EVIL
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.training.harnesses.in_flight import TalkGame, play_in_flight
from parlour.training.harnesses.social import SeatEnd, end_of_talk, seat_end
from parlour.wrappers.conversation import ConversationSeat, table

END = SeatEnd(("player_1", "player_2"), (True, False), (0.5, 0.5), good=True, speaking=0.0)


def test_listening_is_the_log_loss_of_the_night_minus_that_of_the_answer():
    # night: -log 0.5 = 0.6931; answer: -(log 0.8 + log 0.9) / 2 = (0.2231 + 0.1054) / 2 = 0.1643
    assert END.listening('I think {"player_1": 0.8, "player_2": 0.1}') == pytest.approx(0.6931 - 0.1643, abs=1e-4)
    assert END.listening('{"player_1": 0.5, "player_2": 0.5}') == 0.0


@pytest.mark.parametrize(
    "words",
    ["", "player_1", '{"player_1": 0.8}', '{"player_1": 2, "player_2": 0}', '{"player_1": true, "player_2": 0}', "{x}"],
)
def test_an_answer_that_cannot_be_read_earns_less_than_any_that_can(words):
    # -log 0.5 + log 0.001 = 0.6931 - 6.9078
    assert END.stated(words) is None
    assert END.listening(words) == pytest.approx(0.6931 - 6.9078, abs=1e-4)


def test_of_several_objects_the_last_one_is_the_answer():
    assert END.stated('{"player_1": 0, "player_2": 1} no: {"player_1": 1, "player_2": 0}') == (1.0, 0.0)


def played(seed: int, words: Any, agent: str = "player_1") -> ConversationSeat:
    """A seat whose game is over; `words` chooses among its options."""
    seat = ConversationSeat(table("avalon_v0", num_players=5), agent)
    seat.reset(seed)
    while not seat.done:
        seat.say(words(seat))
    return seat


def accuses_by_truth(seat: ConversationSeat, *, evil: bool) -> str:
    """Accuses somebody who is evil, or somebody who is good; otherwise takes the first option."""
    env = seat.conversation.game_env
    for other in (0, 2, 3, 4):
        words = f"I accuse player_{other} of being evil."
        if words in seat.options and (env.view(other).side == EVIL) == evil:
            return words
    return seat.options[0]


@pytest.mark.parametrize("good", [True, False])
def test_a_good_seat_earns_by_true_accusations_and_an_evil_seat_by_accusing_its_fellow(good):
    """Means over 12 deals. To these listeners an evil seat that accuses its fellow clears both."""
    seats = [seed for seed in range(40) if end_of_talk(played(seed, lambda seat: seat.options[0])).good == good][:12]
    true, false = (
        np.mean([end_of_talk(played(seed, partial(accuses_by_truth, evil=evil))).speaking for seed in seats])
        for evil in (True, False)
    )
    assert len(seats) == 12
    assert true > false


def test_a_seat_that_claims_nothing_earns_nothing_by_speaking():
    def silent(seat: ConversationSeat) -> str:
        return "Hm." if any(option.startswith("I recommend") for option in seat.options) else seat.options[0]

    assert end_of_talk(played(3, silent)).speaking == 0.0


def test_what_the_seat_knew_after_the_night_is_the_prior():
    seen = set()
    for seed in range(30):
        seat = played(seed, lambda seat: seat.options[0])
        end = end_of_talk(seat)
        role = seat.conversation.game_env.view(1).role
        if role == "Loyal Servant":  # knows nothing: 2 evil among 4
            assert end.prior == pytest.approx((0.5,) * 4)
        if role == "Merlin":  # sees both
            assert end.prior == pytest.approx([float(evil) for evil in end.truth])
        seen.add(role)
    assert {"Loyal Servant", "Merlin"} <= seen


def test_games_in_flight_keep_what_was_found_at_their_end():
    def make() -> ConversationSeat:
        return ConversationSeat(table("avalon_v0", num_players=5), "player_1")

    games = [TalkGame(seed) for seed in (4, 5, 6)]
    talked = play_in_flight(
        make, games, lambda turns: [turn.options[0] for turn in turns], at_once=2, at_end=end_of_talk
    )
    assert [player.notes for player in talked] == [
        end_of_talk(played(seed, lambda seat: seat.options[0])) for seed in (4, 5, 6)
    ]


def test_other_games_and_games_in_progress_are_refused():
    with pytest.raises(ParlourError, match=r"'werewolf_v0' is not accepted; accepted: avalon_v0"):
        seat_end(lookup("werewolf_v0").raw_env(), "player_1")
    seat = ConversationSeat(table("avalon_v0", num_players=5), "player_1")
    seat.reset(1)
    with pytest.raises(ParlourError, match=r"a game in progress is not accepted"):
        seat_end(seat.conversation.game_env, "player_1")


def test_the_question_names_the_others_and_an_answer_in_its_form_is_read():
    example = END.question.split("such as ")[1].rstrip(".\n")
    assert END.stated(example) == (0.5, 0.5)
    assert END.listening(example) == pytest.approx(log(0.5) - log(0.5))
