"""Conventions of Avalon, counted in short games that are written down here."""

from __future__ import annotations

from typing import Any

import pytest
from parlour.envs import replay
from parlour.envs.avalon import GAME
from parlour.envs.core import Move
from parlour.envs.language.entries import Entry
from parlour.envs.replay import Transcript
from parlour.training.measure.conventions import ConventionTally, convention_rows

from tests.training.measure.avalon.transcripts import write

MERLIN, PERCIVAL, SERVANT, MORGANA, ASSASSIN = range(5)
"""Seat and role number; player_0 leads first."""
EVIL_TEAM = "approves teams with an evil seat"


DEAL = Move("deal", (MERLIN, PERCIVAL, SERVANT, MORGANA, ASSASSIN, 0))


def views(*moves: Move, talk: bool = False) -> list[Any]:
    """What the seats see after these moves."""
    rules = GAME.build(GAME.options(num_players=5, rules="official", talk=talk))
    *_, state = replay.states(rules, (DEAL, *moves))
    return [rules.view(state, seat) for seat in range(5)]


def proposal(team: tuple[int, ...], votes: str) -> list[Move]:
    """A team and a vote of each seat, "a" to approve."""
    return [Move("propose", team), *(Move("vote", (int(vote == "a"),)) for vote in votes)]


def counts(seat: int, game: list[Any], of: str) -> dict[str, tuple[float, int]]:
    """Measure -> hits of a rate, or the mean of a number, and the cases, of one seat in one game."""
    tally = ConventionTally("avalon_v0")
    tally.add(game, seat)
    rows = [row for row in convention_rows("", {"x": [tally]}) if row.of == of]
    estimates = {row.measure.removeprefix(EVIL_TEAM): row.players["x"] for row in rows}
    return {name: (e.value if e.hits is None else e.hits, e.n) for name, e in estimates.items() if e is not None}


# Quest 1: Merlin and Morgana go, and she fails it. So one of them is evil, as all know.
# Quest 2: five proposals are rejected, the third of which is clean, and the last of which gives evil the game.
VOTED = [
    *proposal((MERLIN, MORGANA), "aarar"),
    *(Move("card", (1,)), Move("card", (0,))),
    *proposal((MERLIN, SERVANT, MORGANA), "rraar"),
    *proposal((PERCIVAL, SERVANT, ASSASSIN), "rrarr"),
    *proposal((MERLIN, PERCIVAL, SERVANT), "rrrrr"),
    *proposal((MERLIN, MORGANA, ASSASSIN), "rrrrr"),
    *proposal((PERCIVAL, MORGANA, ASSASSIN), "rrarr"),
]


def test_merlin_can_prove_every_evil_team() -> None:
    # approved: the first of five evil teams; he is on the first, the second and the fourth
    expected = {
        "": (1, 5),
        ", on the team": (1, 3),
        ", not on the team": (0, 2),
        ", which it can prove": (1, 5),
        ", at the last proposal": (0, 1),
    }
    assert counts(MERLIN, views(*VOTED), "role: Merlin") == counts(MERLIN, views(*VOTED), "good") == expected


def test_a_servant_can_prove_what_the_failed_quest_shows() -> None:
    # approved: the second, the third and the last of five evil teams; he is on the second and the third.
    # After the fail one of 0 and 3 is evil. The team 0, 2, 3 has both. The team 1, 2, 4 is clean if 0 and 3 are evil: no
    # proof. The team 0, 3, 4 has both. The team 1, 3, 4 has every pair with 0 or 3 on it: 0 with 1, 3 or 4, and 3 itself.
    expected = {
        "": (3, 5),
        ", on the team": (2, 2),
        ", not on the team": (1, 3),
        ", which it can prove": (2, 3),
        ", at the last proposal": (1, 1),
    }
    assert counts(SERVANT, views(*VOTED), "role: Loyal Servant") == expected


def test_percival_adds_what_the_night_showed_him() -> None:
    # He knows that one of 0 and 3 is Morgana, so the other evil seat is 2 or 4. The first team has 0 and 3: he can prove it
    # before any quest, and approves. He can prove 1, 2, 4, too, and not 1, 3, 4: 0 and 2 may be evil.
    assert counts(PERCIVAL, views(*VOTED), "good")[", which it can prove"] == (1, 4)


def test_votes_of_evil_seats_and_games_without_words_count_nothing() -> None:
    assert counts(MORGANA, views(*VOTED), "evil") == {}


def test_conventions_of_recorded_games_are_counted_by_player(tmp_path, json_of, error_of) -> None:
    # Merlin is `a` and approves one of five evil teams; Percival and the Servant are `b` and approve one and three of five each.
    rules = GAME.build(GAME.options(num_players=5, rules="official", talk=False))
    states = list(replay.states(rules, (DEAL, *VOTED)))
    entries = tuple(Entry(state.actor, move, None) for state, move in zip(states, (DEAL, *VOTED), strict=False))
    players = {f"player_{seat}": "b" if seat else "a" for seat in range(5)}
    head = {"parlour": 1, "game": "avalon_v0", "config": dict(rules.config), "players": players}
    write(tmp_path / "game.jsonl", Transcript(head, entries, rules.outcome(states[-1])))
    rows = json_of(["metrics", "conventions", str(tmp_path), "--json"])["conventions"]
    (row,) = (row["players"] for row in rows if (row["measure"], row["of"]) == (EVIL_TEAM, "good"))
    assert {name: (rate["hits"], rate["n"]) for name, rate in row.items()} == {"a": (1, 5), "b": (4, 10)}
    (tmp_path / "game.jsonl").write_text('{"parlour": 1, "game": "template_v0", "config": {}}\n')
    assert "accepted: avalon_v0, werewolf_v0" in error_of(["metrics", "conventions", str(tmp_path)])


SAID = [
    Move("accuse", (MORGANA,)),  # Merlin, rightly
    Move("accuse", (SERVANT,)),  # Percival, wrongly
    Move("silent", (), "I have no idea."),
    Move("defend", (ASSASSIN,)),  # Morgana
    Move("claim_role", (MERLIN,)),  # the Assassin
]


@pytest.mark.parametrize(
    ("seat", "of", "claims", "false", "misleading"),
    [
        # An accusation is right with probability 0.6 against 0.4 of evil seats among the others: the truth gains if it is right,
        # and loses if it is wrong. It does not matter who accuses.
        (MERLIN, "good", 1, (0, 1), (0, 1)),
        (PERCIVAL, "role: Percival", 1, (1, 1), (1, 1)),
        (SERVANT, "role: Loyal Servant", 0, None, None),  # words without a claim
        (MORGANA, "evil", 1, (1, 1), (1, 1)),
        # a role that is not his; the belief of Avalon learns nothing from roles
        (ASSASSIN, "role: Assassin", 1, (1, 1), (0, 1)),
    ],
)
def test_claims_are_false_by_the_deal_and_misleading_by_the_literal_belief(seat, of, claims, false, misleading) -> None:
    counted = counts(seat, views(*SAID, talk=True), of)
    assert counted["claims a game"] == (claims, 1)
    assert (counted.get("false claims"), counted.get("misleading claims")) == (false, misleading)
