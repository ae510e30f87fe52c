"""The solver: one whole game, each seat's turn in a span of its own, so that the viewer reads like a game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from anyio import to_thread
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser, Model, get_model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import span
from parlour.envs.core import NATURE, ParlourError
from parlour.training.harnesses.inspect_ai.played import STORED, TaskTable, leave, played
from parlour.wrappers.conversation import Conversation

OPPONENT: Final = "opponent"
"""The model role of all seats that the evaluated model does not take; a seat's name is the role of that seat alone."""
TASK: Final = (
    "You play one seat of a game with others. Answer each message with one sentence, one of the options or your own words: all of "
    "your answer is said at the table, so think before you answer, not in it."
)
_MODERATOR: Final = "moderator"
_TURN: Final = "turn"
"""The type of a span. Those of the type "agent" are folded up in the viewer, and a game of them cannot be read."""


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
        game: As `parlour.envs.registry.lookup` takes it.
        options: The game's own.
        opponents: Player of ours at the seats that no model takes.
        on_bad: What follows words that cannot be used, and after how many `tries`: see `TextActions`.
        tries: How often a seat is asked.
        list_options: Whether messages list the options.
    """
    settings = TaskTable(game, options, opponents, on_bad, tries, list_options)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        own = tuple(state.metadata["seats"])
        models = _models(settings, own)
        talk = settings.seat(list(models))
        table = _Table(talk, models)
        try:
            await table.play(state.metadata["seed"])
        finally:  # a limit or an error: the game ends by the table's rules, and is counted
            left = table.dealt and not talk.done
            if left:
                leave(talk)
            if table.dealt:
                names = {agent: str(model) for agent, model in models.items()}
                told = played(talk, settings, state.metadata["seed"], own, names, table.said, left)
                state.store.set(STORED, told.as_json())
                state.messages = table.messages[own[0]]
                state.completed = True
        return state

    return solve


def _models(settings: TaskTable, own: Sequence[str]) -> dict[str, Model]:
    """Agent -> model, in the order of the seats: of the evaluated model's seats, and of those that a model role names."""
    agents = settings.seat().game_env.possible_agents
    roles = model_roles()
    for role in roles:
        if role not in (OPPONENT, *agents):
            raise ParlourError(f"model role {role!r} is not accepted; accepted: {', '.join((OPPONENT, *agents))}")
    found = {}
    for agent in agents:
        role = agent if agent in roles else OPPONENT
        if agent in own:
            found[agent] = get_model()
        elif role in roles:
            found[agent] = get_model(role=role)
    return found


class _Table:
    """A game in progress."""

    def __init__(self, talk: Conversation, models: Mapping[str, Model]) -> None:
        self.talk, self.models = talk, models
        self.said: list[tuple[str, str]] = []
        self.messages: dict[str, list[ChatMessage]] = {agent: [ChatMessageSystem(content=TASK)] for agent in models}
        self.dealt = False
        self._shown = 0

    async def play(self, seed: int) -> None:
        """The whole game."""
        await to_thread.run_sync(self.talk.reset, seed)
        self.dealt = True
        await self._show(self._heard())
        while (agent := self.talk.agent) is not None:
            await self._turn(agent)
        for agent in self.models:
            self.messages[agent].append(ChatMessageUser(content=self.talk.hear(agent)))

    async def _turn(self, agent: str) -> None:
        """One answer of a model, and what the others do until the next one."""
        told = self.messages[agent]
        told.append(ChatMessageUser(content=self.talk.hear(agent)))
        async with span(agent, type=_TURN):
            output = await self.models[agent].generate(told)
            told.append(output.message)
            words = output.message.text
            self.said.append((agent, words))
            await to_thread.run_sync(self.talk.say, words)
            heard = self._heard()
            if heard and heard[0][0] == agent:
                transcript().info(heard.pop(0)[1], source=agent)
        await self._show(heard)

    async def _show(self, heard: Sequence[tuple[str, str]]) -> None:
        """What others did, a span for each: for the viewer, no model is told of it here."""
        for who, lines in heard:
            async with span(who, type=_TURN):
                transcript().info(lines, source=who)

    def _heard(self) -> list[tuple[str, str]]:
        """What has happened at the table since it was asked for last: who, and the lines of the record."""
        base = self.talk.game_env
        events, self._shown = base.state_now.log[self._shown :], len(base.state_now.log)
        return [
            (
                _MODERATOR if seat == NATURE else base.possible_agents[seat],
                "\n".join(base.text.line(event).rstrip("\n") for event in of),
            )
            for seat, of in groupby(events, key=lambda event: event.seat)
        ]
