"""What servers do that bites, one row a behaviour: a game of `chat` over a stub of each, from the command line to its exit code.

A row says how many of the game's decisions are the model's own, what the terminal says, and how the command ends. No row ends with
exit code 0 and without a decision of its own. The stubs reply with JSON that fits the schema of the question, or with the
first option that the prompt lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from parlour.training.cli import run

from tests.policies.llm.servers import Answer, Call
from tests.policies.llm.stub_servers import (
    DECISIONS,
    QUESTIONS,
    Behaviour,
    Row,
    Stub,
    check,
    refusal,
    refuses,
    replies,
    whole,
    with_schema,
)

pytestmark = pytest.mark.usefixtures("key")

# -- refusals --------------------------------------------------------------------------------------------------------


def gemini(message: str, *, in_list: bool) -> Answer:
    body = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    return Answer([body] if in_list else body, 400)


def with_role(role: str) -> Callable[[dict[str, Any]], bool]:
    return lambda body: any(message["role"] == role for message in body["messages"])


def enum_of_more_than(most: int) -> Callable[[dict[str, Any]], bool]:
    def is_larger(body: dict[str, Any]) -> bool:
        options = re.search(r'"enum": \[([^\]]*)\]', json.dumps(body.get("response_format")))
        return bool(options) and options[1].count(",") >= most

    return is_larger


def repeats_roles(body: dict[str, Any]) -> bool:
    roles = [message["role"] for message in body["messages"] if message["role"] != "system"]
    return any(a == b for a, b in pairwise(roles))


def is_without_reasoning(body: dict[str, Any]) -> bool:
    return body.get("reasoning_effort") in (None, "none")


STATES = "The specified schema produces a constraint that has too many states for serving."
UNKNOWN = "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'generation_config.response_schema': Cannot find field."
NO_SYSTEM = "Unsupported value: 'messages[0].role' does not support 'system' with this model."
ENUM = "Invalid schema for response_format 'Turn': In context=('properties', 'choice'), enum is too large: it exceeds the limit of 3."

BOUND = (
    "Invalid schema for response_format 'Turn': In context=('properties', 'thoughts'), 'maxLength' is not permitted."
)


def bounds(body: dict[str, Any]) -> bool:
    return "maxLength" in json.dumps(body.get("response_format", ""))


REFUSED = {
    "bounds on texts, by name": Row(
        refuses(refusal(BOUND, "response_format"), bounds),
        message="does not take 'maxLength'; from now on schemas do not bound texts.*did not take maxLength",
        most_calls=QUESTIONS + 1,
    ),
    "bounds on texts, in other words": Row(
        refuses(refusal("Failed to parse grammar: number of repetitions exceeds sane defaults"), bounds),
        message="does not take 'maxLength'",
        most_calls=QUESTIONS + 1,
    ),
    "a schema that is too complex": Row(
        refuses(refusal("Schema is too complex."), with_schema),
        message="does not take .*Schema is too complex",
        most_calls=QUESTIONS + 3,
    ),
    "a schema with too many states, as Gemini says it": Row(
        refuses(gemini(STATES, in_list=False), with_schema), message="does not take .*too many states"
    ),
    "a field of a schema, in a list of errors as Gemini has it": Row(
        refuses(gemini(UNKNOWN, in_list=True), with_schema), message="does not take .*Cannot find field"
    ),
    "an enum that is too large": Row(
        refuses(refusal(ENUM, "response_format"), enum_of_more_than(3)), message="enum is too large"
    ),
    "response_format": Row(
        refuses(refusal("'response_format' of type 'json_schema' is not supported"), with_schema),
        message="did not take response_format",
    ),
    "a system message": Row(
        refuses(refusal(NO_SYSTEM, "messages[0].role", code="unsupported_value"), with_role("system")),
        message="does not take 'system role'; from now on its words begin the user's message",
    ),
    "a system message instead of a developer's": Row(
        refuses(refusal("Unsupported role 'system': use 'developer'.", "messages[0].role"), with_role("system")),
        message="from now on the message is sent as the developer's",
    ),
    "calls without reasoning": Row(
        refuses(refusal("Reasoning is mandatory for this endpoint and cannot be disabled."), is_without_reasoning),
        message="from now on reasoning_effort 'low' is sent",
    ),
    "calls without reasoning, which the user has turned off": Row(
        refuses(
            refusal("Reasoning is mandatory for this endpoint and cannot be disabled."),
            lambda body: body.get("reasoning_effort") == "none",
        ),
        message="did not take reasoning_effort",
        options=("--reasoning-effort", "none"),
    ),
    "roles that do not alternate": Row(
        refuses(refusal("Conversation roles must alternate user/assistant/user/assistant/..."), repeats_roles)
    ),
    **{
        name: Row(
            refuses(refusal(f"Unsupported parameter: '{name}'", name), lambda body, name=name: name in body),
            message=f"does not take '{name}'",
        )
        for name in ("temperature", "max_tokens", "seed")
    },
    "everything, with unknown words": Row(
        refuses(refusal("The request does not please us.")),
        None,
        2,
        r"status 400: The request does not please us\.; so ended \d+ calls, and none was answered",
        most_calls=15,
    ),
}

# -- now and then ----------------------------------------------------------------------------------------------------

FORBIDDEN = "<html><body>403 Forbidden, says the gateway</body></html>"


def at_call(number: int, answer: Answer) -> Behaviour:
    return Behaviour(lambda server, call: answer if server.plain_calls == number else None)


def from_call(number: int, answer: Answer) -> Behaviour:
    return Behaviour(lambda server, call: answer if server.plain_calls >= number else None)


NOW_AND_THEN = {
    "404 once after answers": Row(
        at_call(6, refusal("no such route", status=404)), DECISIONS, message="15 decisions: 14 its own.*refused 1"
    ),
    "an HTML page with 403 once after answers": Row(
        at_call(6, Answer(FORBIDDEN, 403)), DECISIONS, message="15 decisions: 14 its own.*refused 1"
    ),
    "404 for good after answers": Row(from_call(6, refusal("no such route", status=404)), None, 2, "no such route"),
    "no connection": Row(
        Behaviour(lambda server, call: Answer(None, hang=True)),
        None,
        2,
        "no complete answer",
        ("--timeout", "0.3", "--patience", "3"),
    ),
}

# -- answers in other forms ------------------------------------------------------------------------------------------


def messages(make: Callable[[str], dict[str, Any]], **more: Any) -> Behaviour:
    return Behaviour(
        reply=lambda server, call, text: Answer(server.completed({"role": "assistant", **make(text)}, **more))
    )


def streamed(server: Stub, call: Call, text: str) -> Answer:
    """Pieces of three characters; the usage comes last."""
    choices = [{"index": 0, "delta": {"content": text[k : k + 3]}} for k in range(0, len(text), 3)]
    events = [
        {"model": server.MODEL, "choices": [choice]}
        for choice in [*choices, {"index": 0, "delta": {}, "finish_reason": "stop"}]
    ]
    events.append({"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 9}})
    lines = [f"data: {json.dumps(event)}\n\n" for event in events]
    return Answer("".join([*lines, "data: [DONE]\n\n"]), headers={"content-type": "text/event-stream"})


ONLY_STREAMS = Behaviour(
    lambda server, call: (
        None
        if call.body.get("stream")
        else refusal("This model only support stream mode, please enable the stream parameter to access the model.")
    ),
    streamed,
)


def thinking(server: Stub, call: Call, text: str) -> Answer:
    """Thinks 1,500 tokens before it answers."""
    if call.body["max_tokens"] > 1500:
        return Answer(server.completed({"content": text, "reasoning_content": "hm"}))
    return Answer(server.completed({"content": "", "reasoning_content": "hm"}, "length"))


ECHO = "<|im_start|>user\n# chat.take_turn\nWhat do you do?<|im_end|>\n<|im_start|>assistant\n"
ANSWERED = {
    "nothing special": Row(Behaviour()),
    "streams only": Row(ONLY_STREAMS, message="from now on answers are streamed"),
    "single quotes": Row(replies(lambda text: str(json.loads(text))), message="24 replies were mended"),
    "a comma after the last entry": Row(replies(lambda text: f"{text[:-1]},}}"), message="24 replies were mended"),
    "a token of the template": Row(replies(lambda text: f"{text}<|im_end|>"), message="24 replies were mended"),
    "turns of others after the answer": Row(
        replies(lambda text: f'{text}<|im_end|>\n{ECHO}{{"choice": "speak"}}'), message="24 replies were mended"
    ),
    "the question again before the answer": Row(replies(lambda text: f"{ECHO}{text}"), message="24 replies were mended"),
    "no usage": Row(Behaviour(reply=lambda server, call, text: Answer({"choices": server.completed({"content": text})["choices"]}))),
    "thinks for 1,500 tokens": Row(
        Behaviour(reply=thinking), message="the model thinks before it answers, and chat.take_turn took 1600 tokens; --max-tokens 1600",
        most_calls=QUESTIONS + 1,
    ),
    "no choices": Row(whole({"choices": []}), None, 2, "no chat completion.*so ended 5 calls, and none was answered"),
    "prose, always": Row(replies(lambda text: "I would rather not say."), 0, 2, "answered none of"),
    "nothing, always": Row(replies(lambda text: ""), 0, 2, "answered none of"),
}  # fmt: skip

ROWS = {
    **{f"refuses {name}": row for name, row in REFUSED.items()},
    **{f"answers with {name}": row for name, row in NOW_AND_THEN.items()},
    **{f"replies: {name}": row for name, row in ANSWERED.items()},
}


@pytest.mark.parametrize("name", ROWS)
def test_a_server_that(name, capfd):
    check(ROWS[name], capfd)


def too_long(server: Stub, call: Call) -> Answer | None:
    """A context of 1,280 tokens of 3.6 characters, for the prompt and the room of its reply."""
    tokens = int(sum(len(message["content"]) for message in call.body["messages"]) / 3.6) + call.body["max_tokens"]
    words = f"This model's maximum context length is 1280 tokens. However, you requested {tokens} tokens."
    return refusal(words, code="context_length_exceeded") if tokens > 1280 else None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("chat", ("werewolf_v0", "-n", "7", "--set", "max_days=4")),
        ("gratr", ("werewolf_v0", "-n", "6", "--set", "max_days=3")),
        ("chat", ("avalon_v0", "-n", "8")),
    ],
)
def test_in_a_context_of_1280_tokens_at_most_one_decision_is_lost(policy, options, capfd):
    with Stub(Behaviour(too_long, context=1280)) as server:
        game = ("play", *options, "--seed", "77", "--json")
        assert run([*game, "--policy", policy, "--model", server.MODEL, "--base-url", server.base_url]) == 0
    made = [player for game in json.loads(capfd.readouterr().out) for player in game["players"].values()]
    assert sum(player["decisions"] - player["own"] for player in made) <= 1
