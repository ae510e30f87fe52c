"""Cases of murder mysteries as files: `parlour new case`, `parlour show case`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs.core import accept
from parlour.envs.murder_mystery.cases.case import Case, Character, digest, dump
from parlour.envs.murder_mystery.cases.find import find
from parlour.envs.murder_mystery.generate import from_seed, tougher
from parlour.envs.murder_mystery.vocabulary.facts import say
from parlour.envs.murder_mystery.vocabulary.quiz import LETTERS
from parlour.policies.files import atomic_write, remove_parts_of
from parlour.training.cli import common
from parlour.training.report import display
from parlour.training.report.report import Report


def make_case(
    out: Annotated[Path, typer.Option("--out", "-o"), "File to write."],
    seed: common.SeedOption = 0,
    language: Annotated[str, "en or zh; the story is the same."] = "en",
    players: Annotated[
        int | None, typer.Option("--players", "-n"), "Number of players; None: drawn from the seed."
    ] = None,
    victims: Annotated[int | None, "Number of victims, 1 to 4; None: drawn from the seed."] = None,
    scene: Annotated[str | None, "Scene of the story, such as harbour; None: drawn from the seed."] = None,
    level: Annotated[int, "Difficulty, 0 to 5; from level 1, innocents lie, too."] = 0,
) -> None:
    """Make an original case from a seed, proved solvable from all scripts together, and from no innocent's script
    alone.

    Example: [bold]parlour new case --seed 7 --players 5 --out case.json[/bold]
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

    Example: [bold]parlour show case seed:7 --seat 2[/bold]
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
        proofs = [str(len(tougher.proof_of(case, victim))) for victim in range(len(case.victims))]
        lines += [f"Statements in the solver's proof: {', '.join(proofs)}"]
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
