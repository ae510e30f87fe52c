"""`parlour arena`: all players of a game against each other, on all sides of common deals, and how strong they are."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.core import ParlourError
from parlour.envs.settings import COMMON
from parlour.policies import HumanPolicy, asks_a_model, make_policy, players_of
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, seated
from parlour.training.cli.options import Options
from parlour.training.measure.arena.config import ArenaConfig
from parlour.training.measure.arena.report import as_json, report_of
from parlour.training.measure.arena.run import arena as play_arena
from parlour.training.measure.decision_tables import decision_parts
from parlour.training.play import rollout
from parlour.training.play.named_table import named_table
from parlour.training.play.runner import GameRunner
from parlour.training.play.seeds import HeldOutDeals
from parlour.training.report import display
from parlour.training.report.report import PAGE_FILE, Report


def arena(
    held_out: Annotated[HeldOutDeals, Options(defaults={"games": 100})],
    table: common.GameOptions,
    processes: common.ProcessOptions,
    model: ModelOption,
    failures: common.FailureOptions,
    game: common.AnyGameArgument = None,
    policy: Annotated[
        list[str] | None,
        COMMON,
        "Player, repeatable; None: all that fit the table and need neither a file nor a person.",
    ] = None,
    resamples: Annotated[int, typer.Option(min=100), "How often the deals are resampled for the intervals."] = 2000,
    out: Annotated[
        Path | None,
        COMMON,
        "Run directory, for games, tables and the picture; resumes if it exists, with more deals too; None: nothing is stored.",
    ] = None,
) -> Report:
    """Rate players: on each deal every player meets every player on both sides. Reports intervals and cycles.

    Example: [bold]parlour arena avalon_v0 --games 200 --workers 2 --out runs/arena[/bold]
    """
    game, options = named_table(game, table.chosen, policy or ())
    env = rollout.table(game, **options)
    base = env.game_env
    name, setup = base.spec.id, base.game.config
    names = policy or players_of(name, setup)
    if HumanPolicy.name in names:
        raise ParlourError("policy 'human' is not accepted in an arena; accepted: players that play by themselves")
    raw = {seated(player, model): player for player in names}
    players = tuple(seated(player, model) for player in names)
    config = ArenaConfig(
        players=players, game=name, options=dict(setup), **dict(held_out), resamples=resamples, failures=failures
    )
    makers = {player: partial(make_policy, raw[player], name, setup, model) for player in raw}
    for make in makers.values():
        make()  # an error before the first game
    asking = {player for player in raw if asks_a_model(raw[player])}
    if model.is_language_model and asking and processes.workers != 1:
        raise ParlourError(f"--workers {processes.workers} goes without a language model; accepted: --concurrency")
    with processes.opened(model) as pool, display.progress_line(model=model) as progress:
        result = play_arena(
            env, config, makers, out, GameRunner(model.concurrency, pool, progress, forecast=common.tell_forecast)
        )
    report = report_of(result, f"; agents answered by {model.called}" if asking else "")
    files = [] if out is None else [f"report: {out / PAGE_FILE}"]
    parts = (*report.parts, *decision_parts(result.decisions), *files)
    first, second = (*names, *names)[:2]
    pair = ["--policy", first, "--against", second, "--design", "team", "--out", "runs/evaluate"]
    following = (
        shlex.join(["parlour", "evaluate", name, *table.words, *pair]),
        "parlour replay runs/evaluate/game-001.jsonl --html",
    )
    return replace(
        report,
        parts=parts,
        following=following,
        values={**as_json(result), **({"model": model.name} if asking else {})},
    )
