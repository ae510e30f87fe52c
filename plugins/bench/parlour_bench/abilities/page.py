"""Abilities as a page: the verdict, skill in deduction as a picture, the table."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from parlour.training.report.report import Report
from parlour.training.report.result_table import ResultTable

from parlour_bench.abilities.run import Abilities
from parlour_bench.intervals import intervals

ABILITIES_PAGE: Final = "abilities.html"
_LOWEST, _HIGHEST = -1.0, 1.0


def write_abilities_page(folder: Path, measured: Abilities, verdict: str, table: ResultTable) -> None:
    """Write it into the directory of a run. Raises `OSError` as writing a file does."""
    report = Report(f"Abilities: {measured.player}", verdict, (table,))
    report.write_page(folder / ABILITIES_PAGE, pieces=[_picture(measured)])


def _picture(measured: Abilities) -> str:
    """Skill of everybody who was asked, the player only where enough beliefs were its own."""
    hidden = {measured.player} if measured.decided.no_score else set()
    rows = [
        (name, scores.skill, f"{scores.skill.value:.2f}, n={scores.skill.n}")
        for name, scores in measured.deduction.items()
        if scores.skill is not None and name not in hidden
    ]
    label = "skill in deduction with its 95 % interval: 0 as after the night, 1 the exact posterior; n is the number of games"
    return intervals(label, rows, _LOWEST, _HIGHEST) if rows else ""
