"""The knowledge of one seat of Werewolf, round by round, and which of many array games fit it.

A round is a night, one public move, or a vote. By night a seat knows its own moves, what the moderator told it, and at dawn the
dead; the rest was drawn by others. Whoever plays many games through these rounds asks here which moves are given, which hidden moves
make the known dawn likely, and which games fit. Seats are numbers at the table; moves are numbers in the frame of the seat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from parlour.envs.batch.werewolf.layout import (
    CHECK,
    HUNT,
    LAST,
    POISON,
    PROTECT,
    SAVE,
    SHOOT,
    TALK,
    VOTE,
    WHISPER,
    Array,
    rules_of,
)
from parlour.envs.batch.werewolf.options import NONE
from parlour.envs.core import NATURE, Event, Move
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.vocabulary import WerewolfView, known_wolves

_PHASES: Final = {
    speech.RECOMMEND: WHISPER,
    game.KILL: HUNT,
    game.GUARDS: PROTECT,
    game.HEALS: SAVE,
    game.POISONS: POISON,
    game.CHECKS: CHECK,
    game.BALLOT: VOTE,
    game.SHOOTS: SHOOT,
}
_STRONG: Final = 6.0
_WEAK: Final = 2.5
"""Added to the log-probability of hidden moves that lead to what is known, before one is drawn."""


@dataclass(frozen=True)
class Round:
    """One round, as a seat knows it."""

    phase: int
    """`WHISPER` for a night, `TALK` for one public move, `VOTE` for a vote."""
    day: int
    moves: Mapping[tuple[int, int], Move] = field(default_factory=dict)
    """(seat, phase) -> the move, where the seat knows it."""
    closed: bool = True
    """Whether the round is over."""
    dead: tuple[int, ...] | None = None
    """Who died in a night that is over."""
    attacked: tuple[int, ...] | None = None
    """The seat attacked, as the moderator tells the witch, or chosen, as he tells the werewolves; None if he told nothing."""
    shoots: bool = False
    """Whether the hunter shoots after it."""

    @property
    def once(self) -> bool:
        """Whether it is a single move."""
        return self.phase == TALK


class WerewolfRounds:
    """The rounds of one table.

    Args:
        rules: The scalar game.
    """

    def __init__(self, rules: Werewolf) -> None:
        self._game, self._r = rules, rules_of(rules, WerewolfHabits())[0]

    def of(self, view: WerewolfView) -> list[Round]:
        """The rounds behind a View of a seat that is to move; the last one may be open."""
        closed = list(_closed(view))
        night = _night(_since_night(view.events), view.day) if view.night else None
        if night is not None:
            return [*closed, night]
        return [*closed, Round(VOTE, view.day, closed=False)] if view.legal[-1].kind == game.BALLOT else closed

    def deals(self, view: WerewolfView, count: int, rng: np.random.Generator) -> Array:
        """Deals that fit the known roles, drawn without repetition as far as there are so many.

        Returns:
            (count, 2n): the `args` of nature's first move; no row if no deal was found.
        """
        n = self._game.seats
        known = self._known_roles(view)
        free = [seat for seat in range(n) if seat not in known]
        free_roles = list(self._game.deck)
        for role in known.values():
            free_roles.remove(role)
        roles = np.empty((8 * count, n), np.int64)
        for seat, role in known.items():
            roles[:, seat] = role
        roles[:, free] = rng.permuted(np.tile(free_roles, (len(roles), 1)), axis=1)
        roles = np.unique(roles[self._agree(roles, view)], axis=0)
        rows = rng.permutation(max(len(roles), count))[:count] % max(len(roles), 1)
        return np.hstack((roles[rows], np.tile(view.speakers, (count, 1)))) if len(roles) else np.empty((0, 2 * n))

    def goes_on(self, past: Round, games: Any) -> Array:
        """(B,) bool: the games in which the round is not over."""
        here = (games.actor >= 0) & (games.day == past.day)
        if past.phase == WHISPER:
            return here & (games.phase <= CHECK)
        return here & ((games.phase == VOTE) if past.phase == VOTE else np.isin(games.phase, (TALK, LAST, VOTE, SHOOT)))

    def fits(self, past: Round, games: Any, view: WerewolfView) -> Array:
        """(B,) bool: the games that played the round as the seat saw it."""
        fit: Array = self._agree(games.roles[:, : self._game.seats], view)
        if past.attacked is not None:
            targets = games.attacked if view.role == game.WITCH else games.chosen
            fit &= targets == (past.attacked[0] if past.attacked else NONE)
        if past.closed:
            fit &= (games.actor >= 0) & ((games.phase == SHOOT) == past.shoots)
        if past.dead is not None:
            died = (games.died_on[:, : self._game.seats] == past.day) & (games.by_night[:, : self._game.seats] == 1)
            fit &= (died == np.isin(np.arange(self._game.seats), past.dead)).all(axis=1)
        return fit

    def given(self, past: Round, seat: int, phase: int) -> Move | None:
        """The move of a seat in a phase of the round; None if it is hidden."""
        return past.moves.get((seat, TALK if phase == LAST else phase))

    def lean(self, past: Round, games: Any, rows: Array, log_probs: Array) -> None:
        """Add to the log-probabilities of hidden moves of a night that lead to what is known.

        Args:
            past: The round.
            games: The records.
            rows: (m,): games whose seat to move makes a hidden move.
            log_probs: (m, A): written over.
        """
        if past.phase != WHISPER:
            return
        phase, actor, victim = games.phase[rows], games.actor[rows], games.victim[rows]
        of_wolf = any(move_phase == HUNT for _, move_phase in past.moves)
        wanted = past.attacked or past.dead or ()
        for target in wanted:
            self._add(log_probs, phase == HUNT, HUNT, target, actor, _STRONG if past.attacked else _WEAK)
        if past.attacked == () and of_wolf:
            log_probs[phase == HUNT, self._r.idle[HUNT]] += _STRONG
        # the witch hears of it after the guard's work
        dead = past.dead if of_wolf or past.attacked is None else past.attacked
        if dead is None:
            return
        lost = np.isin(victim, dead)
        protect = (phase == PROTECT) & (victim != NONE)
        self._add(log_probs, protect & lost, PROTECT, victim, actor, -_STRONG)
        self._add(log_probs, protect & ~lost, PROTECT, victim, actor, _WEAK)
        log_probs[(phase == SAVE) & ~lost, self._r.idle[SAVE] + 1] += _STRONG
        log_probs[(phase == SAVE) & lost, self._r.idle[SAVE]] += _STRONG
        if past.dead is not None:
            self._lean_poison(past.dead, games, rows, log_probs)

    # -- inside ------------------------------------------------------------------------------------------------

    def _lean_poison(self, dead: tuple[int, ...], games: Any, rows: Array, log_probs: Array) -> None:
        phase, actor = games.phase[rows], games.actor[rows]
        spared = (games.saved[rows] == 1) | (games.victim[rows] == games.protected[rows])
        killed = np.where(spared, NONE, games.victim[rows])
        missing = np.zeros(len(rows), bool)
        for target in dead:
            also = (phase == POISON) & (killed != target)
            self._add(log_probs, also, POISON, target, actor, _STRONG)
            missing |= also
        log_probs[(phase == POISON) & ~missing, self._r.idle[POISON]] += _STRONG

    def _add(self, log_probs: Array, where: Array, phase: int, target: Any, actor: Array, what: float) -> None:
        at = np.flatnonzero(where)
        place = (np.broadcast_to(target, actor.shape)[at] - actor[at]) % self._game.seats
        log_probs[at, self._r.aimed[phase] + place] += what

    def _known_roles(self, view: WerewolfView) -> dict[int, int]:
        """By seat: the number of the role that the seat knows for certain."""
        names = self._game.role_names
        known = dict.fromkeys(known_wolves(view), self._game.wolf)
        known[view.seat] = names.index(view.role)
        for _, (kind, args, _), _ in view.events:
            if kind == game.HUNTER_SHOWN:
                known[args[0]] = names.index(game.HUNTER)
            elif kind in (game.REVEALED, game.CHECKED) and len(args) > (kind == game.CHECKED) + 1:
                known[args[0]] = args[-1]
        return known

    def _agree(self, roles: Array, view: WerewolfView) -> Array:
        """(B,) bool: whether roles (B, n) are what the seat knows for certain."""
        agree = np.ones(len(roles), bool)
        for seat, role in self._known_roles(view).items():
            agree &= roles[:, seat] == role
        for seat, is_wolf in view.checks:
            agree &= (roles[:, seat] == self._game.wolf) == is_wolf
        return agree


def _closed(view: WerewolfView) -> Iterator[Round]:
    """The rounds that are over, in order."""
    for at, (seat, move, to) in enumerate(view.events):
        kind, args, _ = move
        if kind == game.DAWN:
            yield replace(_night(_since_night(view.events[:at]), args[0], args[1:]), shoots=_shoots(view, at))
        elif kind == game.VOTES and not view.public_votes:
            ballots = [Move(game.BALLOT, (vote,) if vote >= 0 else ()) for vote in args[1:]]
            cast = {(voter, VOTE): ballot for voter, ballot in enumerate(ballots)}
            yield Round(VOTE, args[0], cast, shoots=_shoots(view, at))
        elif seat != NATURE and to is None:
            phase = _PHASES.get(kind, TALK)
            day = next(past.args[0] for _, past, _ in reversed(view.events[:at]) if past.kind == game.NIGHT)
            yield Round(TALK, day, {(seat, phase): move}, shoots=_shoots(view, at))


def _shoots(view: WerewolfView, at: int) -> bool:
    """Whether the hunter is asked to shoot after an event, with nothing but announcements in between."""
    ends = (game.HUNTER_SHOWN, game.NIGHT, game.DAY)
    later = (move.kind for seat, move, _ in view.events[at + 1 :] if seat != NATURE or move.kind in ends)
    return next(later, "") == game.HUNTER_SHOWN


def _since_night(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """The events after the latest nightfall."""
    start = max(at for at, event in enumerate(events) if event.move.kind == game.NIGHT)
    return events[start + 1 :]


def _night(events: tuple[Event, ...], day: int, dead: tuple[int, ...] | None = None) -> Round:
    """A night from what the seat saw of it."""
    moves: dict[tuple[int, int], Move] = {}
    target = None
    for seat, move, _ in events:
        if seat != NATURE:
            moves[seat, _PHASES.get(move.kind, WHISPER)] = move
        elif move.kind in (game.CHOSEN, game.ATTACKED):
            target = move.args
    return Round(WHISPER, day, moves, dead is not None, dead, target)
