"""A game of `chat` over a server with one behaviour, from the command line to its exit code.

The stubs reply with JSON that fits the schema of the question, or with the first option that the prompt lists.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from parlour.training.cli import run

from tests.policies.llm import servers
from tests.policies.llm.servers import Answer, Call

GAME = ("play", "werewolf_v0", "-n", "5", "--policy", "chat", "--seed", "3", "--set", "max_days=2")
DECISIONS, QUESTIONS = 14, 24
"""Of the game, if the stub decides them all; turns of free words are questions, but no decisions."""


class Stub(servers.Server):
    """A server with one behaviour: what it answers to a call instead of a plain reply, and what becomes of its replies."""

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__()
        self.behaviour, self.MODEL = behaviour, behaviour.model  # type: ignore[misc]

    def models(self) -> list[dict[str, Any]]:
        return [{"id": self.MODEL, "object": "model", "max_model_len": self.behaviour.context}]

    def refused(self, call: Call) -> Answer | None:
        return self.behaviour.answer(self, call)

    def completion(self, call: Call) -> Answer:
        form = call.body.get("response_format")
        text = json.dumps(servers.fitting(form["json_schema"]["schema"])) if form else reply_to(call.body["messages"])
        return self.behaviour.reply(self, call, text)

    @property
    def plain_calls(self) -> int:
        """Calls so far, this one included."""
        return len(self.asked)


def reply_to(messages: list[dict[str, Any]]) -> str:
    """An answer of `chat` without a schema: the first option of a prompt, or any words where it lists none."""
    options = re.search(r"^## options\n- (.+)$", "\n".join(message["content"] for message in messages), re.MULTILINE)
    return json.dumps({"thoughts": "w", "words": options[1] if options else "w"})


def plainly(server: Stub, call: Call, text: str) -> Answer:
    return Answer(server.completed({"role": "assistant", "content": text}))


def nothing(server: Stub, call: Call) -> Answer | None:
    return None


@dataclass(frozen=True)
class Behaviour:
    """What a server does."""

    answer: Callable[[Stub, Call], Answer | None] = nothing
    """To a call, instead of a reply; None: it replies."""
    reply: Callable[[Stub, Call, str], Answer] = plainly
    """With a text that is an answer to the question."""
    model: str = "tester"
    context: int = 100_000


class Row(NamedTuple):
    """A behaviour and what comes of it."""

    behaviour: Behaviour
    own: int | None = DECISIONS
    """Decisions that are the model's own; None: the game is not finished."""
    code: int = 0
    message: str = "14 decisions: 14 its own"
    """A pattern of what the terminal says."""
    options: tuple[str, ...] = ()
    most_calls: int | None = None


def refusal(message: str, param: str | None = None, status: int = 400, **more: Any) -> Answer:
    return Answer({"error": {"message": message, "type": "invalid_request_error", "param": param, **more}}, status)


def refuses(answer: Answer, where: Callable[[dict[str, Any]], Any] = lambda body: True) -> Behaviour:
    """A server that gives this answer to calls of a kind, for good."""
    return Behaviour(lambda server, call: answer if where(call.body) else None)


def with_schema(body: dict[str, Any]) -> bool:
    return "response_format" in body


def replies(change: Callable[[str], str]) -> Behaviour:
    return Behaviour(reply=lambda server, call, text: plainly(server, call, change(text)))


def whole(body: dict[str, Any]) -> Behaviour:
    return Behaviour(reply=lambda server, call, text: Answer(body))


class Result(NamedTuple):
    """What came of a command."""

    code: int
    own: int | None
    decisions: int | None
    errors: str
    calls: int
    seconds: float
    players: list[dict[str, Any]]
    """What `--json` says of each player's decisions."""


def played(row: Row, capfd: Any) -> Result:
    """The game of a row over its stub, with one retry unless the row says otherwise."""
    started = time.monotonic()
    with Stub(row.behaviour) as server:
        given = ("--model", server.MODEL, "--base-url", server.base_url, "--max-retries", "1", "--concurrency", "1")
        code = run([*GAME, *given, *row.options, "--json"])
        calls = len(server.asked)
    out, errors = capfd.readouterr()
    games = json.loads(out) if out.strip() else []
    made = [player for game in games for player in game["players"].values()]
    own, decisions = (sum(row[name] for row in made) if made else None for name in ("own", "decisions"))
    return Result(code, own, decisions, errors, calls, time.monotonic() - started, made)


def check(row: Row, capfd: Any) -> Result:
    """What a row says comes of its game."""
    result = played(row, capfd)
    assert result.code == row.code, result.errors
    assert result.own == row.own, result.errors
    assert result.code == 2 or result.own
    assert re.search(row.message, " ".join(result.errors.split())), result.errors
    assert row.most_calls is None or result.calls <= row.most_calls, result.calls
    assert result.seconds < 60
    return result
