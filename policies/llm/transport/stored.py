"""What is in a file of stored replies (`cache` has its layout): told model by model, removed in part, exported."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from parlour.envs.core import ParlourError, accept, check_one_of, value_shown
from parlour.policies.llm.transport.address import read_address
from parlour.policies.llm.transport.cache import check_layout, open_cache

_LATEST: Final = (
    "(SELECT other.id FROM servers other WHERE other.address = servers.address AND other.model = servers.model "
    "ORDER BY other.seen DESC, other.id DESC LIMIT 1)"
)
"""The model that a server served last under a name; only its replies are found without the server."""
_TOKENS: Final = "coalesce(sum(json_extract(reply, '$.usage[{}]')), 0)"
_LISTED: Final = (
    f"SELECT model, address, digest, context, servers.id = {_LATEST}, count(key) - count(failed), count(failed), "
    "coalesce(sum(length(CAST(reply AS BLOB))), 0), min(made), max(made), "
    f"{_TOKENS.format(0)}, {_TOKENS.format(1)}, {_TOKENS.format(2)} "
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
    prompt: int
    """Tokens that were read and written when the replies were recorded, and the tokens of `prompt` from the server's cache."""
    completion: int
    prompt_cached: int

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def stored_models(path: Path) -> list[StoredModel]:
    """The models in a file, by name, address and time. Raises `ParlourError` if the file is not a cache."""
    with _opened(path) as file:
        rows = file.execute(_LISTED).fetchall()
    return [StoredModel(*(*row[:4], bool(row[4]), *row[5:])) for row in rows]


def prune(
    path: Path, *, model: str | None = None, server: str | None = None, before: str | None = None, unused: bool = False
) -> int:
    """Remove replies for which all that is given holds, and models without replies.

    Args:
        path: The file.
        model: As requests called it.
        server: Its address.
        before: A date such as `2026-11-22`; replies that were stored before it (UTC).
        unused: Replies of what a server no longer serves under the name.

    Returns:
        How many were removed.

    Raises:
        ParlourError: The file is not a cache, it knows no such model or server, or nothing is given.
    """
    conditions = _conditions(path, model, server, before) | ({f"servers.id != {_LATEST}": None} if unused else {})
    if not conditions:
        raise ParlourError("nothing says what to remove; accepted: a model, a server, a date, or what is unused")
    chosen = f"SELECT replies.key FROM replies JOIN servers ON server = servers.id WHERE {' AND '.join(conditions)}"
    values = [value for value in conditions.values() if value is not None]
    with _opened(path, writing=True) as file:
        file.execute("BEGIN IMMEDIATE")
        removed = file.execute(f"DELETE FROM replies WHERE key IN ({chosen})", values).rowcount
        file.execute("DELETE FROM servers WHERE id NOT IN (SELECT server FROM replies)")
        file.execute("COMMIT")
        file.execute("VACUUM")
    return removed


def exported(path: Path) -> Iterator[dict[str, Any]]:
    """Each reply as plain values: key, model, server, digest, ask, made, failed, and what was replied.

    Raises:
        ParlourError: The file is not a cache.
    """
    with _opened(path) as file:
        rows = file.execute(
            "SELECT key, model, address AS server, digest, ask, made, failed, reply FROM replies "
            "JOIN servers ON server = servers.id ORDER BY made, key"
        )
        names = [column[0] for column in rows.description]
        for row in rows:
            columns = dict(zip(names, row, strict=True))
            yield {**columns, **_fields(columns.pop("reply"), path)}


def _fields(reply: str, path: Path) -> dict[str, Any]:
    try:
        fields = json.loads(reply)
    except ValueError:
        raise ParlourError(f"{str(path)!r} holds a damaged reply; accepted: what a cache stored") from None
    fields.pop("key", None)
    return dict(fields)


def _conditions(path: Path, model: str | None, server: str | None, before: str | None) -> dict[str, str | None]:
    """SQL conditions with their values."""
    known = stored_models(path)
    conditions: dict[str, str | None] = {}
    if model is not None:
        check_one_of("model", model, sorted({stored.model for stored in known}))
        conditions["servers.model = ?"] = model
    if server is not None:
        address = read_address(server).base
        check_one_of("server", address, sorted({stored.server for stored in known}))
        conditions["servers.address = ?"] = address
    if before is not None:
        try:
            conditions["replies.made < ?"] = date.fromisoformat(before).isoformat()
        except ValueError:
            raise accept("before", before, "a date, such as 2026-11-22") from None
    return conditions


@contextmanager
def _opened(path: Path, writing: bool = False) -> Iterator[sqlite3.Connection]:
    """A file that is a cache of this layout."""
    try:
        there = path.is_file()
    except OSError:  # such as a name that is too long for the file system
        there = False
    if not there:
        raise ParlourError(f"{value_shown(str(path))} is not a file; accepted: a file that --cache made")
    with open_cache(path.absolute(), writing) as file:
        check_layout(file, path)
        yield file
