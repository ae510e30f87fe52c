"""Avalon in numbers as one seat sees it, in its own frame: column j is seat (me + j) % n. A function of the View.

Blocks, for n seats and R different roles in play:

    summary         the numbers of `encode.py` without one's own seat number
    record          for each of 25 proposals (five of each quest; zeros where none was made) 3 n + 3 numbers: who led, who was
                    on the team, who approved (1) or rejected (-1), the result, fails / 3, one's own card; with talk, who
                    accused (+) or defended (-) whom, and which roles each seat has claimed
    belief          exact chances (`belief.py`, its default habits) that each seat is evil and that it is Merlin, one's own
                    and an onlooker's, and that the team on the table has no evil member, one's own and an onlooker's

With `"belief:habits=FILE"` (or `"record+belief:habits=FILE"`) the chances are those by habits learned from records.

`"record"` is summary and record, `"belief"` summary and belief, `"record+belief"` all three.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import numpy as np
from parlour.envs import speech
from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits
from parlour.envs.avalon.encode import SEAT_FEATURES, TABLE_SIZE, AvalonEncoder, Features
from parlour.envs.avalon.presets import PROPOSALS, QUESTS
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Event, check_one_of

KINDS: Final = ("summary", "record", "belief", "record+belief")
_SLOTS: Final = QUESTS * PROPOSALS


class _Block(Protocol):
    """Some of the features."""

    names: list[str]

    def see(self, view: AvalonView, event: Event) -> None:
        """Take in the next event."""

    def write(self, view: AvalonView, features: Features) -> None:
        """Write the numbers, shape (len(names),)."""


class AvalonSeatEncoder:
    """Satisfies `parlour.envs.core.SeatEncoder`.

    Args:
        game: The rules.
        features: One of `KINDS`.
        habits: By which chances are told; None: the fixed rates.

    Raises:
        ParlourError: There is no such kind.
    """

    def __init__(self, game: Avalon, features: str, habits: AvalonHabits | None = None) -> None:
        check_one_of("features", features, KINDS)
        self._game, self._kinds, self._habits = game, features, habits
        self._events: tuple[Event, ...] = ()
        self._key: tuple[Any, ...] = ()
        self._blocks = self._anew(None)
        self.names = [name for block in self._blocks for name in block.names]
        self.size = len(self.names)

    def __call__(self, view: AvalonView) -> Features:
        self._read(view)
        features = np.zeros(self.size, dtype=np.float32)
        at = 0
        for block in self._blocks:
            block.write(view, features[at : at + len(block.names)])
            at += len(block.names)
        return np.clip(features, -1.0, 1.0, out=features)

    def _read(self, view: AvalonView) -> None:
        """Read the events that are new; all of them in another game or for another seat."""
        key = (view.seat, view.role, view.knows)
        seen = len(self._events)
        if key != self._key or view.events[:seen] != self._events:
            self._blocks, seen = self._anew(view), 0
        for event in view.events[seen:]:
            for block in self._blocks:
                block.see(view, event)
        self._key, self._events = key, view.events

    def _anew(self, view: AvalonView | None) -> list[_Block]:
        blocks: list[_Block] = [_Summary(self._game)]
        if "record" in self._kinds:
            blocks.append(_Record(self._game))
        if "belief" in self._kinds:
            blocks.append(_Belief(self._game, view, self._habits))
        return blocks


def place_name(place: int) -> str:
    """What a seat is called from oneself: `me`, `+1`, ..."""
    return "me" if place == 0 else f"+{place}"


class _Summary:
    """The numbers of `encode.py`, seats turned."""

    def __init__(self, game: Avalon) -> None:
        n = game.seats
        self._encoder = AvalonEncoder(game)
        self._seats, self._from, self._to = n, n + len(game.role_names), self._encoder.at_table
        table = self._encoder.names
        self.names = [
            *table[n : self._from],
            *(f"{place_name(j)}: {feature}" for j in range(n) for feature in SEAT_FEATURES),
            *table[self._to : self._to + TABLE_SIZE],
        ]
        self._in_table = len(self.names)
        """Where what is told of the consultation begins, if there is one: whether the seat speaks, then seat after seat."""
        if len(table) > self._to + TABLE_SIZE:
            self.names.append(table[self._to + TABLE_SIZE])
            said = [feature.partition(": ")[2] for feature in table[self._to + TABLE_SIZE + 1 :: n]]
            self.names += [f"{place_name(j)}: {feature}" for feature in said for j in range(n)]

    def see(self, view: AvalonView, event: Event) -> None:
        pass  # `encode.py` reads the whole view

    def write(self, view: AvalonView, features: Features) -> None:
        n, table = self._seats, self._encoder(view)
        own_role = self._from - n
        features[:own_role] = table[n : self._from]
        of_seats = np.roll(table[self._from : self._to].reshape(n, -1), -view.seat, axis=0)
        features[own_role : self._in_table - TABLE_SIZE] = of_seats.ravel()
        features[self._in_table - TABLE_SIZE : self._in_table + 1] = table[self._to : self._to + TABLE_SIZE + 1]
        if len(features) > self._in_table:
            consulted = table[self._to + TABLE_SIZE + 1 :].reshape(-1, n)
            features[self._in_table + 1 :] = np.roll(consulted, -view.seat, axis=1).ravel()


class _Record:
    """What happened, proposal by proposal, seats as at the table until it is written."""

    def __init__(self, game: Avalon) -> None:
        n, roles = game.seats, game.role_names
        self._talk = game.talk
        self._slot = -1
        self._proposals = np.zeros((_SLOTS, 3, n), dtype=np.float32)  # led, team, vote
        self._results = np.zeros((_SLOTS, 3), dtype=np.float32)  # success or not, fails / 3, own card
        self._remarks = np.zeros((n, n), dtype=np.float32)
        self._claims = np.zeros((n, len(roles)), dtype=np.float32)
        places = [place_name(j) for j in range(n)]
        self.names = []
        for slot in range(_SLOTS):
            at = f"quest {slot // PROPOSALS + 1}, proposal {slot % PROPOSALS + 1}"
            self.names += [f"{at}: {place} {did}" for did in ("led", "on the team", "voted") for place in places]
            self.names += [f"{at}: {what}" for what in ("succeeded", "fails / 3", "my card")]
        if self._talk:
            self.names += [f"{a} accused, less defended {b} / 5" for a in places for b in places]
            self.names += [f"{place} claimed {role}" for place in places for role in roles]

    def see(self, view: AvalonView, event: Event) -> None:
        seat, (kind, args, _), _ = event
        if kind == vocabulary.LEADS:
            self._lead(quest=args[0])
        elif kind == vocabulary.TEAM:
            self._proposals[self._slot, 0, seat] = 1.0
            self._proposals[self._slot, 1, list(args)] = 1.0
        elif kind == vocabulary.VOTES:
            self._proposals[self._slot, 2] = [1.0 if vote else -1.0 for vote in args[1:]]
        elif kind == vocabulary.DRAWN:
            named, drawn = self._proposals[self._slot, 1], np.zeros(len(view.roles), dtype=np.float32)
            drawn[list(args)] = 1.0
            self._proposals[self._slot, 1] = np.where(named == drawn, named, named - 0.5)
        elif kind == vocabulary.CARD and seat == view.seat:
            self._results[self._slot, 2] = 1.0 if args[0] else -1.0
        elif kind == vocabulary.FAILS:
            self._results[self._slot, :2] = 1.0 if args[2] else -1.0, args[1] / 3
        elif kind in speech.ACTS:
            self._hear(seat, kind, args)

    def _lead(self, quest: int) -> None:
        """The next proposal of a quest."""
        first = quest * PROPOSALS
        self._slot = max(self._slot + 1, first)

    def _hear(self, speaker: int, kind: str, args: tuple[int, ...]) -> None:
        if kind == speech.CLAIM_ROLE:
            self._claims[speaker, args[0]] = 1.0
        elif kind == speech.ACCUSE:
            self._remarks[speaker, args[0]] += 0.2
        elif kind in (speech.DEFEND, speech.RECOMMEND) and args[0] != speaker:
            self._remarks[speaker, args[0]] -= 0.2

    def write(self, view: AvalonView, features: Features) -> None:
        turned = np.roll(self._proposals, -view.seat, axis=2).reshape(_SLOTS, -1)
        proposals = np.concatenate([turned, self._results], axis=1).ravel()
        features[: len(proposals)] = proposals
        if self._talk:
            said = np.roll(self._remarks, (-view.seat, -view.seat), axis=(0, 1)).ravel()
            claimed = np.roll(self._claims, -view.seat, axis=0).ravel()
            features[len(proposals) :] = np.concatenate([said, claimed])


class _Belief:
    """Posterior chances, one's own and an onlooker's."""

    def __init__(self, game: Avalon, view: AvalonView | None, habits: AvalonHabits | None) -> None:
        places = [place_name(j) for j in range(game.seats)]
        self.names = [
            f"{whose} {what} {place}"
            for whose in ("mine:", "onlooker's:")
            for what in ("evil", "Merlin")
            for place in places
        ]
        self.names += ["mine: team clean", "onlooker's: team clean"]
        self._beliefs: tuple[AvalonBelief, ...] = ()
        if view is not None and view.role:
            own = AvalonBelief(view.roles, view.seat, view.role, view.knows, habits, view.guesser)
            self._beliefs = own, AvalonBelief(view.roles, -1, "", (), habits, view.guesser)

    def see(self, view: AvalonView, event: Event) -> None:
        seat, (kind, args, words), _ = event
        for belief in self._beliefs:
            belief.see(seat, kind, args, words)

    def write(self, view: AvalonView, features: Features) -> None:
        if self._beliefs:
            chances = [chance for b in self._beliefs for chance in (b.evil_chance(), b.merlin_chance())]
            features[:-2] = np.roll(np.array(chances), -view.seat, axis=1).ravel()
            features[-2:] = [b.clean_chance(view.team) if view.team else 0.0 for b in self._beliefs]
