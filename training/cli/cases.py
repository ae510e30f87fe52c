"""`parlour cases check | make | show`: murder mysteries as files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from parlour.envs.core import ParlourError
from parlour.envs.murder_mystery.cases.case import Case, digest, dump
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.generate import from_seed
from parlour.envs.murder_mystery.vocabulary.facts import say
from parlour.envs.murder_mystery.vocabulary.quiz import LETTERS
from parlour.envs.murder_mystery.wellplay import load
from parlour.envs.murder_mystery.wellplay.check import check as irregularities
from parlour.envs.murder_mystery.wellplay.rows import Irregularity
from parlour.training.cli import common

app = typer.Typer(help="Murder mysteries: check WellPlay folders, make cases, show them.", no_args_is_help=True)


class Checked(NamedTuple):
    """One script of a tree."""

    path: Path
    case: Case | None
    found: list[Irregularity]
    error: str | None


@app.command("check")
def check(
    directory: Annotated[Path, typer.Argument(help="A WellPlay script's folder, or a tree of such folders.")],
    json: common.JsonOption = False,
) -> None:
    """Load WellPlay scripts, count their questions and list all that is irregular in them.

    Exit code 2 if a script cannot be loaded; irregularities alone are no failure.

    Example: [bold]parlour cases check wellplay/en[/bold]
    """
    if not directory.is_dir():
        raise ParlourError(f"{str(directory)!r} is no folder")
    scripts = [_checked(path) for path in load.folders(directory)]
    if not scripts:
        raise ParlourError(f"no WellPlay script in {str(directory)!r}: no json/script_info.json")
    if json:
        common.print_json({"scripts": [_as_json(one) for one in scripts]})
    else:
        _print(scripts)
    failed = [f"{one.path}: {one.error}" for one in scripts if one.error is not None]
    if failed:
        raise ParlourError(f"{len(failed)} of {len(scripts)} scripts cannot be loaded: {'; '.join(failed)}")


def _checked(path: Path) -> Checked:
    try:
        return Checked(path, load.load_folder(path), irregularities(path), None)
    except ParlourError as error:
        return Checked(path, None, [], str(error))


def _as_json(one: Checked) -> dict[str, Any]:
    found = [irregular._asdict() for irregular in one.found]
    return {"path": str(one.path), "error": one.error, **_summary(one.case), "irregularities": found}


def _summary(case: Case | None) -> dict[str, Any]:
    if case is None:
        return {}
    kinds = Counter(question.kind for seat in case.questions for question in seat)
    return {
        "title": case.title,
        "language": case.language,
        "players": list(case.names),
        "victims": [
            {"name": one.name, "murderers": [case.names[seat] for seat in case.murderers(k)]}
            for k, one in enumerate(case.victims)
        ],
        "questions": case.counts(),
        "kinds": dict(sorted(kinds.items())),
        "omniscient": len(case.omniscient),
        "sha256": digest(case),
    }


def _print(scripts: list[Checked]) -> None:
    out = common.console()
    shown = common.table(
        "Scripts",
        "script",
        "players",
        "victims",
        "objective",
        "reasoning",
        "relations",
        "total",
        "omniscient",
        "irregular",
    )
    for one in scripts:
        name = f"{one.path.parent.name}/{one.path.name}"
        if one.case is None:
            shown.add_row(name, *["-"] * 7, "cannot be loaded")
            continue
        counts = [str(count) for count in one.case.counts().values()]
        people = (str(one.case.seats), str(len(one.case.victims)))
        shown.add_row(name, *people, *counts, str(len(one.case.omniscient)), str(len(one.found)))
    out.print(shown)
    listed = common.table("Irregularities", "where", "line", "kind", "what", "then")
    for irregular in (irregular for one in scripts for irregular in one.found):
        where = irregular.file or f"{irregular.lang}/{irregular.slug}"
        line = "" if irregular.line is None else str(irregular.line)
        listed.add_row(where, line, irregular.kind, irregular.detail, irregular.handled)
    for column in listed.columns:
        column.no_wrap, column.overflow = False, "fold"
    if listed.row_count:
        out.print(listed, markup=False)


@app.command("make")
def make(
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.", show_default=False)],
    seed: common.SeedOption = 0,
    language: Annotated[str, typer.Option(help="en or zh; the story is the same.")] = "en",
    players: common.PlayersOption = None,
    victims: Annotated[int | None, typer.Option(help="1 or 2.", show_default=False)] = None,
    scene: Annotated[str | None, typer.Option(help="Where it happens, such as harbour.", show_default=False)] = None,
) -> None:
    """Make an original case from a seed, proved to be solvable from all scripts and from no innocent's alone.

    Example: [bold]parlour cases make --seed 7 --players 5 --out case.json[/bold]
    """
    case = from_seed.generate(seed, language, players, victims, scene)
    try:
        out.write_text(dump(case), encoding="utf-8")
    except OSError as error:
        raise ParlourError(f"{str(out)!r} cannot be written: {error.strerror}") from None
    common.console().print(f"{case.id} ({case.seats} players, sha256 {digest(case)}) -> {out}", highlight=False)


@app.command("show")
def show(
    reference: Annotated[
        str, typer.Argument(help="A shipped case, seed:N[:zh[:PLAYERS]], a case's JSON, or a WellPlay folder.")
    ],
    seat: Annotated[
        int | None, typer.Option(min=0, help="Show what this player is given, by number from 0.", show_default=False)
    ] = None,
    truth: Annotated[bool, typer.Option("--truth", help="Show everything: scripts, murderers, keys.")] = False,
    json: common.JsonOption = False,
) -> None:
    """Show a case: what all players know; with `--seat` one player's script; with `--truth` all of it.

    Example: [bold]parlour cases show seed:7 --seat 2[/bold]
    """
    case = find(reference)
    if seat is not None and seat >= case.seats:
        raise ParlourError(f"seat {seat} is not accepted; accepted: 0..{case.seats - 1}")
    if json:
        common.print_json(case.model_dump(mode="json") if truth else _public(case, seat))
        return
    common.console().print("\n".join(_lines(case, seat, truth)), highlight=False, markup=False, soft_wrap=True)


def _public(case: Case, seat: int | None) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": case.id,
        "title": case.title,
        "language": case.language,
        "briefing": case.briefing,
        "players": list(case.names),
        "victims": [one.name for one in case.victims],
        "questions": case.counts(),
        "sha256": digest(case),
    }
    if seat is not None:
        one = case.characters[seat]
        murdered = [case.victims[k].name for k, killed in enumerate(one.murders) if killed]
        told["you"] = {"name": one.name, "murdered": murdered, "objectives": list(one.objectives), "script": one.script}
    return told


def _lines(case: Case, seat: int | None, truth: bool) -> list[str]:
    counts = ", ".join(f"{count} {sort}" for sort, count in case.counts().items())
    lines = [f"{case.title} ({case.id})", "", case.briefing, ""]
    lines += [f"Players: {', '.join(case.names)}", f"Victims: {', '.join(one.name for one in case.victims)}"]
    lines += [f"Questions after the game: {counts}"]
    for number, one in enumerate(case.characters):
        if truth or number == seat:
            murdered = [case.victims[k].name for k, killed in enumerate(one.murders) if killed]
            guilt = f", murderer of {' and '.join(murdered)}" if murdered else ""
            lines += ["", f"== {one.name}{guilt}", *(f"- {aim}" for aim in one.objectives), "", one.script]
    if truth:
        lines += ["", "== Questions to one who has read all"]
        for question in case.omniscient:
            keys = ", ".join(LETTERS[key] for key in question.keys)
            options = "; ".join(f"{LETTERS[k]}) {option}" for k, option in enumerate(question.options))
            lines.append(f"[{question.points}, {question.kind}] {question.text} {options}. Key: {keys}")
    if truth and case.truth is not None:
        lines += ["", "== What else is true", *(say(fact, case.vocabulary, None) for fact in case.truth.facts)]
    return lines
