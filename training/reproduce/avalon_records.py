"""Published games of Avalon by language models, studied: `parlour reproduce avalon-records --data DIR`.

Source: the games and findings of "multi-round-avalon-agents" (S. Ellawela, 2026, MIT), or any other records that `parlour
import avalon` reads. The study imports them, compares votes and guesses with the heuristic's at the same Views, and
recomputes what the publishers print. With --out everything is kept there: transcripts, a page a game, `report.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from parlour.envs.core import ParlourError
from parlour.policies.files import atomic_write
from parlour.training.avalon.analysis.compare import (
    PLAIN,
    DecidedGame,
    compared_guesses,
    compared_votes,
    wrong_guesses,
)
from parlour.training.avalon.analysis.decisions import GUESS
from parlour.training.avalon.analysis.games import AnalysedGame
from parlour.training.avalon.analysis.run import REPORT, Analysis, AnalysisSettings, analyse
from parlour.training.avalon.records import import_records
from parlour.training.reproduce.avalon_records_report import study_report
from parlour.training.reproduce.cells import (
    Reproduction,
    ReproductionSetting,
    TableCell,
    Value,
    cell,
    remark,
    valued,
)
from parlour.training.statistics import MeanEstimate, Rate, rate

USUAL: Final = "heuristic, usual habits"
GUESSES: Final = "right guesses"
VOTES: Final = "right votes of good seats"
COMPARISON: Final = "4_reasoning_comparison"
"""Begins the source of games that were played to compare reasoning efforts."""
STAGES: Final = (
    ("transcripts", "the games as transcripts (`parlour replay`)"),
    (f"analysis/{REPORT}", "votes, guesses, surprise and costs, with a page for each game"),
)
"""What the study writes, and what it is."""
SETTINGS: Final = AnalysisSettings("rollouts=8", votes=2)


def avalon_records(name: str, setting: ReproductionSetting) -> Reproduction:
    """The whole study of a folder of records. Raises `ParlourError` without one."""
    if setting.data is None:
        raise ParlourError(f"{name} studies published records; accepted: --data DIR, the folder that holds them")
    with _kept(setting.out) as folder:
        transcripts, analysed = folder / "transcripts", folder / "analysis"
        steps = iter(setting.progress(range(2), name))
        next(steps)
        import_records(setting.data, transcripts)
        next(steps)
        found = _analysis(transcripts, analysed, setting.workers)
        next(steps, None)
        cells = tuple(_cells(name, found))
        made = Reproduction(name, _title(found), setting.model.name, cells, (remark("recorded_games"),))
        atomic_write(folder / REPORT, study_report(made, STAGES))
    return made


@contextmanager
def _kept(out: Path | None) -> Iterator[Path]:
    """Where the study is written: a folder, or one that is removed in the end."""
    if out is not None:
        yield out
        return
    with TemporaryDirectory() as made:
        yield Path(made)


def _analysis(transcripts: Path, out: Path, workers: int) -> Analysis:
    return analyse(transcripts, out, replace(SETTINGS, workers=workers))


def _title(found: Analysis) -> str:
    return f"{len(found.folder.games)} recorded games of {found.folder.theirs}"


# -- cells -------------------------------------------------------------------------------------------------------


def _cells(table: str, found: Analysis) -> Iterator[TableCell]:
    theirs, games = found.folder.theirs, found.folder.games
    yield from _guesses(table, theirs, games)
    yield from _votes(table, theirs, games)
    yield from _published(table, theirs, games)


def _guesses(table: str, theirs: str, games: Sequence[DecidedGame]) -> Iterator[TableCell]:
    for one in compared_guesses(games):
        of = _group(one.by, one.group)
        found = one.difference
        apart = Value(0.0 - found.difference, found.n, -found.high, -found.low, share=True)
        yield cell(table, theirs, of, GUESSES, one.theirs)
        yield cell(table, USUAL, of, GUESSES, _as_share(one.ours), apart)
        yield cell(table, "both", of, GUESSES, rate(one.both, one.theirs.n))
        yield cell(
            table, "a good seat at random", of, GUESSES, Value(one.chance / one.theirs.n, one.theirs.n, share=True)
        )


def _votes(table: str, theirs: str, games: Sequence[DecidedGame]) -> Iterator[TableCell]:
    for one in compared_votes(games):
        of = _group(one.by, one.group)
        yield cell(table, theirs, of, VOTES, valued(one.theirs, share=True))
        yield cell(table, USUAL, of, VOTES, valued(one.ours, share=True), _less(one.difference))


def _published(table: str, theirs: str, games: Sequence[DecidedGame]) -> Iterator[TableCell]:
    """What the publishers print, counted here."""
    for effort in ("low", "medium", "high"):
        of_effort = [one for one in games if one[0].noted("reasoning_effort") == effort]
        compared = [one for one in of_effort if one[0].noted("source").startswith(COMPARISON)]
        if of_effort:
            yield cell(table, theirs, f"{effort} effort", GUESSES, _right(of_effort))
        if compared:
            yield cell(table, theirs, f"{effort} effort, compared games alone", GUESSES, _right(compared))
    wrong = wrong_guesses(games)
    plain = sum(count for role, count in wrong.items() if role in PLAIN)
    if wrong:
        yield cell(table, theirs, "wrong guesses", "hit a plain good seat", rate(plain, sum(wrong.values())))
    larger = wrong_guesses([one for one in games if _has_percival(one[0])])
    if larger:
        hits = sum(count for role, count in larger.items() if role in PLAIN)
        yield cell(
            table, theirs, "wrong guesses, with Percival", "hit a plain good seat", rate(hits, sum(larger.values()))
        )


def _has_percival(game: AnalysedGame) -> bool:
    return "Percival" in game.roles


def _right(games: Sequence[DecidedGame]) -> Rate | None:
    guesses = [one.right for _, decisions in games for one in decisions if one.kind == GUESS and one.right is not None]
    return rate(sum(guesses), len(guesses))


def _less(found: MeanEstimate) -> Value:
    """A difference the other way round."""
    low, high = (None if end is None else -end for end in (found.high, found.low))
    return Value(-found.mean, found.n, low, high, share=True)


def _as_share(found: Rate) -> Value:
    return Value(found.rate, found.n, found.low, found.high, share=True)


def _group(by: str, group: str) -> str:
    return {"all": "", "reasoning effort": f"effort {group}"}.get(by, f"{group} {by}")
