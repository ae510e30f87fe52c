"""Names of seats: people read and say names, records keep the seats."""

from __future__ import annotations

import pytest
from parlour.envs.core import ParlourError
from parlour.envs.language.seat_names import GIVEN, SeatNames, names_for


def test_what_is_shown_and_said_again_is_the_same_text():
    table = SeatNames(GIVEN[:12])
    for text in (
        "player_1 accuses player_10, not player_0.",
        "I trust player_11's word",
        "no seat",
        "player_99 is nobody",
    ):
        assert table.seats(table.shown(text)) == text
        assert table.shown(table.seats(table.shown(text))) == table.shown(text)


def test_names_that_are_words_are_names_with_a_capital_letter_only():
    assert SeatNames(("Will", "Ben")).seats("I will trust Will and ben.") == "I will trust player_0 and player_1."


def test_a_longer_name_is_read_before_a_shorter_one_within_it():
    assert SeatNames(("Ana", "Ana Maria")).seats("ana maria, not Ana or Anabel") == "player_1, not player_0 or Anabel"


def test_seats_that_the_host_gives_no_name_get_one_from_the_list():
    assert names_for(["ben"], 3).names == ("ben", "Ana", "Cleo")


def test_without_names_texts_stay():
    assert SeatNames().shown("player_0") == "player_0"


@pytest.mark.parametrize(
    "names", [["Merlin"], ["Ana", "ana"], ["player_1"], ["a\nb"], ["x" * 21], ["Nobody"], ["7"], [""]]
)
def test_a_name_that_could_be_taken_for_something_else_is_refused(names):
    with pytest.raises(ParlourError, match="accepted: up to 20 letters"):
        names_for(names, 5, ["Merlin"])


def test_more_names_than_seats_are_refused():
    with pytest.raises(ParlourError, match="3 names for 2 seats"):
        names_for(["Ana", "Ben", "Cleo"], 2)
