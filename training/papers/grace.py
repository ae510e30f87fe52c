"""Figures 3 to 5 of Nguyen's GRACE: the mediator beside its baselines, its policy, and what it earns in each state.

The paper has 20 questions of HotpotQA and a language model. Ours are generated: the mediator learns from calibration
questions (`ReproductionSetting.practice`) by quantal response with the paper's temperature and floor, and draws one joint action on each of the
held-out ones (`ReproductionSetting.games`) of the same corpus, so that right answers can be counted. It does so twice, once with our
normalisation of the graph's signals and once with the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa import vocabulary
from parlour.envs.mediated_qa.graph import Normalisation
from parlour.envs.mediated_qa.vocabulary import NO_SIGNAL, Judgement
from parlour.policies.agents.mediated_qa import GraceMediator, PolicyTable
from parlour.policies.agents.mediated_qa.joint import FALLBACK, MODULES, NUMBER, PUBLISHED, STATES, Joint, column
from parlour.policies.agents.mediated_qa.readers import AskingReader
from parlour.training.learn.mediators import baselines, held_out
from parlour.training.learn.mediators.baselines import SystemAnswers
from parlour.training.learn.mediators.experiment import UNSEEN, Calibrated, HeldOutConfig
from parlour.training.learn.mediators.learn import GraceConfig, fit_policy
from parlour.training.papers import grace_pictures as pictures
from parlour.training.papers.cells import PaperTable, Reproduction, ReproductionSetting, TableCell, cell, folder_name
from parlour.training.play.runner import GameRunner
from parlour.training.report import plots
from parlour.training.report.report import Picture
from parlour.training.report.result_table import ResultTable
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate

LEARNED: Final = "learned mediator"
PUBLISHED_CONFIG: Final = GraceConfig(temperature=0.7, floor=0.02)
"""Temperature and floor of the published policy file."""
OURS: Final = "our signals"
THEIRS: Final = "the paper's signals"
_NORMALISATIONS: Final[tuple[tuple[str, Normalisation], ...]] = ((OURS, "ours"), (THEIRS, "paper"))
_ORDER: Final = (*STATES, NO_SIGNAL)
_SHALLOW: Final = ("retrieve_shallow", "generate_consistency", "skip_check")
_CASES: Final[tuple[tuple[str, Judgement, Joint | None], ...]] = (
    ("case 1: right", Judgement.ANSWERED_RIGHT, _SHALLOW),
    ("case 2: wrong", Judgement.ANSWERED_WRONG, (_SHALLOW[0], "generate", _SHALLOW[2])),
    ("case 3: rightly silent", Judgement.KEPT_SILENT, _SHALLOW),
    ("case 4: wrongly silent", Judgement.MISSED, FALLBACK),
    ("high trust: right", Judgement.ANSWERED_RIGHT, None),
    ("high trust: wrong", Judgement.ANSWERED_WRONG, None),
    ("high trust: rightly silent", Judgement.KEPT_SILENT, None),
)
"""What section 4.2 has figures of: outcome and joint action; None: the draws in states of high trust."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """A mediator that has learned, and what it did on the held-out questions."""

    signals: str
    """`OURS` or `THEIRS`."""
    calibrated: Calibrated
    policy: PolicyTable
    drawn: tuple[Joint, ...]
    """Joint action on each held-out question."""

    played: SystemAnswers
    """The results of these actions."""


def grace_figure_3(name: str, setting: ReproductionSetting) -> Reproduction:
    """Accuracy, abstention, effective reliability and net utility of the mediator, the baselines and the oracle."""
    if setting.out is not None:
        plots.require()
    experiments = _experiments(setting)
    systems = list(_systems(experiments))
    cells = [entry for system in systems for entry in _scored(name, *system, experiments[0].played)]
    remark = (
        "The paper's figure shows net utility without a number; its published results have a mean of 6.35 (n = 20)."
    )
    drawn = "The learned mediator draws its action once on each question; differences are paired, question by question."
    static = [f"{system.name} ({signals})." for system, signals in systems if system.name.startswith("best static:")]
    draw = partial(pictures.scores, cells, who=_who(setting))
    return _made(name, "The mediator and its baselines", setting, cells, draw, (remark, drawn, *static))


def grace_figure_4(name: str, setting: ReproductionSetting) -> Reproduction:
    """The policy, states by joint actions; the cells hold the most probable action of each state."""
    _check_folder(name, setting)
    experiments = _experiments(setting)
    states = [(played, state) for played in experiments for state in _ORDER if state in played.policy.rows]
    cells = [made for experiment, state in states for made in _probabilities(name, experiment, state)]
    lines = [
        (played.signals, state, played.calibrated.states.get(state, 0), *joint, row.get(joint, 0.0))
        for played, state in states
        for row in [played.policy.rows[state]]
        for joint in PUBLISHED
    ]
    data = ResultTable.plain(
        "Policy", ("signals", "state", "questions", *MODULES, "probability"), lines, file=f"{name}.csv"
    )
    panels = [(experiment.signals, experiment.policy.rows, experiment.calibrated.states) for experiment in experiments]
    draw = partial(pictures.heatmap, panels, who=_who(setting))
    return _made(name, "Policy by state", setting, cells, draw, (_files(name),), data)


def grace_figure_5(name: str, setting: ReproductionSetting) -> Reproduction:
    """Net utility of the mediator's draws by state."""
    _check_folder(name, setting)
    experiments = _experiments(setting)
    lines: list[tuple[str | float, ...]] = []
    cells: list[TableCell] = []
    panels: list[tuple[str, dict[str, tuple[list[float], Estimate]]]] = []
    for experiment in experiments:
        earned: dict[str, list[float]] = {state: [] for state in _ORDER}
        for row, joint, utility in zip(
            experiment.calibrated.held_out, experiment.drawn, experiment.played.utility, strict=True
        ):
            earned[row.state].append(float(utility))
            lines.append((experiment.signals, row.number, row.state, *joint, float(utility)))
        means = {state: Estimate.mean(values) for state, values in earned.items() if values}
        made = partial(cell, name, of=experiment.signals, measure="net utility", share=False)
        cells += [made(row=state, ours=earns) for state, earns in means.items()]
        cells += [made(row=row, ours=Estimate.mean(values) if values else None) for row, values in _paid(experiment)]
        panels.append((experiment.signals, {state: (earned[state], average) for state, average in means.items()}))
    data = ResultTable.plain(
        "Draws", ("signals", "question", "state", *MODULES, "net_utility"), lines, file=f"{name}.csv"
    )
    draw = partial(pictures.utilities, panels, who=_who(setting))
    return _made(name, "Net utility by state", setting, cells, draw, (_files(name),), data)


def _paid(experiment: Experiment) -> Iterator[tuple[str, list[float]]]:
    """What the cases come to, on all held-out questions with their outcome."""
    rows = experiment.calibrated.held_out
    for text, outcome, joint in _CASES:
        played = zip(rows, (NUMBER[joint or drawn] for drawn in experiment.drawn), strict=True)
        counted = [(row, k) for row, k in played if joint or row.state.startswith("T:high")]
        utilities = [row.utilities[k] for row, k in counted if row.outcomes[k] == outcome]
        yield (f"{text}, {short(joint)}" if joint else text), utilities


# -- playing ---------------------------------------------------------------------------------------------------


def _experiments(setting: ReproductionSetting) -> list[Experiment]:
    if setting.games < 2:
        raise accept("games", setting.games, "at least 2 held-out questions")
    if setting.practice < 2:
        raise accept("practice", setting.practice, "at least 2 calibration questions")
    return [_experiment(setting, *settings) for settings in _NORMALISATIONS]


def _experiment(setting: ReproductionSetting, signals: str, normalisation: Normalisation) -> Experiment:
    config = HeldOutConfig(
        train=setting.practice,
        held_out=setting.games,
        normalisation=normalisation,
        consistency="evidence",
        corpus_seed=UNSEEN + setting.seed,
        seed=setting.seed,
    )
    reader = AskingReader(setting.model, setting.seed) if setting.model.is_language_model else None
    folder = folder_name("calibration", normalisation, setting.model.name)
    calibrated = held_out.prepare(
        config,
        reader=reader,
        run=Run(None if setting.out is None else setting.out / folder, setting.progress),
        runner=GameRunner(pool=setting.pool),
    )
    policy = fit_policy(calibrated.table, PUBLISHED_CONFIG.replace(seed=setting.seed)).policy
    mediator = GraceMediator(policy)
    mediator.reset(vocabulary.Module.MEDIATOR, setting.seed)
    drawn = tuple(mediator.recommend(row.state) for row in calibrated.held_out)
    return Experiment(signals, calibrated, policy, drawn, baselines.drawn(LEARNED, drawn, calibrated.held_out))


def _systems(experiments: Sequence[Experiment]) -> Iterator[tuple[SystemAnswers, str]]:
    """Each with the signals of the graph that it works with; two work without a graph."""
    for experiment in experiments:
        yield experiment.played, experiment.signals
    first = experiments[0].calibrated
    yield baselines.fixed("no retrieval", baselines.CLOSED_BOOK, first.held_out), ""
    yield baselines.refusing(first.held_out, first.confidences, vocabulary.Payment(), by_tokens=first.by_tokens), ""
    for experiment in experiments:
        rows = experiment.calibrated.held_out
        yield baselines.fixed("GraphRAG", baselines.GRAPH_RAG, rows), experiment.signals
        yield baselines.best_static(experiment.calibrated.train, rows), experiment.signals
        yield baselines.oracle(rows), experiment.signals


# -- cells -----------------------------------------------------------------------------------------------------


def _scored(table: str, system: SystemAnswers, signals: str, first: SystemAnswers) -> Iterator[TableCell]:
    right, answered = system.right > 0, system.answered > 0
    made = partial(cell, table, system.name.partition(":")[0], signals)
    same = system.name == LEARNED and signals == OURS
    n = len(right)
    for measure, ours, theirs in (("accuracy", right, first.right > 0), ("abstention", ~answered, first.answered == 0)):
        yield made(
            measure,
            Estimate.rate(int(ours.sum()), n),
            None if same else Estimate.paired(ours.tolist(), theirs.tolist()),
        )
    yield made("effective reliability", Estimate.rate(int(right.sum()), int(answered.sum())))
    apart = None if same else Estimate.mean(system.utility - first.utility)
    yield made("net utility", Estimate.mean(system.utility), apart, share=False)


def _probabilities(table: str, experiment: Experiment, state: str) -> Iterator[TableCell]:
    """Of the most probable action, and in the paper's graph of the one that the paper names."""
    row, n = experiment.policy.rows[state], experiment.calibrated.states.get(state, 0)
    best = max(PUBLISHED, key=lambda joint: row.get(joint, 0.0))
    for joint in PUBLISHED:
        value = Estimate(row.get(joint, 0.0), n=n)
        made = cell(table, state, f"{short(joint)} ({experiment.signals})", "probability", value)
        if joint == best or made.paper is not None:
            yield made


def short(joint: Joint) -> str:
    """A joint action in short words.

    >>> short(("skip_retrieval", "generate_parametric", "skip_check"))
    'skip param nocheck'
    """
    return column(joint).removeprefix("u_").replace("_", " ")


# -- files and remarks -----------------------------------------------------------------------------------------


def _check_folder(name: str, setting: ReproductionSetting) -> None:
    if setting.out is None:
        raise ParlourError(f"{name} is a picture and its data; accepted: a folder for them, --out DIR")
    plots.require()


def _files(name: str) -> str:
    return f"In the folder: {name}.png and {name}.csv."


def _who(setting: ReproductionSetting) -> str:
    """Who answered, below a picture."""
    return f"Generated questions; {plots.answered_by(setting.model)}; mediator learned from {setting.practice:,} other questions"


def _made(
    name: str,
    title: str,
    setting: ReproductionSetting,
    cells: Sequence[TableCell],
    draw: Callable[[Path], None],
    remarks: tuple[str, ...],
    *data: ResultTable,
) -> Reproduction:
    asks = setting.model.is_language_model
    who = f"{setting.model.name} answered and checked" if asks else "no language model played (the offline service)"
    general = (
        "The paper: 20 calibration and 20 other questions of HotpotQA, and a language model.",
        f"Ours: {setting.practice} generated calibration questions and {setting.games} held-out ones of medium "
        f"difficulty; {who}.",
    )
    picture = Picture(draw, title, f"{name}.png")
    made = Reproduction(name, title, setting.model.name, tuple(cells), (*general, *remarks))
    return replace(made, data=data, picture=picture)


_GRACE: Final = partial(PaperTable, "", sizes=(1000, 2000), quick=(100, 200))
GRACE_MADE: Final = {
    "grace-3": _GRACE(grace_figure_3),
    "grace-4": _GRACE(grace_figure_4),
    "grace-5": _GRACE(grace_figure_5),
}
