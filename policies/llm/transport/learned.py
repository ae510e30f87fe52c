"""What calls to a server have shown: what it does not take, and how many tokens its model needs to think and answer.

It is learned once for a run. With a file, which commands keep in the run directory, a run that is resumed knows it, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlour.policies.files import read_json, write_json
from parlour.policies.llm.transport.payload import schema_names
from parlour.policies.llm.transport.request import Locked


class Learned(Locked):
    """What a server has shown. A copy in another process knows what was known when it was made, and writes nothing.

    Args:
        server: The server's address.
        path: File of what is known about servers, which is kept up to date once its folder exists; None for none.

    Raises:
        ParlourError: The file holds something else.
    """

    def __init__(self, server: str, path: Path | None = None) -> None:
        super().__init__()
        self._path, self._server = path, server
        known = self._stored().get(server, {})
        self.off = frozenset(map(str, known.get("not taken", ())))
        """What the server does not take; `payload` has the names."""
        self._rooms = {str(ask): int(tokens) for ask, tokens in known.get("room", {}).items()}
        self._taken: set[str] = set()
        """Schemas that the server has taken."""

    def takes(self, sent: Mapping[str, Any]) -> None:
        """The server has answered a call."""
        self._taken.update(schema_names(sent)[:1])

    def has_to_prove(self, sent: Mapping[str, Any]) -> bool:
        """Whether a call has a schema that the server has not taken yet."""
        return not self._taken.issuperset(schema_names(sent)[:1])

    def leave_out(self, name: str) -> bool:
        """The server does not take this; whether that is news."""
        with self._lock:
            known, self.off = name in self.off, self.off | {name}
            self._store()
        return not known

    def refused_schema(self, sent: Mapping[str, Any]) -> str:
        """What to leave out after a schema was refused.

        It is this schema. At the second refusal it is every schema of the same answer, or every schema if the server has never taken any.
        """
        own, of_answer = schema_names(sent)
        if self.refused_schemas and not self._taken:
            return "response_format"
        return of_answer if any(name.split(" ")[1] == own.split(" ")[1] for name in self.refused_schemas) else own

    @property
    def refused_schemas(self) -> list[str]:
        """The names of schemas that were refused, whether or not they bound texts."""
        return [name for name in self.off if name.startswith("schema")]

    def room(self, ask: str, wanted: int) -> int:
        """Tokens for a reply to a kind of question: what is wanted, or more where that was too little."""
        return max(wanted, self._rooms.get(ask, 0))

    def needs_room(self, ask: str, tokens: int) -> bool:
        """Replies to a kind of question need this room; whether no kind needed as much before."""
        with self._lock:
            most = max(self._rooms.values(), default=0)
            self._rooms[ask] = max(tokens, self._rooms.get(ask, 0))
            self._store()
        return tokens > most

    def _stored(self) -> dict[str, Any]:
        return dict(read_json(self._path)) if self._path is not None and self._path.exists() else {}

    def _store(self) -> None:
        """The caller holds the lock."""
        if self._path is not None and self._path.parent.is_dir():
            own = {"not taken": sorted(self.off), "room": dict(sorted(self._rooms.items()))}
            write_json(self._path, {**self._stored(), self._server: own})

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_path": None}
