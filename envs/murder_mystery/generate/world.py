"""What happened: the drawn world of a generated case, in numbers only.

Persons, places, hours, the murders with place, time, means and motive, and where everybody was all the time. The same world can
be described in English and in Chinese.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from parlour.envs.murder_mystery.cases.case import Death
from parlour.envs.murder_mystery.languages.texts import texts

_WORDS: Final = texts("en").words
SCENES: Final = tuple(_WORDS.scenes)
"""Names of the settings."""
HOURS: Final = 5
_PLACES: Final = 7
_MEANS: Final = 5
_MOTIVES: Final = 6
_RELATIONS: Final = 12
_ITEMS: Final = 4
_TWO_VICTIMS: Final = 0.2
"""Share of cases with two victims if no number is given; with five players or more."""
_SAME_MURDERER: Final = 0.4
"""How likely the murderer of the first victim kills another one, too, if there may be several."""
_STAY: Final = 0.35
"""How likely a person stays where he is for another half hour."""

PLACE, TIME, MEANS = range(3)
_HIDDEN: Final = ((PLACE,), (TIME,), (PLACE, MEANS), (TIME, MEANS), (PLACE, TIME))
"""What the briefing does not say about a death. It never says place and time both: a single sighting would be proof."""


class CaseWorld(NamedTuple):
    """What happened, and with which words, by their numbers in the languages' files."""

    scene: int
    names: tuple[int, ...]
    places: tuple[int, ...]
    hours: int
    means: tuple[int, ...]
    motives: tuple[int, ...]
    relations: tuple[int, ...]
    items: tuple[int, ...]
    seats: int
    deaths: tuple[Death, ...]
    hidden: tuple[tuple[int, ...], ...]
    """Per victim: which of PLACE, TIME, MEANS the briefing does not say."""
    timeline: tuple[tuple[int, ...], ...]
    """Per person and hour the place; -1 for the dead."""

    @property
    def victims(self) -> range:
        """Person numbers of the victims."""
        return range(self.seats, self.seats + len(self.deaths))


def draw_world(
    rng: np.random.Generator, players: int | None, victims: int | None, scene: int | None, *, one_murderer: bool = False
) -> CaseWorld:
    """Draw what happened. What is None is drawn: 4-6 players, one victim or (rarely) two, any scene."""
    seats = int(rng.integers(4, 7)) if players is None else players
    second = rng.random() < _TWO_VICTIMS and seats >= 5
    count = (2 if second else 1) if victims is None else victims
    where = int(rng.integers(len(SCENES)))
    where = where if scene is None else scene
    setting = _WORDS.scenes[SCENES[where]]
    deaths = _deaths(rng, seats, count, 1.0 if one_murderer else _SAME_MURDERER)
    hidden = tuple(_HIDDEN[int(rng.integers(len(_HIDDEN)))] for _ in deaths)
    return CaseWorld(
        scene=where,
        names=sample(rng, len(_WORDS.names), seats + count),
        places=sample(rng, len(setting.places), _PLACES),
        hours=int(rng.integers(len(_WORDS.times))),
        means=sample(rng, len(setting.means), _MEANS),
        motives=sample(rng, len(_WORDS.motives), _MOTIVES),
        relations=sample(rng, len(_WORDS.relations), _RELATIONS),
        items=sample(rng, len(setting.items), _ITEMS),
        seats=seats,
        deaths=_move_bodies(rng, deaths, hidden),
        hidden=hidden,
        timeline=_timeline(rng, seats, deaths),
    )


def sample(rng: np.random.Generator, among: int, count: int) -> tuple[int, ...]:
    """`count` different numbers below `among`, in random order."""
    return tuple(int(k) for k in rng.permutation(among)[:count])


def _deaths(rng: np.random.Generator, seats: int, count: int, same: float) -> tuple[Death, ...]:
    """Victims die in the order of their numbers, at different hours, places and by different means."""
    first = int(rng.integers(seats))
    murderers = [first]
    for _ in range(count - 1):
        other = (first + 1 + int(rng.integers(seats - 1))) % seats
        murderers.append(first if rng.random() < same else other)
    times = sorted(1 + hour for hour in sample(rng, HOURS - 1, count))
    places, means, motives = (sample(rng, among, count) for among in (_PLACES, _MEANS, _MOTIVES))
    return tuple(
        Death(murderer=m, place=p, time=t, means=w, motive=y, found=p)
        for m, p, t, w, y in zip(murderers, places, times, means, motives, strict=True)
    )


def _move_bodies(
    rng: np.random.Generator, deaths: tuple[Death, ...], hidden: tuple[tuple[int, ...], ...]
) -> tuple[Death, ...]:
    """Where the bodies were found: where they died, unless that is hidden; then elsewhere."""
    taken = {death.place for death in deaths}
    free = [place for place in sample(rng, _PLACES, _PLACES) if place not in taken]
    return tuple(
        death.model_copy(update={"found": free[k % len(free)]}) if PLACE in hidden[k] else death
        for k, death in enumerate(deaths)
    )


def _timeline(rng: np.random.Generator, seats: int, deaths: tuple[Death, ...]) -> tuple[tuple[int, ...], ...]:
    """Everybody's places: at the hour of a death nobody but murderer and victim is at its place."""
    lines = []
    for person in range(seats + len(deaths)):
        line: list[int] = []
        for hour in range(HOURS):
            line.append(_where(rng, person, hour, line[-1] if line else None, seats, deaths))
        lines.append(tuple(line))
    return tuple(lines)


def _where(
    rng: np.random.Generator, person: int, hour: int, before: int | None, seats: int, deaths: tuple[Death, ...]
) -> int:
    own = person - seats
    if own >= 0 and hour > deaths[own].time:
        return -1
    barred = None
    for victim, death in enumerate(deaths):
        if death.time == hour:
            if person in (death.murderer, seats + victim):
                return death.place
            barred = death.place
    stay = rng.random() < _STAY
    place = int(rng.integers(_PLACES))
    if stay and before is not None and before not in (barred, -1):
        return before
    return place if place != barred else (place + 1 + int(rng.integers(_PLACES - 1))) % _PLACES
