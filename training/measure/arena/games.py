"""The games of an arena: every player on the first side against every player on the second, itself too, on common deals.

They are stored in one file of JSON by lines: a head, then a line a game, deal after deal. A run resumes after the last line, with
more deals if requested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.core import ParlourError
from parlour.policies.llm.decisions import Decisions
from parlour.training.measure.arena.config import ArenaConfig
from parlour.training.measure.evaluate import two_sides
from parlour.training.play import seeds
from parlour.training.play.parallel.concurrent_games import Job, MakePolicy
from parlour.training.play.rollout import Episode
from parlour.training.play.runner import ONE_AT_A_TIME, GameRunner
from parlour.training.runs.folder import JsonlStore
from parlour.wrappers.base import inner_game
from pettingzoo.utils.env import AECEnv
from pydantic import TypeAdapter

GAMES: Final = "games.jsonl"
_DECISIONS: Final = TypeAdapter(tuple[Decisions, Decisions])
Case = tuple[int, str, str]
"""A deal, and who holds the first side and the second."""


class ArenaGame(NamedTuple):
    """One game."""

    seed: int
    first: str
    """Who held the first side of the game."""
    second: str
    winner: str
    """The side; empty for a draw."""
    moves: int
    decisions: tuple[Decisions, Decisions]
    """Decisions of the first side and of the second."""


def play_games(
    env: AECEnv[str, Any, Any],
    config: ArenaConfig,
    makers: Mapping[str, MakePolicy],
    folder: Path,
    runner: GameRunner = ONE_AT_A_TIME,
) -> list[ArenaGame]:
    """Play all games, or those that are missing in the folder.

    Args:
        env: What `rollout.table` makes.
        config: Who plays, and which deals.
        makers: Name -> policy.
        folder: The directory of the run.
        runner: How games are played.

    Raises:
        ParlourError: The game has not two sides, or the folder holds the games of another arena.
    """
    base = inner_game(env, "the arena", full=True)
    sides = two_sides(base.spec)
    cases = list(product(deals(config), config.players, config.players))
    with _store(folder, config) as store:
        stored = store.found[: len(cases)]
        _check(folder / GAMES, stored, cases, sides)
        missing = cases[len(stored) :]

        def keep(number: int, episode: Episode) -> ArenaGame:
            game = _game(episode, *missing[number][1:], sides)
            store.append(_line(game))
            return game

        jobs = _jobs(base, missing, makers, sides)
        return [*stored, *replace(runner, failures=config.failures).play_each(env, jobs, keep)]


def deals(config: ArenaConfig) -> range:
    """The held-out deals of an arena."""
    return seeds.HELD_OUT[config.seed : config.seed + config.games]


def _jobs(base: GameEnv, cases: Sequence[Case], makers: Mapping[str, MakePolicy], sides: tuple[str, str]) -> list[Job]:
    jobs, dealt, holds = [], None, []
    for seed, first, second in cases:
        if seed != dealt:
            base.reset(seed=seed)
            views: list[Any] = [base.view(k) for k in range(base.game.seats)]
            dealt, holds = seed, [view.side for view in views]
        names = {sides[0]: first, sides[1]: second}
        jobs.append(Job(seed, tuple((names[side], makers[names[side]]) for side in holds)))
    return jobs


def _game(episode: Episode, first: str, second: str, sides: tuple[str, str]) -> ArenaGame:
    made = [
        sum(
            (
                decision
                for view, decision in zip(episode.last_views, episode.decisions, strict=True)
                if view.side == side
            ),
            Decisions(),
        )
        for side in sides
    ]
    winner = episode.outcome.winner if episode.outcome.winner in sides else ""
    return ArenaGame(episode.seed, first, second, winner, episode.moves, (made[0], made[1]))


# -- the file ----------------------------------------------------------------------------------------------------------


def _store(folder: Path, config: ArenaConfig) -> JsonlStore[ArenaGame]:
    return JsonlStore(folder / GAMES, _read, "run of the arena", {"players": list(config.players), "seed": config.seed})


def _check(path: Path, games: Sequence[ArenaGame], cases: Sequence[Case], sides: tuple[str, str]) -> None:
    """Raise `ParlourError` unless the games are those that were to be played, in their order."""
    for number, (game, case) in enumerate(zip(games, cases, strict=False), 2):
        if game[:3] != case or game.winner not in (*sides, ""):
            raise ParlourError(
                f"{str(path)!r} cannot be used (line {number} is of another game); accepted: what a run of the arena left"
            )


def _line(game: ArenaGame) -> list[Any]:
    return [*game[:-1], [replace(made, seconds=0.0).as_stored() for made in game.decisions]]


def _read(stored: Any) -> ArenaGame:
    seed, first, second, winner, moves, made = stored
    return ArenaGame(seed, first, second, winner, moves, _DECISIONS.validate_python(made))
