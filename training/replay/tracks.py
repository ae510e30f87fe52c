"""Beliefs over the steps: values that are kept where they change, and calls of a transcript from which they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from parlour.envs.language.english import name
from parlour.policies.llm.reading import LENGTH, answer_in, meant
from parlour.training.replay.model import ENOUGH_DIGITS, BeliefLines

Points = tuple[tuple[int, tuple[float | None, ...]], ...]


Alive = tuple[tuple[int, tuple[int, ...]], ...]
"""(step, 1/0 of each seat) where it changed."""


class Track:
    """The values of one belief, step by step."""

    def __init__(self) -> None:
        self._points: list[tuple[int, tuple[float | None, ...]]] = []

    def at(self, step: int, values: Iterable[float | None]) -> None:
        """The values from a step on; of several of one step the last ones count."""
        rounded = tuple(None if value is None else round(float(value), ENOUGH_DIGITS) + 0.0 for value in values)
        if self._points and self._points[-1][0] == step:
            self._points.pop()
        if not self._points or self._points[-1][1] != rounded:
            self._points.append((step, rounded))

    @property
    def points(self) -> Points:
        """Where they changed."""
        return tuple(self._points)


def exact_lines(what: str, title: str, holder: int | None, track: Track, seats: int, by: str) -> BeliefLines:
    """The lines of an exact posterior over all seats; `by` says how it was made, from what {} was shown."""
    whose = "everybody" if holder is None else name(holder)
    subjects, by = tuple(range(seats)), by.format(whose)
    return BeliefLines(f"exact {what}: {whose}", title, what, holder, "exact", 0.0, 1.0, track.points, subjects, by=by)


def answer_of(call: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The fields of a call's answer, a model's or a heuristic's; None for a reply that was no answer."""
    answer = call.get("answer")
    if answer is None and not call.get("fault") and isinstance(call.get("reply"), str):
        answer = answer_in(call["reply"], cut=call.get("finish") == LENGTH)[0]
    return answer if isinstance(answer, Mapping) else None


def opinions_in(values: Mapping[str, Any], seats: int) -> dict[int, dict[str, float]]:
    """Opinions in an answer: seat -> field -> probability. What is no seat of the table or no chance is left out."""
    chances: dict[int, dict[str, float]] = {}
    opinions = values.get("opinions")
    for opinion in opinions if isinstance(opinions, list) else ():
        seat = seat_meant(opinion.get("player"), seats) if isinstance(opinion, Mapping) else None
        if seat is not None:
            chances[seat] = {
                key: float(value) for key, value in opinion.items() if type(value) in (int, float) and 0 <= value <= 1
            }
    return chances


def seat_meant(value: Any, seats: int) -> int | None:
    """The seat that a number or words in an answer mean; None if none."""
    try:
        return int(meant(value, {seat: f"player_{seat}" for seat in range(seats)}))
    except LookupError:
        return None


def of_the_living(values: Iterable[float | None], alive: Alive, step: int) -> list[float | None]:
    """Values of seats at a step, None for those who are out of the game."""
    living = next((now for since, now in reversed(alive) if since <= step), None)
    return [value if living is None or living[seat] else None for seat, value in enumerate(values)]


def ended(points: Points, alive: Alive) -> Points:
    """Points with one more at each death between them, at which the line of the dead ends."""
    track = Track()
    steps = sorted({step for step, _ in points} | {step for step, _ in alive})
    latest: tuple[float | None, ...] | None = None
    values = dict(points)
    for step in steps:
        latest = values.get(step, latest)
        if latest is not None:
            track.at(step, of_the_living(latest, alive, step))
    return track.points
