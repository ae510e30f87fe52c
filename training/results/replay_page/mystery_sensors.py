"""What Questum's seats made of the others: sensors and chances, run once more on the recorded Views.

If a language model answered for a seat, its answers about all sensors are read from the transcript.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.envs.english import name
from parlour.envs.murder_mystery.vocabulary import MysteryView
from parlour.policies.agents.murder_mystery import MysterySeat, PlayerStarAgent, QuestumAgent
from parlour.policies.agents.murder_mystery.asks import SenseAll
from parlour.policies.agents.murder_mystery.questum.interview import Interview
from parlour.policies.agents.murder_mystery.questum.plan import PlannedInterview
from parlour.policies.agents.murder_mystery.sensors import DEFAULT, SENSORS, SensorReading, distance, read_by
from parlour.policies.llm.ask import read_back
from parlour.training.results.replay_page.again import FollowedTurn, follow
from parlour.training.results.replay_page.matter import GameMatter
from parlour.training.results.replay_page.model import BeliefLines, ReplayColumn, ReplayRow, ReplayTable
from parlour.training.results.replay_page.played import PlayedGame
from parlour.training.results.replay_page.tracks import Track

_PLAYERS: Final = (QuestumAgent.name, PlayerStarAgent.name)
_SHOWN: Final = tuple(SENSORS)
_RECORDED: Final = "Answers of {}'s language model, from the transcript."
_BY: Final = "{} run once more on the recorded Views: it put the same questions and made the same moves."


def questum_beliefs(played: PlayedGame, views: Sequence[MysteryView]) -> GameMatter:
    """What seats that play Questum or PLAYER* believed; nothing where none does, or where it cannot be run once more."""
    seen, noted = _Seen(views), _Seen(views)
    alike = follow(played, _PLAYERS, seen.look)
    _take_recorded(played, views, noted)
    kept = [row for row in seen.rows if row.cells[0] in alike]
    kept += [row for row in noted.rows if row.cells[0] not in alike]
    rows = tuple(sorted(kept, key=lambda row: row.step))
    columns: tuple[ReplayColumn, ...] = (
        ReplayColumn("player", "seat"),
        ReplayColumn("victim"),
        ReplayColumn("about", "seat"),
    )
    columns += (*map(ReplayColumn, _SHOWN), ReplayColumn("differ from a murderer's", "number"))
    again = ((key, track, "played again", _BY) for key, track in sorted(seen.tracks.items()) if key[0] in alike)
    recorded = (
        (key, track, "recorded", _RECORDED) for key, track in sorted(noted.tracks.items()) if key[0] not in alike
    )
    beliefs = tuple(_lines(views, *belief) for belief in (*again, *recorded))
    tables = (ReplayTable("sensors", "What sensors read", columns, rows),) if rows else ()
    return GameMatter(tables=tables, beliefs=beliefs)


def _take_recorded(played: PlayedGame, views: Sequence[MysteryView], noted: _Seen) -> None:
    """What a language model's sensors read, from the questions and replies in the transcript."""
    read: dict[tuple[int, int], dict[int, list[SensorReading]]] = {}
    for step, holder, call in played.calls():
        question, readings = _readings_of(call) or (None, [])
        if question and question.victim in views[0].victims and question.about in views[0].names:
            victim = views[0].victims.index(question.victim)
            by_seat = read.setdefault((holder, victim), {})
            by_seat[views[0].names.index(question.about)] = readings
            noted.sensors(step, holder, victim, by_seat)


def _readings_of(call: Mapping[str, Any]) -> tuple[SenseAll, list[SensorReading]] | None:
    """The question of a call that reads all sensors, and what its reply says; None for any other call."""
    prompt, reply = call.get("prompt"), call.get("reply")
    if (
        call.get("ask") != SenseAll.kind
        or call.get("fault")
        or not isinstance(reply, str)
        or not isinstance(prompt, list)
    ):
        return None
    try:
        question = read_back(str(prompt[1]["content"]))
        answer = question.read(reply) if isinstance(question, SenseAll) else None
    except (ParlourError, LookupError, TypeError):
        return None
    if not isinstance(question, SenseAll) or answer is None:
        return None
    readings = answer.readings.items()
    return question, [
        SensorReading(sensor=sensor, choice=reading.choice, reason=reading.reason) for sensor, reading in readings
    ]


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
                read = {seat: summary.readings for (of, seat), summary in procedure.summaries.items() if of == victim}
                self.sensors(turn.step, turn.seat, number, read)
                if isinstance(procedure, PlannedInterview) and procedure.has_facts:
                    chances = procedure.chances(victim)
                    self._at(
                        turn.step, turn.seat, number, "chance", [chances.get(seat) for seat in range(len(self._views))]
                    )

    def sensors(self, step: int, holder: int, number: int, read: Mapping[int, Sequence[SensorReading]]) -> None:
        """Take in what a seat's sensors read by now of each seat, for a victim."""
        if not read:
            return
        seats = range(len(self._views))
        self._at(step, holder, number, "distance", [distance(read[seat]) if seat in read else None for seat in seats])
        for seat, readings in sorted(read.items()):
            choices = read_by(readings)
            cells = tuple(choices.get(sensor, "") for sensor in _SHOWN)
            if self._known.get((holder, number, seat)) != cells:
                self._known[holder, number, seat] = cells
                row = (holder, self._views[holder].victims[number], seat, *cells, distance(readings))
                self.rows.append(ReplayRow(step, row, f"{holder}.{number}.{seat}", (holder,)))

    def _at(self, step: int, holder: int, victim: int, what: str, values: Sequence[float | None]) -> None:
        self.tracks.setdefault((holder, victim, what), Track()).at(step, values)


def _lines(views: Sequence[MysteryView], key: tuple[int, int, str], track: Track, source: str, by: str) -> BeliefLines:
    seat, victim, what = key
    whom = views[seat].victims[victim]
    chance = what == "chance"
    return BeliefLines(
        id=f"{source} {what} {victim}: {name(seat)}",
        title=f"own chance to have killed {whom}" if chance else f"sensors that differ from the murderer's of {whom}",
        what=f"murderer of {whom}" if chance else f"sensors of {whom}",
        holder=seat,
        source=source,
        low=0.0,
        high=1.0 if chance else float(len(DEFAULT)),
        points=track.points,
        subjects=tuple(range(len(views))),
        by=by.format(name(seat)),
    )
