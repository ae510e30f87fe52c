"""What Questum's seats made of the others: sensors and chances, from the notes of their decisions, whoever answered.

Notes come from anybody: what names no victim, character, sensor or chance of the game is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from parlour.envs.language.english import name
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.policies.agents.murder_mystery.sensors import DEFAULT, SENSORS, SensorReading, distance, read_by
from parlour.training.replay.matter import GameMatter
from parlour.training.replay.model import BeliefLines, ReplayColumn, ReplayRow, ReplayTable
from parlour.training.replay.played import PlayedGame
from parlour.training.replay.tracks import Track

_SHOWN: Final = tuple(SENSORS)
_BY: Final = "What {}'s own method made of the others at each decision, as the transcript holds it."


def questum_beliefs(played: PlayedGame, views: Sequence[MysteryView]) -> GameMatter:
    """What seats that play Questum or PLAYER* believed; nothing where none noted it."""
    noted = _Noted(views)
    for step, (entry, notes) in enumerate(zip(played.entries, played.notes, strict=True)):
        if entry.seat >= 0:
            noted.take(step, entry.seat, notes)
    columns: tuple[ReplayColumn, ...] = (
        ReplayColumn("player", "seat"),
        ReplayColumn("victim"),
        ReplayColumn("about", "seat"),
    )
    columns += (*map(ReplayColumn, _SHOWN), ReplayColumn("differ from a murderer's", "number"))
    tables = (ReplayTable("sensors", "What sensors read", columns, tuple(noted.rows)),) if noted.rows else ()
    return GameMatter(tables=tables, beliefs=tuple(noted.lines()))


class _Noted:
    """What the seats noted, step by step."""

    def __init__(self, views: Sequence[MysteryView]) -> None:
        self.rows: list[ReplayRow] = []
        self._tracks: dict[tuple[int, int, str], Track] = {}
        """(seat, victim, what) -> over the steps."""
        self._views = views
        self._readings: dict[tuple[int, int], dict[int, list[SensorReading]]] = {}
        self._shown: dict[tuple[int, int, int], tuple[str, ...]] = {}

    def take(self, step: int, holder: int, notes: Mapping[str, Any]) -> None:
        """The notes of one decision."""
        read = notes.get("sensors")
        for entry in read if isinstance(read, list) else ():
            if isinstance(entry, Mapping):
                self._sensors(step, holder, entry)
        chances = notes.get("chances")
        for named, about in chances.items() if isinstance(chances, Mapping) else ():
            victim = self._victim(named)
            if victim is not None and isinstance(about, Mapping):
                values = (_chance(about.get(character)) for character in self._views[0].names)
                self._track(holder, victim, "chance").at(step, values)

    def lines(self) -> Iterator[BeliefLines]:
        """The beliefs over the steps."""
        for (seat, victim, what), track in sorted(self._tracks.items()):
            whom, chance = self._views[seat].victims[victim], what == "chance"
            yield BeliefLines(
                id=f"recorded {what} {victim}: {name(seat)}",
                title=f"own chance to have killed {whom}"
                if chance
                else f"sensors that differ from the murderer's of {whom}",
                what=f"murderer of {whom}" if chance else f"sensors of {whom}",
                holder=seat,
                source="recorded",
                low=0.0,
                high=1.0 if chance else float(len(DEFAULT)),
                points=track.points,
                subjects=tuple(range(len(self._views))),
                by=_BY.format(name(seat)),
            )

    def _sensors(self, step: int, holder: int, entry: Mapping[str, Any]) -> None:
        """What all sensors read of one character."""
        victim, about, read = self._victim(entry.get("victim")), entry.get("about"), entry.get("readings")
        if victim is None or about not in self._views[0].names or not isinstance(read, Mapping):
            return
        seat = self._views[0].names.index(about)
        readings = [
            SensorReading(sensor=key, choice=choice, reason="") for key, choice in read.items() if type(choice) is str
        ]
        by_seat = self._readings.setdefault((holder, victim), {})
        by_seat[seat] = readings
        values = (distance(by_seat[k]) if k in by_seat else None for k in range(len(self._views)))
        self._track(holder, victim, "distance").at(step, values)
        choices = read_by(readings)
        cells = tuple(choices.get(sensor, "") for sensor in _SHOWN)
        if self._shown.get((holder, victim, seat)) != cells:
            self._shown[holder, victim, seat] = cells
            row = (holder, self._views[holder].victims[victim], seat, *cells, distance(readings))
            self.rows.append(ReplayRow(step, row, f"{holder}.{victim}.{seat}", (holder,)))

    def _victim(self, named: Any) -> int | None:
        victims = self._views[0].victims
        return victims.index(named) if named in victims else None

    def _track(self, holder: int, victim: int, what: str) -> Track:
        return self._tracks.setdefault((holder, victim, what), Track())


def _chance(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None
