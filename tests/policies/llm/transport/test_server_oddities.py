"""What servers and models send in another form than the protocol's: counts, streams, bodies, errors, thoughts. One row an oddity, as in
`test_server_behaviours`: an answer in whatever form is the model's own decision, and a draft in a thought never is.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from parlour.policies import ChatPlayer
from parlour.policies.llm.chat import ChatModel
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import Completion, Request, Usage
from parlour.training.play.rollout import play, table

from tests.policies.llm.servers import Answer, Call
from tests.policies.llm.stub_servers import (
    QUESTIONS,
    Behaviour,
    Row,
    Stub,
    check,
    refusal,
    refuses,
    reply_to,
    with_schema,
)
from tests.policies.llm.thought_marks import CLOSED, DOUBTFUL, UNKNOWN

pytestmark = pytest.mark.usefixtures("key")


# -- counts of tokens ------------------------------------------------------------------------------------------------


def counts(usage: Any) -> Row:
    """A server that reports its tokens so."""

    def reply(server: Stub, call: Call, text: str) -> Answer:
        return Answer(server.completed({"content": text}) | {"usage": usage})

    return Row(
        Behaviour(reply=reply),
        message="tokens.*unknown|unknown.*tokens",
        most_calls=QUESTIONS,
        options=("--price", "1,2"),
    )


COUNTED = {
    "null": counts(None),
    "counts that are null": counts({"prompt_tokens": None, "completion_tokens": None}),
    "a total alone": counts({"total_tokens": 9}),
    "other names": counts({"input_tokens": 7, "output_tokens": 2}),
    "no number": counts({"prompt_tokens": "many", "completion_tokens": [2]}),
    "no object": counts([7, 2]),
}


@pytest.mark.parametrize("name", COUNTED)
def test_an_answer_is_kept_and_its_tokens_are_unknown_if_usage_is(name, capfd):
    result = check(COUNTED[name], capfd)
    assert "cost unknown" in result.errors
    assert "0 tokens" not in result.errors
    for player in result.players:
        assert [player[count] for count in ("prompt", "cached", "completion", "dollars")] == [None] * 4


def test_what_is_known_of_tokens_is_told(capfd):
    result = check(counts({"prompt_tokens": 7})._replace(message=r"168 .* \+ unknown tokens, cost unknown"), capfd)
    assert {(player["prompt"] > 0, player["completion"], player["dollars"]) for player in result.players} == {
        (True, None, None)
    }


# -- streams ---------------------------------------------------------------------------------------------------------


def streams(*, inside: str = "", first: str = "", finish: str | None = "stop", line_end: str = "\n") -> Row:
    """A server that streams its answers.

    Args:
        inside: Characters in a text of the answer.
        first: Lines before the first event.
        finish: Why the answer ends, as its last event says.
        line_end: What ends a line.
    """

    def reply(server: Stub, call: Call, text: str) -> Answer:
        text = text.replace('"thoughts": "w', f'"thoughts": "w{inside}')
        halves = [{"delta": {"content": part}} for part in (text[:20], text[20:])]
        choices = [*halves, {"delta": {}, "finish_reason": finish}]
        events = [json.dumps({"choices": [choice]}, ensure_ascii=False) for choice in choices]
        lines = "".join(f"data: {event}\n\n" for event in (*events, "[DONE]"))
        content = (first + lines).replace("\n", line_end).encode()
        return Answer(content, headers={"content-type": "text/event-stream"})

    def answer(server: Stub, call: Call) -> Answer | None:
        return None if call.body.get("stream") else refusal("stream must be set to true")

    return Row(Behaviour(answer, reply), most_calls=QUESTIONS + 1)


STREAMED = {
    **{f"U+{ord(c):04X} in a text": streams(inside=c) for c in "\u2028\u2029\u0085"},
    "empty data": streams(first="data:\n\ndata: \n\n"),
    "comments and other fields": streams(first=": alive\n\nid: 1\nretry: 10\n\n"),
    "fields first": streams(first="id: 1\nevent: message\n"),
    "no reason for its end": streams(finish=None),
    "lines that end in CRLF": streams(line_end="\r\n"),
    "lines that end in CR": streams(line_end="\r"),
}

# -- bodies ----------------------------------------------------------------------------------------------------------


def body(message: dict[str, Any] | None = None, mark: str = "") -> Row:
    """A server whose answers have the object of the answer in a message, or a mark before them."""

    def reply(server: Stub, call: Call, text: str) -> Answer:
        placed = {name: json.loads(text) if value == "HERE" else value for name, value in (message or {}).items()}
        return Answer(mark + json.dumps(server.completed(placed or {"content": text})))

    return Row(Behaviour(reply=reply), most_calls=QUESTIONS)


BODIES = {
    "a byte order mark": body(mark="\ufeff"),
    "an object as content": body({"content": "HERE"}),
    "an object in `parsed`": body({"content": None, "parsed": "HERE"}),
}

# -- errors ----------------------------------------------------------------------------------------------------------

PYDANTIC = "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}]"


def overloaded(server: Stub, call: Call) -> Answer | None:
    """Three calls come too early."""
    return refusal("The model is loading, try again", status=503) if server.plain_calls <= 3 else None


ERRORS = {
    "500 to a schema, with the reason": Row(
        refuses(refusal(PYDANTIC, status=500), with_schema), message="does not take 'response_format'", most_calls=QUESTIONS + 1
    ),
    "500 to a schema that is too complex": Row(
        refuses(refusal("failed to parse grammar", status=500), with_schema), message="failed to parse grammar", most_calls=QUESTIONS + 2
    ),
    "500 to a schema, without a word": Row(
        refuses(Answer("Internal Server Error", 500), with_schema), message="did not take response_format", most_calls=QUESTIONS + 4
    ),
    "502 to a schema from a gateway": Row(
        refuses(Answer("<html>Bad Gateway</html>", 502), with_schema), message="did not take response_format", most_calls=QUESTIONS + 4
    ),
    "500 to `seed`, with the reason": Row(
        refuses(refusal("Extra inputs are not permitted: 'seed'", status=500), lambda sent: "seed" in sent),
        message="did not take seed", most_calls=QUESTIONS + 1,
    ),
    "503 while it loads": Row(
        Behaviour(overloaded), message="14 decisions: 14 its own", options=("--max-retries", "6"), most_calls=QUESTIONS + 3
    ),
    "500 to everything": Row(
        refuses(Answer("Internal Server Error", 500)), None, 2, "Internal Server Error", options=("--patience", "3"), most_calls=9
    ),
}  # fmt: skip


def test_a_server_that_comes_up_late_is_not_taken_to_refuse_schemas(capfd):
    result = check(ERRORS["503 while it loads"], capfd)
    assert "did not take" not in result.errors


# -- thoughts --------------------------------------------------------------------------------------------------------


def thought(mark: str, end: str = "", *, cut: bool = True) -> Behaviour:
    """A model whose answer stands in a thought; with an end, words follow."""

    def reply(server: Stub, call: Call, text: str) -> Answer:
        said = f"{mark}One idea: {text}. But then{end and f'{end}I would rather not answer.'}"
        return Answer(server.completed({"content": said}, "length" if cut else "stop"))

    return Behaviour(reply=reply)


THOUGHTS = {
    "is cut in [THINK]": Row(thought("[THINK]"), 0, 2, "answered none of"),
    "is cut in the analysis channel": Row(thought("<|channel|>analysis<|message|>"), 0, 2, "answered none of"),
    "is cut behind a heading": Row(thought("[Reflection]"), 0, 2, "answered none of"),
    "is cut behind an unknown mark": Row(thought("<wondering>"), 0, 2, "answered none of"),
    "thinks and refuses": Row(thought("[THINK]", "[/THINK]", cut=False), 0, 2, "answered none of"),
}
ROWS = {
    **{f"streams {name}": row for name, row in STREAMED.items()},
    **{f"answers with {name}": row for name, row in BODIES.items()},
    **{f"answers with {name}": row for name, row in ERRORS.items()},
    **THOUGHTS,
}


@pytest.mark.parametrize("name", ROWS)
def test_a_server_that(name, capfd):
    check(ROWS[name], capfd)


class Thinker:
    """A transport whose every reply is cut in a thought that holds an answer to the question."""

    def __init__(self, mark: str, before: bool) -> None:
        self.mark, self.before = mark, before

    def complete(self, request: Request) -> Completion:
        draft = reply_to([message._asdict() for message in request.messages])
        said = f"{draft}\n{self.mark}But then" if self.before else f"{self.mark}One idea: {draft}. But then"
        return Completion((said,), Usage(9, 9), ("length",))


@pytest.mark.parametrize("mark", [*CLOSED, *DOUBTFUL, *UNKNOWN])
def test_a_game_of_thoughts_that_are_cut_has_no_decision_of_its_own(mark):
    model = ChatModel(ModelConfig(model="m", tries=2), Meter(Thinker(mark, before=False), Prices()))
    made, decisions = own(model)
    assert made == 0 < decisions


@pytest.mark.parametrize(
    "mark", ["<think>", "[THINK]", "◁think▷", "<|channel|>analysis<|message|>", "<|START_THINKING|>", "[thinking]"]
)
def test_a_game_of_drafts_before_thoughts_that_are_cut_has_no_decision_of_its_own(mark):
    model = ChatModel(ModelConfig(model="m", tries=2), Meter(Thinker(mark, before=True), Prices()))
    made, decisions = own(model)
    assert made == 0 < decisions


def own(model: ChatModel) -> tuple[int, int]:
    """Of a game, the decisions that are the model's, and all of them."""
    env = table("werewolf_v0", num_players=5, max_days=2)
    made = play(env, [ChatPlayer(model) for _ in range(5)], 3).decisions
    return sum(of.own for of in made), sum(of.decisions for of in made)


def test_an_answer_after_a_thought_is_the_model_s_own():
    class Answering(Thinker):
        def complete(self, request: Request) -> Completion:
            return Completion(
                (f"[THINK]Hm.[/THINK]{reply_to([m._asdict() for m in request.messages])}",), Usage(9, 9), ("stop",)
            )

    made, decisions = own(ChatModel(ModelConfig(model="m"), Meter(Answering("", False), Prices())))
    assert made == decisions > 0
