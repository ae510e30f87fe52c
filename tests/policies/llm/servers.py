"""Servers that behave as services are documented to, on loopback: what they list, refuse and reply.

Each names its sources. A server replies with JSON that fits the schema of the request; what shall go wrong is queued by
name (`FAULTS` of its class), one name a request.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit

KEY = "sk-planted-7f3a9cQ_unmistakable"


class Call(NamedTuple):
    """A request, as a server sees it."""

    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any
    """None for GET."""


class Answer(NamedTuple):
    """What a server answers."""

    body: Any = None
    """JSON unless it is a text or bytes."""
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed
    hang: bool = False
    hang_up: bool = False
    """No answer at all."""
    missing: int = 0
    """Bytes that are promised but not sent."""
    trickle: float = 0.0
    """Seconds between the bytes."""


def fitting(schema: dict[str, Any], whole: dict[str, Any] | None = None) -> Any:
    """A value that fits a JSON schema: the first of what is allowed."""
    whole = whole or schema
    if "$ref" in schema:
        return fitting(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return fitting(schema[choice][0], whole)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "object":
            return {name: fitting(field, whole) for name, field in schema.get("properties", {}).items()}
        case "array":
            return [fitting(schema["items"], whole) for _ in range(schema.get("minItems", 0))]
        case "boolean":
            return True
        case "integer" | "number":
            return schema.get("minimum", 0)
        case _:
            return "w"


class Server:
    """What they share: the protocol of OpenAI, and a thread. A context manager."""

    PROTOCOL: ClassVar[str] = "HTTP/1.1"
    PREFIX: ClassVar[str] = "/v1"
    MODEL: ClassVar[str] = "tester"
    FAULTS: ClassVar[dict[str, Answer]] = {}

    def __init__(self) -> None:
        self.queue: deque[str] = deque()
        self.calls: list[Call] = []
        self.lock, self.closing = threading.Lock(), threading.Event()
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    @property
    def base_url(self) -> str:
        return self.root + self.PREFIX

    def answer(self, call: Call) -> Answer:
        """What the server answers to a request."""
        if call.path == f"{self.PREFIX}/models":
            return Answer({"object": "list", "data": self.models()})
        if call.path == f"{self.PREFIX}/chat/completions" and call.body is not None:
            return self.refused(call) or self.completion(call)
        return Answer({"error": {"message": "Not Found", "code": 404}}, 404)

    def models(self) -> list[dict[str, Any]]:
        return [{"id": self.MODEL, "object": "model", "created": 1735142223, "owned_by": "system"}]

    def refused(self, call: Call) -> Answer | None:
        """The fault that is queued, or another reason to refuse."""
        with self.lock:
            name = self.queue.popleft() if self.queue else None
        return None if name is None else self.FAULTS[name]

    def completion(self, call: Call) -> Answer:
        form = call.body.get("response_format")
        text = json.dumps(fitting(form["json_schema"]["schema"])) if form else "{}"
        return Answer(self.completed({"role": "assistant", "content": text}))

    def completed(self, message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
        choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": self.MODEL, "choices": [choice]}
        return body | {"usage": usage | more.pop("usage", {})} | more

    @property
    def asked(self) -> list[Call]:
        """Requests for completions."""
        return [call for call in self.calls if call.path.endswith("/chat/completions")]

    def _handler(server) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            protocol_version = server.PROTOCOL
            disable_nagle_algorithm = True  # head and body are two writes: the second one would wait for the client

            def do_GET(self) -> None:
                self.respond(None)

            def do_POST(self) -> None:
                self.respond(json.loads(self.rfile.read(int(self.headers["content-length"]))))

            def respond(self, body: Any) -> None:
                address = urlsplit(self.path)
                headers = {k.lower(): v for k, v in self.headers.items()}
                call = Call(address.path, parse_qs(address.query), headers, body)
                with server.lock:
                    server.calls.append(call)
                answer = server.answer(call)
                if answer.hang:
                    server.closing.wait(60)
                if answer.hang or answer.hang_up:
                    self.close_connection = True
                    return
                body = answer.body if isinstance(answer.body, str | bytes) else json.dumps(answer.body)
                content = body.encode() if isinstance(body, str) else body
                with suppress(ConnectionError):
                    self.send_response(answer.status)
                    for name, value in {"content-type": "application/json", **answer.headers}.items():
                        self.send_header(name, value)
                    self.send_header("content-length", str(len(content) + answer.missing))
                    self.end_headers()
                    step = 1 if answer.trickle else max(1, len(content))
                    for start in range(0, len(content), step):
                        self.wfile.write(content[start : start + step])
                        if answer.trickle and server.closing.wait(answer.trickle):
                            return

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _error(status: int, message: str, code: Any = None, kind: str = "invalid_request_error", **more: Any) -> Answer:
    headers = more.pop("headers", {})
    return Answer({"error": {"message": message, "type": kind, "param": None, "code": code, **more}}, status, headers)


class OpenAI(Server):
    """https://platform.openai.com/docs/guides/error-codes, /docs/guides/reasoning, /docs/guides/prompt-caching."""

    FAULTS: ClassVar = {
        "quota": _error(429, "You exceeded your current quota, please check your plan and billing details.",
                        "insufficient_quota", "insufficient_quota"),
        "context": _error(400, "This model's maximum context length is 8192 tokens. However, your messages resulted in "
                          "9001 tokens. Please reduce the length of the messages.", "context_length_exceeded",
                          param="messages"),
        "filter": _error(400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
                         "invalid_prompt"),
        "server": _error(500, "The server had an error while processing your request.", None, "server_error",
                         headers={"retry-after-ms": "1"}),
    }  # fmt: skip

    def refused(self, call: Call) -> Answer | None:
        if call.headers.get("authorization") != f"Bearer {KEY}":
            return _error(401, "Incorrect API key provided.", "invalid_api_key")
        if call.body["model"] != self.MODEL:
            return _error(404, f"The model `{call.body['model']}` does not exist or you do not have access to it.",
                          "model_not_found")  # fmt: skip
        return super().refused(call)

    def completed(self, message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
        details = {"prompt_tokens_details": {"cached_tokens": 64}, "completion_tokens_details": {"reasoning_tokens": 7}}
        return super().completed(message, finish, usage=details, **more)


class Azure(Server):
    """Azure OpenAI. https://learn.microsoft.com/azure/ai-foundry/openai/reference, and .../concepts/content-filter."""

    PREFIX: ClassVar = "/openai/deployments/mine"
    FAULTS: ClassVar = {
        "filter": _error(
            400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. "
            "Please modify your prompt and retry.", "content_filter", None, param="prompt",
            innererror={"code": "ResponsibleAIPolicyViolation", "content_filter_result": {
                "violence": {"filtered": True, "severity": "medium"}}},
        ),
    }  # fmt: skip

    @property
    def base_url(self) -> str:
        return f"{super().base_url}?api-version=2024-10-21"

    def answer(self, call: Call) -> Answer:
        if call.query.get("api-version") != ["2024-10-21"] or call.path == f"{self.PREFIX}/models":
            return _error(404, "Resource not found", "404")
        if call.headers.get("api-key") != KEY or "authorization" in call.headers:
            return _error(401, "Access denied due to invalid subscription key or wrong API endpoint.", "401")
        if not call.path.startswith(self.PREFIX):
            return _error(404, "The API deployment for this resource does not exist.", "DeploymentNotFound")
        return super().answer(call)


class OpenRouter(Server):
    """https://openrouter.ai/docs/api/reference/errors-and-debugging, /docs/api-reference/list-available-models."""

    PREFIX: ClassVar = "/api/v1"
    MODEL: ClassVar = "maker/tester"
    FAULTS: ClassVar = {
        "quota": Answer({"error": {"code": 402, "message": "Insufficient credits. Add more using the site."}}, 402),
        "filter": Answer({"error": {"code": 403, "message": "Your input was rejected", "metadata": {
            "reasons": ["violence"], "flagged_input": "...", "provider_name": "P"}}}, 403),
        "model": Answer({"error": {"code": 400, "message": "tester is not a valid model ID"}}, 400),
        "late": Answer({"error": {"code": 502, "message": "Provider returned error", "metadata": {
            "provider_name": "P", "raw": "overloaded"}}}),
        "context": Answer({"error": {"code": 400, "message": (
            "This endpoint's maximum context length is 8192 tokens. However, you requested about 12000 tokens (10000 of "
            "text input, 2000 in the output). Please reduce the length of either one.")}}, 400),
    }  # fmt: skip

    def models(self) -> list[dict[str, Any]]:
        top = {"context_length": 8192, "max_completion_tokens": 4096, "is_moderated": False}
        return [{"id": self.MODEL, "canonical_slug": "maker/tester-01", "context_length": 8192, "top_provider": top}]

    def completed(self, message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
        message = {"refusal": None, "reasoning": "let me think", **message}
        return super().completed(message, finish, usage={"prompt_tokens_details": {"cached_tokens": 80}}, **more)


class Groq(Server):
    """https://console.groq.com/docs/errors, /docs/reasoning, /docs/structured-outputs, /docs/api-reference#models."""

    PREFIX: ClassVar = "/openai/v1"
    FAULTS: ClassVar = {
        "validate": _error(400, "Failed to validate JSON. Please adjust your prompt. See 'failed_generation' for more "
                           "details.", "json_validate_failed", failed_generation='{"guilty": tru'),
        "cut": _error(400, "Failed to validate JSON: max completion tokens reached before generating a valid document.",
                      "json_validate_failed", failed_generation=""),
        "size": _error(413, "Request too large for model `tester` in organization `o` on tokens per minute (TPM): Limit "
                       "6000, Requested 7012, please reduce your message size and try again.", "rate_limit_exceeded",
                       "tokens"),
        "gone": _error(400, "The model `tester` has been decommissioned and is no longer supported.",
                       "model_decommissioned"),
        "rate": _error(429, "Rate limit reached for model `tester` on tokens per minute (TPM). Please try again in 1s.",
                       "rate_limit_exceeded", "tokens", headers={"retry-after": "0.02"}),
    }  # fmt: skip

    def models(self) -> list[dict[str, Any]]:
        return [{"id": self.MODEL, "object": "model", "owned_by": "Groq", "active": True, "context_window": 131072}]


class VLLM(Server):
    """https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html; errors: vllm-project/vllm issues 4667, 20409."""

    FAULTS: ClassVar = {
        "context": _error(400, "This model's maximum context length is 4096 tokens. However, you requested 4500 tokens "
                          "(4400 in the messages, 100 in the completion). Please reduce the length of the messages or "
                          "completion.", 400, "BadRequestError"),
        "input": Answer({"object": "error", "message": "This model's maximum context length is 4096 tokens. However, "
                         "your request has 4400 input tokens. Please reduce the length of the input messages.",
                         "type": "BadRequestError", "param": None, "code": 400}, 400),
        "room": _error(400, "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context "
                       "length is 4096 tokens and your request has 500 input tokens", 400, "BadRequestError"),
        "model": _error(404, "The model `tester` does not exist.", 404, "NotFoundError"),
    }  # fmt: skip

    template = ""
    """What the model's chat template refuses: `system`, `repeated`, or nothing."""

    def models(self) -> list[dict[str, Any]]:
        made = len(self.calls)  # times and permissions are new at each request
        permission = [{"id": f"modelperm-{made}", "created": made}]
        entry = {"id": self.MODEL, "created": made, "owned_by": "vllm", "root": "/models/m", "max_model_len": 4096}
        return [entry | {"permission": permission}]

    def refused(self, call: Call) -> Answer | None:
        roles = [message["role"] for message in call.body["messages"]]
        if "system" in self.template and roles[0] == "system":
            return _error(400, "System role not supported", 400, "BadRequestError")
        turns = roles[1:] if roles[0] == "system" else roles
        if "repeated" in self.template and turns != (["user", "assistant"] * len(turns))[: len(turns)]:
            return _error(400, "Conversation roles must alternate user/assistant/user/assistant/...", 400,
                          "BadRequestError")  # fmt: skip
        return super().refused(call)

    def completed(self, message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
        return super().completed({"reasoning_content": "hm", "tool_calls": [], **message}, finish, **more)


class Ollama(Server):
    """https://docs.ollama.com/api/openai-compatibility, /api/ps, /api/tags, /context-length; ollama/ollama openai/openai.go."""

    digest = "a2af6cc3"
    loaded: int | None = None
    num_ctx: int | None = None

    def models(self) -> list[dict[str, Any]]:
        return [{"id": f"{self.MODEL}:latest", "object": "model", "created": 1, "owned_by": "library"}]

    def answer(self, call: Call) -> Answer:
        name = f"{self.MODEL}:latest"
        match call.path:
            case "/api/tags":
                return Answer({"models": [{"name": name, "model": name, "digest": self.digest}]})
            case "/api/ps":
                running = {"name": name, "model": name, "digest": self.digest, "context_length": self.loaded}
                return Answer({"models": [running] if self.loaded else []})
            case "/api/show":
                chosen = f"num_ctx                        {self.num_ctx}\n" if self.num_ctx else ""
                info = {"general.architecture": "llama", "llama.context_length": 131072}
                return Answer({"parameters": f'{chosen}stop "<end>"', "model_info": info, "template": "{{ .Prompt }}"})
        return super().answer(call)

    def refused(self, call: Call) -> Answer | None:
        if call.body["model"] != self.MODEL:
            return _error(404, f"model '{call.body['model']}' not found", None, "not_found_error")
        return super().refused(call)

    def completed(self, message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
        return super().completed({"reasoning": "hm", **message}, finish, system_fingerprint="fp_ollama", **more)


class LlamaCpp(Server):
    """https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md; errors: ggml-org/llama.cpp pull 15780."""

    FAULTS: ClassVar = {
        "context": Answer({"error": {"code": 400, "message": "request (1336 tokens) exceeds the available context size "
                           "(1280 tokens), try increasing it", "type": "exceed_context_size_error",
                           "n_prompt_tokens": 1336, "n_ctx": 1280}}, 400),
        "loading": Answer({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, 503),
        "system": Answer({"error": {"code": 500, "message": (
            "\n------------\nWhile executing CallExpression at line 1, column 66 in source:\n...messages[0]['role'] == "
            "'system' %}{{ raise_exception('System role not supported') }}{% endif %}...{{ raise_exception('Conversation "
            "roles must alternate user/assistant/user/assistant/...') }}\nError: Jinja Exception: System role not "
            "supported"), "type": "server_error"}}, 500),
        "grammar": Answer({"error": {"code": 400, "message": "Failed to initialize samplers: failed to parse grammar",
                           "type": "invalid_request_error"}}, 400),
    }  # fmt: skip

    file, n_ctx = "/models/a.gguf", 8192

    def models(self) -> list[dict[str, Any]]:
        meta = {"vocab_type": 2, "n_vocab": 512, "n_ctx_train": 131072, "n_embd": 64, "n_params": 1000, "size": 4000}
        return [{"id": self.file, "object": "model", "created": len(self.calls), "owned_by": "llamacpp", "meta": meta}]

    def answer(self, call: Call) -> Answer:
        if call.path == "/props":
            slot = {"id": 0, "n_ctx": self.n_ctx, "params": {"seed": 4294967295}}
            props = {"default_generation_settings": slot, "total_slots": 1, "model_path": self.file}
            return Answer({**props, "chat_template": "{{ messages }}", "build_info": f"b{len(self.calls)}"})
        return super().answer(call)

    def completed(self, message: dict[str, Any], finish: str = "stop", **more: Any) -> dict[str, Any]:
        timings = {"cache_n": 90, "prompt_n": 10, "predicted_n": 20}
        return super().completed({"reasoning_content": "hm", **message}, finish, timings=timings, **more)


ALL: tuple[Callable[[], Server], ...] = (OpenAI, Azure, OpenRouter, Groq, VLLM, Ollama, LlamaCpp)
