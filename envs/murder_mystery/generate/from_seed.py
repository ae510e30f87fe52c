"""Original murder mysteries from a seed: draw what happened, deal the clues, prove the riddle, write it down.

The story depends on the seed alone; the language changes only its words.
"""

from __future__ import annotations

from functools import lru_cache
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
VICTIMS: Final = range(1, 5)
_STORY, _WORDING, _QUIZ = range(3)
_ATTEMPTS: Final = 10_000
_DIGITS: Final = 100
"""Most digits of a number in a reference."""


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
        victims: 1..4; None draws one, or with five players or more sometimes two.
        scene: Name of a scene of the languages' files; None draws one.
        level: 0 for a plain case; 1..5 for tougher ones (`tougher`), with one murderer, one victim (1..4 at level 5) and 5..9
            players (6..9 at levels 3 and 5, 8 or 9 at 4).

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
    least, most = tougher.TOUGHNESS[level].players[0], tougher.TOUGHNESS[level].victims[-1]
    if level and ((victims or 1) > most or (players or least) < least):
        chosen = f"level {level} with {players} players and {victims} victims"
        raise ParlourError(f"{chosen} is not accepted; accepted: {least}..9 players, 1 to {most} victims")
    where = None if scene is None else SCENES.index(scene)
    world, known = _riddle(seed, players, victims, where, level)
    options = [language, players, victims, scene, level or None]
    while options[-1] is None:
        options.pop()
    return _tell(world, known, ":".join(map(str, ("seed", seed, *options))), seed, tougher.TOUGHNESS[level].liars)


@lru_cache(maxsize=64)
def from_reference(reference: str) -> Case:
    """The case of `"seed:N[:LANGUAGE[:PLAYERS[:VICTIMS[:SCENE[:LEVEL]]]]]"`; empty parts or `None` are drawn.

    Raises:
        ParlourError: For any other reference, or a number of more than 100 digits.
    """
    head, *parts = reference.split(":")
    known = (*(None if part in ("", "None") else part for part in parts), *[None] * 6)[:6]
    seed, language, *_, scene, _ = known
    numbers = [None if known[k] is None else str(known[k]) for k in (0, 2, 3, 5)]
    fit = all(part is None or (part.isdecimal() and len(part) <= _DIGITS) for part in numbers)
    if head != "seed" or seed is None or len(parts) > 6 or not fit:
        raise accept("case", reference, "seed:N[:en|zh[:PLAYERS[:VICTIMS[:SCENE[:LEVEL]]]]]")
    number, players, victims, level = (None if part is None else int(part) for part in numbers)
    return generate(number or 0, language or "en", players, victims, scene, level or 0)


def _riddle(
    seed: int, players: int | None, victims: int | None, scene: int | None, level: int
) -> tuple[CaseWorld, CaseKnowledge]:
    """Draw until the solver has proved a riddle of the level; levels have draws of their own, so that plain cases stay as they are."""
    rng = np.random.default_rng((seed, _STORY, level) if level else (seed, _STORY))
    if level:
        players, victims = players or int(rng.choice(tougher.TOUGHNESS[level].players)), victims or 1
    for _ in range(_ATTEMPTS):
        world = draw_world(rng, players, victims, scene, one_murderer=level > 0)
        known: CaseKnowledge | None = deal(world, rng)
        if known is not None and not faults_of(world.seats, world.deaths, known.public, known.facts, known.lies):
            known = tougher.complicate(world, known, rng, level) if level else known
            if known is not None:
                return world, known
    raise accept("seed", seed, f"seeds that give a fair case within {_ATTEMPTS} draws")


def _tell(world: CaseWorld, known: CaseKnowledge, name: str, seed: int, liars: int) -> Case:
    """The case in words; `name` begins with the seed and the language."""
    language = name.split(":")[2]
    scene = texts(language).words.scenes[SCENES[world.scene]]
    words = vocabulary_of(world, language)
    teller = Teller(words, np.random.default_rng((seed, _WORDING, texts(language).wording)))
    quizzes = np.random.default_rng((seed, _QUIZ))
    return Case(
        id=name,
        title=scene.title,
        language=language,
        briefing=teller.briefing(scene.setting, world.deaths, known.public),
        **{field: getattr(words, field) for field in ("places", "times", "means", "motives", "relations", "items")},
        public=known.public,
        characters=tuple(_character(world, known, words, teller, seat) for seat in range(world.seats)),
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
