"""Models that are scripts, for Inspect's own `eval`; Inspect AI has to be installed."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model

from tests.training.harnesses.one_stub import stub_words

WARNINGS = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Inspect leaves streams to the garbage collector
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings(
        "ignore:The 'initial' parameter is deprecated:DeprecationWarning"
    ),  # tenacity, in Inspect
]
Reply = Callable[[list[ChatMessage]], str]


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect the streams while their warnings are ignored, not at the end of the session."""
    yield
    gc.collect()


def stub_reply(messages: list[ChatMessage]) -> str:
    """What the model that plays over every route says."""
    return stub_words([{"role": message.role, "content": message.text} for message in messages])


def scripted(reply: Reply, name: str = "options") -> Any:
    """A model that answers by a function of all that it is sent."""

    def answer(messages: list[ChatMessage], tools: Any, choice: Any, config: Any) -> ModelOutput:
        assert not tools
        output = ModelOutput.from_content("mockllm", reply(messages))
        output.usage = ModelUsage(input_tokens=9, output_tokens=1, total_tokens=10)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)


def evaluated(tasks: Any, model: Any, folder: Path, **settings: Any) -> list[EvalLog]:
    return list(evaluate(tasks, model=model, log_dir=str(folder), display="none", **settings))
