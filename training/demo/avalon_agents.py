"""The demo's section on the agents that ask questions: six modules against the baseline, answered by heuristics."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from parlour.training import display
from parlour.training.demo.section import DemoConfig, Section
from parlour.training.reproduce import Reproduction, ReproductionSetting
from parlour.training.reproduce.avalon_tables import win_rates

_ROWS: Final = ("full", "without analysis", "without strategy learning")
_SHARE: Final = 40
"""Of the deals that other measurements take, one in so many: a turn here is four questions."""


def avalon_agents_section(out: Path, config: DemoConfig) -> Section:
    """Practise, then measure three rows of the paper's table 2."""
    deals = max(2, config.games // _SHARE)
    with display.progress_bar() as bar:
        setting = ReproductionSetting(games=deals, practice=deals, seed=config.seed, progress=bar)
        found = win_rates("avalon-2", setting, _ROWS)
    return Section("avalon_agents", _markdown(found), _summary(found), found.as_json())


def _markdown(found: Reproduction) -> str:
    rows = [
        f"| {one.row} | {one.of} | {'-' if one.paper is None else f'{one.paper:.0f}%'} | "
        f"{display.show_rate(one.ours).strip()} | {display.show_difference(one.difference) if one.difference else ''} |"
        for one in found.cells
    ]
    remarks = "\n".join(f"- {remark}" for remark in found.remarks)
    return (
        "## Avalon, the agent of six modules against the baseline agent\n\n"
        "Both ask typed questions, here answered by heuristics: no language model played. 6 players, the paper's "
        "rules. `parlour reproduce avalon-2` plays the whole table.\n\n"
        "| row | as | paper | ours | from the first row, same deals |\n|---|---|---|---|---|\n"
        + "\n".join(rows)
        + f"\n\n{remarks}\n"
    )


def _summary(found: Reproduction) -> str:
    lines = [f"  {one.row}, {one.of}: {display.show_rate(one.ours).strip()}" for one in found.cells]
    return "Avalon, six modules against the baseline, answered by heuristics:\n" + "\n".join(lines)
