"""What the steps of the study of games of people (`avalon_people.py`) share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from parlour.training.papers.cells import ReproductionSetting, TableCell, cell
from parlour.training.records.avalon import import_records

GPT51: Final = "gpt51_avalon"
"""Folder beside the data with the games of GPT-5.1; without it, their rows are missing."""


@dataclass
class PeopleStudy:
    """A study on its way: what the steps so far found."""

    name: str
    setting: ReproductionSetting
    folder: Path
    files: list[Path] = field(default_factory=list)
    """Transcripts, in the order of the games."""
    cells: list[TableCell] = field(default_factory=list)
    written: list[tuple[str, str]] = field(default_factory=list)
    """What the study wrote: path from the report, and what it is."""
    pictures: list[tuple[str, str]] = field(default_factory=list)
    """Path and title of each picture."""

    def add(self, row: str, of: str, measure: str, ours: Any, difference: Any = None) -> None:
        """Add a cell."""
        self.cells.append(cell(self.name, row, of, measure, ours, difference))

    def gpt51(self) -> Path | None:
        """Transcripts of the games of GPT-5.1, imported once, if they lie beside the data."""
        assert self.setting.data is not None
        source, games = self.setting.data.resolve().parent / GPT51, self.folder / GPT51
        if source.is_dir() and not games.is_dir():
            import_records(source, games)
        return games if games.is_dir() else None
