"""What calls to a server have shown: what it does not take, and how many tokens its model needs to think and answer.

It is learned once for a run. With a file, which commands keep in the run directory, a run that is resumed knows it, too.

What a server does not take is kept as a set of names: of parameters; `SYSTEM_ROLE`, `REPEATED_ROLES` and the other names below;
`schema ANSWER DIGEST` for one schema, and `schemas of ANSWER` for all schemas of one answer.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from parlour.policies.files import read_json, write_json
from parlour.policies.llm.transport.request import Locked

SYSTEM_ROLE: Final = "system role"
"""What would be the system message begins the first message of the user."""
SYSTEM_NOT_DEVELOPER: Final = "system role instead of developer"
"""The system message is sent as the developer's."""
REPEATED_ROLES: Final = "repeated roles"
"""Neighbouring messages of one role become one."""
WHOLE_ANSWERS: Final = "answers in one piece"
"""Answers are streamed, and put together here."""
NO_REASONING: Final = "calls without reasoning"
"""`reasoning_effort` is sent, as `LEAST_REASONING`, where the user has not set it."""
LEAST_REASONING: Final = "low"

DONE: Final = {
    SYSTEM_ROLE: "its words begin the user's message",
    SYSTEM_NOT_DEVELOPER: "the message is sent as the developer's",
    REPEATED_ROLES: "neighbouring messages become one",
    WHOLE_ANSWERS: "answers are streamed",
    NO_REASONING: f"reasoning_effort {LEAST_REASONING!r} is sent",
}
"""What is done from then on; whatever else a server does not take is left out."""


class Learned(Locked):
    """What a server has shown. A copy in another process knows what was known when it was made."""

    def __init__(self) -> None:
        super().__init__()
        self.off: frozenset[str] = frozenset()
        """What the server does not take."""
        self.takes_schemas = False
        """Whether it has answered a call with a schema."""
        self._rooms: dict[str, int] = {}
        self._path: Path | None = None
        self._server = ""

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
        own = schema_names(sent["response_format"])
        refused = [name for name in self.off if name.startswith("schema")]
        if refused and not self.takes_schemas:
            return "response_format"
        return own[1] if any(name.split(" ")[1] == own[0].split(" ")[1] for name in refused) else own[0]

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

    def keep_in(self, path: Path, server: str) -> None:
        """Begin with what a file holds of a server, and write there what is learned, once its folder exists.

        Raises:
            ParlourError: The file holds something else.
        """
        with self._lock:
            self._path, self._server = path, server
            known = read_json(path).get(server, {}) if path.exists() else {}
            self.off |= frozenset(map(str, known.get("not taken", ())))
            self._rooms |= {str(ask): int(tokens) for ask, tokens in known.get("room", {}).items()}

    def _store(self) -> None:
        """The caller holds the lock."""
        if self._path is None or not self._path.parent.is_dir():
            return
        others = read_json(self._path) if self._path.exists() else {}
        own = {"not taken": sorted(self.off), "room": dict(sorted(self._rooms.items()))}
        write_json(self._path, {**others, self._server: own})

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_path": None}


def schema_names(response_format: Mapping[str, Any]) -> tuple[str, str]:
    """What stands for one schema among what a server does not take, and what for all schemas of its answer."""
    answer = str(response_format["json_schema"]["name"]).replace(" ", "_") or "answer"
    form = json.dumps(response_format, sort_keys=True)
    return f"schema {answer} {hashlib.sha256(form.encode()).hexdigest()[:16]}", f"schemas {answer}"
