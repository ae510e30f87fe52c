"""Original murder mysteries from a seed: draw what happened, deal the clues, prove the riddle, write it down.

The story depends on the seed alone; the language changes only its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.murder_mystery.cases.case import Case, Character, Truth, Victim
from parlour.envs.murder_mystery.generate import tougher
from parlour.envs.murder_mystery.generate.clues import CaseKnowledge, deal
from parlour.envs.murder_mystery.generate.questions import EVERYBODY, quiz
from parlour.envs.murder_mystery.generate.solve import faults_of
from parlour.envs.murder_mystery.generate.teller import Teller
from parlour.envs.murder_mystery.generate.world import HOURS, SCENES, CaseWorld, draw_world
from parlour.envs.murder_mystery.languages.texts import texts
from parlour.envs.murder_mystery.vocabulary.facts import LANGUAGES, CaseVocabulary

PLAYERS: Final = range(4, 10)
"""How many may play a generated case."""
VICTIMS: Final = range(1, 3)
_STORY, _WORDING, _QUIZ = range(3)
_ATTEMPTS: Final = 10_000
_DIGITS: Final = 100
"""Of a number in a reference."""


def generate(
    seed: int,
    language: str = "en",
    players: int | None = None,
    victims: int | None = None,
    scene: str | None = None,
    level: int = 0,
) -> Case:
    """The case of a seed.

    Args:
        seed: The same seed and options give the same case; the language changes only the words.
        language: `"en"` or `"zh"`.
        players: 4..9; None draws 4..6.
        victims: 1 or 2; None draws one, or with five players or more sometimes two.
        scene: Name of a scene of the languages' files; None draws one.
        level: 0 for a plain case; 1..4 for tougher ones, with one victim and 5..9 players (6..9 at level 3, 8 or 9 at level 4); see `tougher`.

    Raises:
        ParlourError: For an option that is not accepted.
    """
    for name, value, accepted in (
        ("language", language, LANGUAGES),
        ("players", players, PLAYERS),
        ("victims", victims, VICTIMS),
        ("scene", scene, SCENES),
        ("level", level, tougher.LEVELS),
    ):
        if value is not None:
            check_one_of(name, value, accepted)
    if seed < 0:
        raise accept("seed", seed, "0, 1, 2, ...")
    least = tougher.TOUGHNESS[level].players[0]
    if level and (victims == 2 or (players or least) < least):
        chosen = f"level {level} with {players} players and {victims} victims"
        raise ParlourError(f"{chosen} is not accepted; accepted: {least}..9 players, 1 victim")
    where = None if scene is None else SCENES.index(scene)
    world, known = _tougher(seed, players, where, level) if level else _riddle(seed, players, victims, where)
    options = [language, players, victims, scene, level or None]
    name = ":".join(str(option) for option in ("seed", seed, *options[: max(_set(options), 1)]))
    return _tell(world, known, name, seed, language, tougher.TOUGHNESS[level].liars)


def _set(options: Sequence[object]) -> int:
    return max((k + 1 for k, option in enumerate(options) if option is not None), default=0)


def from_reference(reference: str) -> Case:
    """The case of `"seed:N[:LANGUAGE[:PLAYERS[:VICTIMS[:SCENE[:LEVEL]]]]]"`; empty parts or `None` are drawn.

    Raises:
        ParlourError: For any other reference, or a number of more than 100 digits.
    """
    head, *parts = reference.split(":")
    seed, language, players, victims, scene, level = (*(None if p in ("", "None") else p for p in parts), *[None] * 6)[
        :6
    ]
    numbers = [part for part in (seed, players, victims, level) if part is not None]
    fit = all(part.isdecimal() and len(part) <= _DIGITS for part in numbers)
    if head != "seed" or seed is None or len(parts) > 6 or not fit:
        raise accept("case", reference, "seed:N[:en|zh[:PLAYERS[:VICTIMS[:SCENE[:LEVEL]]]]]")
    return generate(
        int(seed),
        language or "en",
        None if players is None else int(players),
        None if victims is None else int(victims),
        scene,
        0 if level is None else int(level),
    )


def _tougher(seed: int, players: int | None, scene: int | None, level: int) -> tuple[CaseWorld, CaseKnowledge]:
    """Draw until the solver has proved a riddle of the level; draws of its own, so that plain cases stay as they are."""
    rng = np.random.default_rng((seed, _STORY, level))
    seats = players or int(rng.choice(tougher.TOUGHNESS[level].players))
    for _ in range(_ATTEMPTS):
        world = draw_world(rng, seats, 1, scene)
        known = deal(world, rng)
        if not faults_of(world.seats, world.deaths, known.public, known.facts, known.lies):
            made = tougher.complicate(world, known, rng, level)
            if made is not None:
                return world, made
    raise accept("seed", seed, f"seeds that give a fair case within {_ATTEMPTS} draws")


def _riddle(seed: int, players: int | None, victims: int | None, scene: int | None) -> tuple[CaseWorld, CaseKnowledge]:
    """Draw until the solver has proved the riddle; always the same draws."""
    rng = np.random.default_rng((seed, _STORY))
    for _ in range(_ATTEMPTS):
        world = draw_world(rng, players, victims, scene)
        known = deal(world, rng)
        if not faults_of(world.seats, world.deaths, known.public, known.facts, known.lies):
            return world, known
    raise accept("seed", seed, f"seeds that give a fair case within {_ATTEMPTS} draws")


def _tell(world: CaseWorld, known: CaseKnowledge, name: str, seed: int, language: str, liars: int) -> Case:
    scene = texts(language).words.scenes[SCENES[world.scene]]
    words = vocabulary_of(world, language)
    teller = Teller(words, np.random.default_rng((seed, _WORDING, texts(language).wording)))
    quizzes = np.random.default_rng((seed, _QUIZ))
    characters = tuple(_character(world, known, words, teller, seat) for seat in range(world.seats))
    return Case(
        id=name,
        title=scene.title,
        language=language,
        briefing=teller.briefing(scene.setting, world.deaths, known.public),
        places=words.places,
        times=words.times,
        means=words.means,
        motives=words.motives,
        relations=words.relations,
        items=words.items,
        public=known.public,
        characters=characters,
        victims=tuple(Victim(name=words.persons[v], aliases=words.aliases[v]) for v in world.victims),
        questions=tuple(quiz(world, known, words, quizzes, seat) for seat in range(world.seats)),
        omniscient=quiz(world, known, words, quizzes, EVERYBODY),
        truth=Truth(deaths=world.deaths, timeline=world.timeline, facts=known.truth),
        liars=liars,
    )


def _character(world: CaseWorld, known: CaseKnowledge, words: CaseVocabulary, teller: Teller, seat: int) -> Character:
    facts, lies = known.facts[seat], known.lies[seat]
    murdered = [v for v, death in zip(world.victims, world.deaths, strict=True) if death.murderer == seat]
    crimes = teller.gap.join(teller.crime(world.deaths[v - world.seats], v) for v in murdered)
    blamed = next((lie.args[0] for lie in lies if lie.kind == "saw" and murdered), None)
    return Character(
        name=words.persons[seat],
        aliases=words.aliases[seat],
        script=teller.script(seat, facts, world.motives, crimes, lies),
        objectives=teller.objectives(seat, facts, murdered, blamed),
        murders=tuple(death.murderer == seat for death in world.deaths),
        facts=facts,
        lies=lies,
    )


def vocabulary_of(world: CaseWorld, language: str) -> CaseVocabulary:
    """The words of a world in a language."""
    words = texts(language).words
    scene = words.scenes[SCENES[world.scene]]
    names = [words.names[number] for number in world.names]
    chosen = (
        (scene.places, world.places),
        (words.times[world.hours], range(HOURS)),
        (scene.means, world.means),
        (words.motives, world.motives),
        (words.relations, world.relations),
        (scene.items, world.items),
    )
    return CaseVocabulary(
        language,
        tuple(full for full, *_ in names),
        tuple(tuple(short) for _, *short in names),
        world.seats,
        *(tuple(every[number] for number in numbers) for every, numbers in chosen),
    )
