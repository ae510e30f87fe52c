"""A table at which models of verifiers sit: one interaction a seat, and the return of its seat as the reward of each.

Interfaces of the package `verifiers` 0.4: `Env.run(task, agents)`, `Agent.interaction`, `Trace.record_reward`. What a model is
told is what `parlour.wrappers.Conversation` tells its seat.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import verifiers.v1 as vf
from parlour.training.harnesses.verifiers.games import OPPONENT, GameData, GameTask, agents_at, talking
from parlour.wrappers.conversation import Conversation, table


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
        """Play one game. A model that fails, or that is out of its limits, says nothing any more: the table goes on by its rules."""
        data: GameData = task.data
        async with AsyncExitStack() as stack:
            seats: dict[str, vf.Interaction] = {}
            for seat in reversed(talking(data)):  # contexts close in reverse: the traces stand in order of the seats
                agent = agents.player if seat in data.seats else agents.opponent
                seats[seat] = await stack.enter_async_context(agent.interaction(task))
            talk = await asyncio.to_thread(_dealt, data, self.config.transcripts, seats)
            stack.callback(talk.env.close)
            left = await _play(talk, seats)
            for seat in talk.agents:
                _record(seats[seat].trace, talk, seat, seat in left)


async def _play(talk: Conversation, seats: dict[str, vf.Interaction]) -> set[str]:
    """The game to its end; the seats that left it."""
    left: set[str] = set()
    while (seat := talk.agent) is not None:
        segment = await seats[seat].turn(talk.hear(seat))
        if segment.terminated:
            left.add(seat)
            await asyncio.to_thread(talk.leave, seat)
        else:
            await asyncio.to_thread(talk.say, segment.last_reply)
    return left


def _dealt(data: GameData, transcripts: Path | None, seats: dict[str, vf.Interaction]) -> Conversation:
    """The game of a task, up to the first turn of a model."""
    told = dict.fromkeys(agents_at(data.game, data.options), data.opponents)
    told |= {seat: str(one.trace.agent.config.model) for seat, one in seats.items()}
    path = None
    if transcripts is not None:
        path = transcripts / f"{data.game}-{data.seed}-{seats[min(seats)].trace.id}.jsonl"
    env = table(
        data.game, on_bad=data.on_bad, tries=data.tries, transcript=path, header={"players": told}, **data.options
    )
    others = "random" if data.opponents == OPPONENT else data.opponents  # models hold all seats: nobody is left to play
    talk = Conversation(env, talking(data), others, list_options=data.list_options)
    talk.reset(data.seed)
    return talk


def _record(trace: vf.Trace, talk: Conversation, seat: str, left: bool) -> None:
    """The return of a seat, its faults, and what it would be told next: how the game ended."""
    outcome = talk.game_env.outcome
    assert outcome is not None  # it was played to its end
    trace.record_reward("return", talk.rewards[seat])
    trace.record_metrics({name: float(number) for name, number in talk.faults[seat].items()} | {"left": float(left)})
    trace.info.update(seat=seat, winner=outcome.winner, reason=outcome.reason, last_message=talk.hear(seat))
