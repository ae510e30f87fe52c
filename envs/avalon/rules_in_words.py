"""The rules of one table of Avalon in words: what people read, what `chat` reads, and what every model is told.

Each sentence follows `rules.py` and the points of `presets.py` on which the sources differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from parlour.envs.avalon import vocabulary as game
from parlour.envs.avalon.presets import PROPOSALS
from parlour.envs.avalon.rules import Avalon
from parlour.envs.avalon.vocabulary import side_of
from parlour.envs.english import name


def rules_in_words(table: Avalon) -> str:
    """The whole rules; the first paragraph is the least that one has to know."""
    return "\n\n".join("\n".join(part(table)) for part in (_aims, _course))


def _aims(table: Avalon) -> Iterable[str]:
    counts = Counter(table.roles)
    good, evil = (_listed(counts, side) for side in (game.GOOD, game.EVIL))
    sizes = ", ".join(map(str, table.sizes))
    two = [str(quest + 1) for quest, fails in enumerate(table.fails_needed) if fails == 2]
    yield f"The game is Avalon, with {table.seats} players. Roles in play: {good} are good; {evil} are evil."
    yield (
        "Five quests are on the way. Good wins when three of them succeed and Merlin stays hidden; evil wins when three "
        f"fail, or when {_guesser(table)} names Merlin."
    )
    yield f"Team sizes of the five quests: {sizes}. One fail card makes a quest fail" + (
        f"; quest {', '.join(two)} needs two." if two else "."
    )


def _course(table: Avalon) -> Iterable[str]:
    rules = table.rules
    yield f"The night: {_night(table)}"
    speaking = f"all players speak once, {_order(table)}"
    first = "nobody speaks; the leader"
    if table.talk:
        first = f"{speaking}; then the leader"
    if table.talk and rules.discussion == "mission":
        yield f"A quest: before its first proposal {speaking}."
        first = "the leader"
    short = " or fewer" if rules.short_teams else ""
    why = ", and may tell all why" if rules.reasons else ""
    yield f"A proposal: {first} names a team of the quest's size{short}, in which it may be itself{why}."
    if rules.short_teams:
        yield (
            "A team that is too small is put to the vote all the same and counts as two proposals; if it goes, a whole "
            "team is drawn from all players by lot and goes in its place."
        )
    yield (
        f"All players vote at the same time; then everybody sees who voted how{_comments(table)}. The team goes if at least {table.carries} of "
        f"{table.seats} approve. If not, the next player by number leads and names a team for the same quest."
    )
    yield f"A quest has {PROPOSALS} proposals at most: {_LAST[rules.fifth_rejection]}."
    cards = "Any player" if rules.good_may_fail else "A good player plays success and cannot do otherwise; an evil one"
    yield (
        f"The quest: each player on the team plays a card in secret. {cards} may play success or fail. Everybody learns how "
        "many fail cards there were, and nobody who played them. Then the next player by number leads the next quest."
    )
    yield _hunt(table)
    yield "Roles are secret until the game is over" + (
        "; in what they say, players need not tell the truth." if table.talk else "."
    )


_LAST: Final = {
    "evil_wins": "if the last one has no majority, evil wins the game",
    "team_goes": "if the last one has no majority, the team goes whatever the vote",
    "no_vote": "the team of the last one goes without a vote",
}


def _order(table: Avalon) -> str:
    first = "the leader" if table.rules.speaks_first == "leader" else name(0)
    return f"{first} first and the others after it by number"


def _comments(table: Avalon) -> str:
    """What becomes of the words of votes."""
    return {
        "none": "",
        "private": "; what a player writes beside its vote, nobody else reads",
        "public": " and what players wrote beside their votes",
    }[table.rules.comments]


def _guesser(table: Avalon) -> str:
    return "the Assassin" if table.rules.guesser == game.ASSASSIN else table.rules.guesser


def _listed(counts: Counter[str], side: str) -> str:
    """The roles of a side, with how many there are of each."""
    return ", ".join(role if k == 1 else f"{k} x {role}" for role, k in counts.items() if side_of(role) == side)


def _night(table: Avalon) -> str:
    """Who was shown what; see `Avalon.night`."""
    roles = set(table.roles)
    merlin = "all evil players but Mordred" if game.MORDRED in roles else "the evil players"
    told = [f"Merlin was shown {merlin}"]
    if game.PERCIVAL in roles:
        told.append(
            "Percival was shown Merlin and Morgana, and not which of the two is which"
            if game.MORGANA in roles
            else "Percival was shown Merlin"
        )
    if game.OBERON in roles:
        told.append("evil players were shown each other, but for Oberon, who sees and is seen by none of them")
    else:
        told.append("evil players were shown each other")
    return "; ".join(told) + "."


def _hunt(table: Avalon) -> str:
    who = _guesser(table)
    title = who[0].upper() + who[1:]
    if table.rules.hunt == "end":
        oberon = ", Oberon too," if game.OBERON in table.roles else ""
        consult = (
            f"all evil players{oberon} speak once among themselves, by number; then " if table.rules.consult else ""
        )
        return (
            f"{title}: once good has won three quests, {consult}{who} names the player that it holds for Merlin. If it is "
            "right, evil wins; if not, good wins."
        )
    return (
        f"{title}: after a quest, before it is scored, {who} may name the player that it holds for Merlin, once "
        f"in the game. If it is right, evil wins at once; if not, all know who {who} is, and the game goes on."
    )
