"""Abilities as scores of Inspect: the model is asked in private after its games.

`parlour benchmark abilities` gives the same figures on the same games and answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextvars import Context, copy_context
from functools import lru_cache, partial
from hashlib import sha256
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Final

from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken, current_token
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    Model as InspectModel,
    get_model,
)
from inspect_ai.scorer import Metric, SampleScore, Value, metric
from parlour.envs.registry import lookup
from parlour.policies.agents.belief import StatedBelief
from parlour.policies.agents.chat import ChatPlayer
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.chat import ChatModel, ChatSettings
from parlour.policies.llm.model import Answered, Model, RequestContext
from parlour.policies.llm.transport.budget import Prices
from parlour.policies.llm.transport.meter import Meter
from parlour.policies.llm.transport.request import Completion, Request, Usage
from parlour.training.harnesses.inspect_ai.played import StoredGame, play_again
from parlour.training.measure.abilities.asked import stated_by
from parlour.training.measure.abilities.figures import numbers_of
from parlour.training.measure.abilities.moments import OPPONENT, BeliefMoment, belief_moments, village_moments
from parlour.training.measure.abilities.run import Abilities, abilities
from parlour.training.measure.abilities.werewolf_games import read_werewolf
from parlour.training.measure.analysis.games import GAME as AVALON, read_game
from parlour.training.measure.benchmark.played import FOLDER
from parlour.training.measure.werewolf.played import GAME as WEREWOLF
from parlour.training.results.progress import no_progress

PLAYER: Final = ChatPlayer.name
_MESSAGES: Final = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
Metadata = Mapping[str, Any]
"""Metadata of a sample's score."""


class InspectTransport:
    """Brings questions of parlour, asked in threads, to a model of Inspect.

    Args:
        model: The model.
        token: The event loop in which it is asked.
        context: The context of the sample that is scored, so that Inspect logs and limits the calls as its own.
    """

    def __init__(self, model: InspectModel, token: EventLoopToken, context: Context) -> None:
        self._model, self._token, self._context = model, token, context

    def complete(self, request: Request) -> Completion:
        """The reply. Raises what Inspect raises."""
        messages: list[ChatMessage] = [_MESSAGES[message.role](content=message.content) for message in request.messages]
        config = GenerateConfig(temperature=request.temperature, max_tokens=request.max_tokens)
        ask = partial(self._model.generate, messages, config=config)
        output = self._context.copy().run(partial(from_thread.run, ask, token=self._token))
        used = output.usage
        usage = Usage(used.input_tokens, used.output_tokens) if used else Usage(0, 0)
        return Completion((output.completion,), usage, ("length" if output.stop_reason == "max_tokens" else "stop",))


class KeptAnswers(Model):
    """Asks a model and keeps its answers as plain values; or gives the answers that were kept.

    Args:
        inner: Who answers; None: the kept answers are all.
        kept: Key of a question -> its answer.
    """

    name = PLAYER
    is_language_model: ClassVar[bool] = True

    def __init__(self, inner: Model | None = None, kept: Mapping[str, Any] | None = None) -> None:
        self.inner, self.kept = inner, dict(kept or {})

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        put = json.dumps([question.kind, question.model_dump(mode="json"), context.seat, context.game])
        key = sha256(put.encode()).hexdigest()
        if self.inner is not None:
            answered = self.inner.answer(question, context)
            calls = [{name: value for name, value in call.items() if name != "prompt"} for call in answered.calls]
            self.kept[key] = [answered.value.model_dump(mode="json"), answered.tries, answered.reason, calls]
        value, tries, reason, calls = self.kept[key]
        return Answered(StatedBelief.model_validate(value), tries, reason, tuple(calls))  # type: ignore[arg-type]

    def settings(self) -> dict[str, Any]:
        return {"model": self.name}


async def answers_about(stored: Metadata, metadata: Metadata) -> dict[str, Any]:
    """What the evaluated model states at the moments of a game that has ended.

    Args:
        stored: The game, as it is in the sample's store.
        metadata: The sample's metadata.
    """
    transport = InspectTransport(get_model(), current_token(), copy_context())
    model = KeptAnswers(ChatModel(PLAYER, Meter(transport, Prices()), ChatSettings(concurrency=1)))
    await to_thread.run_sync(_ask, model, stored, metadata)
    return model.kept


def _ask(model: KeptAnswers, stored: Metadata, metadata: Metadata) -> None:
    with TemporaryDirectory() as folder:
        path = _written({**metadata, "game": stored}, Path(folder))
        own = [moment for moment in _moments(path, lookup(metadata["game"]).spec.id) if moment.by_player]
        if own:
            stated_by(PLAYER, own, model, no_progress)


def _moments(path: Path, game: str) -> list[BeliefMoment]:
    if game == AVALON:
        return list(belief_moments([read_game(path)]))
    return list(village_moments([read_werewolf(path)])) if game == WEREWOLF else []


def _written(metadata: Metadata, folder: Path) -> Path:
    """The transcript of a game, where a run of the benchmark has it."""
    stored = StoredGame.from_json(metadata["game"])
    spec = lookup(stored.table.game).spec
    side = spec.sides.index(metadata["side"])  # the order of a run; a game's name is its own, whatever the opponent
    opponent: str = metadata["opponent"]
    target: Path = folder / FOLDER / metadata["table"] / opponent / f"{spec.id}-{stored.seed}-{side}-{opponent}.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    players = {agent: PLAYER if agent in stored.own else f"{opponent}{OPPONENT}" for agent in stored.returns}
    play_again(stored, target, {"players": players})
    return target


@metric(name="ability")
def ability_figures(games: int, ability: str) -> Metric:
    """The figures of one ability, each with its interval and standard error.

    A NaN alone, called `none`, while games are missing, or if none is of Avalon: Inspect also asks in the middle of a run.

    Args:
        games: How many the task has.
        ability: As `parlour.training.measure.abilities.figures` calls it.
    """

    def value(scores: list[SampleScore]) -> Value:
        metadata = (sample.score.metadata or {} for sample in scores)
        shown = ({key: sample[key] for key in ("table", "opponent", "side", "game", "stated")} for sample in metadata)
        plain = (json.dumps(sample, sort_keys=True) for sample in shown)
        measured = _measured(tuple(sorted(plain))) if len(scores) == games else None
        return {"none": nan} if measured is None else dict(numbers_of(measured, ability))

    return value


@lru_cache(maxsize=2)
def _measured(games: Sequence[str]) -> Abilities | None:
    """The abilities in games that were scored, as plain values; every metric of a task has the same games."""
    samples = [json.loads(game) for game in games]
    if not any(lookup(sample["game"]["table"]["game"]).spec.id == AVALON for sample in samples):
        return None
    kept = {key: answer for sample in samples for key, answer in sample["stated"].items()}
    with TemporaryDirectory() as folder:
        for sample in samples:
            _written(sample, Path(folder))
        return abilities(Path(folder), PLAYER, KeptAnswers(kept=kept), no_progress)
