"""The demo's section on the agents that ask questions: six modules against the baseline, answered by heuristics."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from parlour.training.papers.avalon_tables import IN_OUR_PLACE, win_rates
from parlour.training.papers.demo.section import DemoConfig, DemoPart, Section, ahead_of, figures, summary
from parlour.training.papers.reproduce import Reproduction, ReproductionSetting
from parlour.training.results import display
from parlour.training.results.result_table import markdown_list, markdown_table
from parlour.training.results.verdicts import compared, together

_ROWS: Final = ("full", "without analysis", "without strategy learning")
_SHARE: Final = 40
"""One fortieth of the deals of other measurements: a turn here is four questions."""


def _section(out: Path, config: DemoConfig) -> Section:
    """Practise, then measure three rows of the paper's table 2."""
    deals = max(2, config.games // _SHARE)
    with display.progress_line() as progress:
        setting = ReproductionSetting(games=deals, practice=deals, seed=config.seed, progress=progress)
        reproduction = win_rates("avalon-2", setting, _ROWS)
    lines = [f"{cell.row}, {cell.of}: {figures(cell).ours}" for cell in reproduction.cells]
    verdicts = summary("Avalon, six modules against the baseline, answered by heuristics", lines)
    return Section(
        "avalon_agents",
        _markdown(reproduction),
        verdicts,
        reproduction.as_json(),
        verdict=_verdict(reproduction),
        about="Avalon, the agent of six modules",
    )


avalon_agents_section: Final = DemoPart(
    "Avalon: the agent of six modules against its baseline, answered by heuristics",
    _section,
    lambda config: 2 + config.games / 15,
)


def _verdict(reproduction: Reproduction) -> str:
    """The agent with all modules beside the baseline in its place, for each side."""
    gains = [(cell.of, ahead_of(cell)) for cell in reproduction.cells if cell.row == IN_OUR_PLACE]
    said = [
        compared(f"the full agent as {side}", "the baseline agent in its place", gain) for side, gain in gains if gain
    ]
    return together(said)


def _markdown(reproduction: Reproduction) -> str:
    headings = ("row", "as", "paper", "ours", "from the first row, same deals")
    rows = [(cell.row, cell.of, *figures(cell, 0)) for cell in reproduction.cells]
    return (
        "## Avalon, the agent of six modules against the baseline agent\n\n"
        "Both ask typed questions, here answered by heuristics: no language model played. 6 players, the paper's "
        "rules. `parlour reproduce avalon-2` plays the whole table.\n\n"
        f"{markdown_table(headings, rows)}\n\n{markdown_list(reproduction.remarks)}\n"
    )
