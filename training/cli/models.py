"""Which model answers the agents' questions, and the report of its usage."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from parlour.policies import asks_a_model
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import Model
from parlour.training.cli.options import Options


@contextmanager
def _answering(config: ModelConfig) -> Iterator[Model]:
    """The model of a command; its usage is told on standard error when the command ends."""
    model = make_model(config)
    try:
        yield model
    finally:
        tell_usage(model)


ModelOption = Annotated[Model, Options(config=ModelConfig, make=_answering, repeated=("stop",), panel="Model")]


def called(model: Model) -> str:
    """What results call a model; never a language model what is none.

    >>> from parlour.policies.llm.model import OfflineModel
    >>> called(OfflineModel())
    'heuristics (no language model)'
    """
    return model.name if model.is_language_model else "heuristics (no language model)"


def seated(name: str, model: Model) -> str:
    """What transcripts and tables call a player: with the model that answers it, if it asks one.

    >>> from parlour.policies.llm.model import OfflineModel
    >>> seated("heuristic", OfflineModel()), seated("chat", OfflineModel())
    ('heuristic', 'chat @ offline')
    """
    return f"{name} @ {model.name}" if asks_a_model(name) else name


def tell_usage(model: Model) -> None:
    """One or two lines on standard error: calls, tokens, dollars, valid replies, what the server did not take."""
    meter = getattr(model, "meter", None)
    if meter is None:
        return
    total = meter.total
    cost = "cost unknown (no price for the model)" if total.dollars is None else f"{total.dollars:.4f} dollars"
    share = "-" if total.valid_share is None else f"{total.valid_share:.1%}"
    told = (
        f"{model.name}: {total.calls} calls, {total.cached} from the cache, {total.retries} retries, "
        f"{total.prompt:,} + {total.completion:,} tokens, {cost}; "
        f"{total.asked} questions, {total.repaired} asked again, {total.fallbacks} answered by heuristic instead, "
        f"valid replies {share}"
    )
    print(told, file=sys.stderr)  # noqa: T201
    if meter.dropped:
        print(f"{model.name}: the server did not take {', '.join(meter.dropped)}", file=sys.stderr)  # noqa: T201
