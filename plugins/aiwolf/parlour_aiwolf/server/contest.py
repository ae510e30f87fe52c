"""A contest: agents connect, games are dealt and played, and wins are counted by agent and role.

Agents change seats from game to game, by the contest's seed. An agent that asked for a role sits, as far as the deal allows, at a
seat with it. Seats that no agent fills are played by one of parlour's players. Games, and so the table, follow from the seed and
from what the agents answer.
"""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any, Final, Literal, Self

import numpy as np
from parlour.envs.adapters.moment import moment
from parlour.envs.core import ParlourError, check_one_of
from parlour.envs.registry import lookup
from parlour.envs.settings import Settings
from parlour.envs.werewolf.vocabulary import WerewolfView
from parlour.policies import Policy, make_policy
from parlour.training.play.parallel.concurrent_games import play_recorded
from parlour.training.play.rollout import table
from parlour.training.report.result_table import Column, ResultTable
from parlour.training.runs.progress import Stage, no_progress
from parlour.training.statistics import Estimate
from parlour.wrappers.text_actions import TextActions
from pydantic import Field, model_validator

from parlour_aiwolf.server.agent import CUT_OFF, MOST_LATE, AIWolfAgent
from parlour_aiwolf.server.connection import AgentConnection
from parlour_aiwolf.server.game_info import SaidLines
from parlour_aiwolf.vocabulary import TABLES, AIWolfRules

_GLANCE: Final = 0.05
"""Seconds after which the server looks whether the agents that are connected have said their names."""
GAME: Final = "aiwolf_v0"
ALL_ROLES: Final = "all"
PLAYERS: Final = tuple(TABLES)


class ContestSettings(Settings):
    """What is played.

    Raises:
        ParlourError: A setting is not accepted.
    """

    players: Literal[5, 15] = 5
    """Number of players: 5 or 15."""
    games: int = Field(default=100, ge=1)
    """Number of games."""
    agents: int | None = None
    """Number of agents to wait for; None: one for each seat."""
    policy: str = "heuristic"
    """Player at the seats that no agent fills."""
    time_limit: float = Field(default=1.0, gt=0, le=86_400)
    """Seconds that an agent has for an answer."""
    wait: float = Field(default=60.0, gt=0, le=86_400)
    """Seconds to wait for agents and for their names and roles; the contest begins with those that are there."""
    seed: int = Field(default=0, ge=0)
    """Seed of the first game; the next ones count on."""

    @model_validator(mode="after")
    def _have_seats(self) -> Self:
        if self.agents is not None:
            check_one_of("agents", self.agents, range(self.players + 1))
        return self

    @property
    def rules(self) -> AIWolfRules:
        """The rules of the table."""
        return TABLES[self.players]


def config_of(players: int) -> Mapping[str, Any]:
    """`game.config` of a table."""
    return lookup(GAME).raw_env(num_players=players).game.config


@dataclass(frozen=True)
class Entrant:
    """Who takes part: a name in the table, and the agent; None for parlour's player."""

    name: str
    agent: AIWolfAgent | None = None
    role: str = ""
    """The role that it asked for, in AIWolf's words; empty or another word for none."""


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Listen for agents. Raises `ParlourError` where that is not possible."""
    try:
        server = socket.create_server((host, port))
    except OSError as error:
        raise ParlourError(f"cannot listen at {host}:{port} ({error.strerror}); accepted: a free port") from None
    with server:
        yield server


class _Arrival(Thread):
    """A connection that is asked for the agent's name and role, until a time by `monotonic`."""

    def __init__(self, sock: socket.socket, address: tuple[Any, ...], settings: ContestSettings, until: float) -> None:
        super().__init__(name="arrival", daemon=True)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = AgentConnection(sock, settings.time_limit)
        self.agent = AIWolfAgent(connection, settings.rules, settings.time_limit)
        self.address = f"{address[0]}:{address[1]}"
        self.introduced: tuple[str, str] | None = None
        """Its name and role; None: not yet."""
        self._until = until

    def run(self) -> None:
        self.introduced = self.agent.introduce(self._until)


def connected(
    server: socket.socket,
    settings: ContestSettings,
    progress: Callable[..., None] = no_progress,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Entrant]:
    """Wait for agents, and ask each for its name and role, all at the same time.

    Args:
        server: Listens.
        settings: How many agents, and for how long.
        progress: Called with the number of agents that are there.
        tell: Called with one line that names the agents that are missing, if there are any.
    """
    wanted = settings.players if settings.agents is None else settings.agents
    stage = Stage("Waiting for agents", wanted, "agents")
    arrivals, ready = list[_Arrival](), list[_Arrival]()
    until = monotonic() + settings.wait
    progress(stage, 0)
    while len(ready) < wanted and (left := until - monotonic()) > 0:
        if (accepted := _accepted(server, min(left, _GLANCE))) is not None:
            arrivals.append(_Arrival(*accepted, settings, until))
            arrivals[-1].start()
        ready = _introduced(arrivals, stage, progress)
    if len(ready) < wanted:
        for arrival in arrivals:
            arrival.join(_GLANCE)  # its time is over, too
        ready = _introduced(arrivals, stage, progress)
    for arrival in arrivals:
        if arrival not in ready[:wanted]:
            arrival.agent.close()
    if len(ready) < wanted:
        nameless = [arrival.address for arrival in arrivals if arrival not in ready]
        tell(_missing(wanted, len(ready), settings, nameless))
    return _entrants(ready[:wanted])


def _accepted(server: socket.socket, seconds: float) -> tuple[socket.socket, tuple[Any, ...]] | None:
    """A connection that comes within so long; None for none."""
    server.settimeout(seconds)
    try:
        return server.accept()
    except TimeoutError:
        return None


def _introduced(arrivals: Sequence[_Arrival], stage: Stage, progress: Callable[..., None]) -> list[_Arrival]:
    """Those who have said their names, in the order in which they came."""
    ready = [arrival for arrival in arrivals if arrival.introduced is not None]
    progress(stage, min(len(ready), stage.total))
    return ready


def _entrants(ready: Sequence[_Arrival]) -> list[Entrant]:
    entrants = list[Entrant]()
    for arrival in ready:
        assert arrival.introduced is not None
        name, role = arrival.introduced
        taken = {entrant.name for entrant in entrants}
        entrants.append(Entrant(_free(name or "agent", taken), arrival.agent, role))
    return entrants


def _missing(wanted: int, ready: int, settings: ContestSettings, nameless: Sequence[str]) -> str:
    """Which agents are missing, in one line; `nameless` are the addresses of connections on which no name came."""
    missing = wanted - ready
    named = [f"{address} gave no name" for address in nameless[:missing]]
    absent = [f"{missing - len(named)} did not connect"] if missing > len(named) else []
    why = ", ".join(named + absent)
    return f"{missing} of {wanted} agents missing after {settings.wait:g} s ({why}); {settings.policy} plays instead"


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number if another agent has it."""
    return next(free for free in chain([name], (f"{name} {k}" for k in count(2))) if free not in taken)


class Contest:
    """The games of a contest.

    Args:
        settings: What is played.
        entrants: The agents; parlour's players fill the other seats.
        out: Folder for the transcripts; None: none are written.
    """

    def __init__(self, settings: ContestSettings, entrants: Sequence[Entrant], out: Path | None = None) -> None:
        self.settings, self._out = settings, out
        self._env: TextActions = table(GAME, num_players=settings.players, on_bad="default")
        config, empty = self._env.game_env.game.config, settings.players - len(entrants)
        fillers = [(Entrant(settings.policy), make_policy(settings.policy, GAME, config)) for _ in range(empty)]
        self._players: list[tuple[Entrant, Policy]] = [
            *((entrant, entrant.agent) for entrant in entrants if entrant.agent is not None),
            *fillers,
        ]
        self.wins: Counter[tuple[str, str]] = Counter()
        """(agent's name, role or `ALL_ROLES`) -> games won."""
        self.games: Counter[tuple[str, str]] = Counter()
        """The same, games played."""

    def play(self, progress: Callable[..., None] = no_progress) -> None:
        """Play all games; `progress` is called with how many are finished."""
        games = self.settings.games
        for number in Stage("Playing", games, "games").counted(range(games), progress):
            self._play(number)

    def _play(self, number: int) -> None:
        seed, said = self.settings.seed + number, SaidLines()
        seated = self._seated(seed)
        agents = {seat: policy for seat, (_, policy) in enumerate(seated) if isinstance(policy, AIWolfAgent)}
        for agent in agents.values():
            agent.join(said, partial(self._ask_all, agents))
        names = [entrant.name for entrant, _ in seated]
        file = None if self._out is None else self._out / f"{GAME}-{number + 1}.jsonl"
        episode = play_recorded(self._env, [policy for _, policy in seated], names, seed, file)
        self._count(names, episode)
        roles = {str(seat + 1): view.role.upper() for seat, view in enumerate(episode.last_views)}
        for seat, agent in agents.items():
            agent.finish(episode.last_views[seat], roles)

    def _ask_all(self, agents: Mapping[int, AIWolfAgent]) -> None:
        """Ask all agents that decide now: nobody learns another's answer before it has given its own."""
        base = self._env.game_env
        for seat, state in islice(moment(base.game, base.state_now), 1 + len(base.state_now.queue)):
            if seat in agents:
                agents[seat].ask(base.game.view(state, seat))  # type: ignore[arg-type]

    def _seated(self, seed: int) -> list[tuple[Entrant, Policy]]:
        """Who sits where: drawn, after those who asked for a role that the deal has."""
        base = self._env.game_env
        self._env.reset(seed=seed)
        views: list[WerewolfView] = [base.view(seat) for seat in range(self.settings.players)]  # type: ignore[misc]
        free = {seat: view.role.upper() for seat, view in enumerate(views)}
        order = np.random.default_rng((seed, len(free))).permutation(len(free))
        seats: dict[int, tuple[Entrant, Policy]] = {}
        drawn = [self._players[k] for k in order]
        for player in sorted(drawn, key=lambda entry: entry[0].role not in free.values()):
            wished = [seat for seat, role in free.items() if role == player[0].role]
            seat = (wished or list(free))[0]
            del free[seat]
            seats[seat] = player
        return [seats[seat] for seat in range(self.settings.players)]

    def _count(self, names: Sequence[str], episode: Any) -> None:
        for name, view, value in zip(names, episode.last_views, episode.returns, strict=True):
            for key in ((name, view.role), (name, ALL_ROLES)):
                self.games[key] += 1
                self.wins[key] += value > 0

    def results(self) -> ResultTable:
        """Wins by agent and role, with intervals, and what the agents forfeited."""
        agents = {entrant.name: entrant.agent for entrant, _ in self._players}
        columns = (
            Column("agent"),
            Column("role"),
            Column("wins", ".1%", shows=("n",)),
            Column("decisions", ","),
            Column("forfeited", ","),
            Column("cut off", ","),
        )
        rows = []
        for name, agent in agents.items():
            for role in (ALL_ROLES, *dict.fromkeys(self.settings.rules.roles)):
                if played := self.games[name, role]:
                    whole = role == ALL_ROLES
                    rows.append(
                        (name, role, Estimate.rate(self.wins[name, role], played), *_totals(agent if whole else None))
                    )
        return ResultTable("Contest (95 % Wilson interval)", columns, tuple(rows), self._why())

    def _why(self) -> str:
        """Why decisions were forfeited, in a line."""
        sentences = []
        for entrant, _ in self._players:
            if entrant.agent and entrant.agent.forfeits:
                reasons = ", ".join(f"{why}: {times:,}" for why, times in sorted(entrant.agent.forfeits.items()))
                sentences.append(f"{entrant.name} forfeited {reasons}.")
            if entrant.agent and entrant.agent.cut_off:
                sentences.append(f"{entrant.name} was cut off after {MOST_LATE} late answers in a row.")
        return " ".join(sentences)


def _totals(agent: AIWolfAgent | None) -> tuple[int | None, int | None, int | None]:
    """Decisions of an agent, how many of them it forfeited, and how many of these because it was cut off; None: not counted."""
    if agent is None:
        return None, None, None
    return agent.decisions, agent.forfeits.total(), agent.forfeits[CUT_OFF]


def close(entrants: Sequence[Entrant]) -> None:
    """Close the agents' connections."""
    for entrant in entrants:
        if entrant.agent is not None:
            entrant.agent.close()
