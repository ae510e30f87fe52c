"""What is said at a table of the murder mystery: phases, kinds of moves and announcements, and the View of a seat.

Persons are numbers: seats 0 .. Na-1, then the victims Na .. Na+Nv-1. A victim's own number k runs from 0. The language of
facts is in `facts.py`, the quiz after the game in `quiz.py`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from parlour.envs.core import Event, Move, Number
from parlour.envs.murder_mystery.vocabulary.facts import CaseVocabulary, Fact, Language

CIVILIANS: Final = "civilians"
MURDERERS: Final = "murderers"


class MysteryPhase(IntEnum):
    """Phases, in the order of play."""

    INTRODUCTIONS = 0
    CHOICE = 1
    QUESTION = 2
    REPLY = 3
    SUSPICION = 4
    VOTING = 5
    DONE = 6


# Moves of the seats.
INTRODUCE: Final = "introduce"  # args: (); words
CHOOSE: Final = "choose"  # args: (seat,) to be asked next about the present victim, or () for nobody (more)
ASK: Final = "question"  # args: topic, person it is about or -1; words
TELL: Final = "tell"  # args: number of the fact's kind in facts.KINDS, then the fact's own
ANSWER: Final = "answer"  # args: (); words; ends the answer
FINISH: Final = "done"  # args: (); ends an answer of facts
SUSPECT: Final = "suspect"  # args: (seat,), for the present victim
VOTE: Final = "vote"  # args: (seat,), for the present victim
NOBODY: Final = Move(CHOOSE)
SAYS: Final = Move(ANSWER)
ENOUGH: Final = Move(FINISH)
WITH_WORDS: Final = (INTRODUCE, ASK, TELL, ANSWER)

# Announcements of the moderator.
ROUND: Final = "round"  # args: round from 0; the number of rounds: the vote begins
TURN: Final = "turn"  # args: seat, victim: the seat asks about the victim
WANTED: Final = "wanted"  # to one seat; args: 0 report | 1 vote, victim: the seat is asked for its suspect
VOTES: Final = "votes"  # args: victim, then how many votes each seat has
VERDICT: Final = "verdict"  # args: victim, seat found or -1, a `Verdict`


class Verdict(Number):
    """What a vote came to for one victim."""

    MISSED = 0
    SOLVED = 1
    NO_PLAYER = 2
    """No player murdered this victim; it does not count."""


ANYBODY: Final = -1
"""A question about nobody in particular (the topics are in `facts.py`)."""

TOLD: Final = 3
"""Facts in one answer, at most."""


class MysteryView(NamedTuple):
    """What one seat may know about a murder mystery. Satisfies `parlour.envs.core.View`."""

    seat: int
    """The seat whose knowledge this is."""
    legal: tuple[Move, ...]
    """What it may do now; empty when it is not its turn."""
    events: tuple[Event, ...]
    """What it has seen, oldest first."""
    name: str
    """Name of its own character."""
    role: str
    """`"civilian"` or `"murderer"`: its own."""
    side: str
    """`"civilians"` or `"murderers"`: its own."""
    murders: tuple[bool, ...]
    """For each victim, whether this seat murdered it."""
    script: str
    """Its own script, as prose."""
    objectives: tuple[str, ...]
    """Its own."""
    facts: tuple[Fact, ...]
    """What its script says, as facts; empty in a case of prose only."""
    lies: tuple[Fact, ...]
    """False facts that it plans to tell; only murderers have any, and in tougher cases who has a secret."""
    names: tuple[str, ...]
    """Names of all characters, by seat."""
    victims: tuple[str, ...]
    """Names of the victims."""
    title: str
    """Title of the case."""
    briefing: str
    """What everybody knows."""
    public: tuple[Fact, ...]
    """What the briefing says, as facts."""
    language: Language
    vocabulary: CaseVocabulary
    """Names, places, times, means, motives and relations of the case: public."""
    rounds: int
    questions: int
    """To one target at a time."""
    targets: int
    """How many others one seat may ask about one victim in one round."""
    hearing: str
    """`"all"` or `"two"`: who hears questions and answers."""
    majority: str
    """`"half"` or `"plurality"`: how a vote finds somebody."""
    phase: int
    """For those who do not hear a question, its answer is a part of it."""
    round: int
    """From 0; equal to `rounds` from the vote on."""
    asker: int
    """Who asks; -1 outside of the questions."""
    victim: int
    """About which victim is asked, reported or voted; -1 while about none."""
    target: int
    """Who is asked; -1 while nobody is. With `hearing="two"` everybody sees who, but not what."""
    topic: int
    """Topic of the question that is being answered; -1 without a question, and for seats that did not hear it."""
    about: int
    """The person the question is about; -1 for nobody in particular."""
    suspects: tuple[int, ...]
    """For each victim the suspect that this seat reported last; -1 before."""
    liars: int = 0
    """How many who murdered nobody may lie: public."""
