"""The rules of one table of Werewolf in words, as every seat of it reads them: people, models and agents alike.

They are told as they are played (`rules.py`, `presets.py`), with the roles that are in play; the order of talk, which is
drawn in each game, is told with the role.
"""

from __future__ import annotations

from collections import Counter

from parlour.envs.werewolf.presets import WerewolfRules
from parlour.envs.werewolf.vocabulary import GUARD, SEER, WEREWOLF, WITCH


def rule_sheet(rules: WerewolfRules, roles: tuple[str, ...], *, talk: bool, max_days: int) -> str:
    """The rules of a table.

    Args:
        rules: What the sources differ in.
        roles: One for each player, in no order of players.
        talk: Whether players speak.
        max_days: Days after which the game is a draw.

    Returns:
        Paragraphs with an empty line between them. The first must do where there is no room for more.
    """
    return "\n\n".join(
        "\n".join(line for line in part if line)
        for part in (_brief(rules, roles, talk=talk), _night(rules, roles, talk=talk), _day(rules, talk, max_days))
    )


def _brief(rules: WerewolfRules, roles: tuple[str, ...], *, talk: bool) -> list[str]:
    counts = ", ".join(role if k == 1 else f"{k} x {role}" for role, k in Counter(roles).items())
    parity = rules.wolves_win == "parity"
    return [
        f"The game is Werewolf, for {len(roles)} players. Roles in play: {counts}.",
        f"By night the werewolves, who know each other, kill; by day the living {'talk and then ' if talk else ''}vote out "
        "one of them.",
        "The village wins when no werewolf lives; the werewolves win when "
        f"{'they are at least half of the living' if parity else 'nobody else lives'}.",
        "The moderator is always right; players may lie.",
    ]


def _night(rules: WerewolfRules, roles: tuple[str, ...], *, talk: bool) -> list[str]:
    again = "" if rules.guard_may_repeat else ", but not the same player in two nights running"
    dying = "unless her antidote was used up before" if rules.dying_witch_poisons else ""
    return [
        "By night, in this order:",
        _hunt(rules, roles.count(WEREWOLF), talk=talk),
        f"The guard may protect one player from the attack, himself too{again}." if GUARD in roles else "",
        "The witch has one antidote and one poison for the whole game. While she has the antidote she hears who is attacked, "
        "unless the guard averts it, and may save that player, herself too. Then she may poison any living player; if she is "
        f"killed that night, she may not{', ' if dying else ''}{dying}."
        if WITCH in roles
        else "",
        "The seer, unless killed that night, learns of one other player whether it is a werewolf."
        if SEER in roles
        else "",
    ]


def _hunt(rules: WerewolfRules, wolves: int, *, talk: bool) -> str:
    if wolves == 1:
        return "The werewolf attacks one player, or nobody."
    shown = "each seeing the votes before" if rules.hunt_shown == "as_cast" else "in secret from each other"
    tie = "one of the tied is drawn, nobody among them" if rules.hunt_tie == "random" else "nobody is attacked"
    return (
        f"The werewolves {'speak among themselves, then ' if talk else ''}vote for a victim or for nobody, {shown}; all of "
        f"them hear whom they attack. After a tie {tie}.{'' if rules.hunt_wolves else ' They may not choose a werewolf.'}"
    )


def _day(rules: WerewolfRules, talk: bool, max_days: int) -> list[str]:
    secret = rules.votes_shown == "together"
    return [
        "By day the moderator tells who died in the night, and not of what.",
        f"{'All the living speak once, in the order of talk. Then they' if talk else 'The living'} vote for a player or for "
        f"nobody, {'in secret until all votes are in' if secret else 'each seeing the votes before'}. Who has most votes is "
        f"executed{', after last words' if talk else ''}. After a tie, or with most votes for nobody, nobody is executed.",
        f"The role is shown of {'everybody who dies' if rules.reveals == 'all' else 'those who die in night 1, and of nobody else'}.",
        f"After day {max_days} the game is a draw.",
    ]
