"""The demo's section on GRACE: calibrate on generated questions, learn a mediator, and measure it on held-out ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from parlour.policies import make_policy
from parlour.policies.agents.mediated_qa import GraceMediator, ObedientModule
from parlour.training.learn.mediators import held_out
from parlour.training.learn.mediators.baselines import Scores, lines, of_scores
from parlour.training.learn.mediators.experiment import UNSEEN, HeldOutConfig
from parlour.training.learn.mediators.held_out import HeldOut
from parlour.training.measure.statistics import Estimate, plain, show_interval
from parlour.training.papers.demo.section import DemoConfig, DemoPart, Section, summary
from parlour.training.play import rollout
from parlour.training.results import display
from parlour.training.results.result_table import markdown_table
from parlour.wrappers import Recorder

_CALIBRATION: Final = 600
_HELD_OUT: Final = 300
_POLICY: Final = "policy.json"
_GAME: Final = "mediated_qa_v0"
_SHOWN: Final = 10
"""Questions of the game that is recorded."""


def _section(out: Path, config: DemoConfig) -> Section:
    """Calibrate, learn, measure."""
    folder = out / "grace"
    setting = HeldOutConfig(train=_CALIBRATION, held_out=_HELD_OUT, corpus_seed=UNSEEN + config.seed, seed=config.seed)
    with display.progress_line() as progress:
        result = held_out.run(setting, out=folder, progress=progress)
    numbers = {"states": result.calibrated.states, "scores": [plain(score) for score in result.scores]}
    played = _record(folder / _POLICY, out / "transcripts" / f"{_GAME}-1.jsonl", config.seed)
    verdicts = _summary(result.scores)
    said = of_scores(result.scores, _CALIBRATION).verdict
    return Section(
        "grace", _markdown(result), verdicts, {"setting": setting.stored(), **numbers}, (played,), said, "GRACE"
    )


mediated_qa_section: Final = DemoPart(
    "GRACE: learn a mediator from generated questions, and measure it on held-out ones",
    _section,
    lambda _: 6,
)


def _record(policy: Path, transcript: Path, seed: int) -> Path:
    """Record a game in which the learned mediator advises modules that follow it; returns the transcript."""
    bare: Any = rollout.table(_GAME, questions=_SHOWN)
    table = bare.game_env.game.config
    mediator, *modules = bare.possible_agents
    named = {mediator: GraceMediator.name, **dict.fromkeys(modules, ObedientModule.name)}
    players = [make_policy(f"{GraceMediator.name}:file={policy}", _GAME, table)]
    players += [make_policy(ObedientModule.name, _GAME, table) for _ in modules]
    env = Recorder(bare, transcript, header={"players": named}, overwrite=True)
    rollout.play(env, players, seed)
    env.close()
    return transcript


def _markdown(out: HeldOut) -> str:
    setting, learned = out.calibrated.config, out.learned
    heading, *rows = lines(out.scores)
    advice = markdown_table(("state", "calibration questions", "most probable recommendation", "p"), _advice(out))
    return f"""## GRACE: a mediator of retriever, generator and verifier

{setting.train:,} generated questions were put under all joint actions, offline. From what each earned the mediator learned
what to recommend in each state of the graph (quantal response, temperature {learned.settings.temperature:g}, floor
{learned.settings.floor:g}, by cross-validation). Measured on {setting.held_out:,} held-out questions of the same corpus,
difficulty {setting.difficulty}; differences are in net utility, paired question by question. The oracle knows what each joint
action will earn.

{markdown_table(heading, rows)}

{advice}

Data: [grace/scores.csv](grace/scores.csv), [grace/table.csv](grace/table.csv); the policy: grace/{_POLICY}, which
`--policy mediator=grace:file=...` plays by.
"""


def _advice(out: HeldOut) -> Iterator[tuple[str, str, str, str]]:
    for state, n in out.calibrated.states.items():
        row = out.learned.policy.rows[state]
        best = max(row, key=row.__getitem__)
        yield state, str(n), ", ".join(best), f"{row[best]:.2f}"


def _summary(scores: Sequence[Scores]) -> str:
    first, *others = scores
    lines = [f"{first.name}: {_number(first.utility)}"]
    lines += [f"less {other.name}: {_number(other.difference)}" for other in others]
    return summary(f"GRACE, net utility on {first.n} held-out questions", lines)


def _number(estimate: Estimate) -> str:
    return f"{estimate.value:+.2f}  {show_interval(estimate, '+.2f')}"
