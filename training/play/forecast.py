"""What a game will take where players ask a language model: questions, tokens, dollars, and the time at the measured speed.

Some games are rehearsed: whoever asks the model gets the heuristics' answers, and everybody else is the heuristic player. That counts
the questions. The first of them is then asked, which measures the speed. Its game uses this reply, so the measurement costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from parlour.envs.adapters.aec import GameEnv
from parlour.policies import make_policy
from parlour.policies.llm import fit
from parlour.policies.llm.ask import A, Ask
from parlour.policies.llm.chat import ChatModel
from parlour.policies.llm.model import Answered, Model, RequestContext
from parlour.policies.llm.transport.request import CallFailed, Completion, Usage
from parlour.policies.names import HEURISTIC, RANDOM
from parlour.training.play.parallel.concurrent_games import Job, table_like
from parlour.training.play.rollout import play
from parlour.training.runs.progress import duration
from pettingzoo.utils.env import AECEnv

_REHEARSED: Final = 3
"""Games that are rehearsed at most: in one, whoever asks may be out before the first question."""


@dataclass
class RehearsedModel(Model):
    """Answers by heuristics in a language model's place, and counts. It is no language model, though players take it for one.

    Args:
        asked: The model in whose place it answers.
    """

    asked: ChatModel
    questions: int = 0
    prompt: int = 0
    """Tokens of the prompts, by an estimate that errs to the long side."""
    first: tuple[Ask[Any], RequestContext] | None = None
    """The first question."""
    is_language_model: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.name = self.asked.name

    def answer(self, question: Ask[A], context: RequestContext) -> Answered[A]:
        self.first = self.first or (question, context)
        self.questions += 1
        self.prompt += fit.opening(question, context.rules, self.asked.templates).tokens()
        return Answered(question.heuristic(np.random.default_rng(context.sample)))

    def settings(self) -> dict[str, Any]:
        return self.asked.settings()

    def __deepcopy__(self, memo: Mapping[int, Any]) -> RehearsedModel:
        return self


@dataclass(frozen=True)
class GameForecast:
    """What games will take, by those that were rehearsed."""

    model: str
    questions: float
    """In a game, on average."""
    prompt: float
    """Tokens read in a game, at most."""
    games: int
    reply: Completion | None
    """The first reply; None if there is none."""
    dollars: float | None
    """The cost of a game, if all replies are as long as the first; None if that is unknown."""
    why: str = ""
    """Why there is no reply."""

    @property
    def seconds(self) -> float | None:
        """The time of a game if calls follow one another and all take as long as the first; None if that is unknown."""
        return None if self.reply is None or self.reply.cached else self.questions * self.reply.seconds

    def line(self) -> str:
        """In a line."""
        number = f"{self.questions:,.0f} question{'' if round(self.questions) == 1 else 's'}"
        asked = f"{self.model}: a game asks about {number} and reads up to {self.prompt:,.0f} tokens"
        cost = "Cost unknown (no price for the model, or tokens unknown; accepted: --price)"
        return (
            f"{asked}. {self._time()}. {cost if self.dollars is None else f'About {self.dollars:.4f} dollars a game'}."
        )

    def _time(self) -> str:
        if self.reply is None:
            return f"Its time is unknown: {self.why}"
        if self.seconds is None:
            return "Its time is unknown: the first reply came from the cache"
        written, seconds = self.reply.usage.completion, self.reply.seconds
        speed = f", {written:,} tokens, {written / max(seconds, 1e-3):,.1f} tokens/s" if written else ""
        games = f", {self.games} games {duration(self.games * self.seconds)}" if self.games > 1 else ""
        return (
            f"The first question was asked now to measure the speed, and the game uses its reply ({seconds:,.1f} s{speed}). "
            f"A game takes about {duration(self.seconds)}{games}; less if the server answers several calls at once"
        )


def forecasts(env: AECEnv[str, Any, Any], jobs: Sequence[Job], *, measured: bool = True) -> list[str]:
    """What games will take, a line for each language model that is asked in them; none where none is asked.

    Args:
        env: What `rollout.table` makes; it is left alone.
        jobs: The games that will be played.
        measured: Whether the first question is asked; its reply reaches only games in this process.

    Raises:
        ParlourError: The model cannot be asked at all: what ends a run ends it here.
    """
    if hasattr(env, "annotate"):
        return []  # a copy of a Recorder would write
    makers = {id(make): make for job in jobs for _, make in job.players}
    models = {key: getattr(make(), "model", None) for key, make in makers.items()}
    lines = []
    for model in dict.fromkeys(model for model in models.values() if isinstance(model, ChatModel)):
        asking = {key for key, own in models.items() if own is model}
        seats = [sum(id(make) in asking for _, make in job.players) for job in jobs]
        tried = [number for number, asked in enumerate(seats) if asked][:_REHEARSED]
        rehearsed = RehearsedModel(model)
        try:
            for number in tried:
                _rehearse(env, jobs[number], asking, rehearsed)
        except Exception as error:  # of a player of the user's own; its game will say more
            why = f"{type(error).__name__}: {' '.join(str(error).split())}"
            lines.append(f"{model.name}: what a game takes is unknown: {why}")
            continue
        share = sum(seats) / len(jobs) / sum(seats[number] for number in tried)
        lines.append(_forecast(model, rehearsed, share, len(jobs), measured=measured).line())
    return lines


def _rehearse(env: AECEnv[str, Any, Any], job: Job, asking: Collection[int], model: RehearsedModel) -> None:
    """Play a game without the language model; all that players keep is left as it is."""
    table = table_like(env)
    base = table.unwrapped
    assert isinstance(base, GameEnv)
    other = HEURISTIC if base.spec.heuristic else RANDOM
    players = [
        deepcopy(make(), {id(model.asked): model})
        if id(make) in asking
        else make_policy(other, base.spec.id, base.game.config)
        for _, make in job.players
    ]
    play(table, players, job.seed)


def _forecast(model: ChatModel, rehearsed: RehearsedModel, share: float, games: int, *, measured: bool) -> GameForecast:
    """What games take, if each asks so large a share of the questions that were asked in all rehearsals."""
    reply, why = None, "it is not measured where other processes play"
    if rehearsed.first is None:
        why = "nobody was asked in the rehearsed games"
    elif measured:
        try:
            reply, why = model.ask_ahead(*rehearsed.first), "the first prompt does not fit into the model's context"
        except CallFailed as error:
            late = "; accepted: a longer --timeout, or shorter replies by --reason-length or --max-tokens"
            why = f"{error}{late if error.reason == 'timeout' else ''}"
    questions, prompt = share * rehearsed.questions, share * rehearsed.prompt
    written = None if reply is None else reply.usage.completion
    used = Usage(round(prompt), None if written is None else round(questions * written))
    return GameForecast(model.name, questions, prompt, games, reply, model.meter.prices.cost(model.name, used), why)
