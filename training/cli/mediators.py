"""What a learned mediator is worth, and why it recommends what: `parlour evaluate stakes | obedience`, `parlour show recommendation`;
questions of your own: `parlour check corpus`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.common.plain import plain
from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError, accept
from parlour.envs.mediated_qa import corpora
from parlour.envs.mediated_qa.corpora.documents import read_documents
from parlour.policies.agents.mediated_qa import policy_file
from parlour.policies.agents.mediated_qa.documents import DocumentProbe
from parlour.policies.agents.mediated_qa.policy_file import PolicyTable
from parlour.policies.files import atomic_write
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.model import OFFLINE
from parlour.training.cli.options import Options
from parlour.training.cli.train import stored
from parlour.training.learn.mediators import calibrated_run, corpus_check, readers, readiness, stakes_report
from parlour.training.learn.mediators.experiment import LEAST_QUESTIONS, HeldOutConfig, in_random_order, split
from parlour.training.learn.mediators.held_out import pipeline_of
from parlour.training.learn.mediators.stakes import SeenQuestions, StakesConfig, stakes
from parlour.training.report import display
from parlour.training.report.report import Part, Report

RunArgument = Annotated[Path, typer.Argument(), "Run directory of `train grace --questions N` or `--corpus PATH`."]


@display.progress_line("Computing policies of the grid")
def evaluate_stakes(
    run: RunArgument,
    config: Annotated[
        StakesConfig,
        Options(
            shown={
                "value": "as in the run",
                "shrinkage": "as in the run",
                "price": "0,10,25,50,100,200,400,1000,inf, in the unit of the run",
            }
        ),
    ],
    out: Annotated[Path | None, "Directory for table, picture and policies; None: RUN/stakes."] = None,
) -> Report:
    """Show policy, accuracy, abstention and net utility over a grid of stakes, without new questions.

    Example: [bold]parlour evaluate stakes runs/grace --price 0,50,200,inf --value 110[/bold]
    """
    read = calibrated_run.read_run(run)
    config = config.replace(shrinkage=read.shrinkage) if config.shrinkage is None else config
    thresholds = {} if read.policy is None else read.policy.thresholds
    scored = stakes(
        read.train,
        read.held_out,
        config,
        read.config.payment,
        joint=read.config.joint,
        thresholds=thresholds,
        reader=read.note,
        seen=_seen(read),
        retriever=read.config.retriever,
    )
    folder = run / "stakes" if out is None else out
    for at, policy in scored.policies.items():
        atomic_write(folder / stakes_report.policy_name(*at), policy.dumps())
    warning = "" if read.policy is None or read.policy.usable is not False else read.policy.verdict
    report = stakes_report.report_of(scored, read.held_out, warning)
    report.write(folder)
    return stored(report, folder)


def _seen(read: calibrated_run.CalibratedRun) -> SeenQuestions | None:
    """What the run's policy sees of the held-out questions, if it sees more than the state."""
    if read.policy is None or read.policy.contextual is None:
        return None
    return SeenQuestions(read.policy.contextual, calibrated_run.contexts(read)[len(read.train) :])


def _policy_for(read: calibrated_run.CalibratedRun, path: Path | None) -> PolicyTable:
    """The policy in a file, or that of a run; a line on standard error where another reader answered when it was learned."""
    made = read.policy if path is None else policy_file.read(path)
    if made is None:
        raise ParlourError(f"{str(read.folder)!r} has no policy.json; accepted: a run that has ended, or --policy FILE")
    if made.reader and made.reader != read.note:
        ours = read.note or "answered by the simulated memory of generated questions"
        tell(f"parlour: warning: the policy was learned with another reader ({made.reader}; here {ours})", error=True)
    return made


@display.progress_line("Reading documents")
def show_recommendation(
    question: Annotated[str, typer.Argument(), "The question; in a calibrated run also its id, or its number from 0."],
    policy: Annotated[Path | None, "Policy file; None: that of the run."] = None,
    documents: Annotated[Path | None, "Folder or file of documents."] = None,
    run: Annotated[Path | None, "Run directory instead of documents: shows cost and utility of each action."] = None,
) -> Report:
    """Explain a recommendation: linked documents, signals, state, the row of the policy, cost and utility of each
    action.

    Example: [bold]parlour show recommendation "Who wrote The Glass Harbour?" --policy policy.json --documents notes[/bold]
    """
    if (documents is None) == (run is None):
        raise ParlourError(
            "show recommendation needs one source; accepted: --documents PATH with --policy FILE, or --run RUN"
        )
    if documents is not None:
        if policy is None:
            raise ParlourError("show recommendation --documents goes with --policy FILE")
        probe = DocumentProbe(read_documents(documents))
        made = policy_file.read(policy)
        explanation = calibrated_run.explain(question, made, probe)
    else:
        assert run is not None
        read = calibrated_run.read_run(run)
        made = _policy_for(read, policy)
        explanation = calibrated_run.explain_calibrated(question, read, made)
    return calibrated_run.explanation_report(explanation, made.verdict)


@display.progress_line("Computing obedience")
def evaluate_obedience(
    run: RunArgument,
    policy: Annotated[Path | None, "Policy file; None: that of the run."] = None,
    share: Annotated[
        str, "Part of the outcome's utility that each module gets, above 0, up to 1; several separated by commas."
    ] = "1,0.3,0.1,0.03",
    out: Annotated[
        Path | None, "Directory for the correlated equilibria as policy files; None: they are not stored."
    ] = None,
) -> Report:
    """Show whether the modules would obey, if each paid its own costs: the run's policy and correlated equilibria.

    Example: [bold]parlour evaluate obedience runs/grace --share 1,0.1 --out runs/obeyed[/bold]
    """
    read, shares = calibrated_run.read_run(run), _shares(share)
    made = _policy_for(read, policy)
    by_state = "" if made.contextual is None else "the policy's table of states, without what it sees of the question"
    note = "; ".join(filter(None, (read.note, by_state)))
    obediences, equilibria = calibrated_run.private_obedience(read, replace(made, contextual=None), shares)
    if out is not None:
        for part, table in equilibria.items():
            atomic_write(out / f"policy-share{part:g}.json", table.dumps())
    return calibrated_run.obedience_report(obediences, note)


def _shares(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise accept("share", text, "numbers above 0, up to 1, separated by commas") from None


def check_corpus(
    path: Annotated[
        Path, typer.Argument(), "Questions: a file, or a folder with `questions.jsonl` and the folder `documents`."
    ],
    asked: Annotated[
        ModelConfig,
        Options(
            repeated=("stop",),
            rename={"temperature": "--model-temperature"},
            panel="Language model, whose calls are counted and not made",
        ),
    ],
    documents: Annotated[Path | None, "Folder or file of documents; None: those that come with the questions."] = None,
    form: Annotated[str, f"Form of the questions: {', '.join(corpora.FORMS)}."] = corpora.AUTO,
    limit: Annotated[int | None, typer.Option(min=1), "Number of entries to read; None: all."] = None,
    question: Annotated[
        str | None, "Question to draw: its id, or its number from 0; None: the first that is linked."
    ] = None,
    picture: Annotated[Path | None, "Picture of the graph around that question to write (PNG); None: none."] = None,
) -> Report:
    """Count what is in a corpus, link its questions to the graph of its documents, and say how many questions a verdict on a
    mediator takes; draw the graph around a question.

    Example: [bold]parlour check corpus questions.jsonl --documents notes --picture graph.png[/bold]
    """
    if question is not None and picture is None:
        raise ParlourError("--question says what is drawn; accepted: with --picture FILE")
    with display.progress_line("Reading the corpus"):
        form = corpora.form_of(path) if form == corpora.AUTO else form
        corpus = corpora.load(path, documents, form, limit)
        setting, shuffled = _setting(path, asked), in_random_order(corpus)
        pipeline = pipeline_of(setting, shuffled)
        counts = corpus_check.count_corpus(corpus, form, pipeline.graph)
        if picture is not None:
            drawn = corpus_check.asked_for(corpus.questions, pipeline.graph, question)
            corpus_check.draw_question(pipeline.graph, drawn, picture)
        parts: list[Part] = [corpus_check.corpus_table(counts, f"{path} ({counts.form})")]
        values = plain(counts)
        if len(corpus.questions) >= LEAST_QUESTIONS:
            setting, pipeline, _ = readiness.choose_retriever(split(setting, shuffled), shuffled, pipeline)
            known = readiness.readiness(setting, shuffled, pipeline, readers.forecast(setting, pipeline, asked))
            parts.append(known.lines)
            values |= {"readiness": plain(known)}
    parts += [f"picture: {picture}"] if picture is not None else []
    return Report("", corpus_check.advice(counts), tuple(parts), values=values)


def _setting(path: Path, asked: ModelConfig) -> HeldOutConfig:
    """The experiment that `train grace` would do: with a model, or by rules."""
    if asked.model == OFFLINE:
        return HeldOutConfig(corpus=str(path), reader=readers.EXTRACT)
    return HeldOutConfig(corpus=str(path), model=asked.model)
