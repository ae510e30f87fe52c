"""What the server says: answers by heuristic as chat completions, and vectors of words as embeddings.

The shapes are those of OpenAI's chat-completions and embeddings protocol. What stands in them is true of this server:
no language model is behind it, `system_fingerprint` says so, and log-probabilities are those of the heuristic.

Tokens are an estimate, the same for the same text everywhere: up to six Latin letters with the blank before them, up to
three digits, up to three signs, or one character of anything else; for each message of a prompt there are four more.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from parlour.envs.core import ParlourError
from parlour.policies.llm.ask import Ask
from parlour.policies.llm.model import mixed
from parlour.policies.llm.server.fault_injection import spoil
from parlour.policies.llm.transport.request import OWNER

MODEL_ID: Final = "heuristics"
FINGERPRINT: Final = "parlour-heuristics-no-language-model"
CANNED: Final = (
    "This is `parlour serve`: it answers the typed questions of parlour's players by heuristics. There is no "
    "language model here, and no such question in your message."
)
SAMPLES: Final = 32
"""How many answers to the same question log-probabilities are counted from, at least."""
MOST_NUMBERS: Final = 2**22
"""Numbers of one reply with embeddings."""

AnswerText = Callable[[int], str]
"""A seed -> the text of a reply: the same seed gives the same text, unless a served player has chance of its own."""

_TOKEN: Final = re.compile(r" ?[A-Za-z]{1,6}|[0-9]{1,3}| ?[!-/:-@\[-`{-~]{1,3}|\s+|.", re.DOTALL)
_PER_MESSAGE: Final = 4


class CompletionRequest(NamedTuple):
    """What is asked of a completion."""

    model: str
    messages: tuple[tuple[str, str], ...]
    """Role and words of each."""
    seed: int = 0
    n: int = 1
    max_tokens: int | None = None
    top_logprobs: int | None = None
    """How many alternatives are shown for each token; None for no log-probabilities at all."""


def tokens(text: str) -> list[str]:
    """The text in estimated tokens; joined, they are the text again.

    >>> tokens('{"vote": true}')
    ['{"', 'vote', '":', ' true', '}']
    """
    return _TOKEN.findall(text)


def count_tokens(text: str) -> int:
    """How many estimated tokens a text has."""
    return sum(1 for _ in _TOKEN.finditer(text))


def by_heuristic(question: Ask[Any] | None) -> AnswerText:
    """Who answers a question: its heuristic; without a question, a short text that says what this is."""
    if question is None:
        return lambda _: CANNED
    return lambda seed: question.heuristic(np.random.default_rng(seed)).model_dump_json()


def completion(
    wanted: CompletionRequest,
    answer: AnswerText,
    fault: str | None,
    name: str,
    now: int,
    fingerprint: str = FINGERPRINT,
) -> dict[str, Any]:
    """A whole chat completion, as the protocol has it.

    Args:
        wanted: What is asked for.
        answer: Answers with the seed it is given; the first seed is that of the request.
        fault: The fault it shall have; only those of the text matter.
        name: Its identifier.
        now: The time, in seconds since 1970.
        fingerprint: Says what answered.
    """
    enough = wanted.n if wanted.top_logprobs is None else max(wanted.n, SAMPLES)
    texts = [answer(seed) for seed in (wanted.seed, *(mixed(wanted.seed, k) for k in range(1, enough)))]
    spoken = [tokens(spoil(text, fault)) for text in texts]
    pool = [one[: wanted.max_tokens] for one in spoken]
    choices = []
    for index, said in enumerate(pool[: wanted.n]):
        cut_off = fault == "cut" or len(said) < len(spoken[index])
        choices.append(
            {
                "index": index,
                "message": {"role": "assistant", "content": "".join(said), "refusal": None},
                "finish_reason": "length" if cut_off else "stop",
                "logprobs": None if wanted.top_logprobs is None else _logprobs(said, pool, wanted.top_logprobs),
            }
        )
    asked = sum(_PER_MESSAGE + count_tokens(words) for _, words in wanted.messages)
    answered = sum(map(len, pool[: wanted.n]))
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": now,
        "model": wanted.model,
        "system_fingerprint": fingerprint,
        "choices": choices,
        "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
    }


def events(done: dict[str, Any], *, with_usage: bool) -> Iterator[bytes]:
    """A chat completion in server-sent events, one for each token; the last one says that it is over."""
    head = {key: done[key] for key in ("id", "created", "model", "system_fingerprint")}
    head["object"] = "chat.completion.chunk"
    if with_usage:
        head["usage"] = None

    def chunk(choice: int, delta: dict[str, str], end: str | None = None, logprobs: Any = None) -> bytes:
        told = {"index": choice, "delta": delta, "finish_reason": end, "logprobs": logprobs}
        return _event({**head, "choices": [told]})

    for choice in done["choices"]:
        index, likely = choice["index"], choice["logprobs"]
        yield chunk(index, {"role": "assistant", "content": ""})
        for place, token in enumerate(tokens(choice["message"]["content"])):
            shown = None if likely is None else {"content": likely["content"][place : place + 1], "refusal": None}
            yield chunk(index, {"content": token}, logprobs=shown)
        yield chunk(index, {}, choice["finish_reason"])
    if with_usage:
        yield _event({**head, "choices": [], "usage": done["usage"]})
    yield b"data: [DONE]\n\n"


def embeddings(model: str, texts: Sequence[str], size: int | None, *, packed: bool) -> dict[str, Any]:
    """Vectors of texts, as the protocol has them: `packed` as base64 of little-endian float32, otherwise as numbers.

    Raises:
        ParlourError: The embedder does not take the texts or the size, or it would be more than `MOST_NUMBERS`.
    """
    embedder = _embedder(size)
    if len(texts) * embedder.size > MOST_NUMBERS:
        accepted = f"up to {MOST_NUMBERS} numbers in a reply"
        raise ParlourError(f"{len(texts)} texts in {embedder.size} dimensions are too many; accepted: {accepted}")
    vectors = np.asarray(embedder.embed(list(texts)), dtype="<f4")
    told = [base64.b64encode(vector.tobytes()).decode() if packed else vector.tolist() for vector in vectors]
    asked = sum(map(count_tokens, texts))
    return {
        "object": "list",
        "model": model,
        "data": [{"object": "embedding", "index": index, "embedding": one} for index, one in enumerate(told)],
        "usage": {"prompt_tokens": asked, "total_tokens": asked},
    }


def models(name: str = MODEL_ID) -> dict[str, Any]:
    """The list of models: one."""
    return {"object": "list", "data": [model(name)]}


def model(name: str) -> dict[str, Any]:
    """One model. Any name will do; the same answers to it."""
    return {"id": name, "object": "model", "created": 0, "owned_by": OWNER}


def _logprobs(said: Sequence[str], pool: Sequence[Sequence[str]], top: int) -> dict[str, Any]:
    """How likely each token was after those before it: its share among the answers of the pool that began alike.

    What is said is one of the pool. One that ended earlier no longer counts.
    """
    told = []
    for place, token in enumerate(said):
        counts = Counter(one[place] for one in pool if place < len(one))
        ranked = sorted(counts, key=lambda other: (-counts[other], other))
        shown = [_likely(other, counts) for other in ranked[:top]]
        told.append({**_likely(token, counts), "top_logprobs": shown})
        pool = [one for one in pool if place < len(one) and one[place] == token]
    return {"content": told, "refusal": None}


def _likely(token: str, counts: Counter[str]) -> dict[str, Any]:
    share = counts[token] / counts.total()
    return {"token": token, "logprob": math.log(share), "bytes": list(token.encode())}


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


@lru_cache(maxsize=8)
def _embedder(size: int | None) -> Any:
    from parlour.policies.retrieval.embedders import HashingEmbedder

    return HashingEmbedder() if size is None else HashingEmbedder(size)
