"""A calibrated run read back from its folder; why its mediator recommends what it does; and whether the modules would obey.

`train grace --questions N` or `--corpus PATH` leaves RUN/calibration with config.json and partial.csv, and RUN/policy.json and
RUN/config.json beside it.

Cost and utility of the actions are known only for the questions of a calibrated run; for other questions, only the recommendation
is shown.

With `share` of the outcome's utility for each module and its own costs alone (`equilibrium.module_game`), a module with
recommendation x follows if no other action earns it more, given the others' recommendations. Measured on the mean utilities of the
training questions: how often each module would follow, and what disobeying where it pays would gain it (swap regret). The policy
itself (quantal) is compared with the correlated equilibrium of greatest welfare at that share, which all modules follow by
construction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from parlour.envs.common.plain import plain
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa import reading
from parlour.envs.mediated_qa.corpus import Corpus
from parlour.envs.mediated_qa.pipeline import Pipeline
from parlour.envs.mediated_qa.reading import Piece
from parlour.envs.mediated_qa.retrieve import Search
from parlour.envs.mediated_qa.retrievers import Depth, Retriever
from parlour.envs.mediated_qa.vocabulary import ALL, JOINTS
from parlour.policies.agents.mediated_qa import documents, equilibrium, policy_file
from parlour.policies.agents.mediated_qa.documents import DocumentProbe, SignalBin
from parlour.policies.agents.mediated_qa.equilibrium import OBEDIENCE_TOLERANCE, NormalForm
from parlour.policies.agents.mediated_qa.joint import FALLBACK, MODULES, Joint
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable, Row
from parlour.policies.files import read_json
from parlour.training.learn.mediators import baselines, readers
from parlour.training.learn.mediators.enough import too_few
from parlour.training.learn.mediators.experiment import HeldOutConfig, corpus_of
from parlour.training.learn.mediators.held_out import pipeline_of
from parlour.training.learn.mediators.quantities import Shrinkage, estimate, measure
from parlour.training.learn.mediators.simulate import Simulated, paid, read_partial, table
from parlour.training.learn.mediators.table import Floats
from parlour.training.report.report import SUMMARY_FILE, Part, Report
from parlour.training.report.result_table import Cell, Column, ResultTable
from parlour.training.report.verdicts import together
from parlour.training.runs.folder import CONFIG
from parlour.training.statistics import Estimate

CALIBRATION: Final = "calibration"
"""Folder of the questions within a run."""
OUTCOME_NAMES: Final = ("right", "wrong", "rightly_silent", "wrongly_silent")
"""In the order of `Payment.utilities`."""
_SETTINGS: Final = frozenset(HeldOutConfig.model_fields)
_ACCEPTED: Final = "the run directory of a finished `train grace --questions N` or `--corpus PATH`"


@dataclass(frozen=True, eq=False)
class CalibratedRun:
    """What a run left."""

    folder: Path
    config: HeldOutConfig
    train: tuple[Simulated, ...]
    held_out: tuple[Simulated, ...]
    policy: PolicyTable | None
    shrinkage: Shrinkage = 0.0
    """That of the mediator in the run's report."""

    @property
    def note(self) -> str:
        """What tables say about who answered (`readers.note`)."""
        return readers.note(self.config)

    @property
    def rows(self) -> tuple[Simulated, ...]:
        """All questions, those to learn from first."""
        return self.train + self.held_out


def read_run(folder: str | Path) -> CalibratedRun:
    """Read a run directory. Raises `ParlourError` if it holds none that is calibrated to its end."""
    run = Path(folder)
    calibration = run / CALIBRATION if (run / CALIBRATION).is_dir() else run
    try:
        settings = read_json(calibration / CONFIG)
        given = {name: of for name, of in settings.items() if name in _SETTINGS}
        if given.get("actions"):
            raise ParlourError(f"{str(folder)!r} has actions of its own; accepted: a run over the published actions")
        config = HeldOutConfig.from_plain(given)
        with (calibration / "partial.csv").open(encoding="utf-8") as file:
            stamp = file.readline().rstrip("\n")
    except (OSError, UnicodeDecodeError, TypeError) as error:
        raise ParlourError(f"{str(folder)!r} is not a calibrated run ({error}); accepted: {_ACCEPTED}") from None
    stored = read_partial(calibration / "partial.csv", stamp)
    total = config.train + config.held_out
    if missing := [number for number in range(total) if number not in stored]:
        raise ParlourError(f"{str(folder)!r} lacks {len(missing)} of {total} questions; accepted: {_ACCEPTED}")
    if calibration != run and (run / CONFIG).exists() and "rate" in read_json(run / CONFIG):
        raise ParlourError(f"{str(folder)!r} has costs by use of parlour 0.3; accepted: a run with stated costs")
    rows = paid(tuple(stored[number] for number in range(total)), config.payment)
    made = policy_file.read(run / "policy.json") if (run / "policy.json").exists() else None
    return CalibratedRun(run, config, rows[: config.train], rows[config.train :], made, _shrinkage(run))


def _shrinkage(run: Path) -> Shrinkage:
    """Shrinkage of the mediator that the run reports; 0 where nothing was learned yet."""
    path = run / SUMMARY_FILE
    summary = read_json(path) if path.is_file() else {}
    shrinkage: Shrinkage = summary.get("settings", {}).get("shrinkage", 0.0)
    return shrinkage


def contexts(run: CalibratedRun) -> Floats:
    """What may be known about each question before anything is paid for, shape (questions, features); nobody is asked."""
    search = None if run.config.guide is None else Search(run.config.guide)
    pipeline = Pipeline(_corpus(run), normalisation=run.config.normalisation, search=search)
    return np.array([pipeline.context(number) for number in range(len(run.rows))], dtype=np.float64)


def _corpus(run: CalibratedRun) -> Corpus:
    corpus = corpus_of(run.config)
    if len(corpus.questions) < len(run.rows):
        raise ParlourError(f"a corpus of {len(corpus.questions)} questions; accepted: that of the run, {len(run.rows)}")
    return corpus


LEVELS: Final = ("low", "mid", "high")
"""Names of the bins, by number."""


@dataclass(frozen=True)
class ActionCame:
    """A joint action on the question."""

    joint: Joint
    probability: float
    """In the row of the state."""
    outcome: str | None = None
    """One of `OUTCOME_NAMES`; None where the question was not calibrated, as below."""
    cost: float | None = None
    """Cost of the executed actions."""
    net: float | None = None


@dataclass(frozen=True)
class Explanation:
    """Everything shown about a question."""

    question: str
    linked: tuple[str, ...]
    """Titles of documents, best match first."""
    signals: tuple[SignalBin, ...]
    """Empty without a link."""
    state: str
    fallback: bool
    """Whether the policy has no row for the state."""
    actions: tuple[ActionCame, ...]
    """Most probable first."""
    part: str = ""
    """Part of a calibrated question: `training` or `held out`."""
    reader: str = ""
    """Who answered it; empty if it is not told."""
    passages: Mapping[Depth, tuple[Piece, ...]] = field(default_factory=dict)
    """Depth of a search -> the sentences that it finds, which answers are read and sampled from."""


def explain(
    question: str, policy: PolicyTable, probe: DocumentProbe, retriever: Retriever | None = None
) -> Explanation:
    """Explain a question by documents and what a retriever, or the search of their graph, finds in them. Raises `ParlourError` for a
    policy without the cut points of the signals.
    """
    signals = probe.signals(question)
    state = documents.state_of(signals, policy.thresholds)
    shown = () if signals is None else documents.binned(signals, policy.thresholds)
    seen = policy.contextual
    row = policy.rows.get(state, {FALLBACK: 1.0}) if seen is None else seen.row(probe.context(question), state)
    ordered = sorted(row, key=lambda joint: -row[joint])
    actions = tuple(ActionCame(joint, row[joint]) for joint in ordered)
    falls_back = seen is None and state not in policy.rows
    depths: tuple[Depth, ...] = ("shallow", "deep")
    passages = {depth: reading.pieces((retriever or probe).evidence(question, depth)) for depth in depths}
    return Explanation(question, probe.linked(question), shown, state, falls_back, actions, passages=passages)


def explain_calibrated(asked: str, run: CalibratedRun, policy: PolicyTable) -> Explanation:
    """Explain a question of a run, by its text, its id or its number; or a new one, by the documents of the run.

    Raises:
        ParlourError: As `explain`; or the corpus of the run is not what it was.
    """
    corpus = _corpus(run)
    number = _number(asked, [(question.id, question.text) for question in corpus.questions[: len(run.rows)]])
    text = asked if number is None else corpus.questions[number].text
    probe = DocumentProbe(corpus.passages, run.config.normalisation)
    explanation = explain(text, policy, probe, pipeline_of(run.config, corpus).retriever)
    if number is None:
        return explanation
    row, pays = run.rows[number], run.config.payment
    known = {action.joint: action.probability for action in explanation.actions}
    came = [
        ActionCame(joint.names, known.get(joint.names, 0.0), OUTCOME_NAMES[outcome], pays.utilities[outcome] - net, net)
        for joint, outcome, net in zip(ALL, row.outcomes, row.net(pays), strict=True)
        if joint in JOINTS[run.config.joint]
    ]
    actions = tuple(sorted(came, key=lambda action: -action.probability))
    part = "training" if number < len(run.train) else "held out"
    return replace(explanation, actions=actions, part=part, reader=run.note)


def _number(asked: str, known: list[tuple[str, str]]) -> int | None:
    """Number of a question by text, id or number; None for a new one."""
    wanted = asked.strip()
    for names in ([text for _, text in known], [name for name, _ in known]):
        if wanted and wanted in names:
            return names.index(wanted)
    return int(asked) if asked.isascii() and asked.isdigit() and int(asked) < len(known) else None


def explanation_report(explained: Explanation, verdict: str) -> Report:
    """Documents, signals, state, and the joint actions with what each comes to."""
    part = f" ({explained.part})" if explained.part else ""
    falls_back = "; the policy has no row for it and falls back" if explained.fallback else ""
    numbers = [Column(name, ".3g") for name in ("value", "low below", "high from")]
    signals = [(signal.name, signal.value, signal.low, signal.high, LEVELS[signal.bin]) for signal in explained.signals]
    columns = (
        *(Column("joint action"), Column("p", ".3f"), Column("outcome")),
        *(Column("cost", "g"), Column("net utility", "g")),
    )
    actions = (
        (" ".join(of.joint), of.probability, of.outcome and of.outcome.replace("_", " "), of.cost, of.net)
        for of in explained.actions
    )
    parts: list[Part] = [
        f"question: {explained.question}{part}",
        f"linked to: {', '.join(explained.linked) or 'no document'}",
    ]
    if signals:
        parts.append(ResultTable("Signals", (Column("signal"), *numbers, Column("bin")), tuple(signals)))
    parts.append(f"state: {explained.state}{falls_back}")
    used = [(depth, *piece) for depth, pieces in explained.passages.items() for piece in pieces]
    parts.append(ResultTable.plain("Passages", ("search", "title", "sentence"), used))
    parts.append(ResultTable(f"Joint actions{_said(explained.reader)}", columns, tuple(actions)))
    return Report("", verdict, tuple(parts), values=plain(explained))


def _said(note: str) -> str:
    return f"; {note}" if note else ""


@dataclass(frozen=True)
class PrivateObedience:
    """A policy at one share; by module in the order of `joint.MODULES`, over the states of the held-out questions."""

    share: float
    policy: str
    n: int
    utility: Estimate
    """Net utility of a held-out question, if everybody obeys."""
    follows: tuple[float, ...]
    """How often the module would follow its advice."""
    regrets: tuple[float, ...]
    """What disobeying gains it in a question, in utility."""


def private_obedience(
    run: CalibratedRun, policy: PolicyTable, shares: Sequence[float]
) -> tuple[tuple[PrivateObedience, ...], dict[float, PolicyTable]]:
    """The policy and the correlated equilibrium at each share; and the latter as policies.

    Raises:
        ParlourError: A share is not accepted, or the policy takes joint actions that the run does not offer.
    """
    policy.check_by_state("the game of the modules")
    nets = estimate(measure(table(run.train, run.config.joint))).known
    measured, made = [], {}
    for share in shares:
        if not 0 < share <= 1:
            raise accept("share", share, "numbers above 0, up to 1")
        games = {
            state: equilibrium.module_game(net, individual_costs=True, share=share, costs=run.config.costs)
            for state, net in nets.items()
        }
        rows = {state: equilibrium.obeyed_row(games[state], net) for state, net in nets.items()}
        made[share] = PolicyTable(rows, policy.thresholds, reader=policy.reader)
        for name, played in (("policy of the run", policy), ("correlated equilibrium", made[share])):
            measured.append(_measured(share, name, played, run, games))
    return tuple(measured), made


def _measured(
    share: float, name: str, policy: PolicyTable, run: CalibratedRun, games: Mapping[str, NormalForm]
) -> PrivateObedience:
    counts = Counter(row.state for row in run.held_out)
    played = {state: n for state, n in counts.items() if state in games}
    if not played:
        raise ParlourError("no held-out question is in a state of the training questions; accepted: more questions")
    total = sum(played.values())
    follows, regrets = np.zeros(len(MODULES)), np.zeros(len(MODULES))
    for state, n in played.items():
        of_state = _of_state(games[state], policy.rows.get(state, {FALLBACK: 1.0}))
        follows += n / total * of_state[0]
        regrets += n / total * of_state[1]
    earned = baselines.learned(name, policy, run.held_out).utility
    utility = Estimate.mean(earned, baselines.possible(run.config.payment, [earned]))
    return PrivateObedience(share, name, len(run.held_out), utility, tuple(follows.tolist()), tuple(regrets.tolist()))


def _of_state(game: NormalForm, row: Row) -> tuple[Floats, Floats]:
    """How often each module follows, and its regret."""
    p = equilibrium.as_array(row)
    checked = equilibrium.obedience(game, p)
    follows = []
    for k, gain in enumerate(checked.gains):
        chances = np.moveaxis(p, k, 0).reshape(len(gain), -1).sum(axis=1)
        obeyed = gain.max(axis=1) <= OBEDIENCE_TOLERANCE * max(1.0, game.scale)
        follows.append(float(chances[obeyed].sum()))
    return np.array(follows), np.array(checked.regrets)


def obedience_report(obediences: Sequence[PrivateObedience], note: str) -> Report:
    """Whether the modules would obey the policy, and the correlated equilibrium, at each share; the verdict has the first share."""
    follows = (Column(f"{name} follows", ".0%") for name in MODULES)
    regrets = (Column(f"regret of {name}", ".2f") for name in MODULES)
    columns = (Column("share", "g"), Column("policy"), Column("net utility if obeyed", ".2f"), *follows, *regrets)
    rows: list[tuple[Cell, ...]] = [(of.share, of.policy, of.utility, *of.follows, *of.regrets) for of in obediences]
    title = f"Modules that pay their own costs, {obediences[0].n} held-out questions{_said(note)}"
    verdict = together(map(_obeyed, obediences[:_MOST_SHARES]))
    return Report(
        title, verdict, (ResultTable(title, columns, tuple(rows), wrap=True),), values=list(map(plain, obediences))
    )


_MOST_SHARES: Final = 2
"""Rows of the table of obedience in its verdict: both policies at the first share."""


def _obeyed(obedience: PrivateObedience) -> str:
    share, module = min(zip(obedience.follows, MODULES, strict=True))
    if few := too_few(obedience.n):
        return few
    followed = "follow all advice" if share == 1 else f"follow {share:.1%} of the advice or more (the least: {module})"
    who = f"At share {obedience.share:g}, {obedience.policy}"
    return f"{who}: the modules {followed}; {obedience.n:,} held-out questions."
