"""The leak check of boards: a board shows what everybody at the table knows."""

from __future__ import annotations

from typing import Any

from parlour_table.board import board_of


def public_board(table: Any) -> None:
    """Every seat's View gives the same board: it shows nothing that somebody at the table does not know."""
    game = table.game
    for state in table.states:
        boards = {board_of(table.spec, game.view(state, seat), game.seats) for seat in range(game.seats)}
        if len(boards) != 1:
            raise AssertionError(f"the boards of a state differ by seat: {boards}")
        (board,) = boards
        if len(board.seats) != game.seats:
            raise AssertionError(f"seats that a board marks: {len(board.seats)}, in a game of {game.seats}")
