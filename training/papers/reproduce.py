"""Published results played again: the paper's rows beside ours, with n and intervals, and which model played.

A table is a function from `ReproductionSetting` to `TableCell`s. The papers' figures are in `data`, typed from the papers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from parlour.envs.core import check_one_of
from parlour.envs.plugins import OpenTable
from parlour.training.papers import (
    avalon_social_tables,
    avalon_tables,
    figures,
    grace,
    gratr,
    questum,
)
from parlour.training.papers.cells import Reproduction, ReproductionSetting, TableCell, Value, locked_folder

__all__ = ["TABLES", "PaperTable", "Reproduction", "ReproductionSetting", "TableCell", "Value", "reproduce", "sizes"]


_USUAL: Final = (ReproductionSetting().games, ReproductionSetting().practice)
"""How many games and practice games a table has."""


class PaperTable(NamedTuple):
    """A table or figure of a paper that can be made again."""

    about: str
    make: Callable[[str, ReproductionSetting], Reproduction]
    sizes: tuple[int, int] = _USUAL
    """Games and practice unless told otherwise."""


_TABLES: Final[Mapping[str, tuple[str, Callable[[str, ReproductionSetting], Reproduction]]]] = {
    "avalon-2": ("win rates against the baseline agent, and without single modules", avalon_tables.avalon_table_2),
    "avalon-6": ("experience learning on the evil side", avalon_tables.avalon_table_6),
    "avalon-7": ("modules on the evil side, without experience", avalon_tables.avalon_table_7),
    "avalon-8": ("players that the analysis covers, evil side, without experience", avalon_tables.avalon_table_8),
    "avalon-9": ("valid responses", avalon_social_tables.avalon_table_9),
    "avalon-fig2": ("quest engagement and failure votes of the evil side", avalon_social_tables.avalon_figure_2),
    "avalon-fig3": ("leadership and persuasion", avalon_social_tables.avalon_figure_3),
    "avalon-fig4": ("deception in the first round", avalon_social_tables.avalon_figure_4),
    "avalon-fig5": ("teamwork and confrontation between roles", avalon_social_tables.avalon_figure_5),
    "avalon-fig6": ("sharing and vacillation", avalon_social_tables.avalon_figure_6),
    "grace-3": ("the mediator beside its baselines on held-out questions", grace.grace_figure_3),
    "grace-4": ("heatmap of the mediator's policy; needs --out", grace.grace_figure_4),
    "grace-5": ("net utility by state; needs --out", grace.grace_figure_5),
    "questum-2": ("win rates and right answers in murder mysteries, agents against agents", questum.questum_table_2),
    "questum-3": ("the same against another murderer, in a person's place", questum.questum_table_3),
    "questum-8": ("the same as questum-2, with the own script alone and with all scripts", questum.questum_table_8),
    "questum-11": ("what games and quizzes take", questum.questum_table_11),
    "questum-12": ("Questum without sensors, without the pruner", questum.questum_table_12),
    "questum-budget": ("all methods with one person to ask in a round", questum.budget),
    "questum-sensors": ("numbers of sensors (figure 6)", questum.sensors),
    "questum-rounds": ("numbers of rounds and questions (figure 7)", questum.rounds),
    "player-1": ("right answers of PLAYER* and others, by its rules", questum.player_1),
    "player-2": ("what games and quizzes of PLAYER* take", questum.player_2),
    "gratr-2": ("win rates of trust graphs against windows and retrieval, in mixed games", gratr.gratr_table_2),
    "gratr-3": ("performance scores by role, by the paper's rule", gratr.gratr_table_3),
    "gratr-fig3": ("performance scores by role, as the published figure counts them", gratr.gratr_figure_3),
    "gratr-fig4": ("reasoning success by role", gratr.gratr_figure_4),
}


def _sizes(name: str) -> tuple[int, int]:
    """Questions are cheaper than games of Avalon."""
    if name.startswith(("questum-", "player-")):
        return (10 if name in ("questum-sensors", "questum-rounds") else 100), 0
    if name.startswith("gratr-"):
        return 500, 0
    return (1000, 2000) if name.startswith("grace-") else _USUAL


TABLES: Final[OpenTable[PaperTable]] = OpenTable(
    "parlour.papers", PaperTable, {name: PaperTable(*made, _sizes(name)) for name, made in _TABLES.items()}
)
"""Name -> its table; packages add theirs."""


def sizes(name: str) -> tuple[int, int]:
    """Games and practice of a table unless told otherwise."""
    return TABLES[name].sizes


def reproduce(name: str, setting: ReproductionSetting) -> Reproduction:
    """Play and count one table or figure; with a folder it is a run directory, which gets a figure's picture as well.

    Raises:
        ParlourError: There is no such table, or another run is at work in the folder.
    """
    check_one_of("table", name, TABLES)
    with locked_folder(setting):
        reproduction = TABLES[name].make(name, setting)
        figures.draw(reproduction, setting, _games(name, setting))
        return reproduction


def _games(name: str, setting: ReproductionSetting) -> str:
    """What was played, for the caption of a picture."""
    if name.startswith("questum-"):
        return f"murder_mystery_v0, {setting.games} held-out cases"
    if name.startswith("gratr-"):
        return f"werewolf_v0, {setting.games} mixed games with each opponent"
    return f"avalon_v0, {setting.games} held-out deals as either side, after {setting.practice} practice games"
