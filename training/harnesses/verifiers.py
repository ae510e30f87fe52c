"""Our games as an environment of the library `verifiers`, its `v1` interface: to evaluate models and to train them.

Interfaces of the package `verifiers` 0.4: `Taskset.load`, `TaskData`, `Env.run(task, agents)`, `Agent.interaction`,
`Trace.record_reward`, `Harness`, `HarnessSession`. One task is one game, numbered by its seed, without an end; one interaction
is a seat, whose return is its reward. A model gets the messages that `parlour.wrappers.Conversation` writes for its seat. The
package `examples/verifiers/parlour_v1` is that by which verifiers finds them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, ClassVar, Final, Self

import openai
import verifiers.v1 as vf
from parlour.envs.core import accept, check_one_of
from parlour.training.play import seeds
from parlour.training.play.extras import import_extra
from parlour.training.play.outside import OutsideSeats, OutsideTable
from pydantic import Field, model_validator

ALL: Final = "all"
EACH: Final = "each"
OPPONENT: Final = "opponent"
"""Names the agent of verifiers among the opponents: `TableConfig.opponent`."""


class GamesConfig(vf.TasksetConfig):
    """Which games are dealt: `--env.taskset.*`."""

    game: str = "avalon_v0"
    options: dict[str, Any] = Field(default_factory=dict)
    """Options of the game, such as `{"num_players": 5}`."""
    seats: str = ALL
    """The seats of the agent `player`: `all` (one model plays itself), `each` (one seat a game, in turn), or agents' names with
    commas between them."""
    opponents: str = "heuristic"
    """At the other seats: a player of parlour's, or `opponent` for the agent of that name."""
    seed: int = Field(0, ge=0)
    """Seed of the first game; later games count on from it, as far as seeds are for the same purpose: learning, validation or
    results (`parlour.training.play.seeds`). The deals of `parlour evaluate` begin at 2,147,483,648."""
    on_bad: str = "ask_again"
    """What follows words that cannot be used: see `parlour.wrappers.TextActions`."""
    tries: int = 3
    """How often a seat is asked."""
    list_options: bool = True
    """Whether the messages list what may be said."""
    listening: bool = False
    """Whether good seats are asked after the game who is evil, and rewarded for the answer (`social.py`). Avalon."""
    speaking: bool = False
    """Whether seats are rewarded for what their claims did to the belief of good seats. Avalon."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        table = table_of(self)
        _seats_of(self, table.seats, 0)
        _alike(self.seed)
        if self.opponents != OPPONENT:
            table.check_opponents()
        if self.listening or self.speaking:
            check_one_of("game of listening and speaking", self.game, (_social().GAME,))
        return self


class GameData(vf.TaskData):
    """One game: all that is needed to deal it again."""

    game: str
    options: dict[str, Any]
    seats: tuple[str, ...]
    """Seats of the agent `player`."""
    opponents: str
    seed: int
    on_bad: str
    tries: int
    list_options: bool
    listening: bool = False
    speaking: bool = False


class GameTask(vf.Task[GameData]):
    """One game; its rewards are recorded by `TableEnv`."""


class GamesTaskset(vf.Taskset[GameTask, GamesConfig]):
    """Games from the first seed on."""

    INFINITE: ClassVar[bool] = True

    def load(self) -> Iterator[GameTask]:
        """The games in order of their seeds, up to the last seed for the same purpose."""
        config = self.config
        agents = table_of(config).seats
        names = [*OutsideTable.model_fields, "listening", "speaking"]
        shared = {name: getattr(config, name) for name in names}
        for number, seed in enumerate(_alike(config.seed)):
            seats = _seats_of(config, agents, number)
            yield GameTask(GameData(name=f"{config.game}#{seed}", seats=seats, seed=seed, **shared), config.task)


def table_of(games: GamesConfig | GameData) -> OutsideTable:
    """How the table of these games is set up. Raises `ParlourError` for settings that are not accepted."""
    return OutsideTable(**{name: getattr(games, name) for name in OutsideTable.model_fields})


def talking(data: GameData) -> tuple[str, ...]:
    """The seats of a game that models play, in order."""
    return tuple(agent for agent in table_of(data).seats if data.opponents == OPPONENT or agent in data.seats)


def _alike(first: int) -> range:
    """A seed and those behind it that are for the same purpose: no run drifts into the deals of another. Raises `ParlourError`."""
    for purpose in (seeds.TRAINING, seeds.VALIDATION, seeds.HELD_OUT):
        if first in purpose:
            return range(first, purpose.stop)
    raise accept("seed", first, "0 to 1,610,612,735, or 2,147,483,648 to 4,294,967,295")


def _seats_of(config: GamesConfig, agents: Sequence[str], number: int) -> tuple[str, ...]:
    """The seats of the agent `player` in a game, by its number from 0. Raises `ParlourError`."""
    if config.seats == ALL:
        return tuple(agents)
    if config.seats == EACH:
        return (agents[number % len(agents)],)
    chosen = tuple(config.seats.split(","))
    for seat in chosen:
        if seat not in agents or chosen.count(seat) > 1:
            raise accept("seats", config.seats, [ALL, EACH, *agents])
    return chosen


class TableConfig(vf.EnvConfig):
    """Who sits at the table: `--env.*`. Both agents run in this process unless told otherwise."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """The model that is evaluated or trained, at all of its seats."""
    opponent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())
    """A model at the other seats, with `--env.taskset.opponents opponent`; it is not trained."""
    transcripts: Path | None = None
    """Folder for a transcript of each game, for `parlour replay`; None: none are written."""


class TableEnv(vf.Env[TableConfig]):
    """One game an episode; a trace for each seat that a model plays."""

    async def setup(self, agents: vf.Agents) -> None:
        agents.opponent.trainable = False

    async def run(self, task: GameTask, agents: vf.Agents) -> None:
        """Play one game. A model that fails, or that is out of its limits, says nothing more: the table continues by its
        rules.
        """
        data: GameData = task.data
        async with AsyncExitStack() as stack:
            seats: dict[str, vf.Interaction] = {}
            for seat in reversed(talking(data)):  # contexts close in reverse: the traces stand in order of the seats
                agent = agents.player if seat in data.seats else agents.opponent
                seats[seat] = await stack.enter_async_context(agent.interaction(task))
            talk = await asyncio.to_thread(_dealt, data, self.config.transcripts, seats)
            stack.callback(talk.close)
            while (speaker := talk.agent) is not None:
                segment = await seats[speaker].turn(talk.hear(speaker))
                if segment.terminated:
                    await asyncio.to_thread(talk.leave, speaker)
                else:
                    await asyncio.to_thread(talk.say, segment.last_reply)
            for seat in talk.agents:
                _record(seats[seat].trace, talk, seat)
                await _reward_social(data, seats[seat], talk, seat)


def _dealt(data: GameData, transcripts: Path | None, seats: dict[str, vf.Interaction]) -> OutsideSeats:
    """The game of a task, up to the first turn of a model."""
    settings = table_of(data)
    players = dict.fromkeys(settings.seats, data.opponents)
    players |= {seat: str(interaction.trace.agent.config.model) for seat, interaction in seats.items()}
    path = None
    if transcripts is not None:
        path = transcripts / f"{data.game}-{data.seed}-{seats[min(seats)].trace.id}.jsonl"
    if data.opponents == OPPONENT:
        settings = settings.replace(opponents="random")  # models hold all seats: nobody is left to play
    talk = OutsideSeats(settings, talking(data), path, {"players": players})
    talk.deal(data.seed)
    return talk


def _record(trace: vf.Trace, talk: OutsideSeats, seat: str) -> None:
    """The return of a seat, its faults, and what it would be told next: how the game ended."""
    outcome = talk.game_env.outcome
    assert outcome is not None  # it was played to its end
    faults = {name: float(number) for name, number in talk.faults[seat].items()}
    trace.record_reward("return", talk.rewards[seat])
    trace.record_metrics({**faults, "left": float(seat in talk.left)})
    trace.info.update(seat=seat, winner=outcome.winner, reason=outcome.reason, last_message=talk.hear(seat))


def _social() -> Any:
    """The module of listening and speaking. Raises `ParlourError` without the extra `batch`, which these rewards need."""
    return import_extra("parlour.training.harnesses.social", "batch")


async def _reward_social(data: GameData, asked: vf.Interaction, talk: OutsideSeats, seat: str) -> None:
    """The rewards of listening and speaking, where they are wanted. A seat that left is not asked, and earns no listening."""
    if not (data.listening or data.speaking):
        return
    end = await asyncio.to_thread(_social().seat_end, talk.game_env, seat)
    if data.speaking:
        asked.trace.record_reward("speaking", end.speaking)
    if data.listening and end.good and seat not in talk.left:
        segment = await asked.turn(end.question)
        words = "" if segment.terminated else segment.last_reply
        asked.trace.record_reward("listening", end.listening(words))
        asked.trace.record_metrics({"belief_read": float(end.stated(words) is not None)})


class ChatConfig(vf.HarnessConfig):
    """How a seat's model is asked: `--env.player.harness.*`."""

    max_retries: int = Field(2, ge=0)
    """How often a request that failed on its way is sent again, before the seat says nothing any more."""


class ChatHarness(vf.Harness[ChatConfig]):
    """Asks by chat completions, one request a turn, with all messages of the seat."""

    APPENDS_SYSTEM_PROMPT: ClassVar[bool] = True
    SUPPORTS_RESUME: ClassVar[bool] = True
    EXECUTES_CODE: ClassVar[bool] = False
    NEEDS_CONTAINER: ClassVar[bool] = False

    async def session(self, *given: Any, **named: Any) -> ChatSession:
        return ChatSession(self, *given, **named)

    async def launch(self, *given: Any, **named: Any) -> vf.ProgramResult:
        session = ChatSession(self, *given, **named)
        try:
            return await session.ask(())
        finally:
            await session.close()


class ChatSession(vf.HarnessSession):
    """The messages of one seat, over one connection to verifiers' interception in this process."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._messages: list[Any] = []
        system, prompt = self.harness.resolve_text_prompt(self.data)
        if system is not None:
            self._messages.append({"role": "system", "content": system})
        if prompt is not None:
            self._messages.append({"role": "user", "content": prompt})
        self._client = openai.AsyncOpenAI(
            base_url=self.endpoint,
            api_key=self.secret,
            max_retries=self.harness.config.max_retries,
            timeout=None,  # verifiers has limits of its own for a turn
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False, verify=False),  # on loopback, without TLS
        )

    async def ask(self, messages: Any) -> vf.ProgramResult:
        """Say what is new and take the reply."""
        self._messages += [{"role": message.role, "content": message.content} for message in messages]
        try:
            reply = await self._client.chat.completions.create(model=self.ctx.model, messages=self._messages)
        except openai.APIError as error:
            return vf.ProgramResult(1, "", str(error))
        self._messages.append(reply.choices[0].message.model_dump(exclude_none=True))
        return vf.ProgramResult(0, "", "")

    async def _run(self, messages: Any) -> vf.ProgramResult:
        return await self.ask(messages or ())

    async def close(self) -> None:
        await super().close()
        await self._client.close()
