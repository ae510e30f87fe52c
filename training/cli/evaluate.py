"""`parlour evaluate`, `evaluate strangers`, `evaluate best-response`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError, accept
from parlour.envs.settings import COMMON, Settings
from parlour.policies import asks_a_model, make_policy
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, games_at_once, prompts_setting, seated
from parlour.training.cli.options import Options
from parlour.training.learn.selfplay.config import BestResponseConfig
from parlour.training.measure import evaluate as evaluation
from parlour.training.measure.conventions import conventions_table
from parlour.training.measure.evaluation_tables import games_table, report_of
from parlour.training.play import rollout
from parlour.training.play.extras import import_extra
from parlour.training.play.named_table import named_table
from parlour.training.play.runner import GameRunner
from parlour.training.play.seeds import HeldOutDeals
from parlour.training.play.stored_games import games_folder
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.report.result_table import Column, ResultTable, rate_column
from parlour.training.report.verdicts import WIN_RATE, together
from parlour.training.runs.run import Run
from pydantic import Field, model_validator

DealOptions = Annotated[HeldOutDeals, Options()]
_RESPONSES: Final = (
    *map(Column, ("side", "against")),
    rate_column("response wins"),
    rate_column("the player itself"),
    Column("gain in points", "+.1f", 100),
    Column("decisions", ","),
    Column("processor time", ",.0f", unit=" s"),
)


class EvaluateSettings(Settings):
    """The players to measure, and their opponents.

    Raises:
        ParlourError: A seat, or several players, where whole sides are measured.
    """

    policy: Annotated[tuple[str, ...], COMMON] = ()
    """Player to measure, repeatable; compared with the first; None: heuristic."""
    against: Annotated[str, COMMON] = "heuristic"
    """Player of the other seats, or of the other side."""
    design: Annotated[Literal["single", "team"], COMMON] = "single"
    """`single`: one seat, in turn; `team`: a whole side, then the other."""
    seat: Annotated[int | None, COMMON] = Field(default=None, ge=0)
    """Always this seat; None: each in turn."""
    table: Path | None = None
    """File for the games as CSV."""

    @property
    def players(self) -> tuple[str, ...]:
        """The players to measure."""
        return self.policy or ("heuristic",)

    @model_validator(mode="after")
    def _fits_the_design(self) -> Self:
        if self.design == "team" and self.seat is not None:
            raise ParlourError("--seat goes with --design single")
        if self.design == "team" and len(self.policy) > 1:
            raise ParlourError(f"{len(self.policy)} policies; accepted with --design team: one, and --against")
        return self


def evaluate(
    settings: Annotated[EvaluateSettings, Options(repeated=("policy",))],
    held_out: DealOptions,
    table: common.GameOptions,
    model: ModelOption,
    ray: common.RayOptions,
    failures: common.FailureOptions,
    game: common.AnyGameArgument = None,
    out: Annotated[Path | None, COMMON, "Directory for the transcripts, report.md and games.csv."] = None,
    resume: common.ResumeOption = False,
) -> Report:
    """Measure players on the same deals, with intervals and paired comparisons.

    Example: [bold]parlour evaluate avalon_v0 --policy runs/seat/policy.npz --policy expert[/bold]
    """
    against, design, seat = settings.against, settings.design, settings.seat
    game, options = named_table(game, table.chosen, (*settings.players, against))
    env = rollout.table(game, **options)
    base = env.game_env
    if seat is not None and seat >= base.game.seats:
        raise accept("seat", seat, range(base.game.seats))

    names = (*settings.players, against)
    makers = {name: partial(make_policy, name, base.spec.id, base.game.config, model) for name in names}
    for make in makers.values():
        make()  # an error before the first game
    workers = games_at_once(makers, model)
    candidates = {seated(name, model): makers[name] for name in settings.players}
    opponents = (seated(against, model), makers[against])
    if len(candidates) == 1 and not asks_a_model(against):
        candidates |= dict([opponents])  # what the player is compared with, unless it costs calls
    stored: dict[str, Any] = {
        "command": "evaluate",
        "design": design,
        "policies": list(candidates),
        "against": opponents[0],
    }
    stored |= {"games": held_out.games, "seat": seat, "seed": held_out.seed, "on_failure": failures.on_failure}
    stored |= prompts_setting(model)
    storage = games_folder(out, base, f"evaluate-{design}", stored, resume=resume)
    asking = any(map(asks_a_model, makers))
    answering = (
        model.called if model.is_language_model else f"their own {model.called}"
    )  # not by the player `heuristic`
    note = f"; agents answered by {answering}" if asking else ""
    with storage, ray.pool(model) as pool, display.progress_line(model=model) as progress:
        runner = GameRunner(workers, pool, progress, failures, out, resume, forecast=common.tell_forecast)
        if design == "single":
            measured = evaluation.single(env, candidates, opponents, held_out.seeds, runner, seat)
        else:
            first = next(iter(candidates.items()))
            measured = evaluation.team(env, first, opponents, held_out.seeds, runner)
        report = report_of(measured, note, model.name if asking else "")
        if out is not None:
            report.write(out)
            report = replace(report, parts=(*report.parts, f"transcripts, report.md, games.csv: {out}"))
    if settings.table is not None:
        games_table(measured).write_csv(settings.table)
    players = tuple(dict.fromkeys(names))
    seated_as = [
        "--against",
        against,
        "--design",
        design,
        *(word for name in settings.players for word in ("--policy", name)),
    ]
    again = ["parlour", "evaluate", game, *table.words, *seated_as]
    more = [*again, "--games", str(4 * held_out.games)]  # half as wide an interval
    compared = ["parlour", "arena", game, *table.words, *(word for name in players for word in ("--policy", name))]
    following = (
        shlex.join([*again, "--out", "runs/evaluate"])
        if out is None
        else f"parlour replay {shlex.quote(str(out / measured.worth_watching))} --html",
        shlex.join(compared if len(base.spec.sides) == 2 and len(players) > 1 else more),
    )
    return replace(report, following=following)


class StrangersSettings(Settings):
    """The players to measure, and the strangers around them.

    Raises:
        ParlourError: More than two players, no family, or one alone with cross-play.
    """

    policy: Annotated[tuple[str, ...], COMMON] = ()
    """Player in one seat; given twice, the second is compared with the first there; None: heuristic, compared with the family."""
    family: Annotated[tuple[str, ...], COMMON] = ()
    """Player of all other seats, repeatable; each plays the seat, too, for comparison, unless a second --policy does."""
    crossplay: bool = False
    """Also seat each family among each other one: zero-shot cross-play."""

    @model_validator(mode="after")
    def _has_strangers(self) -> Self:
        if not self.family:
            raise ParlourError("there are no strangers; accepted: --family PLAYER, once or more")
        if len(self.policy) > 2:
            raise ParlourError(f"{len(self.policy)} policies; accepted: one, or two to compare")
        if self.crossplay and len(set(self.family)) < 2:
            raise accept("family", self.family[0], "two players or more with --crossplay")
        return self


def evaluate_strangers(
    settings: Annotated[StrangersSettings, Options(repeated=("policy", "family"))],
    held_out: DealOptions,
    table: common.GameOptions,
    model: ModelOption,
    failures: common.FailureOptions,
    game: common.AnyGameArgument = None,
    out: Annotated[Path | None, COMMON, "Directory for report.md, summary.json and conventions.csv."] = None,
) -> Report:
    """Measure a player in one seat among others that it was not trained with, beside those. Needs the extra `train`.

    In Avalon and Werewolf it also counts conventions: votes and claims in that seat.

    Example: [bold]parlour evaluate strangers avalon_v0 --policy expert --family logic[/bold]
    """
    own = settings.policy[0] if settings.policy else "heuristic"
    beside = settings.policy[1] if len(settings.policy) > 1 else None
    game, options = named_table(game, table.chosen, (*settings.policy, *settings.family))
    module = import_extra("parlour.training.learn.batch.matches", "train")
    with display.progress_line(model=model) as progress:
        at_once = games_at_once((*settings.policy, *settings.family), model)
        runner = GameRunner(at_once, progress=progress, failures=failures, forecast=common.tell_forecast)
        seats = module.StrangersTable(game, options)
        result = module.among_families(seats, own, settings.family, held_out.seeds, runner, model, beside)
        players = tuple(dict.fromkeys(settings.family)) if settings.crossplay else ()
        crossed = module.crossplay(seats, players, held_out.seeds, runner, model) if players else None
    scored = [(s.family, s.what, s.policy.n, s.policy, s.reference, s.difference) for s in result.scores]
    means = [("mean", what, mean.n, "", "", mean) for what, mean in result.mean.items()]
    columns = (
        *map(Column, ("among", "as", "n")),
        rate_column(f"{own} wins"),
        rate_column(f"{beside or 'family'} wins there"),
        Column("difference in points", "+.1f", 100),
    )
    title = f"{own} in one seat among strangers, on the same deals (95 % interval)"
    verdict = WIN_RATE.compared(own, f"{beside or 'the families'} in that seat", result.mean["all"])
    tables = [ResultTable(title, columns, (*scored, *means), wrap=True)]
    tables += [_crossplay_table(crossed)] if crossed else []
    values = {**plain(result), **({"crossplay": plain(crossed)} if crossed else {})}
    report = Report(title, verdict, tuple(tables), values=values)
    if rows := result.conventions:
        shown = conventions_table([row for row in rows if row.among == rows[-1].among])
        report = replace(report, parts=(*tables, shown), data=(conventions_table(rows, "conventions.csv"),))
    if out is not None:
        with Run(out).opened() as folder:
            report.write(folder)
    return report


def _crossplay_table(crossed: Any) -> ResultTable:
    """Zero-shot cross-play of the families."""
    first = ("all", crossed.other, crossed.own, crossed.difference["all"])
    sides = ((what, None, None, gap) for what, gap in crossed.difference.items() if what != "all")
    columns = (
        *(Column("as"), rate_column("among others"), rate_column("among its own")),
        Column("difference in points", "+.1f", 100),
    )
    title = f"Zero-shot cross-play of {len(crossed.players)} players: each in one seat among each other one"
    return ResultTable(title, columns, (first, *sides), wrap=True)


def evaluate_best_response(
    config: Annotated[
        BestResponseConfig,
        Options(
            exclude=("game", "options", "deals", "first_deal", "features", "hidden", "seed"),
            rename={"against": "--policy"},
        ),
    ],
    held_out: DealOptions,
    table: common.GameOptions,
    game: common.AnyGameArgument = None,
) -> Report:
    """Train a best response to a player: a lower bound of how exploitable it is. Needs the extra `train`.

    Example: [bold]parlour evaluate best-response avalon_v0 --policy runs/selfplay/policy.npz --side evil --steps 4000000[/bold]
    """
    game, options = named_table(game, table.chosen, [config.against])
    module = import_extra("parlour.training.learn.selfplay.best_response", "train")
    config = config.replace(game=game, options=options, deals=held_out.games, first_deal=held_out.seed)
    with display.progress_line() as progress:
        responses = module.best_responses(config, progress)
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
