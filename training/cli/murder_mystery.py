"""`parlour murder-mystery play | compare | ratings`: murder mysteries measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.core import ParlourError, accept
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.vocabulary.quiz import QUESTION_KINDS, SORTS
from parlour.training import display, rollout, seeds
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption, called
from parlour.training.cli.options import Answer, Options
from parlour.training.cli.reproduce import show_reproduction
from parlour.training.murder_mystery import ratings, scores
from parlour.training.murder_mystery.games import GAME, CaseJob, CaseResult, CaseSetting, play_all
from parlour.training.murder_mystery.methods import METHODS, method_of
from parlour.training.murder_mystery.quiz import Mark
from parlour.training.reproduce import ReproductionSetting
from parlour.training.reproduce.questum import comparison

_METHOD_HELP: Final = (
    f"{', '.join(METHODS)}; or an agent with settings. Repeatable: methods are played one after another"
)
_QUIZ_KINDS: Final = (scores.OVERALL, *SORTS.values(), *QUESTION_KINDS)


def play_case(
    model: ModelOption,
    case: Annotated[str, "Shipped case, seed:N[:zh], JSON file of a case, or WellPlay directory."],
    setting: Annotated[CaseSetting, Options()],
    method: Annotated[list[str] | None, typer.Option("--method", "-m"), f"{_METHOD_HELP}; None: questum."] = None,
    quiz: Annotated[bool, "Ask everybody all questions after the game."] = True,
    workers: common.WorkersOption = 1,
    seed: common.SeedOption = 0,
    out: common.TranscriptsOption = None,
) -> Answer:
    """Play one case with each method, quiz everybody, and show verdicts, right answers by kind, and costs.

    Example: [bold]parlour murder-mystery play --case harbour_en --method questum --method pp[/bold]
    """
    found = find(case)
    table = setting if quiz else replace(setting, repetitions=0)
    rollout.table(GAME, case=case, **table.options)  # an error before the first game
    jobs = [
        CaseJob(case, one, seed, table, transcript=out / f"{_file(one.name)}.jsonl" if out and one.policy else None)
        for one in map(method_of, method or ["questum"])
    ]
    with display.progress_bar() as bar:
        games = play_all(jobs, model, workers=workers, progress=bar, what=found.title)
    value = {"case": case, "title": found.title, "model": model.name, "games": [_as_json(one) for one in games]}
    return Answer(value, partial(_show_case_results, found, games, called(model)))


def _file(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._" else "-" for letter in name)


def _as_json(one: CaseResult) -> dict[str, Any]:
    """One game as plain values."""
    return {
        "method": one.method,
        "seed": one.seed,
        "victims": one.victims,
        "solved": one.solved,
        "verdicts": [verdict._asdict() for verdict in one.verdicts],
        "right": {of: share for of in _QUIZ_KINDS if (share := _right(one.marks, of))},
        "omniscient": {scores.OVERALL: _right(one.omniscient)} if one.omniscient else None,
        "questions_asked": one.asked,
        "play": one.play.as_json(),
        "quiz": one.quiz.as_json(),
    }


def _right(marks: Sequence[Mark], of: str = scores.OVERALL) -> dict[str, Any] | None:
    found = scores.score(marks, of)
    if found is None:
        return None
    mean, deviation = scores.over_repetitions(found)
    return {"mean": round(mean, 6), "deviation": deviation, "weight": found.weight, "shares": found.shares}


def _show_case_results(case: Any, games: list[CaseResult], answered_by: str) -> None:
    verdicts = []
    for one in games:
        for verdict in one.verdicts:
            name = "nobody" if verdict.found < 0 else case.names[verdict.found]
            judged = "solved" if verdict.solved else "not solved" if verdict.counts else "no player did it: not counted"
            verdicts.append((one.method, case.victims[verdict.victim].name, name, judged))
    headings = ("method", "victim", "found", "verdict")
    display.show_table(f"{case.title}; answered by {answered_by}", headings, verdicts)
    if games[0].marks:
        answers = []
        for of in _QUIZ_KINDS:
            cells = [_right(one.marks, of) for one in games]
            if cells[0] is not None:
                weight = f"{cells[0]['weight']}{' points' if of == scores.OVERALL else ''}"
                answers.append((of, weight, *(f"{c['mean']:.3f} ±{c['deviation']:.3f}" if c else "-" for c in cells)))
        title = "Right answers (overall: points; ±: over repetitions)"
        display.show_table(title, ("of", "n", *(one.method for one in games)), answers)
    _show_costs(games)


def _show_costs(games: list[CaseResult]) -> None:
    rows = []
    for one in games:
        for stage, took, asked in (("play", one.play, str(one.asked)), ("quiz", one.quiz, "")):
            dollars = "unknown" if took.dollars is None else f"{took.dollars:.4f}"
            tokens = str(took.prompt + took.completion)
            rows.append((one.method, stage, asked, str(took.asked), tokens, dollars, f"{took.seconds:.2f}"))
    asking = ("asked by players", "questions to the model", "tokens", "dollars", "seconds")
    display.show_table("Costs", ("method", "stage", *asking), rows)


def compare_methods(
    model: ModelOption,
    setting: Annotated[
        ReproductionSetting,
        Options(exclude=("games", "practice", "model", "pool", "seed", "against", "ours", "progress")),
    ],
    ray: common.RayOptions,
    method: Annotated[list[str] | None, typer.Option("--method", "-m"), f"{_METHOD_HELP}; None: all."] = None,
    games: Annotated[int, typer.Option(min=2), "Number of generated cases."] = 50,
    targets: Annotated[
        int | None, typer.Option(min=1), "Most players whom a seat may ask about a victim in a round; None: everybody."
    ] = None,
    seed: Annotated[int, typer.Option(min=0), "Number of the first case among the held-out ones."] = 0,
) -> Answer:
    """Compare methods on the same cases, the first one with each of the others. With --out, resumes if it exists.

    Example: [bold]parlour murder-mystery compare --method questum --method mystery_ocot --method pp --games 50[/bold]
    """
    names = method or list(METHODS)
    if len(set(names)) < len(names):
        raise ParlourError(f"methods {', '.join(names)} are not accepted; accepted: each once")
    if seed > len(seeds.HELD_OUT) - games:
        raise accept("seed", seed, range(len(seeds.HELD_OUT) - games + 1))
    with ray.pool(model) as pool, display.progress_bar() as bar:
        setting = replace(setting, games=games, practice=0, model=model, pool=pool, seed=seed, progress=bar)
        found = comparison("compare", setting, {name: method_of(name) for name in names}, targets)
    return Answer(found.as_json(), partial(show_reproduction, found, model))


def show_ratings(
    directory: Annotated[Path, typer.Argument(), "Directory with transcripts that people have rated."],
) -> Answer:
    """Summarise people's ratings of the other players: five scales from 1 to 5, mean and deviation.

    `parlour play murder_mystery_v0 --policy questum --policy player_0=human --out DIR` asks for ratings after the game.

    Example: [bold]parlour murder-mystery ratings runs/people[/bold]
    """
    found = ratings.of_directory(directory)
    summed = ratings.summary(found)
    rows = {method: {scale: row._asdict() for scale, row in of.items()} for method, of in summed.items()}
    return Answer({"ratings": [asdict(one) for one in found], "summary": rows}, partial(_show_summary, summed))


def _show_summary(summed: Any) -> None:
    rows = []
    for scale in (*ratings.NAMES, "overall"):
        cells = [of.get(scale) for of in summed.values()]
        rows.append((scale, *("-" if c is None else f"{c.mean:.2f} ±{c.deviation:.2f}  n={c.n}" for c in cells)))
    display.show_table("Ratings by people, 1 to 5 (mean ± deviation, n)", ("scale", *summed), rows)
