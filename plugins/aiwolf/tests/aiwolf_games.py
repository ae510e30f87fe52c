"""Games of AIWolf's Werewolf between heuristics, and a player with words of its own, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
from parlour.envs.core import NATURE, OVER
from parlour.policies import Policy
from parlour_aiwolf import GAME
from parlour_aiwolf.heuristic import AIWolfPlayer


def played(players: int, deal: int) -> Any:
    """A game of the heuristic: its rules and its last state."""
    game, rng, players = GAME.build(GAME.options(num_players=players)), np.random.default_rng(deal), {}
    state = game.initial()
    while (seat := game.actor(state)) != OVER:
        if seat == NATURE:
            state = game.apply(state, game.nature(state, rng))
            continue
        view = game.view(state, seat)
        player = players.setdefault(seat, AIWolfPlayer(view, np.random.default_rng((deal, seat))))
        state = game.apply(state, player.act(view))
    return game, state


class Speaks(Policy):
    """Says one line and otherwise plays the first legal move."""

    name = "speaks"
    wants = "text"

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words, self.read = words, list[str]()

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        self.read.append(observation["text"])
        line = any(option == "Over." for option in info["options"])
        return self.words if line else int(info["legal"][-1])
