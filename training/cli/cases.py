"""`parlour murder-mystery cases check | make | show`: murder mysteries as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from parlour.envs.core import ParlourError, accept
from parlour.envs.murder_mystery.cases.case import Case, Character, digest, dump
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


class CheckedScript(NamedTuple):
    """One script of a tree."""

    path: Path
    case: Case | None
    found: list[Irregularity]
    error: str | None


def check_cases(
    directory: Annotated[Path, typer.Argument(), "Directory of a WellPlay script, or a tree of such directories."],
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


def _checked(path: Path) -> CheckedScript:
    try:
        return CheckedScript(path, load.load_folder(path), irregularities(path), None)
    except ParlourError as error:
        return CheckedScript(path, None, [], str(error))


def _as_json(one: CheckedScript) -> dict[str, Any]:
    case, value = one.case, {"path": str(one.path), "error": one.error}
    if case is not None:
        kinds = Counter(question.kind for seat in case.questions for question in seat)
        guilty = [[case.names[seat] for seat in case.murderers(k)] for k in range(len(case.victims))]
        value |= _summary(case) | {
            "victims": [{"name": v.name, "murderers": m} for v, m in zip(case.victims, guilty, strict=True)],
            "kinds": dict(sorted(kinds.items())),
            "omniscient": len(case.omniscient),
        }
    return value | {"irregularities": [irregular._asdict() for irregular in one.found]}


def _summary(case: Case) -> dict[str, Any]:
    """What everybody may know of a case."""
    return {
        "title": case.title,
        "language": case.language,
        "players": list(case.names),
        "victims": [one.name for one in case.victims],
        "questions": case.counts(),
        "sha256": digest(case),
    }


def _show_scripts(scripts: list[CheckedScript]) -> None:
    rows = []
    for one in scripts:
        cells: Sequence[object] = ("-",) * 7
        if one.case is not None:
            counts = one.case.counts().values()
            cells = (one.case.seats, len(one.case.victims), *counts, len(one.case.omniscient))
        irregular = "cannot be loaded" if one.case is None else len(one.found)
        rows.append((f"{one.path.parent.name}/{one.path.name}", *map(str, (*cells, irregular))))
    sorts = ("objective", "reasoning", "relations", "total", "omniscient")
    display.show_table("Scripts", ("script", "players", "victims", *sorts, "irregular"), rows)
    found = [
        (one.file or f"{one.lang}/{one.slug}", str(one.line or ""), one.kind, one.detail, one.handled)
        for script in scripts
        for one in script.found
    ]
    if found:
        headings = ("where", "line", "kind", "what", "handling")
        display.console().print(display.table("Irregularities", headings, found, wrap=True), markup=False)


def make_case(
    out: Annotated[Path, typer.Option("--out", "-o"), "File to write."],
    seed: common.SeedOption = 0,
    language: Annotated[str, "en or zh; the story is the same."] = "en",
    players: Annotated[
        int | None, typer.Option("--players", "-n"), "Number of players; None: drawn from the seed."
    ] = None,
    victims: Annotated[int | None, "Number of victims, 1 or 2; None: drawn from the seed."] = None,
    scene: Annotated[str | None, "Scene of the story, such as harbour; None: drawn from the seed."] = None,
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
        str, typer.Argument(), "Shipped case, seed:N[:zh[:PLAYERS]], JSON file of a case, or WellPlay directory."
    ],
    seat: Annotated[
        int | None, typer.Option(min=0), "Show the script of this player, by number from 0; None: no script."
    ] = None,
    truth: Annotated[bool, typer.Option("--truth"), "Show everything: scripts, murderers, answer keys."] = False,
) -> Answer:
    """Show a case: what all players know; with `--seat` one player's script; with `--truth` everything.

    Example: [bold]parlour murder-mystery cases show seed:7 --seat 2[/bold]
    """
    case = find(reference)
    if seat is not None and seat >= case.seats:
        raise accept("seat", seat, range(case.seats))
    text = "\n".join(_lines(case, seat, truth))
    show = partial(display.console().print, text, highlight=False, markup=False, soft_wrap=True)
    return Answer(case.model_dump(mode="json") if truth else _public(case, seat), show)


def _public(case: Case, seat: int | None) -> dict[str, Any]:
    value = {"id": case.id, "briefing": case.briefing, **_summary(case)}
    if seat is not None:
        one = case.characters[seat]
        murdered = _murdered(case, one)
        value["you"] = {
            "name": one.name,
            "murdered": murdered,
            "objectives": list(one.objectives),
            "script": one.script,
        }
    return value


def _murdered(case: Case, one: Character) -> list[str]:
    return [case.victims[k].name for k, killed in enumerate(one.murders) if killed]


def _lines(case: Case, seat: int | None, truth: bool) -> list[str]:
    counts = ", ".join(f"{count} {sort}" for sort, count in case.counts().items())
    lines = [f"{case.title} ({case.id})", "", case.briefing, ""]
    lines += [f"Players: {', '.join(case.names)}", f"Victims: {', '.join(one.name for one in case.victims)}"]
    lines += [f"Questions after the game: {counts}"]
    for number, one in enumerate(case.characters):
        if truth or number == seat:
            murdered = " and ".join(_murdered(case, one))
            guilt = f", murderer of {murdered}" if murdered else ""
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
