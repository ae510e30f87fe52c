"""`parlour train grace`: a mediator from a simulation table, from generated questions, or from questions of your own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final

import typer
from parlour.envs.core import ParlourError
from parlour.envs.extras import install
from parlour.envs.mediated_qa.vocabulary import SEES, Payment
from parlour.envs.terminal import tell
from parlour.envs.writing import writing
from parlour.policies.llm.make import ModelConfig
from parlour.policies.llm.model import OFFLINE
from parlour.training.cli import common
from parlour.training.cli.models import RARE, answering
from parlour.training.cli.options import Answer, Options
from parlour.training.learn.mediators import costs, readers, table, train
from parlour.training.learn.mediators.baselines import Scores, Usability, lines, of_scores, usability
from parlour.training.learn.mediators.contextual import check_sees, learn_sees, most_seen, regrets_of
from parlour.training.learn.mediators.costs import UseRate
from parlour.training.learn.mediators.experiment import UNSEEN, HeldOutConfig, corpus_of, priced, split
from parlour.training.learn.mediators.held_out import PARTIAL, compare, pipeline_of, prepare
from parlour.training.learn.mediators.learn import GraceConfig, LearnedMediator, unit_of
from parlour.training.learn.mediators.readers import forecast
from parlour.training.learn.mediators.train import Trained
from parlour.training.measure.statistics import plain, show_interval
from parlour.training.results import display

_RARE_LEARNING: Final = (
    *("shrinkage", "folds", "individual_costs", "share", "learner", "rule", "rounds", "points", "validation"),
)
_RARE_CALIBRATION: Final = (
    *("normalisation", "guide", "joint", "limit", "utilities", "nli", "simulate_memory", "actions", "held_out_share"),
)
_REPLIES: Final = "replies.sqlite"
"""Stored replies of a calibration, where no other file is chosen."""


def train_grace(
    config: Annotated[
        GraceConfig, Options(exclude=("unit",), rename={"rule": "--set"}, panel="Learning", rare=_RARE_LEARNING)
    ],
    setting: Annotated[
        HeldOutConfig,
        Options(
            exclude=("train", "corpus_seed", "seed", "costs", "model", "sees"),
            panel="With --questions or --corpus",
            rare=_RARE_CALIBRATION,
        ),
    ],
    asked: Annotated[
        ModelConfig,
        Options(
            repeated=("stop",),
            exclude=("noise",),
            rename={"temperature": "--model-temperature"},
            panel="Language model",
            rare=RARE,
        ),
    ],
    ray: common.RayOptions,
    sees: Annotated[
        str | None,
        "What the mediator sees of a question: state (the paper's), signals (their raw values), or question (its form, names, "
        "links and path); None: question from 300 questions to learn from; state with fewer, with --actions, and with a method or "
        "learner that sees nothing else.",
    ] = None,
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
        "Costs of the actions, nine numbers or some by name such as retrieve_deep=4; None: the published run's.",
    ] = None,
    rate: Annotated[
        str | None,
        "Costs from the tokens and seconds of the calibration: prices of a million tokens read, of a million written, of a second, "
        "such as 0.15,0.6,0.0001; or MODEL,SECOND with a model of the price table; None: as --costs says.",
    ] = None,
    dry_run: Annotated[bool, "Only print an upper bound on the calibration's calls, tokens and dollars."] = False,
    out: common.RunOption = Path("runs/grace"),
    log: common.LogOption = None,
) -> Answer:
    """Learn the policy of GRACE's mediator; resumes from the last checkpoint, a calibration from the last question.

    Replies of a language model are stored in OUT/calibration, unless --cache names another file.

    Example: [bold]parlour train grace --corpus questions.jsonl --documents notes --reader extract --out runs/grace[/bold]

    Example: [bold]parlour train grace --from-table simulation.csv --temperature 0.7 --floor 0.02 --out runs/grace[/bold]
    """
    if sum((from_table is not None, from_log is not None, questions is not None, setting.corpus != "")) != 1:
        raise ParlourError(
            "train grace needs one source of data; accepted: --corpus PATH, or --from-table FILE or --questions N, "
            "or --from-log FILE"
        )
    if questions is None and not setting.corpus and (ray.ray is not None or asked.model != OFFLINE or dry_run):
        raise ParlourError(
            "--ray, --model and --dry-run are for questions; accepted: with --corpus PATH or --questions N"
        )
    if rate is not None and (cost is not None or setting.actions or (questions is None and not setting.corpus)):
        raise ParlourError(
            "--rate makes costs of a calibration; accepted: with --corpus or --questions, without --costs"
        )
    by = None if rate is None else costs.rate(rate, asked.prices)
    if from_table is not None:
        simulated = table.read(from_table)
        simulated = simulated if cost is None else replace(simulated, costs=costs.stated(cost))
        with display.progress_line() as progress:
            return _answer(train.train(config, simulated, out, progress, log=log or ()), out)
    answering_model = "" if asked.model == OFFLINE else f"{asked.model}, temperature {asked.temperature:g}"
    setting = replace(setting, seed=config.seed, costs=costs.stated(cost), model=answering_model)
    config = replace(config, unit=unit_of(setting.payment))
    if from_log is not None:
        return _from_log(config, from_log, setting.payment, out, log or ())
    setting = replace(setting, sees=sees or SEES[0])
    check_sees(setting, config)
    if questions is not None:
        setting = replace(setting, train=questions, corpus_seed=UNSEEN + config.seed)
    return _calibrated(config, setting, sees is None, asked, ray, out, dry_run, by, log or ())


def _calibrated(
    config: GraceConfig,
    setting: HeldOutConfig,
    by_number: bool,
    asked: ModelConfig,
    ray: common.RaySettings,
    out: Path,
    dry_run: bool,
    by: UseRate | None,
    log: Sequence[str],
) -> Answer:
    """Calibrate, learn, compare; or only tell what the calibration takes. `by_number`: the number of questions decides what the
    mediator sees.
    """
    note, folder = readers.note(setting), out / "calibration"
    corpus = corpus_of(setting)
    setting = split(setting, corpus)
    if by_number:
        setting = replace(setting, sees=most_seen(setting, config))
    if setting.sees != SEES[0] and find_spec("sklearn") is None:
        raise ParlourError(f"--sees {setting.sees} needs scikit-learn; accepted: --sees state, or {install('train')}")
    pipeline = pipeline_of(setting, corpus)
    if dry_run or setting.model:
        expected = forecast(setting, pipeline, asked, folder / PARTIAL)
        if dry_run:
            return Answer(plain(expected), partial(tell, expected.told()))
        tell(f"parlour: {expected.told()}", error=True)
    with answering(_storing(asked, folder), folder) as model, ray.pool(model) as pool:
        pipeline = pipeline.read_by(readers.make(setting, model), anew=True)  # the forecast searched, too
        at_once = model.concurrency if model.waits else 1
        asking = partial(prepare, corpus=corpus, pool=pool, at_once=at_once, pipeline=pipeline)
        with display.progress_line() as progress:
            calibrated = asking(setting, out=folder, progress=progress)
    if by is not None:
        calibrated = priced(calibrated, costs.costs_by(folder / costs.USAGE, by))
    made = learn_sees(calibrated, config)
    paid = "" if by is None else str(by)
    with display.progress_line("Learning the policy") as progress:
        run = train.train(config, calibrated.table, out, progress, note, made, paid, log)
        regrets = regrets_of(calibrated, config, made)
        scores = compare(calibrated, run.learned.policy, folder, note, pipeline)
    run = _judged(run, of_scores(scores, len(calibrated.train)), out)
    return _answer(run, out, scores, note, regrets, "" if by is None else by.told(calibrated.config.costs))


def _storing(asked: ModelConfig, folder: Path) -> ModelConfig:
    """The same model; what it replies is stored in any case, so that a calibration asks no question twice."""
    if asked.model == OFFLINE or asked.cache is not None or asked.cache_mode != "record":
        return asked
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return replace(asked, cache=str(folder / _REPLIES))


def _judged(run: Trained, usable: Usability, out: Path) -> Trained:
    """The run with the result of its test on held-out questions, which its policy file holds, too."""
    train.store_usability(run, usable, out)
    return replace(run, usability=usable)


def _answer(
    run: Trained,
    out: Path,
    scores: tuple[Scores, ...] = (),
    note: str = "",
    regrets: Mapping[str, float] = MappingProxyType({}),
    paid: str = "",
) -> Answer:
    _warn(run)
    value = _policy_as_json(run, out)
    value |= {"scores": [plain(score) for score in scores]} if scores else {}
    value |= {"reader": note} if note else {}
    value |= {"costs": paid} if paid else {}
    note = "; ".join(filter(None, (note, paid)))
    value |= {"seen_regrets": dict(regrets)} if regrets else {}

    def show() -> None:
        _show_policy(run, out, scores, note)
        if regrets:
            text = ", ".join(f"{name} {regret:.2f}" for name, regret in regrets.items())
            tell(f"regret of the policy that sees more, mean over held-out questions: {text}")

    return Answer(value, show, verdict=run.usability.verdict)


def _from_log(config: GraceConfig, path: Path, payment: Payment, out: Path, log: Sequence[str]) -> Answer:
    """Learn from what a mediator in use recommended; what the policy is worth is told by its own log."""
    from parlour.policies.agents.mediated_qa import recommendation_log
    from parlour.training.learn.mediators import learn, off_policy

    if config.method == "quantal" and None in (config.temperature, config.floor):
        raise ParlourError(
            "a log tells one joint action of each question, which cross-validation cannot choose by; accepted: "
            "--temperature and --floor, such as 0.7 and 0.02"
        )
    used = recommendation_log.read_log(path)
    with display.progress_line() as progress:
        run = train.train(
            replace(config, validation=0.0), off_policy.utility_table(used, payment), out, progress, log=log
        )
        worth = off_policy.value_of_learning(lambda table: learn.learn(table, config).policy, used, payment)
    run = _judged(run, usability(worth.gain, "the policy in use", len(used)), out)
    _warn(run)

    def show() -> None:
        _show_policy(run, out, (), "")
        gain = f"{worth.gain.value:+.2f} {show_interval(worth.gain, '+.2f')}"
        tell(f"gain over the policy in use, by the part of the log it was not learned from: {gain}, n = {worth.n}")

    value = _policy_as_json(run, out) | {"off_policy": plain(worth)}
    return Answer(value, show, verdict=run.usability.verdict)


def _policy_as_json(run: Trained, out: Path) -> dict[str, Any]:
    learned = run.learned
    return {
        "out": str(out),
        "questions": _questions(learned),
        "unseen": learned.unseen,
        "settings": asdict(learned.settings),
        "regrets": learned.regrets,
        "last": asdict(run.points[-1]),
        "usable": run.usability.usable,
    }


def _questions(learned: LearnedMediator) -> dict[str, int]:
    """State -> number of its questions."""
    return dict(zip(learned.quantities.states, learned.quantities.questions.tolist(), strict=True))


def _warn(run: Trained) -> None:
    """On standard error: states without data, and a curve that is missing."""
    learned = run.learned
    if learned.unseen:
        parents = len(learned.policy.rows) > len(learned.quantities.states)
        used = "their parents' values are used" if parents else "the fallback is used"
        states = f"{len(learned.unseen)} states without data, where {used}: {', '.join(learned.unseen)}"
        tell(f"parlour: warning: {states}", error=True)
    if not run.picture:
        tell(f"parlour: the curve was not drawn; accepted: {install('train')}", error=True)


def _show_policy(run: Trained, out: Path, scores: tuple[Scores, ...], note: str) -> None:
    """Number of questions and most probable action of each state; chosen settings; scores beside the baselines."""
    learned, settings = run.learned, run.learned.settings
    counts, suffix = _questions(learned), f" ({note})" if note else ""
    rows = []
    for state in sorted(learned.policy.rows, key=lambda state: -counts.get(state, 0)):
        row = learned.policy.rows[state]
        best = max(row, key=row.__getitem__)
        regrets = " ".join(f"{regret:.2f}" for regret in learned.regrets[state])
        rows.append((state, str(counts.get(state, 0)), " ".join(best), f"{row[best]:.3f}", regrets))
    display.show_table(f"Policy{suffix}", ("state", "questions", "most probable", "p", "regret of R, G, V"), rows)
    if settings.held_out is not None:
        chosen = f"temperature {settings.temperature}, floor {settings.floor}"
        tell(f"chosen by cross-validation: {chosen} (held-out utility {settings.held_out:.2f})")
    if scores:
        heading, *compared = lines(scores)
        display.show_table(f"Held-out questions{suffix}", heading, compared, wrap=True)
    tell(f"policy: {out / 'policy.json'}")
