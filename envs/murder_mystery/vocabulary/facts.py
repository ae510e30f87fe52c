"""The language of facts: what a character of a murder mystery may know and tell, as data and as sentences.

Every fact has a canonical sentence in English and in Chinese (`say`), and `read` finds these sentences, and the other
forms of the language's file, in any text. `read(say(f)) == [f]`. Other sentences are skipped; questions,
denials and reports of what somebody else said are not facts.

The topics of questions and the facts that answer them are the contract between the rules, the players and the cases.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import Annotated, Final, NamedTuple

from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.language.english import without_article
from parlour.envs.murder_mystery.languages.texts import LANGUAGES as LANGUAGES, Forms, texts
from pydantic import AfterValidator


def _accepted(language: str) -> str:
    if language not in LANGUAGES:
        raise ValueError(f"{language!r} is not accepted; accepted: {', '.join(LANGUAGES)}")
    return language


Language = Annotated[str, AfterValidator(_accepted)]
"""A language with a file of texts; checked where pydantic reads it."""

FEELINGS: Final = (-1, 0, 1)
"""hates, does not care, is fond of."""
UNKNOWN: Final = -1
"""An argument of `died` that the sentence leaves open."""

PARAMETERS: Final = {
    "at": ("a", "p", "t"),
    "saw": ("b", "p", "t"),
    "relation": ("a", "r", "b"),
    "motive": ("a", "y", "b"),
    "had": ("a", "m"),
    "died": ("a", "p", "t", "m"),
    "feels": ("a", "f", "b"),
    "took": ("a", "i"),
    "lacked": ("a", "m"),
    "peace": ("a", "b"),
}
"""Kind -> what its arguments number: a, b persons; p place, t time, r relation, y motive, m means, i item, f feeling."""

KINDS: Final = tuple(PARAMETERS)
"""All kinds, in the order of their numbers.

    at(person, place, time)             the person was there then
    saw(person, place, time)            the teller saw the person there then
    relation(person, relation, other)   the person is the nephew, creditor, ... of the other
    motive(person, motive, victim)      the person had this reason to kill the victim
    had(person, means)                  the person could get at the means
    died(victim, place, time, means)    how the victim died; UNKNOWN where the teller cannot say
    feels(person, -1 | 0 | 1, other)    hates, does not care for, is fond of
    took(person, item)                  a secret: the person took the thing
    lacked(person, means)               the person could not get at the means
    peace(person, victim)               the person had made peace with the victim and no longer had a reason
"""

WHEREABOUTS, RELATION, MOTIVE, SIGHTING, MEANS, OPEN = range(6)
"""Topics of questions, in the order of their numbers."""
TOPICS: Final = ("whereabouts", "relation", "motive", "sighting", "means", "open")
ANSWERS: Final[dict[int, tuple[str, ...]]] = {
    WHEREABOUTS: ("at",),
    RELATION: ("relation", "feels"),
    MOTIVE: ("motive", "peace"),
    SIGHTING: ("saw", "died"),
    MEANS: ("had", "lacked", "died", "took"),
    OPEN: KINDS,
}
"""Topic -> kinds of facts that answer it."""


class Fact(NamedTuple):
    """One thing that somebody may know."""

    kind: str
    """One of `KINDS`."""
    args: tuple[int, ...]
    """Numbers of persons (seats, then victims) and of entries of the vocabulary; see `PARAMETERS`."""


class CaseVocabulary(NamedTuple):
    """The words of a case: public, and without any private knowledge. Hashable."""

    language: Language
    persons: tuple[str, ...]
    """Names: seats 0..n-1, then the victims."""
    aliases: tuple[tuple[str, ...], ...]
    """Other names of each person."""
    seats: int
    """How many of the persons play."""
    places: tuple[str, ...]
    times: tuple[str, ...]
    means: tuple[str, ...]
    motives: tuple[str, ...]
    relations: tuple[str, ...]
    items: tuple[str, ...]

    @property
    def victims(self) -> range:
        """The numbers of the victims among the persons."""
        return range(self.seats, len(self.persons))

    def words(self, parameter: str) -> tuple[str, ...]:
        """The entries that a parameter letter of `PARAMETERS` numbers; feelings have none."""
        words: tuple[str, ...] = self[_FIELDS[parameter]]  # type: ignore[assignment]
        return words


_FIELDS: Final = {
    letter: CaseVocabulary._fields.index(field)
    for letters, field in (
        ("ab", "persons"),
        ("p", "places"),
        ("t", "times"),
        ("m", "means"),
        ("y", "motives"),
        ("r", "relations"),
        ("i", "items"),
    )
    for letter in letters
}


def check_fact(fact: Fact, vocabulary: CaseVocabulary) -> None:
    """Refuse a fact that does not fit the vocabulary. Raises `ParlourError`."""
    if fact.kind not in PARAMETERS:
        raise accept("fact", fact.kind, KINDS)
    parameters = PARAMETERS[fact.kind]
    if len(fact.args) != len(parameters):
        raise ParlourError(f"{fact.kind} takes {len(parameters)} arguments, not {len(fact.args)}")
    for parameter, value in zip(parameters, fact.args, strict=True):
        if parameter == "f":
            check_one_of("feeling", value, FEELINGS)
            continue
        count = len(vocabulary.words(parameter))
        least = UNKNOWN if fact.kind == "died" and parameter != "a" else 0
        if not least <= value < count:
            raise accept(f"argument {parameter} of {fact.kind}", value, f"{least}..{count - 1}")
    if fact.kind == "died" and set(fact.args[1:]) == {UNKNOWN}:
        raise ParlourError("died says neither place nor time nor means")


def relevant(fact: Fact, topic: int, speaker: int, about: int, victim: int) -> bool:
    """Whether a fact of a speaker answers a question on a topic about a person (-1: anybody) and a victim.

    Own whereabouts (0), relation and feelings of the answering player or the person asked about to the victim (1), reasons to
    kill the victim (2), sightings (3) and means (4) of the person asked about or of anybody; everything (5). How the
    victim died belongs to 3 (place, time) and 4 (means).

    Args:
        fact: The fact.
        topic: 0..5.
        speaker: Seat of who is asked.
        about: A person's number, or -1 for anybody.
        victim: The victim's person number (seats + index).
    """
    if fact.kind not in ANSWERS[topic]:
        return False
    first, last = fact.args[0], fact.args[-1]
    if fact.kind == "died":
        known = fact.args[3] != UNKNOWN if topic == MEANS else fact.args[1:3] != (UNKNOWN, UNKNOWN)
        return first == victim and (topic == OPEN or known)
    if fact.kind in ("motive", "peace") and last != victim:
        return False
    if topic == WHEREABOUTS:
        return first == (speaker if about < 0 else about)
    if fact.kind in ("relation", "feels") and topic == RELATION and about < 0:
        return {first, last} == {speaker, victim}
    return about < 0 or about in (first, *((last,) if fact.kind in ("relation", "feels") else ()))


def say(fact: Fact, vocabulary: CaseVocabulary, speaker: int | None, form: int = 0) -> str:
    """The sentence of a fact, in the first person where it is about the speaker.

    Args:
        fact: What is said.
        vocabulary: The words of the case.
        speaker: Person number of who says it; None for nobody in particular.
        form: Number of the form, modulo the number of forms; 0 is the canonical one.

    Raises:
        ParlourError: For a fact that does not fit the vocabulary.
    """
    check_fact(fact, vocabulary)
    fitting = _fitting(fact, speaker, texts(vocabulary.language).forms)
    return _fill(fitting[form % len(fitting)], fact, vocabulary, speaker)


def forms_of(fact: Fact, vocabulary: CaseVocabulary, speaker: int | None) -> int:
    """How many sentences say this fact."""
    return len(_fitting(fact, speaker, texts(vocabulary.language).forms))


def _fitting(fact: Fact, speaker: int | None, forms: Forms) -> tuple[str, ...]:
    """The forms that can say it: those that name what is known, from the mouth of who says it."""
    if fact.kind == "feels":
        every = forms.feels[fact.args[1]]
    elif fact.kind == "saw":
        every = forms.seen if speaker is None else forms.sentences["saw"]
    elif fact.kind == "relation" and fact.args[2] == speaker:
        every = forms.mine
    elif fact.kind == "died":
        known = {p for p, value in zip("ptm", fact.args[1:], strict=True) if value != UNKNOWN}
        every = tuple(f for f in forms.sentences["died"] if {p for p in "ptm" if "{" + p + "}" in f} == known)
    else:
        every = forms.sentences[fact.kind]
    return every


_CHOICE: Final = re.compile(r"\[([^|\]]*)\|([^|\]]*)\]")


def _fill(form: str, fact: Fact, vocabulary: CaseVocabulary, speaker: int | None) -> str:
    forms = texts(vocabulary.language).forms
    values: dict[str, str] = {}
    for parameter, value in zip(PARAMETERS[fact.kind], fact.args, strict=True):
        if parameter == "f" or value == UNKNOWN:
            continue
        word = vocabulary.words(parameter)[value]
        if parameter in "ab" and value == speaker:
            word = forms.subject if parameter == "a" else forms.object
        values[parameter] = without_article(word) if parameter == "r" and form in forms.mine else word
    own = "a" in values and fact.args[PARAMETERS[fact.kind].index("a")] == speaker
    sentence = _CHOICE.sub(lambda match: match[1 if own else 2], form)
    sentence = re.sub(r"\{(\w)\}", lambda match: values[match[1]], sentence)
    return sentence[0].upper() + sentence[1:]


class _Reader(NamedTuple):
    """A compiled form: the kind, what is fixed, the pattern."""

    kind: str
    feeling: int
    pattern: re.Pattern[str]


def read(text: str, vocabulary: CaseVocabulary, speaker: int | None = None) -> list[Fact]:
    """The facts that a text tells, in the order in which it tells them, each once.

    Args:
        text: Anything: an answer, a script, an excerpt.
        vocabulary: The words of the case.
        speaker: Who "I" is; None if there is nobody to say "I", and sentences in the first person are passed over.
    """
    return list(_read(text, vocabulary, speaker))


@lru_cache(maxsize=4096)
def _read(text: str, vocabulary: CaseVocabulary, speaker: int | None) -> tuple[Fact, ...]:
    forms = texts(vocabulary.language).forms
    readers = _readers(vocabulary)
    ends = [match.end() for match in forms.sentence_end.finditer(text)]
    facts: dict[Fact, None] = {}
    after = 0
    for place in forms.start.finditer(text):
        start = place.start()
        if start < after or start == len(text):
            continue
        for reader in readers.get(text[start].casefold(), ()):
            match = reader.pattern.match(text, start)
            fact = None if match is None else _fact(reader, match, vocabulary, speaker)
            if match is not None and fact is not None and _is_stated(text, match.span(), ends, forms):
                facts[fact] = None
                after = match.end()
                break
    return tuple(facts)


def _fact(reader: _Reader, match: re.Match[str], vocabulary: CaseVocabulary, speaker: int | None) -> Fact | None:
    groups = match.groupdict()
    if speaker is None and texts(vocabulary.language).forms.speaks(match[0], groups):
        return None
    args: list[int] = []
    for parameter in PARAMETERS[reader.kind]:
        if parameter == "f":
            args.append(reader.feeling)
        elif parameter == "b" and "b" not in groups:  # the forms with "my" speak of the speaker
            args.append(-1 if speaker is None else speaker)
        elif groups.get(parameter) is None:
            args.append(UNKNOWN)
        else:
            args.append(_numbers(vocabulary, parameter, speaker)[groups[parameter].casefold()])
    return Fact(reader.kind, tuple(args))


@lru_cache(maxsize=4096)
def _numbers(vocabulary: CaseVocabulary, parameter: str, speaker: int | None) -> dict[str, int]:
    forms = texts(vocabulary.language).forms
    numbers: dict[str, int] = {}
    if parameter in "ab":
        if speaker is not None:
            numbers.update({word.casefold(): speaker for word in (forms.subject, forms.object)})
        for person, names in enumerate(vocabulary.aliases):
            numbers.update({name.casefold(): person for name in names})
    for number, word in enumerate(vocabulary.words(parameter)):
        numbers[word.casefold()] = number
        if parameter == "r":
            numbers.setdefault(without_article(word).casefold(), number)
    return numbers


@lru_cache(maxsize=256)
def _readers(vocabulary: CaseVocabulary) -> dict[str, tuple[_Reader, ...]]:
    """All forms of a vocabulary as patterns, by the letter they begin with; the ones that say more come first."""
    forms = texts(vocabulary.language).forms
    listed = [(kind, 0, form) for kind, every in forms.sentences.items() for form in every]
    listed += [("feels", feeling, form) for feeling, every in forms.feels.items() for form in every]
    listed += [("saw", 0, form) for form in forms.seen] + [("relation", 0, form) for form in forms.mine]
    listed.sort(key=lambda entry: -entry[2].count("{"))
    words = {parameter: _words(vocabulary, parameter) for parameter in "abptmyri"}
    by_letter: dict[str, list[_Reader]] = {}
    for kind, feeling, form in listed:
        if all(words[slot] for slot in re.findall(r"\{(\w)\}", form)):
            reader = _Reader(kind, feeling, _pattern(form, words, forms))
            first = words[form[1]] if form.startswith("{") else [form]
            for letter in dict.fromkeys(word[0].casefold() for word in first):
                by_letter.setdefault(letter, []).append(reader)
    return {letter: tuple(readers) for letter, readers in by_letter.items()}


def _words(vocabulary: CaseVocabulary, parameter: str) -> list[str]:
    """The words that fill a slot, the longest first; none for words that the case does not have."""
    forms = texts(vocabulary.language).forms
    words = list(vocabulary.words(parameter))
    if parameter in "ab":
        words += [name for names in vocabulary.aliases for name in names]
        words.append(forms.subject if parameter == "a" else forms.object)
    if parameter == "r":
        words += [without_article(word) for word in words]
    return sorted({word for word in words if word}, key=lambda word: (-len(word), word))


def _pattern(form: str, words: dict[str, list[str]], forms: Forms) -> re.Pattern[str]:
    parts = re.split(r"(\{\w\}|\[[^\]]*\])", form.rstrip(forms.stop))
    body = ""
    for part in parts:
        if part.startswith("{"):
            body += f"(?P<{part[1]}>{'|'.join(map(re.escape, words[part[1]]))})"
        elif part.startswith("["):
            body += "(?:" + "|".join(re.escape(choice) for choice in part[1:-1].split("|")) + ")"
        else:
            body += forms.loosen(re.escape(part))
    return re.compile(body + forms.end, re.IGNORECASE)


def _is_stated(text: str, span: tuple[int, int], ends: list[int], forms: Forms) -> bool:
    """Whether a clause is stated as true: it is not a question, and nothing before it in the sentence denies or reports it.

    Args:
        text: All of it.
        span: Where the clause stands.
        ends: Where the sentences end, ascending.
        forms: Of the language.
    """
    before = bisect_right(ends, span[0])
    if forms.doubt.search(text, ends[before - 1] if before else 0, span[0]):
        return False
    closing = bisect_right(ends, span[1])
    return not forms.question.search(text, span[1], ends[closing] if closing < len(ends) else len(text))
