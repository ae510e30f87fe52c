"""`parlour cache`: what is in a file of stored replies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from parlour.policies.llm.transport.cache import StoredModel, stored_models
from parlour.training.cli.options import Answer
from parlour.training.measure.decision_tables import amount
from parlour.training.report import display

CacheArgument = Annotated[Path, typer.Argument(), "File that `--cache` made."]
_HEADINGS = ("model", "server", "replies", "failed", "size", "stored", "tokens in", "cached", "out")


def list_replies(file: CacheArgument) -> Answer:
    """List the models in a file of stored replies: servers, numbers, sizes, dates, tokens.

    Marks models that their server has replaced under the same name; their replies count again only if the server
    restores them.

    Example: [bold]parlour cache list replies.sqlite[/bold]
    """
    models = stored_models(file)
    rows = list(map(_row, models))
    return Answer(
        [model._asdict() for model in models], lambda: display.show_table(str(file), _HEADINGS, rows, wrap=True)
    )


def _row(model: StoredModel) -> tuple[str, ...]:
    dates = "-" if model.first is None or model.last is None else f"{model.first[:10]} .. {model.last[:10]}"
    tokens = map(amount, (model.prompt, model.prompt_cached, model.completion))
    name = model.model if model.latest else f"{model.model} (replaced)"
    return (
        name,
        model.server or "-",
        str(model.replies),
        str(model.failed),
        f"{model.size / 1000:,.1f} kB",
        dates,
        *tokens,
    )
