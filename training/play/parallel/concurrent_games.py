"""Concurrent games: each at a table of its own, with players of its own.

Threads are for players who wait: while a language model answers one game over HTTP, the others continue. Players who compute gain
nothing from threads. They gain from a pool of processes (`parlour.training.play.parallel.ray`), each with concurrent games.
Results do not depend on how many are played at once: players are reset for each game from its seed, and what was played is handed
over in the order of the games. Only a player that carries something over from game to game, against the sense of `reset`, can
make a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.adapters.turn import Player
from parlour.envs.core import ParlourError, check_from
from parlour.policies import HumanPolicy
from parlour.training.play.decisions import models_of
from parlour.training.play.failures import RULE, Failures
from parlour.training.play.parallel.executor import Pool
from parlour.training.play.parallel.threads import GameJob
from parlour.training.play.rollout import Episode, GameUnfinished, Unfinished, play
from parlour.wrappers import Recorder
from pettingzoo.utils.env import AECEnv

MakePolicy = Callable[[], Player]
"""Makes a player; called as often as games are played at once and seats are taken, always from the calling thread."""
T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """A game that is to be played."""

    seed: int
    players: tuple[tuple[str, MakePolicy], ...]
    """For each seat, in order, the name and the maker of who sits there."""
    transcript: Path | None = None
    """The file to write it to; its header names the players."""
    called: tuple[str, ...] = ()
    """What the seats are called on replay pages; empty: player_0 and so on."""


@dataclass(frozen=True)
class NumberedJob:
    """A job whose makers are numbers: picklable."""

    seed: int
    names: tuple[str, ...]
    makers: tuple[int, ...]
    transcript: Path | None
    called: tuple[str, ...]


def refuse(_number: int, game: Unfinished) -> None:
    """What follows a game that is given up, where nobody asked for games to be skipped: the run ends."""
    raise GameUnfinished(game)


def check_jobs(jobs: Sequence[GameJob], workers: int) -> None:
    """Before anything is played, as games may be dear. Raises `ParlourError` for workers or transcripts."""
    check_from("workers", workers, 1)
    files = [job.transcript for job in jobs if job.transcript is not None]
    if len(set(files)) < len(files):
        raise ParlourError("two games have the same transcript; accepted: a file for each game")
    for file in files:
        if file.exists():
            raise ParlourError(f"transcript {str(file)!r} exists; accepted: a new file, or --resume to continue")


class WorkerTable:
    """An environment and the players of one worker: one game at a time."""

    def __init__(
        self, env: AECEnv[str, Any, Any], players: Mapping[int, Sequence[Player]], failures: Failures = RULE
    ) -> None:
        self.env, self.failures = env, failures
        self.players = players
        """By the number of the maker."""

    def play(self, job: NumberedJob, stop: Event | None = None) -> Episode | Unfinished:
        """One game, finished or given up if failed games are skipped."""
        free = {maker: iter(made) for maker, made in self.players.items()}
        seated = [next(free[maker]) for maker in job.makers]
        try:
            return play_recorded(self.env, seated, job.names, job.seed, job.transcript, stop, self.failures, job.called)
        except GameUnfinished as given_up:
            if not self.failures.skips:
                raise
            return given_up.game


def play_recorded(
    env: AECEnv[str, Any, Any],
    players: Sequence[Player],
    names: Sequence[str],
    seed: int,
    transcript: Path | None,
    stop: Event | None = None,
    failures: Failures = RULE,
    called: Sequence[str] = (),
) -> Episode:
    """Play one game as `rollout.play`, and write its transcript, if there is to be one, under the players' names."""
    if transcript is None:
        return play(env, players, seed, stop, failures)
    models = models_of(players)
    header: dict[str, Any] = {"players": dict(zip(env.possible_agents, names, strict=False))}
    header |= ({"models": models} if models else {}) | ({"names": [*called]} if called else {})
    recorder = Recorder(env, transcript, header=header)
    try:
        return play(recorder, players, seed, stop, failures)
    except GameUnfinished as given_up:
        recorder.close_transcript(given_up.game.why)
        raise
    finally:
        recorder.close_transcript()


def tables_for(
    env: AECEnv[str, Any, Any], jobs: Sequence[Job], workers: int, pool: Pool | None, failures: Failures
) -> tuple[list[WorkerTable], list[NumberedJob]]:
    """Tables with players for as many games as are played at once, and the games with their makers as numbers."""
    makers = {id(make): make for job in jobs for _, make in job.players}
    number = {maker: k for k, maker in enumerate(makers)}
    games = [
        NumberedJob(
            job.seed,
            tuple(n for n, _ in job.players),
            tuple(number[id(m)] for _, m in job.players),
            job.transcript,
            job.called,
        )
        for job in jobs
    ]
    needed = [max(game.makers.count(k) for game in games) for k in range(len(makers))]
    tables = [
        WorkerTable(
            table_like(env) if copy else env,
            {k: [make() for _ in range(needed[k])] for k, make in enumerate(makers.values())},
            failures,
        )
        for copy in range(workers)
    ]
    players = [player for table in tables for made in table.players.values() for player in made]
    if workers > 1 and len({id(player) for player in players}) < len(players):
        raise ParlourError("a player sits in two games at once; accepted: makers whose players are new, or one worker")
    if any(isinstance(player, HumanPolicy) for player in players):
        if pool is not None:
            raise ParlourError("a person is at the table, who cannot sit on other machines; accepted: play without Ray")
        if workers > 1:
            raise ParlourError(f"workers {workers} is not accepted with a person at the table; accepted: 1")
    return tables, games


def table_like(env: AECEnv[str, Any, Any]) -> AECEnv[str, Any, Any]:
    """Another table like this one; they share the rules and their wording, which never change."""
    base = env.unwrapped
    assert isinstance(base, GameEnv), "only parlour's own environments can be copied"
    copied: AECEnv[str, Any, Any] = deepcopy(env, {id(kept): kept for kept in (base.spec, base.game, base.text)})
    return copied
