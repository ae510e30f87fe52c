"""The demo's section on murder mysteries: Questum beside a baseline, the own script and all scripts; and a Chinese case."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from parlour.policies.llm.model import OfflineModel
from parlour.training import display
from parlour.training.demo.section import DemoConfig, Section
from parlour.training.murder_mystery import scores
from parlour.training.murder_mystery.games import CaseJob, CaseResult, CaseSetting, play_case
from parlour.training.murder_mystery.methods import OCOT, OP, PP, QUESTUM
from parlour.training.reproduce import Reproduction, ReproductionSetting
from parlour.training.reproduce.cells import TableCell
from parlour.training.reproduce.questum import comparison
from parlour.training.statistics import show_interval

_METHODS: Final = (QUESTUM, OCOT, PP, OP)
_SHARE: Final = 200
"""Of the deals that other measurements take, one in so many cases; each is played by four methods."""
_CHINESE: Final = "teahouse_zh"
_REPETITIONS: Final = 2


def murder_mystery_section(out: Path, config: DemoConfig) -> Section:
    """Compare methods on held-out cases, and play a Chinese one."""
    cases = max(2, config.games // _SHARE)
    with display.progress_bar() as bar:
        setting = ReproductionSetting(games=cases, practice=0, seed=config.seed, progress=bar, repetitions=_REPETITIONS)
        found = comparison("questum-8", setting, {one.label: one for one in _METHODS})
    folder = out / "mystery"
    transcript = folder / f"{_CHINESE}.jsonl"
    transcript.unlink(missing_ok=True)
    table = CaseSetting(repetitions=_REPETITIONS)
    chinese = play_case(CaseJob(_CHINESE, QUESTUM, config.seed, table, transcript=transcript), OfflineModel())
    numbers = {**found.as_json(), "chinese": _told(chinese)}
    return Section("mystery", _markdown(found, chinese, cases), _summary(found, chinese), numbers)


def _told(one: CaseResult) -> dict[str, Any]:
    found = scores.score(one.marks)
    return {"case": one.case, "solved": one.solved, "victims": one.victims, "right": found.mean if found else None}


def _markdown(found: Reproduction, chinese: CaseResult, cases: int) -> str:
    rows = [f"| {one.row} | {one.measure} | {_paper(one)} | {_ours(one)} |" for one in found.cells]
    remarks = "\n".join(f"- {remark}" for remark in found.remarks)
    told = _told(chinese)
    return f"""## Murder mysteries, whom to ask and what

{cases} held-out generated cases, each played by every method: Questum asks one suspect in each round, O-CoT everybody; PP has
its own script alone, OP has read all scripts, and neither plays. After the game everybody answers the quiz. All questions
were answered by heuristics: no language model played. `parlour reproduce questum-8` plays more.

| method | measure | paper | ours |
|---|---|---|---|
{chr(10).join(rows)}

{remarks}

A Chinese case, {chinese.title} ({chinese.case}), played by Questum: {told["solved"]} of {told["victims"]} victims solved,
{told["right"]:.1%} of the points in the quiz. Transcript: mystery/{_CHINESE}.jsonl.
"""


def _paper(one: TableCell) -> str:
    return "-" if one.paper is None else f"{one.paper:.1f}%"


def _ours(one: TableCell) -> str:
    if one.value is None:
        return display.show_rate(one.ours).strip()
    value, unit = one.value, ".1%" if one.value.share else ".1f"
    return f"{value.value:{unit}}  {show_interval(value, unit)}  n={value.n}"


def _summary(found: Reproduction, chinese: CaseResult) -> str:
    lines = [
        f"  {one.row}, {one.measure}: {_ours(one)}"
        for one in found.cells
        if one.measure in ("win rate", scores.OVERALL) or one.measure.startswith("gameplay")
    ]
    told = _told(chinese)
    lines.append(f"  {chinese.case}, Questum: {told['solved']} of {told['victims']} solved, right {told['right']:.1%}")
    return "Murder mysteries, all answered by heuristics:\n" + "\n".join(lines)
