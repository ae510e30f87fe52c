"""A person at a live table, as a player: asked through a board, answered for by the table when the clock runs out."""

from __future__ import annotations

from typing import Any, ClassVar

from parlour.envs.core import GameText, View
from parlour.envs.entries import TextAction
from parlour.envs.headings import headings_of, sections_of
from parlour.envs.text import OPTION, clean
from parlour.policies import HumanPolicy
from parlour.policies.base import Policy
from parlour.training.play.live_table.boards import Board, Question
from parlour.training.play.rollout import Stopped

CLOCK = "clock"
"""Why the table made a move in a person's place; see `parlour.envs.entries.Entry.replaced`."""


class Person(Policy):
    """Asks whoever sits at a board.

    Args:
        board: Where it is asked.
        text: The wording of the game.
        clock: Seconds for a move; None: no clock.
    """

    name: ClassVar[str] = HumanPolicy.name
    wants: ClassVar[str] = "text"
    waits: ClassVar[bool] = True
    """Seats that decide at the same moment are asked at once (`parlour.training.play.moments`)."""

    def __init__(self, board: Board, text: GameText[Any], clock: float | None) -> None:
        super().__init__()
        self._board, self._text, self._clock = board, text, clock

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        view: View = info["view"]
        question = Question(
            self._text.ask(view.legal),
            info["options"],
            info["free_words"],
            self._refused(observation["text"]),
            lambda words: self._text.parse(clean(words), view),
        )
        given = self._board.ask(question, self._clock)
        if given is not None:
            return given.words if given.option is None else info["legal"][given.option]
        if self._board.closed:
            raise Stopped
        return TextAction(self._text.default("", view, self.rng), None, CLOCK)

    def _refused(self, prose: str) -> list[str]:
        """What the table says of earlier answers, behind the options."""
        sections, prefix = sections_of(prose), headings_of(self._text).refused
        lines = [] if sections is None else sections.choice.splitlines()[1:]
        return [line.removeprefix(prefix) for line in lines if line.startswith(prefix) and not line.startswith(OPTION)]
