"""The demo's section on networks for all seats of Avalon: the expert of a table, and a small network by self-play."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError
from parlour.policies import HeuristicPolicy, make_policy
from parlour.policies.experts import EXPERT, expert
from parlour.training.learn.selfplay import report
from parlour.training.learn.selfplay.config import RULE, SelfplayConfig
from parlour.training.learn.selfplay.report import Population
from parlour.training.learn.selfplay.run import selfplay
from parlour.training.measure import evaluate
from parlour.training.papers.demo.avalon import GAME, TABLE
from parlour.training.papers.demo.section import DemoConfig, DemoPart, Picture, Section, by_heuristic, summary, tables
from parlour.training.play import rollout, seeds
from parlour.training.play.parallel.concurrent_games import MakePolicy
from parlour.training.play.runner import GameRunner
from parlour.training.results import display
from parlour.training.results.evaluation_tables import verdict_of
from parlour.training.results.result_table import markdown_list
from parlour.training.results.verdicts import compared, together

_RUN: Final = "selfplay"
_SHARE: Final = 4
"""A quarter of the deals of other measurements: a network's beliefs are exact, and cost in scalar games."""
_LEAST: Final = 10
"""Deals of a measurement, at least."""


def _section(out: Path, config: DemoConfig) -> Section:
    """Measure the expert in scalar games, train a small network and measure it."""
    measured = _expert(out, config)
    run = selfplay_config(config)
    with display.progress_line() as progress:
        trained = selfplay(run, out / _RUN, progress)
    numbers = {
        "expert": measured if isinstance(measured, str) else [result.as_json() for result in measured],
        "selfplay": report.summary(trained),
    }
    return Section(
        "avalon_networks",
        _markdown(measured, trained),
        _summary(measured, trained),
        numbers,
        verdict=_verdict(measured, trained),
        about="Avalon, networks for all seats",
        picture=Picture(f"{_RUN}/curve.png", "Avalon: strength of the small network while all seats learned"),
    )


avalon_networks_section: Final = DemoPart(
    "Avalon: measure the expert that comes with parlour, and train a small network for all seats",
    _section,
    lambda config: 5 + config.selfplay_steps / 20000 + config.games / 50,
)


def selfplay_config(config: DemoConfig) -> SelfplayConfig:
    """The defaults of `train selfplay` with fewer decisions, more snapshots for the curve, and fewer games that measure."""
    defaults = SelfplayConfig()
    few = max(_LEAST, config.games // _SHARE)
    return SelfplayConfig(
        game=GAME,
        options=TABLE,
        steps=config.selfplay_steps,
        imitation_steps=min(defaults.imitation_steps, config.selfplay_steps),
        updates=4,
        validation_deals=min(defaults.validation_deals, few),
        deals=min(defaults.deals, few),
        test_deals=config.games,
        shown=3,
        seed=config.seed,
    )


def _expert(out: Path, config: DemoConfig) -> tuple[evaluate.Report, evaluate.Report] | str:
    """Whole sides and one seat against the heuristic, in scalar games; or why there is nothing to measure."""
    env: Any = rollout.table(GAME, **TABLE)
    table = env.game_env.game.config
    try:
        expert(GAME, table)
    except ParlourError as error:
        return str(error)
    players: dict[str, MakePolicy] = {EXPERT: partial(make_policy, EXPERT, GAME, table), RULE: HeuristicPolicy}
    candidate, rule = players.items()
    deals = seeds.HELD_OUT[: max(_LEAST, config.games // _SHARE)]
    with display.progress_line() as progress:
        sides = evaluate.team(env, candidate, rule, deals, GameRunner(progress=progress))
        seat = evaluate.single(env, players, rule, deals, GameRunner(progress=progress))
    evaluate.write_table(sides, out / "games-expert-team.csv")
    evaluate.write_table(seat, out / "games-expert-single.csv")
    return sides, seat


def _markdown(measured: tuple[evaluate.Report, evaluate.Report] | str, population: Population) -> str:
    config, last = population.config, population.phases[-1]
    return f"""## Avalon, the default table: networks for all seats

### The expert that comes with parlour

{_expert_markdown(measured)}

### A small network, trained here

`parlour train selfplay` with its defaults, except for {last.steps:,} decisions instead of
{SelfplayConfig().steps:,}: it imitates the heuristic for {config.imitation_steps:,} decisions, then all seats learn by PPO from
{population.training_games:,} games against itself, its past and the heuristic. Seed {config.seed}, {last.seconds:.0f} seconds of processor
time. A short run shows that it learns, not how far: the expert learned for much longer. Learning and
measuring are over arrays (`parlour.envs.batch`), the measuring on held-out deals, paired, with sampled play.

{markdown_list(report.verdicts(population))}

![Cross-play of its snapshots]({_RUN}/crossplay.png)

Its own report: [{_RUN}/report.md]({_RUN}/report.md); the policy: {_RUN}/policy.npz.
"""


def _verdict(measured: tuple[evaluate.Report, evaluate.Report] | str, population: Population) -> str:
    """The expert and the small network beside the heuristic."""
    said = []
    if not isinstance(measured, str):
        said.append(by_heuristic(measured[0], EXPERT, "the expert as a whole side"))
    difference = population.crossplay.difference(population.last, RULE)
    return together([*said, compared("the small network as a whole side", "the heuristic", difference)])


def _expert_markdown(measured: tuple[evaluate.Report, evaluate.Report] | str) -> str:
    if isinstance(measured, str):
        return f"None played: {measured}."
    sides, seat = measured
    deals = len(seat.games) // 2
    return (
        "`--policy expert`: a network that was trained before and comes as a file; it is only measured here. "
        f"{deals:,} held-out deals, played by the scalar rules.\n\n"
        "As whole sides, each deal twice, with sides changed over:\n\n"
        f"{tables(sides)}\n\n"
        "In one seat, the others played by heuristic:\n\n"
        f"{tables(seat)}\n\n"
        "Data: [games-expert-team.csv](games-expert-team.csv), [games-expert-single.csv](games-expert-single.csv)."
    )


def _summary(measured: tuple[evaluate.Report, evaluate.Report] | str, population: Population) -> str:
    if isinstance(measured, str):
        lines = [f"no expert: {measured}"]
    else:
        sides, seat = measured
        lines = [f"whole sides: {verdict_of(sides)}", f"one seat: {verdict_of(seat)}"]
    return summary("Avalon, networks for all seats", [*lines, *report.verdicts(population)])
