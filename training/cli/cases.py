"""`parlour murder-mystery cases check | make | show`: murder mysteries as files."""

from __future__ import annotations

from collections import Counter
from functools import partial
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
from parlour.training import display
from parlour.training.cli import common
from parlour.training.cli.options import Answer


class Checked(NamedTuple):
    """One script of a tree."""

    path: Path
    case: Case | None
    found: list[Irregularity]
    error: str | None


def check_cases(
    directory: Annotated[Path, typer.Argument(help="Directory of a WellPlay script, or a tree of such directories.")],
) -> Answer:
    """Load WellPlay scripts, count their questions and list their irregularities.

    Exit code 2 if a script cannot be loaded; irregularities alone are no failure.

    Example: [bold]parlour murder-mystery cases check wellplay/en[/bold]
    """
    if not directory.is_dir():
        raise ParlourError(f"{str(directory)!r} is no directory")
    scripts = [_checked(path) for path in load.folders(directory)]
    if not scripts:
        raise ParlourError(f"no WellPlay script in {str(directory)!r}: no json/script_info.json")
    failed = [f"{one.path}: {one.error}" for one in scripts if one.error is not None]
    error = f"{len(failed)} of {len(scripts)} scripts cannot be loaded: {'; '.join(failed)}" if failed else None
    return Answer({"scripts": [_as_json(one) for one in scripts]}, partial(_show_scripts, scripts), error)


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


def _show_scripts(scripts: list[Checked]) -> None:
    rows = []
    for one in scripts:
        name = f"{one.path.parent.name}/{one.path.name}"
        if one.case is None:
            rows.append((name, *["-"] * 7, "cannot be loaded"))
            continue
        counts = [str(count) for count in one.case.counts().values()]
        people = (str(one.case.seats), str(len(one.case.victims)))
        rows.append((name, *people, *counts, str(len(one.case.omniscient)), str(len(one.found))))
    sorts = ("objective", "reasoning", "relations", "total", "omniscient")
    display.show_table("Scripts", ("script", "players", "victims", *sorts, "irregular"), rows)
    listed = display.table("Irregularities", ("where", "line", "kind", "what", "handling"), wrap=True)
    for irregular in (irregular for one in scripts for irregular in one.found):
        where = irregular.file or f"{irregular.lang}/{irregular.slug}"
        line = "" if irregular.line is None else str(irregular.line)
        listed.add_row(where, line, irregular.kind, irregular.detail, irregular.handled)
    if listed.row_count:
        display.console().print(listed, markup=False)


def make_case(
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")],
    seed: common.SeedOption = 0,
    language: Annotated[str, typer.Option(help="en or zh; the story is the same.")] = "en",
    players: Annotated[
        int | None, typer.Option("--players", "-n", help="Number of players.", show_default="drawn from the seed")
    ] = None,
    victims: Annotated[
        int | None, typer.Option(help="Number of victims, 1 or 2.", show_default="drawn from the seed")
    ] = None,
    scene: Annotated[
        str | None, typer.Option(help="Scene of the story, such as harbour.", show_default="drawn from the seed")
    ] = None,
) -> None:
    """Make an original case from a seed, proved to be solvable from all scripts and from no innocent's alone.

    Example: [bold]parlour murder-mystery cases make --seed 7 --players 5 --out case.json[/bold]
    """
    case = from_seed.generate(seed, language, players, victims, scene)
    try:
        out.write_text(dump(case), encoding="utf-8")
    except OSError as error:
        raise ParlourError(f"{str(out)!r} cannot be written: {error.strerror}") from None
    display.console().print(f"{case.id} ({case.seats} players, sha256 {digest(case)}) -> {out}", highlight=False)


def show_case(
    reference: Annotated[
        str, typer.Argument(help="Shipped case, seed:N[:zh[:PLAYERS]], JSON file of a case, or WellPlay directory.")
    ],
    seat: Annotated[
        int | None,
        typer.Option(min=0, help="Show the script of this player, by number from 0.", show_default="no script"),
    ] = None,
    truth: Annotated[bool, typer.Option("--truth", help="Show everything: scripts, murderers, answer keys.")] = False,
) -> Answer:
    """Show a case: what all players know; with `--seat` one player's script; with `--truth` everything.

    Example: [bold]parlour murder-mystery cases show seed:7 --seat 2[/bold]
    """
    case = find(reference)
    if seat is not None and seat >= case.seats:
        raise ParlourError(f"seat {seat} is not accepted; accepted: 0..{case.seats - 1}")
    text = "\n".join(_lines(case, seat, truth))
    show = partial(display.console().print, text, highlight=False, markup=False, soft_wrap=True)
    return Answer(case.model_dump(mode="json") if truth else _public(case, seat), show)


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
