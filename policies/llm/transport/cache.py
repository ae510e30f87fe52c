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
from typing import Any, Final, NamedTuple, get_args

from parlour.envs.core import ParlourError, check_one_of
from parlour.policies.llm.transport.request import (
    CacheMiss,
    CallFailed,
    Completion,
    Layer,
    PromptTooLong,
    Reason,
    Request,
    ServedModel,
    Transport,
    Usage,
)

MODES: Final = ("record", "replay", "off")
VERSION: Final = 2
"""Version of the layout."""
LAYOUT: Final = {
    "servers": ("id", "address", "model", "digest", "told", "context", "seen"),
    "replies": ("key", "server", "ask", "made", "failed", "reply"),
}
"""Table -> its columns."""
_TABLES: Final = (
    "CREATE TABLE servers (id INTEGER PRIMARY KEY, address TEXT NOT NULL, model TEXT NOT NULL, digest TEXT NOT NULL, "
    "told TEXT NOT NULL, context INTEGER, seen TEXT NOT NULL, UNIQUE (address, model, digest))",
    "CREATE TABLE replies (key TEXT PRIMARY KEY, server INTEGER NOT NULL REFERENCES servers (id), ask TEXT NOT NULL, "
    "made TEXT NOT NULL, failed TEXT, reply TEXT NOT NULL)",
)
_PATIENCE: Final = 60.0
"""Seconds to wait for others who write."""
_STORED: Final = ("texts", "usage", "finish", "thinking", "served", "dropped")


class Remembered(NamedTuple):
    """A model at a server, and its row in the file."""

    row: int
    model: ServedModel


class Cache(Layer):
    """A transport that remembers.

    Args:
        inner: Where replies come from.
        path: The file.
        mode: `"record"` reads, and calls out and stores what is missing; `"replay"` never calls out; `"off"` does
            neither.

    Raises:
        ParlourError: The mode is unknown, or the file is not a cache of this layout.
    """

    def __init__(self, inner: Transport, path: str | Path, mode: str = "record") -> None:
        check_one_of("cache mode", mode, MODES)
        super().__init__(inner)
        self.path, self.mode = Path(path).absolute(), mode
        self._known: dict[str, Remembered] = {}
        if mode == "record":
            self._make()
        if mode == "replay":
            self._check()

    def complete(self, request: Request) -> Completion:
        """The stored reply, or the inner one.

        Raises:
            CacheMiss: In mode `"replay"`, if there is none stored.
            CallFailed: The call failed, now or, in mode `"replay"`, when it was recorded.
        """
        if self.mode == "off":
            return self._inner.complete(request)
        known = self._of(request.model)
        key = request.key(known.model.key)
        stored = self._read(key)
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
            return self._store(key, known.row, request.ask, self._inner.complete(request))
        except CallFailed as error:
            sizes = {"tokens": error.tokens, "limit": error.limit} if isinstance(error, PromptTooLong) else {}
            told = json.dumps({"message": str(error), **sizes}, ensure_ascii=False)
            self._write(key, known.row, request.ask, error.reason, told)
            raise

    def served_model(self, model: str) -> ServedModel:
        """The description of a model: from the server, or, if the server cannot be reached, the last stored."""
        return super().served_model(model) if self.mode == "off" else self._of(model).model

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_known": dict(self._known)}

    def _of(self, model: str) -> Remembered:
        """The model and its row; asked once. Threads that come first wait for one of them."""
        with self._lock:
            if model not in self._known:
                self._known[model] = self._stored_model(model) if self.mode == "replay" else self._told_model(model)
            return self._known[model]

    def _stored_model(self, model: str) -> Remembered:
        """The latest. Raises `CacheMiss` if the file holds none of this name at this address."""
        latest = (
            "SELECT id, told, context FROM servers WHERE address = ? AND model = ? ORDER BY seen DESC, id DESC LIMIT 1"
        )
        with open_cache(self.path, False) as file:
            row = file.execute(latest, (self.address, model)).fetchone()
            others = file.execute("SELECT DISTINCT model, address FROM servers ORDER BY model, address").fetchall()
        if row is None:
            stored_names = ", ".join(f"{name!r} at {address or 'no address'}" for name, address in others) or "nothing"
            raise CacheMiss(
                f"{str(self.path)!r} holds no reply of {model!r} at {self.address or 'no address'}; accepted: {stored_names}"
            )
        return Remembered(row[0], ServedModel(self.address, model, json.loads(row[1]), row[2]))

    def _told_model(self, model: str) -> Remembered:
        """As the server tells it; as stored where the server cannot be reached. It becomes the latest."""
        served = super().served_model(model)
        if not served.reached and served.address:
            try:
                return self._stored_model(model)
            except CacheMiss:
                pass
        values = (served.address, model, served.digest, json.dumps(served.told, sort_keys=True), served.context, _now())
        with open_cache(self.path, True) as file:
            file.execute(
                "INSERT INTO servers (address, model, digest, told, context, seen) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET seen = excluded.seen, context = coalesce(context, excluded.context)",
                values,
            )
            row = file.execute(
                "SELECT id, context FROM servers WHERE address = ? AND model = ? AND digest = ?", values[:3]
            ).fetchone()
        return Remembered(row[0], replace(served, context=row[1]))

    def _read(self, key: str) -> Completion | CallFailed | None:
        with open_cache(self.path, self.mode == "record") as file:
            row = file.execute("SELECT failed, reply FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._decoded(*row)

    def _store(self, key: str, server: int, ask: str, reply: Completion) -> Completion:
        """Store a reply unless there is one; the one that counts, with what this call took."""
        fields = {**{name: getattr(reply, name) for name in _STORED}, "logprobs": []}
        counted = self._decoded(*self._write(key, server, ask, None, json.dumps(fields, ensure_ascii=False)))
        assert isinstance(counted, Completion)
        return replace(counted, cached=False, retries=reply.retries, seconds=reply.seconds)

    def _write(self, key: str, server: int, ask: str, failed: str | None, reply: str) -> tuple[str | None, str]:
        """Store a row unless there is a reply; the row that counts."""
        with open_cache(self.path, True) as file:
            file.execute(
                "INSERT INTO replies VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET made = excluded.made, "
                "failed = excluded.failed, reply = excluded.reply WHERE replies.failed IS NOT NULL",
                (key, server, ask, _now(), failed, reply),
            )
            row: tuple[str | None, str] = file.execute(
                "SELECT failed, reply FROM replies WHERE key = ?", (key,)
            ).fetchone()
        return row

    def _decoded(self, failed: str | None, stored: str) -> Completion | CallFailed:
        try:
            fields = json.loads(stored)
            return _completion(fields) if failed is None else _failure(failed, fields)
        except (ValueError, KeyError, TypeError):
            raise ParlourError(f"{str(self.path)!r} holds a damaged reply; accepted: what a cache stored") from None

    def _make(self) -> None:
        """Make the tables unless there are any; two processes may come at once."""
        with open_cache(self.path, True) as file:
            file.execute("BEGIN IMMEDIATE")
            if not file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for table in _TABLES:
                    file.execute(table)
                file.execute(f"PRAGMA user_version = {VERSION}")
            file.execute("COMMIT")
        self._check()

    def _check(self) -> None:
        with open_cache(self.path, self.mode == "record") as file:
            check_layout(file, self.path)


def check_layout(file: sqlite3.Connection, path: Path) -> None:
    """Raise `ParlourError` unless a file is a cache of this layout."""
    version = file.execute("PRAGMA user_version").fetchone()[0]
    columns = {table: tuple(row[1] for row in file.execute(f"PRAGMA table_info({table})")) for table in LAYOUT}
    if version == 1 and columns["replies"] == ("key", "model", "reply"):
        raise ParlourError(
            f"{str(path)!r} is a cache of layout 1, which does not say which server replied; accepted: layout {VERSION}, "
            "as new recordings have it"
        )
    if version != VERSION or columns != LAYOUT:
        raise ParlourError(
            f"{str(path)!r} is not a cache of layout {VERSION} (it says {version}); accepted: a file of this layout, or a new one"
        )


@contextmanager
def open_cache(path: Path, writing: bool) -> Iterator[sqlite3.Connection]:
    """The file, for a while; each statement is a transaction of its own.

    Raises:
        ParlourError: It cannot be used.
    """
    try:
        file = sqlite3.connect(
            f"{path.as_uri()}?mode={'rwc' if writing else 'ro'}", uri=True, timeout=_PATIENCE, isolation_level=None
        )
        with closing(file):
            file.execute("PRAGMA synchronous = NORMAL")
            yield file
    except sqlite3.Error as error:
        raise ParlourError(
            f"cache {str(path)!r} cannot be used ({error}); accepted: an SQLite file that a cache made"
        ) from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _completion(fields: dict[str, Any]) -> Completion:
    return Completion(
        texts=tuple(fields["texts"]),
        usage=Usage(*fields["usage"]),
        finish=tuple(fields["finish"]),
        thinking=tuple(fields["thinking"]),
        served=fields["served"],
        cached=True,
        dropped=tuple(fields["dropped"]),
    )


def _failure(failed: str, fields: dict[str, Any]) -> CallFailed:
    if failed == "context":
        return PromptTooLong(fields["message"], fields["tokens"], fields["limit"])
    reason: Reason = next(arg for arg in get_args(Reason) if arg == failed)
    return CallFailed(fields["message"], reason)
