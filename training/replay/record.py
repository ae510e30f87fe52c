"""The record of a game: each line once, with who knows it from which step on. Read from the seats' Views.

The states' logs tell the order of lines that different seats were shown at one step, and what nobody was shown; no line
gets a seat into its `to` that its View does not hold.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Final

from parlour.envs.core import NATURE, Event
from parlour.envs.language.english import name
from parlour.envs.language.free_words import FreeWords
from parlour.training.play import heard
from parlour.training.replay.model import Line, SelfKnowledge
from parlour.training.replay.played import PlayedGame

_Queues = dict[int, deque[Event]]
NOBODY: Final = ()


def lines_of(played: PlayedGame) -> tuple[Line, ...]:
    """All lines, in the order in which they came; secret moves among them, which nobody at the table is shown."""
    shown: dict[int, _Queues] = defaultdict(dict)
    for seat in range(played.game.seats):
        for news in played.news(seat):
            shown[news.step][seat] = deque(news.events)
    known = heard.marker(played.transcript)
    return tuple(line for step in range(len(played.entries)) for line in _of_step(played, step, shown[step], known))


def _of_step(played: PlayedGame, step: int, queues: _Queues, known: Callable[[str], str]) -> Iterator[Line]:
    before, after = played.states[step].log, played.states[step + 1].log
    entry, logged = played.entries[step], after[len(before) :]
    if entry.move is not None and entry.seat != NATURE and all(event.seat != entry.seat for event in logged):
        # before what it brings about: the last of several simultaneous votes is followed by their count
        said = f"(secretly) {name(entry.seat)}: {played.text.say(entry.move)}"
        yield Line(step, entry.seat, entry.move.kind, said, NOBODY, entry.move.words)
    for event in logged:
        holders = tuple(seat for seat, queue in queues.items() if queue and queue[0] == event)
        for seat in holders:
            queues[seat].popleft()
        yield _line(played, step, event, holders, known)
    left = dict.fromkeys(event for queue in queues.values() for event in queue)
    for event in left:
        yield _line(played, step, event, tuple(seat for seat, queue in queues.items() if event in queue), known)


def _line(played: PlayedGame, step: int, event: Event, holders: tuple[int, ...], known: Callable[[str], str]) -> Line:
    everybody = event.to is None and len(holders) == played.game.seats
    text = known(FreeWords.as_said(played.text.line(event))).removesuffix("\n")
    words = "" if event.seat == NATURE else event.move.words
    return Line(step, event.seat, event.move.kind, text, None if everybody else tuple(sorted(holders)), words)


def self_knowledge(played: PlayedGame) -> tuple[SelfKnowledge, ...]:
    """The first section of each seat's text, where it changed; the rules of the table, which are the same for all, left out."""
    sections = []
    for seat in range(played.game.seats):
        before = ""
        views = {0: played.view(seat, 0)} if played.entries else {}
        for step, view in (views | {news.step: news.view for news in played.news(seat)}).items():
            section = played.text.who(view)
            if section != before:
                text = section.removesuffix("\n").removesuffix(rules_of(played)).rstrip("\n")
                sections.append(SelfKnowledge(step, seat, text))
                before = section
    return tuple(sorted(sections, key=lambda known: (known.step, known.seat)))


def rules_of(played: PlayedGame) -> str:
    """The rules of the table in words, where the game's text has them as one piece; else empty."""
    return str(getattr(played.text, "rules", ""))  # as `GameText` says, a text may have it besides
