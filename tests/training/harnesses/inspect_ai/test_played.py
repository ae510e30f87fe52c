"""What Inspect's tasks of our games rest on, without Inspect: who the model is in which deal; a stored game played again."""

from __future__ import annotations

import pytest
from parlour.envs import replay
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.training.harnesses.inspect_ai.played import (
    MIXED,
    StoredGame,
    play_again,
    played,
    seatings,
    seeds_of,
)
from parlour.training.play import seeds
from parlour.training.play.outside import OutsideSeats, OutsideTable

EVIL = {3: ("player_0", "player_3"), 4: ("player_1", "player_4")}
"""Seed -> the evil seats of a table of five."""


def avalon():
    return lookup("avalon_v0").raw_env(num_players=5, info="full")


@pytest.mark.parametrize("seed", EVIL)
def test_the_sides_that_these_tests_speak_of(seed):
    env = avalon()
    env.reset(seed=seed)
    assert tuple(agent for agent in env.possible_agents if env.view(env.seat_of[agent]).side == "evil") == EVIL[seed]


@pytest.mark.parametrize(
    ("given", "seated"),
    [
        (([3, 4, 5],), [(3, ("player_0",)), (4, ("player_1",)), (5, ("player_2",))]),
        (
            ([3, 4], "one", "good"),
            [(3, ("player_1",)), (4, ("player_2",))],
        ),  # the first of the side from player_0, from 1
        (([3, 4], "each", ["evil"]), [(seed, (agent,)) for seed in (3, 4) for agent in EVIL[seed]]),
        (([3], ["player_4", "player_0"]), [(3, ("player_0", "player_4"))]),
    ],
    ids=["one", "one of a side", "each of a side", "by name"],
)
def test_seats_go_round_with_the_deals(given, seated):
    assert [(seating.seed, seating.agents) for seating in seatings(avalon(), *given)] == seated


def test_all_seats_of_both_sides_play_each_deal_twice_and_all_together_are_on_no_side():
    games = seatings(avalon(), [4], "all", ["good", "evil"])
    assert [game.agents for game in games] == [("player_0", "player_2", "player_3"), EVIL[4]]
    assert [game.side for game in games] == ["good", "evil"]
    assert [game.name for game in games] == ["4-good", "4-evil"]
    [game] = seatings(avalon(), [4], "all")
    assert (game.agents, game.side) == (tuple(avalon().possible_agents), MIXED)


def test_a_game_without_sides_and_roles_names_none():
    [game] = seatings(lookup("mediated_qa_v0").raw_env(info="full"), [3])
    assert (game.agents, game.side, game.role) == (("mediator",), "", "")


def test_deals_are_held_out_or_named():
    assert seeds_of(3, 2) == list(seeds.HELD_OUT[2:5])
    assert seeds_of([7, 5], 0) == [7, 5]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"seats": "player_9"}, "seats 'player_9' is not accepted; accepted: one, each, all, player_0"),
        ({"sides": "village"}, "side of avalon_v0 'village' is not accepted; accepted: good, evil"),
        ({"seats": "player_1", "sides": "evil"}, "seats by name are not accepted with sides"),
    ],
)
def test_seats_and_sides_that_are_not_there_are_refused(settings, why):
    with pytest.raises(ParlourError, match=why):
        seatings(avalon(), [3], **settings)


@pytest.mark.parametrize("deals", [0, [], [1, 1], [-1], ["x"]])
def test_deals_that_are_none_are_refused(deals):
    with pytest.raises(ParlourError, match="accepted: "):
        seeds_of(deals, 0)


# -- a stored game -------------------------------------------------------------------------------------------------


def stored(answers: int | None = None) -> StoredGame:
    """A game of player_0 that takes the last option; after so many answers it says nothing any more."""
    talk = OutsideSeats(OutsideTable(game="avalon_v0", options={"num_players": 5, "talk": False}), ["player_0"])
    talk.deal(3)
    while talk.agent is not None and len(talk.said) != answers:
        talk.say(talk.options[-1])
    talk.leave_all()
    return played(talk, ["player_0"], {"player_0": "a model"})


@pytest.mark.parametrize("answers", [None, 2])
def test_a_stored_game_is_read_back_and_played_again(answers, tmp_path):
    game = stored(answers)
    assert game.left == (answers == 2)
    assert StoredGame.from_plain(game.plain()) == StoredGame.from_plain(StoredGame.from_plain(game.plain()).plain())
    play_again(StoredGame.from_plain(game.plain()), tmp_path / "game.jsonl", {"players": {}})
    transcript = replay.Transcript.read(tmp_path / "game.jsonl")
    assert transcript.outcome.returns == tuple(game.returns.values())
    assert len(transcript.moves) == game.moves


def test_a_stored_game_that_comes_out_otherwise_is_refused(tmp_path):
    game = stored()
    other = game.replace(said=((game.said[0][0], "I reject the team."), *game.said[1:]))
    assert other.said != game.said
    with pytest.raises(ParlourError, match=r"accepted: (what comes of its seed|all that was said|the seat to speak)"):
        play_again(other, tmp_path / "game.jsonl", {})
