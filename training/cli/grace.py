"""`parlour grace stakes | explain | value`: a learned mediator looked at, and used."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.terminal import tell
from parlour.policies.agents.mediated_qa import policy_file, recommendation_log
from parlour.training import display
from parlour.training.cli.options import Answer, Options
from parlour.training.mediated_qa import calibrated_run, off_policy, stakes_files
from parlour.training.mediated_qa.off_policy import PolicyValue
from parlour.training.mediated_qa.stakes import Stakes, StakesConfig, stakes
from parlour.training.statistics import show_interval

RunArgument = Annotated[Path, typer.Argument(), "Run directory of `train grace --questions N` or `--corpus PATH`."]


def show_stakes(
    run: RunArgument,
    config: Annotated[StakesConfig, Options(shown={"value": "as in the run"})],
    out: Annotated[Path | None, "Directory for table, picture and policies; None: RUN/stakes."] = None,
) -> Answer:
    """Show what the stakes decide: policy, accuracy, abstention and net utility over a grid, asking nothing again.

    Example: [bold]parlour grace stakes runs/grace --price 0,50,200,inf --value 110[/bold]
    """
    read = calibrated_run.read_run(run)
    thresholds = {} if read.policy is None else read.policy.thresholds
    found = stakes(
        read.train,
        read.held_out,
        config,
        read.config.payment,
        joint=read.config.joint,
        thresholds=thresholds,
    )
    folder = run / "stakes" if out is None else out
    drawn = stakes_files.store(found, read.held_out, folder)
    value = {"out": str(folder), "scores": [stakes_files.as_json(one) for one in found.scores]}
    return Answer(value, partial(_show_stakes, found, folder, drawn))


def _show_stakes(found: Stakes, folder: Path, drawn: bool) -> None:
    n = found.scores[0].n
    display.show_table(
        f"The learned mediator on {n} held-out questions (95 % interval), and net utilities of others",
        stakes_files.HEADINGS,
        stakes_files.rows(found),
        wrap=True,
    )
    headings = ("value", "price", "joint action", "states")
    display.show_table("The learned policy", headings, stakes_files.changes(found), wrap=True)
    if not drawn:
        tell("parlour: the picture was not drawn; accepted: pip install 'parlour[train]'", error=True)
    tell(f"table, policies and picture: {folder}")


UtilitiesOption = Annotated[
    str | None,
    "What an answer pays: right, wrong, rightly silent, wrongly silent, separated by commas; None: 120,-40,10,-20.",
]


def show_value(
    log: Annotated[Path, typer.Argument(), "Log of recommendations with their results, as JSON lines."],
    policy: Annotated[list[Path], "Policy file to evaluate, repeatable."],
    utilities: UtilitiesOption = None,
) -> Answer:
    """Evaluate policies from the log of the one in use, by inverse propensity and doubly robust estimates.

    Example: [bold]parlour grace value log.jsonl --policy runs/grace/policy.json[/bold]
    """
    told, payment = recommendation_log.read_log(log), off_policy.payment_of(utilities)
    found = {str(path): off_policy.value(policy_file.read(path), told, payment) for path in policy}
    return Answer({path: asdict(one) for path, one in found.items()}, partial(_show_value, found))


def _show_value(found: dict[str, PolicyValue]) -> None:
    rows = []
    for path, one in found.items():
        estimates = (one.logged, one.inverse_propensity, one.self_normalised, one.doubly_robust, one.gain)
        told = ["-" if each is None else f"{each.mean:.2f} {show_interval(each, '.2f')}" for each in estimates]
        rows.append((path, str(one.n), *told, f"{one.effective:.0f}", f"{one.unsupported:.1%}"))
    headings = ("policy", "n", "in use", "inverse propensity", "self-normalised", "doubly robust", "gain over in use")
    title = "Net utility of a question (95 % interval)"
    display.show_table(title, (*headings, "effective n", "unsupported"), rows, wrap=True)
