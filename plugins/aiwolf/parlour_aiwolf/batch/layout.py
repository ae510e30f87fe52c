"""One game of AIWolf's Werewolf as a record, and the rules of one table as another; both are read by the kernels beside this file.

The rules record is filled from the scalar game (`parlour_aiwolf`), the one source of catalogue and presets. Arrays by
seat have 15 places; a table of 5 uses the first 5. What is said in a turn of talk is heard at its end: `line` holds it until then.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from parlour.envs.batch.werewolf.layout import number_catalogue
from parlour.envs.core import Move
from parlour.envs.language import speech
from parlour.envs.werewolf import vocabulary as game

from parlour_aiwolf.batch.lanes import LANES
from parlour_aiwolf.encode import CLEARED, OF_SEAT
from parlour_aiwolf.rules import AIWolf
from parlour_aiwolf.state import Phase
from parlour_aiwolf.vocabulary import BODYGUARD, MEDIUM, POSSESSED, REMARK, TABLES, TALK_OVER

DEAL, WHISPER, HUNT, HUNT_TIE, PROTECT, CHECK, TALK, VOTE, VOTE_TIE, DONE = map(int, Phase)
"""The phases as plain integers: kernels compile no enums."""
SEATS: Final = max(table.players for table in TABLES.values())
_ROLES: Final = max(len(set(table.roles)) for table in TABLES.values())
_SPEECHES: Final = 3 + 5 * SEATS + _ROLES
_ACTIONS: Final = _SPEECHES + 4 * SEATS + 3
KINDS: Final = (
    *(
        speech.SILENT,
        REMARK,
        TALK_OVER,
        speech.ACCUSE,
        speech.DEFEND,
        speech.CLAIM_ROLE,
        speech.REPORT,
        speech.RECOMMEND,
    ),
    *(game.CHECKS, game.GUARDS, game.KILL, game.BALLOT),
)
"""Kinds of actions in the order of the catalogue; their numbers in `RULES.kind`."""
SKIP: Final = KINDS.index(speech.SILENT)
REMARKS: Final = KINDS.index(REMARK)
IS_OVER: Final = KINDS.index(TALK_OVER)
ACCUSE: Final = KINDS.index(speech.ACCUSE)
DEFEND: Final = KINDS.index(speech.DEFEND)
CLAIM: Final = KINDS.index(speech.CLAIM_ROLE)
REPORT: Final = KINDS.index(speech.REPORT)  # the last that is said by day
RECOMMEND: Final = KINDS.index(speech.RECOMMEND)  # the last that is said at all
_AIMED: Final = {
    WHISPER: speech.RECOMMEND,
    HUNT: game.KILL,
    PROTECT: game.GUARDS,
    CHECK: game.CHECKS,
    VOTE: game.BALLOT,
}
LIVES: Final = OF_SEAT.index("lives")
EXECUTED: Final = OF_SEAT.index("was executed")
BY_NIGHT: Final = OF_SEAT.index("died by night")
KNOWN: Final = OF_SEAT.index("known as a werewolf or as none")
CLAIMED_OF: Final = OF_SEAT.index("accused") - 1  # a claim's column, less the claim
GOT_VOTES: Final = OF_SEAT.index("got votes")
COLUMNS: Final = len(OF_SEAT)
"""Columns of a seat's row; then one for each role that it may claim."""
REPORTS: Final = 0  # 1 for a report as a werewolf, -1 as none
STANDS: Final = 1  # 1 for a word for another, -1 against it
Array = np.ndarray[Any, Any]
_i1, _i2, _i4 = np.int8, np.int16, np.int32

GAME: Final = np.dtype(
    [
        ("nature", np.uint64),  # streams of random numbers: of the deal and the ties, and of players in the kernel
        ("players", np.uint64),
        ("phase", _i4),  # as in parlour_aiwolf.state
        ("actor", _i4),
        ("day", _i4),
        ("asked", _i4),  # place of the actor in the queue
        ("waiting", _i4),  # length of the queue
        ("turn", _i4),  # of talk, or of the vote
        ("living", _i4),
        ("wolves", _i4),  # that live
        ("checks", _i4),  # how many the seer has heard
        ("identifications", _i4),  # and the medium
        ("proposals", _i4),  # victims that wolves have named, in the whole game
        ("alive_set", np.uint16),  # sets of seats are bits
        ("wolf_set", np.uint16),  # all werewolves, dead ones too
        ("seen", np.uint16),  # that the seer knows as werewolves, as none
        ("cleared", np.uint16),
        ("identified_wolf", np.uint16),  # the same of the medium
        ("identified_human", np.uint16),
        ("seer", _i1),  # seats, -1 if there is none
        ("medium", _i1),
        ("bodyguard", _i1),
        ("attacked", _i1),  # who dies at dawn, as far as the night has gone; -1 nobody
        ("divined", _i1),  # whom the seer chose tonight
        ("executed_today", _i1),
        ("drawn", _i1),  # last tie that nature decided
        ("queue", _i1, SEATS),
        ("cast", _i1, SEATS),  # votes of this phase, by place in the queue; -1 nobody
        ("line", _i2, SEATS),  # by seat: action of this turn of talk, in its own frame
        ("lines", _i1, SEATS),  # said in this talk
        ("skips", _i1, SEATS),  # running
        ("roles", _i1, SEATS),
        ("claimed", _i1, SEATS),  # role claimed last; -1 none
        ("accusing", _i1, SEATS),  # whom each accused last; -1 nobody
        ("ballot", _i1, SEATS),  # in the latest vote by day; -1 none
        ("checked", _i1, SEATS),  # in the order in which they were heard
        ("identified", _i1, SEATS),
        ("proposed_at", _i2, SEATS),  # number of the last proposal of the seat, from 1; 0 never
        ("rows", np.float32, SEATS * (COLUMNS + _ROLES)),  # features of each seat, without what only some see
        ("claims", _i1, (SEATS, SEATS)),  # what each last claimed about each
        ("signs", _i1, (2, SEATS, SEATS + LANES)),  # the same as features: `REPORTS`, `STANDS`; each row twice running
        ("reported", _i1, (SEATS, SEATS)),  # last report: 1 a werewolf, -1 none, 0 never
        *((claimants, np.uint16) for claimants in ("seers", "mediums", "bodyguards")),  # see `testimony.py`
        *((speakers, np.uint16, SEATS) for speakers in ("wolf_by", "none_by", "accused_by")),
        ("counts", _i1, (SEATS, CLEARED + 1)),  # about each seat, how many claimed what last
        ("votes", _i1, SEATS),  # for each seat in the latest vote by day
    ],
    align=True,
)

RULES: Final = np.dtype(
    [
        *((flag, np.uint8) for flag in ("talk", "record", "testimony", "reset")),
        *((number, _i4) for number in ("seats", "actions", "kinds", "columns", "moves", "speeches", "all_wolves")),
        *(
            (role, _i4) for role in ("wolf", "possessed", "seer", "medium", "bodyguard", "villager")
        ),  # role numbers; -1: not in play
        *((limit, _i4) for limit in ("talk_turns", "talk_lines", "skips", "revotes")),
        ("over", _i4),  # the action
        ("deck", _i1, SEATS),
        ("quotients", np.float32, (SEATS + 1, 2 * SEATS + 1)),  # by denominator, and numerator from -SEATS; in [-1, 1]
        ("share", np.float32, SEATS + 1),  # of so many seats
        (
            "masks",
            np.uint8,
            (2 * DONE, _ACTIONS),
        ),  # by `options.decision`: the mask without the seats that may be aimed at
        ("may", np.float32, (2 * DONE, len(KINDS))),  # and the features that say which kinds are open
        ("idle", _i4, DONE),  # by phase: the action of choosing nobody; -1 where somebody has to be chosen
        ("aimed", _i4, DONE),  # by phase: the action aimed at oneself; those at the next seats follow
        ("said", _i4, REPORT + 1),  # number of the first action of each kind that is said by day
        ("speech", _i4, _SPEECHES),  # what may be said by day, in the own frame: first what makes no claim
        ("kind", _i1, _ACTIONS),  # of each action, an index into `KINDS`
        ("aim", _i1, _ACTIONS),  # its first argument, in the own frame; -1 if it has none
        ("verdict", _i1, _ACTIONS),  # of a report: 1 a werewolf, 0 none
    ],
    align=True,
)


def rules_of(rules: AIWolf) -> Any:
    """The rules of a table, an array of one record; what is observed is left open."""
    r = np.zeros(1, RULES).view(np.recarray)
    preset, names = rules.rules, rules.role_names
    r.talk, r.all_wolves = rules.talk, rules.roles.count(game.WEREWOLF)
    r.testimony = MEDIUM in names
    r.quotients = np.clip(np.arange(-SEATS, SEATS + 1) / np.maximum(1, np.arange(SEATS + 1))[:, None], -1, 1)
    r.talk_turns, r.talk_lines, r.skips, r.revotes = preset.talk_turns, preset.talk_lines, preset.skips, preset.revotes
    r.seats, r.actions, r.kinds = rules.seats, len(rules.catalogue), len(names)
    r.columns, r.share[0, : rules.seats + 1] = COLUMNS + len(names), np.arange(rules.seats + 1) / rules.seats
    roles = (
        ("wolf", game.WEREWOLF),
        ("seer", game.SEER),
        ("possessed", POSSESSED),
        ("medium", MEDIUM),
        ("bodyguard", BODYGUARD),
        ("villager", game.VILLAGER),
    )
    for field, role in roles:
        r[field] = names.index(role) if role in names else -1
    r.deck[0, : rules.seats] = rules.deck
    _number_actions(r[0], rules)
    _lay_out_decisions(r[0], rules)
    return r


def _number_actions(r: Any, rules: AIWolf) -> None:
    numbers = number_catalogue(r, rules.catalogue, KINDS, REPORT)
    for phase, kind in _AIMED.items():
        r.idle[phase], r.aimed[phase] = numbers.get(Move(kind), -1), numbers.get(Move(kind, (0,)), -1)
    r.over = r.said[IS_OVER]


def _lay_out_decisions(r: Any, rules: AIWolf) -> None:
    """What is open at each kind of decision, from the scalar game: with nobody to aim at, and with all."""
    numbers = {move: number for number, move in enumerate(rules.catalogue)}
    kinds = list(dict.fromkeys(move.kind for move in rules.catalogue))
    r.moves = len(kinds)
    nobody, everybody = (False,) * rules.seats, (True,) * rules.seats
    for phase in (*((WHISPER, TALK) if rules.talk else ()), HUNT, PROTECT, CHECK, VOTE):
        for may_skip in (False, True):
            row = 2 * phase + may_skip
            r.masks[row, [numbers[move] for move in _open(rules, phase, nobody, may_skip)]] = 1
            r.may[row, [kinds.index(move.kind) for move in _open(rules, phase, everybody, may_skip)]] = 1


def _open(rules: AIWolf, phase: int, alive: tuple[bool, ...], may_skip: bool) -> tuple[Move, ...]:
    if phase == TALK:
        return rules.choices.talk(0, may_skip).legal
    if phase == WHISPER:
        return rules.choices.whisper(alive, (), may_skip).legal
    return rules.choices.aim(_AIMED[phase], 0, alive).legal
