"""Constructions that parlour's prose does without, each with what to write instead and a sentence of ours that had it.

`docs/style.md` explains them. A pattern belongs here only if it has no correct use in this project.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Banned:
    """A construction (a regular expression, letters of either case), what to write instead, and an example."""

    words: str
    instead: str
    example: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The compiled expression."""
        return re.compile(self.words, re.IGNORECASE)


_INVERTED: Final = r"(?:killed|stopped|interrupted|cut off|resumed|started again|run again|asked|left out|closed|seated|empty|unset|not \w+ed)"

BANNED: Final = (
    Banned(r"\bso that what\b", "to ...", "so that what is earned less what it costs is greatest"),
    Banned(r"\bless (the|its|what|that of|those of|their)\b", "minus", "what an answer earns less what it costs"),
    Banned(r"\b(is|are|was|were|be|been|being|as) told\b", "learns, gets, receives", "the target is told who bound it"),
    Banned(
        r"\b(tell|tells|told) (of|what|how|which|whether|who|whose|where|why)\b",
        "says, describes, reports",
        "docs/models.md tells what is sent",
    ),
    Banned(r"\b(tell|tells|told|telling)( \w+)? apart\b", "distinguish", "methods are told apart where reading fails"),
    Banned(r"\b(go|goes|going|went) by\b", "use, follow", "a policy file goes by the name of its table"),
    Banned(r"\breads of\b", "reads about; or the noun", "what a page reads of a run"),
    Banned(
        r"\bstands? (in|beside|behind|under|before|after|on|at|there|alone|with|within|first|last|above|below)\b",
        "is in, is next to, comes before",
        "the rules stand in the system message",
    ),
    Banned(r"\bsuch an?\b", "this, a ... like this", "such a run cannot be repeated"),
    Banned(r"\bby what\b", "according to, with, or name the thing", "by what it decides"),
    Banned(r"\bof which\b", "a second sentence", "a role of which there is one"),
    Banned(r"\bones? (that|which|who)\b", "the noun", "one that no other seat uses"),
    Banned(r"\bwhom\b", "who; or name the player", "who was whom, what came of it"),
    Banned(r"\bthose of\b", "repeat the noun", "those of one turn, those of seats that decide at the same moment"),
    Banned(
        r"\b(go|goes|going|went) on\b(?! (a|the|this|that|each) quest)",
        "continue, resume",
        "the command goes on at the question",
    ),
    Banned(r"\bof (ours|theirs|yours)\b", "our, their, your", "a player of ours or of yours"),
    Banned(r"\bat hand\b", "available, ready", "there was no Docker at hand"),
    Banned(r"\bbut for\b", "except for", "byte for byte but for processor seconds"),
    Banned(r"\bthese (two|three|four|five|\d+)\b", "the noun", "these 8 are left out"),
    Banned(r"\b(come|comes|came) of\b", "results, outcome", "what came of it"),
    Banned(r"\banew\b(?!:)", "again; resampled", "intervals draw the deals anew"),
    Banned(
        r"\bputs? (a |the |typed |its |an )?questions?\b|\bquestions? (is |are |were )?put to\b",
        "ask",
        "agents put typed questions",
    ),
    Banned(r"\bin vain\b", "without result", "may be played in vain"),
    Banned(r"\bshall\b", "must, will; or the plain verb", "the fault it shall have"),
    Banned(r"\botherwise than\b", "differently from", "moves come out otherwise than recorded"),
    Banned(r"\bin (its|his|their|whose) stead\b", "instead", "the heuristic plays in its stead"),
    Banned(r"\bin place of\b", "instead of", "decisions in place of minutes"),
    Banned(r"\bone's\b", "the player's, your, its", "one's own words are never misread"),
    Banned(r"\blooks? after\b", "manage", "three commands look after the file"),
    Banned(r"\bfrom which on\b", "from ... on", "from which on it is known"),
    Banned(
        r"\b(said|known|asked|told|heard|judged|believed|says|say|knows|know|asks) of\b",
        "about",
        "what a speech says of the seats",
    ),
    Banned(
        r"\b(what|which|who|all) there (is|are|was|were)\b",
        "the list of; the noun",
        "which there are: parlour list experts",
    ),
    Banned(
        r"(?-i:^Of) (?!course\b|\d)\w+|(?<=[^.][.;:] )of (the|a|an|each|all|its|one|his|this|that)\b",
        "begin with the thing",
        "Of the table, by seat.",
    ),
    Banned(
        rf"(?:^|(?<=[.;:] )){_INVERTED}(?: \w+){{0,5}}, (?:the|it|a|an|this|they|each|all|nothing)\b",
        "If ..., ...",
        "Killed, the command goes on at the question where it stopped.",
    ),
    Banned(
        r"(?:^|(?<=[.;:] ))(?:were|had|should) (?:the|it|a|an|there|they)\b",
        "If ...",
        "Should the server fail, it asks again",
    ),
)
