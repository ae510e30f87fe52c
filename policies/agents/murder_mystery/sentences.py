"""What the heuristics say, sentence by sentence, from `data/<language>.toml`."""

from __future__ import annotations

from functools import cache

from parlour.envs.language_files import LanguageTable, read_language


class SensorWords(LanguageTable):
    """How a sensor is put."""

    name: str
    question: str
    choices: tuple[str, ...]
    """In the order of `SENSORS`."""


class Sentences(LanguageTable):
    """The sentences of one language; the files explain them."""

    gap: str
    colon: str
    i_am: str
    nothing: str
    all_i_know: str
    unknown: str
    lacking: str
    said_before: str
    new: str
    honest: str
    guilty: str
    secretive: str
    predefined: tuple[str, ...]
    questions: dict[str, str]
    about: dict[str, str]
    unnamed: dict[str, str]
    slots: dict[str, str]
    sensors: dict[str, SensorWords]


@cache
def sentences(language: str) -> Sentences:
    """The sentences of a language. Raises `ParlourError` if its file is missing or not complete."""
    return read_language(__package__, language, Sentences)
