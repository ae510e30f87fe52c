"""One runner of games, behind evaluation, arena, the papers' tables and `parlour play`: jobs go in, episodes come out.

How games are played, in how many threads and processes, progress, the response to a failure and whether a run resumes are fields
of a `GameRunner`. What is played are jobs: a seed, the players of the seats, a transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import ParlourError
from parlour.training.play.failures import RULE, Ceiling, Failures
from parlour.training.play.parallel.blocks import play_in_pool
from parlour.training.play.parallel.concurrent_games import Job, check_jobs, refuse, tables_for
from parlour.training.play.parallel.executor import Pool, in_order
from parlour.training.play.parallel.threads import GameWorker, J, R, play_in_threads
from parlour.training.play.rollout import Episode, Unfinished
from parlour.training.play.stored_games import stored_game
from parlour.training.runs.progress import Stage, StageProgress, no_progress
from pettingzoo.utils.env import AECEnv

T = TypeVar("T")


def no_forecast(_line: str, /) -> None:
    """Make no forecast of what games will take."""


@dataclass(frozen=True)
class GameRunner:
    """How games are played. The results do not depend on workers and pool."""

    workers: int = 1
    """How many games are played at once; with a pool, in each of its processes. With 1 and no pool, everything happens in the
    calling thread."""
    pool: Pool | None = None
    """Processes that play; environment and players must be picklable then. Transcripts are written here, each when its game is
    finished (of those under way when a game fails, only that game's own is written as far as it went)."""
    progress: StageProgress = no_progress
    """Counts the games that are finished."""
    failures: Failures = RULE
    """What follows when a player fails."""
    out: Path | None = None
    """Folder for transcripts, where the caller names the files."""
    resume: bool = False
    """Take games whose transcripts are there from these, and play only the others; what a kill left of a game is played again."""
    finished: Callable[[Job, Episode], None] = lambda _job, _game: None
    """Called with each game that was played now and finished, before it is kept; not with those that were there."""
    forecast: Callable[[str], None] = no_forecast
    """Called before the first game with what games will take, a line for each language model that players ask
    (`parlour.training.play.forecast`); `no_forecast`: that is not measured."""

    def play(self, env: AECEnv[str, Any, Any], jobs: Sequence[Job], what: str = "games") -> list[Episode]:
        """Play games and keep them all; see `play_each`."""
        return self.play_each(env, jobs, lambda _, episode: episode, what)

    def play_each(
        self,
        env: AECEnv[str, Any, Any],
        jobs: Sequence[Job],
        keep: Callable[[int, Episode], T],
        what: str = "games",
        skip: Callable[[int, Unfinished], None] = refuse,
        note: Callable[[], str] = str,
    ) -> list[T]:
        """Play games and keep of each what `keep` makes of it.

        An exception in a game ends the run: no other game begins, those under way end at their next turn, and their
        transcripts hold what was played. So does an interrupt. When this returns or raises, no thread is left.

        Args:
            env: What `rollout.table` makes; with several workers, copies of it.
            jobs: The games.
            keep: Called with the number of the job and the game, in the order of the jobs, from the calling thread, as soon
                as the game and all before it are finished.
            what: What `progress` calls the games.
            note: The present metric in words, for the line of progress.
            skip: Called instead of `keep` with a game that was given up because a player failed, if such games are skipped.

        Returns:
            What `keep` returned, a value for each game that was finished.

        Raises:
            ParlourError: A setting or a transcript's file is not accepted, or a player sits in two games at once.
            TooManyFallbacks: A player made too few of its decisions itself; earlier games are kept.
            GameUnfinished: A model did not answer, and the settings stop the run.
            BaseException: What a game raised; of several, what the first of them raised, in the order of the jobs.
        """
        stored = self._stored(env, jobs) if self.resume else {}
        missing = [number for number in range(len(jobs)) if number not in stored]
        to_play = [jobs[number] for number in missing]
        check_jobs(to_play, self.workers)
        elsewhere = self.workers > 1 or self.pool is not None
        if hasattr(env, "annotate") and (elsewhere or any(job.transcript for job in jobs)):
            raise ParlourError(
                "the environment is in a Recorder already; accepted: a bare table, and transcripts in the jobs"
            )
        ceiling, kept = Ceiling(self.failures.max_fallback), list[T]()

        def take(number: int, game: Episode | Unfinished) -> None:
            if isinstance(game, Unfinished):
                skip(number, game)
            else:
                kept.append(keep(number, game))
            ceiling.add([name for name, _ in jobs[number].players], game.decisions)

        def take_next(played: int, game: Episode | Unfinished) -> None:
            """A game that was played, after the stored ones before it."""
            for number in range(missing[played - 1] + 1 if played else 0, missing[played]):
                take(number, stored[number])
            if isinstance(game, Episode):
                self.finished(jobs[missing[played]], game)
            take(missing[played], game)

        if to_play:
            if self.forecast is not no_forecast:
                from parlour.training.play.forecast import forecasts

                for line in forecasts(env, to_play, measured=self.pool is None):
                    self.forecast(line)
            workers = max(1, min(self.workers, len(to_play)))
            tables, games = tables_for(env, to_play, workers, self.pool, self.failures)
            self.play_jobs(tables, games, take_next, what, note)
        for number in range(missing[-1] + 1 if missing else 0, len(jobs)):
            take(number, stored[number])
        return kept

    def play_jobs(
        self,
        workers: Sequence[GameWorker[J, R]],
        jobs: Sequence[J],
        keep: Callable[[int, R], T],
        what: str = "games",
        note: Callable[[], str] = str,
    ) -> list[T]:
        """Let workers play jobs of any kind, in threads or in each process of the pool; what is kept comes in their order."""
        playing = play_in_threads(workers, jobs) if self.pool is None else play_in_pool(workers, jobs, self.pool)
        with closing(playing) as finished:
            stage = Stage(f"Playing {what}", len(jobs), "games")
            games = stage.counted(finished, lambda stage, done, _note="": self.progress(stage, done, note()))
            return [keep(number, result) for number, result in enumerate(in_order(games))]

    def _stored(self, env: AECEnv[str, Any, Any], jobs: Sequence[Job]) -> dict[int, Episode | Unfinished]:
        """The games that are there, by the number of the job."""
        base, games = env.unwrapped, {}
        assert isinstance(base, GameEnv), "games are stored by parlour's own environments"
        for number, job in enumerate(jobs):
            if job.transcript is not None:
                names, given_up = [name for name, _ in job.players], self.failures.skips
                game = stored_game(job.transcript, base, job.seed, names, given_up=given_up)
                if game is not None:
                    games[number] = game
        return games


ONE_AT_A_TIME: Final = GameRunner()
"""One game after another, silently."""
