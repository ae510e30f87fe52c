"""`parlour train gratr-trust`: play episodes, learn what evidence can be relied on from them, play on with what was learned.

Leaves config.json, episodes.jsonl, parameters.json (for `gratr:parameters=FILE`), readers.json (Bayes' habits and the logistic
model, learned from the same episodes; for `parlour reproduce gratr-trust --readers FILE`), report.md and report.html. Each
round plays GRATR as the rounds before taught it, so that what is learned fits the games that follow from it. A run that was
killed goes on behind its last whole episode and ends with the same files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import numpy as np
from parlour.envs.core import accept, check_from
from parlour.envs.werewolf.belief import WerewolfHabits
from parlour.envs.werewolf.presets import PLAYERS as TABLES
from parlour.policies import make_policy
from parlour.policies.agents.werewolf.gratr.equations import Parameters
from parlour.policies.agents.werewolf.gratr.evidence import KINDS, SIGNS, Reliabilities
from parlour.policies.files import write_json
from parlour.training.learn.habits.priors import Widths
from parlour.training.learn.habits.werewolf import WolfCounts, fit_counts
from parlour.training.learn.reliability.episodes import DESIGNS, EpisodeTable, PlayedEpisode, episode
from parlour.training.learn.reliability.fit import Fit, fit
from parlour.training.learn.tuning.gratr import PLAYERS, RULES
from parlour.training.measure.werewolf.played import GAME
from parlour.training.papers import logistic
from parlour.training.play import rollout, seeds
from parlour.training.results.pages.report import write_report
from parlour.training.results.runs import JsonlStore, StageProgress, no_stage_progress, run_directory

PARAMETERS: Final = "parameters.json"
READERS: Final = "readers.json"


@dataclass(frozen=True, kw_only=True)
class TrustTraining:
    """Everything that decides a run; stored with it.

    Raises:
        ParlourError: A setting is not accepted.
    """

    episodes: int = 400
    """Number of games, over all rounds."""
    rounds: int = 2
    """Number of rounds; in the first one GRATR plays with its defaults, then as the rounds before taught it."""
    others: tuple[str, ...] = ("werewolf_window", "werewolf_rag", "gratr")
    """Policies of the other method, drawn for each game; whoever is left out stays unknown to what is learned."""
    misread: tuple[float, ...] = (0.0, 0.1, 0.2)
    """Rates at which statements are misread, in turn."""
    deceit: tuple[float, ...] = (0.0, 0.5)
    """How often werewolves lie, drawn for each game."""
    rho: tuple[float, ...] = (0.7, 0.85, 0.95, 1.0)
    """Decays of evidence that are tried."""
    ridge: float = 0.0001
    """Weight of the squared reliabilities in the loss."""
    seed: int = 0
    """The same seed gives the same result."""

    def __post_init__(self) -> None:
        for name, least in (("episodes", 2), ("rounds", 1), ("seed", 0)):
            check_from(name, getattr(self, name), least)
        if self.episodes < 2 * self.rounds:
            raise accept("rounds", self.rounds, f"at most {self.episodes // 2}: two episodes or more in each")
        for name in ("others", "misread", "deceit", "rho"):
            if not getattr(self, name):
                raise accept(name, "none", "one or more")
        for name in ("misread", "deceit", "rho"):
            for value in getattr(self, name):
                if not 0 <= value <= 1:
                    raise accept(name, value, "numbers 0..1")
        if not 0 <= self.ridge < 1:
            raise accept("ridge", self.ridge, "a number 0..1, below 1")
        config = rollout.table(GAME, num_players=PLAYERS, rules=RULES).game_env.game.config
        for name in self.others:
            make_policy(name, GAME, config)

    @property
    def tables(self) -> list[EpisodeTable]:
        """Who plays whom in each episode, on deals of the training seeds."""
        rng = np.random.default_rng(seeds.derive(self.seed, 0))
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

    fit: Fit
    """Of the last round, from all episodes."""
    losses: Mapping[str, float]
    """Log loss of episodes not fitted to: of all, and by rate of misreading."""
    readers: Mapping[str, Any]
    """Habits of Bayes and weights of the logistic model."""

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"rho": self.fit.rho, "log_loss": dict(self.losses), "grid": [list(one) for one in self.fit.grid]}


def learn_trust(config: TrustTraining, out: str | Path, progress: StageProgress = no_stage_progress) -> LearnedTrust:
    """Learn, or resume the run in `out`.

    Raises:
        ParlourError: `out` holds another run or is in use.
    """
    with run_directory(out, asdict(config)) as folder:
        played, found = _rounds(config, folder, progress)
        learned = LearnedTrust(found, _by_misreading(played, found), _readers(played))
        came = {
            "episodes": config.episodes,
            "rounds": config.rounds,
            "others": list(config.others),
            "seed": config.seed,
        }
        told = {"parameters": {"rho": found.rho}, "reliabilities": found.reliabilities.as_json(), "learned_from": came}
        write_json(folder / PARAMETERS, told)
        write_json(folder / READERS, dict(learned.readers))
        write_report(folder, _report(config, learned))
    return learned


def _rounds(config: TrustTraining, folder: Path, progress: StageProgress) -> tuple[list[PlayedEpisode], Fit]:
    ours, reliabilities, found = Parameters(), None, None
    with JsonlStore(
        folder / "episodes.jsonl", PlayedEpisode.from_json, "training run", {"episodes": config.episodes}
    ) as store:
        played, tables = list(store.found), config.tables
        for turn in range(config.rounds):
            numbers = [k for k in range(config.episodes) if config.round_of(k) == turn]
            for number in numbers:
                if number >= len(played):
                    played.append(episode(tables[number], ours, reliabilities))
                    store.append(played[-1].as_json())
                progress("episodes", number + 1, config.episodes, f"round {turn + 1}")
            found = fit(played[: numbers[-1] + 1], config.rho, config.ridge)
            ours, reliabilities = Parameters(rho=found.rho), found.reliabilities
    assert found is not None
    return played, found


def _by_misreading(played: Sequence[PlayedEpisode], found: Fit) -> dict[str, float]:
    judged = [system for system in played if system.moments]
    pairs = list(zip(judged, found.left_out, strict=True))
    rates = sorted({one.table.misread for one in judged})
    by_rate = {f"misread={rate:g}": [x for one, x in pairs if one.table.misread == rate] for rate in rates}
    return {name: round(fmean(values), 6) for name, values in {"all": [x for _, x in pairs], **by_rate}.items()}


def _readers(played: Sequence[PlayedEpisode]) -> dict[str, Any]:
    found = {n: WolfCounts() for n in TABLES}
    for system in played:
        found[PLAYERS].include(system.counts)
    habits: WerewolfHabits = fit_counts(found, Widths()).of(PLAYERS)
    return {"habits": asdict(habits), "logistic": list(logistic.fitted_terms(played))}


# -- report ------------------------------------------------------------------------------------------------------


def _report(config: TrustTraining, learned: LearnedTrust) -> str:
    played = f"{config.episodes} episodes in {config.rounds} rounds, against {', '.join(config.others)}"
    lines = [
        "# Reliabilities of evidence, learned from episodes",
        "",
        f"{played}. Log loss of trust at every judgement,",
    ]
    lines += ["each episode by the weights that the other half taught; a coin: 0.693.", ""]
    lines += ["| episodes | log loss |", "|---|---|", *(f"| {name} | {x:.4f} |" for name, x in learned.losses.items())]
    lines += ["", "| rho | log loss |", "|---|---|", *(f"| {rho:g} | {x:.4f} |" for rho, x in learned.fit.grid)]
    return "\n".join([*lines, "", *_weights(learned.fit.reliabilities), ""])


def _weights(reliabilities: Reliabilities) -> list[str]:
    lines = ["What evidence counts, in nats; within a row only differences matter.", ""]
    lines += ["| act | village to village | to werewolf | werewolf to village | to werewolf |", "|---|---|---|---|---|"]
    lines += [f"| {kind} | {' | '.join(f'{x:+.2f}' for x in reliabilities.acts[kind])} |" for kind in KINDS]
    return [
        *lines,
        "",
        "| sign | for being a werewolf |",
        "|---|---|",
        *(f"| {one} | {reliabilities.sign(one):+.2f} |" for one in SIGNS),
    ]
