"""How heuristics prune a list of suspects, and vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from parlour.policies.agents.murder_mystery import prose
from parlour.policies.agents.murder_mystery.evidence import Excerpts, has_facts, judge
from parlour.policies.agents.murder_mystery.sensors import (
    SENSORS,
    SUSPICION,
    SensorSummary,
    distance,
    read_by,
    value_of,
)

NEAR: Final = 1
"""How many sensors may differ from a murderer's before a suspect is dropped."""


def prune(suspects: Sequence[str], summaries: Sequence[SensorSummary]) -> list[str]:
    """The new list, nearest to the hypothetical murderer first; never empty.

    Characters without an opportunity are dropped. Of the others those stay that are at most `NEAR` sensors away from a
    murderer or may still have much to tell; if there are none, the nearest ones. Of equals, the present suspects come
    first.
    """
    order = {name: place for place, name in enumerate(suspects)}
    ranked = sorted(summaries, key=lambda one: (distance(one.readings), order.get(one.character, len(order))))
    able = [one for one in ranked if not _without_opportunity(one)] or ranked
    near = [one for one in able if distance(one.readings) <= NEAR or value_of(one.readings) in ("high", "medium")]
    if not near and able:
        least = distance(able[0].readings)
        near = [one for one in able if distance(one.readings) == least]
    return [one.character for one in near]


def _without_opportunity(summary: SensorSummary) -> bool:
    murderous = SENSORS[SUSPICION].murderer
    return read_by(summary.readings).get(SUSPICION, murderous) != murderous


def vote(excerpts: Excerpts, options: Sequence[str], suspects: Sequence[str]) -> str:
    """The option with the most evidence against it; of equals, first a suspect.

    A murderer of the victim votes for the option that looks worst, as he is no option himself.
    """
    scene, told = excerpts.scene, excerpts.told()
    seats = [scene.person(option) for option in options]
    texts = [*excerpts.script, *(talk.answer for talk in excerpts.dialogue)] if not has_facts(told) else []
    dossiers = judge(scene, excerpts.dead, seats, told, texts)
    place = {name: k for k, name in enumerate(suspects)}

    def standing(option: str) -> tuple[float, int, int]:
        named = sum(prose.mentions(scene, scene.person(option), text) for text in texts)
        return (-round(dossiers[scene.person(option)].weight, 6), place.get(option, len(place)), -named)

    return min(options, key=standing)
