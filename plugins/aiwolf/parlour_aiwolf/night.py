"""The nights of AIWolf's Werewolf in the parallel form: a fixed number of cycles. A seat cannot learn who acts unseen.

A night has a cycle for each turn of whispers that there can be, one for the first vote of the wolves, and one for each revote
(`parlour.envs.adapters.moment`; source: ours). The seer decides in the first cycle, the bodyguard together with the wolves' first vote.
"""

from __future__ import annotations

from itertools import takewhile

from parlour.envs.core import Event, Move
from parlour.envs.language import speech
from parlour.envs.werewolf.vocabulary import (
    CHECKS,
    CHOSEN,
    GUARDS,
    KILL,
    NIGHT,
    SEER,
    WEREWOLF,
    WerewolfView,
    living_wolves,
)

from parlour_aiwolf.state import AIWolfChoices
from parlour_aiwolf.vocabulary import ATTACK_VOTES, BODYGUARD, REMARK, TALK_OVER, AIWolfRules


class AIWolfNight:
    """The nights of one table.

    Args:
        rules: The preset.
        choices: What is legal at each decision.
        talk: Whether the wolves whisper.
    """

    def __init__(self, rules: AIWolfRules, choices: AIWolfChoices, *, talk: bool) -> None:
        wolves = rules.roles.count(WEREWOLF)
        self._rules, self._choices = rules, choices
        self._whispers = rules.talk_turns if talk and wolves > 1 else 0
        self._votes = 1 + (rules.revotes if wolves > 1 else 0)

    def hidden_cycles(self, view: WerewolfView) -> int:
        """How many cycles a night lasts; 0 by day. In night 0 nobody is attacked."""
        if not view.night:
            return 0
        return max(self._whispers, 1) if view.day == 0 else self._whispers + self._votes

    def asked(self, view: WerewolfView, cycle: int) -> tuple[Move, ...]:
        """What the seat may choose from in a cycle of the night; empty if it waits."""
        seat = view.seat
        if not view.alive[seat]:
            return ()
        if view.role == SEER:
            return self._aim(CHECKS, view) if cycle == 0 else ()
        if view.role == BODYGUARD:
            return self._aim(GUARDS, view) if view.day and cycle == self._whispers else ()
        if view.role != WEREWOLF:
            return ()
        return self._vote(view, cycle) if cycle >= self._whispers else self._whisper(view, cycle)

    def _aim(self, kind: str, view: WerewolfView, wolves: tuple[int, ...] = ()) -> tuple[Move, ...]:
        return self._choices.aim(kind, view.seat, view.alive, wolves).legal

    def _vote(self, view: WerewolfView, cycle: int) -> tuple[Move, ...]:
        """In the first cycle of votes, and in the next ones as long as a victim is not chosen."""
        kinds = [event.move.kind for event in _tonight(view)]
        voted = kinds.count(ATTACK_VOTES)
        if view.day == 0 or CHOSEN in kinds or voted != cycle - self._whispers:
            return ()
        return self._aim(KILL, view, living_wolves(view))

    def _whisper(self, view: WerewolfView, cycle: int) -> tuple[Move, ...]:
        """As long as not all wolves were over in one turn."""
        wolves = living_wolves(view)
        lines = [event for event in _tonight(view) if event.seat >= 0 and event.move.kind in _WHISPERED]
        if len(wolves) < 2 or len(lines) != cycle * len(wolves):
            return ()
        if lines and all(event.move.kind == TALK_OVER for event in lines[-len(wolves) :]):
            return ()
        count, skipped = _said(lines, view.seat)
        if count >= self._rules.talk_lines:
            return ()
        return self._choices.whisper(view.alive, wolves, skipped < self._rules.skips).legal


_WHISPERED = (speech.SILENT, speech.RECOMMEND, REMARK, TALK_OVER)


def _tonight(view: WerewolfView) -> list[Event]:
    """What the seat has seen since night fell."""
    return list(takewhile(lambda event: event.move.kind != NIGHT, reversed(view.events)))[::-1]


def _said(lines: list[Event], seat: int) -> tuple[int, int]:
    """Lines that the seat said, and how often it skipped since the last one."""
    count = skipped = 0
    for event in lines:
        if event.seat == seat and event.move.kind == speech.SILENT:
            skipped += 1
        elif event.seat == seat and event.move.kind != TALK_OVER:
            count, skipped = count + 1, 0
    return count, skipped
