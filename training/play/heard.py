"""What was said in a published game is not known where it was imported without its log: `-` stands for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from parlour.envs import replay
from parlour.envs.core import Move
from parlour.envs.language import speech
from parlour.envs.replay import Transcript

NOT_KNOWN: Final = "-"
NOTE: Final = "What was said in this game is not known: it was imported without its log."


def marker(transcript: Transcript) -> Callable[[str], str]:
    """What writes `-` for the words of players into lines of a game whose words are not known, and changes no other."""
    if transcript.heard:
        return lambda shown: shown
    silence = f" says: {speech.quote(replay.text_of(transcript).say(Move(speech.SILENT)))}"
    return lambda shown: shown.replace(silence, f" says: {NOT_KNOWN}")


def said(transcript: Transcript, move: Move) -> str:
    """A move in words; `-` for a speech that is not known."""
    unknown = move.kind in speech.ACTS and not transcript.heard
    return NOT_KNOWN if unknown else replay.text_of(transcript).say(move)
