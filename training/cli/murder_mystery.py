"""`parlour mystery play | compare | ratings`: murder mysteries measured."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.core import ParlourError, accept
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.vocabulary.quiz import QUESTION_KINDS, SORTS
from parlour.policies.llm.model import Model
from parlour.training import display, seeds
from parlour.training.cli import common
from parlour.training.cli.models import called, takes_model
from parlour.training.murder_mystery import ratings as rating
from parlour.training.murder_mystery import scores
from parlour.training.murder_mystery.games import CaseJob, CaseResult, CaseSetting, play_all
from parlour.training.murder_mystery.methods import METHODS, method_of

app = typer.Typer(help="Murder mysteries: play a case with a method and quiz everybody; ratings.", no_args_is_help=True)
MethodOption = Annotated[
    list[str] | None,
    typer.Option(
        "--method", "-m", help=f"{', '.join(METHODS)}; or an agent with settings. Several are played one after another."
    ),
]
RoundsOption = Annotated[int, typer.Option(min=1, help="Of questions.")]
RepetitionsOption = Annotated[int, typer.Option(min=1, help="Of the quiz.")]
QuestionsOption = Annotated[int, typer.Option(min=1, help="To one target at a time.")]
WorkersOption = Annotated[
    int,
    typer.Option(min=1, help="Processes that play; with a language model, games in flight. No result depends on it."),
]
TargetsOption = Annotated[
    int | None,
    typer.Option(min=1, help="Whom a seat may ask about a victim in a round, at most (everybody).", show_default=False),
]
_QUIZ_KINDS: Final = (scores.OVERALL, *SORTS.values(), *QUESTION_KINDS)


def play(
    model: Model,
    case: Annotated[str, typer.Option(help="A shipped case, seed:N[:zh], a case's JSON, or a WellPlay folder.")],
    method: MethodOption = None,
    rounds: RoundsOption = 3,
    questions: QuestionsOption = 1,
    targets: TargetsOption = None,
    rules: Annotated[str, typer.Option(help="questum (half of the votes) or player (most votes).")] = "questum",
    hearing: Annotated[str, typer.Option(help="all or two: who hears questions and answers.")] = "all",
    quiz: Annotated[bool, typer.Option(help="Ask everybody all questions after the game.")] = True,
    repetitions: RepetitionsOption = 3,
    workers: WorkersOption = 1,
    seed: common.SeedOption = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for the transcripts.", show_default=False)] = None,
    json: common.JsonOption = False,
) -> None:
    """Play one case with a method, quiz everybody, and tell the verdicts, right answers by kind, and what it took.

    Example: [bold]parlour mystery play --case harbour_en --method questum --method pp[/bold]
    """
    found = find(case)
    chosen = [method_of(name) for name in method or ["questum"]]
    table = CaseSetting(rounds, questions, targets, hearing, rules, repetitions if quiz else 0)
    jobs = [
        CaseJob(
            case,
            one,
            seed,
            table,
            transcript=None if out is None or not one.policy else out / f"{_file(one.name)}.jsonl",
        )
        for one in chosen
    ]
    with display.progress_bar() as bar:
        games = play_all(jobs, model, workers=workers, progress=display.Bar(bar), what=found.title)
    if json:
        common.print_json(
            {"case": case, "title": found.title, "model": model.name, "games": [told(one) for one in games]}
        )
    else:
        _show(found, games, model)


def _file(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._" else "-" for letter in name)


def told(one: CaseResult) -> dict[str, Any]:
    """One game as plain values."""
    shares = {of: _share(one, of) for of in _QUIZ_KINDS}
    return {
        "method": one.method,
        "seed": one.seed,
        "victims": one.victims,
        "solved": one.solved,
        "verdicts": [verdict._asdict() for verdict in one.verdicts],
        "right": {of: share for of, share in shares.items() if share is not None},
        "omniscient": None if not one.omniscient else {of: _right(one.omniscient, of) for of in (scores.OVERALL,)},
        "questions_asked": one.asked,
        "play": one.play.as_json(),
        "quiz": one.quiz.as_json(),
    }


def _share(one: CaseResult, of: str) -> dict[str, Any] | None:
    return _right(one.marks, of)


def _right(marks: Any, of: str) -> dict[str, Any] | None:
    found = scores.score(marks, of)
    if found is None:
        return None
    over = scores.over_repetitions(found)
    return {
        "mean": round(over.mean, 6),
        "deviation": over.deviation,
        "weight": found.weight,
        "shares": found.shares,
    }


def _show(case: Any, games: list[CaseResult], model: Model) -> None:
    out = common.console()
    verdicts = common.table(f"{case.title}; answered by {called(model)}", "method", "victim", "found", "verdict")
    for one in games:
        for verdict in one.verdicts:
            name = "nobody" if verdict.found < 0 else case.names[verdict.found]
            judged = "solved" if verdict.solved else "not solved" if verdict.counts else "no player did it: not counted"
            verdicts.add_row(one.method, case.victims[verdict.victim].name, name, judged)
    out.print(verdicts)
    if games[0].marks:
        shown = common.table(
            "Right answers (overall: points; ±: over repetitions)", "of", "n", *(g.method for g in games)
        )
        for of in _QUIZ_KINDS:
            cells = [_share(one, of) for one in games]
            if cells[0] is not None:
                weight = f"{cells[0]['weight']}{' points' if of == scores.OVERALL else ''}"
                shown.add_row(of, weight, *(f"{c['mean']:.3f} ±{c['deviation']:.3f}" if c else "-" for c in cells))
        out.print(shown)
    spent = common.table(
        "What it took",
        "method",
        "stage",
        "asked at the table",
        "questions to the model",
        "tokens",
        "dollars",
        "seconds",
    )
    for one in games:
        for stage, took, asked in (("play", one.play, str(one.asked)), ("quiz", one.quiz, "")):
            dollars = "unknown" if took.dollars is None else f"{took.dollars:.4f}"
            tokens = str(took.prompt + took.completion)
            spent.add_row(one.method, stage, asked, str(took.asked), tokens, dollars, f"{took.seconds:.2f}")
    out.print(spent)


def compare(
    model: Model,
    method: MethodOption = None,
    cases: Annotated[str, typer.Option(help="en or zh (generated, held out), or a folder of scripts or cases.")] = "en",
    games: Annotated[int, typer.Option(min=2, help="How many generated cases.")] = 50,
    targets: TargetsOption = None,
    repetitions: RepetitionsOption = 3,
    workers: WorkersOption = 1,
    ray: common.RayOption = None,
    ray_workers: common.RayWorkersOption = None,
    seed: Annotated[int, typer.Option(min=0, help="Number of the first case among the held-out ones.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for transcripts and a table.", show_default=False)] = None,
    json: common.JsonOption = False,
) -> None:
    """Compare methods on the same cases, the first one with each of the others.

    With --out it can be killed and called again.

    Example: [bold]parlour mystery compare --method questum --method mystery_ocot --method pp --games 50[/bold]
    """
    from parlour.training.cli.reproduce import show
    from parlour.training.reproduce import ReproductionSetting
    from parlour.training.reproduce.questum import comparison

    names = method or list(METHODS)
    if len(set(names)) < len(names):
        raise ParlourError(f"methods {', '.join(names)}; accepted: each once")
    if seed > len(seeds.HELD_OUT) - games:
        raise accept("seed", seed, range(len(seeds.HELD_OUT) - games + 1))
    with common.pool(ray, ray_workers, model) as pool, display.progress_bar() as bar:
        setting = ReproductionSetting(
            games=games,
            practice=0,
            model=model,
            workers=workers,
            pool=pool,
            seed=seed,
            out=out,
            progress=display.Bar(bar),
            cases=cases,
            repetitions=repetitions,
        )
        found = comparison("compare", setting, {name: method_of(name) for name in names}, targets)
    if json:
        common.print_json(found.as_json())
    else:
        show(found, model)


def ratings(
    directory: Annotated[Path, typer.Argument(help="Folder with transcripts that people have rated.")],
    json: common.JsonOption = False,
) -> None:
    """Summarise what people said of those they played with: five scales from 1 to 5, mean and deviation.

    `parlour play murder_mystery_v0 --policy questum --policy player_0=human --out DIR` asks for them after the game.

    Example: [bold]parlour mystery ratings runs/people[/bold]
    """
    found = rating.of_directory(directory)
    summed = rating.summary(found)
    if json:
        rows = {method: {scale: row._asdict() for scale, row in of.items()} for method, of in summed.items()}
        common.print_json({"ratings": [asdict(one) for one in found], "summary": rows})
        return
    shown = common.table("Ratings by people, 1 to 5 (mean ± deviation, n)", "scale", *summed)
    for scale in (*rating.NAMES, "overall"):
        cells = [of.get(scale) for of in summed.values()]
        shown.add_row(scale, *("-" if c is None else f"{c.mean:.2f} ±{c.deviation:.2f}  n={c.n}" for c in cells))
    common.console().print(shown)


app.command("play")(takes_model(play))
app.command("compare")(takes_model(compare))
app.command("ratings")(ratings)
