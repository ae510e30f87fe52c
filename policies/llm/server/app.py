"""A server that speaks OpenAI's chat-completions and embeddings protocol and answers by heuristics, or by a policy.

For tests, and for people without a key: the whole path of `ChatModel` (HTTP, JSON, usage, errors) runs against it. Each
prompt carries its question in a block, which is read back from the last user message that holds one; its heuristic
answers with the generator of the request's `seed`, as `OfflineModel` does for the same sample. In their place one policy
can answer (`served`). On demand it is slow, wants a key, or makes mistakes (`faults`). Needs the extra `serve`.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from threading import Lock
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, Response, StreamingResponse
from parlour.envs.core import ParlourError
from parlour.policies.base import Policy
from parlour.policies.by_text import by_numbers, goes_by_text, in_words, options_in, require_readable
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.server import listening, protocol, replies
from parlour.policies.llm.server.fault_injection import OF_BODY, OF_TEXT, FaultDraw
from parlour.policies.llm.server.limits import LimitedApp, described, disconnected, refusal
from parlour.policies.llm.server.listening import CONNECTION, LOOPBACK, LimitedConnection, ListeningServer
from parlour.policies.llm.server.protocol import ChatBody, Refused, question
from parlour.policies.llm.server.replies import AnswerText, CompletionRequest
from parlour.policies.llm.server.settings import ServerSettings
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Scope

PIECES: Final = 20
"""In how many pieces a slow reply arrives."""
_PAGE: Final = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
_MOMENT: Final = 0.005
"""Seconds for the first half to get through before the connection ends."""

Pause = Callable[[float], Awaitable[None]]


def broken(body: bytes, media_type: str, fault: str, scope: Scope, pause: Pause, hang: float) -> Response:
    """A reply under a fault of `fault_injection.OF_BODY`.

    Args:
        body: What it would have been.
        media_type: Of what kind.
        fault: What goes wrong.
        scope: Of the request, which knows its connection.
        pause: Waits for so many seconds, unless the server ends.
        hang: How long a slow reply takes, in seconds.
    """
    match fault:
        case "html":
            return Response(_PAGE, media_type="text/html")
        case "gzip":
            return Response(body, media_type=media_type, headers={"Content-Encoding": "gzip"})
        case "utf16":
            return Response(body.decode().encode("utf-16"), media_type=media_type)
        case "slow":
            return StreamingResponse(_slowly(body, pause, hang), media_type=media_type)
    connection: LimitedConnection = scope["state"][CONNECTION]
    length = {"Content-Length": str(len(body))} if fault == "reset" else {}
    half = _half(body, pause, connection, reset=fault == "reset")
    return StreamingResponse(half, media_type=media_type, headers=length)


async def _slowly(body: bytes, pause: Pause, hang: float) -> AsyncIterator[bytes]:
    size = -(-len(body) // PIECES)
    for start in range(0, len(body), size):
        yield body[start : start + size]
        await pause(hang / PIECES)


async def _half(body: bytes, pause: Pause, connection: LimitedConnection, *, reset: bool) -> AsyncIterator[bytes]:
    yield body[: len(body) // 2]
    await pause(_MOMENT)
    connection.end_early(reset=reset)


QUESTION: Final = "chat.take_turn"
"""The one question that a seat's text and options are enough for."""
UNTAKEN: Final = ("logprobs", "top_logprobs")
"""What a policy has none of."""


class ServedPolicy:
    """A policy that answers requests, one at a time.

    Args:
        name: What it is called on the command line; the model's name.
        policy: Who answers.

    Raises:
        ParlourError: It reads the View, or is a person.
    """

    def __init__(self, name: str, policy: Policy) -> None:
        require_readable(policy, name)
        self.name, self._policy = name, policy
        self.fingerprint = f"parlour-policy-{name}"
        self._lock = Lock()

    def answering(self, body: ChatBody, wanted: CompletionRequest) -> AnswerText:
        """Who answers this request. Raises `Refused` if it holds nothing that the policy could answer."""
        asked = question(body, wanted)
        if asked is None:
            text = next((words for role, words in reversed(wanted.messages) if role == "user"), None)
            if text is None:
                raise Refused(
                    400, "there is no message of a user; accepted: what a seat reads, as the last one", "messages"
                )
            return lambda seed: self._words(body, seed, text, options_in(text))
        if asked.kind != QUESTION:
            why = f"question {asked.kind!r} is not accepted by a policy; accepted: {QUESTION}, or what a seat reads"
            raise Refused(400, why, "messages")
        rules = next((words for role, words in wanted.messages if role == "system"), "")
        read = asked.observation(rules.removeprefix(Templates().system(asked.language)).strip())  # type: ignore[attr-defined]
        options, answer = tuple(asked.sentences()), asked.answer_type()  # type: ignore[attr-defined]

        def in_json(seed: int) -> str:
            words = self._words(body, seed, read, options)
            return str(answer.model_validate({"thoughts": "", "words": words}).model_dump_json())

        return in_json

    def _words(self, body: ChatBody, seed: int, text: str, options: tuple[str, ...]) -> str:
        """The policy's words. Raises `Refused` for what it does not accept."""
        numbers = body.parlour
        if numbers is None and not goes_by_text(self._policy):
            why = f"policy {self.name!r} reads numbers; accepted: with parlour: {{features: [...], action_mask: [...]}}"
            raise Refused(400, why, "parlour")
        by_words = numbers is None or (self._policy.reads_prose and options)
        with self._lock:
            self._policy.reset(0, seed)
            try:
                if by_words or numbers is None:
                    return in_words(self._policy, text, options)
                return by_numbers(self._policy, numbers.features, numbers.action_mask, text, options)
            except ParlourError as error:
                raise Refused(400, str(error), "messages" if numbers is None else "parlour") from None


_LOG: Final = logging.getLogger(__name__)


class Service:
    """What is behind the routes. One for each server.

    Args:
        settings: How it behaves.
        tally: Counts: `chat` and `embeddings` that could be read; of those, each kind of fault; `refused` for every
            error that was sent, whether on purpose or for a bad request; `gone` for clients that did not wait.
        policy: Answers in place of the heuristics.
    """

    def __init__(
        self, settings: ServerSettings, tally: Counter[str] | None = None, policy: ServedPolicy | None = None
    ) -> None:
        self.settings, self.policy = settings, policy
        self.tally: Counter[str] = Counter() if tally is None else tally
        self.closing = asyncio.Event()
        self.longest_message = 0
        self._draw = FaultDraw(settings.faults, settings.seed)

    def app(self) -> LimitedApp:
        """The routes, behind the limits."""
        return make_app(self)

    async def chat(self, request: Request) -> Response:
        """`POST /v1/chat/completions`."""
        began = time.monotonic()
        raw = await request.body()
        body = protocol.parsed(protocol.ChatBody, raw)
        answer, wanted = self._answering(body)
        fault = self._count("chat", self._draw(raw))
        await self._obstruct(fault, request)
        done = await self._completed(wanted, answer, fault, sha256(raw).hexdigest()[:24])
        await self._pause(self.settings.latency - (time.monotonic() - began), request)
        if not body.stream:
            return self._reply(JSONResponse(done), fault, request)
        told = replies.events(done, with_usage=body.with_usage)
        if fault in OF_BODY:
            return self._broken(b"".join(told), "text/event-stream", fault, request)
        return StreamingResponse(_each(told), media_type="text/event-stream")

    async def embeddings(self, request: Request) -> Response:
        """`POST /v1/embeddings`."""
        raw = await request.body()
        body = protocol.parsed(protocol.EmbeddingsBody, raw)
        drawn = self._draw(raw)
        fault = self._count("embeddings", None if drawn in OF_TEXT else drawn)
        await self._obstruct(fault, request)
        packed = body.encoding_format == "base64"
        try:
            told = await run_in_threadpool(replies.embeddings, body.model, body.texts, body.dimensions, packed=packed)
        except ParlourError as error:
            raise protocol.Refused(400, str(error), "input") from None
        return self._reply(JSONResponse(told), fault, request)

    async def models(self) -> Response:
        """`GET /v1/models`."""
        return JSONResponse(replies.models() if self.policy is None else replies.models(self.policy.name))

    async def model(self, name: str) -> Response:
        """`GET /v1/models/{name}`."""
        return JSONResponse(replies.model(name))

    def check_key(self, authorization: str) -> None:
        """Refuse a request without the key; what it brought instead is not shown to anybody."""
        wanted = self.settings.key
        if wanted is None:
            return
        scheme, _, brought = authorization.partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(brought.encode(), wanted.encode()):
            raise protocol.Refused(401, "the bearer token is missing or wrong", None, "invalid_api_key")

    async def refusal(self, _request: Request, error: Exception) -> Response:
        """An error in the shape of the protocol."""
        if isinstance(error, HTTPException):
            error = protocol.Refused(error.status_code, f"{error.detail}; accepted: the routes below /v1")
        assert isinstance(error, protocol.Refused)
        self.tally["refused"] += 1
        return refusal(error)

    def _answering(self, body: protocol.ChatBody) -> tuple[replies.AnswerText, replies.CompletionRequest]:
        """Who answers, and what is wanted. Raises `Refused` for what cannot be answered."""
        if self.policy is None:
            wanted = body.wanted((*self.settings.refuse, "parlour"))
            return replies.by_heuristic(protocol.question(body, wanted)), wanted
        wanted = body.wanted((*self.settings.refuse, *(name for name in UNTAKEN if getattr(body, name))))
        return self.policy.answering(body, wanted), wanted

    async def _completed(
        self, wanted: replies.CompletionRequest, answer: replies.AnswerText, fault: str | None, name: str
    ) -> dict[str, Any]:
        """The completion, worked out beside the loop, so that no long thought holds up the other requests."""
        print_ = replies.FINGERPRINT if self.policy is None else self.policy.fingerprint
        try:
            return await run_in_threadpool(replies.completion, wanted, answer, fault, name, int(time.time()), print_)
        except protocol.Refused:
            raise
        except Exception as error:
            if self.policy is not None:
                _LOG.error("the policy failed: %s", described(error))
                raise protocol.Refused(500, described(error), None, "server_error") from None
            why = f"the inputs of the question do not go together ({described(error)}); accepted: what its player sends"
            raise protocol.Refused(400, why, "messages") from None

    def _count(self, what: str, fault: str | None) -> str | None:
        self.tally[what] += 1
        if fault is not None:
            self.tally[fault] += 1
        return fault

    async def _obstruct(self, fault: str | None, request: Request) -> None:
        """Raise the refusal that a fault stands for, if it stands for one."""
        if fault == "429":
            after = {"Retry-After": f"{self.settings.retry_after:g}"}
            raise protocol.Refused(429, "one request too many (on purpose)", None, "rate_limit_exceeded", after)
        if fault == "500":
            raise protocol.Refused(500, "an error of the server (on purpose)", None, "server_error")
        if fault == "503":
            raise protocol.Refused(503, "too much to do (on purpose)", None, "overloaded")
        if fault == "filter":
            raise protocol.Refused(400, "flagged by the content filter (on purpose)", "messages", "content_filter")
        if fault == "timeout":
            await self._pause(self.settings.hang, request)
            raise protocol.Refused(504, "no answer in time (on purpose)", None, "timeout")

    def _reply(self, response: Response, fault: str | None, request: Request) -> Response:
        if fault not in OF_BODY:
            return response
        return self._broken(bytes(response.body), "application/json", fault, request)

    def _broken(self, body: bytes, media_type: str, fault: str, request: Request) -> Response:
        return broken(body, media_type, fault, request.scope, self._pause, self.settings.hang)

    async def _pause(self, seconds: float, request: Request | None = None) -> None:
        """Wait, but not for a server that is being shut down, nor for a client that has gone."""
        if seconds <= 0:
            return
        ends = asyncio.ensure_future(self.closing.wait())
        gone = None if request is None else asyncio.ensure_future(disconnected(request.receive)())
        waits = [one for one in (ends, gone) if one is not None]
        try:
            done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
        if gone in done:
            raise ClientDisconnect


def make_app(service: Service) -> LimitedApp:
    """The routes, behind the limits."""
    app = FastAPI(title="parlour serve", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.add_api_route("/v1/chat/completions", service.chat, methods=["POST"])
    app.add_api_route("/v1/embeddings", service.embeddings, methods=["POST"])
    app.add_api_route("/v1/models", service.models, methods=["GET"])
    app.add_api_route("/v1/models/{name:path}", service.model, methods=["GET"])
    for kind in (protocol.Refused, HTTPException):
        app.add_exception_handler(kind, service.refusal)
    return LimitedApp(app, service.settings, service.tally, service.check_key)


class BoundServer(ListeningServer):
    """A server that has its port but does not answer yet; `base_url` is what clients of the protocol are given.

    Args:
        service: What answers.
        host: Address to listen at.
        port: Port to listen at; 0 for a free one.

    Raises:
        ParlourError: Host and port cannot be used.
    """

    def __init__(self, service: Service, host: str = LOOPBACK, port: int = 0) -> None:
        super().__init__(service, host, port)
        self.base_url = f"{self.url}/v1"


@contextmanager
def serving(*, tally: Counter[str] | None = None, policy: ServedPolicy | None = None, **settings: Any) -> Iterator[str]:
    """A server in a thread of this process, on a free port of loopback; yields its `base_url`.

    Args:
        tally: Counts what became of requests; see `Service`.
        policy: Answers in place of the heuristics.
        settings: Those of `ServerSettings`.
    """
    with running(Service(ServerSettings(**settings), tally, policy)) as base_url:
        yield base_url


@contextmanager
def running(service: Service) -> Iterator[str]:
    """A service in a thread of this process; its address."""
    server = BoundServer(service)
    with listening.in_thread(server, "parlour serve"):
        yield server.base_url


async def _each(told: Iterable[bytes]) -> AsyncIterator[bytes]:
    for one in told:
        yield one
