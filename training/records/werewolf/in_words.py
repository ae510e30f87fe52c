"""Werewolf in the form for any game of hidden roles, `words` (`parlour.training.records.in_words`)."""

from __future__ import annotations

from typing import Final

from parlour.envs.werewolf import GAME
from parlour.envs.werewolf.vocabulary import HEALS
from parlour.training.records.in_words import InWords

WEREWOLF_IN_WORDS: Final = InWords(spec=GAME, opening="order", choices={HEALS: ("keep", "give")})
