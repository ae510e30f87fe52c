"""Which model answers the agents' questions, and the report of its usage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from parlour.envs.common.terminal import tell
from parlour.envs.core import ParlourError
from parlour.policies import asks_a_model, checkpoint_settings
from parlour.policies.llm.config import ModelConfig
from parlour.policies.llm.decisions import Decisions
from parlour.policies.llm.transport.meter import Taken
from parlour.policies.local_lm.settings import CheckpointSettings, called as checkpoint_called
from parlour.training.cli.options import Options

if TYPE_CHECKING:
    from parlour.policies.llm.model import Model
else:
    Model = Any  # `--help` reads the options of `ModelConfig`, and imports no model

LEARNED: Final = "server.json"
"""What a run has learned about its server, in the run directory: a run that is resumed does not ask again."""


@contextmanager
def answering(config: ModelConfig, out: Path | None = None) -> Iterator[Model]:
    """The model of a command; its usage is printed on standard error when the command ends.

    Args:
        config: The model.
        out: The run directory, if there is one.

    Raises:
        ParlourError: A file in the folder of prompts replaces nothing; at the end: the model was asked and gave no answer.
    """
    from parlour.policies.llm.make import make_model

    model = make_model(config, None if out is None else out / LEARNED)
    meter = getattr(model, "meter", None)
    unknown = _unknown_prompts(config)
    try:
        yield model
    finally:
        for name in unknown:
            if name in _unknown_prompts(config):  # nor is it of a player that was named
                tell(f"prompt {name} in {config.prompts} replaces no question of this command", error=True)
        for line in _usage(meter.taken) if meter is not None else ():
            tell(f"{model.name}: {line}", error=True)
    if meter is not None:
        check_answered(model.name, meter.taken)


def prompts_setting(model: Model) -> dict[str, str]:
    """The folder of prompts with its digest, as a setting of a run; empty where parlour's own are used."""
    from parlour.training.play.decisions import described

    return {name: value for name, value in described(model).items() if name == "prompts"}


def _unknown_prompts(config: ModelConfig) -> list[str]:
    """The prompts of a folder that are of no known question. Raises `ParlourError` for those that no player may bring."""
    if config.prompts is None:
        return []
    from parlour.training.play.asked import unknown_prompts

    return unknown_prompts(config.prompts, own=True)


def check_answered(name: str, taken: Taken) -> None:
    """Raise `ParlourError` if a model was asked, and no answer, or no decision, was its own."""
    from parlour.training.measure.decision_tables import in_its_place

    total, made = taken.total, taken.decisions
    if total.asked and not total.own:
        fault = f"{name!r} answered none of {total.asked} questions ({in_its_place(total)})"
    elif made.decisions and not made.own:
        fault = f"{name!r} made none of {made.decisions} decisions itself ({in_its_place(made)})"
    else:
        return
    raise ParlourError(f"{fault}{taken.last_failure and f'; the last failed call: {taken.last_failure}'}")


ModelOption = Annotated[Model, Options(config=ModelConfig, make=answering, repeated=("stop",), panel="Language model")]


def seated(name: str, model: Model) -> str:
    """What transcripts and tables call a player: with the model that answers it, if it asks one; a checkpoint by its name
    and the hash of its weights.

    >>> from parlour.policies.llm.model import OfflineModel
    >>> seated("heuristic", OfflineModel()), seated("chat", OfflineModel())
    ('heuristic', 'chat @ offline')
    """
    settings = checkpoint_settings(name)
    if settings is not None:
        return checkpoint_called(settings)
    return f"{name} @ {model.name}" if asks_a_model(name) else name


def games_at_once(names: Iterable[str], model: Model) -> int:
    """How many games a command plays at once: as many calls as may be under way, or as many prompts as a checkpoint takes."""
    checkpoints = [settings for name in names if (settings := checkpoint_settings(name)) is not None]
    return max([model.concurrency, *(CheckpointSettings.from_words(checkpoint).batch for checkpoint in checkpoints)])


def _usage(taken: Taken) -> Iterator[str]:
    """A few lines: calls, tokens, dollars; questions; whose the decisions were; what was left out."""
    from parlour.training.measure.decision_tables import in_its_place, reasons, share

    total, made = taken.total, taken.decisions
    yield (
        f"{total.requests} calls, {total.from_cache} from the cache, {total.failed} failed, {total.retries} retries, "
        f"{_tokens(total)}, {_cost(total)}"
    )
    yield (
        f"{total.asked} questions: {total.first} answered by the first reply, {total.again} after asking again, "
        f"{in_its_place(total)}"
    )
    if made.decisions:
        yield (
            f"{made.decisions} decisions: {made.own} its own ({share(made.own, made.decisions)}), {in_its_place(made)}, "
            f"{reasons(made.replaced)} by the table; {reasons(made.refused)} refused by the table"
        )
    if total.served:
        yield f"the server said that {', '.join(total.served)} answered"
    if total.dropped:
        yield f"the server did not take {', '.join(total.dropped)}"
    if made.mended:
        yield f"{made.mended} replies were mended: quotation marks, commas, words of the model's template"
    if taken.last_failure:
        yield f"the last failed call: {taken.last_failure}"
    if total.cut:
        yield f"{total.cut} lines of records did not fit into prompts"


def _tokens(total: Decisions) -> str:
    if total.prompt is None and total.completion is None:
        return "tokens unknown (the server does not report them)"
    from parlour.training.measure.decision_tables import amount

    cached = "" if total.cached is None else f" ({total.cached:,} cached by the server)"
    return f"{amount(total.prompt)}{cached} + {amount(total.completion)} tokens"


def _cost(total: Decisions) -> str:
    if total.dollars is None:
        return f"cost unknown ({'no price for the model' if total.tokens is not None else 'the tokens are unknown'})"
    return f"{total.dollars:.4f} dollars"
