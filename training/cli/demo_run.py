"""The demo: a list of commands that run in one folder, a game to watch, and a page of what they found. Ours.

Each step is one or more commands of `parlour`, as anybody would type them, in a process of its own; two steps run side by side.
A step that is done has `answer.json`, what its last command printed with `--json`, and is not run again; an interrupted one resumes as its
command does. To show something else, change `steps`.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any, Final

from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError
from parlour.envs.replay import Transcript
from parlour.policies.files import atomic_write, write_json
from parlour.training.report.html import bullets_html, link_html, page_of, picture_html, text_html
from parlour.training.report.report import REPORT_FILE, Report
from parlour.training.runs.run import Run

_TITLE: Final = "parlour: what the demo found"
INDEX: Final = "index.html"
"""The first page: a game that plays by itself."""
FOUND: Final = "found.html"
"""The page of results."""
ANSWER: Final = "answer.json"
_LOG: Final = "log.txt"
_SIDE_BY_SIDE: Final = 2
"""Steps at once: each is given one core."""
_TICK: Final = 0.2
"""Seconds between looks at a process."""


@dataclass(frozen=True)
class Step:
    """A part of the demo."""

    name: str
    """Its folder."""
    title: str
    commands: tuple[str, ...]
    """Words behind `parlour`, one after another; FOLDER stands for its folder."""
    page: str = ""
    """The page that it leaves in its folder."""
    picture: str = ""
    """The picture that shows its result, in its folder."""
    caption: str = ""


_TALK: Final = Step(
    "game",
    "A game of Avalon, with names, in words",
    (
        "play avalon_v0 --talk words --names Ada,Ben,Cleo,Dan,Eve,Finn --out FOLDER/games --resume",
        "replay FOLDER/games --html",
    ),
    page="games/replays/index.html",
)
_WATCHED: Final = "games/avalon_v0-1.jsonl"
_TRUST: Final = Step(
    "trust",
    "GRATR in a game of Werewolf",
    (
        "play werewolf_v0 --policy heuristic --policy player_3=gratr --talk words --out FOLDER/games --resume",
        "replay FOLDER/games --html",
        "replay FOLDER/games/werewolf_v0-1.jsonl --graph FOLDER/trust.png --seat player_3",
    ),
    page="games/replays/index.html",
    picture="trust.png",
    caption="Werewolf: the trust of one seat in the others, at the end of each day",
)


_TABLE: Final = " --players 5 --rules official --set talk=false"
"""The smallest table of Avalon."""


def steps(full: bool) -> list[Step]:
    """All steps in order; with `full` the steps of the larger report, with larger amounts."""
    seat = f"--steps {100_000 if full else 20_000}{_TABLE}"
    small = "--steps 1500000 --imitation-steps 400000 --deals 500 --test-deals 500"
    selfplay, cases = ("--steps 12000000 --deals 1000", "20") if full else (small, "4")
    learned = [
        Step(
            "seat",
            "Avalon: one seat learns among heuristics",
            (f"train seat avalon_v0 {seat} --out FOLDER",),
            REPORT_FILE,
            "curve.png",
            "Avalon: win rate of the seat while it learned",
        ),
        Step(
            "selfplay",
            "Avalon: one network for all seats, by self-play",
            (f"train selfplay avalon_v0 {selfplay}{_TABLE} --out FOLDER",),
            REPORT_FILE,
            "crossplay.png",
            "Avalon: who wins when networks and heuristics meet",
        ),
        Step(
            "mystery",
            "Murder mysteries: Questum and others",
            (
                "evaluate mysteries -m questum -m mystery_ocot -m pp -m op --repetitions 1 "
                f"--games {cases} --out FOLDER",
            ),
            picture="compare.png",
            caption="Murder mysteries: share of the points in the quiz after the game, by method",
        ),
    ]
    return [_TALK, _TRUST, *learned, *(_larger() if full else [])]


def _larger() -> list[Step]:
    return [
        Step("grace", "GRACE: a mediator learns", ("train grace --out FOLDER",), REPORT_FILE),
        Step("gratr", "GRATR beside the paper's baselines", ("reproduce gratr-2 --games 40 --out FOLDER",)),
        Step("avalon", "Avalon agents beside the paper's", ("reproduce avalon-2 --games 40 --out FOLDER",)),
        Step("expert", "The expert of Avalon", ("evaluate avalon_v0 --policy expert --policy heuristic --out FOLDER",)),
    ]


def run_steps(out: Path, *, full: bool = False) -> Report:
    """Run every step that is not done, and write the page.

    Args:
        out: Held as the directory of a run; gets `index.html`, and a folder for each step.
        full: Whether to run the larger demo.

    Returns:
        The verdicts; as values, by step what its last command printed with `--json`.

    Raises:
        ParlourError: A command failed; the message names it and its log.
    """
    with Run(out).opened() as folder:
        started, stop = monotonic(), Event()
        planned = steps(full)
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            try:
                answers = list(pool.map(lambda step: _answer(step, folder, stop), planned))
            finally:
                stop.set()
        verdicts = {
            step.title: said for step, answer in zip(planned, answers, strict=True) if (said := _verdict(answer))
        }
        pieces = _page(planned, verdicts, folder, monotonic() - started)
        atomic_write(folder / FOUND, page_of(_TITLE, pieces).render())
        atomic_write(folder / INDEX, _game(folder))
        values = {step.name: answer for step, answer in zip(planned, answers, strict=True)}
        lines = "\n".join(f"{title}: {said}" for title, said in verdicts.items())
        return Report(_TITLE, lines, (f"The page: {folder / INDEX}",), values=values)


def _game(out: Path) -> str:
    """The page of the game to watch."""
    from parlour.training.replay.build import replay_of
    from parlour.training.replay.write import replay_page

    transcript = Transcript.read(out / _TALK.name / _WATCHED)
    return replay_page(
        transcript, replay_of(transcript), {FOUND: "What the demo found: players that learned, and how strong they are"}
    )


def _answer(step: Step, out: Path, stop: Event) -> Any:
    """Run the commands of a step, if it is not done; what the last one printed."""
    folder = out / step.name
    done = folder / ANSWER
    if not done.exists():
        folder.mkdir(exist_ok=True)
        began = monotonic()
        for words in step.commands:
            printed = _run([word.replace("FOLDER", str(folder)) for word in shlex.split(words)], folder / _LOG, stop)
        write_json(done, json.loads(printed))
        tell(f"{step.title}: done in {monotonic() - began:.0f} s", error=True)
    return json.loads(done.read_text("utf-8"))


def _run(arguments: Sequence[str], log: Path, stop: Event) -> str:
    """One command of parlour in a process of one core; its standard output. What it tells on standard error goes to a log."""
    command = [sys.executable, "-m", "parlour.training.cli", *arguments, "--json"]
    with log.open("a", encoding="utf-8") as said:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=said, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}
        )
        try:
            while True:
                try:
                    printed, _ = process.communicate(timeout=_TICK)
                    break
                except subprocess.TimeoutExpired:
                    if stop.is_set():
                        raise ParlourError("stopped") from None
        finally:
            process.terminate()
            process.wait()
    if process.returncode:
        raise ParlourError(f"parlour {shlex.join(arguments)} failed; what it told is in {str(log)!r}")
    return printed


def _verdict(answer: Any) -> str:
    return str(answer.get("verdict", "")) if isinstance(answer, dict) else ""


def _page(planned: Sequence[Step], verdicts: Mapping[str, str], out: Path, seconds: float) -> Iterator[str]:
    """The page in HTML: verdicts, pictures, then each step with its commands."""
    yield text_html("h1", _TITLE)
    yield f"<blockquote>{bullets_html(f'{title}: {said}' for title, said in verdicts.items())}</blockquote>"
    yield link_html(INDEX, "Watch the game of Avalon")
    for step in planned:
        if step.picture and (out / step.name / step.picture).exists():
            yield picture_html(out / step.name / step.picture, step.caption)
    yield text_html(
        "p",
        f"Python {platform.python_version()} on {platform.machine()}; this run took {seconds / 60:.1f} minutes. All players are "
        "heuristics or networks trained here; no language model played. Intervals are at 95 %.",
    )
    for step in planned:
        yield text_html("h2", step.title)
        folder = shlex.quote(str(out / step.name))
        commands = "\n".join(f"parlour {words.replace('FOLDER', folder)}" for words in step.commands)
        yield f"<pre>{text_html('code', commands)}</pre>"
        if step.page:
            yield link_html(f"{step.name}/{step.page}", step.page)
