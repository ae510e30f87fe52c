"""A language model at the table, over HTTP: reading, repair, heuristic, samples, replay, faults, secrets."""

from __future__ import annotations

import json

import pytest
from parlour.envs.core import ParlourError
from parlour.policies.llm.ask import read_back
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import OfflineModel, RequestContext, SeatModel, mixed
from parlour.policies.llm.transport.budget import Budget
from parlour.policies.llm.transport.cache import Cache
from parlour.policies.llm.transport.endpoint import Endpoint
from parlour.policies.llm.transport.request import CacheMiss

GOOD = '{"guilty": true, "why": "w"}'
PROSE = "I would rather not say."
ASKER = RequestContext("player_1", 7)
FREE = (1.0, 2.0)


@pytest.fixture
def config(double):
    return ModelConfig(model="tester", base_url=double.url, timeout=5, max_retries=1, price=FREE)


@pytest.fixture
def model(config):
    made = make_model(config)
    yield made
    close(made)


def close(model) -> None:
    """Close the connections of a model that `make_model` made."""
    inner = model.meter._inner
    budget = inner._inner if isinstance(inner, Cache) else inner
    assert isinstance(budget, Budget)
    assert isinstance(budget._inner, Endpoint)
    budget._inner.close()


# -- answers ---------------------------------------------------------------------------------------------------------


def test_a_valid_answer_and_its_call(double, model, doubt):
    double.say(f"Here it is:\n{GOOD}", usage=(100, 20))
    answered = model.answer(doubt(), ASKER)
    assert answered.value.model_dump() == {"guilty": True, "why": "w"}
    assert (answered.valid, answered.fell_back) == (True, False)
    prompt = [{"role": "system", "content": doubt().system()}, {"role": "user", "content": doubt().prompt()}]
    assert answered.calls == (
        {
            "ask": "tests.doubt",
            "prompt": prompt,
            "reply": f"Here it is:\n{GOOD}",
            "finish": "stop",
            "served": "m",
            "usage": {"prompt": 100, "completion": 20, "cached": 0},
            "cost": pytest.approx((100 * 1 + 20 * 2) / 1e6),
        },
    )
    sent = double.history[0]
    assert sent["messages"] == prompt
    assert (sent["seed"], sent["temperature"], sent["max_tokens"]) == (7, 0.3, 40)
    assert sent["response_format"]["json_schema"] == {
        "name": "Verdict",
        "schema": doubt().schema_of_answer(),
        "strict": True,
    }
    assert json.loads(json.dumps(answered.calls)) == list(answered.calls)


def test_a_fault_is_told_back_and_repaired(double, model, doubt):
    double.say(PROSE)
    double.say('{"guilty": true, "why": "z"}')
    double.say(GOOD)
    answered = model.answer(doubt(), ASKER)
    assert (answered.valid, answered.fell_back, answered.value.why) == (False, False, "w")
    assert ["fault" in call for call in answered.calls] == [True, True, False]
    assert "holds no whole JSON object" in answered.calls[0]["fault"]
    assert "does not fit the schema: why" in answered.calls[1]["fault"]
    last = double.history[2]["messages"]
    assert [message["role"] for message in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert last[:2] == double.history[0]["messages"]
    assert last[2]["content"] == PROSE
    assert answered.calls[1]["fault"] in last[5]["content"]
    assert "one JSON object" in last[5]["content"]
    assert [read_back(last[k]["content"]) for k in (3, 5)] == [None, None]
    count = model.meter.taken.by_seat["player_1"]
    assert (count.asked, count.first, count.again, count.heuristic, count.replies) == (1, 0, 1, {}, 3)


def test_what_is_said_in_a_fault_cannot_pass_for_a_prompt(double, model, doubt):
    """Neither a heading in the model's reply nor one in the reason that a question gives ends up as a heading."""
    double.say("# tests.doubt\n## player\n> player_2\n")
    double.say(GOOD)
    answered = model.answer(doubt("player_0"), ASKER)
    assert "does not fit the question: not # tests.doubt" in answered.calls[1]["fault"]
    for place in (3, 5):
        line = double.history[2]["messages"][place]["content"]
        assert len(line.splitlines()) == 1
        assert read_back(line) is None


def test_what_is_set_for_all_calls_goes_into_each(double, config, doubt):
    """40 tokens are the question's own; a model that thinks first needs more room."""
    model = make_model(config.replace(max_tokens=900, reasoning_effort="low", stop=("###",), extra_body='{"top_k": 5}'))
    model.answer(doubt(), ASKER)
    sent = double.history[0]
    assert (sent["max_tokens"], sent["reasoning_effort"], sent["stop"], sent["top_k"]) == (900, "low", ["###"], 5)
    close(model)


# -- samples ---------------------------------------------------------------------------------------------------------


def test_samples_come_from_one_request(double, model, doubt):
    double.say(GOOD, PROSE, GOOD, usage=(100, 30))
    double.say('{"guilty": false, "why": "m"}', usage=(7, 3))
    answers = model.answers(doubt(), ASKER, 3)
    assert [answered.value.guilty for answered in answers] == [True, False, True]
    assert [answered.valid for answered in answers] == [True, False, True]
    assert (double.history[0]["n"], double.history[0]["seed"]) == (3, 7)
    assert double.history[1]["seed"] == mixed(7, 1)
    used = [call["usage"]["prompt"] for answered in answers for call in answered.calls]
    assert used == [100, 0, 7, 0]
    assert model.meter.taken.total.prompt == 107
    assert [call["cost"] for call in answers[2].calls] == [0.0]


# -- replay, copies, settings ----------------------------------------------------------------------------------------


def fickle(double):
    """A server whose every reply is another one; some of them are of no use."""
    texts = [GOOD, PROSE, '{"guilty": false, "why": "m"}', "{}"]

    def reply(body):
        k = len(double.history)
        return double.Said(double.completion(*[texts[(k + j) % 4] for j in range(body.get("n", 1))], usage=(k, 1)))

    return reply


def conversation(model, doubt) -> str:
    seats = [SeatModel(model, seat, seed=5) for seat in range(3)]
    for number, seat_model in enumerate(seats):
        for _ in range(4):
            seat_model.ask(doubt(f"player_{number}"))
    often = [answered.calls for answered in model.answers(doubt(), RequestContext("player_0", 9), 3)]
    return json.dumps([*(seat_model.calls() for seat_model in seats), often])


def test_a_replay_is_byte_identical_and_asks_nobody(double, config, doubt, tmp_path, monkeypatch):
    double.otherwise = fickle(double)
    recorded = make_model(config.replace(cache=str(tmp_path / "c.sqlite")))
    first = conversation(recorded, doubt)
    asked = len(double.history)
    close(recorded)
    assert recorded.meter.taken.total.requests == asked > 15
    monkeypatch.delenv("OPENAI_API_KEY")
    settings = ModelConfig(
        model="tester", base_url=config.base_url, cache=str(tmp_path / "c.sqlite"), cache_mode="replay", price=FREE
    )
    replayed = make_model(settings)
    assert conversation(replayed, doubt) == first
    assert len(double.history) == asked
    count = replayed.meter.taken.total
    assert (count.requests, count.from_cache, count.dollars, count.prompt) == (0, asked, 0, 0)
    assert count.valid_share == recorded.meter.taken.total.valid_share
    with pytest.raises(CacheMiss, match=r"of 'tester' to tests\.doubt"):
        replayed.answer(doubt("player_9"), ASKER)


def test_settings_make_the_same_model_again(double, config, tmp_path):
    full = config.replace(cache=str(tmp_path / "c"), max_calls=3, tries=2, patience=9, temperature=0.0, price=[1, 2])
    full = full.replace(max_tokens=900, reasoning_effort="low", stop=["###"], extra_body={"top_k": 5}, context=4096)
    model = make_model(full)
    settings = json.loads(json.dumps(model.settings()))
    assert ModelConfig(**settings) == full
    assert make_model(ModelConfig(**settings)).settings() == model.settings()
    assert (model.name, model.is_language_model) == ("tester", True)


def test_offline_takes_no_other_settings():
    model = make_model(ModelConfig())
    assert isinstance(model, OfflineModel)
    assert ModelConfig(**model.settings()) == ModelConfig()
    of_calls = {
        "prompts": "p",
        "max_tokens": 1,
        "reason_length": 1,
        "reasoning_effort": "low",
        "stop": ("x",),
        "extra_body": "{}",
        "context": 1,
    }
    others = {"base_url": "http://a", "key_env": "K", "temperature": 1, "timeout": 1, "max_retries": 1, "tries": 1,
              "patience": 1, "cache": "c", "cache_mode": "off", "max_dollars": 1, "max_calls": 1, "max_seconds": 1,
              "prices": "p", "price": (1, 1), **of_calls}  # fmt: skip
    assert {"model", "concurrency", *others} == set(ModelConfig.model_fields)
    assert make_model(ModelConfig(concurrency=3)).concurrency == 3  # of games; it is no setting of calls
    for name, value in others.items():
        with pytest.raises(
            ParlourError, match=f"model 'offline' calls no language model and takes no {name}; accepted: "
        ):
            ModelConfig(**{name: value})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"model": " "}, "model ' ' is not accepted"),
        ({"temperature": -1}, "temperature -1 is not accepted"),
        ({"temperature": float("nan")}, "temperature nan is not accepted"),
        ({"cache_mode": "on"}, "cache_mode 'on' is not accepted"),
        ({"cache_mode": "replay"}, "cache mode 'replay' without a cache"),
        ({"timeout": 0}, "timeout 0"),
        ({"max_retries": -1}, "max_retries -1"),
        ({"tries": 0}, "tries 0"),
        ({"max_dollars": 1}, "max_dollars 1, but the price of 'tester' is unknown"),
        ({"max_tokens": 0}, "max_tokens 0 is not accepted"),
        ({"context": 0}, "context 0 is not accepted"),
        ({"stop": ("",)}, "reasoning_effort|stop"),
        ({"extra_body": "[1]"}, "extra_body '\\[1\\]' is not accepted; accepted: a JSON object"),
        ({"extra_body": "{"}, "extra_body '{' is not accepted; accepted: a JSON object"),
        ({"extra_body": {"top_p": float("nan")}}, "is not accepted; accepted: a JSON object"),
        ({"extra_body": {"seed": 3}}, "extra_body 'seed' is not accepted; accepted: parameters that have no option"),
        ({"price": (1,)}, r"price \(1,\) is not accepted"),
        ({"base_url": None}, "environment variable NO_KEY is not set"),
    ],
)
def test_settings_that_are_not_accepted(wrong, message, monkeypatch):
    monkeypatch.delenv("NO_KEY", raising=False)
    right = {"model": "tester", "base_url": "http://127.0.0.1:9/v1", "key_env": "NO_KEY"}
    make_model(ModelConfig(**right))
    with pytest.raises(ParlourError, match=message) as caught:
        make_model(ModelConfig(**(right | wrong)))
    assert len(str(caught.value).splitlines()) == 1
