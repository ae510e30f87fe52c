"""Trust of GRATR and its baselines as a probability, at every judgement; ours, no table of the paper.

With `--readers`, GRATR by the paper's procedure and by counted rates, a logistic model and Bayes by learned habits judge as well. All
read the same messages at the same moments of games that the first of the others plays (`training.werewolf.trust_games`): the
history window, or the player in `--against`, with its settings, such as how much its werewolves lie. So a deal gives
hundreds of paired judgements; intervals are over deals.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.policies import make_policy
from parlour.policies.agents.werewolf.inference import EPSILON
from parlour.training.measure.statistics import SHARE, SHARE_DIFFERENCE
from parlour.training.measure.werewolf import trust_scores as scores
from parlour.training.measure.werewolf.played import GAME
from parlour.training.papers.cells import (
    Reproduction,
    ReproductionSetting,
    TableCell,
    Value,
    cell,
    deals_of,
    mean,
    remark,
)
from parlour.training.papers.gratr_teams import (
    GRATR,
    OPPONENTS,
    PAPER,
    WEREWOLF_PLAYERS,
    WEREWOLF_RULES,
    Opponent,
    opponents,
    seated,
)
from parlour.training.papers.gratr_trust_games import BAYES, MakePolicy, TrustJudgement, judgements, noise_of
from parlour.training.papers.gratr_trust_readers import TrustReaders, read_readers
from parlour.training.papers.logistic import LogisticReader
from parlour.training.play import rollout
from parlour.training.results.progress import Stage, counted

BOLDEST: Final = (0.1, 0.25, 0.5, 1.0)
"""Shares of all judgements, the most confident first, whose accuracy is reported."""

DEFAULTS: Final = (Opponent(PAPER, "GRATR, mode=paper"), Opponent(f"{GRATR}:doubt=0.1", "GRATR, doubt=0.1"))
"""GRATR without anything learned, where readers are learned."""


def gratr_trust(name: str, setting: ReproductionSetting) -> Reproduction:
    """Log loss, calibration and right judgements by boldness: GRATR first, with the differences of the others from it."""
    against = opponents(setting, OPPONENTS)
    learned = read_readers(setting.readers) if setting.readers else None
    judged = _judged(setting, against, learned)
    deals, ally, trust = scores.columns(judged)
    dared = None if learned is None else float((np.abs(trust[1 + len(DEFAULTS)]) > EPSILON).mean())
    cells: list[TableCell] = []
    first: _Row | None = None
    for label, of in zip(_labels(against, learned), trust, strict=True):
        row = _Row(name, label, of, ally, deals)
        cells += row.cells(first)
        cells += [] if dared is None else [row.where_dared(dared, against[0].label, first)]
        first = first or row
    remarks = (
        f"Ours: {setting.games} held-out deals, played once by {against[0].policy} at every seat; {len(judged)} judgements of the village on "
        f"living players it does not know for certain, {ally.mean():.1%} of them allies.",
        *((f"Here GRATR is {setting.ours}.",) if setting.ours else ()),
        remark("trust_scores"),
    )
    return Reproduction(name, "Trust as a probability", setting.model.name, tuple(cells), remarks)


def _labels(against: tuple[Opponent, ...], learned: TrustReaders | None) -> list[str]:
    own = [opponent.label for opponent in against]
    if learned is None:
        return ["GRATR", *own, BAYES]
    defaults = [opponent.label for opponent in DEFAULTS]
    return ["GRATR", *defaults, *own, "logistic model", BAYES, "Bayes, noise known, habits learned"]


def _judged(
    setting: ReproductionSetting, against: tuple[Opponent, ...], learned: TrustReaders | None
) -> list[TrustJudgement]:
    env = rollout.table(GAME, num_players=WEREWOLF_PLAYERS, rules=WEREWOLF_RULES)
    config = env.game_env.game.config
    others = (*(DEFAULTS if learned else ()), *against)
    compared = [seated(setting.ours or GRATR), *(opponent.policy for opponent in others)]
    make = {who: partial(make_policy, who, GAME, config, setting.model) for who in compared}
    readers: dict[str, MakePolicy] = {f"{number} {who}": make[who] for number, who in enumerate(compared)}
    habits: list[WerewolfHabits | None] = [None]
    if learned is not None:
        readers["logistic"] = partial(LogisticReader, setting.model, learned.logistic)
        habits.append(learned.habits)
    noise = noise_of(setting.model)
    deals = deals_of(setting, setting.games)
    return [
        judgement
        for seed in counted(deals, Stage("Judging trust", len(deals), "games"), setting.progress)
        for judgement in judgements(env, seed, make[against[0].policy], readers, noise, habits)
    ]


class _Row:
    """The scores of one reader."""

    def __init__(self, table: str, label: str, trust: np.ndarray, ally: np.ndarray, deals: np.ndarray) -> None:
        self._made, self._ally, self._deals = partial(cell, table, label, ""), ally, deals
        self._stated, self._fitted = scores.stated(trust), scores.cross_fitted(trust, ally, deals)
        chances = (self._fitted, self._stated)
        self.losses = [scores.by_deal(scores.log_loss(chance, ally), deals) for chance in chances]
        """By deal: of the fitted curve, and of trust as stated."""
        self._right = ((self._fitted > 0.5) == (ally > 0)).astype(float)

    def cells(self, first: _Row | None) -> Iterator[TableCell]:
        """The cells, with differences from the losses of the first row where there is one before it."""
        for k, measure in enumerate(("log loss", "log loss as stated")):
            apart = None if first is None else mean(self.losses[k] - first.losses[k])
            yield self._made(measure, mean(self.losses[k]), apart)
        for measure, chance in (("calibration error", self._fitted), ("calibration error as stated", self._stated)):
            yield self._made(measure, Value(scores.calibration_error(chance, self._ally), len(chance)))
        for share in BOLDEST:
            kept = scores.boldest(self._fitted, share)
            yield self._made(f"right, boldest {share:.0%}", mean(scores.by_deal(self._right, self._deals, kept), SHARE))

    def where_dared(self, share: float, whose: str, first: _Row | None) -> TableCell:
        """How many are right of the boldest judgements, as many as another one dares, with the difference from the first row."""
        own = self._rights(share)
        apart = None
        if first is not None:
            others = first._rights(share)
            both = [deal for deal in own if deal in others]
            apart = mean([own[deal] - others[deal] for deal in both], SHARE_DIFFERENCE)
        return self._made(f"right, as many as the {whose} dares ({share:.0%})", mean(list(own.values()), SHARE), apart)

    def _rights(self, share: float) -> dict[int, float]:
        """By deal, where there are any."""
        kept = scores.boldest(self._fitted, share)
        return {
            int(deal): float(self._right[kept & (self._deals == deal)].mean()) for deal in np.unique(self._deals[kept])
        }
