"""Tables 2, 6, 7 and 8 of Lan et al. 2023 (arXiv 2310.14985): what the modules are worth."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from parlour.envs.avalon.vocabulary import ASSASSIN, EVIL, GOOD, MORGANA
from parlour.policies.agents.avalon.agent import ACTION, ANALYSIS, IMPROVE, OTHERS, PLAN
from parlour.training.measure.avalon import measures as metrics
from parlour.training.papers.avalon_teams import AGENT, BASELINE, PRACTISED, UNPRACTISED, Club, RowGames, Variant
from parlour.training.papers.cells import OpponentSetting, PaperTable, Reproduction, TableCell, cell
from parlour.training.statistics import Estimate

IN_OUR_PLACE: Final = "baseline in the agent's place"
_EVIL_ROLES: Final = (MORGANA, ASSASSIN)
TABLE_2: Final = (
    Variant("full"),
    Variant("without analysis", (ANALYSIS,)),
    Variant("without plan", (PLAN,)),
    Variant("without action", (ACTION,)),
    Variant("without strategy learning", learns=False),
)
_TABLE_6: Final = (
    Variant("full"),
    Variant("without improving the own strategy (IS)", (IMPROVE,)),
    Variant("without studying other roles (AO)", (OTHERS,)),
    Variant("without analysis (AM)", (ANALYSIS,)),
)
_TABLE_7: Final = (
    Variant("all modules"),
    Variant("without analysis", (ANALYSIS,)),
    Variant("without plan", (PLAN,)),
    Variant("without action", (ACTION,)),
)
_TABLE_8: Final = (
    Variant("all players"),
    Variant("teammates only", about="teammates"),
    Variant("adversaries only", about="adversaries"),
)


def avalon_table_2(name: str, setting: OpponentSetting) -> Reproduction:
    """Win rates on both sides, all rows with the experience of their own practice, and the baseline in our place."""
    return win_rates(name, setting, [variant.row for variant in TABLE_2])


def win_rates(name: str, setting: OpponentSetting, rows: Collection[str]) -> Reproduction:
    """Some rows of table 2."""
    club = Club(setting, learns=True)
    cells: list[TableCell] = []
    for side in (GOOD, EVIL):
        full: RowGames | None = None
        for variant in (row for row in TABLE_2 if row.row in rows):
            played = club.play(variant.row, AGENT, club.agent(variant), side)
            cells.append(_win_rate(name, variant.row, side, played, full))
            full = full or played
        in_our_place = club.play(BASELINE, BASELINE, club.baseline(), side)
        cells.append(_win_rate(name, IN_OUR_PLACE, side, in_our_place, full))
    return _made(name, "Win rates", club, tuple(cells))


def avalon_table_6(name: str, setting: OpponentSetting) -> Reproduction:
    """Experience learning on the evil side."""
    return _evil_table(name, "Experience learning", Club(setting, learns=True), _TABLE_6)


def avalon_table_7(name: str, setting: OpponentSetting) -> Reproduction:
    """Modules on the evil side; nobody has practised."""
    return _evil_table(name, "Modules, without experience", Club(setting, learns=False), _TABLE_7)


def avalon_table_8(name: str, setting: OpponentSetting) -> Reproduction:
    """Players that the analysis covers; nobody has practised."""
    return _evil_table(name, "Players that the analysis covers", Club(setting, learns=False), _TABLE_8)


def _evil_table(name: str, title: str, club: Club, variants: tuple[Variant, ...]) -> Reproduction:
    cells: list[TableCell] = []
    full: RowGames | None = None
    for variant in variants:
        played = club.play(variant.row, AGENT, club.agent(variant), EVIL)
        cells.append(_win_rate(name, variant.row, EVIL, played, full))
        counted = metrics.compute(played.transcripts)[metrics.ALL]
        cells += [
            cell(
                name, variant.row, EVIL, f"QER {role}", Estimate.rate(*map(int, counted[role]["qer_voted"].split("/")))
            )
            for role in _EVIL_ROLES
        ]
        cells += [
            cell(
                name,
                variant.row,
                EVIL,
                f"FVR {role}",
                Estimate.rate(counted[role]["fails_host"], counted[role]["cards"]),
            )
            for role in _EVIL_ROLES
        ]
        full = full or played
    return _made(name, title, club, tuple(cells))


def _win_rate(table: str, row: str, side: str, played: RowGames, full: RowGames | None) -> TableCell:
    difference = None if full is None else Estimate.paired(played.won, full.won)
    return cell(table, row, side, "WR", Estimate.rate(sum(played.won), len(played.won)), difference)


def _made(name: str, title: str, club: Club, cells: tuple[TableCell, ...]) -> Reproduction:
    setting = club.setting
    remarks = [
        "The paper plays 10 games a row, with gpt-3.5-turbo-16k on both sides.",
        f"Ours: {setting.games} held-out deals a row and side against the {setting.against}, the same for all rows; "
        "differences are from the first row of the side, on the same deals.",
    ]
    if club.learns:
        remarks.append(
            f"Rows practised on {setting.practice} other deals as each side, then played with what they had learned."
        )
    remarks += _not_lower(cells)
    players = {IN_OUR_PLACE if row == BASELINE else row: made for row, made in club.players.items()}
    return Reproduction(name, title, setting.model.name, cells, tuple(remarks), players)


def _not_lower(cells: tuple[TableCell, ...]) -> list[str]:
    """For each row without a module: whether its win rate is lower than with it."""
    not_lower = []
    for entry in cells:
        if entry.difference is not None and entry.row.startswith("without") and entry.difference.ends[1] >= 0:
            by = 100 * entry.difference.value
            result = "not lower" if by >= 0 else "lower, but within its interval of no difference"
            not_lower.append(f"{entry.row}, {entry.of}: {result} ({by:+.1f} points).")
    return not_lower


AVALON_CONTENTS: Final = {
    "avalon-1": PaperTable("related work beside the paper's"),
    "avalon-2": PRACTISED("win rates against the baseline agent, and without single modules", avalon_table_2, (40, 10)),
    "avalon-3": PaperTable("examples of what a model reads out of replies"),
    "avalon-4": PaperTable("prompts of the modules"),
    "avalon-5": PaperTable("prompts of experience learning"),
    "avalon-6": PRACTISED("experience learning on the evil side", avalon_table_6, (100, 20)),
    "avalon-7": UNPRACTISED("modules on the evil side, without experience", avalon_table_7, (150, 0)),
    "avalon-8": UNPRACTISED(
        "players that the analysis covers, evil side, without experience", avalon_table_8, (200, 0)
    ),
}
