"""Coin in words. What cannot be read is taken as saying nothing, or as a guess of heads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from parlour.envs._template.vocabulary import FACES, GUESS, GUESSER, GUESSES, KEEPER, SIDES, CoinView
from parlour.envs.core import NATURE, Event, Move, Outcome
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.language.text import MoveSentences, read_choice, read_speech, say_speech, speech_line

if TYPE_CHECKING:
    import numpy as np

_GUESSES: Final = {
    move: re.compile(rf"\b(?P<word>{face})\b", re.IGNORECASE) for move, face in zip(GUESSES, FACES, strict=True)
}


class CoinText(MoveSentences[CoinView]):
    """Satisfies `parlour.envs.core.GameText`."""

    def who(self, view: CoinView) -> str:
        if view.seat == KEEPER:
            return f"You are {name(view.seat)}, the keeper. You win if the guess is wrong.\n"
        return f"You are {name(view.seat)}, the guesser. You win if you guess which side is up.\n"

    def line(self, event: Event) -> str:
        if event.seat == NATURE:
            return f"The coin shows {FACES[event.move.args[0]]}.\n"
        if event.move.kind == GUESS:
            return f"{name(event.seat)} guesses {FACES[event.move.args[0]]}.\n"
        return speech_line(event.seat, event.move, self.say(event.move))

    def ask(self, legal: tuple[Move, ...]) -> str:
        return "Guess which side is up." if legal == GUESSES else "Speak to the guesser."

    def why(self, outcome: Outcome) -> str:
        """Why a game ended as it did, a clause."""
        return f"the guess was {'right' if outcome.winner == SIDES[GUESSER] else 'wrong'}"

    def say(self, move: Move) -> str:
        if move.kind == GUESS:
            return f"I guess {FACES[move.args[0]]}."
        if move.kind == speech.PROMISE:
            return f"It is {FACES[move.args[0]]}."
        return say_speech(move, ())

    def parse(self, text: str, view: CoinView) -> Move:
        exact = self.exact(text, view.legal)
        if exact is not None:
            return exact
        return read_choice(text, _GUESSES) if view.legal == GUESSES else read_speech(text, view, ())

    def default(self, text: str, view: CoinView, rng: np.random.Generator) -> Move:
        return view.legal[0]
