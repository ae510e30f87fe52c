"""How heuristics prune a list of suspects, and vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from parlour.policies.agents.murder_mystery import prose
from parlour.policies.agents.murder_mystery.evidence import collect, judge, scripts_of
from parlour.policies.agents.murder_mystery.scene import CharacterInfo, Scene, Talk
from parlour.policies.agents.murder_mystery.sensors import SENSORS, SUSPICION, SensorSummary, distance, value_of

NEAR: Final = 1
"""Sensors that may read otherwise than for a murderer, before somebody is left out."""


def prune(suspects: Sequence[str], summaries: Sequence[SensorSummary]) -> list[str]:
    """Who stays, or comes back, nearest to the hypothetical murderer first; never nobody.

    Who had no opportunity goes. Of the others those stay who are at most `NEAR` sensors away from a murderer, and those
    who may still have much to tell; or, where there are none of either, those who are nearest. Of equals, the present
    suspects come first.
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
    return any(reading.sensor == SUSPICION and reading.choice != murderous for reading in summary.readings)


def vote(
    scene: Scene,
    me: CharacterInfo,
    victim: str,
    options: Sequence[str],
    script: Sequence[str],
    dialogue: Sequence[Talk],
    suspects: Sequence[str],
) -> str:
    """Whom to vote for: of the options, the one against whom most speaks; of equals, first a suspect.

    A murderer of the victim votes for whoever looks worst of the others, as he is no option himself.
    """
    person = scene.person(victim)
    seats = [scene.person(option) for option in options]
    told = collect(scene, scripts_of(scene, me, script), dialogue, scene.vocabulary)
    texts = [*script, *(talk.answer for talk in dialogue)] if len(told) <= 2 else []
    dossiers = judge(scene, person, seats, told, texts)
    place = {name: k for k, name in enumerate(suspects)}

    def standing(option: str) -> tuple[float, int, int]:
        named = sum(prose.mentions(scene, scene.person(option), text) for text in texts)
        return (-round(dossiers[scene.person(option)].weight, 6), place.get(option, len(place)), -named)

    return min(options, key=standing)
