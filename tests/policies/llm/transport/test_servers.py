"""A model at each of the known services (`servers`): a game over each, how their errors are sorted, what they tell."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest
from parlour.policies import make_policy
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.transport.address import read_address
from parlour.policies.llm.transport.endpoint import Endpoint
from parlour.policies.llm.transport.request import (
    CallFailed,
    ChatMessage,
    ModelUnavailable,
    PromptTooLong,
    Request,
)
from parlour.training.play import rollout

from tests.policies.llm import servers

pytestmark = pytest.mark.usefixtures("key")

REQUEST = Request(
    model="tester",
    messages=(ChatMessage("system", "s"), ChatMessage("user", "u")),
    temperature=0.3,
    max_tokens=40,
    schema={"type": "object", "properties": {"guilty": {"type": "boolean"}}},
    schema_name="Verdict",
)


@contextmanager
def endpoint_of(server, **options):
    settings = {"timeout": 5.0, "max_retries": 2, **options}
    endpoint = Endpoint(ModelConfig(model="tester", base_url=server.base_url, **settings))
    yield endpoint
    endpoint.close()


def request_to(server) -> Request:
    return replace(REQUEST, model=server.MODEL)


# -- whole games -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("service", servers.ALL, ids=lambda service: service.__name__)
def test_a_game_is_played_over_each_service(service):
    with service() as server:
        model = make_model(ModelConfig(model=server.MODEL, base_url=server.base_url, max_retries=1))
        table = rollout.table("avalon_v0", num_players=5, rules="official", talk=False)
        rollout.play(table, [make_policy("chat", "avalon_v0", {}, model) for _ in range(5)], 3)
        total = model.meter.taken.total
    assert total.asked == total.first == total.requests == len(server.asked) > 20
    assert total.failed == 0
    assert model.meter.taken.total.dropped == ()
    assert not any("parlour_inputs" in call.body for call in server.asked)  # most services refuse unknown fields


# -- what comes back -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service", "thinking", "cached"),
    [
        (servers.OpenAI, "", 64),
        (servers.OpenRouter, "let me think", 80),
        (servers.VLLM, "hm", 0),
        (servers.Ollama, "hm", 0),
        (servers.LlamaCpp, "hm", 90),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_thinking_and_tokens_from_the_server_s_cache_are_read(service, thinking, cached):
    with service() as server, endpoint_of(server) as endpoint:
        reply = endpoint.complete(request_to(server))
    assert (reply.texts, reply.thinking) == (('{"guilty": true}',), (thinking,))
    assert (reply.usage, reply.finish, reply.served) == ((100, 20, cached), ("stop",), server.MODEL)


def test_tokens_from_the_server_s_cache_are_read_as_anthropic_calls_them(monkeypatch):
    with servers.Groq() as server, endpoint_of(server) as endpoint:
        body = server.completed({"content": "a"}, usage={"cache_read_input_tokens": 60})
        monkeypatch.setattr(server, "completion", lambda call: servers.Answer(body))
        assert endpoint.complete(REQUEST).usage == (100, 20, 60)


MESSAGES = {
    "parts": ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "stop", "ab", ""),
    "thinking in parts": (
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "a"},
            ]
        },
        "stop",
        "a",
        "hm",
    ),
    "a refusal": ({"content": None, "refusal": "I cannot."}, "stop", "I cannot.", ""),
    "a refusal in parts": ({"content": [{"type": "refusal", "refusal": "I cannot."}]}, "stop", "I cannot.", ""),
    "a tool call": (
        {"content": None, "tool_calls": [{"type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]},
        "tool_calls",
        '{"a": 1}',
        "",
    ),
    "a tool call beside content": (
        {"content": "a", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        "tool_calls",
        "a",
        "",
    ),
    "an old function call": ({"content": "", "function_call": {"name": "f", "arguments": "{}"}}, "stop", "{}", ""),
    "nothing": ({"content": ""}, "stop", "", ""),
    "thinking that used up the budget": ({"content": "", "reasoning_content": "hm, hm"}, "length", "", "hm, hm"),
    "a filtered reply": ({"content": None}, "content_filter", "", ""),
    "another service's word": ({"content": "a"}, "end_turn", "a", ""),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_content_is_read_as_what_it_is(name, monkeypatch):
    message, finish, text, thinking = MESSAGES[name]
    with servers.Groq() as server, endpoint_of(server) as endpoint:
        monkeypatch.setattr(server, "completion", lambda call: servers.Answer(server.completed(message, finish)))
        reply = endpoint.complete(REQUEST)
    assert (reply.texts, reply.thinking) == ((text,), (thinking,))
    assert reply.finish == ({"end_turn": "stop"}.get(finish, finish),)


@pytest.mark.parametrize(("fault", "text", "finish"), [("validate", '{"guilty": tru', "stop"), ("cut", "", "length")])
def test_what_groq_keeps_back_because_it_fits_no_schema_is_a_reply(fault, text, finish):
    with servers.Groq() as server, endpoint_of(server) as endpoint:
        server.queue += [fault] * (4 if finish == "length" else 1)  # one that says nothing gets more room first
        reply = endpoint.complete(REQUEST)
        assert (reply.texts, reply.finish, reply.dropped) == ((text,), (finish,), ("usage",))
        assert endpoint.complete(REQUEST).dropped == ()


# -- failures --------------------------------------------------------------------------------------------------------

ENDS_A_RUN = [
    (servers.OpenAI, "another key", "status 401"),
    (servers.Azure, "another key", "status 401"),
    (servers.OpenAI, "another model", "status 404: .*other"),
    (servers.Ollama, "another model", "status 404: .*other"),
    (servers.OpenAI, "quota", "exceeded your current quota"),
    (servers.OpenRouter, "quota", "status 402: Insufficient credits"),
    (servers.OpenRouter, "model", "is not a valid model ID"),
    (servers.Groq, "gone", "has been decommissioned"),
    (servers.VLLM, "model", "does not exist"),
]
COSTS_A_CALL = [
    (servers.OpenAI, "filter", "content_filter", 1),
    (servers.OpenAI, "server", "server", 3),
    (servers.Azure, "filter", "content_filter", 1),
    (servers.OpenRouter, "filter", "content_filter", 1),
    (servers.OpenRouter, "late", "server", 3),
    (servers.Groq, "rate", "server", 3),
    (servers.LlamaCpp, "loading", "server", 3),
]


def named(value):
    return getattr(value, "__name__", str(value)[:20])


@pytest.mark.parametrize(("service", "fault", "message"), ENDS_A_RUN, ids=named)
def test_what_no_call_will_fare_better_with_ends_a_run_at_once_in_one_line(service, fault, message, monkeypatch):
    if fault == "another key":
        monkeypatch.setenv("OPENAI_API_KEY", "sk-another-one")
    with service() as server, endpoint_of(server) as endpoint:
        if not fault.startswith("another"):
            server.queue.append(fault)
        model = "other" if fault == "another model" else server.MODEL
        with pytest.raises(ModelUnavailable, match=f"after 1 attempt: .*{message}") as caught:
            endpoint.complete(replace(REQUEST, model=model))
    assert not isinstance(caught.value, CallFailed)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(("service", "fault", "reason", "attempts"), COSTS_A_CALL, ids=named)
def test_other_failures_cost_one_call(service, fault, reason, attempts):
    with service() as server, endpoint_of(server) as endpoint:
        server.queue += [fault] * attempts
        with pytest.raises(CallFailed) as caught:
            endpoint.complete(request_to(server))
        assert (caught.value.reason, caught.value.retries, len(server.asked)) == (reason, attempts - 1, attempts)
        assert endpoint.complete(request_to(server)).texts


LENGTHS = [
    (servers.OpenAI, "context", 9001, 8192),
    (servers.OpenRouter, "context", 12000, 8192),
    (servers.Groq, "size", 7012, 6000),
    (servers.VLLM, "context", 4500, 4096),
    (servers.VLLM, "input", 4400, 4096),
    (servers.VLLM, "room", 500, 4096),
    (servers.LlamaCpp, "context", 1336, 1280),
]


@pytest.mark.parametrize(("service", "fault", "tokens", "limit"), LENGTHS, ids=named)
def test_a_prompt_that_is_too_long_says_by_how_much(service, fault, tokens, limit):
    with service() as server, endpoint_of(server) as endpoint:
        server.queue.append(fault)
        with pytest.raises(PromptTooLong) as caught:
            endpoint.complete(request_to(server))
        assert len(server.asked) == 1
    assert (caught.value.reason, caught.value.tokens, caught.value.limit) == ("context", tokens, limit)


def test_a_server_that_was_never_there_ends_a_run_and_one_that_went_away_costs_calls():
    with servers.OpenAI() as server, endpoint_of(server, max_retries=0, patience=3) as endpoint:
        endpoint.complete(REQUEST)
    for _ in range(2):
        with pytest.raises(CallFailed, match="no connection") as caught:
            endpoint.complete(REQUEST)
        assert caught.value.reason == "server"
    with pytest.raises(ModelUnavailable, match=r"no connection.*; so ended 3 calls in a row$") as last:
        endpoint.complete(REQUEST)
    assert not isinstance(last.value, CallFailed)
    with endpoint_of(server, max_retries=0) as never, pytest.raises(ModelUnavailable) as first:
        never.complete(REQUEST)
    assert not isinstance(first.value, CallFailed)


# -- rate limits -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", [{"retry-after": "1"}, {"retry-after-ms": "1000"}], ids=["seconds", "milliseconds"])
def test_a_call_waits_as_long_as_it_is_told(headers, monkeypatch):
    monkeypatch.setitem(servers.OpenAI.FAULTS, "wait", servers._error(429, "slow down", headers=headers))
    with servers.OpenAI() as server, endpoint_of(server, max_retries=1) as endpoint:
        server.queue.append("wait")
        assert endpoint.complete(REQUEST).seconds >= 1.0
        assert endpoint.complete(REQUEST).seconds < 1.0, "the wait is over"


# -- parameters ------------------------------------------------------------------------------------------------------


def test_further_parameters_are_dropped_by_name():
    wanted = replace(REQUEST, extra_body={"top_k": 5, "min_p": 0.1}, stop=("x",), reasoning_effort="low")
    with servers.Groq() as server, endpoint_of(server) as endpoint:
        for name in ("top_k", "reasoning_effort", "stop"):
            refusal = servers._error(400, f"property '{name}' is unsupported")
            server.FAULTS = {**server.FAULTS, name: refusal}
            server.queue.append(name)
        assert endpoint.complete(wanted).dropped == ("reasoning_effort", "stop", "top_k")
    body = server.asked[-1].body
    assert body["min_p"] == 0.1
    assert not {"top_k", "reasoning_effort", "stop"} & set(body)


TALK = (
    ChatMessage("system", "general"),
    ChatMessage("user", "question"),
    ChatMessage("assistant", "reply"),
    ChatMessage("user", "fault"),
    ChatMessage("user", "again"),
)


@pytest.mark.parametrize(
    ("template", "roles", "dropped"),
    [
        ("", ["system", "user", "assistant", "user", "user"], ()),
        ("system", ["user", "assistant", "user", "user"], ("system role",)),
        ("repeated", ["system", "user", "assistant", "user"], ("repeated roles",)),
        ("system repeated", ["user", "assistant", "user"], ("repeated roles", "system role")),
    ],
)
def test_what_the_model_s_template_refuses_is_put_in_another_form(template, roles, dropped):
    with servers.VLLM() as server, endpoint_of(server) as endpoint:
        server.template = template
        reply = endpoint.complete(replace(REQUEST, messages=TALK))
        asked = len(server.asked)
        endpoint.complete(replace(REQUEST, messages=TALK))
    assert len(server.asked) == asked + 1, "from then on"
    sent = server.asked[-1].body["messages"]
    assert ([message["role"] for message in sent], reply.dropped) == (roles, dropped)
    assert sent[0]["content"] == ("general\n\nquestion" if "system" in template else "general")
    assert sent[-1]["content"] == ("fault\n\nagain" if "repeated" in template else "again")


def test_the_source_of_a_template_in_an_error_is_not_taken_for_the_error():
    """llama.cpp shows the template, which holds the words of all that it could have raised."""
    with servers.LlamaCpp() as server, endpoint_of(server) as endpoint:
        server.queue.append("system")
        assert endpoint.complete(REQUEST).dropped == ("system role",)


# -- what servers tell -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("service", "context"),
    [
        (servers.OpenAI, None),
        (servers.Azure, None),
        (servers.OpenRouter, 8192),
        (servers.Groq, 131072),
        (servers.VLLM, 4096),
        (servers.Ollama, 4096),
        (servers.LlamaCpp, 8192),
    ],
    ids=named,
)
def test_where_the_context_is_told(service, context):
    with service() as server, endpoint_of(server) as endpoint:
        served = endpoint.served_model(server.MODEL)
        assert (served.context, served.reached) == (context, True)
        asked = len(server.calls)
        endpoint.served_model(server.MODEL)
        assert len(server.calls) == asked, "asked once"


def test_ollama_tells_the_context_of_a_loaded_model_or_of_its_file():
    with servers.Ollama() as server:
        server.num_ctx = 8192
        with endpoint_of(server) as endpoint:
            assert endpoint.served_model("tester").context == 8192
        server.loaded = 32768
        with endpoint_of(server) as endpoint:
            assert endpoint.served_model("tester").context == 32768


@pytest.mark.parametrize("service", [servers.VLLM, servers.LlamaCpp, servers.Ollama, servers.OpenRouter], ids=named)
def test_the_same_model_is_the_same_at_each_start_and_another_one_is_not(service):
    def digest() -> str:
        with endpoint_of(server) as endpoint:
            return endpoint.served_model(server.MODEL).digest

    with service() as server:
        first = digest()
        assert first
        assert digest() == first
        server.file, server.digest = "/models/b.gguf", "b3af6cc3"
        changes = service in (servers.LlamaCpp, servers.Ollama)
        assert (digest() != first) == changes


# -- addresses -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "base", "query"),
    [
        ("http://LocalHost:8000/v1/", "http://localhost:8000/v1", {}),
        ("https://a.example:443/v1", "https://a.example/v1", {}),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1", {}),
        (
            "https://me.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
            "https://me.openai.azure.com/openai/deployments/d",
            {"api-version": "2024-10-21"},
        ),
        (None, "https://api.openai.com/v1", {}),
    ],
)
def test_an_address_without_its_secrets(given, base, query):
    address = read_address(given)
    assert (address.base, address.query) == (base, query)
    assert address.azure == bool(query)
