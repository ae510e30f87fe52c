"""What is in a file of stored replies (`cache` has its layout): told model by model."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError, value_shown
from parlour.policies.llm.transport.cache import check_layout, open_cache

_LATEST: Final = (
    "(SELECT other.id FROM servers other WHERE other.address = servers.address AND other.model = servers.model "
    "ORDER BY other.seen DESC, other.id DESC LIMIT 1)"
)
"""The model that a server served last under a name; only its replies are found without the server."""
_SILENT: Final = "json_extract(reply, '$.usage') = '[0,0,0]' AND EXISTS (SELECT 1 FROM json_each(reply, '$.dropped') WHERE value = 'usage')"
"""Replies whose server did not report its tokens, in files from before 2026-12."""


def _tokens(place: int) -> str:
    """The sum of a number of tokens; NULL if it is unknown of any reply."""
    count = f"json_extract(reply, '$.usage[{place}]')"
    is_unknown = f"key IS NOT NULL AND failed IS NULL AND ({count} IS NULL OR {_SILENT})"
    return f"CASE WHEN total({is_unknown}) > 0 THEN NULL ELSE coalesce(sum({count}), 0) END"


_LISTED: Final = (
    f"SELECT model, address, digest, context, servers.id = {_LATEST}, count(key) - count(failed), count(failed), "
    "coalesce(sum(length(CAST(reply AS BLOB))), 0), min(made), max(made), "
    f"{_tokens(0)}, {_tokens(1)}, {_tokens(2)} "
    "FROM servers LEFT JOIN replies ON server = servers.id GROUP BY servers.id ORDER BY model, address, servers.seen"
)


@dataclass(frozen=True)
class StoredModel:
    """What a file holds of one model at one server."""

    model: str
    """As requests called it."""
    server: str
    """Its address."""
    digest: str
    """What tells it from other models of this name there; empty if the server did not tell."""
    context: int | None
    """Tokens of its context, as first reported."""
    latest: bool
    """Whether it is what the server served last under this name, and what is found without the server."""
    replies: int
    failed: int
    """Calls that are stored because they failed."""
    size: int
    """Bytes of the replies."""
    first: str | None
    """When the first reply was stored (UTC); None if there is none."""
    last: str | None
    prompt: int | None
    """Tokens that were read and written when the replies were recorded, and the tokens of `prompt` from the server's cache.

    None if the server did not report them of any reply.
    """
    completion: int | None
    prompt_cached: int | None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def stored_models(path: Path) -> list[StoredModel]:
    """The models in a file, by name, address and time. Raises `ParlourError` if the file is not a cache."""
    with _opened(path) as file:
        rows = file.execute(_LISTED).fetchall()
    return [StoredModel(*(*row[:4], bool(row[4]), *row[5:])) for row in rows]


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A file that is a cache of this layout."""
    try:
        there = path.is_file()
    except OSError:  # such as a name that is too long for the file system
        there = False
    if not there:
        raise ParlourError(f"{value_shown(str(path))} is not a file; accepted: a file that --cache made")
    with open_cache(path.absolute(), writing=False) as file:
        check_layout(file, path)
        yield file
