"""Replies stored in one SQLite file, so that a second run is free and identical, and can be had without a network.

Several threads and processes may use one file. The first reply stored is the reply that everybody uses: it is read back after
storing. Each access opens the file, takes some 0.1 ms and closes it, so that no connection is
shared between threads or carried into a forked process. The file is in SQLite's rollback mode: one file, which can be
copied, and read from a place that cannot be written.

The file also holds what was known about each model at each server (`ServedModel`), so that a replay needs no server: it takes
the latest. A reply is found only for the model that the server says it serves; another file under the same name is another
model. The context reported first is used as long as the model is the same, so that prompts are cut in the same way.

Calls that failed are stored with their reason, so that a replay fails in the same places; recording, they are tried again.

Layout: `servers` with `id`, `address`, `model`, `digest`, `told` (JSON), `context`, `seen` (UTC); `replies` with `key`
(`Request.key`), `server` (an `id`), `ask`, `made` (UTC), `failed` (a `Reason`, or NULL), `reply` (JSON); `user_version` is
that of the layout.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from parlour.envs.core import ParlourError, value_shown
from parlour.policies.llm.transport.request import (
    CacheMiss,
    CallFailed,
    Completion,
    Layer,
    PromptTooLong,
    Request,
    ServedModel,
    Transport,
)
from pydantic import TypeAdapter

VERSION: Final = 2
"""Version of the layout."""
_TABLES: Final = {
    "servers": "id INTEGER PRIMARY KEY, address TEXT NOT NULL, model TEXT NOT NULL, digest TEXT NOT NULL, "
    "told TEXT NOT NULL, context INTEGER, seen TEXT NOT NULL, UNIQUE (address, model, digest)",
    "replies": "key TEXT PRIMARY KEY, server INTEGER NOT NULL REFERENCES servers (id), ask TEXT NOT NULL, "
    "made TEXT NOT NULL, failed TEXT, reply TEXT NOT NULL",
}
_PATIENCE: Final = 60.0
"""Seconds to wait for others who write."""
_STORED: Final = ("texts", "usage", "finish", "thinking", "logprobs", "served", "dropped")
_REPLY: Final = TypeAdapter(Completion)
_LATEST: Final = "ORDER BY seen DESC, id DESC LIMIT 1"
"""The model that a server served last under a name; only its replies are found without the server."""


class Cache(Layer):
    """A transport that remembers.

    Args:
        inner: Where replies come from.
        path: The file.
        mode: `"record"` reads, and calls out and stores what is missing; `"replay"` never calls out; `"off"` does
            neither.

    Raises:
        ParlourError: The file is not a cache of this layout.
    """

    def __init__(self, inner: Transport, path: str | Path, mode: Literal["record", "replay", "off"] = "record") -> None:
        super().__init__(inner)
        self.path, self.mode = Path(path).absolute(), mode
        self._known: dict[str, tuple[int, ServedModel]] = {}
        if mode != "off":
            with self._open() as file:
                if mode == "record":
                    _make(file)
                _check_layout(file, self.path)

    def complete(self, request: Request) -> Completion:
        """The stored reply, or the inner one.

        Raises:
            CacheMiss: In mode `"replay"`, if there is none stored.
            CallFailed: The call failed, now or, in mode `"replay"`, when it was recorded.
        """
        if self.mode == "off":
            return self._inner.complete(request)
        server, model = self._of(request.model)
        key = request.key(model.key)
        with self._open() as file:
            row = file.execute("SELECT failed, reply FROM replies WHERE key = ?", (key,)).fetchone()
        stored = self._decoded(*row) if row else None
        if isinstance(stored, CallFailed) and self.mode == "replay":
            raise stored
        if isinstance(stored, Completion):
            return stored
        if self.mode == "replay":
            raise CacheMiss(
                f"{str(self.path)!r} holds no reply of {request.model!r} to {request.ask or 'a request'} "
                f"(sample {request.sample}, key {key[:12]}); accepted: what was recorded, or mode 'record'"
            )
        try:
            reply = self._inner.complete(request)
        except CallFailed as error:
            sizes = {"tokens": error.tokens, "limit": error.limit} if isinstance(error, PromptTooLong) else {}
            self._store(key, server, request.ask, error.reason, {"message": str(error), **sizes})
            raise
        fields = {name: getattr(reply, name) for name in _STORED}
        counted = self._store(key, server, request.ask, None, fields)
        assert isinstance(counted, Completion)
        return replace(counted, cached=False, retries=reply.retries, seconds=reply.seconds)

    def served_model(self, model: str) -> ServedModel:
        """The description of a model: from the server, or, if the server cannot be reached, the last stored."""
        return super().served_model(model) if self.mode == "off" else self._of(model)[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_known": dict(self._known)}

    def _of(self, model: str) -> tuple[int, ServedModel]:
        """The row of a model, and the model; asked once. Threads that come first wait for one of them."""
        with self._lock:
            if model not in self._known:
                self._known[model] = self._stored_model(model) if self.mode == "replay" else self._told_model(model)
            return self._known[model]

    def _stored_model(self, model: str) -> tuple[int, ServedModel]:
        """The latest. Raises `CacheMiss` if the file holds none of this name at this address."""
        latest = f"SELECT id, told, context FROM servers WHERE address = ? AND model = ? {_LATEST}"
        with self._open() as file:
            row = file.execute(latest, (self.address, model)).fetchone()
            others = file.execute("SELECT DISTINCT model, address FROM servers ORDER BY model, address").fetchall()
        if row is None:
            stored_names = ", ".join(f"{name!r} at {address or 'no address'}" for name, address in others) or "nothing"
            raise CacheMiss(
                f"{str(self.path)!r} holds no reply of {model!r} at {self.address or 'no address'}; accepted: {stored_names}"
            )
        return row[0], ServedModel(self.address, model, json.loads(row[1]), row[2])

    def _told_model(self, model: str) -> tuple[int, ServedModel]:
        """As the server tells it; as stored where the server cannot be reached. It becomes the latest."""
        served = super().served_model(model)
        if not served.reached and served.address:
            try:
                return self._stored_model(model)
            except CacheMiss:
                pass
        values = (served.address, model, served.digest, json.dumps(served.told, sort_keys=True), served.context, _now())
        with self._open() as file:
            row = file.execute(
                "INSERT INTO servers (address, model, digest, told, context, seen) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET seen = excluded.seen, context = coalesce(context, excluded.context) "
                "RETURNING id, context",
                values,
            ).fetchone()
        return row[0], replace(served, context=row[1])

    def _store(self, key: str, server: int, ask: str, failed: str | None, reply: Any) -> Completion | CallFailed:
        """Store a reply, or a failure unless there is a reply; what counts."""
        row = (key, server, ask, _now(), failed, json.dumps(reply, ensure_ascii=False))
        with self._open() as file:
            file.execute(
                "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET made = excluded.made, "
                "failed = excluded.failed, reply = excluded.reply WHERE replies.failed IS NOT NULL",
                row,
            )
            return self._decoded(*file.execute("SELECT failed, reply FROM replies WHERE key = ?", (key,)).fetchone())

    def _decoded(self, failed: Any, stored: str) -> Completion | CallFailed:
        try:
            if failed is None:
                return replace(_REPLY.validate_json(stored), cached=True)
            fields = json.loads(stored)
            if failed == "context":
                return PromptTooLong(fields["message"], fields["tokens"], fields["limit"])
            return CallFailed(fields["message"], failed)
        except (ValueError, KeyError, TypeError):
            raise ParlourError(f"{str(self.path)!r} holds a damaged reply; accepted: what a cache stored") from None

    def _open(self) -> Any:
        return _open(self.path, writing=self.mode == "record")


@contextmanager
def _open(path: Path, *, writing: bool) -> Iterator[sqlite3.Connection]:
    """The file, for a while; each statement is a transaction of its own.

    Raises:
        ParlourError: It cannot be used.
    """
    address = f"{path.absolute().as_uri()}?mode={'rwc' if writing else 'ro'}"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)) as file:
            file.execute("PRAGMA synchronous = NORMAL")
            yield file
    except sqlite3.Error as error:
        raise ParlourError(
            f"cache {str(path)!r} cannot be used ({error}); accepted: an SQLite file that a cache made"
        ) from None


def _make(file: sqlite3.Connection) -> None:
    """Make the tables unless there are any; two processes may come at once."""
    file.execute("BEGIN IMMEDIATE")
    if not file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        for name, columns in _TABLES.items():
            file.execute(f"CREATE TABLE {name} ({columns})")
        file.execute(f"PRAGMA user_version = {VERSION}")
    file.execute("COMMIT")


def _check_layout(file: sqlite3.Connection, path: Path) -> None:
    """Raise `ParlourError` unless a file is a cache of this layout."""
    version = file.execute("PRAGMA user_version").fetchone()[0]
    columns = dict(file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall())
    if version != VERSION or columns != {name: f"CREATE TABLE {name} ({of})" for name, of in _TABLES.items()}:
        raise ParlourError(
            f"{str(path)!r} is not a cache of layout {VERSION} (it says {version}); accepted: a file of this layout, or a new one"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


# -- what is in a file -----------------------------------------------------------------------------------------------


def _sum(place: int) -> str:
    """The sum of a number of tokens; NULL if it is unknown of any reply. Files from before 2026-12 have zeros for that."""
    count = f"json_extract(reply, '$.usage[{place}]')"
    silent = "json_extract(reply, '$.usage') = '[0,0,0]' AND EXISTS (SELECT 1 FROM json_each(reply, '$.dropped') WHERE value = 'usage')"
    is_unknown = f"key IS NOT NULL AND failed IS NULL AND ({count} IS NULL OR {silent})"
    return f"CASE WHEN total({is_unknown}) > 0 THEN NULL ELSE coalesce(sum({count}), 0) END"


_LISTED: Final = (
    "SELECT model, address, digest, context, "
    f"servers.id = (SELECT id FROM servers other WHERE (address, model) = (servers.address, servers.model) {_LATEST}), "
    "count(key) - count(failed), count(failed), coalesce(sum(length(CAST(reply AS BLOB))), 0), min(made), max(made), "
    f"{_sum(0)}, {_sum(1)}, {_sum(2)} "
    "FROM servers LEFT JOIN replies ON server = servers.id GROUP BY servers.id ORDER BY model, address, servers.seen"
)


class StoredModel(NamedTuple):
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
    """Tokens that were read, written, and read from the server's cache; None if the server did not report them of any reply."""
    completion: int | None
    prompt_cached: int | None


def stored_models(path: Path) -> list[StoredModel]:
    """The models in a file, by name, address and time. Raises `ParlourError` if the file is not a cache."""
    try:
        there = path.is_file()
    except OSError:  # such as a name that is too long for the file system
        there = False
    if not there:
        raise ParlourError(f"{value_shown(str(path))} is not a file; accepted: a file that --cache made")
    with _open(path, writing=False) as file:
        _check_layout(file, path)
        rows = file.execute(_LISTED).fetchall()
    return [StoredModel(*row)._replace(latest=bool(row[4])) for row in rows]
