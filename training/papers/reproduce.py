"""Published results played again: the paper's rows beside ours, with n and intervals, and which model played.

A table is a function from a setting to `TableCell`s. The papers' figures are in `data`, typed from the papers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from parlour.envs.core import check_one_of
from parlour.envs.plugins import OpenTable
from parlour.training.papers import avalon_social_tables, avalon_tables, figures, grace, gratr, questum
from parlour.training.papers.cells import PaperTable, Reproduction, ReproductionSetting, TableCell, lines_of
from parlour.training.papers.report import report_of
from parlour.training.runs.run import Run

__all__ = ["TABLES", "PaperTable", "Reproduction", "ReproductionSetting", "TableCell", "reproduce", "setting_for"]


_MADE: Final[dict[str, PaperTable]] = {
    **avalon_tables.AVALON_MADE,
    **avalon_social_tables.AVALON_SOCIAL_MADE,
    **grace.GRACE_MADE,
    **gratr.GRATR_MADE,
    **questum.MYSTERY_MADE,
}
_LISTED: Final[dict[str, PaperTable]] = {
    line["name"]: _MADE.get(line["name"], PaperTable(""))._replace(
        about=line["about"], item=line["item"], needs=line["needs"]
    )
    for line in lines_of("contents")
}
CONTENTS: Final = {**_LISTED, **{name: made for name, made in _MADE.items() if name not in _LISTED}}
"""Name -> every table and figure of the five papers, from `data/contents.csv`, then tables that say themselves what they are."""
TABLES: Final[OpenTable[PaperTable]] = OpenTable(
    "parlour.papers", PaperTable, {name: made for name, made in CONTENTS.items() if made.make is not None}
)
"""Name -> its table; packages add theirs."""
_PAPERS: Final = {"gratr": "GRATR", "grace": "GRACE", "avalon": "Avalon", "questum": "Questum", "player": "PLAYER*"}


def place(name: str) -> str:
    """The paper, and the number of the table or figure there.

    >>> place("avalon-fig2"), place("questum-sensors"), place("questum-budget")
    ('Avalon, figure 2', 'Questum, figure 6', 'Questum, ours')
    """
    paper, _, number = name.partition("-")
    numbered = f"figure {number[3:]}" if number.startswith("fig") else f"table {number.upper()}"
    return f"{_PAPERS[paper]}, {CONTENTS[name].item or numbered}"


def status(entry: PaperTable) -> str:
    """Whether a table or figure is reproduced, or what it needs."""
    return f"needs {entry.needs}" if entry.needs else "reproduced" if entry.make else "shows no result"


def listed() -> list[tuple[str, ...]]:
    """All tables and figures, then the tables of packages: name, place, content, status, and default sizes."""
    return [
        (name, place(name) if name in CONTENTS else "", entry.about, status(entry), sizes)
        for name, entry in {**CONTENTS, **TABLES}.items()
        for sizes in [" + ".join(f"{size:,}" for size in entry.sizes if size) if entry.make else ""]
    ]


def setting_for(name: str, setting: ReproductionSetting) -> ReproductionSetting:
    """The setting of a table; a plain one gets the defaults of the paper's own options.

    Raises:
        ParlourError: There is no such table.
    """
    check_one_of("table", name, TABLES)
    kind = TABLES[name].setting
    return setting if isinstance(setting, kind) else kind(**vars(setting))


def reproduce(name: str, setting: ReproductionSetting) -> Reproduction:
    """Play and count one table or figure; with a folder it is a run directory, which gets the report.

    Raises:
        ParlourError: There is no such table, or another run is at work in the folder.
    """
    setting = setting_for(name, setting)
    with Run(setting.out).opened():
        make = TABLES[name].make
        assert make is not None
        made = make(name, setting)
        made = made.as_quick(setting.games) if setting.quick else made
        if made.picture is None:
            games = TABLES[name].games.format(setting)
            made = replace(made, picture=figures.picture_of(made, games, setting.model))
        if setting.out is not None:
            report_of(made, setting.model).write(setting.out)
        return made
