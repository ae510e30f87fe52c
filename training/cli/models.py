"""Which model answers the agents' questions: the options that commands share, and what is told of it afterwards."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Annotated, Any, Final, get_type_hints

import typer
from parlour.envs.core import ParlourError
from parlour.policies import asks_a_model
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.model import OFFLINE, Model

_PANEL: Final = "Model"


def _option(*names: str, help: str, **more: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_PANEL, show_default=False, **more)


_OPTIONS: Final[dict[str, Any]] = {
    "model": Annotated[
        str, _option("--model", help="Who answers: `offline` (heuristics, the default) or a model's name.")
    ],
    "base_url": Annotated[
        str | None, _option("--base-url", help="An OpenAI-compatible endpoint; OpenAI's own if not given.")
    ],
    "key_env": Annotated[
        str | None, _option("--key-env", help="The environment variable that holds the key (OPENAI_API_KEY).")
    ],
    "temperature": Annotated[float | None, _option("--temperature", min=0.0, help="Of sampling (0.3).")],
    "timeout": Annotated[float | None, _option("--timeout", min=0.1, help="Seconds for an answer (60).")],
    "max_retries": Annotated[int | None, _option("--max-retries", min=0, help="Of a call that fails (6).")],
    "cache": Annotated[
        str | None, _option("--cache", help="File that keeps replies; a second run is free and identical.")
    ],
    "cache_mode": Annotated[
        str | None, _option("--cache-mode", help="`record` (default), `replay` (never calls out) or `off`.")
    ],
    "max_dollars": Annotated[float | None, _option("--max-dollars", min=0.0, help="Stop when so much is spent.")],
    "max_calls": Annotated[int | None, _option("--max-calls", min=0, help="Stop after so many calls.")],
    "max_seconds": Annotated[float | None, _option("--max-seconds", min=0.0, help="Stop after so long.")],
    "prices": Annotated[str | None, _option("--prices", help="A file of prices, over the built-in ones.")],
    "price": Annotated[
        str | None, _option("--price", help="Dollars per million tokens read and written, such as 0.15,0.6.")
    ],
}
"""Field of `ModelConfig` -> option."""


def takes_model(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a model; it gets `model`, and what the model used is told on standard error."""
    hints = get_type_hints(command, include_extras=True)
    own = [one.replace(annotation=hints[one.name]) for one in inspect.signature(command).parameters.values()]
    added = [
        inspect.Parameter(
            key, inspect.Parameter.KEYWORD_ONLY, default=OFFLINE if key == "model" else None, annotation=of
        )
        for key, of in _OPTIONS.items()
    ]
    taken = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own if one.name != "model"]

    def run(**given: Any) -> None:
        model = _made({key: given.pop(key) for key in _OPTIONS})
        try:
            command(model=model, **given)
        finally:
            tell_usage(model)

    run.__doc__, run.__name__ = command.__doc__, command.__name__
    run.__signature__ = inspect.Signature([*taken, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*taken, *added)}
    return run


def _made(given: dict[str, Any]) -> Model:
    settings = {key: value for key, value in given.items() if value is not None}
    if "price" in settings:
        settings["price"] = _price(settings["price"])
    return make_model(ModelConfig(**settings))


def _price(text: str) -> tuple[float, float]:
    try:
        read, written = (float(part) for part in text.split(","))
    except ValueError:
        raise ParlourError(f"price {text!r} is not accepted; accepted: two numbers, such as 0.15,0.6") from None
    return read, written


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
