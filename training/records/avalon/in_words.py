"""Avalon in the form for any game of hidden roles, `words` (`parlour.training.records.in_words`)."""

from __future__ import annotations

from typing import Final

from parlour.envs.avalon import GAME
from parlour.envs.avalon.vocabulary import BALLOT, CARD
from parlour.training.records.in_words import InWords

AVALON_IN_WORDS: Final = InWords(
    spec=GAME, opening="leader", choices={BALLOT: ("reject", "approve"), CARD: ("fail", "success")}
)
