"""What Inspect's registry finds under `parlour`: a task for each game, called as the game is without its version.

inspect eval parlour/avalon --model openai/gpt-5 -T num_players=5 -T deals=40
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from math import nan
from typing import Any, Final

from anyio import to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, Model, get_model, model_roles
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, grouped, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import span
from parlour.envs.core import NATURE, ParlourError
from parlour.envs.registry import loadable
from parlour.envs.spec import GameSpec
from parlour.training.harnesses.inspect_ai.played import (
    ONE,
    STORED,
    ModelTable,
    StoredGame,
    TaskGame,
    played,
    seatings,
    seeds_of,
)
from parlour.training.play.outside import OutsideSeats
from parlour.training.report.verdicts import DecidedBy

OPPONENT: Final = "opponent"
"""The model role of all seats that the evaluated model does not take; a seat's name is the role of that seat alone."""
TASK: Final = (
    "You play one seat of a game with others. Answer each message with one sentence, one of the options or your own words: all of "
    "your answer is said at the table, so think before you answer, not in it."
)
_MODERATOR: Final = "moderator"
_TURN: Final = "turn"
"""The type of a span. Spans of the type "agent" are folded up in the viewer, and their game cannot be read."""


@solver
def whole_game(
    game: str,
    options: Mapping[str, Any],
    opponents: str = "heuristic",
    on_bad: str = "ask_again",
    tries: int = 3,
    list_options: bool = True,
) -> Solver:
    """Play the sample's game: its metadata name the deal (`seed`) and the model's seats (`seats`).

    Args:
        game: As `parlour.envs.registry.lookup` takes it; the other arguments, too, as in `OutsideTable`.
        options: The game's own.
        opponents: Player of parlour at the seats that no model takes.
        on_bad: What follows words that cannot be used.
        tries: How often a seat is asked.
        list_options: Whether messages list the options.
    """
    table = ModelTable(
        game=game, options=options, opponents=opponents, on_bad=on_bad, tries=tries, list_options=list_options
    )

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        own = tuple(state.metadata["seats"])
        models = _models(table.seats, own)
        talk = OutsideSeats(table, list(models))
        played_game = _Table(talk, models)
        try:
            await played_game.play(state.metadata["seed"])
        finally:  # a limit or an error: the game ends by the table's rules, and is counted
            if talk.dealt:
                talk.leave_all()
                stored = played(talk, own, {agent: str(model) for agent, model in models.items()})
                state.store.set(STORED, stored.plain())
                state.messages = played_game.messages[own[0]]
                state.completed = True
        return state

    return solve


def _models(agents: Sequence[str], own: Sequence[str]) -> dict[str, Model]:
    """Agent -> model, in the order of the seats: of the evaluated model's seats, and of those that a model role names."""
    roles = model_roles()
    for role in roles:
        if role not in (OPPONENT, *agents):
            raise ParlourError(f"model role {role!r} is not accepted; accepted: {', '.join((OPPONENT, *agents))}")
    models = {}
    for agent in agents:
        role = agent if agent in roles else OPPONENT
        if agent in own:
            models[agent] = get_model()
        elif role in roles:
            models[agent] = get_model(role=role)
    return models


class _Table:
    """A game in progress."""

    def __init__(self, talk: OutsideSeats, models: Mapping[str, Model]) -> None:
        self.talk, self.models = talk, models
        self.messages: dict[str, list[ChatMessage]] = {agent: [ChatMessageSystem(content=TASK)] for agent in models}
        self._shown = 0

    async def play(self, seed: int) -> None:
        """The whole game."""
        await to_thread.run_sync(self.talk.deal, seed)
        await self._show(self._news())
        while (agent := self.talk.agent) is not None:
            await self._turn(agent)
        for agent in self.models:
            self.messages[agent].append(ChatMessageUser(content=self.talk.hear(agent)))

    async def _turn(self, agent: str) -> None:
        """One answer of a model, and what the others do until the next one."""
        messages = self.messages[agent]
        messages.append(ChatMessageUser(content=self.talk.hear(agent)))
        async with span(agent, type=_TURN):
            output = await self.models[agent].generate(messages)
            messages.append(output.message)
            await to_thread.run_sync(self.talk.say, output.message.text)
            news = self._news()
            if news and news[0][0] == agent:
                transcript().info(news.pop(0)[1], source=agent)
        await self._show(news)

    async def _show(self, news: Sequence[tuple[str, str]]) -> None:
        """What others did, a span for each: for the viewer, no model is told of it here."""
        for who, lines in news:
            async with span(who, type=_TURN):
                transcript().info(lines, source=who)

    def _news(self) -> list[tuple[str, str]]:
        """What has happened at the table since it was asked for last: who, and the lines of the record."""
        base = self.talk.game_env
        events, self._shown = base.state_now.log[self._shown :], len(base.state_now.log)
        return [
            (
                _MODERATOR if seat == NATURE else base.possible_agents[seat],
                "\n".join(base.text.line(event).rstrip("\n") for event in group),
            )
            for seat, group in groupby(events, key=lambda event: event.seat)
        ]


@metric(name="mean")
def mean_if_own() -> Metric:
    """The mean over samples; no number (NaN) where the model chose fewer than half of its moves itself."""
    return _if_own(mean())


@metric(name="stderr")
def stderr_if_own() -> Metric:
    """The mean's standard error; it counts a deal once, however many seats of it were played. NaN as for the mean."""
    return _if_own(stderr(cluster="seed"))


def _if_own(of_all: Metric) -> Metric:
    def value(scores: list[SampleScore]) -> Value:
        own, moves = moves_chosen([sample.score.metadata or {} for sample in scores])
        return nan if DecidedBy("the model", own, moves).no_score else of_all(scores)

    return value


def moves_chosen(samples: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """The moves that the model chose itself and all its moves, from the metadata of samples' scores."""
    counts = [sample.get("moves_chosen", (0, 0)) for sample in samples]
    return sum(own for own, _ in counts), sum(moves for _, moves in counts)


def metrics_of(sides: bool) -> dict[str, list[Metric]]:
    """The metrics of a task, of all samples and for each side."""
    overall = [mean_if_own(), stderr_if_own()]
    by_side = [grouped(mean_if_own(), "side", all=False)] if sides else []
    return {"win": [*overall, *by_side], "reward": [*overall, *by_side], "faults": [mean()], "own": [mean()]}


@scorer(metrics=metrics_of(sides=False), name="game")
def game_score() -> Scorer:
    """How the game ended for the model: means over its seats of the return and of `return > 0`; words that were no move."""

    async def score(state: TaskState, target: Target) -> Score:
        stored = state.store.get(STORED)
        if stored is None:
            return Score.unscored(reason="scoring_failed", explanation="no game was played")
        game = StoredGame.from_plain(stored)
        return Score(
            value=values_of(game),
            answer=game.winner,
            explanation=game.ended,
            metadata={
                "side": state.metadata["side"],
                "role": state.metadata["role"],
                "seats": list(game.own),
                "returns": dict(game.returns),
                "faults": {agent: dict(counts) for agent, counts in game.faults.items()},
                "winner": game.winner,
                "reason": game.reason,
                "moves": game.moves,
                "moves_chosen": list(_own_moves(game)),
                "left": game.left,
                "models": dict(game.models),
            },
        )

    return score


def values_of(game: StoredGame) -> Mapping[str, Any]:
    """The numbers of a game, of the seats of the evaluated model."""
    own = [game.returns[agent] for agent in game.own]
    refused = [sum(n for kind, n in game.faults[agent].items() if kind != "replaced") for agent in game.own]
    ended = {"win": sum(value > 0 for value in own) / len(own), "reward": sum(own) / len(own)}
    chosen, moves = _own_moves(game)
    return {**ended, "faults": sum(refused), "own": chosen / moves if moves else 1.0}


def _own_moves(game: StoredGame) -> tuple[int, int]:
    """The moves at the model's seats that it chose itself, and all of them."""
    faults = [game.faults[agent] for agent in game.own]
    refused = sum(n for counts in faults for kind, n in counts.items() if kind != "replaced")
    chosen = sum(agent in game.own for agent, _ in game.said) - refused
    return chosen, chosen + sum(counts.get("replaced", 0) for counts in faults)


def game_task(
    game: str,
    options: Mapping[str, Any],
    *,
    seats: str | Sequence[str] = ONE,
    sides: str | Sequence[str] | None = None,
    opponents: str = "heuristic",
    deals: int | Sequence[int] = 20,
    seed: int = 0,
    epochs: int = 1,
    on_bad: str = "ask_again",
    tries: int = 3,
    list_options: bool = True,
) -> Task:
    """A task of one game.

    Args:
        game: As `parlour.envs.registry.lookup` takes it.
        options: The game's own.
        seats: The seats that the model takes, and `sides`: see `seatings`.
        sides: Only seats of these sides.
        opponents: Player of parlour at the seats that no model takes.
        deals: How many deals, or their seeds.
        seed: The first of the deals, counted in `parlour.training.play.seeds.HELD_OUT`.
        epochs: How often each game is played; the deal is the same.
        on_bad: What follows words that cannot be used, and after how many `tries`: see `TextActions`.
        tries: How often a seat is asked.
        list_options: Whether messages list the options.

    Raises:
        ParlourError: An argument is not accepted.
    """
    table = ModelTable(
        game=game, options=options, opponents=opponents, on_bad=on_bad, tries=tries, list_options=list_options
    )
    table.check_opponents()
    base = OutsideSeats(table).game_env
    games = seatings(base, seeds_of(deals, seed), seats, sides)
    return Task(
        dataset=MemoryDataset(list(map(_sample, games)), name=game),
        solver=whole_game(game, options, opponents, on_bad, tries, list_options),
        scorer=game_score(),
        metrics=metrics_of(sides=bool(base.spec.sides)),
        epochs=epochs,
    )


def _sample(game: TaskGame) -> Sample:
    who = f"{', '.join(game.agents)}{f' ({game.role})' if game.role else ''}"
    metadata = {"seed": game.seed, "seats": list(game.agents), "side": game.side, "role": game.role}
    return Sample(input=f"Deal {game.seed}: {who}", id=game.name, metadata=metadata)


_SHARED: Final = [
    parameter
    for parameter in inspect.signature(game_task).parameters.values()
    if parameter.kind is parameter.KEYWORD_ONLY
]


def _task_of(spec: GameSpec) -> Callable[..., Task]:
    """The task of a game; its arguments are those of `game_task` and the game's options."""
    own = list(inspect.signature(spec.options).parameters.values())
    shared = {parameter.name for parameter in _SHARED}

    def made(**given: Any) -> Task:
        options = {key: value for key, value in given.items() if key not in shared}
        return game_task(spec.id, options, **{key: value for key, value in given.items() if key in shared})

    made.__doc__, made.__name__ = f"{spec.title}.", spec.id.rpartition("_v")[0].strip("_")
    made.__signature__ = inspect.Signature([*_SHARED, *own])  # type: ignore[attr-defined]
    registered: Callable[..., Task] = task(made)
    return registered


TASKS: Final = {spec.id: _task_of(spec) for spec in loadable()}
"""Game -> its task."""
