"""Published games of Avalon by language models, studied: `parlour reproduce avalon-records --data DIR`.

Source: the games and findings of "multi-round-avalon-agents" (S. Ellawela, 2026, MIT), or any other records that `parlour
import avalon` reads. The study imports them, compares votes and guesses with the heuristic's at the same Views, and
recomputes what the publishers print. With --out everything is kept there: transcripts, a page a game, `report.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError
from parlour.training.papers.cells import (
    Reproduction,
    ReproductionSetting,
    TableCell,
    Value,
    cell,
    kept,
    opposite,
    valued,
)
from parlour.training.play.extras import import_extra
from parlour.training.records.avalon import import_records
from parlour.training.report.html import write_report
from parlour.training.report.result_table import markdown_list, markdown_table
from parlour.training.runs.progress import Stage, counted
from parlour.training.statistics import Estimate, rate, show_interval

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


def avalon_records(name: str, setting: ReproductionSetting) -> Reproduction:
    """The whole study of a folder of records. Raises `ParlourError` without one."""
    if setting.data is None:
        raise ParlourError(f"{name} studies published records; accepted: --data DIR, the folder that holds them")
    with kept(setting.out) as folder:
        cells: list[TableCell] = []
        for step in counted(_STEPS, Stage(f"Reproducing {name}", len(_STEPS), "steps"), setting.progress):
            title, more = step(name, setting, folder)
            cells += more
        made = Reproduction(name, title, setting.model.name, tuple(cells), (REMARK,))
        write_report(folder, study_report(made, STAGES))
    return made


# -- the steps: each returns the title, if it knows it, and its cells ---------------------------------------------------


def _import(name: str, setting: ReproductionSetting, folder: Path) -> tuple[str, list[TableCell]]:
    assert setting.data is not None
    import_records(setting.data, folder / TRANSCRIPTS)
    return "", []


def _habits(name: str, setting: ReproductionSetting, folder: Path) -> tuple[str, list[TableCell]]:
    learned = learn_habits(HabitsConfig(source=str(folder / TRANSCRIPTS), folds=FOLDS), folder / HABITS)
    return "", list(_readings(name, learned))


def _clone(name: str, setting: ReproductionSetting, folder: Path) -> tuple[str, list[TableCell]]:
    fitted = import_extra("parlour_people.clone.run", "train")
    clone = fitted.clone(folder / TRANSCRIPTS, folder / CLONED, CLONING)
    return "", list(_predictions(name, clone.scores))


def _analysis(name: str, setting: ReproductionSetting, folder: Path) -> tuple[str, list[TableCell]]:
    settings = SETTINGS.replace(habits=folder / HABITS, workers=setting.workers)
    analysis = analyse(folder / TRANSCRIPTS, folder / ANALYSIS, settings)
    title = f"{len(analysis.folder.games)} recorded games of {analysis.folder.theirs}"
    return title, list(compared_cells(name, analysis))


_STEPS: Final = (_import, _habits, _clone, _analysis)


# -- cells -------------------------------------------------------------------------------------------------------


def _readings(table: str, learned: LearnedFrom) -> Iterator[TableCell]:
    """How well an onlooker's belief tells the evil side, on games that its habits were not learned from."""
    for score in learned.scores:
        row = BELIEFS.get(score["habits"], score["habits"])
        of = PLAYERS.get(score["players"], f"{score['players']} players")
        less, more = score.get("less_than_default"), score.get("less_than_before")
        apart = None if less is None else valued(less, share=False)
        yield cell(table, row, of, LOSS, loss_value(score["log_loss"]), apart)
        if more is not None:
            yield cell(table, row, of, WORDS, valued(more, share=False))
        if not of:
            yield cell(table, row, of, AUC, Value(score["auc"], score["games"]))
            yield cell(table, row, of, ECE, Value(score["ece"], score["games"]))


def loss_value(estimate: Estimate) -> Value:
    """An estimate in a unit of its own; an interval without width is left out."""
    ends = (None, None) if estimate.low == estimate.high else (estimate.low, estimate.high)
    return Value(estimate.value, estimate.n, *ends)


def _predictions(table: str, scores: Sequence[ChoiceScore]) -> Iterator[TableCell]:
    """How well the clone and others foretell decisions of games that they have not learned from."""
    for score in over_all(scores):
        top, log = score.top_less, score.log_less
        apart = None if top is None else opposite(top)
        yield cell(table, score.model, score.what, TOP, valued(score.top, share=True), apart)
        apart = None if log is None else opposite(log, share=False)
        yield cell(table, score.model, score.what, LOG, valued(score.log, share=False), apart)


def compared_cells(table: str, analysis: Analysis) -> Iterator[TableCell]:
    """Votes and guesses of an analysis, by learned habits or by the usual ones alone."""
    theirs, games, beside = analysis.folder.theirs, analysis.folder.games, analysis.folder.beside
    ours = {ROWS[name]: decided for name, decided in beside.items()}
    ours[LEARNED_HABITS if USUAL in beside else ROWS[USUAL]] = games
    yield from _guesses(table, theirs, ours)
    yield from _votes(table, theirs, ours)
    yield from _published(table, theirs, analysis.folder.games)


def _guesses(table: str, theirs: str, ours: Mapping[str, Sequence[DecidedGame]]) -> Iterator[TableCell]:
    rows = {name: list(compared_guesses(games)) for name, games in ours.items()}
    for number, first in enumerate(next(iter(rows.values()))):
        of = _group(first.by, first.group)
        yield cell(table, theirs, of, GUESSES, first.theirs)
        for name, row in rows.items():
            score = row[number]
            low, high = score.difference.ends
            apart = Value(-score.difference.value, first.theirs.n, -high, -low, share=True)
            yield cell(table, name, of, GUESSES, valued(score.ours, share=True), apart)
            if not of:
                yield cell(table, f"both, {name}", of, GUESSES, rate(score.both, score.theirs.n))
        if not of:
            chance = Value(first.chance / first.theirs.n, first.theirs.n, share=True)
            yield cell(table, "a good seat at random", of, GUESSES, chance)


def _votes(table: str, theirs: str, ours: Mapping[str, Sequence[DecidedGame]]) -> Iterator[TableCell]:
    rows = {name: list(compared_votes(games)) for name, games in ours.items()}
    for number, first in enumerate(next(iter(rows.values()))):
        of = _group(first.by, first.group)
        yield cell(table, theirs, of, VOTES, valued(first.theirs, share=True))
        for name, row in rows.items():
            score = row[number]
            yield cell(table, name, of, VOTES, valued(score.ours, share=True), opposite(score.difference))


def _published(table: str, theirs: str, games: Sequence[DecidedGame]) -> Iterator[TableCell]:
    """What the publishers print, counted here."""
    for effort in ("low", "medium", "high"):
        of_effort = [game for game in games if game[0].noted("reasoning_effort") == effort]
        compared = [pair for pair in of_effort if pair[0].noted("source").startswith(COMPARISON)]
        if of_effort:
            yield _printed(cell(table, theirs, f"{effort} effort", GUESSES, _right(of_effort)))
        if compared:
            yield cell(table, theirs, f"{effort} effort, compared games alone", GUESSES, _right(compared))
    wrong = wrong_guesses(games)
    larger = wrong_guesses([pair for pair in games if "Percival" in pair[0].roles])
    for of, counts in (("wrong guesses", wrong), ("wrong guesses, with Percival", larger)):
        if counts:
            plain = sum(count for role, count in counts.items() if role in PLAIN)
            yield _printed(cell(table, theirs, of, PLAIN_HIT, rate(plain, sum(counts.values()))))


def _printed(made: TableCell) -> TableCell:
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
    return rate(sum(guesses), len(guesses))


def _group(by: str, group: str) -> str:
    return {"all": "", "reasoning effort": f"effort {group}"}.get(by, f"{group} {by}")


# -- the report --------------------------------------------------------------------------------------------------------


def study_report(made: Reproduction, written: Sequence[tuple[str, str]]) -> str:
    """The report.

    Args:
        made: The figures.
        written: What else the study wrote: path from the report, and what it is.
    """
    measures = list(dict.fromkeys(entry.measure for entry in made.cells))
    parts = [
        f"# {made.title}",
        markdown_list(made.remarks),
        markdown_list(f"[{path}]({path}): {what}" for path, what in written),
    ]
    for measure in measures:
        cells = [entry for entry in made.cells if entry.measure == measure]
        parts += [f"## {measure[0].upper()}{measure[1:]}", _table(cells)]
    notes = sorted({f"{entry.row}, {entry.of}, {entry.measure}: {entry.note}" for entry in made.cells if entry.note})
    parts += [markdown_list(notes)] if notes else []
    return "\n\n".join(parts) + "\n"


def _table(cells: Sequence[TableCell]) -> str:
    printed = any(entry.paper is not None for entry in cells)
    apart = any(entry.apart is not None for entry in cells)
    headings = ["", "of", *(["published"] if printed else []), "here [95 %]", "n", *(["difference"] if apart else [])]
    rows = []
    for entry in cells:
        figure = entry.figure
        row = [entry.row, entry.of or "all"]
        row += [("-" if entry.paper is None else _paper(entry.paper, figure))] if printed else []
        row += ["nothing to count", "0"] if figure is None else [shown(figure), str(figure.n)]
        row += ["" if entry.apart is None else shown(entry.apart, sign="+")] if apart else []
        rows.append(row)
    return markdown_table(headings, rows)


def _paper(printed: float, figure: Value | None) -> str:
    return f"{printed:g}" if figure is not None and not figure.share else f"{printed:g} %"


def shown(value: Value, sign: str = "") -> str:
    """A figure with its interval: shares in percent, their differences in points."""
    times, unit = (100, ".1f") if value.share else (1, ".3f")
    percent = " %" if value.share and not sign else ""
    interval = "" if value.low is None or value.high is None else f" {show_interval(value, sign + unit, times)}"
    return f"{times * value.value:{sign}{unit}}{percent}{interval}"
