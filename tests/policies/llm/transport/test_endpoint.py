"""The endpoint against a server that misbehaves: retries, deadlines, refused parameters, and a key that stays secret."""

from __future__ import annotations

import gzip
import json
import logging
import os
import pickle
import socket
import subprocess
import sys
import time
import traceback
from dataclasses import replace

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.transport.endpoint import Endpoint
from parlour.policies.llm.transport.request import CallFailed, ChatMessage, ModelUnavailable, Request

REQUEST = Request(
    model="tester",
    messages=(ChatMessage("system", "s"), ChatMessage("user", "u")),
    temperature=0.3,
    max_tokens=40,
    sample=7,
    schema={"type": "object"},
    schema_name="Verdict",
)


def endpoint_to(base_url, remembered=None, **settings):
    return Endpoint(ModelConfig(model="tester", base_url=base_url, **settings), remembered)


@pytest.fixture
def endpoint(double):
    made = endpoint_to(double.url, timeout=5, max_retries=2)
    yield made
    made.close()


# -- what is sent and read -------------------------------------------------------------------------------------------


def test_a_request_goes_out_as_the_protocol_has_it_and_the_reply_comes_back(double, endpoint):
    double.say("hello", usage=(11, 3))
    reply = endpoint.complete(REQUEST)
    assert double.history == [
        {
            "model": "tester",
            "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
            "temperature": 0.3,
            "max_tokens": 40,
            "seed": 7,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "Verdict", "schema": {"type": "object"}, "strict": True},
            },
        }
    ]
    assert double.calls[0].headers["authorization"] == f"Bearer {double.KEY}"
    assert (reply.texts, reply.usage, reply.finish) == (("hello",), (11, 3, 0), ("stop",))
    assert (reply.thinking, reply.served) == (("",), "m")
    assert (reply.cached, reply.retries, reply.dropped) == (False, 0, ())
    assert 0 < reply.seconds < 5


@pytest.mark.parametrize("status", [200, 401])
def test_compressed_answers_are_unpacked(double, endpoint, status):
    """The body is read before the SDK sees it; what is made of it must not be unpacked twice, or never."""
    body = double.completion("a text") if status == 200 else {"error": {"message": "a text"}}
    packed = gzip.compress(json.dumps(body).encode())
    double.queue.append(double.Said(packed, status, {"content-encoding": "gzip"}))
    if status == 200:
        assert endpoint.complete(REQUEST).texts == ("a text",)
    else:
        with pytest.raises(ModelUnavailable, match=r"status 401: a text$"):
            endpoint.complete(REQUEST)


def test_log_probabilities_are_asked_for_where_they_are_wanted_and_read(double, endpoint):
    body = double.completion("ab")
    tokens = [{"token": "a", "logprob": -0.1, "top_logprobs": []}, {"token": "b", "logprob": -2}]
    body["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    double.queue.append(double.Said(body))
    assert endpoint.complete(replace(REQUEST, logprobs=True)).logprobs == ((("a", -0.1), ("b", -2.0)),)
    double.say("ab")
    assert endpoint.complete(REQUEST).logprobs == ()
    assert [sent.get("logprobs") for sent in double.history] == [True, None]


# -- retries ---------------------------------------------------------------------------------------------------------

FAULTS = {
    "429": {"body": {"error": {"message": "slow down"}}, "status": 429, "headers": {"retry-after-ms": "1"}},
    "500": {"body": "oops", "status": 500, "headers": {"retry-after-ms": "1"}},
    "hang up": {"hang_up": True},
    "cut off": {"body": '{"choices": [', "missing": 100},
    "no JSON": {"body": "<html>gateway</html>"},
    "half a JSON": {"body": '{"choices": [{"mess'},
    "no completion": {"body": {"choices": []}},
    "an error with status 200": {"body": {"error": {"message": "overloaded"}}},
    "no list": {"body": [1, 2]},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_is_tried_again_and_counted(double, endpoint, fault):
    double.queue.append(double.Said(**fault))
    double.say("fine")
    reply = endpoint.complete(REQUEST)
    assert reply.texts == ("fine",)
    assert reply.retries == 1
    assert len(double.history) == 2


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_fault_that_stays_ends_in_one_line(double, endpoint, fault):
    double.otherwise = lambda body: double.Said(**fault)
    with pytest.raises(
        ModelUnavailable, match=r"^no answer of 'tester' at 127\.0\.0\.1:\d+ after 3 attempts: "
    ) as caught:
        endpoint.complete(REQUEST)
    assert len(double.history) == 3
    assert caught.value.retries == 2
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 320
    assert caught.value.__context__ is None


# -- no server -------------------------------------------------------------------------------------------------------


@pytest.fixture
def closed_port():
    """The address of a port at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


def seconds_until_told(caplog, started):
    return caplog.records[0].created - started


def test_without_a_server_the_first_line_comes_within_five_seconds_and_every_retry_is_shown(closed_port, caplog):
    made, started = endpoint_to(closed_port, max_retries=2), time.time()
    with pytest.raises(ModelUnavailable, match="after 3 attempts: no connection"):
        made.complete(REQUEST)
    host = closed_port.removeprefix("http://").removesuffix("/v1")
    why = f"no answer from {host} (no connection, or it broke off)"
    assert [record.getMessage() for record in caplog.records] == [
        f"{why}: retry 1 of 2",
        f"{why}: retry 2 of 2",
    ]
    assert seconds_until_told(caplog, started) < 5


def test_an_unreadable_answer_after_other_faults_is_asked_for_again(double):
    double.queue += [*[double.Said("busy", 500, double.SOON)] * 2, double.Said('{"choices": [')]
    double.say("yes")
    made = endpoint_to(double.url, max_retries=6)
    assert made.complete(REQUEST).texts == ("yes",)
    double.otherwise = lambda body: double.Said('{"choices": [')
    with pytest.raises(CallFailed, match="after 3 attempts: the answer is not JSON"):
        made.complete(REQUEST)


# -- the deadline ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 400], ids=["a completion", "an error"])
def test_a_body_that_trickles_in_is_bounded_by_the_timeout(double, status):
    """Each byte comes well within the time that HTTP clients allow a byte; the whole would take a minute."""
    made = endpoint_to(double.url, timeout=0.5, max_retries=1)
    double.otherwise = lambda body: double.Said(double.completion("x" * 600), status, trickle=0.1)
    started = time.monotonic()
    with pytest.raises(ModelUnavailable, match=r"after 2 attempts: no complete answer within 0\.5 seconds$"):
        made.complete(REQUEST)
    assert 1.0 <= time.monotonic() - started < 3
    made.close()


# -- parameters that servers do not take -----------------------------------------------------------------------------

REFUSALS = {
    "by the field for it": ("no", "response_format", "response_format"),
    "by a part of it": ("no", "response_format.json_schema", "response_format"),
    "by message": ("'response_format' of type 'json_schema' is not supported", None, "response_format"),
    "schema by message": ("json_schema output is not available here", None, "response_format"),
    "seed": ("Unsupported parameter: 'seed'", "seed", "seed"),
    "temperature": ("temperature does not support 0.3 with this model", None, "temperature"),
    "n": ("parameter 'n' must be 1", None, "n"),
    "logprobs": ("logprobs is not supported", None, "logprobs"),
}
FULL = replace(REQUEST, n=2, logprobs=True)


@pytest.mark.parametrize(("message", "param", "name"), REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize("status", [400, 404, 422])
def test_a_parameter_that_is_refused_is_dropped_for_good_and_told(
    double, endpoint, caplog, message, param, name, status
):
    double.queue.append(double.refusal(message, param, status))
    with caplog.at_level(logging.WARNING, "parlour.policies.llm.transport.endpoint"):
        replies = [endpoint.complete(FULL) for _ in range(2)]
    assert [reply.dropped for reply in replies] == [(name,)] * 2
    assert [name in sent for sent in double.history] == [True, False, False]
    assert len(set(double.history[0]) - set(double.history[1])) == 1
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert repr(name) in caplog.text


def test_max_tokens_gets_its_newer_name_before_it_is_dropped(double, endpoint):
    double.queue.append(
        double.refusal("'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens")
    )
    assert endpoint.complete(REQUEST).dropped == ()
    assert "max_tokens" not in double.history[1]
    assert double.history[1]["max_completion_tokens"] == 40
    double.queue.append(double.refusal("unknown: max_completion_tokens"))
    assert endpoint.complete(REQUEST).dropped == ("max_tokens",)
    assert not {"max_tokens", "max_completion_tokens"} & set(double.history[-1])


@pytest.mark.parametrize(
    ("message", "param", "calls"),
    [
        ("max_tokens is too large: 800", "max_tokens", 2),
        ("maximum context length is 4096 tokens; max_tokens is 800", None, 1),
        ("bad messages; not the seed", "messages", 2),
        ("the request is bad", None, 2),
        ("model tester-seed is down", None, 2),
    ],
)
def test_other_refusals_drop_nothing_but_a_call_is_made_once_without_its_schema(
    double, endpoint, message, param, calls
):
    double.otherwise = lambda body: double.refusal(message, param)
    with pytest.raises(ModelUnavailable, match=f"after 1 attempt: status 400: {message}"):
        endpoint.complete(replace(REQUEST, model="tester-seed"))
    double.otherwise = lambda body: double.Said(double.completion("fine"))
    assert endpoint.complete(REQUEST).dropped == ()
    first = double.history[0]
    without = {name: value for name, value in first.items() if name != "response_format"}
    assert double.history[:-1] == [first, without][:calls]


@pytest.mark.parametrize("model", ["e", "n", "seed", "tester"])
def test_a_parameter_is_found_whatever_the_model_s_name(double, endpoint, model):
    double.queue.append(double.refusal(f"{model}: unknown parameter 'seed'"))
    assert endpoint.complete(replace(REQUEST, model=model)).dropped == ("seed",)


# -- what is learned for a run ---------------------------------------------------------------------------------------


def test_a_run_that_is_resumed_knows_what_the_server_does_not_take_and_how_much_its_model_thinks(double, tmp_path):
    cut = double.completion("")
    cut["choices"][0] |= {"finish_reason": "length", "message": {"content": "", "reasoning_content": "hm"}}
    double.queue += [double.refusal("no", "seed"), double.Said(cut)]
    file = tmp_path / "server.json"
    for k in range(2):
        made = endpoint_to(double.url, file)
        reply = made.complete(replace(REQUEST, ask="tests.doubt"))
        assert (reply.dropped, reply.usage) == (("seed",), ((20, 10, 0), (10, 5, 0))[k])
        made.close()
    assert json.loads(file.read_text()) == {double.url: {"not taken": ["seed"], "room": {"tests.doubt": 80}}}
    assert [sent["max_tokens"] for sent in double.history] == [40, 40, 80, 80]


@pytest.mark.parametrize("thinks", [True, False])
def test_only_a_model_that_thinks_gets_more_room_from_the_endpoint(double, endpoint, thinks):
    cut = double.completion('{"guilty": tr')
    message = {"content": '{"guilty": tr', **({"reasoning_content": "hm"} if thinks else {})}
    cut["choices"][0] |= {"finish_reason": "length", "message": message}
    double.otherwise = lambda body: double.Said(cut)
    assert endpoint.complete(REQUEST).finish == ("length",)
    assert [sent["max_tokens"] for sent in double.history] == ([40, 80, 160, 320] if thinks else [40])


def test_schemas_are_given_up_one_by_one_then_by_answer_and_all_of_them_where_none_was_ever_taken(double, endpoint):
    def schema(name, size):
        return replace(REQUEST, schema_name=name, schema={"type": "object", "maxProperties": size})

    def answer(body):
        schema = body.get("response_format", {}).get("json_schema", {"name": "", "schema": {"maxProperties": 0}})
        refused = schema["name"] == "A" or schema["schema"]["maxProperties"] > 5
        return double.refusal("too complex") if refused else double.Said(double.completion("x"))

    double.otherwise = answer
    for size in range(4):  # two refusals, then none of the schemas of A is sent; B's is
        endpoint.complete(schema("B", size))
        endpoint.complete(schema("A", size))
    sent = [body.get("response_format", {}).get("json_schema", {}).get("name", "-") for body in double.history]
    assert "".join(sent) == "BA-BA-B-B-"
    never = endpoint_to(double.url)
    double.calls.clear()
    for name in ("A", "C", "D"):
        never.complete(schema(name, 9))
    sent = [body.get("response_format", {}).get("json_schema", {}).get("name", "-") for body in double.history]
    assert "".join(sent) == "A-C--"
    never.close()


def test_errors_without_a_word_are_not_about_a_schema_that_the_server_has_taken(double, endpoint):
    endpoint.complete(REQUEST)
    double.queue += [double.Said("oops", 500)] * 2
    reply = endpoint.complete(REQUEST)
    assert (reply.dropped, reply.retries) == ((), 2)
    assert all("response_format" in sent for sent in double.history)


def test_only_an_answer_at_once_shows_that_it_was_the_schema(double):
    made = endpoint_to(double.url)
    double.queue += [double.Said("oops", 500)] * 3  # the third to a call without the schema: the server is down
    assert made.complete(REQUEST).dropped == ("response_format",)
    assert made.complete(REQUEST).dropped == ()
    assert ["response_format" in sent for sent in double.history] == [True, True, False, False, True]


# -- the key and the address -----------------------------------------------------------------------------------------


def test_without_a_key_and_an_address_the_variable_is_named(monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    made = endpoint_to(None, key_env="MY_KEY")
    with pytest.raises(ParlourError, match=r"^environment variable MY_KEY is not set"):
        made.require_key()
    with pytest.raises(ParlourError, match=r"^environment variable MY_KEY is not set"):
        made.complete(REQUEST)


@pytest.mark.parametrize("key", ["schlüssel-geheim", "two\nlines-secret"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(double, endpoint, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ParlourError, match="OPENAI_API_KEY holds no key") as caught:
        endpoint.complete(REQUEST)
    assert not any(part in str(caught.value) for part in ("schl", "geheim", "secret"))


@pytest.mark.parametrize(
    "address",
    [
        "http://me:pw-secret@127.0.0.1/v1",
        "http://127.0.0.1/v1?key=pw-secret",
        "http://127.0.0.1/v1?pw-secret",
        "localhost:80",
        "ftp://a",
        "http://a:x",
    ],
)
def test_addresses_that_are_not_accepted(address):
    with pytest.raises(ParlourError, match=r"^base_url ") as caught:
        endpoint_to(address)
    assert "pw-secret" not in str(caught.value)


def test_the_key_is_in_no_message_log_record_or_pickle(double, endpoint, caplog):
    echo = f"wrong key {double.KEY}, I say {double.KEY.upper()}"
    double.queue += [
        double.Said({"error": {"message": echo}}, 429, double.SOON),
        double.Said("x" * 170 + echo),
        double.refusal(f"no seed for {echo}", "seed"),
        double.Said(double.completion(f"my key is {double.KEY}")),
        double.refusal("y" * 180 + echo, status=401),
    ]
    with caplog.at_level(logging.DEBUG):
        reply = endpoint.complete(REQUEST)
        with pytest.raises(ModelUnavailable) as caught:
            endpoint.complete(REQUEST)
    assert len(double.history) == 5
    assert reply.texts == ("my key is [key]",)
    assert len(caplog.records) > 20
    text = "".join(f"{record.getMessage()} {record.args!r}" for record in caplog.records)
    text += "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(endpoint)
    text += repr(pickle.dumps(endpoint)) + repr(vars(endpoint))
    assert "status 401" in text
    assert double.KEY[:12].lower() not in text.lower()


# -- copies ----------------------------------------------------------------------------------------------------------


def test_making_an_endpoint_does_not_load_the_sdk():
    code = "import sys, parlour.policies.llm.make; print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ})
    assert done.stdout.strip() == "False"
