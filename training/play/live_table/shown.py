"""ShownTable: after each step, every board is shown what its place knows by then.

Knowledge comes from `Game.view` alone. Watchers see the events that everybody sees; who is to move is shown to nobody, as
that may be a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parlour.envs.core import View
from parlour.training.play.live_table import messages
from parlour.training.play.live_table.boards import Board
from parlour.training.play.live_table.keys import WATCHING
from parlour.training.play.live_table.messages import Message
from parlour.wrappers.base import inner_game
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper


class ShownTable(BaseWrapper[str, Any, Any]):
    """Shows a game to boards as it is played.

    Args:
        env: One of parlour's environments, possibly in wrappers.
        boards: Seat, or `keys.WATCHING` -> the board.
    """

    def __init__(self, env: AECEnv[str, Any, Any], boards: Mapping[int, Board]) -> None:
        super().__init__(env)
        self.game_env, self.boards = inner_game(env, "ShownTable", full=True), boards

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        self._show()

    def step(self, action: Any) -> None:
        super().step(action)
        self._show()

    def _show(self) -> None:
        base = self.game_env
        for place, board in self.boards.items():
            view = base.view(max(place, 0))
            if place == WATCHING:
                public = [event for event in view.events if event.to is None]
                board.show(view, public, watchers_message(base.text, view))
            else:
                board.show(view, view.events, messages.who(base.text, view))


def watchers_message(text: Any, view: View) -> Message:
    """What watchers are told of the table: the rules, and what all seats read alike; nothing of any seat's own."""
    common = getattr(text, "common", None)
    own = "" if common is None else str(common(view))
    return {"type": "who", "own": own, "rules": messages.rules_of(text), "names": messages.names_of(view)}
