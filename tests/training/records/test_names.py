"""Names of players in what a record tells become names of seats."""

import pytest
from parlour.training.records.reading import Names


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Everyone likes Eve.", "Everyone likes player_4."),
        ("Eve's and Ann’s plan", "player_4's and player_0’s plan"),
        ("Ann+Bo, Ann/Cy, Ann–Dee", "player_0+player_1, player_0/player_2, player_0–player_3"),
        ("me, D, and E", "me, D, and E"),
        ("Annie, Bob, never, Evening", "Annie, Bob, never, Evening"),
        ("**Ann** (Bo)", "**player_0** (player_1)"),
    ],
)
def test_whole_names_become_seats(said, expected):
    assert Names(["Ann", "Bo", "Cy", "Dee", "Eve"]).with_seats(said) == expected


def test_a_name_within_a_name_and_names_of_seats_are_not_mixed_up():
    names = Names(["player_1", "player_0", "Mary", "Mary Ann"])
    assert names.with_seats("player_1, player_0, Mary Ann and Mary") == "player_0, player_1, player_3 and player_2"
