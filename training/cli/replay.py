"""`parlour replay`: a transcript played again through the rules, and shown; or written as a page, and a folder of them, too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from parlour.envs import replay as transcripts
from parlour.envs.common.terminal import printable
from parlour.envs.core import NATURE, ParlourError, check_one_of
from parlour.envs.language.english import name
from parlour.envs.language.seat_names import SeatNames
from parlour.envs.language.text import agents_of, clean, end_of
from parlour.envs.language.transcript_lines import BY_HEURISTIC, BY_PAPER, BY_TABLE
from parlour.envs.registry import lookup
from parlour.policies.agents.werewolf.gratr.export import write_history
from parlour.policies.agents.werewolf.gratr.recorded import recorded_graphs
from parlour.training.measure.decision_tables import decision_parts
from parlour.training.measure.werewolf.trust_picture import PICTURE, draw as draw_trust
from parlour.training.play import heard
from parlour.training.play.decisions import of_transcript
from parlour.training.replay.build import names_in
from parlour.training.replay.write import write_index, write_replay
from parlour.training.report import display
from parlour.training.report.report import Report

_MOST_OBSERVED: Final = 50_000_000
"""Characters of all observations of a game that are shown as JSON."""


def replay(
    file: Annotated[Path, typer.Argument(), "Transcript file; with --html also a folder of transcripts."],
    seat: Annotated[
        str | None,
        typer.Option(metavar="<str>"),
        "Show what this player observed at each turn; with --json, only that; None: all moves.",
    ] = None,
    cases: Annotated[
        list[Path] | None,
        "Folder with cases that a transcript may name, repeatable; None: only cases that are shipped or made from a seed.",
    ] = None,
    game: Annotated[str | None, "module:ATTRIBUTE of a game outside the registry; None: the registry's."] = None,
    html: Annotated[
        bool, "Write a page that opens from disk in any browser; for a folder, a page for each game and an index."
    ] = False,
    graph: Annotated[
        Path | None,
        "Write the last trust graph of a gratr seat to this file: .json, .graphml, or .png, a picture of its days; --seat names the seat if there are several.",
    ] = None,
    out: Annotated[
        Path | None,
        "With --html: the page, or for a folder the folder of pages; None: next to the file, or in the folder's `replays`.",
    ] = None,
) -> Report:
    """Replay a transcript through the rules and show it; an incomplete file is shown up to its last move.

    Example: [bold]parlour replay runs/mine/avalon_v0-1.jsonl --seat player_0[/bold]
    """
    if game is not None:
        lookup(game)  # from now on a file may name it
    if html:
        if graph is not None:
            raise ParlourError(
                "--graph is not accepted with --html; accepted: either; the page lists the chains of each seat"
            )
        if seat is not None:
            raise ParlourError(
                "--seat is not accepted with --html; accepted: either; the page shows each seat's perspective"
            )
        return _pages(file, out, cases or ())
    if out is not None:
        raise ParlourError("--out is not accepted alone; accepted: --out with --html")
    transcript = transcripts.Transcript.read(file, folders=cases or ())
    table, text = transcript.game(), transcripts.text_of(transcript)
    agents = agents_of(table)
    if seat is not None:
        check_one_of("seat", seat, agents)
    if graph is not None:
        return _graph(transcript, graph, seat)
    for _ in transcripts.reenact(transcript, watched=()):
        pass  # an error before the first line
    players = dict(zip(agents, of_transcript(transcript), strict=True))

    def value() -> dict[str, Any]:
        return {
            "header": dict(transcript.header),
            "steps": _steps(_turns(transcript, agents if seat is None else [seat])),
            "players": {agent: decisions.as_json() for agent, decisions in players.items()},
            "finished": transcript.outcome is not None,
            "heard": transcript.heard,
        }

    named = transcript.header.get("players")
    called = named if isinstance(named, dict) else {}
    shown = {f"{agent}: {called[agent]}" if agent in called else agent: players[agent] for agent in agents}
    parts = (*([] if transcript.heard else [heard.NOTE]), "".join(_lines(transcript, text, seat)))
    return Report("", parts=(*parts, *decision_parts(shown)), values=value)


def _lines(transcript: transcripts.Transcript, text: Any, seat: str | None) -> Iterator[str]:
    """The moves, or what one seat observed, and the end."""
    names = names_in(transcript.header)
    if seat is None:
        yield from (f"{line}\n" for line in _moves(transcript, text, names))
    for agent, said, observed, by in _turns(transcript, [seat]) if seat else ():
        if agent == seat:
            yield f"{observed[agent]}> {said}{_mark(by)}\n\n"
    why = transcript.closing.get("unfinished")
    no_end = f"(not finished: {len(transcript.moves)} moves{f'; {why}' if why else ''})"
    yield printable(names.shown(end_of(text, transcript.outcome)) if transcript.outcome else no_end)


def _pages(path: Path, out: Path | None, cases: Iterable[Path]) -> Report:
    """Write the page of a file, or the pages and the index of a folder."""
    if not path.is_dir():
        page = write_replay(path, out, cases)
        return Report("", parts=((f"Page: {page}",),), values={"page": str(page)})
    with display.progress_line() as progress:
        made = write_index(path, out, cases, progress)
    left_out = (f"No page of {file}: {why}" for file, why in made.left_out.items())
    values = {"page": str(made.page), "pages": [str(page) for page in made.pages], "left_out": made.left_out}
    return Report("", parts=((f"Index of {len(made.pages)} games: {made.page}", *left_out),), values=values)


def _graph(transcript: transcripts.Transcript, path: Path, seat: str | None) -> Report:
    """Write the last trust graph of a seat, the named one or the only one that noted a graph."""
    noted = ((entry.seat, line) for entry, line in zip(transcript.entries, transcript.lines, strict=False))
    graphs = {name(number): graph for _, number, graph in recorded_graphs(noted)}
    if not graphs:
        raise ParlourError("the transcript holds no trust graph; accepted: a game with a seat of `gratr`")
    if seat is None and len(graphs) > 1:
        raise ParlourError(f"several seats have a trust graph; accepted: --seat {' or '.join(sorted(graphs))}")
    of = seat or next(iter(graphs))
    check_one_of("seat", of, graphs)
    if path.suffix == PICTURE:
        draw_trust(graphs[of], path)
    else:
        write_history(graphs[of], path)
    return Report("", parts=((f"Trust graph of {of}: {path}",),), values={"graph": str(path), "seat": of})


def _steps(turns: Iterable[tuple[str, str, dict[str, str], dict[str, str]]]) -> list[dict[str, Any]]:
    """The turns as plain values. Raises `ParlourError` if what was observed is too long to be held."""
    steps, letters = [], 0
    for agent, said, observed, by in turns:
        letters += sum(map(len, observed.values()))
        if letters > _MOST_OBSERVED:
            text = f"more than {_MOST_OBSERVED:,} characters of observations are not shown as JSON"
            raise ParlourError(f"{text}; accepted: one player's observations, with --seat")
        steps.append({"agent": agent, "say": said, "observations": observed, **by})
    return steps


def _turns(
    transcript: transcripts.Transcript, watched: Collection[str]
) -> Iterator[tuple[str, str, dict[str, str], dict[str, str]]]:
    """Of each turn: who moves, the move in words, what those who are watched observe, by whom the move is."""
    made = [number for number, entry in enumerate(transcript.entries) if entry.move is not None and entry.seat >= 0]
    known = heard.marker(transcript)
    for step, line in zip(transcripts.reenact(transcript, watched=watched), made, strict=False):
        if step.move is not None:
            observed = {agent: known(seen["text"]) for agent, seen in step.observations.items()}
            yield step.agent, heard.said(transcript, step.move), observed, _by(transcript, line)


def _by(transcript: transcripts.Transcript, number: int) -> dict[str, str]:
    """By whom the move of a line is and why, if it is not the seat's own."""
    line = transcript.lines[number]
    return {"by": str(line["by"]), "reason": str(line.get("reason", ""))} if "by" in line else {}


def _mark(by: dict[str, str]) -> str:
    """The same, in words behind the move.

    >>> _mark({"by": "heuristic", "reason": "invalid"}), _mark({"by": "table", "reason": "default"}), _mark({})
    (' [by the heuristic: invalid]', ' [by the table: default]', '')
    """
    if not by:
        return ""
    whom = {BY_HEURISTIC: "the heuristic", BY_PAPER: "the paper's rule", BY_TABLE: "the table"}.get(by["by"], by["by"])
    return f" [by {clean(whom)}: {clean(by['reason'])}]"


def _moves(transcript: transcripts.Transcript, text: Any, names: SeatNames) -> Iterator[str]:
    """Every event with who saw it, secrets included: the reader of a transcript may know all."""
    known = heard.marker(transcript)
    states = list(transcripts.states(transcript.game(), transcript.moves))
    made = [(number, entry) for number, entry in enumerate(transcript.entries) if entry.move is not None]
    for before, after, (number, entry) in zip(states, states[1:], made, strict=False):
        mark = _mark(_by(transcript, number))
        logged = after.log[len(before.log) :]
        if entry.to is not None and entry.seat != NATURE and all(event.seat != entry.seat for event in logged):
            yield printable(names.shown(f"(secretly) {name(entry.seat)}: {text.say(entry.move)}{mark}"))
        for event in logged:
            own = event.seat == entry.seat and event.move == entry.move
            yield names.shown(known(text.line(event)).rstrip("\n")) + (mark if own else "")
