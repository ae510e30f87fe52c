"""`parlour train grace`: a mediator from a simulation table, from generated questions, or from questions of one's own."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from parlour.envs.core import ParlourError
from parlour.envs.mediated_qa.vocabulary import Payment
from parlour.envs.terminal import tell
from parlour.training import display
from parlour.training.cli import common
from parlour.training.cli.options import Answer, Options
from parlour.training.mediated_qa import costs, readers
from parlour.training.mediated_qa.baselines import lines
from parlour.training.mediated_qa.held_out import UNSEEN, HeldOutConfig, compare, corpus_of, prepare, split
from parlour.training.mediated_qa.learn import GraceConfig
from parlour.training.statistics import show_interval


def train_grace(
    config: Annotated[GraceConfig, Options(rename={"rule": "--set"})],
    setting: Annotated[
        HeldOutConfig,
        Options(exclude=("train", "corpus_seed", "seed", "costs"), panel="With --questions or --corpus"),
    ],
    ray: common.RayOptions,
    from_table: Annotated[Path | None, "Simulation table to learn from: CSV, or JSON as published."] = None,
    questions: Annotated[
        int | None, typer.Option(min=2), "Number of generated questions to learn from instead."
    ] = None,
    from_log: Annotated[
        Path | None, "Log of recommendations with their results to learn from; pays by --utilities and --costs."
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option("--costs"),
        "Costs of the actions, nine numbers or some by name such as retrieve_deep=4; None: those of the published run.",
    ] = None,
    out: common.RunOption = Path("runs/grace"),
) -> Answer:
    """Learn the policy of GRACE's mediator; resumes from the last checkpoint.

    Example: [bold]parlour train grace --corpus questions.jsonl --documents notes --reader extract --out runs/grace[/bold]

    Example: [bold]parlour train grace --from-table simulation.csv --temperature 0.7 --floor 0.02 --out runs/grace[/bold]
    """
    from parlour.training.mediated_qa import table, train

    if sum((from_table is not None, from_log is not None, questions is not None, setting.corpus != "")) != 1:
        raise ParlourError(
            "train grace needs one source of data; accepted: --corpus PATH, or --from-table FILE or --questions N, "
            "or --from-log FILE"
        )
    if from_log is not None:
        return _from_log(config, from_log, replace(setting, costs=costs.stated(cost)).payment, out)
    scores: tuple[Any, ...] | None = None
    if from_table is not None:
        if ray.ray is not None:
            raise ParlourError("--ray answers generated questions in parallel; accepted: with --questions N")
        run = train.train(config, table.read(from_table), out)
    else:
        setting = replace(setting, seed=config.seed, costs=costs.stated(cost))
        if questions is not None:
            setting = replace(setting, train=questions, corpus_seed=UNSEEN + config.seed)
        reader, corpus = readers.make(setting), corpus_of(setting)
        setting, folder = split(setting, corpus), out / "calibration"
        with ray.pool() as pool:
            asking = partial(prepare, corpus=corpus, reader=reader, pool=pool)
            calibrated = display.calibrate_with_bar(asking, setting, folder)
        run = train.train(config, calibrated.table, out)
        scores = compare(calibrated, run.learned.policy, folder)
    _warn(run)
    value = _policy_as_json(run, out) | ({} if scores is None else {"scores": [asdict(one) for one in scores]})
    return Answer(value, partial(_show_policy, run, out, scores or ()))


def _from_log(config: GraceConfig, path: Path, payment: Payment, out: Path) -> Answer:
    """Learn from what a mediator in use recommended; what the policy is worth is told by its own log."""
    from parlour.policies.agents.mediated_qa import recommendation_log
    from parlour.training.mediated_qa import learn, off_policy, train

    if config.method == "quantal" and None in (config.temperature, config.floor):
        raise ParlourError(
            "a log tells one joint action of each question, which cross-validation cannot choose by; accepted: "
            "--temperature and --floor, such as 0.7 and 0.02"
        )
    log = recommendation_log.read_log(path)
    run = train.train(replace(config, validation=0.0), off_policy.utility_table(log, payment), out)
    worth = off_policy.value_of_learning(lambda table: learn.learn(table, config).policy, log, payment)
    _warn(run)

    def show() -> None:
        _show_policy(run, out, ())
        gain = f"{worth.gain.mean:+.2f} {show_interval(worth.gain, '+.2f')}"
        tell(f"gain over the policy in use, by the part of the log it was not learned from: {gain}, n = {worth.n}")

    return Answer(_policy_as_json(run, out) | {"off_policy": asdict(worth)}, show)


def _policy_as_json(run: Any, out: Path) -> dict[str, Any]:
    learned = run.learned
    return {
        "out": str(out),
        "questions": _questions(learned),
        "unseen": learned.unseen,
        "settings": asdict(learned.settings),
        "regrets": learned.regrets,
        "last": asdict(run.points[-1]),
    }


def _questions(learned: Any) -> dict[str, int]:
    """State -> number of its questions."""
    return dict(zip(learned.quantities.states, learned.quantities.questions.tolist(), strict=True))


def _warn(run: Any) -> None:
    """On standard error: states without data, and a curve that is missing."""
    learned = run.learned
    if learned.unseen:
        parents = len(learned.policy.rows) > len(learned.quantities.states)
        used = "their parents' values are used" if parents else "the fallback is used"
        states = f"{len(learned.unseen)} states without data, where {used}: {', '.join(learned.unseen)}"
        tell(f"parlour: warning: {states}", error=True)
    if not run.picture:
        tell("parlour: the curve was not drawn; accepted: pip install 'parlour[train]'", error=True)


def _show_policy(run: Any, out: Path, scores: tuple[Any, ...]) -> None:
    """Number of questions and most probable action of each state; chosen settings; scores beside the baselines."""
    learned, settings = run.learned, run.learned.settings
    counts = _questions(learned)
    rows = []
    for state in sorted(learned.policy.rows, key=lambda state: -counts.get(state, 0)):
        row = learned.policy.rows[state]
        best = max(row, key=row.__getitem__)
        regrets = " ".join(f"{regret:.2f}" for regret in learned.regrets[state])
        rows.append((state, str(counts.get(state, 0)), " ".join(best), f"{row[best]:.3f}", regrets))
    display.show_table("Policy", ("state", "questions", "most probable", "p", "regret of R, G, V"), rows)
    if settings.held_out is not None:
        chosen = f"temperature {settings.temperature}, floor {settings.floor}"
        tell(f"chosen by cross-validation: {chosen} (held-out utility {settings.held_out:.2f})")
    if scores:
        heading, *compared = lines(scores)
        display.show_table("Held-out questions", heading, compared, wrap=True)
    tell(f"policy: {out / 'policy.json'}")
