"""What the tables of Questum and PLAYER* are made of: their rows, the cases, the games, and cells with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
from parlour.envs.core import ParlourError, accept
from parlour.envs.murder_mystery.cases.find import find, is_path, shipped
from parlour.envs.murder_mystery.vocabulary.facts import LANGUAGES
from parlour.envs.murder_mystery.vocabulary.quiz import SORTS
from parlour.envs.settings import COMMON
from parlour.policies.llm.decisions import Decisions
from parlour.training.measure.murder_mystery import methods, scores
from parlour.training.measure.murder_mystery.games import (
    CaseJob,
    CaseResult,
    CaseSetting,
    generated,
    in_folder,
    play_all,
)
from parlour.training.measure.murder_mystery.methods import MysteryMethod
from parlour.training.measure.murder_mystery.result_store import play_stored
from parlour.training.measure.murder_mystery.scores import Formula
from parlour.training.papers.cells import ReproductionSetting, TableCell, cell, folder_name, lines_of
from parlour.training.play import seeds
from parlour.training.play.runner import GameRunner
from parlour.training.report.result_table import Cell, ResultTable
from parlour.training.statistics import COUNT, SHARE, SHARE_DIFFERENCE, Estimate
from pydantic import Field

OVERALL: Final = "Overall"
"""All cases together."""
WIN: Final = "win rate"
MEASURES: Final = (WIN, *SORTS.values(), scores.OVERALL)
Rows = Mapping[str, MysteryMethod]
"""Row -> its players; the other rows are compared with the first."""

LEVEL: Final = 5
"""Level of the papers' tables: at 50 cases the weakest method names 32 % of the murderers, at level 4 it named 5 of 10."""
SCRIPTS: Final = {line["title"]: line["script"] for line in lines_of("scripts")}
"""Title in the data -> what the papers call the script, where that differs."""


class MysterySetting(ReproductionSetting):
    """How a table of murder mysteries is played."""

    cases: Annotated[str, COMMON] = "en"
    """Murder mysteries: `en` or `zh` (generated, held out); a directory of WellPlay scripts or cases; or one case: a shipped one,
    seed:N or a file."""
    repetitions: int | None = Field(default=None, ge=1)
    """Murder mysteries: number of repetitions of the quiz; None: 3, with `--quick` 1."""
    level: Annotated[int | None, COMMON] = None
    """Murder mysteries: difficulty of the generated cases, 0 to 5; from level 1, innocents lie, too. None: 5 for tables of papers,
    where the weakest method names 20 to 40 % of the murderers; 0 otherwise."""
    victims: int | None = Field(default=None, ge=1, le=4)
    """Murder mysteries: number of victims of the generated cases, at levels 0 and 5; None: as the level has it."""
    embedder: Literal["hashing", "minilm"] = "hashing"
    """Murder mysteries: what turns scripts and talk into vectors for the memory: hashed words, or MiniLM of the extra `embed`."""
    workers: Annotated[int, COMMON] = Field(default=1, ge=1)
    """Number of processes that play, where no language model is asked: murder mysteries. The result does not depend on it."""

    @property
    def quizzes(self) -> int:
        """How often the quiz is put."""
        return self.repetitions or (1 if self.quick else 3)

    @property
    def runner(self) -> GameRunner:
        """As for any table, in its processes."""
        return replace(super().runner, workers=self.workers)


@dataclass(frozen=True)
class Games:
    """All games of a table: every row on the same cases."""

    rows: Mapping[str, tuple[CaseResult, ...]]
    formula: Formula
    """Formula of the deviation over repetitions."""
    file: str
    """Name of the CSV file with all games."""

    @property
    def first(self) -> str:
        """The row that others are compared with."""
        return next(iter(self.rows))

    @property
    def players(self) -> dict[str, Decisions]:
        """Row -> whose the decisions of its seats were, in rows that play."""
        made = {row: [player for game in games for player in game.players.values()] for row, games in self.rows.items()}
        return {row: sum(of, Decisions()) for row, of in made.items() if of}

    @property
    def groups(self) -> tuple[str, ...]:
        """Scripts of the papers among the cases, then all."""
        known = set(SCRIPTS.values())
        titles = [script(result) for result in self.rows[self.first]]
        return (*dict.fromkeys(title for title in titles if title in known), OVERALL)

    def of(self, row: str, group: str) -> list[CaseResult]:
        """The games of a row and a script, or of all."""
        return [result for result in self.rows[row] if group in (OVERALL, script(result))]


def script(played: CaseResult) -> str:
    """What the papers call its script; the title of any other case."""
    return SCRIPTS.get(played.title, played.title)


def cases_of(setting: MysterySetting) -> list[tuple[str, int]]:
    """References and seeds. Raises `ParlourError` if `setting.cases` is no language, no case and no folder with cases."""
    level = LEVEL if setting.level is None else setting.level
    if setting.cases in LANGUAGES:
        more = f"::{setting.victims or ''}::{level}" if level else f"::{setting.victims}" if setting.victims else ""
        return generated(setting.games, setting.seed, setting.cases, more)
    for option in ("level", "victims"):
        if getattr(setting, option):
            given = f"{option} {getattr(setting, option)}"
            raise ParlourError(f"{given} is not accepted for {setting.cases!r}; accepted: with cases en, zh")
    folder = Path(setting.cases)
    if folder.is_dir():
        return in_folder(folder, setting.seed)
    if is_path(setting.cases) and not folder.exists():
        raise accept("cases", setting.cases, (*LANGUAGES, *shipped(), "seed:N", "a case's file, a folder with cases"))
    find(setting.cases)  # an error before the first game
    return [(setting.cases, seeds.HELD_OUT[setting.seed])]


def play_cases(
    name: str,
    setting: MysterySetting,
    rows: Rows,
    *,
    formula: Formula = "population",
    murderer: str = "",
    tables: Mapping[str, CaseSetting] | None = None,
) -> Games:
    """Play every case with every row; what lies in `setting.out` from a run that was killed is not played again.

    Args:
        name: Name of the table; for a file.
        setting: How much, and who answers.
        rows: Who plays.
        formula: Formula of deviations.
        murderer: Policy of the murderers, if it is the same for all methods.
        tables: Row -> how it is played, where that is another table than the default one.
    """
    results: dict[str, tuple[CaseResult, ...]] = {}
    usual = CaseSetting(repetitions=setting.quizzes)
    cases = cases_of(setting)
    for row, method in rows.items():
        table = (tables or {}).get(row, usual).replace(embedder=setting.embedder)
        jobs = [
            CaseJob(case, method, seed, table, murderer, _transcript(setting, row, number) if method.policy else None)
            for number, (case, seed) in enumerate(cases)
        ]
        if setting.out is None:
            results[row] = tuple(play_all(jobs, setting.model, setting.runner, row))
        else:
            folder = setting.out / folder_name(row)
            results[row] = tuple(play_stored(jobs, setting.model, folder, setting.runner, row))
    return Games(results, formula, f"{name}.csv")


def as_played(setting: MysterySetting, rows: Rows) -> tuple[Rows, tuple[str, ...]]:
    """The rows, named for the procedure that plays, and a remark where it is another one on cases of prose."""
    cases = [] if setting.cases in LANGUAGES else [find(reference) for reference, _ in cases_of(setting)]
    by_score, said = methods.by_score({row: of.policy for row, of in rows.items()}, cases)
    label = " (by score)" if all(map(methods.is_prose, cases)) else " (by score on prose)"
    return {row + label * (row in by_score): method for row, method in rows.items()}, (said,) if said else ()


def _transcript(setting: MysterySetting, row: str, number: int) -> Path | None:
    return None if setting.out is None else setting.out / folder_name(row) / f"{number}.jsonl"


# -- cells -----------------------------------------------------------------------------------------------------


def scored(name: str, games: Games, measures: Sequence[str] = MEASURES) -> list[TableCell]:
    """Win rates and accuracies, script by script and over all; over all with the difference from the first row."""
    cells = []
    for group in games.groups:
        for row in games.rows:
            for measure in measures:
                made = _win(name, games, row, group) if measure == WIN else _accuracy(name, games, row, group, measure)
                cells += [made] if made is not None else []
    return [_starred(games, entry) if entry.of == OVERALL else entry for entry in cells]


def _starred(games: Games, entry: TableCell) -> TableCell:
    """The best of the methods that play with the paper's test beside its figure: two samples, against the second best."""
    samples = {}
    for row, played in games.rows.items():
        won = [result.solved / result.victims for result in played if result.victims]
        right = scores.scored([result.marks for result in played], entry.measure)[0]
        shares = won if entry.measure == WIN else right
        if played[0].players and len(shares) > 1:
            samples[row] = (float(np.mean(shares)), float(np.std(shares, ddof=1)), len(shares))
    best, *others = sorted(samples, key=lambda row: -samples[row][0])[:2] or [""]
    if entry.row != best or not others or samples[best][1] + samples[others[0]][1] < 1e-9:
        return entry
    from scipy.stats import ttest_ind_from_stats  # takes nearly a second to import

    p = float(ttest_ind_from_stats(*samples[best], *samples[others[0]]).pvalue)
    test = f"{'*' if p < 0.05 else 'no star'}: best; two-sample t-test over cases against {others[0]}, p = {p:.2g}"
    return replace(entry, note="; ".join(filter(None, (entry.note, test))))


def _win(name: str, games: Games, row: str, group: str) -> TableCell | None:
    played = games.of(row, group)
    ours = Estimate.rate(sum(result.solved for result in played), sum(result.victims for result in played))
    difference = None
    if row != games.first and group == OVERALL:
        first = games.of(games.first, group)
        pairs = [(a, b) for a, b in zip(played, first, strict=True) if a.victims]
        gained = [(a.solved - b.solved) / a.victims for a, b in pairs]
        victims = [a.victims for a, _ in pairs]
        difference = Estimate.weighted_mean(gained, victims, SHARE_DIFFERENCE) if pairs else None
    return cell(name, row, group, WIN, ours, difference)


def _accuracy(name: str, games: Games, row: str, group: str, measure: str) -> TableCell | None:
    marks = [result.marks for result in games.of(row, group)]
    shares, weights = scores.scored(marks, measure)
    if not shares:
        return None
    scored = [mark for mark in (scores.score(m, measure) for m in marks) if mark is not None]
    all_runs = group == OVERALL and games.formula == "sample"
    deviation = scores.over_runs(scored) if all_runs else scores.over_totals(scored, games.formula)
    difference = None
    if row != games.first and group == OVERALL:
        difference = scores.compared(marks, [result.marks for result in games.of(games.first, group)], measure)
    estimate = Estimate.weighted_mean(shares, weights, SHARE)
    return cell(name, row, group, measure, estimate, difference, deviation=deviation)


def costs(name: str, games: Games, stages: Mapping[str, Sequence[str]]) -> list[TableCell]:
    """Dollars as the papers tell them, and questions to the model for a case; over all also tokens and seconds.
    `stages`: row -> its stages, of `"gameplay"` and `"evaluation"`.
    """
    cells = []
    for group in games.groups:
        for row, parts in stages.items():
            for stage in parts:
                cells += _cost(name, games, row, group, stage)
    return cells


def _cost(name: str, games: Games, row: str, group: str, stage: str) -> list[TableCell]:
    spent = [result.play if stage == "gameplay" else result.quiz for result in games.of(row, group)]
    total = sum(spent, Decisions())
    made = partial(cell, name, row, group, share=False)
    cells = []
    if total.dollars is not None:
        cells.append(made(f"{stage} dollars", Estimate(total.dollars, n=len(spent))))
    cells.append(asked(name, games, row, group, stage))
    if group == OVERALL:
        tokens = [part.tokens for part in spent if part.tokens is not None]
        if len(tokens) == len(spent):
            cells.append(made(f"{stage}: tokens", Estimate.mean(tokens, COUNT)))
        cells.append(made(f"{stage}: seconds", Estimate.mean([part.seconds for part in spent], COUNT)))
    return cells


def asked(name: str, games: Games, row: str, group: str = OVERALL, stage: str = "gameplay") -> TableCell:
    """Questions to the model; for all games with the difference from the first row."""
    first, ours = (
        [(result.play if stage == "gameplay" else result.quiz).asked for result in games.of(of, group)]
        for of in (games.first, row)
    )
    difference = None
    if row != games.first and group == OVERALL and stage == "gameplay":
        difference = Estimate.mean([a - b for a, b in zip(ours, first, strict=True)])
    measure = f"{stage}: questions to the model"
    return cell(name, row, group, measure, Estimate.mean(ours, COUNT), difference, share=False)


def games_table(games: Games) -> ResultTable:
    """A line for each row and case: victims, points by sort, and what it took."""
    sorts = (*SORTS.values(), scores.OVERALL)
    spent = ("asked", "requests", "prompt", "completion", "dollars", "seconds")
    took = [(stage, what) for stage in ("play", "quiz") for what in spent]
    named = {"asked": "questions", "requests": "calls"}
    heading = ["row", "case", "title", "seed", "victims", "solved", *sorts, "questions asked"]
    heading += [f"{stage} {named.get(what, what)}" for stage, what in took]
    rows: list[tuple[Cell, ...]] = []
    for row, played in games.rows.items():
        for result in played:
            by_sort = [scores.score(result.marks, sort) for sort in sorts]
            shares = [None if score is None else round(score.mean, 6) for score in by_sort]
            values = [getattr(getattr(result, stage), what) for stage, what in took]
            case = (result.case, result.title, result.seed, result.victims, result.solved)
            rows.append((row, *case, *shares, result.asked, *values))
    return ResultTable.plain("Games", heading, rows, file=games.file)
