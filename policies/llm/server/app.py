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
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from threading import Lock
from typing import Any, Final, TypeVar

from anyio import CapacityLimiter, to_thread
from parlour.envs.core import ParlourError
from parlour.policies.agents.seat import AskingPolicy
from parlour.policies.base import Policy
from parlour.policies.by_text import by_numbers, goes_by_text, in_words, options_in, require_readable
from parlour.policies.llm.prompt import Templates
from parlour.policies.llm.server import protocol
from parlour.policies.llm.server.listening import (
    CONNECTION,
    LOOPBACK,
    EndingServer,
    ListeningServer,
    ServedConnection,
    served_by,
)
from parlour.policies.llm.server.protocol import (
    AbandonedWork,
    AnswerText,
    ChatBody,
    Refused,
    Stopped,
    parsed,
    question,
)
from parlour.policies.llm.server.settings import OF_BODY, FaultDraw, ServerSettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive

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
_THREADS: Final = 2
"""Requests that are worked on at the same time; the others wait, and are forgotten if their clients leave."""
_LAST_WORK: Final = 0.25
"""Seconds in which work may come to its end when its client has gone, or the server ends."""
_Result = TypeVar("_Result")
_LOG: Final = logging.getLogger(__name__)


class ServedPolicy:
    """A policy that answers requests, one at a time: what `parlour serve endpoint --policy` answers with.

    A request holds what a seat reads, as the last message of the user: either the prose itself, and the reply is the policy's
    words; or the question of parlour's own `chat` player, and the reply is the JSON it asks for. A policy that reads numbers
    gets them from the field `parlour` of the request, which is beyond OpenAI's protocol. If the policy asks a model, typed questions are
    answered by their heuristics. Requests are independent: the policy is
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

    def answering(self, body: ChatBody, stopped: Stopped) -> AnswerText:
        """Who answers this request. Raises `Refused` if it holds nothing that the policy could answer."""
        asked = question(body, stopped)
        if asked is None:
            text = next((message.words for message in reversed(body.messages) if message.role == "user"), None)
            if text is None:
                why = "there is no message of a user; accepted: what a seat reads, as the last one"
                raise Refused(400, why, "messages")
            return lambda seed: self._words(body, seed, text, options_in(text))
        if asked.kind != QUESTION and isinstance(self._policy, AskingPolicy):
            return protocol.by_heuristic(asked)
        if asked.kind != QUESTION:
            why = f"question {asked.kind!r} is not accepted by a policy; accepted: {QUESTION}, or what a seat reads"
            raise Refused(400, why, "messages")
        rules = next((message.words for message in body.messages if message.role == "system"), "")
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
        self._workers = CapacityLimiter(_THREADS)
        self._draw = FaultDraw(settings.faults, settings.seed)

    def listening_at(self, host: str, port: int) -> ListeningServer:
        """The server that has this port. Raises `ParlourError` if it cannot be used."""
        return ListeningServer(EndingServer(served_by(self.app()), self.closing), host, port)

    def app(self) -> Starlette:
        """The routes."""
        routes = [
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
            Route("/v1/models", self.models),
            Route("/v1/models/{name:path}", self.models),
        ]
        refused = dict.fromkeys((Refused, HTTPException), self.refusal)
        handlers: Any = {**refused, ClientDisconnect: self.left, Exception: failure}
        app = Starlette(routes=routes, exception_handlers=handlers)
        app.router.redirect_slashes = False
        return app

    async def chat(self, request: Request) -> Response:
        """`POST /v1/chat/completions`."""
        self.check_key(request)
        began = time.monotonic()
        raw = await request.body()
        body, answer = await self._beside_the_loop(request, partial(self._read, raw))
        fault = self._draw(raw)
        self.tally.update(["chat"] if fault is None else ["chat", fault])
        await self._obstruct(fault, request)
        named = sha256(raw).hexdigest()[:24]
        done = await self._beside_the_loop(request, partial(self._completed, body, answer, fault, named))
        await self._pause(self.settings.latency - (time.monotonic() - began), request)
        if not body.stream:
            whole = JSONResponse(done)
            return self._broken(bytes(whole.body), "application/json", fault, request) if fault in OF_BODY else whole
        with_usage = body.stream_options is not None and body.stream_options.include_usage
        chunks = protocol.events(done, with_usage=with_usage)
        if fault in OF_BODY:
            return self._broken(b"".join(chunks), "text/event-stream", fault, request)
        return StreamingResponse(_each(chunks), media_type="text/event-stream")

    async def models(self, request: Request) -> Response:
        """`GET /v1/models`, and `GET /v1/models/{name}`: what answers, whatever name it is asked for by."""
        self.check_key(request)
        own = protocol.model(self.name)
        return JSONResponse(own if "name" in request.path_params else {"object": "list", "data": [own]})

    def check_key(self, request: Request) -> None:
        """Refuse a request without the key, before its body is read; what it brought instead is not shown to anybody."""
        wanted = self.settings.key
        if wanted is None:
            return
        scheme, _, brought = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(brought.encode(), wanted.encode()):
            raise Refused(401, "the bearer token is missing or wrong", None, "invalid_api_key")

    async def refusal(self, _request: Request, error: Exception) -> Response:
        """An error in the shape of the protocol."""
        if isinstance(error, HTTPException):
            error = Refused(error.status_code, f"{error.detail}; accepted: the routes below /v1")
        assert isinstance(error, Refused)
        self.tally["refused"] += 1
        return JSONResponse(error.body(), error.status, headers=error.headers)

    async def left(self, _request: Request, _error: Exception) -> Response:
        """The end of a request whose client did not wait for the answer."""
        self.tally["gone"] += 1
        return Response(status_code=503)

    async def _beside_the_loop(self, request: Request, work: Callable[[Stopped], _Result]) -> _Result:
        """The result of work in a thread, so that it holds up no other request; it is stopped soon after its client has gone.

        Work that has not begun by then never begins. Raises `ClientDisconnect`.
        """
        stopped = threading.Event()
        working = asyncio.ensure_future(to_thread.run_sync(work, stopped.is_set, limiter=self._workers))
        try:
            await self._while_wanted(request, None, working)
            await asyncio.wait([working], timeout=_LAST_WORK)
            if not working.done():
                raise ClientDisconnect
            return await working
        finally:
            stopped.set()
            working.cancel()

    async def _while_wanted(self, request: Request, seconds: float | None, *work: asyncio.Future[Any]) -> bool:
        """Wait for work, or some seconds; less if the server ends, or the client has gone, which it returns."""
        ends, left = asyncio.ensure_future(self.closing.wait()), asyncio.ensure_future(gone(request.receive))
        try:
            await asyncio.wait([ends, left, *work], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return left.done()
        finally:
            ends.cancel()
            left.cancel()

    async def _pause(self, seconds: float, request: Request) -> None:
        if seconds > 0 and await self._while_wanted(request, seconds):
            raise ClientDisconnect

    def _read(self, raw: bytes, stopped: Stopped) -> tuple[ChatBody, AnswerText]:
        """What a body asks for, and who answers it."""
        body = parsed(raw)
        for name in (*self.settings.refuse, *(["parlour"] if self.policy is None else [])):
            if getattr(body, name) is not None:
                raise Refused(400, f"this server does not take {name}", name, "unsupported_parameter")
        if self.policy is None:
            return body, protocol.by_heuristic(question(body, stopped))
        return body, self.policy.answering(body, stopped)

    def _completed(
        self, body: ChatBody, answer: AnswerText, fault: str | None, name: str, stopped: Stopped
    ) -> dict[str, Any]:
        """The completion. It says who made it, whatever name was asked for."""
        print_ = protocol.FINGERPRINT if self.policy is None else self.policy.fingerprint
        made = {"id": f"chatcmpl-{name}", "created": int(time.time()), "model": self.name, "system_fingerprint": print_}
        try:
            return protocol.completion(body, answer, fault, made, stopped)
        except (Refused, AbandonedWork):
            raise
        except Exception as error:
            if self.policy is not None:
                _LOG.error("the policy failed: %s", described(error))
                raise Refused(500, described(error), None, "server_error") from None
            why = f"the inputs of the question do not go together ({described(error)}); accepted: what its player sends"
            raise Refused(400, why, "messages") from None

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
                return StreamingResponse(self._slowly(body), media_type=media_type)
        length = {"Content-Length": str(len(body))} if fault == "reset" else {}
        half = _half(body, request.scope["state"][CONNECTION], reset=fault == "reset")
        return StreamingResponse(half, media_type=media_type, headers=length)

    async def _slowly(self, body: bytes) -> AsyncIterator[bytes]:
        size = -(-len(body) // PIECES)
        for start in range(0, len(body), size):
            yield body[start : start + size]
            with suppress(TimeoutError):
                await asyncio.wait_for(self.closing.wait(), self.settings.hang / PIECES)


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
    server = service.listening_at(LOOPBACK, 0)
    with server.in_thread("parlour serve endpoint"):
        yield f"{server.url}/v1"


async def failure(_request: Request, error: Exception) -> JSONResponse:
    """The reply to a request that an exception ended."""
    _LOG.error("a request failed: %s", described(error))
    return JSONResponse(Refused(500, described(error), None, "server_error").body(), 500)


def described(error: BaseException) -> str:
    """An exception in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


async def gone(receive: Receive) -> None:
    """Return when the client has gone; the body must have been read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _each(events: Iterable[bytes]) -> AsyncIterator[bytes]:
    for event in events:
        yield event


async def _half(body: bytes, connection: ServedConnection, *, reset: bool) -> AsyncIterator[bytes]:
    yield body[: len(body) // 2]
    await asyncio.sleep(_MOMENT)
    connection.end_early(reset=reset)
