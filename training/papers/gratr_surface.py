"""What rho and gamma do to GRATR, by two scores: log loss of trust at every judgement, and wins; ours, no table of the paper.

Every cell judges the same messages of the same games, and plays the same deals against the history window in the paper's mixed
blocks, so that each is compared with the defaults on common deals.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
from parlour.policies import make_policy
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.training.measure.statistics import SHARE, SHARE_DIFFERENCE
from parlour.training.measure.werewolf import trust_scores as scores
from parlour.training.measure.werewolf.played import GAME
from parlour.training.papers.cells import Reproduction, ReproductionSetting, TableCell, cell, deals_of, mean, remark
from parlour.training.papers.gratr_teams import (
    GRATR,
    OPPONENTS,
    WEREWOLF_PLAYERS,
    WEREWOLF_RULES,
    Match,
    play_teams,
    seated,
)
from parlour.training.papers.gratr_trust_games import judgements, noise_of
from parlour.training.play import rollout
from parlour.training.results.progress import Stage, counted

RHOS: Final = (0.5, 0.8, 0.95, 1.0)
GAMMAS: Final = (0.0, 0.1, 0.5)
_USUAL: Final = (Parameters().rho, Parameters().gamma)


def gratr_surface(name: str, setting: ReproductionSetting) -> Reproduction:
    """Log loss and TWR by rho and gamma, the defaults first."""
    points = [_USUAL, *((rho, gamma) for rho in RHOS for gamma in GAMMAS if (rho, gamma) != _USUAL)]
    ours = [_with(seated(setting.ours or GRATR), *point) for point in points]
    cells = [*_losses(name, setting, points, ours), *_wins(name, setting, points, ours)]
    remarks = (
        f"Ours: {setting.games // 2} held-out deals; the log loss of games that the history window plays, wins in "
        f"{setting.games} mixed games against it. {len(points)} cells: the best of so many is better by luck alone.",
        *((f"Here GRATR is {setting.ours}, with rho and gamma of the row.",) if setting.ours else ()),
        remark("trust_scores"),
    )
    return Reproduction(name, "By rho and gamma", setting.model.name, tuple(cells), remarks)


def _with(ours: str, rho: float, gamma: float) -> str:
    return f"{ours}{',' if ':' in ours else ':'}rho={rho:g},gamma={gamma:g}"


def _row(point: tuple[float, float]) -> str:
    return "rho {:g}, gamma {:g}".format(*point)


def _losses(
    table: str, setting: ReproductionSetting, points: list[tuple[float, float]], ours: list[str]
) -> list[TableCell]:
    env = rollout.table(GAME, num_players=WEREWOLF_PLAYERS, rules=WEREWOLF_RULES)
    make = partial(make_policy, game=GAME, config=env.game_env.game.config, model=setting.model)
    readers, noise = {who: partial(make, who) for who in ours}, noise_of(setting.model)
    player = partial(make, OPPONENTS[0].policy)
    seeds = deals_of(setting, setting.games // 2)
    judged = [
        judgement
        for seed in counted(seeds, Stage("Judging trust", len(seeds), "games"), setting.progress)
        for judgement in judgements(env, seed, player, readers, noise)
    ]
    deals, ally, trust = scores.columns(judged)
    losses = (scores.log_loss(scores.cross_fitted(of, ally, deals), ally) for of in trust[: len(points)])
    by_deal = [scores.by_deal(loss, deals) for loss in losses]
    first = by_deal[0]
    return [
        cell(table, _row(point), "trust", "log loss", mean(own), None if own is first else mean(own - first))
        for point, own in zip(points, by_deal, strict=True)
    ]


def _wins(
    table: str, setting: ReproductionSetting, points: list[tuple[float, float]], ours: list[str]
) -> list[TableCell]:
    shares = [_won(play_teams(setting, OPPONENTS[0], ours=who)) for who in ours]
    differences = [None, *(mean(own - shares[0], SHARE_DIFFERENCE) for own in shares[1:])]
    return [
        cell(table, _row(point), "games", "TWR", mean(own, SHARE), difference)
        for point, own, difference in zip(points, shares, differences, strict=True)
    ]


def _won(match: Match) -> np.ndarray:
    """By deal, the share of its two games that GRATR's special block won."""
    return np.array(
        [np.mean([played.game.winner == played.game.side(match.ours) for played in deal]) for deal in match.deals]
    )
