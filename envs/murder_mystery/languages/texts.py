"""The texts of one language, from `data/<language>.toml`: phrases, sentence forms of facts, prose and words of cases.

The files explain their entries and the fields in braces. To add a language, add a file; an entry that is missing in it is
reported by name.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from parlour.envs.language.language_files import REFERENCE, LanguageTable, compare, languages, read_language
from pydantic import ConfigDict

LANGUAGES: Final = languages(__package__)

Sentences = tuple[str, ...]
Pattern = re.Pattern[str]


class SentenceTable(LanguageTable):
    """A table of sentences by name; `compare` holds the other languages to the names of the English file."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, str]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> str:
            """The sentence of a name."""


class Phrases(SentenceTable):
    """What the moderator and the seats say: what `text.py` puts together. Whatever is not named here is one sentence."""

    wanted: tuple[str, str]
    verdict: tuple[str, str, str]
    choosing: Pattern
    declines: Pattern
    hearing: dict[str, str]
    majority: dict[str, str]
    rules: SentenceTable
    """The rules of a table in words; the sentences on hearing, truth and majority stand between them."""
    end: dict[str, str]
    roles: dict[str, str]
    refusals: SentenceTable
    """What is wrong with words that cannot be used."""
    words: dict[str, str]
    ask: dict[str, str]
    questions: dict[str, tuple[str, str]]
    topics: dict[str, Pattern]


class Forms(LanguageTable):
    """How facts are said and read."""

    subject: str
    object: str
    stop: str
    start: Pattern
    end: str
    sentence_end: Pattern
    doubt: Pattern
    question: Pattern
    first_person: Pattern
    seen: Sentences
    mine: Sentences
    sentences: dict[str, Sentences]
    feels: dict[int, Sentences]

    def loosen(self, pattern: str) -> str:
        """A literal part of a form, as a pattern that accepts any blanks and the other small words of place."""
        loose = re.sub(r"(?:\\ )+", r"\\s+", pattern)
        loose = re.sub(r"(?<=s\+)in(?=\\s)", "(?:in|at|inside)", loose)
        return re.sub("[，：]", "[，：:,]?", loose)

    def speaks(self, clause: str, groups: dict[str, str | None]) -> bool:
        """Whether a matched clause is in the first person."""
        own = {self.subject.casefold(), self.object.casefold()}
        if any((groups.get(slot) or "").casefold() in own for slot in "ab"):
            return True
        return self.first_person.search(clause) is not None


class Prose(LanguageTable):
    """Sentences of scripts, briefings and quizzes of generated cases. In a frame `*` is the sentence of a fact.

    Every other entry is a list of sentences; one is drawn.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, Sentences]

    moved: str
    briefing: str
    found: str
    lists: str
    last: str
    relation_option: str
    accident: str
    both: str
    feels: dict[int, Sentences]
    open: dict[str, str]
    questions: dict[str, str]
    objectives: dict[str, str]

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Sentences:
            """The sentences of a name."""


class Scene(LanguageTable):
    """A setting of generated cases."""

    title: str
    setting: str
    places: Sentences
    means: Sentences
    items: Sentences


class Words(LanguageTable):
    """The words of generated cases; the same numbers mean the same in all languages."""

    names: tuple[Sentences, ...]
    relations: Sentences
    motives: Sentences
    times: tuple[Sentences, ...]
    scenes: dict[str, Scene]


class Texts(LanguageTable):
    """All texts of one language."""

    wording: int
    gap: str
    phrases: Phrases
    forms: Forms
    prose: Prose
    words: Words


@cache
def texts(language: str) -> Texts:
    """The texts of a language.

    Raises:
        ParlourError: There is no such language, or its file is not complete.
    """
    own = read_language(__package__, language, Texts)
    return own if language == REFERENCE else compare(own, texts(REFERENCE), f"{language}.toml", ("words",))
