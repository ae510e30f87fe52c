"""What Inspect's registry finds under `parlour`: a task for each game, called as the game is without its version.

inspect eval parlour/avalon --model openai/gpt-5 -T num_players=5 -T deals=40
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from parlour.envs.core import GameSpec
from parlour.envs.registry import loadable
from parlour.training.harnesses.inspect_ai.play import whole_game
from parlour.training.harnesses.inspect_ai.played import TaskTable
from parlour.training.harnesses.inspect_ai.score import game_score, metrics_of
from parlour.training.harnesses.inspect_ai.seatings import ONE, TaskGame, seatings, seeds_of
from parlour.wrappers.opponents import seated


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
        opponents: Player of ours at the seats that no model takes.
        deals: How many deals, or their seeds.
        seed: The first of the deals, counted in `parlour.training.play.seeds.HELD_OUT`.
        epochs: How often each game is played; the deal is the same.
        on_bad: What follows words that cannot be used, and after how many `tries`: see `TextActions`.
        tries: How often a seat is asked.
        list_options: Whether messages list the options.

    Raises:
        ParlourError: An argument is not accepted.
    """
    settings = TaskTable(game, options, opponents, on_bad, tries, list_options)
    base = settings.seat().game_env
    seated(opponents, base)
    games = seatings(base, seeds_of(deals, seed), seats, sides)
    return Task(
        dataset=MemoryDataset([_sample(one) for one in games], name=game),
        solver=whole_game(game, options, opponents, on_bad, tries, list_options),
        scorer=game_score(),
        metrics=metrics_of(sides=bool(base.spec.sides)),
        epochs=epochs,
    )


def _sample(game: TaskGame) -> Sample:
    who = f"{', '.join(game.agents)}{f' ({game.role})' if game.role else ''}"
    told = {"seed": game.seed, "seats": list(game.agents), "side": game.side, "role": game.role}
    return Sample(input=f"Deal {game.seed}: {who}", id=game.name, metadata=told)


_SHARED: Final = [one for one in inspect.signature(game_task).parameters.values() if one.kind is one.KEYWORD_ONLY]


def _task_of(spec: GameSpec) -> Callable[..., Task]:
    """The task of a game; its arguments are those of `game_task` and the game's options."""
    own = list(inspect.signature(spec.build).parameters.values())
    shared = {one.name for one in _SHARED}

    def made(**given: Any) -> Task:
        options = {key: value for key, value in given.items() if key not in shared}
        return game_task(spec.id, options, **{key: value for key, value in given.items() if key in shared})

    made.__doc__, made.__name__ = f"{spec.title}.", spec.id.rpartition("_v")[0].strip("_")
    made.__signature__ = inspect.Signature([*_SHARED, *own])  # type: ignore[attr-defined]
    registered: Callable[..., Task] = task(made)
    return registered


TASKS: Final = {spec.id: _task_of(spec) for spec in loadable()}
"""Game -> its task."""
