"""The published calibration of Nguyen's GRACE left out question by question: `parlour reproduce grace-loo --data DIR`.

DIR holds simulation.csv (20 calibration questions, all joint actions of each) and final_results.csv (what the published mediator drew
on 20 other questions), as published with the code of GRACE. Nothing is played: each row is called what it is.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.training.learn.mediators.quantities import in_sample_static, left_out_greedy, left_out_static
from parlour.training.learn.mediators.table import Floats, read
from parlour.training.papers.cells import Reproduction, ReproductionSetting, cell, mean

SIMULATION: Final = "simulation.csv"
RESULTS: Final = "final_results.csv"
SHRUNK: Final = (3.0, 5.0, 10.0, 50.0)
"""Pseudo-questions of the shrunk tables."""
LEFT_OUT: Final = "left out"
IN_SAMPLE: Final = "in-sample"
HELD_OUT: Final = "held out"
GREEDY: Final = "best action of each state"
STATIC: Final = "best static action"
PUBLISHED: Final = "the published mediator"
_MEASURE: Final = "net utility"


def grace_left_out(name: str, setting: ReproductionSetting) -> Reproduction:
    """Greedy and shrunk tables and the best static action, left out; that action in-sample; the published held-out run."""
    if setting.data is None:
        raise ParlourError(f"{name} needs the published data; accepted: a folder with {SIMULATION}, --data DIR")
    table, run = read(setting.data / SIMULATION), _results(setting.data / RESULTS)
    greedy = left_out_greedy(table)
    rows: list[tuple[str, str, Floats]] = [
        (GREEDY, LEFT_OUT, greedy),
        (f"{GREEDY}, shrinkage estimated", LEFT_OUT, left_out_greedy(table, "auto")),
        *((f"{GREEDY}, shrunk by {k:g}", LEFT_OUT, left_out_greedy(table, k)) for k in SHRUNK),
        (STATIC, LEFT_OUT, left_out_static(table)),
        (STATIC, IN_SAMPLE, in_sample_static(table)),
    ]
    cells = [
        cell(name, row, of, _MEASURE, mean(earned), None if earned is greedy else mean(earned - greedy))
        for row, of, earned in rows
    ]
    cells.append(cell(name, PUBLISHED, HELD_OUT, _MEASURE, mean(run)))
    remarks = (
        f"Nothing is played: {len(table)} published calibration questions in {len(set(table.states))} states, without raw "
        "signals, so that nothing but shrinkage can be learned from them.",
        f"{LEFT_OUT}: each question is scored by an action that the other questions chose; {IN_SAMPLE}: by an action that it "
        f"helped to choose, which flatters; {HELD_OUT}: what the mediator drew on {len(run)} other questions.",
        "Shrunk by k: a state leans on its parent by k pseudo-questions. Differences are paired, question by question.",
    )
    return Reproduction(
        name, "the published calibration, left out question by question", setting.model.name, tuple(cells), remarks
    )


def _results(path: Path) -> Floats:
    """Net utilities of the published held-out run."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            earned = [float(row["net_utility"]) for row in csv.DictReader(file)]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ParlourError(f"{str(path)!r} cannot be read ({error}); accepted: a CSV file with net_utility") from None
    if not earned or not all(map(math.isfinite, earned)):
        raise ParlourError(f"{str(path)!r} has no finite net utilities; accepted: at least one row, and numbers")
    return np.array(earned)
