"""The demo's section on murder mysteries: Questum beside a baseline, the own script and all scripts; and a Chinese case."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from parlour.policies.llm.model import OfflineModel
from parlour.training.measure.murder_mystery import scores
from parlour.training.measure.murder_mystery.games import CaseJob, CaseResult, CaseSetting, play_case
from parlour.training.measure.murder_mystery.methods import OCOT, OP, PP, QUESTUM
from parlour.training.papers.demo.section import DemoConfig, DemoPart, Section, ours_of, paper_of, summary
from parlour.training.papers.questum import comparison
from parlour.training.papers.reproduce import Reproduction, ReproductionSetting
from parlour.training.results import display
from parlour.training.results.result_table import markdown_list, markdown_table

_METHODS: Final = (QUESTUM, OCOT, PP, OP)
_SHARE: Final = 200
"""One case for 200 deals of other measurements; each is played by four methods."""
_CHINESE: Final = "teahouse_zh"
_REPETITIONS: Final = 2


def _section(out: Path, config: DemoConfig) -> Section:
    """Compare methods on held-out cases, and play a Chinese one."""
    cases = max(2, config.games // _SHARE)
    with display.progress_line() as progress:
        setting = ReproductionSetting(
            games=cases, practice=0, seed=config.seed, progress=progress, repetitions=_REPETITIONS
        )
        found = comparison("questum-8", setting, {one.label: one for one in _METHODS})
    folder = out / "mystery"
    transcript = folder / f"{_CHINESE}.jsonl"
    transcript.unlink(missing_ok=True)
    table = CaseSetting(repetitions=_REPETITIONS)
    chinese = play_case(CaseJob(_CHINESE, QUESTUM, config.seed, table, transcript=transcript), OfflineModel())
    numbers = {**found.as_json(), "chinese": _told(chinese)}
    return Section("mystery", _markdown(found, chinese, cases), _summary(found, chinese), numbers, (transcript,))


murder_mystery_section: Final = DemoPart(
    "Murder mysteries: Questum beside a baseline, its own script and all scripts",
    _section,
    lambda config: 1 + config.games / 60,
)


def _told(result: CaseResult) -> dict[str, Any]:
    found = scores.score(result.marks)
    return {
        "case": result.case,
        "solved": result.solved,
        "victims": result.victims,
        "right": found.mean if found else None,
    }


def _markdown(reproduction: Reproduction, chinese: CaseResult, cases: int) -> str:
    rows = [(cell.row, cell.measure, paper_of(cell), ours_of(cell)) for cell in reproduction.cells]
    told = _told(chinese)
    return f"""## Murder mysteries, whom to ask and what

{cases} held-out generated cases, each played by every method: Questum asks one suspect in each round, O-CoT everybody; PP has
its own script alone, OP has read all scripts, and neither plays. After the game everybody answers the quiz. All questions
were answered by heuristics: no language model played. `parlour reproduce questum-8` plays more.

{markdown_table(("method", "measure", "paper", "ours"), rows)}

{markdown_list(reproduction.remarks)}

A Chinese case, {chinese.title} ({chinese.case}), played by Questum: {told["solved"]} of {told["victims"]} victims solved,
{told["right"]:.1%} of the points in the quiz. Transcript: mystery/{_CHINESE}.jsonl.
"""


def _summary(reproduction: Reproduction, chinese: CaseResult) -> str:
    lines = [
        f"{cell.row}, {cell.measure}: {ours_of(cell)}"
        for cell in reproduction.cells
        if cell.measure in ("win rate", scores.OVERALL) or cell.measure.startswith("gameplay")
    ]
    told = _told(chinese)
    lines.append(f"{chinese.case}, Questum: {told['solved']} of {told['victims']} solved, right {told['right']:.1%}")
    return summary("Murder mysteries, all answered by heuristics", lines)
