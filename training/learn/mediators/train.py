"""Training the mediator in a run directory: configuration, curve, checkpoint and policy; resumes after a kill.

A run has as many phases as its curve has points. Each phase learns from a longer part of the training questions. After
each phase the policy is measured on held-out questions, and the run is stored; a run that was killed and resumed leaves
the same files, byte for byte. The policy of the run is learned from the whole table.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.core import ParlourError
from parlour.policies.agents.mediated_qa.contextual import ContextualModel
from parlour.policies.agents.mediated_qa.joint import MODULES
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.policies.files import atomic_write, read_json
from parlour.training.learn.mediators.baselines import Usability, gain, static_policy, usability
from parlour.training.learn.mediators.learn import (
    ChosenSettings,
    GraceConfig,
    LearnedMediator,
    check,
    choose,
    earned,
    learn,
)
from parlour.training.learn.mediators.table import Floats, UtilityTable
from parlour.training.play import seeds
from parlour.training.report.learning_curve import LearningCurve, learning_curve
from parlour.training.report.plots import Curve, CurvePoint
from parlour.training.runs.checkpoints import Checkpoint
from parlour.training.runs.folder import CONFIG, run_directory, write_csv
from parlour.training.runs.loggers import loggers
from parlour.training.runs.progress import Stage, StageProgress, no_progress
from parlour.training.statistics import Bounds, mean_estimate, show_interval

CHECKPOINT: Final = "checkpoint.json"
PICTURE: Final = "curve.png"
POLICY: Final = "policy.json"

_SPLIT: Final = 0  # what a run draws for


@dataclass(frozen=True)
class MediatorPoint:
    """One point of the curve. None: there was nothing to measure with."""

    steps: int
    """Questions learned from."""
    training: float | None
    """Mean net utility of the policy on its training questions."""
    n: int
    """Number of held-out questions that evaluate the policy."""
    held_out: float | None
    """Expected net utility of the policy on them, with its interval at 95 % (Student's t)."""
    low: float | None
    high: float | None

    @property
    def metrics(self) -> dict[str, float | None]:
        """Under the names of all trainers; an episode is a question, its return the net utility."""
        return {
            "charts/episodic_return": self.training,
            "eval/episodes": self.n,
            "eval/episodic_return": self.held_out,
            "eval/episodic_return_low": self.low,
            "eval/episodic_return_high": self.high,
        }


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a run."""

    points: tuple[MediatorPoint, ...]
    learned: LearnedMediator
    picture: bool
    """Whether the curve was drawn: it needs matplotlib, of the extra `train`."""
    usability: Usability
    """Usability of the trained policy, from the held-out questions."""


def train(
    config: GraceConfig,
    table: UtilityTable,
    out: str | Path,
    progress: StageProgress = no_progress,
    reader: str = "",
    contextual: ContextualModel | None = None,
    log: Iterable[str] = (),
    limits: Bounds | None = None,
) -> Trained:
    """Train, or resume the run in `out`.

    Leaves in `out`: config.json, checkpoint.json, progress.csv, curve.png, quantities.csv, obedience.csv and policy.json.

    Args:
        config: How to learn. A run in `out` is resumed only if it has the same, and the same table.
        table: What to learn from.
        out: Run directory.
        progress: Told the number of questions learned from so far, and the held-out utility.
        reader: Who answered the questions of the table, for the policy file; empty where that is not told.
        contextual: What the policy file holds besides the table, for a mediator that sees more than the state.
        log: Loggers beside progress.csv, of `parlour.training.runs.loggers.NAMES`.
        limits: The least and the greatest utility that a question can have, which no interval leaves; None: in the table.

    Raises:
        ParlourError: `out` holds another run or is in use, or the configuration does not fit the table.
    """
    check(table, config)
    more = {"reader": reader} if reader else {}
    more |= {} if contextual is None else {"sees": contextual.sees}
    finished = partial(replace, reader=reader, contextual=contextual)
    with run_directory(out, _settings(config, table) | more, _ignored(Path(out) / CONFIG)) as folder:
        return _train(_Run(config, table, limits), folder, progress, finished, log)


def _ignored(stored: Path) -> tuple[str, ...]:
    """Settings that a run of version 0.3 has besides, if it learned from counts, as all do now."""
    there = read_json(stored) if stored.is_file() else {}
    return ("learner", "rule", "rounds") if there.get("learner") == "counts" else ()


def store_usability(run: Trained, usability: Usability, out: str | Path) -> None:
    """Write the policy of a run again, with the result of another test than that of the run."""
    atomic_write(Path(out) / POLICY, usability.stored_in(run.learned.policy).dumps())


def _train(
    run: _Run, folder: Path, progress: StageProgress, finished: Callable[[PolicyTable], PolicyTable], log: Iterable[str]
) -> Trained:
    checkpoint = Checkpoint(folder / CHECKPOINT)
    checkpoint.load(lambda path: run.load_state_dict(read_json(path)))
    if len(run.points) < run.config.points:
        progress(run.stage, run.steps)
    with loggers(folder, log, [(point.steps, point.metrics) for point in run.points]) as logger:
        while len(run.points) < run.config.points:
            point = run.phase()
            held_out = "" if point.held_out is None else f"{point.held_out:.2f} {show_interval(point, '.2f')}"
            progress(run.stage, point.steps, f"held-out utility {held_out}" if held_out else "nothing held out")
            logger.log(point.metrics, point.steps)
            checkpoint.save_json(run.state_dict())
    learned = run.finished()
    usable = run.usability()
    learned = replace(learned, policy=usable.stored_in(finished(learned.policy)))
    _store_quantities(learned, folder / "quantities.csv", run.limits)
    regrets = [[state, *of] for state, of in learned.regrets.items()]
    write_csv(folder / "obedience.csv", ["state", *MODULES], regrets)
    picture = _draw(run, folder / PICTURE)
    atomic_write(folder / POLICY, learned.policy.dumps())
    return Trained(tuple(run.points), learned, picture, usable)


class _Run:
    """A run between two phases."""

    def __init__(self, config: GraceConfig, table: UtilityTable, limits: Bounds | None) -> None:
        self.config, self.table = config, table
        self.limits = limits or (float(np.nanmin(table.utilities)), float(np.nanmax(table.utilities)))
        learned_from, held_out = _split(table, config)
        self.training = table.rows(learned_from)
        self.held_out = table.rows(held_out) if held_out else None
        self.points: list[MediatorPoint] = []
        self.settings: ChosenSettings | None = None
        self.stage = Stage("Training the mediator", len(self.training), "questions")

    @property
    def steps(self) -> int:
        return self.points[-1].steps if self.points else 0

    def chosen(self) -> ChosenSettings:
        """The settings: by cross-validation over the training questions, once."""
        if self.settings is None:
            self.settings = choose(self.training, self.config)
        return self.settings

    def phase(self) -> MediatorPoint:
        """Learn on, and measure."""
        steps = max(1, len(self.training) * (len(self.points) + 1) // self.config.points)
        seen = self.training.rows(range(steps))
        made = learn(seen, self.config, self.chosen()).policy
        training = _interval(earned(made, seen), self.limits)[1]
        held_out = np.zeros(0) if self.held_out is None else earned(made, self.held_out)
        point = MediatorPoint(steps, training, *_interval(held_out, self.limits))
        self.points.append(point)
        return point

    def finished(self) -> LearnedMediator:
        """The policy of the run as it stands."""
        return learn(self.table, self.config, self.chosen())

    def usability(self) -> Usability:
        """Whether the policy from the training questions earns more on the held-out ones than the best static policy."""
        if self.held_out is None:
            return usability(None, "", len(self.training))
        made = learn(self.training, self.config, self.chosen())
        utilities = self.training.utilities
        tried = np.flatnonzero(~np.isnan(utilities).all(axis=0))
        best = int(tried[np.nanmean(utilities[:, tried], axis=0).argmax()])
        ours, theirs = earned(made.policy, self.held_out), self.held_out.utilities[:, best]
        known = ~np.isnan(ours - theirs)
        baseline = static_policy(", ".join(self.table.actions[best]))
        estimate = gain(ours[known], theirs[known], self.limits) if known.any() else None
        return usability(estimate, baseline, len(self.training))

    def state_dict(self) -> dict[str, Any]:
        """All that a phase changes, as plain values."""
        return {
            "settings": None if self.settings is None else asdict(self.settings),
            "points": [astuple(point) for point in self.points],
        }

    def load_state_dict(self, stored: dict[str, Any]) -> None:
        """Resume from what `state_dict` gave."""
        try:
            # of version 0.3, with a regret as third value
            points = [[*point[:2], *point[3:]] if len(point) == 7 else point for point in stored["points"]]
            self.points = [MediatorPoint(*point) for point in points]
            self.settings = None if stored["settings"] is None else ChosenSettings(**stored["settings"])
        except (KeyError, TypeError, ValueError) as error:
            raise ParlourError(f"{CHECKPOINT} cannot be used ({error}); accepted: what `train grace` left") from None


def _split(table: UtilityTable, config: GraceConfig) -> tuple[list[int], list[int]]:
    """Rows to learn from, in an order drawn at random, and held-out rows; a question's rows stay together."""
    names = list(dict.fromkeys(table.ids))
    rng = np.random.default_rng(seeds.derive(config.seed, _SPLIT))
    place = {names[k]: rank for rank, k in enumerate(rng.permutation(len(names)).tolist())}
    first = int(len(names) * config.validation)
    known = np.flatnonzero(~np.isnan(table.utilities).all(axis=1)).tolist()
    order = sorted(known, key=lambda row: (place[table.ids[row]], row))
    learned_from = [row for row in order if place[table.ids[row]] >= first]
    if not learned_from:
        return order, []
    return learned_from, [row for row in order if place[table.ids[row]] < first]


def _interval(values: Floats, limits: Bounds) -> tuple[int, float | None, float | None, float | None]:
    """How many are known, their mean, and the ends of its interval."""
    known = values[~np.isnan(values)]
    if not len(known):
        return 0, None, None, None
    estimate = mean_estimate(known, limits)
    return estimate.n, *estimate.with_ends


# -- files -----------------------------------------------------------------------------------------------------


def _settings(config: GraceConfig, table: UtilityTable) -> dict[str, Any]:
    """What decides a run."""
    cuts = json.dumps(dict(table.thresholds))
    digest = hashlib.sha256((table.dumps() + cuts).encode()).hexdigest()
    stored = config.plain()
    if config.unit == 1:  # as runs were stored before there was another one
        del stored["unit"]
    if config.individual_costs and table.costs not in (None, table.action_set.costs):
        stored["costs"] = list(table.costs or ())
    return stored | {"table_sha256": digest}


def _store_quantities(learned: LearnedMediator, path: Path, limits: Bounds) -> None:
    """One line for each state and action with data or a value; intervals end at what is possible."""
    quantities, values, rows = learned.quantities, learned.estimate, []
    low, high = np.maximum(quantities.low, limits[0]), np.minimum(quantities.high, limits[1])
    for k, state in enumerate(values.states):
        place = quantities.states.index(state) if state in quantities.states else None
        for j, joint in enumerate(values.actions):
            measured: list[Any] = [0, math.nan, math.nan, math.nan]
            if place is not None and quantities.count[place, j]:
                of = (quantities.count, quantities.mean, low, high)
                measured = [array[place, j].item() for array in of]
            cells = [x if math.isfinite(x) else "" for x in (*measured, float(values.value[k, j]))]
            rows.append([state, *joint, *cells, learned.policy.rows.get(state, {}).get(joint, "")])
    write_csv(path, ["state", *MODULES, "n", "mean", "low", "high", "value", "probability"], rows)


def _draw(run: _Run, path: Path) -> bool:
    """The curve with its intervals as a PNG, joint actions at random beside it; False if matplotlib is not installed."""
    points, config = run.points, run.config
    training = [CurvePoint(p.steps, p.training) for p in points if p.training is not None]
    held_out = [CurvePoint(p.steps, p.held_out, p.low, p.high) for p in points if p.held_out is not None]
    by_chance = [] if run.held_out is None else _at_random(run.held_out, run.limits)
    shown = LearningCurve(
        title=f"What a mediator learns: {config.method} by counts",
        who="GRACE's mediator on the questions of its table; dotted: every joint action as likely as another, "
        "as before anything is learned",
        n=f"n = {points[-1].n} held-out questions, {len(run.training)} learned from",
        x="questions learned from",
        y="net utility of a question (points)",
        curves=(
            Curve("held out", [*(CurvePoint(0, *level) for level in by_chance), *held_out], marker="o"),
            Curve("learned from", training, "--", marker="s"),
        ),
        levels=[("random", level) for level in by_chance],
    )
    return learning_curve(path, shown)


def _at_random(held_out: UtilityTable, limits: Bounds) -> list[tuple[float, float | None, float | None]]:
    """What joint actions earn that are all as likely, with its interval; empty where nothing is known."""
    tried = ~np.isnan(held_out.utilities)
    known = tried.any(axis=1)
    total = np.where(tried, held_out.utilities, 0.0).sum(axis=1)[known]
    _, mean, low, high = _interval(total / tried.sum(axis=1)[known], limits)
    return [] if mean is None else [(mean, low, high)]
