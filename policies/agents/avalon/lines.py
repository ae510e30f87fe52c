"""Lines of play: what a plan chooses among, for each role, and which one each role begins with.

The first lines are the initial strategies that Lan et al. 2023 (arXiv 2310.14985, section 4.1) give their agents: evil
roles get onto quests and fail them, servants offer themselves, Merlin and Percival object to candidates they hold for evil.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from parlour.envs.avalon import vocabulary as game

OPEN, DISCREET, QUIET = "open", "discreet", "quiet"
SABOTAGE, SLEEPER, SHADOW = "sabotage", "sleeper", "shadow"

GOOD_LINES: Final = {
    OPEN: "Say openly whom you suspect; lead and vote as you believe.",
    DISCREET: "Lead and vote as you believe, but accuse nobody.",
    QUIET: "Hide what you know: speak and vote as if you knew only what everyone knows, until one more lost quest would "
    "lose the game.",
}
EVIL_LINES: Final = {
    SABOTAGE: "Get onto every quest you can and fail it.",
    SLEEPER: "Earn trust: let the first quest succeed, and fail one when it counts.",
    SHADOW: "Stay in the background: get your teammate chosen, watch who knows too much, and find Merlin.",
}
_INTRODUCTIONS: Final = {
    game.MERLIN: "You saw who is evil. If the Assassin finds you, good loses.",
    game.PERCIVAL: "You saw Merlin and Morgana, but not which is which.",
    game.SERVANT: "You know nobody's role.",
    game.MORGANA: "You know your teammates. To Percival you look like Merlin.",
    game.ASSASSIN: "You know your teammates. You may guess once who Merlin is.",
    game.MORDRED: "You know your teammates. Merlin did not see you.",
    game.OBERON: "You and your teammates do not know each other.",
    game.MINION: "You know your teammates.",
}


def lines_of(role: str) -> Mapping[str, str]:
    """The lines of play that a role chooses among, with what they mean."""
    return EVIL_LINES if role in game.EVIL_ROLES else GOOD_LINES


def introduction_of(role: str, guesser: str = game.ASSASSIN) -> str:
    """What is special about a role, where this one names Merlin."""
    if guesser == game.ASSASSIN:
        return _INTRODUCTIONS[role]
    if role == game.ASSASSIN:
        return _INTRODUCTIONS[game.MINION]
    introduction = _INTRODUCTIONS[role].replace("the Assassin", guesser)
    return f"{introduction} You may guess once who Merlin is." if role == guesser else introduction


def first_strategy(role: str) -> str:
    """The strategy of a role before any experience."""
    if role in game.EVIL_ROLES:
        return _preferring(SABOTAGE, "pretend to be a loyal servant, volunteer for quests and fail them.")
    if role in (game.MERLIN, game.PERCIVAL):
        return _preferring(OPEN, "object to candidates you think are evil.")
    return _preferring(OPEN, "volunteer for quests and support candidates you trust.")


def _preferring(line: str, meaning: str) -> str:
    return f'Prefer the line of play "{line}": {meaning}'


def preferred_line(strategy: str, role: str) -> str:
    """The line that a strategy names first; the role's first one if it names none.

    >>> preferred_line('Prefer the line of play "quiet", as it won most.', "Merlin")
    'quiet'
    """
    known = lines_of(role)
    named = re.findall(r"\bline (?:of play )?[\"'`]?(\w+)", strategy)
    return next((line for line in named if line in known), next(iter(known)))


def results_in(strategy: str) -> dict[str, tuple[int, int]]:
    """Line -> games won, games played, as far as a strategy tells them.

    >>> results_in('Prefer the line of play "open". Games won so far: open 3 of 4, quiet 0 of 1.')
    {'open': (3, 4), 'quiet': (0, 1)}
    """
    known = "|".join((*GOOD_LINES, *EVIL_LINES))
    match = re.search(r"[Ww]on so far: (.*)", strategy)
    counted = re.findall(rf"\b({known}) (\d{{1,9}}) of (\d{{1,9}})\b", match[1]) if match else []
    return {line: (int(won), int(played)) for line, won, played in counted if int(won) <= int(played)}


def put_results(results: Mapping[str, tuple[int, int]], role: str, advised: Sequence[str] = ()) -> str:
    """The strategy that games so far speak for: the line with the best mean of a Beta(1, 1) posterior.

    A line that was `advised` has a quarter of a won game more each time, so that the result of a game weighs more than its advice.
    """

    def mean(line: str) -> float:
        (won, played), advice = results.get(line, (0, 0)), advised.count(line) / 4
        return (won + 1 + advice) / (played + 2 + advice)

    best = max(lines_of(role), key=mean)
    text = ", ".join(f"{line} {won} of {played}" for line, (won, played) in results.items())
    return f"{_preferring(best, lines_of(role)[best])} Games won so far: {text}."
