"""Tables 2, 6, 7 and 8 of Lan et al. 2023 (arXiv 2310.14985): what the modules are worth."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from parlour.envs.avalon.vocabulary import ASSASSIN, EVIL, GOOD, MORGANA
from parlour.policies.agents.avalon.agent import ACTION, ANALYSIS, IMPROVE, OTHERS, PLAN
from parlour.training.measure.avalon import measures as metrics
from parlour.training.papers.avalon_teams import AGENT, BASELINE, PRACTISED, UNPRACTISED, Club, RowGames, Variant
from parlour.training.papers.cells import OpponentSetting, Reproduction, TableCell, cell
from parlour.training.statistics import Estimate

IN_OUR_PLACE: Final = "baseline in the agent's place"
TABLE_2: Final = (
    Variant("full"),
    Variant("without analysis", (ANALYSIS,)),
    Variant("without plan", (PLAN,)),
    Variant("without action", (ACTION,)),
    Variant("without strategy learning", learns=False),
)
_LEARNING: Final = (
    Variant("full"),
    Variant("without improving the own strategy (IS)", (IMPROVE,)),
    Variant("without studying other roles (AO)", (OTHERS,)),
    Variant("without analysis (AM)", (ANALYSIS,)),
)
_MODULES: Final = (
    Variant("all modules"),
    Variant("without analysis", (ANALYSIS,)),
    Variant("without plan", (PLAN,)),
    Variant("without action", (ACTION,)),
)
_COVERED: Final = (
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


def _evil_table(
    name: str, setting: OpponentSetting, *, title: str, variants: Sequence[Variant], learns: bool = False
) -> Reproduction:
    """Variants of the agent on the evil side; without `learns` nobody has practised."""
    club = Club(setting, learns=learns)
    cells: list[TableCell] = []
    full: RowGames | None = None
    for variant in variants:
        played = club.play(variant.row, AGENT, club.agent(variant), EVIL)
        cells.append(_win_rate(name, variant.row, EVIL, played, full))
        counted, made = metrics.compute(played.transcripts)[metrics.ALL], partial(cell, name, variant.row, EVIL)
        of = {role: counted[role] for role in (MORGANA, ASSASSIN)}
        cells += [made(f"QER {role}", Estimate.rate(*map(int, of[role]["qer_voted"].split("/")))) for role in of]
        cells += [made(f"FVR {role}", Estimate.rate(of[role]["fails_host"], of[role]["cards"])) for role in of]
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


_TABLE_6: Final = partial(_evil_table, title="Experience learning", variants=_LEARNING, learns=True)
_TABLE_7: Final = partial(_evil_table, title="Modules, without experience", variants=_MODULES)
_TABLE_8: Final = partial(_evil_table, title="Players that the analysis covers", variants=_COVERED)
AVALON_MADE: Final = {
    "avalon-2": PRACTISED(avalon_table_2, (40, 10)),
    "avalon-6": PRACTISED(_TABLE_6, (100, 20)),
    "avalon-7": UNPRACTISED(_TABLE_7, (150, 0)),
    "avalon-8": UNPRACTISED(_TABLE_8, (200, 0)),
}
