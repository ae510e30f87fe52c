"""The yardstick of trust at Werewolf: Bayes by stated habits, of a reader whose rates of error are known.

It hears what the seats hear that err (`parlour.policies.llm.noise`), and knows how often that is wrong: a statement counts by
its chance under each hypothesis, over all that may have been said. It is the belief of `parlour.envs.werewolf.belief`, with fixed
rates as habits, not the actual players' habits: exact for the noise, and as good as its habits for the players.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Final

import numpy as np
from parlour.envs import speech
from parlour.envs.core import NATURE, Event
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import Array, SeatBeliefs, WerewolfHabits, WolfBelief
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.policies.agents.werewolf import notes, reading
from parlour.policies.llm.noise import MisreadingModel, ReadingNoise

Said = tuple[str, int]
"""What is said: `accuse`, `defend`, `evil` or `good` (a report) with a player; or `claim` with a place in `_ROLES`."""
_CONTRARY: Final = {"accuse": "defend", "defend": "accuse", "evil": "good", "good": "evil"}
_ROLES: Final = (game.VILLAGER, game.WITCH, game.SEER, game.GUARD)


class NoisyBayes:
    """What one seat of the village believes of the others in one game.

    Args:
        view: The seat's View, after the deal.
        seed: The game's.
        noise: The rates at which it errs, which it knows.
        habits: How seats behave; None: the fixed rates.
    """

    def __init__(
        self, view: WerewolfView, seed: int, noise: ReadingNoise, habits: WerewolfHabits | None = None
    ) -> None:
        self._beliefs, self._noise = SeatBeliefs(view, habits, onlooker=False), noise
        self._ear = MisreadingModel(noise, seed, view.seat, "bayes")
        self._read, self._day = 0, 1

    def trust(self, view: WerewolfView) -> list[float]:
        """Trust in each player, in seat order: 1 - 2 times the chance that it is a werewolf."""
        for event in view.events[self._read :]:
            self._see(event, view)
        self._read = len(view.events)
        return [float(1 - 2 * chance) for chance in self._beliefs.own.wolf_chance()]

    def _see(self, event: Event, view: WerewolfView) -> None:
        if event.seat == NATURE and event.move.kind in (game.NIGHT, game.DAY):
            self._day = event.move.args[0]
        spoken = event.seat not in (NATURE, view.seat) and event.to is None and event.move.kind not in game.TARGETED
        if not (spoken and self._noise):
            self._beliefs.see(event, view)
            return
        for message in notes.messages(event, view.role_names, self._day):
            message_read = notes.one_heard(message, self._ear, len(view.roles), self._day)
            said = None if message_read is None else _said(message_read, len(view.roles))
            if said is not None:
                likelihood = sum(
                    share * self._chance(event.seat, meaning) for share, meaning in self._meant(event.seat, said)
                )
                self._beliefs.own.weigh(np.asarray(likelihood))

    def _meant(self, speaker: int, said: Said) -> Iterator[tuple[float, Said]]:
        """What may have been said where this was heard, with the chance of hearing it so."""
        kind, about = said
        wrong, players = self._noise.misread, self._beliefs.own.players
        yield 1 - wrong, said
        if kind == "claim":
            yield from ((wrong / (len(_ROLES) - 1), (kind, role)) for role in range(len(_ROLES)) if role != about)
            return
        others = [seat for seat in range(players) if seat not in (speaker, about)]
        yield from ((wrong / 2 / len(others), (kind, seat)) for seat in others)
        yield wrong / 2, (_CONTRARY[kind], about)

    def _chance(self, speaker: int, said: Said) -> Array:
        """How likely it is that somebody says this, under each hypothesis."""
        alone: WolfBelief = copy(self._beliefs.own)
        alone.log_weights = np.zeros_like(alone.log_weights)
        kind, about = said
        if kind == "accuse":
            alone.see_accusation(speaker, about)
        elif kind == "defend":
            alone.see_defence(speaker, about)
        elif kind == "claim":
            alone.see_claim(speaker, _ROLES[about])
        else:
            alone.see_report(speaker, about, wolf=kind == "evil")
        chance: Array = np.exp(alone.log_weights)
        return chance


def _said(message: notes.HeardMessage, players: int) -> Said | None:
    """What a statement says, as far as the belief weighs it."""
    judged = reading.read(message.speaker, message.text, players)
    for intent in judged.intents:
        against = intent.kind != reading.DEFEND
        if intent.score == reading.CHECK:
            return ("evil" if against else "good"), intent.target
        return (speech.ACCUSE if against else speech.DEFEND), intent.target
    roles = [judgement.identity.capitalize() for judgement in judged.judgements if judgement.player == message.speaker]
    return ("claim", _ROLES.index(roles[0])) if roles and roles[0] in _ROLES else None
