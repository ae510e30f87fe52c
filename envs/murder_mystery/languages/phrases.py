"""The words of the game in one language: what `text.py` puts together. Tables for English and Chinese follow in
`text_en.py` and `text_zh.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Phrases(NamedTuple):
    """All phrases of one language. Fields in braces are filled in by `str.format`."""

    moderator: str
    """Before what the moderator tells."""
    comma: str
    """Between the parts of a list."""
    nobody: str
    seat: str
    """{name}, {number}: a character with the number of its seat."""
    you: str
    """{name}, {number}."""
    civilian: str
    murderer: str
    """{victims}."""
    not_others: str
    """To a murderer, where there are other victims."""
    title: str
    """{title}."""
    characters: str
    """{names}."""
    victims: str
    """{names}."""
    play: str
    """{rounds}, {questions}, {targets}: how often a seat may ask."""
    hearing: dict[str, str]
    truth: str
    """Who may lie."""
    majority: dict[str, str]
    words: dict[str, str]
    """Attribute of the vocabulary -> {words}: a list of the words of the case."""
    briefing: str
    objectives: str
    lies: str
    script: str

    says: str
    """{name}, {words}."""
    asks: str
    """{name}, {words}."""
    taken: str
    """{sentence}: how free words were taken."""
    turns: str
    """{name}, {other}: whom it asks."""
    stops: str
    """{name}: it asks nobody (more)."""
    private: str
    """{name}, {sentence}."""
    named: str
    """{name}: what a seat says who introduces itself without words."""
    round: str
    """{number}, {rounds}."""
    vote_begins: str
    turn: str
    """{name}, {victim}."""
    wanted: tuple[str, str]
    """{victim}: asked for a report, for a vote."""
    votes: str
    """{victim}, {counts}."""
    votes_of: str
    """{name}, {number}."""
    verdict: tuple[str, str, str]
    """{victim}, {found}: missed, solved, no player did it."""
    missed_all: str
    """{victim}: nobody was found."""

    ask: dict[str, str]
    """Kind of the first option -> what is asked of the seat."""
    introduce: str
    choose: str
    """{name}."""
    choose_nobody: str
    questions: tuple[tuple[str, str], ...]
    """Topic -> the question about nobody in particular, and that about {name} (empty: there is none)."""
    answer: str
    done: str
    suspect: str
    """{name}."""
    vote: str
    """{name}."""

    choosing: re.Pattern[str]
    """At the end of what stands before a name: that one is chosen."""
    declines: re.Pattern[str]
    """Nobody is to be asked."""
    topics: tuple[tuple[int, re.Pattern[str]], ...]
    """What a question is about, in the order in which it is looked for."""
