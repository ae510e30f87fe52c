"""`parlour train grace`: a mediator from a simulation table, from generated questions, or from questions of your own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Final

import typer
from parlour.envs.common.extras import install
from parlour.envs.common.plain import plain
from parlour.envs.common.terminal import tell
from parlour.envs.common.writing import writing
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import SEES
from parlour.envs.settings import COMMON
from parlour.policies.llm.make import ModelConfig
from parlour.policies.llm.model import OFFLINE
from parlour.training.cli import common
from parlour.training.cli.models import answering
from parlour.training.cli.options import Options
from parlour.training.cli.train import stored
from parlour.training.learn.mediators import costs, enough, readers, readiness, table, train
from parlour.training.learn.mediators.contextual import learn_sees, most_seen
from parlour.training.learn.mediators.experiment import UNSEEN, HeldOutConfig, corpus_of, split
from parlour.training.learn.mediators.held_out import PARTIAL, pipeline_of, prepare
from parlour.training.learn.mediators.learn import GraceConfig, check_floor_fits, unit_of
from parlour.training.learn.mediators.simulate import Simulated
from parlour.training.learn.mediators.train import Trained
from parlour.training.play.runner import GameRunner
from parlour.training.report import display
from parlour.training.report.report import PAGE_FILE, Report
from parlour.training.runs.run import Run

_REPLIES: Final = "replies.sqlite"
"""Stored replies of a calibration, where no other file is chosen."""


def train_grace(
    config: Annotated[GraceConfig, Options(exclude=("unit",), panel="Learning")],
    setting: Annotated[
        HeldOutConfig,
        Options(
            exclude=("train", "corpus_seed", "seed", "costs", "model", "sees", "retriever"),
            panel="With --questions or --corpus",
        ),
    ],
    asked: Annotated[
        ModelConfig,
        Options(
            repeated=("stop",),
            rename={"temperature": "--model-temperature"},
            panel="Language model",
        ),
    ],
    ray: common.RayOptions,
    sees: Annotated[
        str | None,
        "What the mediator sees of a question: state (the paper's), signals (their raw values), or question (its form, names, "
        "links and path); None: question from 300 questions to learn from; state with fewer, and with --actions.",
    ] = None,
    retriever: Annotated[
        str | None,
        "Retriever of evidence: graph, bm25, dense or hybrid, with the graph's signals in any case; None: graph, or bm25 where "
        "fewer than --least-linked of the questions are linked to a document.",
    ] = None,
    from_table: Annotated[Path | None, COMMON, "Simulation table to learn from: CSV, or JSON as published."] = None,
    questions: Annotated[
        int | None, typer.Option(min=2), COMMON, "Number of generated questions to learn from instead."
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option("--costs"),
        "Costs of the actions, nine numbers or some by name such as retrieve_deep=4; None: the published run's.",
    ] = None,
    dry_run: Annotated[
        bool, COMMON, "Only print what is known about the corpus, and an upper bound on calls, tokens and dollars."
    ] = False,
    out: common.RunOption = Path("runs/grace"),
    log: common.LogOption = None,
) -> Report:
    """Learn the policy of GRACE's mediator; resumes from the last checkpoint, a calibration from the last question.

    Replies of a language model are stored in OUT/calibration, unless --cache names another file.

    Example: [bold]parlour train grace --corpus questions.jsonl --documents notes --reader extract --out runs/grace[/bold]

    Example: [bold]parlour train grace --from-table simulation.csv --temperature 0.7 --floor 0.02 --out runs/grace[/bold]
    """
    if sum((from_table is not None, questions is not None, setting.corpus != "")) != 1:
        raise ParlourError(
            "train grace needs one source of data; accepted: --corpus PATH, or --from-table FILE or --questions N"
        )
    if questions is None and not setting.corpus and (ray.ray is not None or asked.model != OFFLINE or dry_run):
        raise ParlourError(
            "--ray, --model and --dry-run are for questions; accepted: with --corpus PATH or --questions N"
        )
    if from_table is not None:
        simulated = table.read(from_table)
        simulated = simulated if cost is None else replace(simulated, costs=costs.stated(cost))
        check_floor_fits(simulated, config)
        count = int(len(set(simulated.ids)) * config.validation)
        common.note(enough.held_out_note(count, "--validation", config.validation))
        with display.progress_line() as progress:
            return _stored(train.train(config, simulated, Run(out, progress, log or ())), out)
    answering_model = "" if asked.model == OFFLINE else f"{asked.model}, temperature {asked.temperature:g}"
    setting = setting.replace(seed=config.seed, costs=costs.stated(cost), model=answering_model)
    config = config.replace(unit=unit_of(setting.payment))
    if questions is not None:
        setting = setting.replace(train=questions, corpus_seed=UNSEEN + config.seed)
    return _calibrated(config, setting, sees, retriever, asked, ray, out, dry_run, log or ())


def _calibrated(
    config: GraceConfig,
    setting: HeldOutConfig,
    sees: str | None,
    retriever: str | None,
    asked: ModelConfig,
    ray: common.RaySettings,
    out: Path,
    dry_run: bool,
    log: Sequence[str],
) -> Report:
    """Calibrate, learn, compare; or only tell what is known before.

    What the mediator sees and the retriever are chosen by the corpus where they are None.
    """
    setting = setting.replace(sees=sees or SEES[0], retriever=retriever or "graph")
    note, folder = readers.note(setting), out / "calibration"
    corpus = corpus_of(setting)
    setting = split(setting, corpus)
    if sees is None:
        setting = setting.replace(sees=most_seen(setting))
    if setting.sees != SEES[0] and find_spec("sklearn") is None:
        raise ParlourError(f"--sees {setting.sees} needs scikit-learn; accepted: --sees state, or {install('train')}")
    pipeline = pipeline_of(setting, corpus)
    if retriever is None and setting.corpus:
        setting, pipeline, why = readiness.choose_retriever(setting, corpus, pipeline)
        common.note(why)
    expected = readers.forecast(setting, pipeline, asked, folder / PARTIAL)
    lines, values = (expected.message,) * bool(dry_run or setting.model), plain(expected)
    pilot = None
    if setting.corpus:
        known = readiness.readiness(setting, corpus, pipeline, expected)
        lines, values = known.lines, values | {"corpus": plain(known)}
        pilot = None if known.choice.pilot else partial(_measured, setting)
    else:
        share = setting.held_out / (setting.train + setting.held_out)
        common.note(enough.held_out_note(setting.held_out, "a share of", share))
    if dry_run:
        return Report("Before a calibration", parts=(lines,), values=values)
    for line in lines:
        tell(f"parlour: {line}", error=True)
    with answering(_storing(asked, folder), folder) as model, ray.pool(model) as pool:
        pipeline = pipeline.read_by(readers.make(setting, model), anew=True)  # the forecast searched, too
        runner = GameRunner(model.concurrency if model.waits else 1, pool)
        with display.progress_line(model=model) as progress:
            run = Run(folder, progress)
            calibrated = prepare(setting, corpus=corpus, run=run, runner=runner, pipeline=pipeline, pilot=pilot)
    made = learn_sees(calibrated, config)
    with display.progress_line("Learning the policy") as progress:
        run = Run(out, progress, log)
        trained = train.train(config, calibrated.table, run, calibrated=calibrated, reader=note, contextual=made)
    return _stored(trained, out)


def _measured(setting: HeldOutConfig, rows: Sequence[Simulated]) -> None:
    """Tell how many questions a choice takes, by the first ones that were answered."""
    tell(f"parlour: {readiness.choice_size(setting, rows).message}", error=True)


def _storing(asked: ModelConfig, folder: Path) -> ModelConfig:
    """The same model; what it replies is stored in any case, so that a calibration asks no question twice."""
    if asked.model == OFFLINE or asked.cache is not None or asked.cache_mode != "record":
        return asked
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return asked.replace(cache=str(folder / _REPLIES))


def _stored(run: Trained, out: Path) -> Report:
    """The report of a run; on standard error, states without data."""
    learned = run.learned
    if learned.unseen:
        parents = len(learned.policy.rows) > len(learned.quantities.states)
        used = "their parents' values are used" if parents else "the fallback is used"
        states = f"{len(learned.unseen)} states without data, where {used}: {', '.join(learned.unseen)}"
        tell(f"parlour: warning: {states}", error=True)
    following = ("evaluate stakes FOLDER --price 0,50,200,inf", "show recommendation 0 --run FOLDER")
    page = f"page: {out / PAGE_FILE}"
    return stored(train.report(run), out, f"policy: {out / train.POLICY}", page, following=following)
