"""`parlour list replies`: what is in a file of stored replies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer
from parlour.policies.llm.transport.cache import StoredModel, stored_models
from parlour.training.report.report import Report
from parlour.training.report.result_table import Cell, Column, ResultTable

CacheArgument = Annotated[Path, typer.Argument(), "File that `--cache` made."]
_COLUMNS: Final = (
    *map(Column, ("model", "server", "replies", "failed")),
    Column("size", ",.1f", unit=" kB"),
    Column("stored"),
    *(Column(heading, ",", none="unknown") for heading in ("tokens in", "cached", "out")),
)


def list_replies(file: CacheArgument) -> Report:
    """List the models in a file of stored replies: servers, numbers, sizes, dates, tokens.

    Marks models that their server has replaced under the same name; their replies count again only if the server
    restores them.

    Example: [bold]parlour list replies replies.sqlite[/bold]
    """
    models = stored_models(file)
    table = ResultTable(str(file), _COLUMNS, tuple(map(_row, models)), wrap=True)
    return Report("", parts=(table,), values=[model._asdict() for model in models])


def _row(model: StoredModel) -> tuple[Cell, ...]:
    dates = None if model.first is None or model.last is None else f"{model.first[:10]} .. {model.last[:10]}"
    name = model.model if model.latest else f"{model.model} (replaced)"
    counts = (model.replies, model.failed, model.size / 1000)
    return (name, model.server or None, *counts, dates, model.prompt, model.prompt_cached, model.completion)
