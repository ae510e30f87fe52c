"""What an expert's network tells of a turn: what each option costs, what contradicts the plan, what is believed. Of parlour's own.

A network that was trained with a price on certainty (PPO with an entropy bonus) chooses options in proportion to the
exponential of their worth, so that how many times less often it takes an option than its favourite says what the option costs.
Chances are those that experts read (`features="belief"`): exact posteriors by the fixed habits of the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from parlour.envs import speech
from parlour.envs.core import Move
from parlour.envs.english import name
from parlour.policies.heuristic.avalon import AvalonPlayer
from parlour.policies.heuristic.werewolf import WerewolfPlayer

MOST: Final = 999.0
"""The highest cost there is: so many times less often than the favourite, or less often still."""
_DECIMALS: Final = 2

Numbers = np.ndarray[Any, np.dtype[np.float64]]


def option_costs(chances: Sequence[float] | Numbers) -> list[float]:
    """How many times less often than the favourite each option is taken, 1 to `MOST`, from the chances of all options.

    >>> option_costs([0.6, 0.3, 0.1, 0.0])
    [1.0, 2.0, 6.0, 999.0]
    """
    given = np.asarray(chances, dtype=np.float64)
    times = given.max() / np.maximum(given, given.max() / MOST)
    return [round(float(one), _DECIMALS) for one in times]


def contradicts(said: Move, planned: Move) -> bool:
    """Whether a claim is at odds with the planned one: for a player whom that one is against, the reverse, or another role.

    >>> contradicts(Move("defend", (3,)), Move("accuse", (3,))), contradicts(Move("defend", (2,)), Move("accuse", (3,)))
    (True, False)
    """
    if said.kind == planned.kind == speech.CLAIM_ROLE:
        return said.args != planned.args
    mine, plan = _stance(said), _stance(planned)
    return mine is not None and plan is not None and mine[0] == plan[0] and mine[1] != plan[1]


def _stance(claim: Move) -> tuple[int, bool] | None:
    """Whom a claim is about, and whether it is for him; None for one that is about nobody."""
    if claim.kind in (speech.DEFEND, speech.RECOMMEND):
        return claim.args[0], True
    if claim.kind == speech.ACCUSE:
        return claim.args[0], False
    return (claim.args[0], claim.args[1] == 0) if claim.kind == speech.REPORT else None


def posterior(player: Any, me: int) -> list[str]:
    """What is believed of the others, a line each, in the belief of a player by heuristic; no lines for other games."""
    if isinstance(player, AvalonPlayer):
        belief = player.belief
        return _lines(me, {"evil": belief.evil_chance(), "Merlin": belief.merlin_chance()})
    if isinstance(player, WerewolfPlayer):
        return _lines(me, {"werewolf": player.belief.wolf_chance(), "Seer": player.belief.seer_chance()})
    return []


def _lines(me: int, chances: dict[str, Numbers]) -> list[str]:
    seats = [seat for seat in range(len(next(iter(chances.values())))) if seat != me]
    return [f"{name(j)}: " + ", ".join(f"{what} {chance[j]:.2f}" for what, chance in chances.items()) for j in seats]
