"""Experience learning: the Avalon agents play practice games one after another and learn from each.

As in Lan et al. 2023 (arXiv 2310.14985, sections 4.8 and 5.3): the six-module agent plays a whole side against the baseline
agent, both learn from their own games, and the roles are revealed after each game. Sides change over from game to game. The
games are drawn from the training seeds; what was learned is then frozen and measured on others (`reproduce`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Self

from parlour.envs.aec import GameEnv
from parlour.envs.core import ParlourError
from parlour.envs.registry import lookup
from parlour.envs.settings import Settings
from parlour.policies.agents.avalon.agent import AvalonAgent
from parlour.policies.agents.avalon.baseline import BaselineAgent, Pool
from parlour.policies.agents.avalon.experience import Experience
from parlour.policies.files import read_json
from parlour.policies.llm.model import Model, OfflineModel
from parlour.training.play import rollout, seeds
from parlour.training.play.rollout import Episode
from parlour.training.report import plots
from parlour.training.report.learning_curve import LearningCurve, learning_curve
from parlour.training.report.plots import Curve, CurvePoint
from parlour.training.report.verdicts import together, won
from parlour.training.runs.checkpoints import Checkpoint
from parlour.training.runs.folder import run_directory
from parlour.training.runs.loggers import loggers
from parlour.training.runs.progress import Stage, StageProgress, no_progress
from parlour.training.statistics import rate
from pydantic import Field, model_validator

EXPERIENCE, POOL, PICTURE = "experience.json", "baseline.json", "curve.png"
_SIDES: Final = ("good", "evil")
_NEIGHBOURS: Final = 20
"""Games over which the curve is averaged."""


class PracticeConfig(Settings):
    """One run of practice."""

    games: int = Field(default=200, ge=1)
    """Number of games on each side."""
    num_players: int = Field(default_factory=lambda: _default("num_players"))
    """Number of players."""
    rules: str = Field(default_factory=lambda: _default("rules"))
    """Preset of the rules."""
    without: tuple[str, ...] = ()
    """Modules of the agent that are switched off."""
    about: str = "all"
    """Players that the agent's analysis covers: all, teammates or adversaries."""
    seed: int = Field(default=0, ge=0)
    """The same seed gives the same result."""

    @model_validator(mode="after")
    def _has_agents_and_a_table(self) -> Self:
        AvalonAgent(OfflineModel(), without=self.without, about=self.about)  # both raise for what is not accepted
        rollout.table("avalon_v0", num_players=self.num_players, rules=self.rules)
        return self


def _default(option: str) -> Any:
    """An option of the game's own default table."""
    return lookup("avalon_v0").raw_env().game.config[option]


@dataclass
class Practice:
    """What has been learned so far."""

    experience: Experience = field(default_factory=Experience)
    pool: Pool = field(default_factory=Pool)
    won: list[bool] = field(default_factory=list)
    """Whether the agent's side won, for each game in order."""


def practise(
    config: PracticeConfig,
    out: Path | None = None,
    model: Model | None = None,
    progress: StageProgress = no_progress,
    log: Iterable[str] = (),
) -> Practice:
    """Play and learn; the run in `out` is resumed where it stopped.

    Args:
        config: What to play.
        out: Run directory; None stores nothing.
        model: Who answers the agents' questions; the heuristics by default.
        progress: Called with the number of finished games, and the share won.
        log: Loggers beside progress.csv in the run directory, of `parlour.training.runs.loggers.NAMES`.

    Raises:
        ParlourError: The directory holds a run with another configuration, or is in use.
    """
    model = model or OfflineModel()
    if out is None:
        return _practise(config, model, progress, Practice(), lambda _: None)
    with run_directory(out, config.plain() | {"model": model.name}) as folder:
        checkpoint = Checkpoint(folder / "practice.json")  # everything in one file, replaced whole after each game
        so_far = checkpoint.load(_read) or Practice()

        def store(so_far: Practice) -> None:
            step, values = metrics(so_far.won)[-1]
            logger.log(values, step)
            so_far.experience.save(folder / EXPERIENCE)
            so_far.pool.save(folder / POOL)
            learned = {"experience": so_far.experience.as_json(), "pool": so_far.pool.as_json()}
            checkpoint.save_json({"won": so_far.won, **learned})

        with loggers(folder, log, metrics(so_far.won)) as logger:
            _practise(config, model, progress, so_far, store)
            _draw_curve(so_far.won, folder, config, model)
    return so_far


def _practise(
    config: PracticeConfig, model: Model, progress: StageProgress, so_far: Practice, store: Callable[[Practice], None]
) -> Practice:
    env = rollout.table("avalon_v0", num_players=config.num_players, rules=config.rules)
    stage = Stage("Practising", 2 * config.games, "games")
    progress(stage, len(so_far.won))
    for number in range(len(so_far.won), 2 * config.games):
        _one_game(env, config, so_far, number, model)
        store(so_far)
        progress(stage, len(so_far.won), f"win rate {fmean(so_far.won):.2f}")
    return so_far


def _one_game(env: Any, config: PracticeConfig, so_far: Practice, number: int, model: Model) -> None:
    own, seed = _SIDES[number % 2], seeds.TRAINING[seeds.derive(config.seed, number) % len(seeds.TRAINING)]
    dealt = sides_of(env, seed)
    players: list[AvalonAgent | BaselineAgent] = [
        AvalonAgent(model, without=config.without, about=config.about, experience=so_far.experience, try_out=True)
        if side == own
        else BaselineAgent(model, experience=so_far.pool)
        for side in dealt
    ]
    episode = rollout.play(env, players, seed)
    _learn(players, episode, so_far, seed)
    so_far.won.append(episode.outcome.winner == own)


def sides_of(env: Any, seed: int) -> list[str]:
    """The side of each seat in the deal of a seed."""
    base: GameEnv = env.unwrapped
    base.reset(seed=seed)
    return [str(getattr(base.view(seat), "side", "")) for seat in range(base.game.seats)]


def _learn(players: list[AvalonAgent | BaselineAgent], episode: Episode, so_far: Practice, seed: int) -> None:
    """Seat after seat, so that two seats of one role both leave their mark."""
    role_of = [view.role for view in episode.last_views]
    taught: set[str] = set()
    for seat, player in enumerate(players):
        player.watch(episode.last_views[seat])
        role, won = role_of[seat], episode.returns[seat] > 0
        if isinstance(player, BaselineAgent):
            so_far.pool.add(role, player.learn(won=won, moves=episode.moves))
            continue
        lesson = player.learn(role_of, won=won, seed=seed, again=role in taught)
        if lesson is not None:
            so_far.experience.lessons[role] = lesson
            taught.add(role)


def verdict_of(done: Practice) -> str:
    """How the agent did against the baseline while it learned; what that does not say."""
    rates = [rate(sum(done.won[first::2]), len(done.won[first::2])) for first in range(2)]
    said = [
        won("the agent", share, f"as {side} against the baseline")
        for side, share in zip(_SIDES, rates, strict=True)
        if share is not None
    ]
    return together([*said, "These are practice games: `parlour evaluate` compares it on held-out deals."])


# -- files -----------------------------------------------------------------------------------------------------


def _read(path: Path) -> Practice:
    state = read_json(path)
    if set(state) != {"won", "experience", "pool"}:
        raise ParlourError(f"file {str(path)!r} is not a checkpoint; accepted: one of `train avalon`")
    return Practice(Experience.from_json(state["experience"]), Pool.from_json(state["pool"]), state["won"])


def curve(won: list[bool]) -> list[tuple[int, str, float]]:
    """Game on its side, side, share won of the last `_NEIGHBOURS` games on that side."""
    rows = []
    for first, side in enumerate(_SIDES):
        games = won[first::2]
        for k in range(len(games)):
            last = games[max(0, k + 1 - _NEIGHBOURS) : k + 1]
            rows.append((k + 1, side, sum(last) / len(last)))
    return rows


def metrics(won: list[bool]) -> list[tuple[int, dict[str, float]]]:
    """Each game, counted from 1 over both sides, with the share won of the last games on its side."""
    by_step = {len(_SIDES) * (n - 1) + _SIDES.index(side) + 1: (side, share) for n, side, share in curve(won)}
    return [(step, {f"charts/win_rate_{side}": share}) for step, (side, share) in sorted(by_step.items())]


def _draw_curve(won: list[bool], out: Path, config: PracticeConfig, model: Model) -> None:
    rows = curve(won)
    shown = LearningCurve(
        title="Experience learning against the baseline agent",
        who=f"avalon_v0, {config.num_players} players; the six-module agent on one side, the baseline agent on the other; "
        f"{plots.answered_by(model)}",
        n=f"n = {len(won)} games, each point the last {_NEIGHBOURS} on the side or all before",
        x="practice game on the side",
        y=f"share won of the last {_NEIGHBOURS}",
        curves=[
            Curve(f"agent as {side}", [_point(n, share) for n, of, share in rows if of == side], style)
            for side, style in zip(_SIDES, ("-", "--"), strict=True)
        ],
        limits=(0, 1),
    )
    learning_curve(out / PICTURE, shown)


def _point(n: int, share: float) -> CurvePoint:
    """The share of the last games, with its interval."""
    last = min(n, _NEIGHBOURS)
    estimate = rate(round(share * last), last)
    return CurvePoint(n, share, *(estimate.ends if estimate else ()))
