"""`parlour serve endpoint`, through the official client: the protocol, the answers, every fault, keys, and how it is started."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import urllib.parse
from collections import Counter
from contextlib import ExitStack
from typing import ClassVar, Literal

import numpy as np
import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.ask import ASKS, Answer, Ask
from parlour.policies.llm.model import OfflineModel, RequestContext
from parlour.policies.llm.prompt import section
from parlour.policies.llm.server import protocol as replies
from parlour.policies.registry import import_players

from tests.policies.llm import schema_fuzz

openai = pytest.importorskip("openai", reason="the client of the protocol is not installed")
pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
pytest.importorskip("uvicorn", reason="the extra `serve` is not installed")
from parlour.policies import Policy, RandomPolicy, TrainedSeat, make_policy  # noqa: E402
from parlour.policies.llm.make import ModelConfig, make_model  # noqa: E402
from parlour.policies.llm.server.app import ServedPolicy, serving  # noqa: E402
from parlour.policies.llm.server.settings import ServerSettings  # noqa: E402
from parlour.training.play import rollout  # noqa: E402

SECRET = "sk-this-is-only-a-test-0123456789"


class Guess(Answer):
    side: Literal["good", "evil"]
    weight: float
    words: str


class Coin(Ask[Guess]):
    """A question with a template of its own making."""

    kind: ClassVar[str] = "test_serve.coin"
    template: ClassVar[str] = "What is {name}?"

    name: str
    heard: tuple[str, ...] = ()

    def heuristic(self, rng: np.random.Generator) -> Guess:
        side: Literal["good", "evil"] = "good" if rng.random() < 0.75 else "evil"
        return Guess(side=side, weight=float(rng.random()) if self.heard else 0.5, words=f"{self.name} 说 {side}")


QUESTION = Coin(name="player_3", heard=('He said "}\n```\n" and left', "是的"))
HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def server():
    """`server(**settings)`: a server that is running until the test is over; returns a client without retries."""
    with ExitStack() as stack:

        def start(key: str = "none", timeout: float = 20.0, retries: int = 0, **settings):
            url = stack.enter_context(serving(**settings))
            return stack.enter_context(openai.OpenAI(base_url=url, api_key=key, max_retries=retries, timeout=timeout))

        yield start


@pytest.fixture(scope="module")
def plain():
    """A client of a server without faults, which tests share."""
    with serving() as url, openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=20) as client:
        yield client


def ask(client, prompt=None, **parameters):
    messages = [
        {"role": "system", "content": "You play."},
        {"role": "user", "content": QUESTION.prompt() if prompt is None else prompt},
    ]
    return client.chat.completions.create(**{"model": "heuristic", "messages": messages, **parameters})


def text_of(completion) -> str:
    return completion.choices[0].message.content


def raw(client, body: bytes, path: str = "/chat/completions", method: str = "POST") -> tuple[int, dict]:
    """A request that the client would not send."""
    url = urllib.parse.urlsplit(str(client.base_url))
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
    try:
        connection.request(method, f"/v1{path}", body)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


# -- completions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1])
def test_the_answer_is_that_of_the_offline_model_with_the_same_sample(plain, seed):
    offline = OfflineModel().answer(QUESTION, RequestContext("player_0", seed)).value
    assert QUESTION.read(text_of(ask(plain, seed=seed))) == offline


def test_a_question_sent_as_data_is_answered_whatever_the_prompt_says(plain):
    sent = {"parlour_inputs": {"kind": QUESTION.kind, "inputs": QUESTION.model_dump(mode="json")}}
    offline = OfflineModel().answer(QUESTION, RequestContext("player_0", 3)).value
    assert QUESTION.read(text_of(ask(plain, "no question", seed=3, extra_body=sent))) == offline
    for inputs, why, param in (
        ({"kind": "nobody.asks", "inputs": {}}, "question 'nobody.asks' is not accepted; accepted: ", "messages"),
        (
            {"kind": QUESTION.kind, "inputs": {"name": []}},
            "the inputs of 'test_serve.coin' do not fit: name",
            "parlour_inputs",
        ),
        ({"kind": QUESTION.kind}, "parlour_inputs.inputs: Field required", "parlour_inputs"),
    ):
        with pytest.raises(openai.BadRequestError, match=re.escape(why)) as caught:
            ask(plain, extra_body={"parlour_inputs": inputs})
        assert caught.value.param == param  # a client leaves out the parameter that is to blame


def test_a_model_sends_its_questions_as_data_to_a_server_of_parlour_s_own(server, monkeypatch):
    """The words of the prompt are then the language model's alone: a template without sections is no hindrance."""
    model = make_model(ModelConfig(model="m", base_url=str(server().base_url)))

    monkeypatch.setattr(Coin, "prompt", lambda *_: "Well?")
    answered = model.answer(QUESTION, RequestContext("player_0", 3))
    assert (answered.reason, answered.value) == (None, QUESTION.heuristic(np.random.default_rng(3)))
    assert answered.calls[0]["prompt"][1]["content"] == "Well?"


def test_a_completion_says_that_no_model_answered_and_what_it_took(plain):
    reply = ask(plain, model="whatever-one-asks-for", temperature=0.7, max_tokens=800)
    assert reply.model == "heuristic"
    assert reply.system_fingerprint == "parlour-heuristics-no-language-model"
    assert reply.choices[0].finish_reason == "stop"
    assert reply.choices[0].logprobs is None
    assert reply.usage.completion_tokens == len(replies.tokens(text_of(reply)))
    assert reply.usage.prompt_tokens == 4 + len(replies.tokens("You play.")) + 4 + len(
        replies.tokens(QUESTION.prompt())
    )
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens


@pytest.mark.parametrize("policy", [None, "random"])
def test_the_model_is_offered_and_replies_under_the_name_of_what_it_is(server, policy):
    served = None if policy is None else ServedPolicy(policy, make_policy(policy, "avalon_v0", {}))
    client, name = server(policy=served), policy or "heuristic"
    assert [model.id for model in client.models.list()] == [name]
    assert client.models.retrieve("gpt-4o").id == name
    assert ask(client, "# What you may do now\n- I wait.", model="gpt-4o").model == name


def test_a_streamed_completion_is_the_same_in_pieces(plain):
    for parameters in ({}, {"n": 3}):
        whole = ask(plain, seed=5, **parameters)
        chunks = list(ask(plain, seed=5, stream=True, stream_options={"include_usage": True}, **parameters))
        assert chunks[-1].usage == whole.usage
        assert chunks[-1].choices == []
        for choice in whole.choices:
            mine = [chunk.choices[0] for chunk in chunks[:-1] if chunk.choices[0].index == choice.index]
            assert mine[0].delta.role == "assistant"
            assert "".join(chunk.delta.content or "" for chunk in mine) == choice.message.content
            assert [chunk.finish_reason for chunk in mine] == [None] * (len(mine) - 1) + ["stop"]
        assert {chunk.system_fingerprint for chunk in chunks} == {whole.system_fingerprint}
    assert all(chunk.usage is None for chunk in ask(plain, stream=True))


def test_a_reply_that_becomes_too_long_is_cut_off_and_says_so(plain):
    short = ask(plain, max_tokens=6)
    assert short.choices[0].finish_reason == "length"
    assert short.usage.completion_tokens == 6
    whole = ask(plain)
    assert text_of(whole).startswith(text_of(short))
    assert ask(plain, max_completion_tokens=whole.usage.completion_tokens).choices[0].finish_reason == "stop"
    assert ask(plain, max_tokens=whole.usage.completion_tokens - 1).choices[0].finish_reason == "length"


def test_the_last_question_counts_and_later_messages_may_complain_about_the_answer(plain):
    other = Coin(name="player_1", heard=("hello",))
    messages = [
        {"role": "user", "content": other.prompt()},
        {"role": "user", "content": [{"type": "text", "text": QUESTION.prompt()}]},
        {"role": "assistant", "content": other.prompt(), "refusal": None},
        {"role": "user", "content": "That was no answer: try again."},
    ]
    reply = plain.chat.completions.create(model="x", messages=messages, seed=9)
    assert QUESTION.read(text_of(reply)) == QUESTION.heuristic(np.random.default_rng(9))


def test_a_prompt_without_a_question_gets_a_short_reply_that_says_what_this_is(plain):
    reply = ask(plain, "Who are you?")
    assert text_of(reply) == replies.CANNED
    assert "There is no language model here" in replies.CANNED
    assert ask(plain, "Who are you?", n=2).choices[1].message.content == replies.CANNED
    with pytest.raises(openai.BadRequestError) as caught:
        ask(plain, "Who are you?", response_format={"type": "json_object"})
    assert caught.value.param == "response_format"


REFUSED = [
    ({"prompt": "# nobody.asks\n"}, "messages", "question 'nobody.asks' is not accepted"),
    ({"prompt": "# test_serve.coin\n## name\n3\n"}, "messages", "do not fit: name"),
    ({"prompt": "# test_serve.coin\n## name\n{\n"}, "messages", "cannot be read"),
    ({"n": 0}, "n", "n: Input should be greater than or equal to 1"),
    ({"seed": -1}, "seed", "seed: "),
    ({"max_tokens": 0}, "max_tokens", "max_tokens: "),
    ({"logprobs": True}, "logprobs", "parameter 'logprobs' is not accepted"),
    ({"stream_options": {"include_usage": True}}, "stream_options", "goes with stream"),
    ({"response_format": {"type": "json_schema"}}, "response_format", "json_schema goes with"),
    ({"response_format": {"type": "yaml"}}, "response_format", "response_format.type"),
    ({"response_format": {"type": "json_object", "x": None}}, "response_format", "response_format.x: Extra inputs"),
    ({"extra_body": dict.fromkeys(map(str, range(40_000)))}, None, "too many keys of objects"),
    ({"extra_body": {"metadata": dict.fromkeys(map(str, range(40_000)), 1)}}, None, "too many keys of objects"),
    ({"messages": []}, "messages", "messages: "),
    ({"messages": [{"role": "king", "content": "x"}]}, "messages", "messages.0.role"),
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools", "parameter 'tools' is not accepted"),
    ({"stop": "}"}, "stop", "parameter 'stop' is not accepted; accepted: model, messages, stream"),
]


@pytest.mark.parametrize(("parameters", "param", "why"), REFUSED, ids=[f"{p}: {w[:30]}" for _, p, w in REFUSED])
def test_a_bad_request_gets_one_line_that_names_the_parameter(plain, parameters, param, why):
    with pytest.raises(openai.BadRequestError) as caught:
        ask(plain, **parameters)
    assert caught.value.param == param
    assert caught.value.type == "invalid_request_error"
    assert why in caught.value.body["message"]
    assert "\n" not in caught.value.body["message"]


def test_what_is_no_request_at_all_gets_an_error_of_the_same_shape(plain):
    for body in (b"", b"{", b"[1]", b"7", b"null", b"\xff", b"[" * 100_000, b'{"model": "\\ud800"}'):
        status, data = raw(plain, body)
        assert status == 400
        assert set(data["error"]) == {"message", "type", "param", "code"}
    assert raw(plain, b"", "/audio")[0] == 404
    status, data = raw(plain, b"", "/chat/completions", "GET")
    assert status == 405
    assert data["error"]["message"].startswith("Method Not Allowed")


import_players()


@pytest.mark.parametrize("kind", sorted(kind for kind in ASKS if not kind.startswith(("test", "tests."))))
def test_questions_with_inputs_of_any_kind_are_answered_or_refused(plain, kind):
    """Inputs that fit the types of a question and nothing else: seats that do not sit there, roles that nobody has."""
    schema = ASKS[kind].model_json_schema()
    for k in range(12):
        drawn_inputs = schema_fuzz.drawn(schema, np.random.default_rng(k), schema.get("$defs", {}))
        sections = "\n\n".join(section(name, value) for name, value in drawn_inputs.items())
        body = {**HELLO, "messages": [{"role": "user", "content": f"# {kind}\n\n{sections}"}]}
        assert raw(plain, json.dumps(body).encode())[0] in (200, 400)


# -- faults -----------------------------------------------------------------------------------------------------


def test_429_says_when_to_come_again_and_the_client_does(server):
    client = server(faults={"429": 1.0}, retry_after=0.25)
    with pytest.raises(openai.RateLimitError) as caught:
        ask(client)
    assert caught.value.response.headers["retry-after"] == "0.25"
    assert caught.value.code == "rate_limit_exceeded"
    tally = Counter()
    patient = server(faults={"429": 0.5}, retry_after=0.01, retries=30, tally=tally)
    for seed in range(10):
        assert QUESTION.read(text_of(ask(patient, seed=seed)))
    assert tally["429"] > 0
    assert tally["chat"] == 10 + tally["429"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("fault", ["cut", "prose", "schema"])
def test_what_a_reply_says_under_a_fault_is_no_answer(server, plain, fault, stream):
    client, good = server(faults={fault: 1.0}), text_of(ask(plain, seed=3))
    if stream:
        choices = [chunk.choices[0] for chunk in ask(client, seed=3, stream=True)]
        said, end = "".join(choice.delta.content or "" for choice in choices), choices[-1].finish_reason
    else:
        choice = ask(client, seed=3).choices[0]
        said, end = choice.message.content, choice.finish_reason
    with pytest.raises(ParlourError):
        QUESTION.read(said)
    if fault == "cut":
        assert (said, end) == (good[: len(good) // 2], "length")
    elif fault == "prose":
        assert "{" not in said
        assert end == "stop"
    else:
        assert json.loads(said)
        assert not {*json.loads(said)} & {*json.loads(good)}
        assert end == "stop"


# -- a policy in the place of a model ---------------------------------------------------------------------------------


class Words(Policy):
    """Goes by text: says how long it is, and how often it was asked since `reset`."""

    name = "words"
    wants = "text"

    def reset(self, seat: int, seed: int) -> None:
        super().reset(seat, seed)
        self.asked = 0

    def act(self, observation, info):
        self.asked += 1
        return f"{len(observation['text'])} letters, {len(info['options'])} options, {self.asked}"


def test_a_policy_answers_a_seat_s_text_in_the_words_of_an_option(server):
    client = server(policy=ServedPolicy("random", RandomPolicy()))
    env = rollout.table("avalon_v0", num_players=5)
    env.reset(seed=3)
    while env.game_env.outcome is None:
        agent = env.game_env.agent_selection
        reply = ask(client, env.observe_as(agent, "text")["text"], seed=len(env.game_env.moves))
        assert text_of(reply) in env.infos[agent]["options"]
        assert reply.system_fingerprint == "parlour-policy-random"
        env.step(text_of(reply))
    assert [model.id for model in client.models.list()] == ["random"]


def test_the_request_s_seed_is_that_of_the_policy_and_each_request_begins_anew(server):
    client = server(policy=ServedPolicy("random", RandomPolicy()))
    text = "# What you may do now\nChoose.\n" + "".join(f"- option {k}\n" for k in range(50))
    said = [text_of(ask(client, text, seed=seed)) for seed in range(10)]
    own = RandomPolicy()
    own.reset(0, 4)
    assert said[4] == f"option {own.act({}, {'legal': range(50)})}"
    assert len(set(said)) > 5
    assert ask(client, text, seed=4, n=3).choices[0].message.content == said[4]
    words = server(policy=ServedPolicy("words", Words()))
    assert [text_of(ask(words, "hello")) for _ in range(2)] == ["5 letters, 0 options, 1"] * 2


def test_a_trained_seat_answers_to_numbers_that_are_sent_along(server):
    env = rollout.table("avalon_v0", num_players=5, rules="official", talk=False)
    base = env.game_env
    weights = np.random.default_rng(0).normal(size=(len(base.game.catalogue), base.encoder.size)).astype(np.float32)
    seat = TrainedSeat("avalon_v0", base.game.config, [(weights, np.zeros(len(weights), dtype=np.float32))])
    client = server(policy=ServedPolicy("policy.npz", seat))
    env.reset(seed=1)
    for _ in range(20):
        agent = base.agent_selection
        seen = base.observe_as(agent, "both")
        numbers = {"features": seen["observation"].tolist(), "action_mask": seen["action_mask"].tolist()}
        number = seat.act(seen, base.infos[agent])
        said = text_of(ask(client, seen["text"], extra_body={"parlour": numbers}))
        assert said == base.infos[agent]["options"][base.infos[agent]["legal"].index(number)]
        assert text_of(ask(client, "no text", extra_body={"parlour": numbers})) == str(number)
        env.step(said)
    short = {**numbers, "features": numbers["features"][1:]}
    for sent, why in (
        ({}, "reads numbers; accepted: with parlour: {features"),
        ({"parlour": short}, "99 inputs and 30 outputs, and this table 98 features and 30 actions"),
        ({"parlour": {**numbers, "action_mask": [0] * 30}}, "0 legal actions"),
        ({"parlour": {"features": []}}, "parlour.features"),
    ):
        with pytest.raises(openai.BadRequestError) as caught:
            ask(client, seen["text"], extra_body=sent)
        assert caught.value.param == "parlour"
        assert why in caught.value.body["message"]


def test_an_expert_answers_to_the_prose_of_a_seat_whether_or_not_numbers_are_sent_along(server, small_expert):
    """In its own frame numbers are not in the order of the options: where there are options it goes by the prose."""
    options = {"num_players": 5, "rules": "official", "talk": False}
    config = small_expert("avalon_v0", **options)
    client = server(policy=ServedPolicy("expert", make_policy("expert", "avalon_v0", config)))
    env = rollout.table("avalon_v0", features="belief", **options)
    base, by_view, numbered = env.game_env, make_policy("expert", "avalon_v0", config), 0
    env.reset(seed=1)
    for seed in range(20):
        agent = base.agent_selection
        seen, info = base.observe_as(agent, "both"), base.infos[agent]
        by_view.reset(0, seed)
        number = by_view.act(seen, info)
        sent = {"features": seen["observation"].tolist(), "action_mask": seen["action_mask"].tolist()}
        said = [text_of(ask(client, seen["text"], seed=seed, extra_body=more)) for more in ({}, {"parlour": sent})]
        assert said == [info["options"][info["legal"].index(number)]] * 2
        assert text_of(ask(client, "no text", seed=seed, extra_body={"parlour": sent})) == str(number)
        numbered += list(info["legal"]) != sorted(info["legal"])
        env.step(said[0])
    assert numbered > 0
    with pytest.raises(openai.BadRequestError, match="cannot be read back; accepted: the whole text of a seat"):
        ask(client, seen["text"].replace("player_1", "player_9"))


def test_what_a_policy_cannot_answer_gets_one_line(server, plain):
    client = server(policy=ServedPolicy("random", RandomPolicy()))
    for prompt, parameters, why in (
        ("hello", {}, "there are no options in the text"),
        (QUESTION.prompt(), {}, "question 'test_serve.coin' is not accepted by a policy"),
        ("hello", {"response_format": {"type": "json_object"}}, "no question in the messages"),
    ):
        with pytest.raises(openai.BadRequestError, match=re.escape(why)):
            ask(client, prompt, **parameters)
    with pytest.raises(openai.BadRequestError, match="no message of a user"):
        client.chat.completions.create(model="m", messages=[{"role": "system", "content": "x"}])
    with pytest.raises(openai.BadRequestError, match="this server does not take parlour"):
        ask(plain, extra_body={"parlour": {"features": [1.0], "action_mask": [1]}})


# -- speed, latency, keys, the end -------------------------------------------------------------------------------------


def test_what_clients_send_as_null_is_not_there(plain):
    assert text_of(ask(plain, seed=4, extra_body={"stop": None, "tools": None})) == text_of(ask(plain, seed=4))
    with pytest.raises(openai.BadRequestError, match="parameter 'tools' is not accepted"):
        ask(plain, extra_body={"stop": None, "tools": []})


def test_a_key_is_wanted_and_never_told(caplog, capfd):
    with ExitStack() as stack:
        url = stack.enter_context(serving(key=SECRET))
        for key, fits in ((SECRET, True), ("sk-another-secret", False), (SECRET + "x", False)):
            client = stack.enter_context(openai.OpenAI(base_url=url, api_key=key, max_retries=0, timeout=20))
            if fits:
                assert text_of(ask(client))
                assert list(client.models.list())
                continue
            for call in (
                lambda c=client: ask(c),
                lambda c=client: list(c.models.list()),
            ):
                with pytest.raises(openai.AuthenticationError) as caught:
                    call()
                assert caught.value.code == "invalid_api_key"
                assert key not in str(caught.value.response.text)
        assert raw(client, b"{", "/chat/completions")[0] == 401  # before anything is read
    assert SECRET not in repr(ServerSettings(key=SECRET))
    captured = capfd.readouterr()
    assert "sk-" not in captured.out + captured.err + caplog.text


# -- the command ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["--fault", "fire=0.1"],
            "fault 'fire' is not accepted; accepted: 429, 500, 503, filter, timeout, cut, prose, schema, empty, html, gzip",
        ),
        (["--fault", "cut=1.5"], "rate of fault cut 1.5 is not accepted; accepted: a number in 0..1"),
        (["--fault", "cut=often"], "rate of fault cut 'often' is not accepted"),
        (["--fault", "cut"], "fault 'cut' is not accepted; accepted: KIND=RATE"),
        (["--fault", "cut=0.1,cut=0.2"], "each kind once"),
        (["--fault", "cut=0.6,429=0.6"], "sum of the rates of faults 1.2 is not accepted; accepted: at most 1"),
        (["--latency", "-1"], "latency -1.0 is not accepted"),
        (["--hang", "inf"], "hang inf is not accepted"),
        (["--port", "70000"], "--port"),
        (["--key-env", "PARLOUR_NO_SUCH_VARIABLE"], "no key in 'PARLOUR_NO_SUCH_VARIABLE'"),
        (["--host", "192.0.2.1", "--port", "0"], "192.0.2.1:0 cannot be listened at"),
        (
            ["--policy", "heuristic"],
            "policy 'heuristic' needs more than a request holds (it reads info['view']); accepted:",
        ),
        (["--policy", "human"], "(a person at the terminal); accepted: random, chat, a trained seat"),
        (["--policy", "nobody"], "policy 'nobody' is not accepted; accepted: random, heuristic"),
        (["--policy", "random", "--game", "chess"], "game 'chess' is not accepted"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_bad_options_get_one_line_and_exit_code_2(arguments, why, error_of):
    assert why in error_of(["serve", "endpoint", *arguments])


@pytest.mark.slow
def test_the_command_serves_until_it_is_interrupted(tmp_path):
    code = "import sys; from parlour.training.cli import main; main()"
    command = [
        sys.executable,
        "-c",
        code,
        "serve",
        "endpoint",
        "--port",
        "0",
        "--key-env",
        "PARLOUR_TEST_KEY",
        "--no-schema",
    ]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PARLOUR_TEST_KEY": SECRET},
    )
    try:
        line = process.stdout.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+/v1", line)[0]
        assert f"parlour play avalon_v0 --policy avalon_agent --model heuristic --base-url {url}" in line
        with openai.OpenAI(base_url=url, api_key=SECRET, max_retries=0, timeout=20) as client:
            assert text_of(ask(client, "hello")) == replies.CANNED
            with pytest.raises(openai.BadRequestError, match="response_format"):
                ask(client, "hello", response_format={"type": "json_object"})
            known = sorted(kind for kind in ASKS if not kind.startswith(("test_", "tests.")))
            with pytest.raises(openai.BadRequestError) as caught:
                ask(client, "# nobody.asks\n")
            for kind in known:
                assert kind in caught.value.body["message"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out, err) == (0, "", "")
