"""What free words claim: lists of players, the role as which one speaks, and what only looks like it."""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs import registry
from parlour.envs.text import read_claims
from parlour.envs.werewolf.reading import read_talk

ME = 4
AVALON = registry["avalon_v0"].raw_env(num_players=6)


@pytest.fixture(scope="module")
def view() -> Any:
    """Of player_4, who may say all there is to say."""
    AVALON.reset(seed=1)
    seen = AVALON.view(ME)
    said = [
        move for move in AVALON.game.catalogue if move.kind in ("silent", "accuse", "defend", "recommend", "claim_role")
    ]
    about_others = [move for move in said if move.kind not in ("accuse", "defend") or move.args != (ME,)]
    return seen._replace(legal=tuple(about_others))


def claims(words: str, view: Any) -> list[tuple[str, tuple[int, ...]]]:
    return [(move.kind, move.args) for move in read_claims(words, view, AVALON.game.role_names)]


@pytest.mark.parametrize(
    ("words", "kind", "seats"),
    [
        ("I recommend myself and player_0.", "recommend", (4, 0)),
        ("I recommend player_0 and myself.", "recommend", (0, 4)),
        ("I recommend players 1 and 2.", "recommend", (1, 2)),
        ("I suggest player_1, player_2 and me.", "recommend", (1, 2, 4)),
        ("player_1 and player_2 should go.", "recommend", (2, 1)),
        ("I accuse player_1 and player_2 of being evil.", "accuse", (1, 2)),
        ("player_1 and player_2 are evil.", "accuse", (1, 2)),
        ("I trust players 1, 2 & 3.", "defend", (1, 2, 3)),
        ("player_1 and player_2 are really good.", "defend", (1, 2)),
        ("I recommend player_3.", "recommend", (3,)),
        ("I recommend myself.", "recommend", (4,)),
    ],
)
def test_a_list_of_players_is_a_claim_about_each(words: str, kind: str, seats: tuple[int, ...], view: Any) -> None:
    assert claims(words, view) == [(kind, (seat,)) for seat in seats]
    assert AVALON.text.parse(words, view)[:2] == (kind, seats[:1])


@pytest.mark.parametrize(
    "words",
    [
        "I do not recommend myself and player_0.",
        "I would never accuse players 1 and 2.",
        "player_1 and player_2 are not evil.",
        "Nobody knows players 1 and 2.",
        "As Merlin would say, nothing is certain.",
        "If I were Merlin, I would know.",
        "I am not Merlin.",
        "Percival is as good as Merlin.",
    ],
)
def test_what_is_denied_or_said_of_others_claims_nothing(words: str, view: Any) -> None:
    assert claims(words, view) == []


@pytest.mark.parametrize(
    ("words", "role"),
    [
        ("As the Merlin, I am watching you.", "Merlin"),
        ("As Percival, I have seen two of you.", "Percival"),
        ("As a Loyal Servant I know nothing.", "Loyal Servant"),
        ("Speaking as Merlin, my advice is to wait.", "Merlin"),
        ("Well, as your Merlin, I know.", "Merlin"),
    ],
)
def test_who_speaks_as_a_role_claims_it(words: str, role: str, view: Any) -> None:
    assert claims(words, view) == [("claim_role", (AVALON.game.role_names.index(role),))]


def test_what_one_says_in_that_role_comes_first(view: Any) -> None:
    """As before: a recommendation tells more than the role, and a move holds one claim."""
    merlin = ("claim_role", (AVALON.game.role_names.index("Merlin"),))
    assert claims("As the Merlin, I suggest player_1 and player_2.", view) == [
        ("recommend", (1,)),
        ("recommend", (2,)),
        merlin,
    ]
    assert AVALON.text.parse("As Merlin, I accuse player_0.", view)[:2] == ("accuse", (0,))


def test_the_werewolf_table_reads_the_same() -> None:
    env = registry["werewolf_v0"].raw_env(num_players=8)
    env.reset(seed=1)
    roles = env.game.role_names
    said = tuple(move for move in env.game.catalogue if move.kind in ("silent", "accuse", "defend", "claim_role"))
    seen = (
        env.view(ME)._replace(legal=said, night=False)
        if "night" in env.view(ME)._fields
        else env.view(ME)._replace(legal=said)
    )
    assert read_talk("As the Seer, I will tell you tomorrow.", seen)[:2] == ("claim_role", (roles.index("Seer"),))
    assert read_talk("player_1 and player_2 are werewolves.", seen)[:2] == ("accuse", (1,))
    assert read_talk("I trust players 1 and 2.", seen)[:2] == ("defend", (1,))
