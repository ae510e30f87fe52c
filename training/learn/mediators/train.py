"""Training the mediator in a run directory: configuration, curve, checkpoint and policy; resumes after a kill.

A run has as many phases as its curve has points. Each phase learns from a longer part of the training questions. After
each phase the policy is measured on held-out questions, and the run is stored; a run that was killed and resumed leaves
the same files, byte for byte. The policy of the run is learned from the whole table.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.common.plain import plain
from parlour.policies.agents.mediated_qa.joint import MODULES, Joint
from parlour.policies.files import atomic_write, read_json
from parlour.training.learn.mediators.baselines import Scores, best_joint, possible, scores_table
from parlour.training.learn.mediators.contextual import CrossFitted, regrets_of
from parlour.training.learn.mediators.deploy import (
    Deployment,
    best_column,
    candidates,
    choose,
    gain_of,
    static_table,
    validated,
)
from parlour.training.learn.mediators.experiment import Calibrated
from parlour.training.learn.mediators.held_out import compare, gains
from parlour.training.learn.mediators.learn import (
    ChosenSettings,
    GraceConfig,
    LearnedMediator,
    check_floor_fits,
    choose_settings,
    earned,
    fit_policy,
)
from parlour.training.learn.mediators.readiness import another_split
from parlour.training.learn.mediators.table import Floats, UtilityTable
from parlour.training.learn.mediators.verdict_page import MediatorVerdict, opening, use, verdict_of
from parlour.training.play import seeds
from parlour.training.report.learning_curve import LearningCurve
from parlour.training.report.plots import Curve, CurvePoint
from parlour.training.report.report import Part, Report
from parlour.training.report.result_table import Cell, Column, ResultTable
from parlour.training.report.verdicts import together
from parlour.training.runs.checkpoints import State
from parlour.training.runs.folder import CONFIG
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run
from parlour.training.statistics import Bounds, Estimate

POLICY: Final = "policy.json"


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
    deployment: Deployment
    """Which policy left the run, from the held-out questions."""
    curve: LearningCurve
    scores: tuple[Scores, ...] = ()
    """The learned mediator, the baselines and the oracle on the held-out questions of a calibrated run."""
    reader: str = ""
    """Who answered; empty if it is not told."""
    states: Mapping[str, int] = field(default_factory=dict)
    """The training questions in each state, in a calibrated run."""
    seen_regrets: Mapping[str, float] = field(default_factory=dict)
    """What each module would gain by disobeying a policy that sees more than the state, mean over held-out questions."""
    compared: MediatorVerdict | None = None
    """The best candidate against the static policies, in a calibrated run."""
    use: tuple[str, ...] = ()
    """Lines of Python that use the policy."""


def train(
    config: GraceConfig,
    table: UtilityTable,
    run: Run,
    *,
    calibrated: Calibrated | None = None,
    reader: str = "",
    contextual: CrossFitted | None = None,
) -> Trained:
    """Train, or resume a run.

    Leaves config.json, checkpoint.json, progress.csv, quantities.csv, policy.json, and the files of the report, report.html among them.

    Args:
        config: How to learn. The run is resumed only if it has the same, and the same table.
        table: What to learn from.
        run: Where.
        calibrated: The questions that the table is of, where there are held-out ones for a comparison with the baselines.
        reader: Who answered the questions of the table, for the policy file; empty where that is not told.
        contextual: A mediator that sees more than the state, which the policy file holds besides the table.

    Raises:
        ParlourError: The directory holds another run or is in use, or the configuration does not fit the table.
    """
    check_floor_fits(table, config)
    more = {"reader": reader} if reader else {}
    model = contextual and contextual.model
    more |= {} if model is None else {"sees": model.sees}
    learner = _Learner(config, table, None if calibrated is None else possible(calibrated.payment))
    with run.opened(_settings(config, table) | more, _may_differ(run.path)) as folder:
        _learn(learner, run)
        made = candidates(table, config, learner.chosen(), model)
        policies = {name: of.policy for name, of in made.items()}
        scores: tuple[Scores, ...] = ()
        regrets, states = dict[str, float](), dict[str, int]()
        if calibrated is None:
            tested, static = learner.gains()
            questions, paid = learner.training, learner.limits
        else:
            scores, tested = compare(calibrated, policies), gains(calibrated, policies)
            best = best_joint(calibrated.train, calibrated.config.joint, calibrated.actions)
            static, questions, paid = calibrated.actions.names_of(best), table, possible(calibrated.payment)
            regrets, states = regrets_of(calibrated, config, model), calibrated.states
        chosen_by = dict.fromkeys(made) | validated(questions, config, learner.chosen(), paid, contextual)
        deployed = choose(chosen_by, tested, static, len(set(questions.ids)), keep=config.deploy == "learned")
        learned = made[deployed.candidate]
        compared, lines = None, tuple[str, ...]()
        if calibrated is not None:
            compared = verdict_of(calibrated, deployed.candidate, learned.policy)
            split = another_split(calibrated.config, calibrated.train)
            deployed = replace(deployed, verdict=together([deployed.verdict, split]))
            lines = use((run.path or folder) / POLICY, calibrated)
        policy = learned.policy if deployed.kept else static_table(static, table)
        policy = replace(policy, reader=reader, usable=deployed.usable, verdict=deployed.verdict)
        heading = ["state", *MODULES, "n", "mean", "low", "high", "value", "probability"]
        run.table("quantities.csv", heading, _quantities(learned, learner.limits))
        atomic_write(folder / POLICY, policy.dumps())
        points = tuple(learner.points)
        trained = Trained(points, learned, deployed, curve(learner), scores, reader, states, regrets, compared, lines)
        report(trained).write(folder, page=True)
    return trained


def _may_differ(path: Path | None) -> tuple[str, ...]:
    """Settings that a run of version 0.3 has besides, if it learned from counts, as all do now."""
    there = read_json(path / CONFIG) if path is not None and (path / CONFIG).is_file() else {}
    return ("learner", "rule", "rounds") if there.get("learner") == "counts" else ()


def _learn(learner: _Learner, run: Run) -> None:
    """The phases that are missing."""
    run.restore(learner.load_state_dict)
    if len(learner.points) < learner.phases:
        run.progress(learner.stage, learner.steps)
    while len(learner.points) < learner.phases:
        point = learner.phase()
        held_out = "" if point.held_out is None else Estimate(point.held_out, point.low, point.high).shown(".2f")
        run.progress(learner.stage, point.steps, f"held-out utility {held_out}" if held_out else "nothing held out")
        run.log(point.metrics, point.steps)
        run.checkpoint(learner.state_dict())


class _Learner:
    """What has been learned, between two phases."""

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
    def phases(self) -> int:
        """Points of the curve: each learns from more questions than the one before."""
        return min(self.config.points, len(self.training))

    @property
    def steps(self) -> int:
        return self.points[-1].steps if self.points else 0

    def chosen(self) -> ChosenSettings:
        """The settings: by cross-validation over the training questions, once."""
        if self.settings is None:
            self.settings = choose_settings(self.training, self.config)
        return self.settings

    def phase(self) -> MediatorPoint:
        """Learn on, and measure."""
        steps = len(self.training) * (len(self.points) + 1) // self.phases
        seen = self.training.rows(range(steps))
        made = fit_policy(seen, self.config, self.chosen()).policy
        training = _interval(earned(made, seen), self.limits)[1]
        held_out = np.zeros(0) if self.held_out is None else earned(made, self.held_out)
        point = MediatorPoint(steps, training, *_interval(held_out, self.limits))
        self.points.append(point)
        return point

    def gains(self) -> tuple[dict[str, Estimate | None], Joint]:
        """How much more the candidates from the training questions earn on the held-out ones than the best static policy; and that."""
        made, best = candidates(self.training, self.config, self.chosen()), best_column(self.training)
        if self.held_out is None:
            return dict.fromkeys(made), self.table.actions[best]
        theirs = self.held_out.utilities[:, best]
        ours = {name: earned(of.policy, self.held_out) for name, of in made.items()}
        return {name: gain_of(utility, theirs, self.limits) for name, utility in ours.items()}, self.table.actions[best]

    def state_dict(self) -> dict[str, Any]:
        """All that a phase changes, as plain values."""
        return {
            "settings": None if self.settings is None else asdict(self.settings),
            "points": [astuple(point) for point in self.points],
        }

    def load_state_dict(self, state: State) -> None:
        """Resume from what `state_dict` gave."""
        # of version 0.3, with a regret as third value
        points = [[*point[:2], *point[3:]] if len(point) == 7 else point for point in state["points"]]
        self.settings = None if state["settings"] is None else ChosenSettings(**state["settings"])
        self.points = [MediatorPoint(*point) for point in points]


def _split(table: UtilityTable, config: GraceConfig) -> tuple[list[int], list[int]]:
    """Rows to learn from, in an order drawn at random, and held-out rows; a question's rows stay together."""
    names = list(dict.fromkeys(table.ids))
    rng = np.random.default_rng(seeds.derive(config.seed, seeds.Purpose.SPLIT))
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
    estimate = Estimate.mean(known, limits)
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


def _quantities(learned: LearnedMediator, limits: Bounds) -> list[list[Any]]:
    """A row for each state and action with data or a value; intervals end at what is possible."""
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
    return rows


# -- the report ------------------------------------------------------------------------------------------------


def report(run: Trained) -> Report:
    """The policy, the settings that were chosen, and where there are some, scores beside the baselines."""
    learned, settings, suffix = run.learned, run.learned.settings, f" ({run.reader})" if run.reader else ""
    title = "Policy" if run.deployment.kept else "Learned mediator, not deployed"
    parts: list[Part] = [_policy_table(learned, f"{title}{suffix}")]
    if settings.held_out is not None:
        chosen = f"temperature {settings.temperature}, floor {settings.floor}"
        parts.append(f"chosen by cross-validation: {chosen} (held-out utility {settings.held_out:.2f})")
    if run.scores:
        parts.append(scores_table(run.scores, f"Held-out questions{suffix}"))
    if run.seen_regrets:
        text = ", ".join(f"{name} {regret:.2f}" for name, regret in run.seen_regrets.items())
        parts.append(f"regret of the policy that sees more, mean over held-out questions: {text}")
    counts = tuple(run.states.items())
    states = ResultTable("Training questions", (Column("state"), Column("questions")), counts, file="states.csv")
    values: dict[str, Any] = {
        "questions": _questions(learned),
        "unseen": learned.unseen,
        "settings": asdict(settings),
        "regrets": learned.regrets,
        "last": asdict(run.points[-1]),
        "usable": run.deployment.usable,
        **({"scores": [plain(score) for score in run.scores]} if run.scores else {}),
        **({"reader": run.reader} if run.reader else {}),
        **({"seen_regrets": dict(run.seen_regrets)} if run.seen_regrets else {}),
        **({"compared": plain(run.compared)} if run.compared is not None else {}),
    }
    first = () if run.compared is None else opening(run.compared, run.use)
    details = (states,) if counts else ()
    title = "A mediator for retriever, generator and verifier"
    return Report(title, run.deployment.verdict, tuple(parts), details, run.curve.picture, values, opening=first)


def _questions(learned: LearnedMediator) -> dict[str, int]:
    """State -> number of its questions."""
    return dict(zip(learned.quantities.states, learned.quantities.questions.tolist(), strict=True))


def _policy_table(learned: LearnedMediator, title: str) -> ResultTable:
    """Number of questions, most probable action, and what disobeying would gain, by state, most questions first."""
    counts, rows = _questions(learned), list[tuple[Cell, ...]]()
    for state, row in sorted(learned.policy.rows.items(), key=lambda item: -counts.get(item[0], 0)):
        best = max(row, key=row.__getitem__)
        rows.append((state, counts.get(state, 0), " ".join(best), row[best], *learned.regrets[state]))
    columns = (Column("state"), Column("questions"), Column("most probable"), Column("p", ".3f"))
    regrets = (Column(f"regret of {name}", ".2f", key=name) for name in MODULES)
    return ResultTable(title, (*columns, *regrets), tuple(rows), file="obedience.csv")


def curve(run: _Learner) -> LearningCurve:
    """The curve with its intervals, and joint actions at random beside it."""
    points, config = run.points, run.config
    training = [CurvePoint(p.steps, p.training) for p in points if p.training is not None]
    held_out = [CurvePoint(p.steps, p.held_out, p.low, p.high) for p in points if p.held_out is not None]
    by_chance = [] if run.held_out is None else _at_random(run.held_out, run.limits)
    return LearningCurve(
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


def _at_random(held_out: UtilityTable, limits: Bounds) -> list[tuple[float, float | None, float | None]]:
    """What joint actions earn that are all as likely, with its interval; empty where nothing is known."""
    tried = ~np.isnan(held_out.utilities)
    known = tried.any(axis=1)
    total = np.where(tried, held_out.utilities, 0.0).sum(axis=1)[known]
    _, mean, low, high = _interval(total / tried.sum(axis=1)[known], limits)
    return [] if mean is None else [(mean, low, high)]
