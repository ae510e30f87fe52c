"""What people do and experts do not: rates of decisions in words, people beside the probabilities of players at the same decisions.

A decision belongs to one situation: role, first or later quest, and what is on the table. In each situation one sort of move is counted.
The ten largest differences are reported and drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from parlour.envs.avalon.vocabulary import BALLOT, CARD, EVIL_ROLES, GUESS, MERLIN, ROLES, TEAM
from parlour.envs.registry import build, known
from parlour.policies import make_policy
from parlour.policies.cloned import GAME, INPUTS
from parlour.training.learn.clone.report import by_game
from parlour.training.measure.statistics import SHARE, SHARE_DIFFERENCE, Estimate
from parlour.training.papers.avalon_people_study import PeopleStudy
from parlour.training.papers.cells import valued
from parlour.training.play.extras import import_extra
from parlour.training.results import plots

MOST: Final = 10
"""Differences that are reported."""
FEWEST: Final = 100
"""Decisions that a situation needs."""
DECISIONS: Final = "how often a decision is made"
_PEOPLE: Final = "people"

Flags = NDArray[np.bool_]


class Situation(NamedTuple):
    """Where a sort of move is counted."""

    words: str
    rows: Flags
    """The decisions, shape (N,)."""
    does: Flags
    """Which actions are of the sort, shape (N, A)."""


@dataclass(frozen=True)
class Contrast:
    """One line."""

    words: str
    people: Estimate
    players: Mapping[str, Estimate]
    less: Mapping[str, Estimate]
    """The rate of people minus that of each player, on the same decisions; games are what is drawn."""


class _Seen:
    """The inputs of decisions by name."""

    def __init__(self, of: Any) -> None:
        self.of, self.seats = of, of.tables.seats
        names = [*INPUTS, *of.tables.names[len(of.tables.game.role_names) :]]
        self._column = {name: k for k, name in enumerate(names)}
        order = of.tables.frame.order[0]
        self.acts = [of.tables.game.catalogue[number] for number in order]

    def __getitem__(self, name: str) -> Any:
        return self.of.inputs[:, self._column[name]]

    def kind(self, kind: str) -> Flags:
        """Decisions of a kind, shape (N,)."""
        kinds = import_extra("parlour.training.learn.clone.networks", "train").KINDS
        rows: Flags = self.of.kind == kinds.index(kind)
        return rows

    def shown(self) -> Any:
        """Seats that the night showed, in the frame of the seat, shape (N, n)."""
        return np.stack([self[f"{place(k)}: shown to me by the night"] > 0 for k in range(self.seats)], axis=1)

    def moves(self, wanted: Sequence[bool]) -> Flags:
        """The same actions at all decisions."""
        return np.repeat(np.array(wanted)[None], len(self.of.action), axis=0)


def place(seats_on: int) -> str:
    """What features call a seat, counted from its own.

    >>> place(0), place(2)
    ('me', '+2')
    """
    return f"+{seats_on}" if seats_on else "me"


# -- situations ----------------------------------------------------------------------------------------------------


def situations(of: Any) -> Iterator[Situation]:
    """All situations of decisions (`clone.networks.Decisions`)."""
    seen = _Seen(of)
    first = seen["quest 1"] > 0
    for number, role in enumerate(ROLES):
        own = of.role == number
        for quest, when in ((first, "first quest"), (~first, "later quest")):
            for words, rows, does in (*_votes(seen, role), *_teams(seen, role), *_cards(seen, role)):
                yield Situation(f"{role}, {when}{words}", own & quest & rows, does)
        yield from (
            Situation(f"{role}{words}", own & rows, does) for words, rows, does in _guesses(seen) if role in EVIL_ROLES
        )


def _votes(seen: _Seen, role: str) -> Iterator[tuple[str, Flags, Flags]]:
    approves = seen.moves([move.kind == BALLOT and move.args == (1,) for move in seen.acts])
    votes, last = seen.kind(BALLOT), seen["proposals / 5"] > 0.99
    on, leads = seen["I am on the team"] > 0, seen["me: leads"] > 0
    if role in EVIL_ROLES or role == MERLIN:
        evil = seen["shown ones on the team / 4"] > 0
        evil = evil | on if role in EVIL_ROLES else evil
        groups = {"a team with evil": evil, "a team without evil": ~evil}
    else:
        groups = {"a team with himself": on, "a team without himself": ~on}
    for words, group in groups.items():
        yield f": approves {words} that another named", votes & group & ~leads & ~last, approves
    yield ": approves the fifth team that another named", votes & ~leads & last, approves


def _teams(seen: _Seen, role: str) -> Iterator[tuple[str, Flags, Flags]]:
    named = seen.kind(TEAM)
    without = seen.moves([move.kind == TEAM and 0 not in move.args for move in seen.acts])
    yield ": leads and leaves himself out", named, without
    if role in EVIL_ROLES or role == MERLIN:
        shown = seen.shown()
        members = np.array([[move.kind == TEAM and k in move.args for move in seen.acts] for k in range(1, seen.seats)])
        yield ": leads and takes another evil seat", named, (shown[:, 1:].astype(int) @ members.astype(int)) > 0


def _cards(seen: _Seen, role: str) -> Iterator[tuple[str, Flags, Flags]]:
    if role in EVIL_ROLES:
        alone = seen["shown ones on the team / 4"] == 0
        success = seen.moves([move.kind == CARD and move.args == (1,) for move in seen.acts])
        for words, group in (("alone", alone), ("with another evil seat", ~alone)):
            yield f": on the quest {words}, plays success", seen.kind(CARD) & group, success


def _guesses(seen: _Seen) -> Iterator[tuple[str, Flags, Flags]]:
    """The seat that an onlooker takes for Merlin most."""
    likely = np.stack([seen[f"onlooker's: Merlin {place(k)}"] for k in range(seen.seats)], axis=1)
    likely = np.where(seen.shown(), -1.0, likely)
    likely[:, 0] = -1.0
    target = likely.argmax(axis=1)
    seat = np.array([move.args[0] if move.kind == GUESS and move.args else -1 for move in seen.acts])
    yield ": names the seat that most looks like Merlin", seen.kind(GUESS), seat[None] == target[:, None]


# -- rates ---------------------------------------------------------------------------------------------------------


def contrasts(of: Any, chances: Mapping[str, Any], fewest: int = FEWEST) -> list[Contrast]:
    """All situations with enough decisions, the largest difference from the first player first.

    Args:
        of: Decisions of people (`clone.networks.Decisions`).
        chances: By player: probabilities of all actions at these decisions, shape (N, A).
        fewest: Decisions that a situation needs.
    """
    largest = [_contrast(situation, of, chances) for situation in situations(of) if situation.rows.sum() >= fewest]
    first = next(iter(chances))
    return sorted(largest, key=lambda contrast: -abs(contrast.less[first].value))


def _contrast(situation: Situation, of: Any, chances: Mapping[str, Any]) -> Contrast:
    rows, does = np.flatnonzero(situation.rows), situation.does[situation.rows]
    games = of.game[rows].tolist()
    done = does[np.arange(len(rows)), of.action[rows]].astype(float)
    would = {name: (chance[rows] * does).sum(axis=1) for name, chance in chances.items()}

    def mean(values: Any, bounds: Any) -> Estimate:
        return by_game(zip(games, values.tolist(), strict=True), bounds)

    return Contrast(
        situation.words,
        mean(done, SHARE),
        {name: mean(chance, SHARE) for name, chance in would.items()},
        {name: mean(done - chance, SHARE_DIFFERENCE) for name, chance in would.items()},
    )


def differences(study: PeopleStudy, halves: Any, players: Mapping[str, str]) -> None:
    """Report the largest differences at one table, and draw them.

    Args:
        study: Gets the cells and the picture.
        halves: The table with decisions of people (`avalon_people_players.Halves`).
        players: Trained networks by name; the first one decides which differences are largest.
    """
    predicted = import_extra("parlour.training.learn.clone.networks", "train")
    table = build(known(GAME).spec, halves.config)
    chances = {
        name: predicted.seat_chances(make_policy(player, GAME, halves.config), table, halves.decisions)
        for name, player in players.items()
    }
    largest = contrasts(halves.decisions, chances)[:MOST]
    of = f"{halves.players} players"
    for contrast in largest:
        study.add(f"{contrast.words}: {_PEOPLE}", of, DECISIONS, valued(contrast.people, share=True))
        for name, would in contrast.players.items():
            study.add(f"{contrast.words}: {name}", of, DECISIONS, valued(would, share=True))
    if largest and plots.available():
        draw_contrasts(study, f"differences_{halves.players}.png", of, largest)


def draw_contrasts(study: PeopleStudy, file: str, of: str, largest: Sequence[Contrast]) -> None:
    """Draw lines, the rate of people and of each player, to a file of the study; `of` says at which table."""
    title = f"What people do and experts do not, {of}"
    names = [_PEOPLE, *largest[0].players]
    counts = sorted(contrast.people.n for contrast in largest)
    with plots.picture(
        study.folder / file,
        10,
        1.4 + 0.42 * len(largest),
        title=title,
        who="Held-out decisions of people at a table of usual roles; players: their probabilities at the same decisions",
        n=f"n = {counts[0]:,} to {counts[-1]:,} games; {plots.INTERVAL}s",
    ) as made:
        axes = made.subplots()
        for number, (name, mark) in enumerate(zip(names, plots.MARKERS, strict=False)):
            rates = [contrast.people if name == _PEOPLE else contrast.players[name] for contrast in largest]
            ends = [(100 * r.value, 100 * r.ends[0], 100 * r.ends[1]) for r in rates]
            colour = plots.OWN if name == _PEOPLE else plots.OTHERS[number - 1]
            plots.points(axes, range(len(largest)), ends, across=True, color=colour, fmt=mark, label=name)
        axes.set_yticks(range(len(largest)), [contrast.words for contrast in largest])
        axes.invert_yaxis()
        plots.label(axes, "how often, %", grid="x")
        plots.key(axes)
    study.pictures.append((file, title))
