"""Replies stored in one SQLite file, so that a second run is free and identical, and can be had without a network.

Several threads and processes may use one file. Whoever stores a reply first is the one whom everybody uses: a reply is
read back after it was stored. Each access opens the file, takes some 0.1 ms and closes it, so that no connection is
shared between threads or carried into a forked process. The file is in SQLite's rollback mode: one file, which can be
copied, and read from a place that cannot be written.

Layout: a table `replies` with `key` (`Request.key()`), `model` and `reply` (JSON); `user_version` is that of the layout.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from parlour.envs.core import ParlourError, check_one_of
from parlour.policies.llm.transport.request import CacheMiss, Completion, Request, Transport, Usage

MODES: Final = ("record", "replay", "off")
VERSION: Final = 2
"""Of the layout."""
_PATIENCE: Final = 60.0
"""Seconds to wait for others who write."""
_STORED: Final = ("texts", "usage", "finish", "thinking", "served", "logprobs", "dropped")


class Cache:
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
        self._inner, self.path, self.mode = inner, Path(path).absolute(), mode
        if mode == "record":
            self._make()
        if mode == "replay":
            self._check()

    def complete(self, request: Request) -> Completion:
        """The stored reply, or the inner one.

        Raises:
            CacheMiss: In mode `"replay"`, if there is none stored.
        """
        if self.mode == "off":
            return self._inner.complete(request)
        key = request.key()
        stored = self._read(key)
        if stored is not None:
            return stored
        if self.mode == "replay":
            raise CacheMiss(
                f"{str(self.path)!r} holds no reply of {request.model!r} to {request.ask or 'a request'} "
                f"(sample {request.sample}, key {key[:12]}); accepted: what was recorded, or mode 'record'"
            )
        return self._store(key, request.model, self._inner.complete(request))

    def __len__(self) -> int:
        with self._open() as file:
            count: int = file.execute("SELECT count(*) FROM replies").fetchone()[0]
        return count

    def _read(self, key: str) -> Completion | None:
        with self._open() as file:
            row = file.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._decoded(row[0])

    def _store(self, key: str, model: str, reply: Completion) -> Completion:
        """Store a reply unless there is one; the one that counts, with what this call took."""
        with self._open() as file:
            file.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, model, _encoded(reply)))
            row = file.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return replace(self._decoded(row[0]), cached=False, retries=reply.retries, seconds=reply.seconds)

    def _decoded(self, stored: str) -> Completion:
        try:
            found = json.loads(stored)
            return Completion(
                texts=tuple(found["texts"]),
                usage=Usage(*found["usage"]),
                finish=tuple(found["finish"]),
                thinking=tuple(found["thinking"]),
                served=found["served"],
                logprobs=tuple(found["logprobs"]),
                cached=True,
                dropped=tuple(found["dropped"]),
            )
        except (ValueError, KeyError, TypeError):
            raise ParlourError(f"{str(self.path)!r} holds a damaged reply; accepted: what a cache stored") from None

    def _make(self) -> None:
        """Make the table unless there is one; two processes may come at once."""
        with self._open() as file:
            file.execute("BEGIN IMMEDIATE")
            tables = file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if not tables:
                file.execute("CREATE TABLE replies (key TEXT PRIMARY KEY, model TEXT NOT NULL, reply TEXT NOT NULL)")
                file.execute(f"PRAGMA user_version = {VERSION}")
            file.execute("COMMIT")
        self._check()

    def _check(self) -> None:
        with self._open() as file:
            version = file.execute("PRAGMA user_version").fetchone()[0]
            columns = [row[1] for row in file.execute("PRAGMA table_info(replies)")]
        if version != VERSION or columns != ["key", "model", "reply"]:
            raise ParlourError(
                f"{str(self.path)!r} is no cache of layout {VERSION} (it says {version}); accepted: such a file, or none"
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        access = "rwc" if self.mode == "record" else "ro"
        try:
            # isolation_level=None: a statement is a transaction
            file = sqlite3.connect(
                f"{self.path.as_uri()}?mode={access}", uri=True, timeout=_PATIENCE, isolation_level=None
            )
            with closing(file):
                file.execute("PRAGMA synchronous = NORMAL")
                yield file
        except sqlite3.Error as error:
            raise ParlourError(
                f"cache {str(self.path)!r} cannot be used ({error}); accepted: an SQLite file that a cache made"
            ) from None


def _encoded(reply: Completion) -> str:
    return json.dumps({name: getattr(reply, name) for name in _STORED}, ensure_ascii=False)
