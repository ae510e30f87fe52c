"""Trust of GRATR and its baselines as a probability, at every judgement; ours, no table of the paper.

All read the same messages at the same moments of games that the history window plays (`training.werewolf.trust_games`), so
that a deal gives hundreds of paired judgements; intervals are over deals.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np
from parlour.policies import make_policy
from parlour.training import rollout
from parlour.training.reproduce.cells import (
    Reproduction,
    ReproductionSetting,
    TableCell,
    Value,
    cell,
    deals_of,
    mean,
    remark,
)
from parlour.training.reproduce.gratr_teams import (
    GRATR,
    OPPONENTS,
    WEREWOLF_PLAYERS,
    WEREWOLF_RULES,
    Opponent,
    opponents,
)
from parlour.training.statistics import SHARE
from parlour.training.werewolf import trust_scores as scores
from parlour.training.werewolf.played import GAME
from parlour.training.werewolf.trust_games import BAYES, TrustJudgement, judgements, noise_of

PLAYS: Final = OPPONENTS[0].policy
"""Who plays the games that are judged."""
BOLDEST: Final = (0.1, 0.25, 0.5, 1.0)
"""Shares of all judgements, the boldest first, of which it is told how many are right."""


def gratr_trust(name: str, setting: ReproductionSetting) -> Reproduction:
    """Log loss, calibration and right judgements by boldness: GRATR first, with the differences of the others from it."""
    against = opponents(setting, OPPONENTS)
    found = _judged(setting, against)
    deals, ally, trust = scores.columns(found)
    cells: list[TableCell] = []
    first: list[np.ndarray] = []
    for label, of in zip(_labels(setting, against), trust, strict=True):
        row = _Row(name, label, of, ally, deals)
        cells += row.cells(first)
        first = first or row.losses
    remarks = (
        f"Ours: {setting.games} held-out deals, played once by {PLAYS} at every seat; {len(found)} judgements of the village on "
        f"living players it does not know for certain, {ally.mean():.1%} of them allies.",
        *((f"Here GRATR is {setting.ours}.",) if setting.ours else ()),
        remark("trust_scores"),
    )
    return Reproduction(name, "Trust as a probability", setting.model.name, tuple(cells), remarks)


def _labels(setting: ReproductionSetting, against: tuple[Opponent, ...]) -> list[str]:
    return ["GRATR", *(one.label for one in against), BAYES]


def _judged(setting: ReproductionSetting, against: tuple[Opponent, ...]) -> list[TrustJudgement]:
    env = rollout.table(GAME, num_players=WEREWOLF_PLAYERS, rules=WEREWOLF_RULES)
    config = env.game_env.game.config
    names = [setting.ours or GRATR, *(one.policy for one in against)]
    makers = {who: partial(make_policy, who, GAME, config, setting.model) for who in (*names, PLAYS)}
    readers, noise = {who: makers[who] for who in names}, noise_of(setting.model)
    return [
        one
        for seed in setting.progress(deals_of(setting, setting.games), "games judged")
        for one in judgements(env, seed, makers[PLAYS], readers, noise)
    ]


class _Row:
    """The scores of one reader."""

    def __init__(self, table: str, label: str, trust: np.ndarray, ally: np.ndarray, deals: np.ndarray) -> None:
        self._made, self._ally, self._deals = partial(cell, table, label, ""), ally, deals
        self._stated, self._fitted = scores.stated(trust), scores.cross_fitted(trust, ally, deals)
        chances = (self._fitted, self._stated)
        self.losses = [scores.by_deal(scores.log_loss(one, ally), deals) for one in chances]
        """By deal: of the fitted curve, and of trust as stated."""

    def cells(self, first: list[np.ndarray]) -> Iterator[TableCell]:
        """The cells, with differences from the losses of the first row where there are any."""
        for k, measure in enumerate(("log loss", "log loss as stated")):
            apart = mean(self.losses[k] - first[k]) if first else None
            yield self._made(measure, mean(self.losses[k]), apart)
        for measure, chance in (("calibration error", self._fitted), ("calibration error as stated", self._stated)):
            yield self._made(measure, Value(scores.calibration_error(chance, self._ally), len(chance)))
        right = ((self._fitted > 0.5) == (self._ally > 0)).astype(float)
        for share in BOLDEST:
            kept = scores.boldest(self._fitted, share)
            yield self._made(f"right, boldest {share:.0%}", mean(scores.by_deal(right, self._deals, kept), SHARE))
