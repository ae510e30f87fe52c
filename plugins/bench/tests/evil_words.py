"""Heuristics of Avalon that differ in what they say when they are evil, and in nothing else; seated as `evil_words:NAME`."""

from __future__ import annotations

from typing import Any

from parlour.envs.core import Move
from parlour.envs.language import speech
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.policies.heuristic.policy import HeuristicPolicy


class _TrueWords(AvalonPlayer):
    """Says the same kinds of things as the heuristic, but only what is true: it accuses fellows and speaks for good seats."""

    def _evil_speech(self) -> Move:
        said = super()._evil_speech()
        assert self.onlooker is not None
        suspicion = self.onlooker.evil_chance()
        if said.kind == speech.ACCUSE:
            return Move(speech.ACCUSE, (max(self._fellows - {self._me}, key=lambda j: suspicion[j]),))
        good = set(range(len(suspicion))) - self._fellows
        return Move(said.kind, (min(good, key=lambda j: suspicion[j]),))


class _NoWords(AvalonPlayer):
    def _evil_speech(self) -> Move:
        return Move(speech.SILENT)


class Liar(HeuristicPolicy):
    """The heuristic."""

    name = "liar"
    player_class: Any = AvalonPlayer

    def _seated(self, player: Any, view: Any) -> Any:
        return super()._seated(self.player_class, view)


class Honest(Liar):
    name = "honest"
    player_class = _TrueWords


class Silent(Liar):
    name = "silent"
    player_class = _NoWords
