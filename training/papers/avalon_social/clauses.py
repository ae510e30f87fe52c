"""Words of a discussion taken apart for the heuristics: sentences, in which lists of players have become groups.

"player_0, player_3 and I" becomes the one token `⟨0,3,2⟩` if player_2 is speaking. So a pattern finds all objects of a verb, and
"no other group in between" assigns the words after a group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from parlour.envs.language import english

GROUP: Final = r"⟨([\d,]+)⟩"
_MARKS: Final = str.maketrans("⟨⟩", "()")
"""What stands for the marks of a group in the words themselves."""
NOBODY: Final = r"[^⟨⟩]"
"""Any character that does not begin a group."""

_ME: Final = r"(?:myself|me|I)"
_NAME: Final = r"player_\d{1,6}(?!\w)"
_ASIDE: Final = rf"(?:\s*,\s*(?:myself|me)\s*,|\s*,?\s*(?:which|who) is {_ME}\s*,?|\s*\({_ME}\)|\s*,\s*being {_ME}\s*,)"
_BRACKET: Final = r"(?:\s*\([^()]*\))"
_AND: Final = r"\s*(?:[,，]\s*)?(?:[&+/]|\b(?:and|or|as well as)\b|和)\s*(?:both\s+)?"
_JOINED: Final = rf"(?:{_AND}|\s*[,、，]\s*)"
# "player_3, I" is not a list; a remark in brackets belongs to the list if the list goes on behind it
_MORE: Final = rf"(?:{_BRACKET}?(?:{_JOINED}{_NAME}{_ASIDE}?|{_AND}{_ME}\b|\s*,\s*myself\b))*"
_LIST: Final = re.compile(rf"{_NAME}{_ASIDE}?{_MORE}|\b{_ME}{_AND}{_NAME}{_ASIDE}?{_MORE}", re.IGNORECASE)
_REMARK: Final = re.compile(rf"({_NAME})\s*(\([^()]*\))", re.IGNORECASE)
_ALONE: Final = re.compile(r"\bmyself\b", re.IGNORECASE)
_THEY: Final = re.compile(
    r"(?:they|both(?: of them)?|both players|(?:these|those|the) (?:two |three |four )?(?:players|candidates))\b",
    re.IGNORECASE,
)
"""At the beginning of a sentence: the players that the sentence before named last."""
_OPENING: Final = re.compile(r"^(?:\W|<\w+>|my response is:?|player_\d+:(?=\s))+", re.IGNORECASE)


def sentences(words: str, speaker: int) -> Iterator[str]:
    """The sentences with groups instead of players' names and of the speaker among them.

    A remark in brackets behind a name ("player_1 (Merlin)") follows as a sentence of its own.

    >>> list(sentences("I suggest player_1 and myself. They are loyal.", 2))
    ['I suggest ⟨1,2⟩.', '⟨1,2⟩ They are loyal.']
    """
    last = ""
    for sentence in english.sentences(_OPENING.sub("", words.translate(_MARKS))):
        grouped = _ALONE.sub(f"⟨{speaker}⟩", _LIST.sub(lambda match: _group(match[0], speaker), sentence))
        if last and _THEY.match(grouped):
            grouped = f"{last} {grouped}"
        named = re.findall(GROUP, grouped)
        if named:
            last = f"⟨{named[-1]}⟩"
        if grouped.strip():
            yield grouped.strip()
        for who, remark in _REMARK.findall(sentence):
            yield f"{_group(who, speaker)} {remark}"


def members(group: str) -> tuple[int, ...]:
    """The seats of a group's inside.

    >>> members("0,3")
    (0, 3)
    """
    return tuple(int(seat) for seat in group.split(","))


def _group(text: str, speaker: int) -> str:
    bare = re.sub(_ASIDE, "", text, flags=re.IGNORECASE)
    seats = [
        int(word) if word.isdigit() else speaker
        for word in re.findall(r"(?<=player_)\d+|\bmyself\b|\bme\b|\bI\b", bare)
    ]
    aside = " " if re.search(rf"{_ASIDE}$", text, re.IGNORECASE) else ""
    return f"⟨{','.join(map(str, dict.fromkeys(seats)))}⟩{aside}"
