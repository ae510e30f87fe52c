"""An extractive reader of short factual English, for answers and for what the evidence says about them.

A heuristic, not a language model: it finds the sentence that shares the question's relation ("born", "founded") and
takes a year or a name from it. It never sees the right answer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from parlour.envs.language.english import STOP_WORDS, normal, proper_names, stem, stems, word_list, years
from parlour.envs.mediated_qa.titles import without_genitives

_KEPT: Final = 1 << 12
"""Readings of a question's evidence that are kept, about a kilobyte each."""
SEPARATOR: Final = " ¶ "
"""Between the pieces of an evidence text; a piece is a title, a colon and a sentence."""
# Nouns that say what kind of answer is wanted, or what somebody is; no relation by themselves.
_KIND_WORDS: Final = frozenset(
    word_list(
        "year town city river region place person people author writer director painter composer sculptor "
        "book novel film opera painting name birthplace older younger"
    )
)
_YES_NO: Final = re.compile(r"^(?:are|were|is|was|did|do|does|has|have)\b", re.IGNORECASE)
_CUES: Final = {
    "river": re.compile(r"\b(?:river|banks of the|on the|along the)\s+$", re.IGNORECASE),
    "town": re.compile(r"\b(?:in|from|at|of)\s+(?:the town of\s+)?$", re.IGNORECASE),
    "who": re.compile(r"\bby\s+(?:the \w+\s+)?$", re.IGNORECASE),
}
_FIELD: Final = re.compile(r"^([A-Z][\w-]*(?: [\w-]+){0,2}):\s+(.+)$")
"""A line as "Section: libs": its label and its value."""
_MAIL: Final = re.compile(r"\s*<[^>]*>")
_VALUE_WORDS: Final = 8
_EARLIER: Final = re.compile(r"\b(?:first|earlier|older|before)\b", re.IGNORECASE)


class Piece(NamedTuple):
    """One sentence of the evidence."""

    title: str
    sentence: str


class EstimatedAnswer(NamedTuple):
    """An answer and how sure it is."""

    answer: str
    """Empty if there is none."""
    confidence: float
    """0..1; here the share of the question's relation that the sentence has, half of it where one side is missing."""
    by_tokens: bool = False
    """Whether the confidence is the probability of the answer's tokens."""


NO_ANSWER: Final = EstimatedAnswer("", 0.0)


def pieces(evidence: str) -> tuple[Piece, ...]:
    """The pieces of an evidence text."""
    parts = (part.partition(": ") for part in evidence.split(SEPARATOR) if part.strip())
    return tuple(Piece(title, sentence) if sentence else Piece("", title) for title, _, sentence in parts)


def join(evidence: tuple[Piece, ...]) -> str:
    """The evidence text of pieces."""
    return SEPARATOR.join(f"{title}: {sentence}" for title, sentence in evidence)


def relation(question: str) -> tuple[str, ...]:
    """The stems that say what is asked: content words outside names that are no kinds of things."""
    bare = question
    for name in proper_names(question):
        bare = bare.replace(name, " ")
    all_words = stems(bare)
    wanted = tuple(word for word in all_words if word not in _KINDS)
    return wanted or all_words


_KINDS: Final = frozenset(map(stem, _KIND_WORDS))


@lru_cache(maxsize=_KEPT)
def read(question: str, evidence: str) -> EstimatedAnswer:
    """The answer that the evidence suggests. Empty, with confidence 0, if it suggests none."""
    parts = pieces(evidence)
    if not parts:
        return NO_ANSWER
    asked = subjects(question, parts)
    if _YES_NO.match(question) and len(asked) >= 2:
        return _compare(question, asked[:2], parts)
    if " or " in question and len(asked) >= 2:
        return _choose(question, asked[-2:], parts)
    return _pick(question, asked, parts)


def subjects(question: str, parts: tuple[Piece, ...]) -> tuple[str, ...]:
    """What a question is about: its names, and the titles that it contains, whatever their case; in its order.

    >>> subjects("Who maintains zlib1g?", (Piece("zlib1g", "Section: libs"),))
    ('zlib1g',)
    >>> subjects("What does the Falcon sensor cost?", (Piece("Falcon sensor", "It costs 40 euros."),))
    ('Falcon sensor',)
    """
    names, whole = proper_names(question), f" {without_genitives(normal(question))} "
    known = [f" {without_genitives(normal(name))} " for name in names]
    titles = [
        title
        for title in dict.fromkeys(piece.title for piece in parts)
        if (key := normal(title)) and key not in STOP_WORDS and f" {without_genitives(key)} " in whole
        if title == title.lower() or not any(f" {key} " in name for name in known)
    ]
    if not titles:
        return names
    longer = [f" {normal(title)} " for title in titles if title != title.lower()]
    alone = [name for name, key in zip(names, known, strict=True) if not any(key in title for title in longer)]
    return tuple(sorted((*alone, *titles), key=lambda name: whole.find(f" {without_genitives(normal(name))} ")))


def _field(piece: Piece, question: str) -> tuple[str, str]:
    """The value of a piece that is a line with a label, if it is an answer to the question; and the words of the piece."""
    match = _FIELD.match(piece.sentence)
    if not match:
        return "", piece.sentence
    value = _MAIL.sub("", match[2]).strip()
    meant = set(stems(match[1])) & set(relation(question))
    short = 0 < len(value.split()) <= _VALUE_WORDS and f" {normal(value)} " not in f" {normal(question)} "
    return (value if meant and short else ""), match[2]


def _overlap(wanted: tuple[str, ...], sentence: str) -> float:
    return len(set(wanted) & set(stems(sentence))) / len(wanted) if wanted else 0.0


def _about(name: str, parts: tuple[Piece, ...]) -> list[Piece]:
    key = normal(name)
    return [piece for piece in parts if normal(piece.title) == key or key in normal(piece.sentence)]


def candidates(
    piece: Piece, question: str, asked: tuple[str, ...] | None = None, *, strict: bool = False
) -> tuple[str, ...]:
    """What a sentence offers as an answer; names in their usual place first, or only these if `strict`.

    Args:
        piece: The sentence.
        question: What is asked.
        asked: What the question is about; None for the names in it.
        strict: Whether only names in their usual place count.
    """
    if re.search(r"\byear\b|^when\b", question, re.IGNORECASE):
        return tuple(year for year in years(piece.sentence) if year not in question)
    value, words = _field(piece, question)
    if value:
        return (value,)
    taken = {normal(name) for name in (*(proper_names(question) if asked is None else asked), piece.title)}
    options = [name for name in proper_names(words) if normal(name) not in taken and not name.isdigit()]
    kind = next((k for k in ("river", "town", "who") if re.search(rf"\b{k}\b", question, re.IGNORECASE)), "")
    if kind:
        cued = [name for name in options if _CUES[kind].search(piece.sentence[: piece.sentence.index(name)])]
        options = cued if strict else cued or options
    return tuple(options)


def _pick(question: str, asked: tuple[str, ...], parts: tuple[Piece, ...]) -> EstimatedAnswer:
    """A year or a name from the sentence with most of the relation; of equal ones the last on the way."""
    wanted = relation(question)
    best = NO_ANSWER
    for piece in parts:
        score = _overlap(wanted, piece.sentence)
        options = candidates(piece, question, asked)
        if options and score > 0 and score >= best.confidence:
            best = EstimatedAnswer(options[0], score)
    return best


def _facts(question: str, name: str, parts: tuple[Piece, ...], asked: tuple[str, ...]) -> tuple[set[str], float]:
    """Years and names that the sentences about somebody give for the relation, and how much of it they have."""
    wanted, answers, best = relation(question), set(), 0.0
    taken = {normal(subject) for subject in asked}
    for piece in _about(name, parts):
        score = _overlap(wanted, piece.sentence)
        if score > 0:
            best = max(best, score)
            value, words = _field(piece, question)
            answers |= {normal(proper_name) for proper_name in proper_names(words)} - taken
            answers |= set(years(piece.sentence)) | ({normal(value)} if value else set())
    return answers, best


def _compare(question: str, asked: tuple[str, ...], parts: tuple[Piece, ...]) -> EstimatedAnswer:
    if re.search(r"\bboth\b", question, re.IGNORECASE):
        return _both(question, asked, parts)
    (first, p), (two, q) = (_facts(question, name, parts, asked) for name in asked)
    if not first and not two:
        return NO_ANSWER
    if not first or not two:
        return EstimatedAnswer("no", max(p, q) / 2)
    return EstimatedAnswer("yes" if first & two else "no", min(p, q))


def _both(question: str, asked: tuple[str, ...], parts: tuple[Piece, ...]) -> EstimatedAnswer:
    said = re.search(r"\bboth\s+(?:an?\s+)?(\w+)", question, re.IGNORECASE)
    assert said is not None
    kind, about = stem(said[1]), [_about(name, parts) for name in asked]
    matches = [any(kind in stems(piece.sentence) for piece in some) for some in about]
    if not any(about):
        return NO_ANSWER
    return EstimatedAnswer("yes" if all(matches) else "no", sum(map(bool, about)) / 2)


def _choose(question: str, asked: tuple[str, ...], parts: tuple[Piece, ...]) -> EstimatedAnswer:
    dated = []
    for name in asked:
        answers, score = _facts(question, name, parts, asked)
        dates = sorted(answer for answer in answers if answer.isdigit())
        if dates:
            dated.append((dates[0], name, score))
    if not dated:
        return NO_ANSWER
    if len(dated) == 1:
        return EstimatedAnswer(dated[0][1], dated[0][2] / 2)
    chosen = min(dated) if _EARLIER.search(question) else max(dated)
    return EstimatedAnswer(chosen[1], min(score for _, _, score in dated))


@lru_cache(maxsize=_KEPT)
def entailment(question: str, evidence: str, answer: str) -> str:
    """What the evidence says about an answer: `"entailment"`, `"neutral"` or `"contradiction"`.

    An answer is entailed if a sentence about the relation, connected to the question, has it in the place of an answer of its
    kind. It is contradicted if that sentence offers another answer instead, or if it comes from a sentence that is not connected
    to the question; otherwise it is neutral.
    """
    parts, wanted = pieces(evidence), relation(question)
    asked = subjects(question, parts)
    if answer.lower() in ("yes", "no") or not parts:
        return "neutral"
    if " or " in question:
        return "entailment" if sum(bool(_about(name, parts)) for name in asked[-2:]) == 2 else "neutral"
    near, rivals = joined(parts, asked), False
    for piece in near:
        if _overlap(wanted, piece.sentence) > 0:
            offered = {normal(candidate) for candidate in candidates(piece, question, asked, strict=True)}
            if normal(answer) in offered:
                return "entailment"
            rivals = rivals or bool(offered)
    stray = not any(normal(answer) in normal(piece.sentence) for piece in near)
    return "contradiction" if rivals or stray else "neutral"


def joined(parts: tuple[Piece, ...], asked: tuple[str, ...]) -> list[Piece]:
    """The pieces that name somebody in the question, and pieces about somebody named there."""
    near = {normal(name) for name in asked}
    together: dict[Piece, None] = {}
    for _ in range(3):
        for piece in parts:
            named = {normal(name) for name in proper_names(piece.sentence)}
            if normal(piece.title) in near or (named & {normal(name) for name in asked}):
                together[piece] = None
        near |= {normal(name) for piece in together for name in proper_names(piece.sentence)}
    return list(together)
