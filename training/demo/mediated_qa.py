"""The demo's section on GRACE: calibrate on generated questions, learn a mediator, and measure it on held-out ones."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Final

from parlour.training import display
from parlour.training.demo.section import DemoConfig, Section
from parlour.training.mediated_qa import held_out
from parlour.training.mediated_qa.baselines import Scores, lines
from parlour.training.mediated_qa.held_out import UNSEEN, Calibrated, HeldOutConfig
from parlour.training.mediated_qa.learn import GraceConfig, LearnedMediator, learn
from parlour.training.statistics import MeanEstimate, show_interval

_CALIBRATION: Final = 600
_HELD_OUT: Final = 300
_POLICY: Final = "policy.json"


def mediated_qa_section(out: Path, config: DemoConfig) -> Section:
    """Calibrate, learn, measure."""
    folder = out / "grace"
    setting = HeldOutConfig(train=_CALIBRATION, held_out=_HELD_OUT, corpus_seed=UNSEEN + config.seed, seed=config.seed)
    calibrated = display.calibrate_with_bar(held_out.prepare, setting, folder)
    learned = learn(calibrated.table, GraceConfig(seed=config.seed))
    (folder / _POLICY).write_text(learned.policy.dumps(), encoding="utf-8")
    scores = held_out.compare(calibrated, learned.policy, folder)
    return Section(
        "grace",
        _markdown(calibrated, learned, scores),
        _summary(scores),
        {"setting": asdict(setting), "states": calibrated.states, "scores": [asdict(one) for one in scores]},
    )


def _markdown(calibrated: Calibrated, learned: LearnedMediator, scores: tuple[Scores, ...]) -> str:
    setting = calibrated.config
    heading, *rows = lines(scores)
    table = "\n".join(_row(cells) for cells in (heading, ["---"] * len(heading), *rows))
    return f"""## GRACE: a mediator of retriever, generator and verifier

{setting.train:,} generated questions were put under all joint actions, offline. From what each earned the mediator learned
what to recommend in each state of the graph (quantal response, temperature {learned.settings.temperature:g}, floor
{learned.settings.floor:g}, by cross-validation). Measured on {setting.held_out:,} held-out questions of the same corpus,
difficulty {setting.difficulty}; differences are in net utility, paired question by question. The oracle knows what each joint
action will earn.

{table}

| state | calibration questions | most probable recommendation | p |
|---|---|---|---|
{_advice(calibrated, learned)}

Data: [grace/scores.csv](grace/scores.csv), [grace/table.csv](grace/table.csv); the policy: grace/{_POLICY}, which
`--policy mediator=grace:file=...` plays by.
"""


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _advice(calibrated: Calibrated, learned: LearnedMediator) -> str:
    rows = learned.policy.rows
    told = []
    for state, n in calibrated.states.items():
        best = max(rows[state], key=rows[state].__getitem__)
        told.append(_row([state, str(n), ", ".join(best), f"{rows[state][best]:.2f}"]))
    return "\n".join(told)


def _summary(scores: tuple[Scores, ...]) -> str:
    first, *others = scores
    told = [
        f"  {first.name}: {_number(first.utility)}",
        *(f"  less {one.name}: {_number(one.difference)}" for one in others),
    ]
    return f"GRACE, net utility on {first.n} held-out questions:\n" + "\n".join(told)


def _number(found: MeanEstimate) -> str:
    return f"{found.mean:+.2f}  {show_interval(found, '+.2f')}"
