"""`parlour grace stakes | explain | obey`: a learned mediator looked at, and used; `parlour corpus check`: questions of your own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer
from parlour.envs.core import ParlourError, accept
from parlour.envs.extras import install
from parlour.envs.mediated_qa import corpora
from parlour.envs.mediated_qa.corpora.documents import read_documents
from parlour.envs.mediated_qa.graph import KnowledgeGraph
from parlour.envs.terminal import tell
from parlour.policies.agents.mediated_qa import policy_file
from parlour.policies.agents.mediated_qa.documents import DocumentProbe
from parlour.policies.agents.mediated_qa.joint import MODULES
from parlour.policies.files import atomic_write
from parlour.training.cli.options import Answer, Options
from parlour.training.learn.mediators import calibrated_run, corpus_check, stakes_files
from parlour.training.learn.mediators.enough import FEWEST, linked_note, questions_needed, too_few
from parlour.training.learn.mediators.experiment import HeldOutConfig
from parlour.training.learn.mediators.stakes import SeenQuestions, Stakes, StakesConfig, stakes
from parlour.training.report import display
from parlour.training.report.result_table import ResultTable, plain_table
from parlour.training.report.verdicts import together
from parlour.training.statistics import plain, show_interval

_MOST_SHARES: Final = 2
"""Rows of the table of obedience in its verdict: both policies at the first share."""

RunArgument = Annotated[Path, typer.Argument(), "Run directory of `train grace --questions N` or `--corpus PATH`."]


@display.progress_line("Computing policies of the grid")
def show_stakes(
    run: RunArgument,
    config: Annotated[
        StakesConfig,
        Options(shown={"value": "as in the run", "price": "0,10,25,50,100,200,400,1000,inf, in the unit of the run"}),
    ],
    out: Annotated[Path | None, "Directory for table, picture and policies; None: RUN/stakes."] = None,
) -> Answer:
    """Show policy, accuracy, abstention and net utility over a grid of stakes, without new questions.

    Example: [bold]parlour grace stakes runs/grace --price 0,50,200,inf --value 110[/bold]
    """
    read = calibrated_run.read_run(run)
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
    )
    folder = run / "stakes" if out is None else out
    drawn = stakes_files.store(scored, read.held_out, folder)
    value = {
        "out": str(folder),
        "reader": read.note,
        "scores": [stakes_files.as_json(score) for score in scored.scores],
    }
    warning = "" if read.policy is None or read.policy.usable is not False else read.policy.verdict
    verdict = scored.verdict if too_few(scored.scores[0].n) else together([scored.verdict, warning])
    return Answer(value, partial(_show_stakes, scored, folder, drawn), verdict=verdict)


def _seen(read: calibrated_run.CalibratedRun) -> SeenQuestions | None:
    """What the run's policy sees of the held-out questions, if it sees more than the state."""
    if read.policy is None or read.policy.contextual is None:
        return None
    return SeenQuestions(read.policy.contextual, calibrated_run.contexts(read)[len(read.train) :])


def _said(note: str) -> str:
    return f"; {note}" if note else ""


def _show_stakes(scored: Stakes, folder: Path, drawn: bool) -> None:
    n, said = scored.scores[0].n, _said(scored.reader)
    display.show_table(
        f"The learned mediator on {n} held-out questions (95 % interval), and net utilities of others{said}",
        stakes_files.headings(scored),
        stakes_files.rows(scored),
        wrap=True,
    )
    headings = ("value", "price", "joint action", "states")
    display.show_table("The learned policy", headings, stakes_files.changes(scored), wrap=True)
    if not drawn:
        tell(f"parlour: the picture was not drawn; accepted: {install('train')}", error=True)
    tell(f"table, policies and picture: {folder}")


@display.progress_line("Reading documents")
def show_explanation(
    question: Annotated[str, typer.Argument(), "The question; in a calibrated run also its id, or its number from 0."],
    policy: Annotated[Path | None, "Policy file; None: that of the run."] = None,
    documents: Annotated[Path | None, "Folder or file of documents."] = None,
    run: Annotated[Path | None, "Run directory instead of documents: shows cost and utility of each action."] = None,
) -> Answer:
    """Explain a recommendation: linked documents, signals, state, the row of the policy, cost and utility of each
    action.

    Example: [bold]parlour grace explain "Who wrote The Glass Harbour?" --policy policy.json --documents notes[/bold]
    """
    if (documents is None) == (run is None):
        raise ParlourError(
            "grace explain needs one source; accepted: --documents PATH with --policy FILE, or --run RUN"
        )
    if documents is not None:
        if policy is None:
            raise ParlourError("grace explain --documents goes with --policy FILE")
        probe = DocumentProbe(read_documents(documents))
        made = policy_file.read(policy)
        explanation = calibrated_run.explain(question, made, probe)
    else:
        assert run is not None
        read = calibrated_run.read_run(run)
        chosen = read.policy if policy is None else policy_file.read(policy)
        if chosen is None:
            raise ParlourError(f"{str(run)!r} has no policy.json; accepted: a run that has ended, or --policy FILE")
        made = chosen
        explanation = calibrated_run.explain_calibrated(question, read, made)
    return Answer(plain(explanation), partial(_show_explanation, explanation), verdict=made.verdict)


def _show_explanation(explanation: calibrated_run.Explanation) -> None:
    tell(f"question: {explanation.question}" + (f" ({explanation.part})" if explanation.part else ""))
    tell(f"linked to: {', '.join(explanation.linked) or 'no document'}")
    bins = [
        (
            signal.name,
            f"{signal.value:.3g}",
            f"{signal.low:.3g}",
            f"{signal.high:.3g}",
            calibrated_run.LEVELS[signal.bin],
        )
        for signal in explanation.signals
    ]
    if bins:
        display.show_table("Signals", ("signal", "value", "low below", "high from", "bin"), bins)
    tell(
        f"state: {explanation.state}"
        + ("; the policy has no row for it and falls back" if explanation.fallback else "")
    )
    rows = [
        (
            " ".join(action.joint),
            f"{action.probability:.3f}",
            (action.outcome or "-").replace("_", " "),
            "-" if action.cost is None else f"{action.cost:g}",
            "-" if action.net is None else f"{action.net:g}",
        )
        for action in explanation.actions
    ]
    display.show_table(
        f"Joint actions{_said(explanation.reader)}", ("joint action", "p", "outcome", "cost", "net utility"), rows
    )


@display.progress_line("Computing obedience")
def show_obedience(
    run: RunArgument,
    policy: Annotated[Path | None, "Policy file; None: that of the run."] = None,
    share: Annotated[
        str, "Part of the outcome's utility that each module gets, above 0, up to 1; several separated by commas."
    ] = "1,0.3,0.1,0.03",
    out: Annotated[
        Path | None, "Directory for the correlated equilibria as policy files; None: they are not stored."
    ] = None,
) -> Answer:
    """Show whether the modules would obey, if each paid its own costs: the run's policy and correlated equilibria.

    Example: [bold]parlour grace obey runs/grace --share 1,0.1 --out runs/obeyed[/bold]
    """
    read, shares = calibrated_run.read_run(run), _shares(share)
    made = read.policy if policy is None else policy_file.read(policy)
    if made is None:
        raise ParlourError(f"{str(run)!r} has no policy.json; accepted: a run that has ended, or --policy FILE")
    by_state = "" if made.contextual is None else "the policy's table of states, without what it sees of the question"
    note = "; ".join(filter(None, (read.note, by_state)))
    obediences, equilibria = calibrated_run.private_obedience(read, replace(made, contextual=None), shares)
    if out is not None:
        for part, table in equilibria.items():
            atomic_write(out / f"policy-share{part:g}.json", table.dumps())
    verdict = together(map(_obeyed, obediences[:_MOST_SHARES]))
    return Answer([plain(row) for row in obediences], partial(_show_obedience, obediences, note), verdict=verdict)


def _obeyed(obedience: calibrated_run.PrivateObedience) -> str:
    share, module = min(zip(obedience.follows, MODULES, strict=True))
    if few := too_few(obedience.n):
        return few
    followed = "follow all advice" if share == 1 else f"follow {share:.1%} of the advice or more (the least: {module})"
    who = f"At share {obedience.share:g}, {obedience.policy}"
    return f"{who}: the modules {followed}; {obedience.n:,} held-out questions."


def _shares(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise accept("share", text, "numbers above 0, up to 1, separated by commas") from None


def _show_obedience(obediences: Sequence[calibrated_run.PrivateObedience], note: str) -> None:
    rows = [
        (
            *(f"{obedience.share:g}", obedience.policy),
            f"{obedience.utility.value:.2f} {show_interval(obedience.utility, '.2f')}",
            *(f"{follows:.0%}" for follows in obedience.follows),
            " ".join(f"{regret:.2f}" for regret in obedience.regrets),
        )
        for obedience in obediences
    ]
    headings = (
        "share",
        "policy",
        "net utility if obeyed",
        *(f"{name} follows" for name in MODULES),
        "regret of R, G, V",
    )
    display.show_table(
        f"Modules that pay their own costs, {obediences[0].n} held-out questions{_said(note)}",
        headings,
        rows,
        wrap=True,
    )


def check_corpus(
    path: Annotated[
        Path, typer.Argument(), "Questions: a file, or a folder with `questions.jsonl` and the folder `documents`."
    ],
    documents: Annotated[Path | None, "Folder or file of documents; None: those that come with the questions."] = None,
    form: Annotated[str, f"Form of the questions: {', '.join(corpora.FORMS)}."] = corpora.AUTO,
    limit: Annotated[int | None, typer.Option(min=1), "Number of entries to read; None: all."] = None,
    question: Annotated[
        str | None, "Question to draw: its id, or its number from 0; None: the first that is linked."
    ] = None,
    picture: Annotated[Path | None, "Picture of the graph around that question to write (PNG); None: none."] = None,
) -> Answer:
    """Count what is in a corpus, link its questions to the graph of its documents, and draw the graph around a
    question.

    Example: [bold]parlour corpus check questions.jsonl --documents notes --picture graph.png[/bold]
    """
    if question is not None and picture is None:
        raise ParlourError("--question says what is drawn; accepted: with --picture FILE")
    with display.progress_line("Reading the corpus"):
        form = corpora.form_of(path) if form == corpora.AUTO else form
        corpus = corpora.load(path, documents, form, limit)
        graph = KnowledgeGraph(corpus.passages)
        counts = corpus_check.report(corpus, form, graph)
        if picture is not None:
            drawn = corpus_check.asked_for(corpus.questions, graph, question)
            corpus_check.draw(graph, drawn, picture)
    rows = corpus_check.report_rows(counts)
    table = plain_table(f"{path} ({counts.form})", ("what", "number", "among them"), rows, wrap=True)
    shown: list[ResultTable | str] = [table, *([] if picture is None else [f"picture: {picture}"])]
    return Answer(asdict(counts), shown, verdict=_advice(counts))


def _advice(report: corpus_check.CorpusReport) -> str:
    """What to know before a mediator is trained on a corpus; empty if nothing is amiss."""
    note, share = linked_note(report.linked, report.questions), HeldOutConfig().held_out_share
    needed = questions_needed(share)
    few = f"`train grace` judges a policy from {FEWEST} held-out questions on, which is {needed} questions; there are "
    return together([f"{note}." if note else "", f"{few}{report.questions}." if report.questions < needed else ""])
