"""The free words of a person at a table: what they are taken as, and how the record shows them.

A game's own text reads its canonical sentences and what is close to them. People speak more freely: where the game finds
no claim, the reader of `parlour.envs.language.claims` looks for a claim that the rules allow. A question claims nothing.
"""

from __future__ import annotations

from typing import Any, Final

from parlour.envs.core import GameText, Move, View
from parlour.envs.language.claims import PROPOSE, claims
from parlour.envs.language.headings import headings_of, sections_of
from parlour.envs.language.questions import questions, statements
from parlour.envs.language.speech import ACCUSE, ACTS, DEFEND, RECOMMEND, SILENT
from parlour.envs.language.text import clean, say_speech

_AS_ACT: Final = {ACCUSE: ACCUSE, DEFEND: DEFEND, PROPOSE: RECOMMEND}
"""Kind of claim -> the act that it is; claims of the first kind come first."""
_MOST_SEATS: Final = 100
_NO_CLAIM: Final = f" (taken as: {say_speech(Move(SILENT), ())})"


class FreeWords:
    """The words of people at a table.

    Args:
        text: The wording of the table.
    """

    def __init__(self, text: GameText[Any]) -> None:
        self.text = text

    def read(self, words: str, view: View) -> Move:
        """The move in the words of a person, with the words.

        Raises:
            ParlourError: The words are no move: as `GameText.parse`.
        """
        words = clean(words)
        move = self.text.parse(words, view)
        if move.kind not in ACTS or not move.words or Move(SILENT) not in view.legal:
            return move
        stated = statements(words)
        if stated != words:
            move = self.text.parse(stated, view) if stated else Move(SILENT)
        if move.kind != SILENT:
            return move._replace(words=words)
        allowed = {(move.kind, move.args) for move in view.legal}
        claimed = [
            claim for claim in claims(stated, view.seat, _MOST_SEATS) if claim.kind in _AS_ACT and not claim.some
        ]
        for kind, act in _AS_ACT.items():
            for seat in (seat for claim in claimed if claim.kind == kind for seat in claim.seats):
                if (act, (seat,)) in allowed:
                    return Move(act, (seat,), words)
        return Move(SILENT, (), words)

    def understood(self, move: Move) -> str:
        """What words were taken as: a sentence of the table, and the questions in them; empty for words that are neither."""
        claim = "" if move.kind == SILENT else self.text.say(Move(move.kind, move.args))
        asked = [question.asked() for question in questions(move.words)] if move.kind in ACTS else []
        return " ".join(filter(None, (claim, *asked)))

    def refused(self, prose: str) -> list[str]:
        """The lines of an observation about earlier answers, behind the options."""
        sections, prefix = sections_of(prose), headings_of(self.text).refused
        lines = [] if sections is None else sections.choice.splitlines()[1:]
        return [line.removeprefix(prefix) for line in lines if line.startswith(prefix) and not line.startswith("- ")]

    @staticmethod
    def as_said(line: str) -> str:
        r"""A line of the record for people: words without a claim stand as they were said.

        >>> FreeWords.as_said('player_1 says: "Hm." (taken as: I have nothing to say.)\n')
        'player_1 says: "Hm."\n'
        """
        end = f'"{_NO_CLAIM}\n'
        return f'{line.removesuffix(end)}"\n' if line.endswith(end) else line
