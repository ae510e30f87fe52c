"""Avalon in numbers: what a seat knows as a vector of features in [-1, 1]. A function of a View.

Layout, for n seats and R different roles in play:

    table           n own seat, one-hot; R own role, one-hot; then seat after seat, 14 features (`SEAT_FEATURES`); then the table
                    (`_table`)
    summary         the same without one's own seat
    record          for each of 25 proposals (five of each quest; zeros where none was made) 3 n + 3 numbers: who led, who was
                    on the team, who approved (1) or rejected (-1), the result, fails / 3, one's own card; with talk, who
                    accused (+) or defended (-) whom, and which roles each seat has claimed
    belief          exact chances (`belief.py`, its default habits) that each seat is evil and that it is Merlin, one's own
                    and an onlooker's, and that the team on the table has no evil member, one's own and an onlooker's

`"record"` is summary and record, `"belief"` summary and belief, `"record+belief"` all three; with `"belief:habits=FILE"` (or
`"record+belief:habits=FILE"`) the chances are those by habits learned from records. Except for `table` they are in the frame of
the seat: column j is seat (me + j) % n.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.belief import AvalonBelief, AvalonHabits
from parlour.envs.avalon.habits import read_habits
from parlour.envs.avalon.presets import PROPOSALS, QUESTS, QUESTS_TO_WIN
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import EVIL, MERLIN, PERCIVAL, AvalonView
from parlour.envs.core import NATURE, Event, Move, SeatEncoder, accept
from parlour.envs.hidden_roles.feature_blocks import Block, BlockEncoder, Features, HiddenRoleEncoders, place_name
from parlour.envs.hidden_roles.rules import FEATURES
from parlour.envs.language import speech

_SLOTS: Final = QUESTS * PROPOSALS
SEAT_FEATURES: Final = (
    "leads",
    "on the team",
    "shown to me by the night",
    "quests it was on that succeeded / 3",
    "quests it was on that failed / 3",
    "fails shown on its quests, per member, summed / 3",
    "approved teams that failed, less those that succeeded / 5",
    "rejected teams that failed, less those that succeeded / 5",
    "approvals / votes",
    "times accused / 10",
    "times defended or recommended / 10",
    "accusations made / 10",
    "accused by me, less defended by me / 5",
    "exposed as the Assassin",
)
_PHASES: Final = (speech.SILENT, vocabulary.TEAM, vocabulary.BALLOT, vocabulary.CARD, vocabulary.GUESS)
TABLE_SIZE: Final = len(_PHASES) + QUESTS + 9


class AvalonEncoder:
    """The features `table`. Satisfies `parlour.envs.core.Encoder`. Names of the features: `AvalonEncoder.names`."""

    def __init__(self, game: Avalon) -> None:
        self._seats = game.seats
        self._summary = _Summary(game, own_frame=False)
        self.names = [*(f"I am seat {j}" for j in range(game.seats)), *self._summary.names]
        self.size = len(self.names)

    def __call__(self, view: AvalonView) -> Features:
        features = np.zeros(self.size, dtype=np.float32)
        features[view.seat] = 1.0
        self._summary.write(view, features[self._seats :])
        return np.clip(features, -1.0, 1.0, out=features)


class AvalonSeatEncoder(BlockEncoder):
    """The features of the other kinds. Satisfies `parlour.envs.core.SeatEncoder`.

    Args:
        game: The rules.
        features: One of `FEATURES`.
        habits: Habits behind the probabilities; None: the fixed rates.
    """

    def __init__(self, game: Avalon, features: str, habits: AvalonHabits | None = None) -> None:
        super().__init__(partial(_own_blocks, game, features, habits))
        self.habits = habits


class AvalonEncoders(HiddenRoleEncoders):
    """The features of a table."""

    def at_table(self) -> AvalonEncoder:
        return AvalonEncoder(self.game)

    def turned(self, move: Move, by: int) -> Move:
        return vocabulary.turned(move, by, self.game.seats)

    def of_seat(self, kind: str) -> SeatEncoder[AvalonView]:
        """The features of one seat, with fixed habits or with habits from a file. Raises `ParlourError` for other kinds."""
        name, _, setting = kind.partition(":")
        if name not in FEATURES:
            raise self.refused(kind)
        if not setting:
            return AvalonSeatEncoder(self.game, name)
        key, _, path = setting.partition("=")
        if key != "habits" or not path or "belief" not in name:
            raise accept("features", kind, "belief:habits=FILE, record+belief:habits=FILE")
        return AvalonSeatEncoder(self.game, name, read_habits(path).of(self.game.seats))


def _own_blocks(game: Avalon, features: str, habits: AvalonHabits | None, view: AvalonView | None) -> list[Block]:
    record = [_Record(game)] if "record" in features else []
    return [_Summary(game), *record, *([_Belief(game, view, habits)] if "belief" in features else [])]


class _Summary:
    """Own role, then seat after seat, then the table. It reads the whole View."""

    def __init__(self, game: Avalon, *, own_frame: bool = True) -> None:
        self._seats, self._roles = game.seats, game.role_names
        self._own_frame = own_frame
        seats = [place_name(j) if own_frame else f"seat {j}" for j in range(game.seats)]
        self.names = [
            *(f"I am {role}" for role in self._roles),
            *(f"{seat}: {feature}" for seat in seats for feature in SEAT_FEATURES),
            *(f"phase {phase}" for phase in _PHASES),
            *(f"quest {quest + 1}" for quest in range(QUESTS)),
            *("good / 3", "evil / 3", "proposals / 5", "team size / 5", "two fails needed"),
            *("I am on the team", "shown ones on the team / 4", "strangers on the team / 4", "night shows evil"),
        ]

    def see(self, view: AvalonView, event: Event) -> None:
        pass

    def write(self, view: AvalonView, features: Features) -> None:
        roles, turn = len(self._roles), -view.seat if self._own_frame else 0
        table = roles + self._seats * len(SEAT_FEATURES)
        if view.role:
            features[self._roles.index(view.role)] = 1.0
        features[roles:table] = np.roll(self._per_seat(view), turn, axis=0).ravel()
        features[table : table + TABLE_SIZE] = _table(view)

    def _per_seat(self, view: AvalonView) -> Features:
        """Shape (n, 14)."""
        rows = [[0.0] * len(SEAT_FEATURES) for _ in range(self._seats)]
        if view.leader >= 0:
            rows[view.leader][0] = 1.0
        for j in view.team:
            rows[j][1] = 1.0
        for fact in view.knows:
            for j in fact.seats:
                rows[j][2] = 1.0
        _read_events(view, rows)
        return np.array(rows, dtype=np.float32)


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
            self._slot = max(self._slot + 1, args[0] * PROPOSALS)
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
            remarks = np.roll(self._remarks, (-view.seat, -view.seat), axis=(0, 1)).ravel()
            claimed = np.roll(self._claims, -view.seat, axis=0).ravel()
            features[len(proposals) :] = np.concatenate([remarks, claimed])


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


def _read_events(view: AvalonView, rows: list[list[float]]) -> None:
    """Go through what the seat has seen and add it up, seat by seat."""
    team: tuple[int, ...] = ()
    votes: tuple[int, ...] = ()
    ballots = 0
    for seat, (kind, args, _), _ in view.events:
        if kind in speech.ACTS:
            _add_speech(rows, seat, kind, args, mine=seat == view.seat)
        elif kind == vocabulary.TEAM:
            team, votes = args, ()
        elif kind == vocabulary.DRAWN:
            team = args
        elif kind == vocabulary.VOTES:
            votes = args[1:]
            ballots += 1
            for j, vote in enumerate(votes):
                rows[j][8] += vote
        elif kind == vocabulary.FAILS:
            _add_quest(rows, team, votes, fails=args[1], success=args[2])
        elif kind == vocabulary.EXPOSED and seat == NATURE:
            rows[args[0]][13] = 1.0
    for row in rows:
        row[8] /= max(ballots, 1)


def _table(view: AvalonView) -> list[float]:
    phase_now = view.legal[0].kind if view.legal else ""
    phase_now = speech.SILENT if phase_now in speech.ACTS else phase_now
    known = {j for fact in view.knows for j in fact.seats}
    strangers = [j for j in view.team if j not in known and j != view.seat]
    return [
        *(float(phase_now == phase) for phase in _PHASES),
        *(float(view.quest == quest) for quest in range(QUESTS)),
        view.good / QUESTS_TO_WIN,
        view.evil / QUESTS_TO_WIN,
        view.counted / PROPOSALS,
        view.sizes[view.quest] / 5,
        float(view.fails_needed[view.quest] == 2),
        float(view.seat in view.team),
        len(known.intersection(view.team)) / 4,
        len(strangers) / 4,
        float(view.role == MERLIN or (view.side == EVIL and bool(view.knows))) - float(view.role == PERCIVAL),
    ]


def _add_speech(rows: list[list[float]], seat: int, kind: str, args: tuple[int, ...], *, mine: bool) -> None:
    if kind == speech.ACCUSE:
        rows[args[0]][9] += 0.1
        rows[seat][11] += 0.1
        rows[args[0]][12] += 0.2 * mine
    elif kind in (speech.DEFEND, speech.RECOMMEND) and args[0] != seat:
        rows[args[0]][10] += 0.1
        rows[args[0]][12] -= 0.2 * mine


def _add_quest(
    rows: list[list[float]], team: tuple[int, ...], votes: tuple[int, ...], *, fails: int, success: int
) -> None:
    for j in team:
        rows[j][3 if success else 4] += 1 / 3
        rows[j][5] += fails / len(team) / 3
    for j, vote in enumerate(votes):
        rows[j][6 if vote else 7] += -0.2 if success else 0.2
