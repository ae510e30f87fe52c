"""`parlour cache`: what is in a file of stored replies, removed in part, exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from parlour.envs.terminal import tell
from parlour.policies.files import remove_parts_of, replacing
from parlour.policies.llm.transport.stored import StoredModel, exported, prune, stored_models
from parlour.training.cli.options import Answer
from parlour.training.results import display

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
        [model.as_json() for model in models], lambda: display.show_table(str(file), _HEADINGS, rows, wrap=True)
    )


def prune_replies(
    file: CacheArgument,
    model: Annotated[str | None, "Only replies of this model; None: of any."] = None,
    server: Annotated[str | None, "Only replies of the server at this address; None: of any."] = None,
    before: Annotated[
        str | None, "Only replies stored before this date (UTC), such as 2026-11-22; None: at any time."
    ] = None,
    unused: Annotated[
        bool, "Only replies of models that their servers have replaced by others of the same name."
    ] = False,
) -> Answer:
    """Remove stored replies that match all given options; at least one is needed.

    Example: [bold]parlour cache prune replies.sqlite --before 2026-11-01[/bold]
    """
    removed = prune(file, model=model, server=server, before=before, unused=unused)
    left = sum(model.replies for model in stored_models(file))
    return Answer(
        {"removed": removed, "replies": left},
        lambda: display.console().print(f"{removed} removed, {left} replies left"),
    )


def export_replies(
    file: CacheArgument, out: Annotated[Path | None, "File to write; None: standard output."] = None
) -> None:
    """Write the stored replies as JSON, one a line: key, model, server, question, date, texts, thinking, tokens.

    Example: [bold]parlour cache export replies.sqlite --out replies.jsonl[/bold]
    """
    if out is None:
        for reply in exported(file):
            tell(display.json_text(reply))
        return
    remove_parts_of(out)
    # lone surrogates become JSON's escapes
    with replacing(out) as new, new.open("w", encoding="utf-8", errors="backslashreplace") as target:
        for reply in exported(file):
            target.write(json.dumps(reply, ensure_ascii=False) + "\n")


def _row(model: StoredModel) -> tuple[str, ...]:
    dates = "-" if model.first is None or model.last is None else f"{model.first[:10]} .. {model.last[:10]}"
    tokens = (f"{model.prompt:,}", f"{model.prompt_cached:,}", f"{model.completion:,}")
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
