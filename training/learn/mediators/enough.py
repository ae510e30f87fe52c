"""How many questions the choice of a mediator and its test take, and how many a corpus links: what is said before the work starts."""

from __future__ import annotations

from math import ceil
from typing import Final

FEWEST: Final = 30
"""The least number of questions for a choice, and for a test. If half of the answers pay most and half pay least, the interval at 95 % of a mean
over 30 is 0.19 of that range to either side: with 120 for a right answer and -40 for a wrong one, 30 points of net utility."""
PILOT: Final = 30
"""Questions of a pilot; a standard deviation of so many is within a quarter of its value in most cases."""


def too_few(n: int, cases: str = "held-out question", lacks: str = "verdict") -> str:
    """The sentence instead of a verdict, or a test, on fewer than `FEWEST` cases; empty for enough of them.

    >>> too_few(4), too_few(30)
    ('No verdict: 4 held-out questions are too few; accepted: 30 or more.', '')
    """
    if n >= FEWEST:
        return ""
    counted = f"1 {cases} is" if n == 1 else f"{n} {cases}s are"
    return f"No {lacks}: {counted} too few; accepted: {FEWEST} or more."


def questions_needed(share: float) -> int:
    """How many questions there must be for a test, if this share of them is held out.

    >>> questions_needed(1 / 3), questions_needed(0.2)
    (90, 150)
    """
    return ceil(FEWEST / share - 1e-9)


def held_out_note(held_out: int, option: str, share: float) -> str:
    """One line where too few questions will be held out for a test; empty where there are enough, or none at all.

    >>> held_out_note(12, "--held-out-share", 1 / 3)
    '12 questions will be held out; a test of the policy takes 30, which is 90 questions in all at --held-out-share 0.33'

    Args:
        held_out: Questions that will be held out.
        option: The option that sets their share.
        share: That share.
    """
    if not 0 < held_out < FEWEST:
        return ""
    counted = "1 question" if held_out == 1 else f"{held_out} questions"
    needed = f"{questions_needed(share)} questions in all at {option} {share:.2g}"
    return f"{counted} will be held out; a test of the policy takes {FEWEST}, which is {needed}"


def linked_note(linked: int, questions: int, least: float) -> str:
    """One line where fewer than this share of the questions are linked to a document; empty otherwise.

    >>> linked_note(28, 60, 0.5)
    '28 of 60 questions are linked to a document: the others contain no title, and the graph has no evidence for them; `train grace` takes bm25 unless --retriever names another (--least-linked 0.5)'
    """
    if linked >= least * questions:
        return ""
    others = "the others contain no title, and the graph has no evidence for them"
    chosen = f"`train grace` takes bm25 unless --retriever names another (--least-linked {least:g})"
    return f"{linked} of {questions} questions are linked to a document: {others}; {chosen}"
