"""A server that speaks OpenAI's chat-completions protocol and answers by heuristics, or by a policy.

For tests, and for people without a key: the whole path of `ChatModel` (HTTP, JSON, usage, errors) runs against it. A request
brings its question as data, in the field `parlour_inputs`, or else in the sections of its last prompt; the question's heuristic
answers with the generator of the request's `seed`, as `OfflineModel` does for the same sample. In its place one policy can
answer. On demand the server is slow, wants a key, or makes mistakes (`faults`). Needs the extra `serve`.
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

from parlour.envs.core import ParlourError
from parlour.policies.base import Policy
from parlour.policies.by_text import by_numbers, goes_by_text, in_words, options_in, require_readable
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.server import listening, protocol
from parlour.policies.llm.server.limits import LimitedApp, described, failure, gone, refusal
from parlour.policies.llm.server.listening import CONNECTION, LOOPBACK, LimitedConnection, ListeningServer
from parlour.policies.llm.server.protocol import AnswerText, ChatBody, CompletionRequest, Refused, parsed, question
from parlour.policies.llm.server.settings import OF_BODY, FaultDraw, ServerSettings
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

QUESTION: Final = "chat.take_turn"
"""The one question that a seat's text and options are enough for."""
PIECES: Final = 20
"""In how many pieces a slow reply arrives."""
_PAGE: Final = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
_MOMENT: Final = 0.005
"""Seconds for the first half to get through before the connection ends."""
_REFUSALS: Final = {
    "429": (429, "one request too many (on purpose)", None, "rate_limit_exceeded"),
    "500": (500, "an error of the server (on purpose)", None, "server_error"),
    "503": (503, "too much to do (on purpose)", None, "overloaded"),
    "filter": (400, "flagged by the content filter (on purpose)", "messages", "content_filter"),
    "timeout": (504, "no answer in time (on purpose)", None, "timeout"),
}
"""Fault -> the refusal that it is."""
_LOG: Final = logging.getLogger(__name__)


class ServedPolicy:
    """A policy that answers requests, one at a time: what `parlour serve --policy` answers with.

    A request holds what a seat reads, as the last message of the user: either the prose itself, and the reply is the policy's
    words; or the question of parlour's own `chat` player, and the reply is the JSON it asks for. A policy that reads numbers
    gets them from the field `parlour` of the request, which is beyond OpenAI's protocol. Requests are independent: the policy is
    reset at each, with the request's seed. What it would have remembered beyond the text is lost.

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
        for templates in (Templates(), Templates(brief=True)):
            rules = rules.removeprefix(templates.system(asked.language)).strip()
        read = asked.observation(rules)  # type: ignore[attr-defined]
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


class Service:
    """What is behind the routes. One for each server.

    Args:
        settings: How it behaves.
        tally: Counts: `chat` that could be read; of those, each kind of fault; `refused` for every
            error that was sent, whether on purpose or for a bad request; `gone` for clients that did not wait.
        policy: Answers instead of the heuristics.
    """

    def __init__(
        self, settings: ServerSettings, tally: Counter[str] | None = None, policy: ServedPolicy | None = None
    ) -> None:
        self.settings, self.policy = settings, policy
        self.name = protocol.MODEL_ID if policy is None else policy.name
        self.tally: Counter[str] = Counter() if tally is None else tally
        self.closing = asyncio.Event()
        self.longest_message = 0
        self._warned = False
        self._draw = FaultDraw(settings.faults, settings.seed)

    def app(self) -> LimitedApp:
        """The routes, behind the limits."""
        routes = [
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
            Route("/v1/models", self.models),
            Route("/v1/models/{name:path}", self.model),
        ]
        handlers: Any = {Refused: self.refusal, HTTPException: self.refusal, Exception: failure}
        app = Starlette(routes=routes, exception_handlers=handlers)
        app.router.redirect_slashes = False
        return LimitedApp(app, self.settings, self.tally, self.check_key)

    async def chat(self, request: Request) -> Response:
        """`POST /v1/chat/completions`."""
        began = time.monotonic()
        raw = await request.body()
        body = parsed(raw)
        wanted = body.wanted((*self.settings.refuse, "parlour") if self.policy is None else self.settings.refuse)
        if self.policy is None:
            answer = protocol.by_heuristic(question(body, wanted))
        else:
            answer = self.policy.answering(body, wanted)
        wanted = self._named(wanted)
        fault = self._draw(raw)
        self.tally.update(["chat"] if fault is None else ["chat", fault])
        await self._obstruct(fault, request)
        done = await self._completed(wanted, answer, fault, sha256(raw).hexdigest()[:24])
        await self._pause(self.settings.latency - (time.monotonic() - began), request)
        if not body.stream:
            response = JSONResponse(done)
            if fault in OF_BODY:
                return self._broken(bytes(response.body), "application/json", fault, request)
            return response
        with_usage = body.stream_options is not None and body.stream_options.include_usage
        chunks = protocol.events(done, with_usage=with_usage)
        if fault in OF_BODY:
            return self._broken(b"".join(chunks), "text/event-stream", fault, request)
        return StreamingResponse(_each(chunks), media_type="text/event-stream")

    async def models(self, request: Request) -> Response:
        """`GET /v1/models`."""
        return JSONResponse({"object": "list", "data": [protocol.model(self.name)]})

    async def model(self, _request: Request) -> Response:
        """`GET /v1/models/{name}`: what answers, whatever name it is asked for by."""
        return JSONResponse(protocol.model(self.name))

    def check_key(self, authorization: str) -> None:
        """Refuse a request without the key; what it brought instead is not shown to anybody."""
        wanted = self.settings.key
        if wanted is None:
            return
        scheme, _, brought = authorization.partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(brought.encode(), wanted.encode()):
            raise Refused(401, "the bearer token is missing or wrong", None, "invalid_api_key")

    async def refusal(self, _request: Request, error: Exception) -> Response:
        """An error in the shape of the protocol."""
        if isinstance(error, HTTPException):
            error = Refused(error.status_code, f"{error.detail}; accepted: the routes below /v1")
        assert isinstance(error, Refused)
        self.tally["refused"] += 1
        return refusal(error)

    async def _completed(
        self, wanted: CompletionRequest, answer: AnswerText, fault: str | None, name: str
    ) -> dict[str, Any]:
        """The completion, worked out beside the loop, so that no long thought holds up the other requests."""
        print_ = protocol.FINGERPRINT if self.policy is None else self.policy.fingerprint
        try:
            return await run_in_threadpool(protocol.completion, wanted, answer, fault, name, int(time.time()), print_)
        except Refused:
            raise
        except Exception as error:
            if self.policy is not None:
                _LOG.error("the policy failed: %s", described(error))
                raise Refused(500, described(error), None, "server_error") from None
            why = f"the inputs of the question do not go together ({described(error)}); accepted: what its player sends"
            raise Refused(400, why, "messages") from None

    def _named(self, wanted: CompletionRequest) -> CompletionRequest:
        """The request under the name of what answers it: a reply says who made it, whatever name was asked for."""
        if wanted.model == protocol.OLD_MODEL_ID != self.name and not self._warned:
            self._warned = True
            _LOG.warning("model %r is called %r since 0.3; the old name is accepted until 0.4", wanted.model, self.name)
        return wanted._replace(model=self.name)

    async def _obstruct(self, fault: str | None, request: Request) -> None:
        """Raise the refusal that a fault stands for, if it stands for one."""
        if fault == "timeout":
            await self._pause(self.settings.hang, request)
        if fault in _REFUSALS:
            after = {"Retry-After": f"{self.settings.retry_after:g}"} if fault == "429" else None
            raise Refused(*_REFUSALS[fault], headers=after)

    def _broken(self, body: bytes, media_type: str, fault: str, request: Request) -> Response:
        """A reply under a fault of `settings.OF_BODY`, which spoils it as bytes, whatever it says."""
        match fault:
            case "html":
                return Response(_PAGE, media_type="text/html")
            case "gzip":
                return Response(body, media_type=media_type, headers={"Content-Encoding": "gzip"})
            case "utf16":
                return Response(body.decode().encode("utf-16"), media_type=media_type)
            case "slow":
                return StreamingResponse(_slowly(body, self._pause, self.settings.hang), media_type=media_type)
        length = {"Content-Length": str(len(body))} if fault == "reset" else {}
        half = _half(body, self._pause, request.scope["state"][CONNECTION], reset=fault == "reset")
        return StreamingResponse(half, media_type=media_type, headers=length)

    async def _pause(self, seconds: float, request: Request | None = None) -> None:
        """Wait, but not for a server that is being shut down, nor for a client that has gone."""
        if seconds <= 0:
            return
        ends = asyncio.ensure_future(self.closing.wait())
        left = None if request is None else asyncio.ensure_future(gone(request.receive))
        waits = [wait for wait in (ends, left) if wait is not None]
        try:
            done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        if left in done:
            raise ClientDisconnect


@contextmanager
def serving(*, tally: Counter[str] | None = None, policy: ServedPolicy | None = None, **settings: Any) -> Iterator[str]:
    """A server in a thread of this process, on a free port of loopback; yields its `base_url`.

    Args:
        tally: Counts requests by outcome; see `Service`.
        policy: Answers instead of the heuristics.
        settings: Fields of `ServerSettings`.
    """
    with running(Service(ServerSettings(**settings), tally, policy)) as base_url:
        yield base_url


@contextmanager
def running(service: Service) -> Iterator[str]:
    """A service in a thread of this process; its address."""
    server = ListeningServer(service, LOOPBACK, 0)
    with listening.in_thread(server, "parlour serve"):
        yield f"{server.url}/v1"


async def _each(events: Iterable[bytes]) -> AsyncIterator[bytes]:
    for event in events:
        yield event


async def _slowly(body: bytes, pause: Callable[[float], Awaitable[None]], hang: float) -> AsyncIterator[bytes]:
    size = -(-len(body) // PIECES)
    for start in range(0, len(body), size):
        yield body[start : start + size]
        await pause(hang / PIECES)


async def _half(
    body: bytes, pause: Callable[[float], Awaitable[None]], connection: LimitedConnection, *, reset: bool
) -> AsyncIterator[bytes]:
    yield body[: len(body) // 2]
    await pause(_MOMENT)
    connection.end_early(reset=reset)
