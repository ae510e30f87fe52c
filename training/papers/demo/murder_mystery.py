"""The demo's section on murder mysteries: Questum beside a baseline, the own script and all scripts; and a Chinese case."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from parlour.policies.llm.model import OfflineModel
from parlour.training.measure.murder_mystery import scores
from parlour.training.measure.murder_mystery.games import CaseJob, CaseResult, CaseSetting, play_case
from parlour.training.measure.murder_mystery.methods import OCOT, OP, PP, QUESTUM
from parlour.training.papers.demo.section import DemoConfig, DemoPart, Picture, Section, ahead_of, figures, summary
from parlour.training.papers.questum import QUESTIONS, comparison
from parlour.training.papers.questum_games import OVERALL
from parlour.training.papers.reproduce import Reproduction, ReproductionSetting
from parlour.training.results import display, plots
from parlour.training.results.result_table import markdown_list, markdown_table
from parlour.training.results.verdicts import WIN_RATE, compared, together

_METHODS: Final = (QUESTUM, OCOT, PP, OP)
_SHARE: Final = 200
"""One case for 200 deals of other measurements; each is played by four methods."""
_CHINESE: Final = "teahouse_zh"
_REPETITIONS: Final = 2
_PICTURE: Final = "quiz.png"


def _section(out: Path, config: DemoConfig) -> Section:
    """Compare methods on held-out cases, and play a Chinese one."""
    cases = max(2, config.games // _SHARE)
    with display.progress_line() as progress:
        setting = ReproductionSetting(
            games=cases, practice=0, seed=config.seed, progress=progress, repetitions=_REPETITIONS
        )
        reproduction = comparison("questum-8", setting, {method.label: method for method in _METHODS})
    folder = out / "mystery"
    transcript = folder / f"{_CHINESE}.jsonl"
    transcript.unlink(missing_ok=True)
    table = CaseSetting(repetitions=_REPETITIONS)
    chinese = play_case(CaseJob(_CHINESE, QUESTUM, config.seed, table, transcript=transcript), OfflineModel())
    numbers = {**reproduction.as_json(), "chinese": _told(chinese)}
    _draw(reproduction, cases, folder / _PICTURE)
    return Section(
        "mystery",
        _markdown(reproduction, chinese, cases),
        _summary(reproduction, chinese),
        numbers,
        (transcript,),
        _verdict(reproduction),
        "Murder mysteries",
        Picture(f"{folder.name}/{_PICTURE}", "Murder mysteries: points in the quiz after the game"),
    )


murder_mystery_section: Final = DemoPart(
    "Murder mysteries: Questum beside a baseline, its own script and all scripts",
    _section,
    lambda config: 1 + config.games / 60,
)


def _verdict(reproduction: Reproduction) -> str:
    """Questum beside the baseline in the quiz, and how much each asked."""
    cells = {(cell.row, cell.measure): cell for cell in reproduction.cells if cell.of == OVERALL}
    gain = ahead_of(cells[OCOT.label, scores.OVERALL])
    ours, theirs = (cells[method.label, QUESTIONS].figure for method in (QUESTUM, OCOT))
    said = [] if gain is None else [compared(QUESTUM.label, f"{OCOT.label} in the quiz", gain, WIN_RATE.of("cases"))]
    if ours and theirs:
        said.append(
            f"A case took {ours.value:.0f} questions with {QUESTUM.label}, {theirs.value:.0f} with {OCOT.label}."
        )
    return together(said)


def _draw(reproduction: Reproduction, cases: int, path: Path) -> None:
    """Points of each method in the quiz, with their intervals."""
    drawn = [(c.row, c.figure) for c in reproduction.cells if c.of == OVERALL and c.measure == scores.OVERALL]
    rows = [(row, (figure.value, figure.low, figure.high)) for row, figure in reversed(drawn) if figure]
    path.parent.mkdir(parents=True, exist_ok=True)
    with plots.picture(
        path,
        7.5,
        2.6,
        title="Murder mysteries: share of the points in the quiz",
        who="PP has its own script alone, OP has read all scripts; all questions were answered by heuristics; bars: 95 % intervals",
        n=f"n = {cases} held-out cases, each played by every method",
    ) as made:
        axes = made.add_subplot()
        plots.points(axes, range(len(rows)), [estimated for _, estimated in rows], across=True)
        axes.set_yticks(range(len(rows)), [row for row, _ in rows])
        axes.set(xlim=(0, 1.02), ylim=(-0.5, len(rows) - 0.5))
        plots.label(axes, x="share of the points", grid="x")


def _told(result: CaseResult) -> dict[str, Any]:
    score = scores.score(result.marks)
    right = score.mean if score else None
    return {"case": result.case, "solved": result.solved, "victims": result.victims, "right": right}


def _markdown(reproduction: Reproduction, chinese: CaseResult, cases: int) -> str:
    rows = [(cell.row, cell.measure, *figures(cell)[:2]) for cell in reproduction.cells]
    facts = _told(chinese)
    return f"""## Murder mysteries, whom to ask and what

{cases} held-out generated cases, each played by every method: Questum asks one suspect in each round, O-CoT everybody; PP has
its own script alone, OP has read all scripts, and neither plays. After the game everybody answers the quiz. All questions
were answered by heuristics: no language model played. `parlour reproduce questum-8` plays more.

{markdown_table(("method", "measure", "paper", "ours"), rows)}

{markdown_list(reproduction.remarks)}

A Chinese case, {chinese.title} ({chinese.case}), played by Questum: {facts["solved"]} of {facts["victims"]} victims solved,
{facts["right"]:.1%} of the points in the quiz. Transcript: mystery/{_CHINESE}.jsonl.
"""


def _summary(reproduction: Reproduction, chinese: CaseResult) -> str:
    lines = [
        f"{cell.row}, {cell.measure}: {figures(cell).ours}"
        for cell in reproduction.cells
        if cell.measure in ("win rate", scores.OVERALL) or cell.measure.startswith("gameplay")
    ]
    facts = _told(chinese)
    lines.append(f"{chinese.case}, Questum: {facts['solved']} of {facts['victims']} solved, right {facts['right']:.1%}")
    return summary("Murder mysteries, all answered by heuristics", lines)
