"""Questions from the text of real documents, by rule (`real_documents`): several phrasings, forms and hops, some without an answer.

A question is unanswerable if the field that it asks for is not in the document, if nothing bears the name it asks about, or if the
step on its way is missing. The same phrasings ask for what is there and for what is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from real_documents import RealDocument

SEED = 18
ANSWERABLE, UNANSWERABLE = 1200, 400
"""Questions at most."""

# (kind of document, fact) -> phrasings
ASKED: dict[tuple[str, str], tuple[str, ...]] = {
    ("copyright", "packager"): ("Who debianized {}?", "By whom was the package {} put together for Debian?"),
    ("copyright", "packaged"): ("In which year was {} debianized?", "When was the package {} first made for Debian?"),
    ("copyright", "author"): ("Who is the upstream author of {}?", "Who wrote {} upstream?"),
    ("copyright", "licence"): ("Which licence does {} have?", "Under which licence is {} distributed?"),
    ("package", "maintainer"): ("Who is the maintainer of {}?", "Who maintains the package {}?"),
    ("package", "section"): ("Which section of Debian is {} in?", "In what section is the package {}?"),
    ("package", "homepage"): ("What is the homepage of {}?", "Where is the homepage of {}?"),
    ("package", "version"): ("What is the version of the package {}?",),
    ("package", "size"): ("What is the installed size of {}?", "How many kilobytes does {} take when installed?"),
    ("package", "source"): ("Which source is the package {} built from?",),
    ("distribution", "author"): ("Who is the author of {}?", "Who wrote {}?"),
    ("distribution", "licence"): ("Which licence does {} have?", "What is the licence of {}?"),
    ("distribution", "python"): ("Which Python does {} require?",),
    ("distribution", "version"): ("What is the version of {}?",),
    ("distribution", "needs"): ("Which distribution does {} require?",),
    ("licence", "published"): ("In which year was the version of the licence {} published?",),
}
# (kind, fact that leads on, kind, fact asked for) -> phrasing
HOPS: dict[tuple[str, str, str, str], str] = {
    ("package", "needs", "package", "maintainer"): "Who is the maintainer of the package that {} depends on?",
    ("package", "needs", "package", "section"): "Which section is the package in that {} depends on?",
    ("package", "needs", "copyright", "licence"): "Which licence does the package have that {} depends on?",
    ("distribution", "needs", "distribution", "author"): "Who is the author of the distribution that {} requires?",
    ("distribution", "needs", "distribution", "licence"): "Which licence does the distribution have that {} requires?",
    ("distribution", "needs", "distribution", "python"): "Which Python does the distribution need that {} requires?",
}
Question = dict[str, Any]


def questions_about(documents: Sequence[RealDocument]) -> list[Question]:
    """The questions, in a drawn order; as many of each phrasing as there are, up to the same number."""
    rng = np.random.default_rng(SEED)
    made: dict[bool, dict[str, list[Question]]] = {True: {}, False: {}}
    makers = (_fields(documents), _hops(documents), _copyrights(documents), _modules(documents), _pairs(documents, rng))
    for maker in (*makers, _made_up(documents, rng)):
        for form, text, answers in maker:
            known = made[bool(answers)].setdefault(form, [])
            known.append({"question": text, "answers": list(answers)})
    chosen = [*_evenly(made[True], ANSWERABLE, rng), *_evenly(made[False], UNANSWERABLE, rng)]
    order = rng.permutation(len(chosen))
    return [{"id": f"q{number}", **chosen[k]} for number, k in enumerate(order)]


Asked = tuple[str, str, tuple[str, ...]]
"""Phrasing, text, answers."""


def _evenly(forms: dict[str, list[Question]], most: int, rng: np.random.Generator) -> list[Question]:
    """Questions of all phrasings in turn, each in a drawn order, no text twice."""
    drawn = {form: [questions[k] for k in rng.permutation(len(questions))] for form, questions in sorted(forms.items())}
    chosen: dict[str, Question] = {}
    for turn in range(max(map(len, drawn.values()), default=0)):
        for questions in drawn.values():
            if turn < len(questions) and len(chosen) < most:
                chosen.setdefault(questions[turn]["question"], questions[turn])
    return list(chosen.values())


def _fields(documents: Sequence[RealDocument]) -> Iterator[Asked]:
    """What a document says of its subject; where it says nothing, there is no answer."""
    twice = Counter((document.title.lower(), fact) for document in documents for fact in document.facts)
    for document in documents:
        for (kind, fact), phrasings in ASKED.items():
            if kind != document.kind or twice[document.title.lower(), fact] > 1:
                continue
            if fact not in document.facts and (fact in _NOT_MISSED or _mentions(fact, document.text)):
                continue
            for text in phrasings:
                yield text, text.format(document.title), _answers(document.facts.get(fact))


_NOT_MISSED = ("needs", "source", "python")
"""Facts that may be there in a way that the rule does not read: then nothing is asked."""
_SIGNS = {
    "packager": r"debianized|put together|packaged|maintainer",
    "packaged": r"debianized|put together|packaged|maintainer",
    "author": r"author|written by|upstream|contact",
    "licence": r"licen[cs]e",
    "published": r"\b(?:19|20)\d\d\b",
}


def _mentions(fact: str, text: str) -> bool:
    return fact in _SIGNS and re.search(_SIGNS[fact], text, re.IGNORECASE) is not None


def _answers(value: object) -> tuple[str, ...]:
    return () if value is None else (str(value),)


def _hops(documents: Sequence[RealDocument]) -> Iterator[Asked]:
    """Two documents to read. Where the first names no single one, or the second does not tell, there is no answer."""
    known = {(document.kind, document.title.lower()): document for document in documents}
    for document in documents:
        for (kind, leads, other, fact), text in HOPS.items():
            if kind != document.kind:
                continue
            next_one = known.get((other, document.facts.get(leads, "").lower()))
            if next_one is not None and (fact in next_one.facts or not _mentions(fact, next_one.text)):
                yield text, text.format(document.title), _answers(next_one.facts.get(fact))
            elif leads not in document.facts and not re.search(
                r"^(?:Depends|Requires-Dist)", document.text, re.MULTILINE
            ):
                yield text, text.format(document.title), ()


def _copyrights(documents: Sequence[RealDocument]) -> Iterator[Asked]:
    """Years and holders of copyrights."""
    begins, holds = "In which year does the copyright of {} in {} begin?", "Who holds the copyright of {} in {}?"
    everybody = sorted({name for document in documents for name in document.facts.get("held", ())})
    for number, document in enumerate(documents):
        years_of: dict[str, set[int]] = document.facts.get("held", {})
        for name, years in years_of.items():
            yield begins, begins.format(name, document.title), (str(min(years)),)
            alone = [year for year in sorted(years) if sum(year in other for other in years_of.values()) == 1]
            if alone and f"{alone[-1]}" in document.text:
                yield holds, holds.format(alone[-1], document.title), (name,)
        if years_of:
            stranger = everybody[number * 7 % len(everybody)]
            if stranger not in document.text:
                yield begins, begins.format(stranger, document.title), ()
            year = min(min(years) for years in years_of.values()) - 3
            if str(year) not in document.text:
                yield holds, holds.format(year, document.title), ()


def _modules(documents: Sequence[RealDocument]) -> Iterator[Asked]:
    """Where something is defined, and what is described by some words."""
    modules = [document for document in documents if document.kind == "module"]
    for what in ("class", "function"):
        where = f"Which module of Python defines the {what} {{}}?"
        says = f"Which {what} of the module {{}} is described by the words '{{}}'?"
        counted = Counter(name for module in modules for name in module.facts[what])
        for number, module in enumerate(modules):
            for name, summary in module.facts[what].items():
                if counted[name] == 1:
                    yield where, where.format(name), (module.title,)
                words = " ".join(re.findall(r"[\w-]+", summary)[:7])
                if len(words.split()) >= 4 and name.lower() not in words.lower():
                    yield says, says.format(module.title, words), (name,)
                    other = modules[(number * 5 + 3) % len(modules)]
                    if " ".join(words.split()[:3]) not in other.text and other is not module:
                        yield says, says.format(other.title, words), ()


def _pairs(documents: Sequence[RealDocument], rng: np.random.Generator) -> Iterator[Asked]:
    """Two documents compared: yes or no, and which of the two."""
    packages = [document for document in documents if document.kind == "package"]
    distributed = [document for document in documents if document.kind == "distribution"]
    texts = [document for document in documents if document.facts.get("held")]
    for fact, text in (
        ("maintainer", "Do {} and {} have the same maintainer?"),
        ("section", "Are {} and {} in the same section?"),
    ):
        yield from _same(packages, fact, text, rng)
    yield from _same(distributed, "licence", "Do {} and {} have the same licence?", rng)
    larger, earlier = "Which is larger when installed, {} or {}?", "Which has the earlier copyright, {} or {}?"
    for first, second in _drawn_pairs(packages, rng):
        if first.facts["size"] != second.facts["size"]:
            largest = max(first, second, key=lambda document: document.facts["size"])
            yield larger, larger.format(first.title, second.title), (largest.title,)
    for first, second in _drawn_pairs(texts, rng):
        begins = [min(map(min, document.facts["held"].values())) for document in (first, second)]
        if begins[0] != begins[1]:
            oldest = first if begins[0] < begins[1] else second
            yield earlier, earlier.format(first.title, second.title), (oldest.title,)
    requires = "Does {} require {}?"
    for document in distributed:
        other = distributed[rng.integers(len(distributed))].title
        for name in (*document.facts["all_needs"][:1], other):
            needed = name.lower() in {need.lower() for need in document.facts["all_needs"]}
            if name != document.title:
                yield requires, requires.format(document.title, name), ("yes" if needed else "no",)


def _drawn_pairs(
    documents: Sequence[RealDocument], rng: np.random.Generator
) -> list[tuple[RealDocument, RealDocument]]:
    order = rng.permutation(len(documents))
    return [(documents[a], documents[b]) for a, b in zip(order, np.roll(order, 1), strict=True) if a != b]


def _same(documents: Sequence[RealDocument], fact: str, text: str, rng: np.random.Generator) -> Iterator[Asked]:
    """As many pairs that are alike as pairs that are not, as far as there are."""
    having = [document for document in documents if fact in document.facts]
    for first, second in _drawn_pairs(having, rng):
        alike = [other for other in having if other.facts[fact] == first.facts[fact] and other is not first]
        if alike and rng.random() < 0.5:
            second = alike[rng.integers(len(alike))]
        yield (
            text,
            text.format(first.title, second.title),
            ("yes" if first.facts[fact] == second.facts[fact] else "no",),
        )


def _made_up(documents: Sequence[RealDocument], rng: np.random.Generator) -> Iterator[Asked]:
    """The same questions about names that nothing bears: halves of two real ones."""
    everything = "\n".join(document.text for document in documents).lower()
    for (kind, fact), phrasings in ASKED.items():
        titles = [document.title for document in documents if document.kind == kind]
        for title, two in zip(titles, rng.permutation(titles), strict=True):
            name = title[: len(title) // 2 + 1] + str(two)[len(str(two)) // 2 :]
            if name.lower() not in everything and name not in titles:
                text = phrasings[rng.integers(len(phrasings))]
                yield f"made up: {kind} {fact}", text.format(name), ()
