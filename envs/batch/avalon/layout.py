"""The records of Avalon's kernels: one of a game, one of its rules; and the tables that are read off the scalar game.

A game of n seats is one record of a few hundred bytes (five seats) to 20 kB (ten seats, most of it belief). Seats in sets
are bits: bit j is seat j, at the table unless said to be in somebody's own frame.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.encode import SEAT_FEATURES
from parlour.envs.avalon.habits import COUNTS, EVIDENCE_CARDS, EVIDENCE_TEAMS, EVIDENCE_VOTES
from parlour.envs.avalon.presets import EVIL_COUNT, PROPOSALS, QUESTS
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.state import AvalonPhase
from parlour.envs.avalon.vocabulary import ROLES, side_of
from parlour.envs.language import speech

Array = np.ndarray[Any, Any]
DEAL, TALK, PROPOSE, VOTE, DRAW, QUEST, HUNT, DONE, *_BIDS = map(int, AvalonPhase)
"""The phases as plain integers: kernels compile no enums."""
_SCORED: Final = (("score_votes", len(EVIDENCE_VOTES)), ("score_teams", len(EVIDENCE_TEAMS)))
SLOTS: Final = QUESTS * PROPOSALS
"""Proposals that a game can hold: five of each quest."""
SEAT_SIZE: Final = len(SEAT_FEATURES)
MOST_ROLES: Final = len(ROLES)

# What an action is, in the first column of `Tables.acts`.
SILENT, ACCUSE, DEFEND, RECOMMEND, CLAIM, NAME, BALLOT, CARD, GUESS = range(9)
_KINDS: Final = {
    speech.SILENT: SILENT,
    speech.ACCUSE: ACCUSE,
    speech.DEFEND: DEFEND,
    speech.RECOMMEND: RECOMMEND,
    speech.CLAIM_ROLE: CLAIM,
    vocabulary.TEAM: NAME,
    vocabulary.BALLOT: BALLOT,
    vocabulary.CARD: CARD,
    vocabulary.GUESS: GUESS,
}

# Rows of the table of masks. In its own frame a seat may do the same whichever seat it is.
TALK_ROW, BALLOT_ROW, EVIL_CARD_ROW, GOOD_CARD_ROW, GUESS_ROW, TEAM_ROW = range(6)
"""Team rows are five, one for each quest, from `TEAM_ROW`."""


def evil_sides(n: int) -> list[tuple[int, ...]]:
    """All sets of seats that may be the evil side at a table of n, in the order of the belief's arrays."""
    return list(combinations(range(n), EVIL_COUNT[n]))


@lru_cache(maxsize=8)
def game_record(n: int) -> Any:
    """The dtype of one game of n seats."""
    sides = len(evil_sides(n))
    i4, i2, i1, f4, f8 = np.int32, np.int16, np.int8, np.float32, np.float64
    return np.dtype(
        [
            ("nature", np.uint64),  # state of the stream that deals
            ("players", np.uint64),  # of the one that plays at random or by heuristic
            *((name, i4) for name in ("phase", "actor", "turn", "quest", "leader", "counted", "good", "evil")),
            ("guessed", i4),  # 1 once the Assassin has used the guess
            ("success", i4),  # result of the quest that is not scored yet
            ("team", i4),  # bits: on the table or on the quest; 0 while there is none
            ("votes", i4),  # bits: who approved the last team voted on, or the present one so far
            ("cards", i4),  # bits: who has played fail on this quest
            ("slot", i4),  # number of the present proposal among all of this game
            ("tried", i4),  # proposals of this quest
            ("ballots", i4),  # votes that were counted
            ("roles", i1, n),
            ("side", i1, n),  # 0 good, 1 evil
            ("shown", i2, n),  # bits: whom the night showed each seat
            ("sums", f4, (n, 9)),  # running sums of encode.py's features 3-11 of each seat, approvals not divided yet
            ("rows", f4, n * SEAT_SIZE),  # encode.py's features of each seat, but those that depend on who asks
            ("remarks", f4, (n, n)),  # [i, j]: accused by i, less defended by i / 5
            # what `record` shows of each proposal; all bits
            ("named", i2, SLOTS),
            ("went", i2, SLOTS),  # the team on the quest; 0 if it did not go
            ("approved", i2, SLOTS),
            ("failed", i2, SLOTS),  # who played fail
            ("led", i1, SLOTS),  # who named the team; -1 before
            ("result", i1, SLOTS),  # number of fails + 1 if the quest succeeded, its negative if it failed; 0
            ("claims", i2, n),  # bits: role numbers that the seat has claimed
            # belief: see belief.py
            ("stale", i4),  # 1 if `outside` is older than the last evidence
            ("outside", f8, 2 * n + 1),  # an onlooker's chances: evil, Merlin, team on the table clean
            ("inside", f8, 2 * n + 1),  # those of the seat to move
            ("weight", f8, sides),  # of each evil side, with nobody's own doings taken out
            ("special", f8, (sides, n)),  # [s, j]: factor if j is Merlin (j not in s) or Oberon (j in s)
            ("own", f8, (n, sides)),  # [i, s]: takes out of `weight` what i did itself
            ("scratch", f8, sides),  # a posterior over evil sides while it is made
            # evidence learned from records: see evidence.py
            ("by_cards", f8, sides),  # how likely the quest cards are under each evil side
            *((name, f8, n) for name in ("if_good", "best", "doubts")),
            *((name, i1, n) for name in ("on_failed", "on_succeeded", "backed", "blocked")),  # quests
            *((name, i4) for name in ("kept", "before")),  # bits: last team that succeeded, last team named
        ],
        align=True,
    )


@lru_cache(maxsize=8)
def rules_record(n: int) -> Any:
    """The dtype of the rules of a table of n seats."""
    e = EVIL_COUNT[n]
    sides, i4, i1, f8 = len(evil_sides(n)), np.int32, np.int8, np.float64
    return np.dtype(
        [
            *((name, i4) for name in ("talk", "hunt_at_end", "rejections_lose", "carries", "roles")),
            *((name, i4) for name in ("merlin", "percival", "guesser", "morgana", "oberon", "mordred")),  # or -1
            *((name, i4) for name in ("summary", "record", "belief", "believes", "reset")),  # what is kept and shown
            ("sizes", i4, QUESTS),
            ("fails_needed", i4, QUESTS),
            ("deck", i1, n),
            ("evil_role", i1, MOST_ROLES),
            ("sees", i1, (MOST_ROLES, MOST_ROLES)),  # [own role, other role]: the night shows such seats
            ("night", i1, MOST_ROLES),  # encode.py's "night shows evil"
            ("bits", i1, 1 << n),  # how many seats are in a set
            # belief
            ("sides", i4, sides),  # bits of each evil side
            ("evil", np.uint8, (sides, e)),
            ("good", np.uint8, (sides, n - e)),
            ("without", i4, (n, sides * (n - e) // n)),  # numbers of the sides that leave a seat out
            ("number", i4, 1 << n),  # of an evil side by its bits; -1
            ("vote_evil", f8, (2, 2)),  # [team is dirty, vote]: evil seat over blind one
            ("vote_merlin", f8, (2, 2)),
            ("team_evil", f8, 2),  # [team is dirty]
            ("team_blind", f8, (n + 1, 2)),  # [size, team is dirty]
            ("team_merlin", f8, (n + 1, 2)),  # Merlin over a blind leader
            ("fails", f8, (n + 1, e + 1, n + 1)),  # [members, evil ones, fails]
            ("remark", f8, (2, 2, 2)),  # [0 accused, 1 praised; speaker is evil; target is evil]
            ("scored", i4),  # 1 if events are scored by evidence learned from records
            *((name, f8, (3, len(COUNTS), terms)) for name, terms in _SCORED),  # [kind of seat, evil seats on the team]
            ("score_cards", f8, len(EVIDENCE_CARDS)),
            ("plain", f8, (n + 1, n + 1, n + 1)),  # [members, evil ones, fails], as `doubt` supposes
        ],
        align=True,
    )


class Tables(NamedTuple):
    """What kernels look up that depends on the number of actions A."""

    acts: Array
    """(A, 2) int32: kind of action; its seats as bits, its seat, role or number (own frame)."""
    masks: Array
    """(rows, A) uint8."""
    choices: Array
    """(rows, A) int32: the legal actions of a row, then zeros."""
    counts: Array
    """(rows,) int32: how many there are."""


def tables_of(game: Avalon) -> Tables:
    """Read actions and masks off the scalar game, as seat 0 sees them: its own frame is the table's."""
    numbers = {move: number for number, move in enumerate(game.catalogue)}
    acts = np.array([_act(move) for move in game.catalogue], dtype=np.int32)
    rows = [
        game.options(TALK, 0).legal if game.talk else (),
        game.options(VOTE, 0).legal,
        game.options(QUEST, 0, good=False).legal,
        game.options(QUEST, 0, good=True).legal,
        game.options(HUNT, 0).legal,
        *(game.options(PROPOSE, 0, quest=quest).legal for quest in range(QUESTS)),
    ]
    masks = np.zeros((len(rows), len(acts)), np.uint8)
    choices = np.zeros(masks.shape, np.int32)
    for row, legal in enumerate(rows):
        listed = [numbers[move] for move in legal]
        masks[row, listed], choices[row, : len(listed)] = 1, listed
    return Tables(acts, masks, choices, masks.sum(1, dtype=np.int32))


def _act(move: Any) -> tuple[int, int]:
    if move.kind == vocabulary.TEAM:
        return NAME, sum(1 << j for j in move.args)
    return _KINDS[move.kind], move.args[0] if move.args else -1


class Numbers(NamedTuple):
    """The number of an action in the own frame of a seat, for players inside kernels."""

    first: Array
    """(9,) int32: number of the first action of each kind; seats follow in order, approve and success come before their
    opposites, and passing before the guesses. -1 for kinds that the table lacks."""
    teams: Array
    """(2**n,) int32: of naming these seats; -1."""


def numbers_of(acts: Array, seats: int) -> Numbers:
    """The numbers behind `Tables.acts` of a table of that many seats."""
    first, teams = np.full(GUESS + 1, -1, np.int32), np.full(1 << seats, -1, np.int32)
    for number, (kind, bits) in reversed(list(enumerate(acts))):
        first[kind] = number
        if kind == NAME:
            teams[bits] = number
    return Numbers(first, teams)


def rules_of(game: Avalon) -> Any:
    """The rules of a table as a record array of length 1, except for the belief and the settings."""
    n = game.seats
    r: Any = np.zeros(1, rules_record(n)).view(np.recarray)
    names = game.role_names
    r.talk, r.hunt_at_end = game.talk, game.rules.hunt == "end"
    r.rejections_lose = game.rules.fifth_rejection == "evil_wins"
    r.carries, r.roles = game.carries, len(names)
    for role in ROLES:
        if role.lower() in r.dtype.names:
            r[role.lower()] = names.index(role) if role in names else -1
    r.guesser = game.guesser
    r.sizes, r.fails_needed, r.deck = game.sizes, game.fails_needed, game.deck
    for number, name in enumerate(names):
        r.evil_role[0, number] = side_of(name) == vocabulary.EVIL
    for seat, number in enumerate(game.deck):
        facts = game.night(game.deck, seat)
        for fact in facts:
            r.sees[0, number, [names.index(role) for role in fact.roles]] = 1
        name, evil = names[number], bool(r.evil_role[0, number])
        r.night[0, number] = int(name == vocabulary.MERLIN or (evil and bool(facts))) - (name == vocabulary.PERCIVAL)
    r.bits = [bits.bit_count() for bits in range(1 << n)]
    return r
