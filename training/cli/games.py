"""`parlour play`, `parlour evaluate`."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs.core import GameText, ParlourError, accept, check_one_of
from parlour.envs.registry import lookup
from parlour.envs.terminal import tell, tell_text
from parlour.envs.text import end_of, was
from parlour.policies import HumanPolicy, asks_a_model, make_policy
from parlour.policies.llm.decisions import Decisions
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, called, games_at_once, seated
from parlour.training.cli.options import Answer
from parlour.training.measure import evaluate as evaluation
from parlour.training.measure.statistics import plain, show_interval
from parlour.training.play import rollout, seeds
from parlour.training.play.extras import import_extra
from parlour.training.play.named_table import named_table
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.runner import GameRunner
from parlour.training.play.stored_games import games_folder
from parlour.training.results import display
from parlour.training.results.decision_tables import decision_parts
from parlour.training.results.evaluation_tables import report_parts, show_rate, verdict_of
from parlour.training.results.pages import evaluation_page
from parlour.training.results.progress import no_progress
from parlour.training.results.result_table import ResultTable, plain_table
from parlour.training.results.verdicts import WIN_RATE, together


def play(
    model: ModelOption,
    table: common.GameOptions,
    ray: common.RayOptions,
    failures: common.FailureOptions,
    game: common.AnyGameArgument = None,
    policy: Annotated[
        list[str] | None,
        "A player for all seats; or a player for each seat, in order; or player_0=NAME for single seats; None: heuristic.",
    ] = None,
    seed: common.SeedOption = 0,
    games: Annotated[int, typer.Option(min=1), "Number of games, on consecutive seeds."] = 1,
    on_bad: Annotated[
        str, "Handling of text that cannot be used: ask_again, default, random, raise or forfeit."
    ] = "ask_again",
    out: common.TranscriptsOption = None,
    resume: common.ResumeOption = False,
    json: Annotated[bool, typer.Option("--json"), "Print JSON instead of the games."] = False,
) -> None:
    """Play games and print their public record.

    Example: [bold]parlour play avalon_v0 --policy heuristic --policy player_0=human --out runs/mine[/bold]
    """
    game, options = named_table(game, table.chosen, players_named(policy or []))
    env = rollout.table(game, on_bad=on_bad, **options)
    base = env.game_env
    names = seat_names(policy or ["heuristic"], base.possible_agents)
    game = base.spec.id
    makers = {name: partial(make_policy, name, game, base.game.config, model) for name in names}
    players_of = tuple((seated(one, model), makers[one]) for one in names)
    files = [None if out is None else out / f"{game}-{number}.jsonl" for number in range(1, games + 1)]
    jobs = [Job(seed + number, players_of, file) for number, file in enumerate(files)]
    seats = dict(zip(base.possible_agents, (one for one, _ in players_of), strict=True))
    made = dict.fromkeys(seats, Decisions())
    results: dict[int, dict[str, Any]] = {}

    def keep(number: int, played: rollout.Episode | rollout.Unfinished) -> None:
        for agent, one in zip(seats, played.decisions, strict=True):
            made[agent] += one
        results[number] = _result(played, seats)

    def show(number: int, episode: rollout.Episode) -> None:
        if not json:
            _show_game(base.text, episode, heading=games > 1)
        _collect_ratings(game, names, files[number], base)
        keep(number, episode)

    def skip(number: int, given_up: rollout.Unfinished) -> None:
        if not json:
            tell(f"--- seed {given_up.seed}: not finished after {given_up.moves} moves ({given_up.why})")
        keep(number, given_up)

    workers = 1 if HumanPolicy.name in names else games_at_once(names, model)
    settings = {"players": seats, "seed": seed, "on_bad": on_bad, "on_failure": failures.on_failure}
    watched = nullcontext(no_progress) if HumanPolicy.name in names else display.progress_line(redraw=False)
    held = games_folder(out, base, "play", settings, resume=resume)
    with held, ray.pool(model) as pool, watched as progress:
        runner = GameRunner(workers, pool, progress, failures, resume=resume)
        runner.play_each(env, jobs, show, skip=skip)
    if json:
        display.print_json([results[number] for number in sorted(results)])
    else:
        display.show(*decision_parts({f"{agent}: {one}": made[agent] for agent, one in seats.items()}))


def _collect_ratings(game: str, names: list[str], file: Path | None, base: Any) -> None:
    """After a murder mystery with a transcript, people rate the other players; see `murder-mystery ratings`."""
    if game != "murder_mystery_v0" or file is None:
        return
    from parlour.training.measure.murder_mystery import ratings

    if ratings.path_of(file).exists():  # of a game before this run went on
        return
    for agent, one in zip(base.possible_agents, names, strict=True):
        if one == HumanPolicy.name:
            tell(f"--- {agent}")
            ratings.store(file, agent, ratings.ask(input, tell, base.game.language))


def seat_names(given: list[str], agents: list[str]) -> list[str]:
    """Which policy sits where. Raises `ParlourError` for a seat that the table does not have.

    >>> seat_names(["heuristic", "player_1=human"], ["player_0", "player_1"])
    ['heuristic', 'human']
    >>> seat_names(["avalon_agent:without=plan"], ["player_0"])
    ['avalon_agent:without=plan']
    """
    seated_by_name = [one for one in given if _names_a_seat(one)]
    plain = [one for one in given if one not in seated_by_name]
    named = dict(one.split("=", 1) for one in seated_by_name)
    for agent in named:
        check_one_of("seat", agent, agents)
    if len(plain) not in (0, 1, len(agents)):
        raise ParlourError(f"{len(plain)} policies; accepted: one for all seats, or one for each of {len(agents)}")
    seats = plain if len(plain) == len(agents) else (plain or ["heuristic"]) * len(agents)
    return [named.get(agent, seats[number]) for number, agent in enumerate(agents)]


def players_named(given: list[str]) -> list[str]:
    """The policies that are named, without the seats before them.

    >>> players_named(["heuristic", "player_1=runs/seat/policy.npz"])
    ['heuristic', 'runs/seat/policy.npz']
    """
    return [one.split("=", 1)[1] if _names_a_seat(one) else one for one in given]


def _names_a_seat(policy: str) -> bool:
    return "=" in policy and ":" not in policy.partition("=")[0]


def _result(played: rollout.Episode | rollout.Unfinished, seats: dict[str, str]) -> dict[str, Any]:
    decisions = zip(seats.items(), played.decisions, strict=True)
    players = {"players": {agent: {"player": one, **made.as_json()} for (agent, one), made in decisions}}
    if isinstance(played, rollout.Unfinished):
        return {"seed": played.seed, "unfinished": played.why, "moves": played.moves, **players}
    outcome = played.outcome
    faults = {agent: dict(counts) for agent, counts in played.faults.items()}
    result = {"winner": outcome.winner, "reason": outcome.reason, "returns": list(outcome.returns)}
    return {"seed": played.seed, **result, "moves": played.moves, "faults": faults, **players}


def _show_game(text: GameText[Any], episode: rollout.Episode, *, heading: bool) -> None:
    if heading:
        tell(f"--- seed {episode.seed}")
    for event in episode.last_views[0].events:
        if event.to is None:
            tell_text(text.line(event).rstrip("\n"))
    for view in episode.last_views:
        told = was(text, view)
        if told:
            tell(told)
    tell(end_of(text, episode.outcome))


DESIGNS = ("single", "team")


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
    design: Annotated[str, "`single`: one seat, in turn; `team`: a whole side, then the other."] = "single",
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
    html: Annotated[Path | None, "File for the report as a page: tables that sort, the win rates as a picture."] = None,
    out: common.TranscriptsOption = None,
    resume: common.ResumeOption = False,
) -> Answer:
    """Measure players on the same deals, with intervals and paired comparisons.

    Example: [bold]parlour evaluate avalon_v0 --policy runs/seat/policy.npz --policy expert[/bold]
    """
    names = policy or ["heuristic"]
    game, options = named_table(game, table.chosen, (*names, against))
    if best_response is not None:
        unread = {"against": against != "heuristic", "design": design != "single", "resume": resume}
        unread |= {"seat": seat is not None, "table": csv is not None, "html": html is not None, "out": out is not None}
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
    if html is not None:
        evaluation_page.check_out(html)
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
    held = games_folder(out, base, f"evaluate-{design}", settings, resume=resume)
    with held, ray.pool(model) as pool, display.progress_line() as progress:
        runner = GameRunner(workers, pool, progress, failures, out, resume)
        if design == "single":
            report = evaluation.single(env, candidates, opponents, deals, runner, seat)
        else:
            first = next(iter(candidates.items()))
            report = evaluation.team(env, first, opponents, deals, runner)
    if csv is not None:
        evaluation.write_table(report, csv)
    asking = any(map(asks_a_model, makers))
    value = {**report.as_json(), **({"model": model.name} if asking else {})}
    note = f"; agents answered by {called(model)}" if asking else ""
    if html is not None:
        evaluation_page.write_page(html, report, note)
    return Answer(value, report_parts(report, note), verdict=verdict_of(report))


def _best_responses(side: str, policy: list[str], game: str, options: dict[str, Any], budget: dict[str, Any]) -> Answer:
    """Train a best response for one side, or for each."""
    if len(policy) > 1:
        raise ParlourError(f"{len(policy)} policies; accepted with --best-response: one")
    module = import_extra("parlour.training.learn.selfplay.best_response", "train")
    sides = evaluation.two_sides(lookup(game).spec)
    check_one_of("best-response", side, ("all", *sides))
    found = []
    with display.progress_line() as progress:
        for own in sides if side == "all" else (side,):
            config = module.BestResponseConfig(game=game, options=options, against=policy[0], side=own, **budget)
            found.append(module.best_response(config, progress))
    value = {"best_responses": [plain(one) for one in found]}
    return Answer(value, _best_response_parts(found), verdict=together(map(_exploited, found)))


def _exploited(one: Any) -> str:
    told = WIN_RATE.told(one.gain)
    if one.gain.clear and one.gain.value > 0:
        return f"Exploitable: as {one.side}, a best response gains {told} over {one.against} itself."
    return f"As {one.side}, no gain of a best response over {one.against} itself was shown: {told}; a longer one may find one."


def _best_response_parts(found: list[Any]) -> list[ResultTable | str]:
    rows = [
        (
            *(one.side, one.against, show_rate(one.response), show_rate(one.player)),
            f"{100 * one.gain.value:+.1f} {show_interval(one.gain, '+.1f', 100)}",
            f"{one.steps:,}",
            f"{one.seconds:,.0f} s",
        )
        for one in found
    ]
    headings = (
        "side",
        "against",
        "response wins",
        "the player itself",
        "gain in points",
        "decisions",
        "processor time",
    )
    title = "Best responses: the gain is a lower bound of how exploitable the player is"
    total = [f"sum of the gains: {sum(one.gain.value for one in found):.3f}"] if len(found) > 1 else []
    return [plain_table(title, headings, rows, wrap=True), *total]
