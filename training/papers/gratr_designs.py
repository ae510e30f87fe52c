"""GRATR against each baseline in both designs, the paper's mixed blocks and whole sides; ours, no table of the paper.

TWR, the paired difference, and how often werewolves won at all: where they nearly always or never win, a difference has little
room.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from parlour.envs.werewolf.vocabulary import VILLAGE, WEREWOLF, WOLVES
from parlour.policies.llm.decisions import Decisions
from parlour.training.measure.statistics import paired, rate
from parlour.training.measure.werewolf import scores
from parlour.training.papers.cells import Reproduction, ReproductionSetting, TableCell, cell, remark
from parlour.training.papers.gratr_teams import (
    OPPONENTS,
    RULE,
    WEREWOLF_PLAYERS,
    Match,
    Seating,
    blocks,
    opponents,
    play_teams,
)


def whole_sides(env: Any, seed: int, other: str, ours: str) -> dict[str, list[str]]:
    """Who sits at each seat, in the game in which GRATR is all werewolves and in the one in which it is the village."""
    env.reset(seed=seed)
    wolf = [env.game_env.view(seat).role == WEREWOLF for seat in range(WEREWOLF_PLAYERS)]
    return {
        "gratr-all-werewolves": [ours if bad else other for bad in wolf],
        "gratr-village": [other if bad else ours for bad in wolf],
    }


DESIGNS: Final[Mapping[str, Seating]] = {"mixed blocks": blocks, "whole sides": whole_sides}


def gratr_designs(name: str, setting: ReproductionSetting) -> Reproduction:
    """Win rates and paired differences by design and opponent."""
    played = [
        (design, play_teams(setting, opponent, seating))
        for design, seating in DESIGNS.items()
        for opponent in opponents(setting, (*OPPONENTS, RULE))
    ]
    cells = [cell for design, match in played for cell in _cells(name, design, match)]
    deals = setting.games // 2
    remarks = (
        f"Ours: {setting.games} games in each row, {deals} held-out deals played twice with the methods changed over.",
        *((f"Here GRATR is {setting.ours}.",) if setting.ours else ()),
        remark("designs"),
    )
    players = {_row(match): match.decisions.get(match.ours, Decisions()) for _, match in played}
    return Reproduction(name, "Both designs", setting.model.name, tuple(cells), remarks, players)


def _row(match: Match) -> str:
    return f"GRATR v. {match.opponent.label}"


def _cells(table: str, design: str, match: Match) -> Iterator[TableCell]:
    """The cells of one row; TWR with the difference between GRATR and the other one as werewolves on the same deals."""
    games = [played.game for played in match.games]
    made = partial(cell, table, _row(match), design)
    ours, other = (scores.won_as(games, who, WOLVES) for who in (match.ours, match.opponent.policy))
    village = scores.won_as(games, match.ours, VILLAGE)
    yield made("TWR, difference", scores.total(games, match.ours), paired(ours, other))
    yield made("wins as werewolves", rate(sum(ours), len(ours)))
    yield made("wins as village", rate(sum(village), len(village)))
    yield made("werewolves win", rate(sum(game.winner == WOLVES for game in games), len(games)))
