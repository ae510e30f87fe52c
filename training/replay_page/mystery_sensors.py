"""What Questum's seats made of the others, run once more on the recorded Views: sensors, lists of suspects, and chances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from parlour.envs.english import name
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.policies.agents.murder_mystery import MysterySeat, PlayerStarAgent, QuestumAgent
from parlour.policies.agents.murder_mystery.questum.interview import Interview
from parlour.policies.agents.murder_mystery.questum.plan import PlannedInterview
from parlour.policies.agents.murder_mystery.sensors import DEFAULT, SENSORS, distance, read_by
from parlour.training.replay_page.again import FollowedTurn, follow
from parlour.training.replay_page.model import BeliefLines, Column, ReplayRow, ReplayTable
from parlour.training.replay_page.played import PlayedGame
from parlour.training.replay_page.tracks import Track

_PLAYERS: Final = (QuestumAgent.name, PlayerStarAgent.name)
_SHOWN: Final = tuple(SENSORS)
_BY: Final = "{} run once more on the recorded Views: it put the same questions and made the same moves."


class QuestumBeliefs(NamedTuple):
    """All that is shown of these seats."""

    tables: tuple[ReplayTable, ...]
    beliefs: tuple[BeliefLines, ...]


def questum_beliefs(played: PlayedGame, views: Sequence[MysteryView]) -> QuestumBeliefs:
    """What seats that play Questum or PLAYER* believed; nothing where none does, or where it cannot be run once more."""
    seen = _Seen(views)
    alike = follow(played, _PLAYERS, seen.look)
    rows = tuple(row for row in seen.rows if row.cells[0] in alike)
    columns = (Column("player", "seat"), Column("victim"), Column("about", "seat"), *map(Column, _SHOWN))
    table = ReplayTable("sensors", "What sensors read", (*columns, Column("differ from a murderer's", "number")), rows)
    beliefs = tuple(_lines(key, track, views) for key, track in sorted(seen.tracks.items()) if key[0] in alike)
    return QuestumBeliefs((table,) if rows else (), beliefs)


class _Seen:
    """What the seats had in mind after each of their turns."""

    def __init__(self, views: Sequence[MysteryView]) -> None:
        self.tracks: dict[tuple[int, int, str], Track] = {}
        """(seat, victim, what) -> over the steps."""
        self.rows: list[ReplayRow] = []
        self._views = views
        self._known: dict[tuple[int, int, int], tuple[str, ...]] = {}

    def look(self, turn: FollowedTurn) -> None:
        """Take in a turn."""
        procedure = turn.player.procedure if isinstance(turn.player, MysterySeat) else None
        if isinstance(procedure, Interview):
            for number, victim in enumerate(self._views[turn.seat].victims):
                self._sensors(turn, procedure, number, victim)
                if isinstance(procedure, PlannedInterview) and procedure.has_facts:
                    chances = procedure.chances(victim)
                    self._at(turn, number, "chance", [chances.get(seat) for seat in range(len(self._views))])

    def _sensors(self, turn: FollowedTurn, procedure: Interview, number: int, victim: str) -> None:
        read = {seat: summary.readings for (of, seat), summary in procedure.summaries.items() if of == victim}
        if not read:
            return
        seats = range(len(self._views))
        self._at(turn, number, "distance", [distance(read[seat]) if seat in read else None for seat in seats])
        for seat, readings in sorted(read.items()):
            choices = read_by(readings)
            cells = tuple(choices.get(sensor, "") for sensor in _SHOWN)
            if self._known.get((turn.seat, number, seat)) != cells:
                self._known[turn.seat, number, seat] = cells
                row = (turn.seat, victim, seat, *cells, distance(readings))
                self.rows.append(ReplayRow(turn.step, row, f"{turn.seat}.{number}.{seat}", (turn.seat,)))

    def _at(self, turn: FollowedTurn, victim: int, what: str, values: Sequence[float | None]) -> None:
        self.tracks.setdefault((turn.seat, victim, what), Track()).at(turn.step, values)


def _lines(key: tuple[int, int, str], track: Track, views: Sequence[MysteryView]) -> BeliefLines:
    seat, victim, what = key
    whom = views[seat].victims[victim]
    chance = what == "chance"
    return BeliefLines(
        id=f"played again {what} {victim}: {name(seat)}",
        title=f"own chance to have killed {whom}"
        if chance
        else f"sensors that differ from those of a murderer of {whom}",
        what=f"murderer of {whom}" if chance else f"sensors of {whom}",
        holder=seat,
        source="played again",
        low=0.0,
        high=1.0 if chance else float(len(DEFAULT)),
        points=track.points,
        subjects=tuple(range(len(views))),
        by=_BY.format(name(seat)),
    )
