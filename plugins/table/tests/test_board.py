"""Boards: what lies on the table for all to see, of each game; `check.public_board` holds them to be public."""

from __future__ import annotations

import pytest
from parlour.envs._template import GAME as COIN
from parlour.envs.avalon.vocabulary import EXPOSED
from parlour.envs.core import OVER
from parlour.envs.registry import lookup
from parlour.envs.testing.table import ConfiguredGame
from parlour_table import board
from parlour_table.board import BOARDS, EVIL, GOOD, NOW, Board
from parlour_table.board.check import public_board

TABLES = [
    ("avalon_v0", {"num_players": 5}),
    ("avalon_v0", {"num_players": 7, "rules": "official"}),
    ("avalon_v0", {"num_players": 6, "rules": "reference"}),
    ("werewolf_v0", {}),
    ("werewolf_v0", {"talk": False}),
    ("werewolf_v0", {"num_players": 9, "roles": "hunter"}),
]
PLAYED = [
    ("template_v0", {}),
    pytest.param("avalon_v0", {"num_players": 5}, marks=pytest.mark.slow),
    pytest.param("werewolf_v0", {}, marks=pytest.mark.slow),
    pytest.param("murder_mystery_v0", {"rounds": 1}, marks=pytest.mark.slow),
]
"""Tables that the leak check goes over."""


def boards(game: str, options: dict, seed: int = 0):
    """(state, board) of all states of a random game."""
    table = ConfiguredGame(lookup(game).spec, tuple(options.items()))
    for state in table.play(seed).states:
        yield table.game, state, board.board_of(table.spec, table.game.view(state, 0), table.game.seats)


@pytest.mark.parametrize(("game", "options"), TABLES)
def test_who_is_to_move_is_among_those_for_whom_the_table_is_said_to_wait(game, options):
    waited = 0
    for seed in range(5):
        for rules, state, shown in boards(game, options, seed):
            if shown.waits and rules.actor(state) >= 0:
                assert rules.actor(state) in shown.waits, shown.phase
                waited += 1
    assert waited > 20 or not options.get("talk", True)


def test_avalon_shows_sizes_fails_needed_results_and_rejections():
    """Seven players: the fourth quest needs two fails; the track of quests agrees with the score of the View."""
    for rules, state, shown in boards("avalon_v0", {"num_players": 7, "rules": "official"}, 3):
        view = rules.view(state, 0)
        quests, rejected = shown.tracks if shown.tracks else (None, None)
        if quests is None:
            continue
        assert [place.text for place in quests.places] == ["2", "3", "3", "4", "4"]
        kinds = [place.kind for place in quests.places]
        assert (kinds.count(GOOD), kinds.count(EVIL)) >= (view.good, view.evil)
        if kinds[3] not in (GOOD, EVIL):
            assert quests.places[3].note == "2 fails"
        assert sum(place.kind == EVIL for place in rejected.places) in (view.counted, max(0, view.counted - 1))
        assert rejected.places[-1].note == "evil wins"
        assert next(mark.text for mark in shown.seats[view.leader]) == "leader"
        if rules.actor(state) not in (OVER, -1) and shown.waits:
            assert sum(place.kind == NOW for place in quests.places) == 1


def test_avalon_says_whether_the_naming_of_merlin_was_right():
    told = set()
    for seed in range(12):
        for rules, state, shown in boards("avalon_v0", {"num_players": 5, "rules": "official"}, seed):
            named = [event.move.args for event in board.public(rules.view(state, 0)) if event.move.kind == EXPOSED]
            if named:
                ((_, seat, right),) = named
                assert shown.phase == f"The Assassin named {'Merlin' if right else f'player_{seat}, wrongly'}"
                told.add(right)
    assert told == {0, 1}


@pytest.mark.parametrize("options", [{}, {"num_players": 9, "roles": "hunter"}], ids=str)
def test_werewolf_shows_who_is_dead_and_how(options):
    for rules, state, shown in boards("werewolf_v0", options, 1):
        view = rules.view(state, 0)
        if view.role and not view.night:
            assert [not alive for alive in view.alive] == list(shown.out)
        for seat, out in enumerate(shown.out):
            assert out == any(
                mark.text.startswith(("died, night", "executed, day", "shot by")) for mark in shown.seats[seat]
            )


def test_claims_stand_beside_those_who_made_them_and_reports_beside_the_seat_that_was_checked():
    texts = {
        mark.text
        for seed in range(5)
        for _, _, shown in boards("werewolf_v0", {}, seed)
        for marks in shown.seats
        for mark in marks
    }
    assert any(text.endswith(": evil") for text in texts)
    assert any(text.endswith(": good") for text in texts)
    assert any(text.startswith("says: ") for text in texts)


def test_a_game_without_a_board_of_its_own_shows_claims_alone():
    shown = [board for _, state, board in boards("template_v0", {})]
    assert all(board.phase == "" and board.tracks == () for board in shown)


# -- the leak check ---------------------------------------------------------------------------------------------


class SpareSpec(type(COIN)):
    id = "coin_v0"


def with_the_coin(view):
    return Board(((), ()), phase=f"coin {view.coin}")


def of_one(view):
    return Board(((),))


@pytest.mark.parametrize(("game", "options"), PLAYED)
def test_every_seat_is_shown_the_same_board(game, options):
    public_board(ConfiguredGame(lookup(game).spec, tuple(options.items())))


@pytest.mark.parametrize(("board", "why"), [(with_the_coin, "differ by seat"), (of_one, "seats that a board marks")])
def test_a_board_that_tells_a_secret_or_forgets_a_seat_is_found(board, why, monkeypatch):
    monkeypatch.setitem(BOARDS, "coin_v0", board)
    with pytest.raises(AssertionError, match=why):
        public_board(ConfiguredGame(SpareSpec()))


def test_the_board_waits_for_all_the_living_while_they_bid():
    shown = [
        board
        for rules, state, board in boards("werewolf_v0", {"speaking": "bids"})
        if board.phase == "Day 1: talk and vote" and rules.actor(state) >= 0
    ]
    assert shown
    assert all(board.waits == tuple(seat for seat, out in enumerate(board.out) if not out) for board in shown)
