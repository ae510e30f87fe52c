"""`parlour murder-mystery play | compare`, and its cases as files: `cases make | show`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs.core import ParlourError, accept
from parlour.envs.murder_mystery.cases.case import Case, Character, digest, dump
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.generate import from_seed, tougher
from parlour.envs.murder_mystery.vocabulary.facts import say
from parlour.envs.murder_mystery.vocabulary.quiz import LETTERS, QUESTION_KINDS, SORTS
from parlour.policies.files import atomic_write, remove_parts_of
from parlour.policies.llm.decisions import Decisions
from parlour.training.cli import common
from parlour.training.cli.models import ModelOption
from parlour.training.cli.options import Options
from parlour.training.measure.decision_tables import decision_parts, marked, reasons
from parlour.training.measure.murder_mystery import scores
from parlour.training.measure.murder_mystery.games import GAME, CaseJob, CaseResult, CaseSetting, play_all
from parlour.training.measure.murder_mystery.methods import METHODS, method_of
from parlour.training.measure.murder_mystery.quiz import Mark
from parlour.training.papers.figures import picture_of
from parlour.training.papers.questum import by_budget, comparison, quiz_verdict
from parlour.training.papers.questum_games import MysterySetting
from parlour.training.papers.report import report_of
from parlour.training.play import rollout, seeds
from parlour.training.play.runner import GameRunner
from parlour.training.report import display
from parlour.training.report.report import Report
from parlour.training.report.result_table import Cell, Column, ResultTable, plain_table
from parlour.training.runs.run import Run

_METHOD_HELP: Final = (
    f"{', '.join(METHODS)}; or an agent with settings. Repeatable: methods are played one after another"
)
_QUIZ_KINDS: Final = (scores.OVERALL, *SORTS.values(), *QUESTION_KINDS)


def play_case(
    model: ModelOption,
    case: Annotated[str, "Shipped case, seed:N[:zh], JSON file of a case, or WellPlay directory."],
    setting: Annotated[CaseSetting, Options()],
    failures: common.FailureOptions,
    method: Annotated[list[str] | None, typer.Option("--method", "-m"), f"{_METHOD_HELP}; None: questum."] = None,
    quiz: Annotated[bool, "Ask everybody all questions after the game."] = True,
    workers: common.WorkersOption = 1,
    seed: common.SeedOption = 0,
    out: common.TranscriptsOption = None,
) -> Report:
    """Play one case with each method, quiz everybody, and show verdicts, right answers by kind, and costs.

    Example: [bold]parlour murder-mystery play --case harbour_en --method questum --method pp[/bold]
    """
    loaded = find(case)
    table = setting if quiz else setting.replace(repetitions=0)
    rollout.table(GAME, case=case, **table.options)  # an error before the first game
    jobs = [
        CaseJob(case, chosen, seed, table, transcript=_transcript(out, chosen.name) if chosen.policy else None)
        for chosen in map(method_of, method or ["questum"])
    ]
    skipped: dict[int, rollout.Unfinished] = {}
    with display.progress_line() as progress:
        games = play_all(
            jobs,
            model,
            runner=GameRunner(workers=workers, progress=progress, failures=failures),
            what=loaded.title,
            skip=skipped.__setitem__,
        )
    given_up = {jobs[number].method.name: unfinished.why for number, unfinished in skipped.items()}
    value = {"case": case, "title": loaded.title, "model": model.name, "games": [_as_json(game) for game in games]}
    parts = (
        tuple(f"{name}: not finished, and not counted ({why})" for name, why in given_up.items()),
        *(_case_parts(loaded, games, model.called) if games else ()),
    )
    return Report(loaded.title, parts=parts, values={**value, "unfinished": given_up})


def _transcript(out: Path | None, name: str) -> Path | None:
    file = "".join(letter if letter.isalnum() or letter in "._" else "-" for letter in name)
    return None if out is None else out / f"{file}.jsonl"


def _as_json(result: CaseResult) -> dict[str, Any]:
    """One game, as `Report.values`."""
    return {
        "method": result.method,
        "seed": result.seed,
        "victims": result.victims,
        "solved": result.solved,
        "verdicts": [verdict._asdict() for verdict in result.verdicts],
        "right": {kind: share for kind in _QUIZ_KINDS if (share := _right(result.marks, kind))},
        "omniscient": {scores.OVERALL: _right(result.omniscient)} if result.omniscient else None,
        "questions_asked": result.asked,
        "players": result.players,
        "play": result.play,
        "quiz": result.quiz,
    }


def _right(marks: Sequence[Mark], kind: str = scores.OVERALL) -> dict[str, Any] | None:
    score = scores.score(marks, kind)
    if score is None:
        return None
    mean, deviation = scores.over_repetitions(score)
    return {"mean": round(mean, 6), "deviation": deviation, "weight": score.weight, "shares": score.shares}


def _case_parts(case: Any, games: list[CaseResult], answered_by: str) -> Iterator[ResultTable | str]:
    players = {game.method: sum(game.players.values(), Decisions()) for game in games}
    verdicts = []
    for game in games:
        made = players[game.method]
        for verdict in game.verdicts:
            name = "nobody" if verdict.found < 0 else case.names[verdict.found]
            judged = "solved" if verdict.solved else "not solved" if verdict.counts else "no player did it: not counted"
            method = marked(game.method, made.own, made.decisions)
            verdicts.append((method, case.victims[verdict.victim].name, name, judged))
    yield plain_table(f"{case.title}; answered by {answered_by}", ("method", "victim", "found", "verdict"), verdicts)
    if games[0].marks:
        yield _answers(games)
    yield _costs(games)
    yield from decision_parts({method: made for method, made in players.items() if made.decisions})


def _answers(games: list[CaseResult]) -> ResultTable:
    by_method = ((Column(game.method, ".3f"), Column("±", ".3f", key=f"{game.method} deviation")) for game in games)
    rows: list[tuple[Cell, ...]] = []
    for kind in _QUIZ_KINDS:
        scored = [scores.score(game.marks, kind) for game in games]
        if (first := scored[0]) is not None:
            means = [(None, None) if of is None else scores.over_repetitions(of) for of in scored]
            weight = f"{first.weight}{' points' if kind == scores.OVERALL else ''}"
            rows.append((kind, weight, *(figure for pair in means for figure in pair)))
    title = "Right answers (overall: points; ±: over repetitions)"
    return ResultTable(title, (Column("of"), Column("n"), *chain.from_iterable(by_method)), tuple(rows))


def _costs(games: list[CaseResult]) -> ResultTable:
    columns = (
        *map(Column, ("method", "stage", "asked by players", "questions to the model", "rule of thumb")),
        *(Column("tokens", none="unknown"), Column("dollars", ".4f", none="unknown"), Column("seconds", ".2f")),
    )
    rows = tuple(
        (game.method, stage, asked, took.asked, reasons(took.heuristic), took.tokens, took.dollars, took.seconds)
        for game in games
        for stage, took, asked in (("play", game.play, game.asked), ("quiz", game.quiz, ""))
    )
    return ResultTable("Costs", columns, rows)


def compare_methods(
    model: ModelOption,
    setting: Annotated[
        MysterySetting, Options(exclude=("games", "practice", "model", "pool", "seed", "progress", "failures"))
    ],
    ray: common.RayOptions,
    failures: common.FailureOptions,
    method: Annotated[list[str] | None, typer.Option("--method", "-m"), f"{_METHOD_HELP}; None: all."] = None,
    games: Annotated[int, typer.Option(min=2), "Number of generated cases."] = 50,
    targets: Annotated[
        int | None, typer.Option(min=1), "Most players that a seat may ask about a victim in a round; None: everybody."
    ] = None,
    seed: Annotated[int, typer.Option(min=0), "Number of the first case among the held-out ones."] = 0,
    budget: Annotated[
        list[int] | None,
        typer.Option(min=1),
        "Number of questions to the model in a game, after which nobody asks. Repeatable: a part of the table for "
        "each; None: no limit.",
    ] = None,
) -> Report:
    """Compare methods on the same cases, the first one with each of the others. With --out, resumes if it exists.

    Example: [bold]parlour murder-mystery compare --method questum --method mystery_ocot --games 50 --budget 50 --budget 100[/bold]
    """
    names = method or list(METHODS)
    if len(set(names)) < len(names):
        raise ParlourError(f"methods {', '.join(names)} are not accepted; accepted: each once")
    if budget and (targets is not None or len(set(budget)) < len(budget)):
        raise ParlourError(
            f"budget {', '.join(map(str, budget))} is not accepted; accepted: each once, without --targets"
        )
    if seed > len(seeds.HELD_OUT) - games:
        raise accept("seed", seed, range(len(seeds.HELD_OUT) - games + 1))
    with ray.pool(model) as pool, display.progress_line() as progress:
        setting = setting.replace(
            games=games, practice=0, model=model, pool=pool, seed=seed, progress=progress, failures=failures
        )
        rows = {name: method_of(name) for name in names}
        with Run(setting.out).opened():
            if budget:
                report = report_of(by_budget("compare", setting, rows, budget), model)
            else:
                made = comparison("compare", setting, rows, targets)
                picture = picture_of(made, f"{GAME}, {games} held-out cases", model)
                report = report_of(replace(made, picture=picture), model, quiz_verdict(made, names[0]))
            if setting.out is not None:
                report.write(setting.out)
    return report


def make_case(
    out: Annotated[Path, typer.Option("--out", "-o"), "File to write."],
    seed: common.SeedOption = 0,
    language: Annotated[str, "en or zh; the story is the same."] = "en",
    players: Annotated[
        int | None, typer.Option("--players", "-n"), "Number of players; None: drawn from the seed."
    ] = None,
    victims: Annotated[int | None, "Number of victims, 1 or 2; None: drawn from the seed."] = None,
    scene: Annotated[str | None, "Scene of the story, such as harbour; None: drawn from the seed."] = None,
    level: Annotated[int, "Difficulty, 0 to 4; from level 1, innocents lie, too."] = 0,
) -> None:
    """Make an original case from a seed, proved solvable from all scripts together, and from no innocent's script
    alone.

    Example: [bold]parlour murder-mystery cases make --seed 7 --players 5 --out case.json[/bold]
    """
    case = from_seed.generate(seed, language, players, victims, scene, level)
    remove_parts_of(out)
    atomic_write(out, dump(case))
    display.console().print(f"{case.id} ({case.seats} players, sha256 {digest(case)}) -> {out}", highlight=False)


def show_case(
    reference: Annotated[
        str, typer.Argument(), "Shipped case, seed:N[:zh[:PLAYERS]], JSON file of a case, or WellPlay directory."
    ],
    seat: Annotated[
        int | None, typer.Option(min=0), "Show the script of this player, by number from 0; None: no script."
    ] = None,
    truth: Annotated[bool, typer.Option("--truth"), "Show everything: scripts, murderers, answer keys."] = False,
) -> Report:
    """Show a case: what all players know; with `--seat` one player's script; with `--truth` everything.

    Example: [bold]parlour murder-mystery cases show seed:7 --seat 2[/bold]
    """
    case = find(reference)
    if seat is not None and seat >= case.seats:
        raise accept("seat", seat, range(case.seats))
    value = case.model_dump(mode="json") if truth else _public(case, seat)
    return Report(case.title, parts=(tuple(_lines(case, seat, truth)),), values=value)


def _summary(case: Case) -> dict[str, Any]:
    """What everybody may know of a case."""
    return {
        "title": case.title,
        "language": case.language,
        "players": list(case.names),
        "victims": [victim.name for victim in case.victims],
        "questions": case.counts(),
        "sha256": digest(case),
    }


def _public(case: Case, seat: int | None) -> dict[str, Any]:
    value = {"id": case.id, "briefing": case.briefing, **_summary(case)}
    if seat is not None:
        character = case.characters[seat]
        value["you"] = {"name": character.name, "murdered": _murdered(case, character)}
        value["you"] |= {"objectives": list(character.objectives), "script": character.script}
    return value


def _murdered(case: Case, character: Character) -> list[str]:
    return [case.victims[k].name for k, killed in enumerate(character.murders) if killed]


def _lines(case: Case, seat: int | None, truth: bool) -> list[str]:
    counts = ", ".join(f"{count} {sort}" for sort, count in case.counts().items())
    lines = [f"{case.title} ({case.id})", "", *case.briefing.split("\n"), ""]
    lines += [f"Players: {', '.join(case.names)}", f"Victims: {', '.join(victim.name for victim in case.victims)}"]
    lines += [f"Questions after the game: {counts}"]
    if case.liars:
        lines += [f"Others who may lie: {case.liars}"]
    if case.liars and truth:
        lines += [f"Statements in the solver's proof: {len(tougher.proof_of(case))}"]
    for number, character in enumerate(case.characters):
        if truth or number == seat:
            murdered = " and ".join(_murdered(case, character))
            guilt = f", murderer of {murdered}" if murdered else ""
            lines += ["", f"== {character.name}{guilt}", *(f"- {aim}" for aim in character.objectives), ""]
            lines += character.script.split("\n")
    if truth:
        lines += ["", "== Questions to a reader of all scripts"]
        for question in case.omniscient:
            keys = ", ".join(LETTERS[key] for key in question.keys)
            options = "; ".join(f"{LETTERS[k]}) {option}" for k, option in enumerate(question.options))
            lines.append(f"[{question.points}, {question.kind}] {question.text} {options}. Key: {keys}")
    if truth and case.truth is not None:
        lines += ["", "== What else is true", *(say(fact, case.vocabulary, None) for fact in case.truth.facts)]
    return lines
