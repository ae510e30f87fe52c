"""A seat's conversation as a prompt: what of it is read, and how it is written for a model.

A checkpoint with a chat template is written to as the template has it, with the roles `user` (the game) and `assistant` (the
seat), which alternate; there is no system message. One without a template reads the plain form: each message of the game, then
a line that begins with `> ` and holds the seat's words.

If the context is too short, the first message stays (rules, role). The oldest other messages are dropped with their
answers, and a line says how many lines of the record are missing. If the first message and the last do not fit
together, lines of their records go, the oldest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from parlour.envs.core import ParlourError
from parlour.envs.language.headings import ENGLISH, LANGUAGES

USER: Final = "user"
ASSISTANT: Final = "assistant"
PLAIN: Final = "> "
"""Before the words of the seat, where there is no chat template."""


class ToldTurn(NamedTuple):
    """A message to a seat."""

    heading: str
    """The text before the lines of the record: the seat's role, and the heading."""
    lines: tuple[str, ...]
    """Lines of the record, each with its line break."""
    choice: str
    """What may be done now."""
    words: str | None = None
    """What the seat answered; None: it is asked."""


class Conversed(NamedTuple):
    """The messages of a conversation that a model reads."""

    messages: tuple[tuple[str, str], ...]
    """Role and content."""
    left_out: int
    """Lines of the record that it does not hold."""
    gone: int
    """Turns after the first that are left out."""


def plain_form(messages: Sequence[tuple[str, str]]) -> str:
    r"""A conversation for a model without a chat template.

    >>> plain_form([("user", "Vote.\n- Yes.\n"), ("assistant", "Yes."), ("user", "Vote.\n")])
    'Vote.\n- Yes.\n> Yes.\nVote.\n> '
    """
    lines = [f"{PLAIN}{content}\n" if role == ASSISTANT else f"{content.rstrip()}\n" for role, content in messages]
    return "".join([*lines, PLAIN])


@dataclass(frozen=True)
class Fitting:
    """Which part of a conversation fits.

    Args:
        fits: Whether messages have room.
        history: Most earlier turns besides the first; None: no limit.
        language: The table's language.
    """

    fits: Callable[[Sequence[tuple[str, str]]], bool]
    history: int | None = None
    language: str = ENGLISH

    def __call__(self, turns: Sequence[ToldTurn], gone: int = 0) -> Conversed:
        """What is read.

        Args:
            turns: The conversation; the last turn is asked.
            gone: Turns behind the first one that are left out at any rate: those that were left out before.

        Raises:
            ParlourError: Not even the last message has room without its record.
        """
        earlier = max(0, len(turns) - 2)
        if self.history is not None:
            gone = max(gone, earlier - self.history)
        while not self.fits((fitted := self._written(turns, gone, 0, 0)).messages):
            if gone >= earlier:
                return self._without_lines(turns, gone)
            gone += 1
        return fitted

    def _without_lines(self, turns: Sequence[ToldTurn], gone: int) -> Conversed:
        first, last = len(turns[0].lines), len(turns[-1].lines) if len(turns) > 1 else 0
        fewest, most = 1, first + last
        if not self.fits(self._written(turns, gone, first, last).messages):
            raise ParlourError(
                "the last message does not fit into the model's context; accepted: a larger one, or fewer new tokens"
            )
        while fewest < most:
            half = (fewest + most) // 2
            if self.fits(self._written(turns, gone, min(half, first), max(0, half - first)).messages):
                most = half
            else:
                fewest = half + 1
        return self._written(turns, gone, min(most, first), max(0, most - first))

    def _written(self, turns: Sequence[ToldTurn], gone: int, first: int, last: int) -> Conversed:
        """Without `gone` turns behind the first one, and without the oldest lines of the first and of the last message."""
        missing = left_out = sum(len(turn.lines) for turn in turns[1 : 1 + gone]) + first + last
        kept = [turns[0], *turns[1 + gone :]]
        messages: list[tuple[str, str]] = []
        for number, turn in enumerate(kept):
            is_last = number > 0 and number == len(kept) - 1
            cut = first if number == 0 else last if is_last else 0
            mark = ""
            if left_out and (number > 0 or first):  # once, where the first lines are missing
                mark, left_out = LANGUAGES[self.language].left_out.format(number=left_out), 0
            messages.append((USER, f"{turn.heading}{mark}{''.join(turn.lines[cut:])}{turn.choice}"))
            if turn.words is not None:
                messages.append((ASSISTANT, turn.words))
        return Conversed(tuple(messages), missing, gone)
