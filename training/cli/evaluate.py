"""`parlour evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError, accept, check_one_of
from parlour.envs.registry import lookup
from parlour.policies import asks_a_model, make_policy
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, games_at_once, seated
from parlour.training.measure import evaluate as evaluation
from parlour.training.measure.evaluation_tables import games_table, report_of
from parlour.training.play import rollout, seeds
from parlour.training.play.extras import import_extra
from parlour.training.play.failures import Failures
from parlour.training.play.named_table import named_table
from parlour.training.play.runner import GameRunner
from parlour.training.play.stored_games import games_folder
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.report.result_table import Column, ResultTable, rate_column
from parlour.training.report.verdicts import WIN_RATE, compared, together

DESIGNS = ("single", "team", "stranger")
_RESPONSES: Final = (
    *map(Column, ("side", "against")),
    rate_column("response wins"),
    rate_column("the player itself"),
    Column("gain in points", "+.1f", 100),
    Column("decisions", ","),
    Column("processor time", ",.0f", unit=" s"),
)


def evaluate(
    model: ModelOption,
    table: common.GameOptions,
    ray: common.RayOptions,
    failures: common.FailureOptions,
    game: common.AnyGameArgument = None,
    policy: Annotated[
        list[str] | None, "Player to measure, repeatable; compared with the first; None: heuristic."
    ] = None,
    against: Annotated[str, "Player of the other seats, or of the other side."] = "heuristic",
    design: Annotated[
        str,
        "`single`: one seat, in turn; `team`: a whole side, then the other; `stranger`: one seat among each `--family`.",
    ] = "single",
    family: Annotated[
        list[str] | None,
        "Player of all other seats with --design stranger, repeatable; compared in the same seat, unless a second --policy is.",
    ] = None,
    games: Annotated[int, typer.Option(min=1), "Number of deals."] = 200,
    seat: Annotated[int | None, typer.Option(min=0), "Always this seat; None: each in turn."] = None,
    seed: Annotated[int, typer.Option(min=0), "Number of the first deal among the held-out ones."] = 0,
    best_response: Annotated[
        str | None, "Side that learns to beat the player, or `all`: a lower bound of how exploitable the player is."
    ] = None,
    minutes: Annotated[
        float | None, "Processor time of each best response, in minutes; None: 4, without `steps`."
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1),
        "Decisions that each best response learns from, instead of minutes: the same on every machine.",
    ] = None,
    csv: Annotated[Path | None, typer.Option("--table"), "File for the games as CSV."] = None,
    out: Annotated[Path | None, "Directory for the transcripts, report.md and games.csv."] = None,
    resume: common.ResumeOption = False,
) -> Report:
    """Measure players on the same deals, with intervals and paired comparisons.

    Example: [bold]parlour evaluate avalon_v0 --policy runs/seat/policy.npz --policy expert[/bold]
    """
    names = policy or ["heuristic"]
    game, options = named_table(game, table.chosen, (*names, against, *(family or ())))
    if best_response is not None:
        unread = {"against": against != "heuristic", "design": design != "single", "resume": resume}
        unread |= {"seat": seat is not None, "table": csv is not None, "out": out is not None}
        for option in (option for option, given in unread.items() if given):
            raise ParlourError(f"--{option} is not accepted with --best-response; accepted: --{option} without it")
        if minutes is not None and steps is not None:
            raise ParlourError("--minutes and --steps are not accepted together; accepted: one of them")
        budget = {"minutes": minutes, "steps": steps, "deals": games, "first_deal": seed}
        chosen = {key: limit for key, limit in budget.items() if limit is not None}
        return _best_responses(best_response, names, game, options, chosen)
    for option, amount in (("minutes", minutes), ("steps", steps)):
        if amount is not None:
            raise ParlourError(f"--{option} goes with --best-response")
    check_one_of("design", design, DESIGNS)
    if (design == "stranger") != bool(family):
        raise ParlourError("--design stranger and --family go together; accepted: both, or neither")
    if design == "stranger":
        unread = {"against": against != "heuristic", "seat": seat is not None, "table": csv is not None}
        unread |= {"out": out is not None, "resume": resume}
        for option in (option for option, given in unread.items() if given):
            raise ParlourError(f"--{option} is not accepted with --design stranger; accepted: --{option} without it")
        return _strangers(names, family or [], game, options, seeds.HELD_OUT[seed : seed + games], failures, model)
    if seat is not None and design != "single":
        raise ParlourError("--seat goes with --design single")
    env = rollout.table(game, **options)
    base = env.game_env
    if seat is not None and seat >= base.game.seats:
        raise accept("seat", seat, range(base.game.seats))

    makers = {name: partial(make_policy, name, base.spec.id, base.game.config, model) for name in (*names, against)}
    for make in makers.values():
        make()  # an error before the first game
    if design == "team" and len(names) > 1:
        raise ParlourError(f"{len(names)} policies; accepted with --design team: one, and --against")
    deals = seeds.HELD_OUT[seed : seed + games]
    workers = games_at_once(makers, model)
    candidates = {seated(name, model): makers[name] for name in names}
    opponents = (seated(against, model), makers[against])
    settings: dict[str, Any] = {
        "command": "evaluate",
        "design": design,
        "policies": list(candidates),
        "against": opponents[0],
    }
    settings |= {"games": games, "seat": seat, "seed": seed, "on_failure": failures.on_failure}
    storage = games_folder(out, base, f"evaluate-{design}", settings, resume=resume)
    asking = any(map(asks_a_model, makers))
    note = f"; agents answered by {model.called}" if asking else ""
    with storage, ray.pool(model) as pool, display.progress_line() as progress:
        runner = GameRunner(workers, pool, progress, failures, out, resume)
        if design == "single":
            measured = evaluation.single(env, candidates, opponents, deals, runner, seat)
        else:
            first = next(iter(candidates.items()))
            measured = evaluation.team(env, first, opponents, deals, runner)
        report = report_of(measured, note, model.name if asking else "")
        if out is not None:
            report.write(out)
    if csv is not None:
        games_table(measured).write_csv(csv)
    return report


def _strangers(
    policy: list[str],
    families: list[str],
    game: str,
    options: dict[str, Any],
    deals: Sequence[int],
    failures: Failures,
    model: Any,
) -> Report:
    """Seat a player among each family."""
    if len(policy) > 2:
        raise ParlourError(f"{len(policy)} policies; accepted with --design stranger: one, or two to compare")
    own, beside = policy[0], policy[1] if len(policy) > 1 else None
    module = import_extra("parlour.training.learn.batch.matches", "train")
    with display.progress_line() as progress:
        runner = GameRunner(games_at_once((*policy, *families), model), progress=progress, failures=failures)
        table = module.StrangersTable(game, options)
        result = module.among_families(table, own, families, deals, runner, model, beside)
    scored = [(s.family, s.what, s.policy.n, s.policy, s.reference, s.difference) for s in result.scores]
    means = [("mean", what, mean.n, "", "", mean) for what, mean in result.mean.items()]
    columns = (
        *map(Column, ("among", "as", "n")),
        rate_column(f"{own} wins"),
        rate_column(f"{beside or 'family'} wins there"),
        Column("difference in points", "+.1f", 100),
    )
    title = f"{own} in one seat among strangers, on the same deals (95 % interval)"
    verdict = compared(own, f"{beside or 'the families'} in that seat", result.mean["all"], WIN_RATE)
    return Report(title, verdict, (ResultTable(title, columns, (*scored, *means), wrap=True),), values=plain(result))


def _best_responses(side: str, policy: list[str], game: str, options: dict[str, Any], budget: dict[str, Any]) -> Report:
    """Train a best response for one side, or for each."""
    if len(policy) > 1:
        raise ParlourError(f"{len(policy)} policies; accepted with --best-response: one")
    module = import_extra("parlour.training.learn.selfplay.best_response", "train")
    sides = evaluation.two_sides(lookup(game).spec)
    check_one_of("best-response", side, ("all", *sides))
    responses = []
    with display.progress_line() as progress:
        for own in sides if side == "all" else (side,):
            config = module.BestResponseConfig(game=game, options=options, against=policy[0], side=own, **budget)
            responses.append(module.best_response(config, progress))
    rows = tuple((r.side, r.against, r.response, r.player, r.gain, r.steps, r.seconds) for r in responses)
    title = "Best responses: the gain is a lower bound of how exploitable the player is"
    gain = sum(response.gain.value for response in responses)
    total = (f"sum of the gains: {gain:.3f}",) if len(responses) > 1 else ()
    values = {"best_responses": [plain(response) for response in responses]}
    parts = (ResultTable(title, _RESPONSES, rows, wrap=True), *total)
    return Report(title, together(map(_exploited, responses)), parts, values=values)


def _exploited(response: Any) -> str:
    gain = WIN_RATE.told(response.gain)
    if response.gain.clear and response.gain.value > 0:
        return f"Exploitable: as {response.side}, a best response gains {gain} over {response.against} itself."
    return f"As {response.side}, no gain of a best response over {response.against} itself was shown: {gain}; a longer one may find one."
