"""Published results played again: the paper's rows beside ours, with n and intervals, and which model played.

A table is a function from a setting to `TableCell`s. The papers' figures are in `data`, typed from the papers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from parlour.envs.core import check_one_of
from parlour.envs.plugins import OpenTable
from parlour.training.papers import (
    avalon_social_tables,
    avalon_tables,
    figures,
    grace,
    gratr,
    questum,
    questum_appendix,
)
from parlour.training.papers.cells import OpponentSetting, Reproduction, ReproductionSetting, TableCell
from parlour.training.papers.gratr_teams import GratrSetting
from parlour.training.papers.questum_games import MysterySetting
from parlour.training.papers.report import report_of
from parlour.training.runs.run import Run

__all__ = ["TABLES", "PaperTable", "Reproduction", "ReproductionSetting", "TableCell", "reproduce", "setting_for"]


_USUAL: Final = (ReproductionSetting().games, ReproductionSetting().practice)
"""How many games and practice games a table has."""


class PaperTable(NamedTuple):
    """A table or figure of a paper that can be made again."""

    about: str
    make: Callable[[str, Any], Reproduction]
    """From its name and a setting of its kind."""
    sizes: tuple[int, int] = _USUAL
    """Games and practice, if no numbers are given."""
    setting: type[ReproductionSetting] = ReproductionSetting
    """Kind of its setting."""
    games: str = ""
    """What is played, for the caption of a picture, with the setting as `{0}`."""


_AVALON: Final = partial(
    PaperTable,
    setting=OpponentSetting,
    games="avalon_v0, {0.games} held-out deals as either side, after {0.practice} practice games",
)
_UNPRACTISED: Final = partial(_AVALON, games="avalon_v0, {0.games} held-out deals as either side, without practice")
_GRATR: Final = partial(
    PaperTable, sizes=(500, 0), setting=GratrSetting, games="werewolf_v0, {0.games} mixed games with each opponent"
)
_GRACE: Final = partial(PaperTable, sizes=(1000, 2000))
_CASES: Final = "murder_mystery_v0, {0.games} held-out cases"
_MYSTERY: Final = partial(PaperTable, sizes=(20, 0), setting=MysterySetting, games=_CASES)
_MANY_ROWS: Final = partial(PaperTable, sizes=(4, 0), setting=MysterySetting, games=_CASES)

TABLES: Final[OpenTable[PaperTable]] = OpenTable(
    "parlour.papers",
    PaperTable,
    {
        "avalon-2": _AVALON(
            "win rates against the baseline agent, and without single modules", avalon_tables.avalon_table_2
        ),
        "avalon-6": _AVALON("experience learning on the evil side", avalon_tables.avalon_table_6),
        "avalon-7": _UNPRACTISED("modules on the evil side, without experience", avalon_tables.avalon_table_7),
        "avalon-8": _UNPRACTISED(
            "players that the analysis covers, evil side, without experience", avalon_tables.avalon_table_8
        ),
        "avalon-9": _AVALON("valid responses", avalon_social_tables.avalon_table_9),
        "avalon-fig2": _AVALON(
            "quest engagement and failure votes of the evil side", avalon_social_tables.avalon_figure_2
        ),
        "avalon-fig3": _AVALON("leadership and persuasion", avalon_social_tables.avalon_figure_3),
        "avalon-fig4": _AVALON("deception in the first round", avalon_social_tables.avalon_figure_4),
        "avalon-fig5": _AVALON("teamwork and confrontation between roles", avalon_social_tables.avalon_figure_5),
        "avalon-fig6": _AVALON("sharing and vacillation", avalon_social_tables.avalon_figure_6),
        "avalon-fig11": _AVALON("attitudes between roles, with experience", avalon_social_tables.avalon_figure_11),
        "avalon-fig12": _UNPRACTISED(
            "attitudes between roles, without experience", avalon_social_tables.avalon_figure_12
        ),
        "grace-3": _GRACE("the mediator beside its baselines on held-out questions", grace.grace_figure_3),
        "grace-4": _GRACE("heatmap of the mediator's policy; needs --out", grace.grace_figure_4),
        "grace-5": _GRACE("net utility by state; needs --out", grace.grace_figure_5),
        "questum-1": _MYSTERY("scripts, victims, tokens and questions of the data", questum_appendix.data_statistics),
        "questum-2": _MYSTERY(
            "win rates and right answers in murder mysteries, agents against agents", questum.play_table
        ),
        "questum-3": _MYSTERY("the same against another murderer, in a person's place", questum.play_table),
        "questum-6": _MYSTERY("agents rated by people", questum_appendix.rated_by_people),
        "questum-fig4": _MYSTERY("the same as a figure", questum_appendix.rated_by_people),
        "questum-fig5": _MYSTERY("dollars, questions and hours of the games", questum.play_table),
        "questum-9": _MYSTERY("English scripts", questum.play_table),
        "questum-10": _MYSTERY("points by the model that plays", questum.play_table),
        "questum-8": _MYSTERY(
            "the same as questum-2, with the own script alone and with all scripts", questum.play_table
        ),
        "questum-11": _MYSTERY("what games and quizzes take", questum.play_table),
        "questum-12": _MYSTERY("Questum without sensors, without the pruner", questum.play_table, sizes=(10, 0)),
        "questum-budget": _MYSTERY("all methods with one person to ask in a round", questum.play_table),
        "questum-sensors": _MANY_ROWS("numbers of sensors (figure 6)", questum.sensors),
        "questum-rounds": _MANY_ROWS("numbers of rounds and questions (figure 7)", questum.rounds),
        "player-1": _MYSTERY("right answers of PLAYER* and others, by its rules", questum.play_table),
        "player-2": _MYSTERY("what games and quizzes of PLAYER* take", questum.play_table),
        "player-a1": _MYSTERY("the same as questum-1, as PLAYER* prints it", questum_appendix.data_statistics),
        "player-a4": _MYSTERY("English scripts, by PLAYER*'s rules", questum.play_table),
        "player-a5": _MYSTERY("points by the model that plays PLAYER*", questum.play_table),
        "gratr-2": _GRATR(
            "win rates of trust graphs against windows and retrieval, in mixed games", gratr.gratr_table_2
        ),
        "gratr-3": _GRATR("performance scores by role, by the paper's rule", gratr.gratr_table_3),
        "gratr-fig3": _GRATR("performance scores by role, as the published figure counts them", gratr.gratr_figure_3),
        "gratr-fig4": _GRATR("reasoning success by role", gratr.gratr_figure_4),
    },
)
"""Name -> its table; packages add theirs."""


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
        made = TABLES[name].make(name, setting)
        if made.picture is None:
            games = TABLES[name].games.format(setting)
            made = replace(made, picture=figures.picture_of(made, games, setting.model))
        if setting.out is not None:
            report_of(made, setting.model).write(setting.out)
        return made
