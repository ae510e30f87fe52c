"""Published games of Avalon by language models, studied: `parlour reproduce avalon-records --data DIR`.

Source: the games and findings of "multi-round-avalon-agents" (S. Ellawela, 2026, MIT), or any other records that `parlour
import avalon` reads. The study imports them, compares votes and guesses with the heuristic's at the same Views, and
recomputes what the publishers print. With --out everything is kept there: transcripts, a page a game, `report.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from parlour.envs.avalon.vocabulary import PERCIVAL
from parlour.envs.core import ParlourError
from parlour.training.papers.cells import Reproduction, cell
from parlour.training.play.extras import import_extra
from parlour.training.records.avalon.importing import import_records
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate

from parlour_people.analysis.compare import (
    PLAIN,
    DecidedGame,
    compared_guesses,
    compared_votes,
    wrong_guesses,
)
from parlour_people.analysis.decisions import GUESS
from parlour_people.analysis.run import REPORT, UNHEARD, USUAL, Analysis, AnalysisSettings, analyse
from parlour_people.clone.choices import CloneConfig
from parlour_people.clone.report import ChoiceScore, over_all
from parlour_people.habits.run import HabitsConfig, LearnedFrom, learn_habits

ROWS: Final = {USUAL: "heuristic, usual habits", UNHEARD: "heuristic, learned habits, words left out"}
LEARNED_HABITS: Final = "heuristic, learned habits"
BELIEFS: Final = {"default": "usual habits", "learned": "learned habits", "learned, words": "learned habits, words"}
"""What a run of habits calls its readings -> the row."""
PLAYERS: Final = {"all": "", "5": "5 players", "6-10": "6 to 10 players"}
LOSS: Final = "log loss of the true evil side, to an onlooker after each quest"
WORDS: Final = "the same loss less that without words"
AUC: Final = "AUC of the chance to be evil"
ECE: Final = "expected calibration error of the chance to be evil"
GUESSES: Final = "right guesses"
VOTES: Final = "right votes of good seats"
PLAIN_HIT: Final = "hit a plain good seat"
COMPARISON: Final = "4_reasoning_comparison"
"""Begins the source of games that were played to compare reasoning efforts."""
TOP: Final = "recorded decisions foretold"
LOG: Final = "log likelihood of recorded decisions, in nats"
_UNNAMED: Final = "which games the publishers count is not printed"
PUBLISHED: Final = {
    ("gpt-5.1", "low effort", GUESSES): (67, _UNNAMED),
    ("gpt-5.1", "medium effort", GUESSES): (75, _UNNAMED),
    ("gpt-5.1", "high effort", GUESSES): (100, _UNNAMED),
    ("gpt-5.1", "wrong guesses", PLAIN_HIT): (90, ""),
}
"""What the publishers print, in percent, by row, of and measure, with a note."""
REMARK: Final = (
    "Recorded players are measured as they were: one model family, one prompt, no clocks. Ours decides at the same Views and plays "
    "no game; by habits learned from other games where a row says so."
)
TRANSCRIPTS, HABITS, CLONED, ANALYSIS = "transcripts", "habits", "clone", "analysis"
STAGES: Final = (
    (TRANSCRIPTS, "the games as transcripts (`parlour replay`)"),
    (f"{HABITS}/{REPORT}", "habits learned from the games, cross-validated by game"),
    (
        f"{CLONED}/{REPORT}",
        "a clone of the players, cross-validated by game; `clone/clone.npz` plays (`--policy clone:FILE`)",
    ),
    (f"{ANALYSIS}/{REPORT}", "votes, guesses and surprise"),
)
"""What the study writes, and what it is."""
FOLDS: Final = 5
CLONING: Final = CloneConfig(folds=FOLDS)
SETTINGS: Final = AnalysisSettings()


def avalon_records(name: str, setting: Any) -> Reproduction:
    """The whole study of a folder of records. Raises `ParlourError` without one."""
    if setting.data is None:
        raise ParlourError(f"{name} studies published records; accepted: --data DIR, the folder that holds them")
    with setting.folder() as folder:
        cells: list[Any] = []
        for step in Stage(f"Reproducing {name}", len(_STEPS), "steps").counted(_STEPS, setting.progress):
            title, more = step(name, setting, folder)
            cells += more
        written = tuple(f"[{path}]({path}): {what}" for path, what in STAGES)
        return Reproduction(name, title, setting.model.name, tuple(cells), (REMARK,), written=written)


# -- the steps: each returns the title, if it knows it, and its cells ---------------------------------------------------


def _import(name: str, setting: Any, folder: Path) -> tuple[str, list[Any]]:
    assert setting.data is not None
    import_records(setting.data, folder / TRANSCRIPTS)
    return "", []


def _habits(name: str, setting: Any, folder: Path) -> tuple[str, list[Any]]:
    learned = learn_habits(HabitsConfig(source=str(folder / TRANSCRIPTS), folds=FOLDS), Run(folder / HABITS))
    return "", list(_readings(name, learned))


def _clone(name: str, setting: Any, folder: Path) -> tuple[str, list[Any]]:
    fitted = import_extra("parlour_people.clone.run", "train")
    clone = fitted.clone(folder / TRANSCRIPTS, Run(folder / CLONED), CLONING)
    return "", list(_predictions(name, clone.scores))


def _analysis(name: str, setting: Any, folder: Path) -> tuple[str, list[Any]]:
    settings = SETTINGS.replace(habits=folder / HABITS, workers=setting.workers)
    analysis = analyse(folder / TRANSCRIPTS, folder / ANALYSIS, settings)
    title = f"{len(analysis.folder.games)} recorded games of {analysis.folder.theirs}"
    return title, list(compared_cells(name, analysis))


_STEPS: Final = (_import, _habits, _clone, _analysis)


# -- cells -------------------------------------------------------------------------------------------------------


def _readings(table: str, learned: LearnedFrom) -> Iterator[Any]:
    """How well an onlooker's belief tells the evil side, on games that its habits were not learned from."""
    for score in learned.scores:
        row = BELIEFS.get(score["habits"], score["habits"])
        of = PLAYERS.get(score["players"], f"{score['players']} players")
        less, more = score.get("less_than_default"), score.get("less_than_before")
        made = partial(cell, table, row, of, share=False)
        yield made(LOSS, with_width(score["log_loss"]), less)
        if more is not None:
            yield made(WORDS, more)
        if not of:
            yield made(AUC, Estimate(score["auc"], n=score["games"]))
            yield made(ECE, Estimate(score["ece"], n=score["games"]))


def with_width(estimate: Estimate) -> Estimate:
    """An estimate; an interval without width is left out."""
    return replace(estimate, low=None, high=None) if estimate.low == estimate.high else estimate


def _predictions(table: str, scores: Sequence[ChoiceScore]) -> Iterator[Any]:
    """How well the clone and others foretell decisions of games that they have not learned from."""
    for score in over_all(scores):
        top, log = score.top_less, score.log_less
        yield cell(table, score.model, score.what, TOP, score.top, top and -top)
        yield cell(table, score.model, score.what, LOG, score.log, log and -log, share=False)


def compared_cells(table: str, analysis: Analysis) -> Iterator[Any]:
    """Votes and guesses of an analysis, by learned habits or by the usual ones alone."""
    theirs, games, beside = analysis.folder.theirs, analysis.folder.games, analysis.folder.beside
    ours = {ROWS[name]: decided for name, decided in beside.items()}
    ours[LEARNED_HABITS if USUAL in beside else ROWS[USUAL]] = games
    yield from _guesses(table, theirs, ours)
    yield from _votes(table, theirs, ours)
    yield from _published(table, theirs, analysis.folder.games)


def _guesses(table: str, theirs: str, ours: Mapping[str, Sequence[DecidedGame]]) -> Iterator[Any]:
    rows = {name: list(compared_guesses(games)) for name, games in ours.items()}
    for number, first in enumerate(next(iter(rows.values()))):
        of = _group(first.by, first.group)
        yield cell(table, theirs, of, GUESSES, first.theirs)
        for name, row in rows.items():
            score = row[number]
            yield cell(table, name, of, GUESSES, score.ours, -score.difference)
            if not of:
                yield cell(table, f"both, {name}", of, GUESSES, Estimate.rate(score.both, score.theirs.n))
        if not of:
            chance = Estimate(first.chance / first.theirs.n, n=first.theirs.n)
            yield cell(table, "a good seat at random", of, GUESSES, chance)


def _votes(table: str, theirs: str, ours: Mapping[str, Sequence[DecidedGame]]) -> Iterator[Any]:
    rows = {name: list(compared_votes(games)) for name, games in ours.items()}
    for number, first in enumerate(next(iter(rows.values()))):
        of = _group(first.by, first.group)
        yield cell(table, theirs, of, VOTES, first.theirs)
        for name, row in rows.items():
            score = row[number]
            yield cell(table, name, of, VOTES, score.ours, -score.difference)


def _published(table: str, theirs: str, games: Sequence[DecidedGame]) -> Iterator[Any]:
    """What the publishers print, counted here."""
    for effort in ("low", "medium", "high"):
        of_effort = [game for game in games if game[0].noted("reasoning_effort") == effort]
        compared = [pair for pair in of_effort if pair[0].noted("source").startswith(COMPARISON)]
        if of_effort:
            yield _printed(cell(table, theirs, f"{effort} effort", GUESSES, _right(of_effort)))
        if compared:
            yield cell(table, theirs, f"{effort} effort, compared games alone", GUESSES, _right(compared))
    wrong = wrong_guesses(games)
    larger = wrong_guesses([pair for pair in games if PERCIVAL in pair[0].roles])
    for of, counts in (("wrong guesses", wrong), ("wrong guesses, with Percival", larger)):
        if counts:
            plain = sum(count for role, count in counts.items() if role in PLAIN)
            yield _printed(cell(table, theirs, of, PLAIN_HIT, Estimate.rate(plain, sum(counts.values()))))


def _printed(made: Any) -> Any:
    """The cell with the publishers' figure, if they print one."""
    paper, note = PUBLISHED.get((made.row, made.of, made.measure), (None, ""))
    return replace(made, paper=paper, note=note)


def _right(games: Sequence[DecidedGame]) -> Estimate | None:
    guesses = [
        decision.right
        for _, decisions in games
        for decision in decisions
        if decision.kind == GUESS and decision.right is not None
    ]
    return Estimate.rate(sum(guesses), len(guesses))


def _group(by: str, group: str) -> str:
    return {"all": "", "reasoning effort": f"effort {group}"}.get(by, f"{group} {by}")
