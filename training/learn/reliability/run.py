"""`parlour train gratr-trust`: play episodes, learn what evidence can be relied on from them, play on with what was learned.

Leaves config.json, episodes.jsonl, parameters.json (for `gratr:parameters=FILE`), report.md and report.html. Each round plays GRATR
with the parameters of earlier rounds, so that the parameters fit the games that they lead to. If a run is killed, it resumes
after its last whole episode and ends with the same files.

Reliabilities and the decay of evidence minimise the log loss of trust over all judgements. The chance of each hypothesis
is the exponential of a sum of weights, so that the loss and its gradient are exact; it is minimised by L-BFGS from weights of
nothing, with a ridge. The decay rho is the one of a grid that judges best the episodes that its weights were not fitted to
(two halves, by their number).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import fmean
from typing import Annotated, Final, Self

import numpy as np
from parlour.envs.core import accept
from parlour.envs.settings import Settings
from parlour.policies import make_policy
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.evidence import KINDS, SIGNS, WEIGHTS, Reliabilities, features, hypotheses
from parlour.policies.files import write_json
from parlour.policies.network import softmax
from parlour.training.learn.reliability.episodes import DESIGNS, EpisodeTable, PlayedEpisode, TrustMoment, episode
from parlour.training.learn.reliability.judgements import Array
from parlour.training.learn.tuning.gratr import PLAYERS, RULES
from parlour.training.play import rollout, seeds
from parlour.training.records.werewolf.played import GAME
from parlour.training.report.report import Report
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.report.verdicts import LOG_LOSS, together
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate
from pydantic import Field, model_validator
from scipy.optimize import minimize

_LEAST: Final = 1e-4
"""The least chance in the loss that is minimised."""
_NEVER: Final = -1e9


@dataclass(frozen=True)
class MomentArrays:
    """Moments as arrays, padded: M moments, H hypotheses, K targets."""

    features: Array
    """(M, H, WEIGHTS)"""
    closed: Array
    """(M, H): 0, or a weight that shuts a hypothesis out which is none."""
    wolf: Array
    """(M, H, K): whether the target is a werewolf under the hypothesis."""
    asked: Array
    """(M, K): 1 if the target exists."""
    true: Array
    """(M, K): whether it is one."""

    def only(self, kept: Array) -> MomentArrays:
        """Some of the moments."""
        return MomentArrays(*(array[kept] for array in (self.features, self.closed, self.wolf, self.asked, self.true)))


def judged_moments(moments: Sequence[TrustMoment], rho: float) -> MomentArrays:
    """The moments with evidence that decays by rho."""
    rows = [_row(moment, rho) for moment in moments]
    deep, wide = max(len(matrix) for matrix, _, _ in rows), max(len(true) for _, _, true in rows)
    shape = (len(rows), deep)
    arrays = MomentArrays(
        np.zeros((*shape, WEIGHTS)),
        np.full(shape, _NEVER),
        np.zeros((*shape, wide)),
        np.zeros((len(rows), wide)),
        np.zeros((len(rows), wide)),
    )
    for m, (own, wolf, true) in enumerate(rows):
        (h, k) = wolf.shape
        arrays.features[m, :h], arrays.closed[m, :h], arrays.wolf[m, :h, :k] = own, 0.0, wolf
        arrays.asked[m, :k], arrays.true[m, :k] = 1.0, true
    return arrays


def _row(moment: TrustMoment, rho: float) -> tuple[Array, Array, Array]:
    table = hypotheses(len(moment.graph), moment.me, len(moment.wolves), dict(moment.known))
    values = features(table, moment.me, moment.graph, moment.heard(), rho)
    true = np.array([float(seat in moment.wolves) for seat in moment.targets])
    return values - values.mean(axis=0), table[:, list(moment.targets)].astype(float), true


def chances(weights: Array, of: MomentArrays) -> tuple[Array, Array]:
    """The chance of each hypothesis, (M, H), and of each target to be a werewolf, (M, K)."""
    logs = of.features @ weights + of.closed
    posterior = softmax(logs)
    return posterior, np.einsum("mh,mhk->mk", posterior, of.wolf)


def _each(probabilities: Array, of: MomentArrays) -> tuple[Array, Array]:
    """The chances within bounds, and the log loss of each judgement, (M, K)."""
    chance = np.clip(probabilities, _LEAST, 1 - _LEAST)
    return chance, -np.log(np.where(of.true > 0, chance, 1 - chance)) * of.asked


def losses(weights: Array, of: MomentArrays) -> Array:
    """The mean log loss of each moment's judgements, shape (M,)."""
    loss: Array = _each(chances(weights, of)[1], of)[1].sum(axis=1) / of.asked.sum(axis=1)
    return loss


def loss(weights: Array, of: MomentArrays, ridge: float) -> tuple[float, Array]:
    """Mean log loss of all judgements with its ridge, and the gradient."""
    posterior, probabilities = chances(weights, of)
    (chance, each), many = _each(probabilities, of), of.asked.sum()
    slope = (chance - of.true) / (chance * (1 - chance)) * of.asked
    pull = np.einsum("mk,mhk->mh", slope, of.wolf)
    pull = posterior * (pull - (posterior * pull).sum(axis=1, keepdims=True))
    gradient = np.tensordot(pull, of.features, axes=([0, 1], [0, 1])) / many
    return float(each.sum() / many + ridge * weights @ weights), gradient + 2 * ridge * weights


def fitted_weights(of: MomentArrays, ridge: float, start: Array | None = None) -> Array:
    """The weights of the least loss."""
    begun = np.zeros(WEIGHTS) if start is None else start
    result = minimize(loss, begun, (of, ridge), jac=True, method="L-BFGS-B", options={"maxiter": 120, "ftol": 1e-7})
    best: Array = result.x
    return best


@dataclass(frozen=True)
class Fit:
    """What was learned from episodes."""

    rho: float
    reliabilities: Reliabilities
    grid: tuple[tuple[float, float], ...]
    """Each rho with the log loss of episodes not fitted to."""
    left_out: tuple[float, ...]
    """With the chosen rho: log loss of each episode by the weights of the other half."""


def fit(episodes: Sequence[PlayedEpisode], rhos: Sequence[float], ridge: float) -> Fit:
    """Fit to episodes; at least two must have judgements."""
    moments = [moment for sample in episodes for moment in sample.moments]
    of = np.array([k for k, sample in enumerate(episodes) for _ in sample.moments])
    best: tuple[float, float, Array, Array] | None = None
    grid, start = [], None
    for rho in rhos:
        arrays = judged_moments(moments, rho)
        start = fitted_weights(arrays, ridge, start)
        by_moment = _left_out(arrays, of, ridge, start)
        by_episode = np.array([by_moment[of == k].mean() for k in np.unique(of)])
        grid.append((rho, round(float(by_episode.mean()), 6)))
        if best is None or by_episode.mean() < best[0]:
            best = (float(by_episode.mean()), rho, start, by_episode)
    assert best is not None
    return Fit(best[1], Reliabilities.of(best[2]), tuple(grid), tuple(float(x) for x in best[3]))


def _left_out(moments: MomentArrays, of: Array, ridge: float, start: Array) -> Array:
    by_moment = np.zeros(len(of))
    for half in (0, 1):
        other = of % 2 == half
        if other.any() and (~other).any():
            by_moment[other] = losses(fitted_weights(moments.only(~other), ridge, start), moments.only(other))
    return by_moment


PARAMETERS: Final = "parameters.json"


Rates = Annotated[tuple[Annotated[float, Field(ge=0, le=1)], ...], Field(min_length=1)]
"""Numbers from 0 to 1."""


class TrustTraining(Settings):
    """Everything that decides a run; stored with it.

    Raises:
        ParlourError: A setting is not accepted.
    """

    episodes: int = Field(default=400, ge=2)
    """Number of games, over all rounds."""
    rounds: int = Field(default=2, ge=1)
    """Number of rounds; GRATR plays the first in the mode `grounded`, later rounds with the learned parameters."""
    others: Annotated[tuple[str, ...], Field(min_length=1)] = ("werewolf_window", "werewolf_rag", "gratr:mode=grounded")
    """Policies of the other method, drawn for each game; the result has not seen policies left out here."""
    misread: Rates = (0.0, 0.1, 0.2)
    """Rates of misread statements, in turn."""
    deceit: Rates = (0.0, 0.5)
    """How often werewolves lie, drawn for each game."""
    rho: Rates = (0.7, 0.85, 0.95, 1.0)
    """Candidate decays of evidence."""
    ridge: float = Field(default=0.0001, ge=0, lt=1)
    """Weight of the squared reliabilities in the loss."""
    seed: int = Field(default=0, ge=0)
    """The same seed gives the same result."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.episodes < 2 * self.rounds:
            raise accept("rounds", self.rounds, f"at most {self.episodes // 2}: two episodes or more in each")
        config = rollout.table(GAME, num_players=PLAYERS, rules=RULES).game_env.game.config
        for name in self.others:
            make_policy(name, GAME, config)
        return self

    @property
    def tables(self) -> list[EpisodeTable]:
        """The players of each episode, on deals of the training seeds."""
        rng = np.random.default_rng(seeds.derive(self.seed, seeds.Purpose.EPISODES))
        deals = [seeds.TRAINING[int(k)] for k in rng.choice(len(seeds.TRAINING), size=self.episodes, replace=False)]
        return [self._table(deal, number, rng) for number, deal in enumerate(deals)]

    def _table(self, deal: int, number: int, rng: np.random.Generator) -> EpisodeTable:
        design, other = DESIGNS[int(rng.integers(len(DESIGNS)))], self.others[int(rng.integers(len(self.others)))]
        lies = self.deceit[int(rng.integers(len(self.deceit)))]
        return EpisodeTable(deal, design, other, self.misread[number % len(self.misread)], lies)

    def round_of(self, number: int) -> int:
        """In which round an episode is played, from 0."""
        return number * self.rounds // self.episodes


@dataclass(frozen=True)
class LearnedTrust:
    """What a run found."""

    config: TrustTraining
    fit: Fit
    """Fit of the last round, from all episodes."""
    losses: Mapping[str, float]
    """Log loss of held-out episodes: over all, and by rate of misreading."""


def learn_trust(config: TrustTraining, run: Run) -> LearnedTrust:
    """Learn, or resume a run.

    Raises:
        ParlourError: The directory holds another run or is in use.
    """
    with run.opened(config.plain()) as folder:
        played, fitted = _rounds(config, run)
        learned = LearnedTrust(config, fitted, _by_misreading(played, fitted))
        came = {name: getattr(config, name) for name in ("episodes", "rounds", "others", "seed")}
        stored = {
            "parameters": {"rho": fitted.rho},
            "reliabilities": fitted.reliabilities.plain(),
            "learned_from": came,
        }
        write_json(folder / PARAMETERS, stored)
        report(learned).write(folder)
    return learned


def _rounds(config: TrustTraining, run: Run) -> tuple[list[PlayedEpisode], Fit]:
    ours, reliabilities, fitted, head = Parameters(), None, None, {"episodes": config.episodes}
    with run.lines("episodes.jsonl", PlayedEpisode.from_json, "training run", head) as store:
        played, tables, note = list(store.found), config.tables, ""
        stage = Stage("Training trust", config.episodes, "episodes")
        run.progress(stage, len(played))
        for turn in range(config.rounds):
            numbers = [k for k in range(config.episodes) if config.round_of(k) == turn]
            for number in numbers:
                if number >= len(played):
                    played.append(episode(tables[number], ours, reliabilities))
                    store.append(played[-1].as_json())
                run.progress(stage, len(played), note)
            fitted = fit(played[: numbers[-1] + 1], config.rho, config.ridge)
            ours, reliabilities = Parameters(rho=fitted.rho), fitted.reliabilities
            loss = fmean(fitted.left_out)
            note = f"log loss {loss:.3f}"
            run.log({"eval/log_loss": loss, "parameters/rho": fitted.rho}, numbers[-1] + 1)
    assert fitted is not None
    return played, fitted


def _by_misreading(played: Sequence[PlayedEpisode], fitted: Fit) -> dict[str, float]:
    rates = [sample.table.misread for sample in played if sample.moments]
    pairs = list(zip(rates, fitted.left_out, strict=True))
    by_rate = {f"misread={rate:g}": [x for of, x in pairs if of == rate] for rate in sorted(set(rates))}
    return {name: round(fmean(values), 6) for name, values in {"all": fitted.left_out, **by_rate}.items()}


# -- report ------------------------------------------------------------------------------------------------------


def report(learned: LearnedTrust) -> Report:
    """Trust in episodes left out, beside a coin; and what evidence counts."""
    config, reliabilities, loss = learned.config, learned.fit.reliabilities, Column("log loss", ".4f")
    gain = Estimate.mean([log(2) - value for value in learned.fit.left_out])
    said = LOG_LOSS.of("episodes left out").compared("learned trust", "a coin", gain)
    nats = [Column(act, "+.2f") for act in ("village to village", "to werewolf", "werewolf to village")]
    acts = [(kind, *reliabilities.acts[kind]) for kind in KINDS]
    signs = [(sign, getattr(reliabilities, sign)) for sign in SIGNS]
    return Report(
        "Reliabilities of evidence, learned from episodes",
        together([said, "Whether it plays better, `parlour evaluate` tells."]),
        (
            ResultTable(
                f"Trust of episodes left out, rho {learned.fit.rho:g}; a coin: 0.6931",
                (Column("episodes"), loss),
                tuple(learned.losses.items()),
            ),
        ),
        (
            f"{config.episodes} episodes in {config.rounds} rounds, against {', '.join(config.others)}. Log loss of trust at every "
            "judgement, each episode by the weights that the other half taught.",
            ResultTable("Decay of evidence", (Column("rho"), loss), learned.fit.grid),
            ResultTable(
                "What acts count, in nats",
                (Column("act"), *nats, Column("werewolf to werewolf", "+.2f")),
                tuple(acts),
                "Within a row only differences matter.",
            ),
            ResultTable(
                "What signs of being a werewolf count, in nats",
                (Column("sign"), Column("weight", "+.2f")),
                tuple(signs),
            ),
        ),
        values={
            "rho": learned.fit.rho,
            "log_loss": dict(learned.losses),
            "grid": [list(point) for point in learned.fit.grid],
        },
    )
