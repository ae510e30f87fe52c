"""What the exact belief of a seat says about a move, in the coach's words."""

from __future__ import annotations

from typing import Any, Final

from parlour.envs.avalon import vocabulary as avalon
from parlour.envs.avalon.vocabulary import AvalonView
from parlour.envs.core import Move
from parlour.envs.language import speech
from parlour.envs.language.english import name
from parlour.envs.werewolf import vocabulary as werewolf
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.policies.voice.evidence import Mind

_NAMED: Final = (speech.ACCUSE, speech.DEFEND, speech.RECOMMEND, speech.REPORT, *werewolf.TARGETED)


def outlook(mind: Mind[Any], view: Any, move: Move) -> str:
    """What the seat's belief says about a move; empty where it says nothing.

    Args:
        mind: What the game's `voice` makes.
        view: The seat's View.
        move: Its move.
    """
    belief: Any = mind.own.belief  # each game's has questions of its own
    public: Any = mind.public.belief
    deceives = mind.deceives(view)
    args = move.args
    if isinstance(view, AvalonView) and move.kind in (avalon.TEAM, avalon.BALLOT):
        team = args if move.kind == avalon.TEAM else view.team
        if not deceives:
            return f"chance of no evil player: {_percent(belief.clean_chance(team))}"
        own_side = round(sum(float(mind.own.chance()[seat]) for seat in team))
        return f"evil players on the team: {own_side}; chance of none, to an onlooker: {_percent(public.clean_chance(team))}"
    if not args:
        return ""
    who = name(args[0])
    if isinstance(view, AvalonView) and move.kind == avalon.GUESS:
        return f"chance that {who} is Merlin: {_percent(belief.merlin_chance()[args[0]])}"
    if isinstance(view, WerewolfView) and move.kind == werewolf.KILL:
        return f"chance that {who} is the seer: {_percent(belief.seer_chance()[args[0]])}"
    if move.kind not in _NAMED:
        return ""
    if deceives:
        return f"chance that {who} is evil, to an onlooker: {_percent(mind.public.chance()[args[0]])}"
    return f"chance that {who} is evil: {_percent(mind.own.chance()[args[0]])}"


def _percent(chance: Any) -> str:
    return f"{round(100 * float(chance))} %"
