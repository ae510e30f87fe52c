"""The rules of a table of Avalon in words: each sentence follows `rules.py` and the points of `presets.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from parlour.envs.avalon import vocabulary
from parlour.envs.avalon.bidding import BiddingAvalon
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import side_of
from parlour.envs.hidden_roles.bidding import BIDDING_RULES


def rule_sheet(table: Avalon) -> str:
    """The whole rules; the first paragraph is the least that a player has to know."""
    return "\n\n".join("\n".join(part(table)) for part in (_aims, _course))


def guesser_of(table: Avalon) -> str:
    """The role that guesses Merlin, as a sentence names it."""
    return vocabulary.titled(table.rules.guesser)


def _aims(table: Avalon) -> Iterable[str]:
    counts = Counter(table.roles)
    good, evil = (
        ", ".join(role if k == 1 else f"{k} x {role}" for role, k in counts.items() if side_of(role) == side)
        for side in (vocabulary.GOOD, vocabulary.EVIL)
    )
    sizes = ", ".join(map(str, table.sizes))
    two = [str(quest + 1) for quest, fails in enumerate(table.fails_needed) if fails == 2]
    yield f"The game is Avalon, with {table.seats} players. Good: {good}. Evil: {evil}."
    yield (
        "Good wins if three of the five quests succeed and Merlin is not found. Evil wins if three quests fail, or if "
        f"{guesser_of(table)} finds Merlin."
    )
    yield f"Team sizes of the quests: {sizes}. One fail card fails a quest" + (
        f"; quest {', '.join(two)} needs two." if two else "."
    )


def _course(table: Avalon) -> Iterable[str]:
    rules = table.rules
    yield f"Night: {_night(table)}"
    if table.talk:
        if isinstance(table, BiddingAvalon):
            yield f"Talk: before each proposal. {BIDDING_RULES}"
        else:
            yield "Talk: before each proposal, all players speak once in seat order, starting with the leader."
    short = " or fewer" if rules.short_teams else ""
    yield f"Proposal: the leader proposes a team of the quest's size{short}. The leader need not be on it."
    if rules.short_teams:
        yield (
            "A team that is too small counts as two proposals. If it is accepted, a full team is drawn by lot from all "
            "players and goes instead."
        )
    yield (
        "Vote: all players vote at once; then everyone sees who voted how. A team needs "
        f"{table.carries} of {table.seats} votes. If it is rejected, the next player leads and proposes a team for the same quest."
    )
    yield _LAST[rules.fifth_rejection]
    cards = "Any player may" if rules.good_may_fail else "Good players must play success; evil players may"
    yield (
        f"Quest: each team member plays a card in secret. {cards} play success or fail. Everyone learns the number of "
        "fail cards, but not who played them. Then the next player leads the next quest."
    )
    yield _guess(table)
    yield from table.added_rules
    yield "Roles stay secret until the game is over." + (" Players may lie." if table.talk else "")


_LAST: Final = {
    "evil_wins": "If the fifth proposal of a quest is rejected, evil wins the game.",
    "team_goes": "The fifth proposal of a quest is always accepted.",
}


def _night(table: Avalon) -> str:
    """Who was shown what; see `Avalon.night`."""
    roles = set(table.roles)
    parts = [
        "Merlin saw all evil players except Mordred." if vocabulary.MORDRED in roles else "Merlin saw the evil players."
    ]
    if vocabulary.PERCIVAL in roles:
        parts.append(
            "Percival saw Merlin and Morgana, but not which is which."
            if vocabulary.MORGANA in roles
            else "Percival saw Merlin."
        )
    if vocabulary.OBERON in roles:
        parts.append("The evil players saw each other, except Oberon, who saw none of them and whom none of them saw.")
    else:
        parts.append("The evil players saw each other.")
    return " ".join(parts)


def _guess(table: Avalon) -> str:
    who = guesser_of(table)
    title = who[0].upper() + who[1:]
    if table.rules.hunt == "end":
        return (
            f"{title}: when good has won three quests, {who} guesses who Merlin is. If the guess is right, evil "
            "wins; if not, good wins."
        )
    return (
        f"{title}: after any quest, before it is scored, {who} may guess who Merlin is, once in the game. If the guess is "
        f"right, evil wins at once; if not, everyone knows who {who} is, and the game goes on."
    )
