"""One game of Werewolf as a record, and the rules of one table as another; both are read by the kernels beside this file.

The rules record is filled from the scalar game (`parlour.envs.werewolf`), which stays the one source of catalogue, presets
and habits. Arrays by seat have 15 places; a table of n uses the first n. So one compilation serves all sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from parlour.envs.core import Move
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as game
from parlour.envs.werewolf.belief import NEVER, WerewolfHabits
from parlour.envs.werewolf.presets import DAYS_ACCEPTED, PLAYERS
from parlour.envs.werewolf.rules import Werewolf
from parlour.envs.werewolf.state import WerewolfPhase
from parlour.envs.werewolf.vocabulary import ACTS, GUARD, HUNTER, KEEP, SEER, TARGETED, VILLAGER, WHISPERS, WITCH

DEAL, WHISPER, HUNT, TIE, PROTECT, SAVE, POISON, CHECK, TALK, VOTE, LAST, DONE, *_BIDS, SHOOT = map(int, WerewolfPhase)
"""The phases as plain integers: kernels compile no enums."""
SEATS: Final = PLAYERS[-1]
_DAYS: Final = DAYS_ACCEPTED[-1]
_PROPOSALS: Final = 2 * ((SEATS - 1) // 2)  # each of the most werewolves there may be speaks and votes
_SPEECHES: Final = 1 + 4 * SEATS + len(game.ROLES)
KINDS: Final = (*ACTS, *WHISPERS[1:], *TARGETED, game.HEALS, game.SHOOTS)
"""Kinds of actions; their numbers in `RULES.kind`."""
ACCUSE: Final = KINDS.index(speech.ACCUSE)
DEFEND: Final = KINDS.index(speech.DEFEND)
CLAIM: Final = KINDS.index(speech.CLAIM_ROLE)
REPORT: Final = KINDS.index(speech.REPORT)  # the last that is said by day

_AIMED: Final = dict(
    zip(
        (WHISPER, HUNT, PROTECT, POISON, CHECK, VOTE, SHOOT),
        (speech.RECOMMEND, game.KILL, game.GUARDS, game.POISONS, game.CHECKS, game.BALLOT, game.SHOOTS),
        strict=True,
    )
)
_ACTIONS: Final = _SPEECHES + len(_AIMED) * (SEATS + 1) + 2  # idle and at each seat; keep and give
Array = np.ndarray[Any, Any]
_i1, _i2, _i4, _f8 = np.int8, np.int16, np.int32, np.float64

GAME: Final = np.dtype(
    [
        ("nature", np.uint64),  # streams of random numbers: of the deal and the ties, and of players in the kernel
        ("players", np.uint64),
        ("seer_weight", _f8, SEATS),  # see belief.py
        ("seer_match", _f8, (SEATS, SEATS)),
        ("looks_wolf", _f8, SEATS),  # chances as an onlooker sees them, up to date if `looked`
        ("looks_seer", _f8, SEATS),
        ("looked", _i4),
        ("phase", _i4),  # as in parlour.envs.werewolf.state
        ("actor", _i4),
        ("day", _i4),
        ("asked", _i4),  # place of the actor in the queue
        ("waiting", _i4),  # length of the queue
        ("living", _i4),
        ("wolves", _i4),  # that live
        ("seen", np.uint16),  # sets of seats are bits: that the seer checked and found a werewolf, found none
        ("cleared", np.uint16),
        ("alive_set", np.uint16),
        ("wolf_set", np.uint16),  # all werewolves, dead ones too
        ("reporters", np.uint16),  # that have told of a check
        ("witch", _i1),  # seats, -1 if there is none
        ("guard", _i1),
        ("seer", _i1),
        ("hunter", _i1),
        ("queue", _i1, SEATS),
        ("cast", _i1, SEATS),  # votes of this phase, by place in the queue; -1 nobody
        ("roles", _i1, SEATS),
        ("order", _i1, SEATS),  # of talk
        ("place", _i1, SEATS),  # its inverse
        ("slot", _i1, SEATS),  # row of a seat of the village in the weights; see belief.py
        ("alive", _i1, SEATS),
        ("antidote", _i1),
        ("poison", _i1),
        ("guarded", _i1),
        ("victim", _i1),  # of the wolves tonight, before guard and witch; -1 nobody
        ("protected", _i1),
        ("saved", _i1),
        ("poisoned", _i1),
        ("at_dawn", _i1),  # whether the hunter who shoots died by night
        ("drawn", _i1),  # last tie of the hunt that nature decided; -1 nobody
        ("attacked", _i1),  # as the witch heard tonight
        ("chosen", _i1),  # as the wolves heard tonight
        ("hunted", _i1, SEATS),  # whom each wolf voted for tonight
        ("wanted", _i1, SEATS),  # votes of tonight's hunt
        ("proposed", _i1, SEATS),
        ("proposals", _i4),
        ("proposer", _i1, _PROPOSALS),  # those of tonight in order: recommended, and, if the hunt is public, voted
        ("proposal", _i1, _PROPOSALS),
        ("checks", _i4),
        ("checked", _i1, _DAYS),  # by the seer, in order
        ("claimants", _i4),  # that claimed to be the seer or told of a check, in order
        ("claimant", _i1, SEATS),
        ("accusers", np.uint16, SEATS),  # today, who accused the seat or reported it
        ("by_night", _i1, SEATS),  # from here on as in parlour.envs.werewolf.encode.Tally
        ("executed", _i1, SEATS),
        ("died_on", _i1, SEATS),
        ("shown", _i1, SEATS),
        ("claimed", _i1, SEATS),
        ("latest", _i1, SEATS),
        ("ballots", _i1, SEATS),
        ("passes", _i1, SEATS),
        ("known", _i1, SEATS),  # to everybody, from roles shown
        ("accused", _i1, (SEATS, SEATS)),
        ("defended", _i1, (SEATS, SEATS)),
        ("reports_evil", _i1, (SEATS, SEATS)),
        ("reports_good", _i1, (SEATS, SEATS)),
        ("votes", _i1, (SEATS, SEATS)),
        ("accused_sum", _i2, SEATS),  # how often the seat was accused; made: how often it accused; and so on
        ("accused_made", _i2, SEATS),
        ("defended_sum", _i2, SEATS),
        ("defended_made", _i2, SEATS),
        ("reported", _i2, SEATS),
        ("reports_made", _i2, SEATS),
        ("votes_sum", _i2, SEATS),
        ("latest_sum", _i2, SEATS),
    ],
    align=True,
)

_FLAGS: Final = (
    *("talk", "hunt_as_cast", "hunt_random", "hunt_wolves", "guard_repeats", "dying_witch_poisons"),
    *("votes_as_cast", "reveals_all", "parity", "record", "belief", "believes", "reset", "character"),
)
_ROLES: Final = {role.lower(): role for role in (WITCH, GUARD, SEER, HUNTER, VILLAGER)}
_HABITS: Final = tuple(WerewolfHabits.__dataclass_fields__)
RULES: Final = np.dtype(
    [
        *((flag, np.uint8) for flag in _FLAGS),
        *((habit, _f8) for habit in (*_HABITS, "never")),
        *((number, _i4) for number in ("seats", "actions", "kinds", "max_days", "all_wolves", "speeches")),
        *((role, _i4) for role in ("wolf", *_ROLES)),  # role numbers; -1: not in play
        ("deck", _i1, SEATS),
        ("share", _f8, SEATS + 1),  # one over the number, and over 1 for none
        ("idle", _i4, SHOOT + 1),  # by phase: the action of doing nothing
        ("aimed", _i4, SHOOT + 1),  # by phase: the action aimed at oneself; those at the next seats follow
        ("said", _i4, REPORT + 1),  # number of the first action of the kinds that are said by day
        ("speech", _i4, _SPEECHES),  # actions that are open to whoever talks, in its own frame
        ("kind", _i1, _ACTIONS),  # of each action, an index into `KINDS`
        ("aim", _i1, _ACTIONS),  # its first argument, a seat in the own frame; -1 if it has none
        ("verdict", _i1, _ACTIONS),  # of a report; 1 evil, 0 good
    ],
    align=True,
)


def rules_of(rules: Werewolf, habits: WerewolfHabits) -> Any:
    """The rules of a table, an array of one record; what is observed is left open."""
    r = np.zeros(1, RULES).view(np.recarray)
    points = rules.rules
    r.talk = rules.talk
    r.hunt_as_cast, r.hunt_random = points.hunt_shown == "as_cast", points.hunt_tie == "random"
    r.hunt_wolves, r.guard_repeats = points.hunt_wolves, points.guard_may_repeat
    r.dying_witch_poisons, r.votes_as_cast = points.dying_witch_poisons, points.votes_shown == "as_cast"
    r.reveals_all, r.parity = points.reveals == "all", points.wolves_win == "parity"
    for habit in _HABITS:
        r[habit] = getattr(habits, habit)
    r.never = NEVER
    r.seats, r.actions, r.kinds = rules.seats, len(rules.catalogue), len(rules.role_names)
    r.max_days, r.all_wolves = rules.max_days, rules.roles.count(game.WEREWOLF)
    r.character = rules.seer_sees_roles
    for field, role in _ROLES.items():
        r[field] = rules.role_names.index(role) if role in rules.role_names else -1
    r.wolf = rules.wolf
    r.share[0] = 1 / np.maximum(np.arange(SEATS + 1), 1)
    r.deck[0, : rules.seats] = rules.deck
    _number_actions(r[0], rules)
    return r


def _number_actions(r: Any, rules: Werewolf) -> None:
    numbers = number_catalogue(r, rules.catalogue, KINDS, REPORT)
    for phase, kind in _AIMED.items():
        r.idle[phase] = numbers.get(Move(speech.SILENT if phase == WHISPER else kind), -1)
        r.aimed[phase] = numbers.get(Move(kind, (0,)), -1)
    r.idle[SAVE] = numbers[KEEP]


def number_catalogue(r: Any, catalogue: Sequence[Move], kinds: Sequence[str], last: int) -> dict[Move, int]:
    """Write what each action is, as every seat numbers it in its own frame; `last` is the last kind said by day."""
    speeches = []
    for number, (kind, args, _) in enumerate(catalogue):
        r.kind[number] = kinds.index(kind)
        r.aim[number] = args[0] if args else -1
        r.verdict[number] = args[1] if kind == speech.REPORT else 0
        if r.kind[number] <= last:
            if number == 0 or kind != catalogue[number - 1].kind:
                r.said[r.kind[number]] = number
            if speech.sayable(catalogue[number], 0):
                speeches.append(number)
    r.speeches = len(speeches)
    r.speech[: len(speeches)] = speeches
    return {move: number for number, move in enumerate(catalogue)}
