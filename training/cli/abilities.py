"""`parlour benchmark abilities`: what the player of a benchmark is good at, from the games of its run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.core import ParlourError
from parlour.policies.agents.chat import ChatPlayer
from parlour.training.cli.models import ModelOption, called
from parlour.training.cli.options import Answer
from parlour.training.measure.benchmark.measured import seconds_a_game
from parlour.training.measure.statistics import show_interval
from parlour.training.play.extras import import_extra
from parlour.training.results import display


def show_abilities(
    model: ModelOption,
    run: Annotated[Path, typer.Argument(), "Run directory of a benchmark."],
    policy: Annotated[
        str | None, "The player that was measured, who is asked what it believes; None: chat, answered by --model."
    ] = None,
    cases: Annotated[int, "Murder mysteries that the model also plays with 25, 50 and 100 questions; 0: none."] = 0,
    mediated: Annotated[int, "Questions on which a mediator over the model is also measured; 0: none."] = 0,
) -> Answer:
    """Measure deduction, deception, persuasion, consistency and the hunt for Merlin in the games of a benchmark.

    At the first decision after each quest, every good seat of the player is asked in private how likely each other seat is to be
    evil. It is asked at the recorded games, so that it costs no move. The expert, the heuristic and the random player are asked at
    the same moments. Needs the extra batch.

    Example: [bold]parlour benchmark abilities runs/heuristic --policy heuristic[/bold]
    """
    if policy is None and not model.is_language_model:
        raise ParlourError("there is nobody to ask; accepted: --model NAME, or --policy PLAYER")
    measured = import_extra("parlour.training.measure.abilities.run", "batch")
    words = import_extra("parlour.training.measure.abilities.table", "batch")
    pages = import_extra("parlour.training.results.pages.abilities_page", "batch")
    questions = import_extra("parlour.training.measure.abilities.questions", "batch")
    sizes = questions.QuestionSizes(cases=cases, mediated=mediated)
    with display.progress_line() as progress:
        result = measured.abilities(run, policy or ChatPlayer.name, model, progress, sizes)
    table, verdict = words.abilities_table(result), words.verdict_on(result)
    pages.write_abilities_page(run, result, verdict, table)
    answered = [f"questions answered by {called(model)}"] if result.asked.questions else []
    clock = seconds_a_game(run)
    took = (
        f"seconds of its turns in a game, on this machine: {clock.value:.2f} {show_interval(clock, '.2f')}, n={clock.n}"
        if clock
        else ""
    )
    files = f"page: {run / pages.ABILITIES_PAGE}; figures: {run / measured.ABILITIES}"
    return Answer(result.as_json(), [table, *answered, *filter(None, [took]), files], verdict=verdict)
