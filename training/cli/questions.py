"""`parlour list questions`, `parlour show question`: the words with which a model is asked."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from parlour.policies.llm.prompt import Templates
from parlour.training.cli import common
from parlour.training.play import asked
from parlour.training.report.report import Report
from parlour.training.report.result_table import ResultTable


def list_questions() -> Report:
    """List the kinds of questions that players ask a model.

    Example: [bold]parlour list questions[/bold]
    """
    rows: list[dict[str, Any]] = [
        {
            "question": kind,
            "tokens of a reply": asked.ask_called(kind).max_tokens,
            "what it asks": (asked.ask_called(kind).__doc__ or "").strip().split("\n")[0],
        }
        for kind in asked.kinds()
    ]
    table = ResultTable.plain("Questions", rows[0], [tuple(row.values()) for row in rows], wrap=True)
    return Report("", parts=(table,), values=rows)


def show_question(
    table: common.GameOptions,
    question: Annotated[str, typer.Argument(), "Kind of question, as `parlour list questions` shows it."],
    game: Annotated[str, typer.Option("--game"), "Name of the game."] = "avalon_v0",
    seat: Annotated[int | None, "Number of the seat that asks; None: any."] = None,
    seed: common.SeedOption = 0,
    number: Annotated[int, typer.Option(min=1), "Number of the question among its kind in the game."] = 1,
    policy: Annotated[
        str | None, "Player that asks it, such as module:Class of your own; None: any of parlour's."
    ] = None,
    prompts: Annotated[str | None, "Folder of prompts that replace parlour's own; None: none."] = None,
) -> Report:
    """Show a question as it would be sent to a model: a game is played by heuristics until it is asked.

    Example: [bold]parlour show question avalon_agent.act --game avalon_v0 --players 5 --seat 2[/bold]
    """
    at = asked.At(game, table.chosen, seat, seed, number, policy)
    templates = Templates(prompts)
    asked_question = asked.heard(question, at)
    asked.unknown_prompts(prompts)
    messages = asked_question.messages(templates)
    who = f"(asked by {asked_question.context.seat})"
    shown = (f"--- {message['role']} {who}\n{message['content']}\n" for message in messages)
    return Report("", parts=("\n".join(shown),), values=list(messages))
