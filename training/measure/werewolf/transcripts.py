"""Transcripts of our own table as the measures count them: moves played again, and beliefs that agents noted.

An agent that judges the players notes `beliefs` with its moves, where they changed: `{"player_3": ["ally", 0.8], ...}`,
each `"ally"`, `"adversary"` or `"unsure"` and a number that is not read. Numbers alone, by name or in the order of the
seats, are read too: positive for an ally, negative for an adversary, null or 0 where it is unsure. The last ones of a seat
are its judgements of the game (figure 4 of GRATR's paper). Where no seat of a method noted any in a game, its judgements count as not recorded; where another seat of the
method did, a seat without any judged nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from parlour.envs import replay
from parlour.envs.core import NATURE, Event, ParlourError, accept
from parlour.envs.language.english import name
from parlour.envs.replay import Transcript
from parlour.envs.werewolf.vocabulary import BALLOT, CHECKED, HUNTER_SHOWN, REVEALED, VILLAGE, WEREWOLF, WOLVES, side_of
from parlour.training.measure.werewolf.amnesia import Amnesia, Turn, amnesia
from parlour.training.records.werewolf.played import GAME, DayVote, Judgement, Judgements, WerewolfGame

NOTE: Final = "beliefs"
_STANCES: Final = {"ally": True, "adversary": False, "unsure": None}
_ACCEPTED: Final = "for each player a stance (ally, adversary, unsure) with a number, a number, or null"


@dataclass(frozen=True)
class Seen:
    """A finished game with what only transcripts show."""

    game: WerewolfGame
    amnesia: tuple[Amnesia, ...]
    """Amnesia of each seat; empty for a record, which does not show it."""


def read_transcript(path: str | Path) -> Seen | None:
    """Read a transcript with the beliefs in its lines; None if the game was not finished.

    Raises:
        ParlourError: The file is no transcript of Werewolf, its moves do not fit the rules, or its beliefs cannot be
            read; the message names the file.
    """
    transcript = replay.Transcript.read(path)
    try:
        return _seen(transcript)
    except ParlourError as error:
        raise ParlourError(f"{str(path)!r}: {error}") from None


def _seen(transcript: Transcript) -> Seen | None:
    finished = transcript.finished(GAME)
    if finished is None or transcript.outcome is None:
        return None
    game, states = finished
    roles = tuple(game.role_names[role] for role in states[-1].standing.roles)
    if not roles:
        raise ParlourError("the roles were not dealt; accepted: a game with its deal")
    beliefs = [_beliefs(line.get(NOTE), len(roles)) for line in transcript.lines]
    methods = _methods(transcript.header, len(roles))
    counted = amnesia(roles, game.role_names, _turns(transcript, states, roles, game.role_names, beliefs))
    judged = _last(transcript, beliefs, methods)
    return Seen(WerewolfGame("", methods, roles, transcript.outcome.winner, _votes(transcript), judged), counted)


def _methods(header: Mapping[str, Any], seats: int) -> tuple[str, ...]:
    """Who played each seat: one name for all, or a name for each."""
    players = header.get("players", "")
    if isinstance(players, str):
        return (players,) * seats
    if not isinstance(players, Mapping):
        raise accept("players", players, "a name, or an object with a name for each seat")
    return tuple(str(players.get(name(seat), "")) for seat in range(seats))


def _votes(transcript: Transcript) -> tuple[DayVote, ...]:
    """The votes by day that named a player."""
    moves = ((entry.seat, entry.move) for entry in transcript.entries if entry.move is not None)
    return tuple(DayVote(seat, move.args[0]) for seat, move in moves if move.kind == BALLOT and move.args)


# -- what a seat knows and thinks ------------------------------------------------------------------------------


def _turns(
    transcript: Transcript,
    states: Sequence[Any],
    roles: Sequence[str],
    role_names: Sequence[str],
    beliefs: Sequence[Judgements | None],
) -> Iterator[Turn]:
    """Each move of a seat, with whom it was certain of when it made it."""
    certain: list[dict[int, str]] = [{} for _ in roles]
    for wolf in (seat for seat, role in enumerate(roles) if role == WEREWOLF):  # they know each other, so all sides
        certain[wolf] = {other: side_of(role) for other, role in enumerate(roles) if other != wolf}
    number = shown = 0
    for entry, believed in zip(transcript.entries, beliefs, strict=True):
        if entry.move is None:
            continue
        log = states[number].log
        for event in log[shown:]:
            _learn(certain, event, role_names)
        shown = len(log)
        if entry.seat != NATURE:
            yield Turn(entry.seat, entry.move, dict(certain[entry.seat]), believed or ())
        number += 1


def _learn(certain: Sequence[dict[int, str]], event: Event, role_names: Sequence[str]) -> None:
    kind, args, _ = event.move
    if event.seat != NATURE or kind not in (CHECKED, HUNTER_SHOWN, REVEALED):
        return
    side = side_of(role_names[args[1]]) if kind == REVEALED else WOLVES if args[1:2] == (1,) else VILLAGE
    for seat in range(len(certain)) if event.to is None else event.to:
        if seat != args[0]:
            certain[seat][args[0]] = side


def _last(
    transcript: Transcript, beliefs: Sequence[Judgements | None], methods: Sequence[str]
) -> tuple[Judgements | None, ...]:
    last: dict[int, Judgements] = {}
    for entry, believed in zip(transcript.entries, beliefs, strict=True):
        if believed is not None and entry.seat != NATURE:
            last[entry.seat] = tuple(belief for belief in believed if belief.target != entry.seat)
    recorded = {methods[seat] for seat in last}
    return tuple(last.get(seat, () if method in recorded else None) for seat, method in enumerate(methods))


def _beliefs(value: Any, seats: int) -> Judgements | None:
    """The sure ones among the noted beliefs; None if none were noted."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        if not set(value) <= {name(seat) for seat in range(seats)}:
            raise accept(NOTE, value, _ACCEPTED)
        value = [value.get(name(seat)) for seat in range(seats)]
    if not isinstance(value, list) or len(value) != seats:
        raise accept(NOTE, value, _ACCEPTED)
    stances = ((target, _stance(number)) for target, number in enumerate(value))
    return tuple(Judgement(target, ally) for target, ally in stances if ally is not None)


def _stance(belief: Any) -> bool | None:
    """Whether a player is taken for an ally; None where the seat is unsure."""
    if type(belief) in (int, float, type(None)):
        return belief > 0 if belief else None
    if not isinstance(belief, list) or not belief or not isinstance(belief[0], str) or belief[0] not in _STANCES:
        raise accept(NOTE, belief, _ACCEPTED)
    return _STANCES[belief[0]]
