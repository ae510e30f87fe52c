"""Experience learning: the Avalon agents play practice games one after another and learn from each.

As in Lan et al. 2023 (arXiv 2310.14985, sections 4.8 and 5.3): the six-module agent plays a whole side against the baseline
agent, both learn from their own games, and the roles are revealed after each game. Sides change over from game to game. The
games are drawn from the training seeds; what was learned is then frozen and measured on others (`reproduce`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import fmean
from typing import Annotated, Any, Final, Self

from parlour.envs.adapters.aec import GameEnv
from parlour.envs.registry import lookup
from parlour.envs.settings import COMMON, Settings
from parlour.policies.agents.avalon.agent import AvalonAgent
from parlour.policies.agents.avalon.baseline import BaselineAgent, Pool
from parlour.policies.agents.avalon.experience import Experience
from parlour.policies.llm.model import Model, OfflineModel
from parlour.training.play import rollout, seeds
from parlour.training.play.rollout import Episode
from parlour.training.report import plots
from parlour.training.report.learning_curve import LearningCurve
from parlour.training.report.plots import Curve, CurvePoint
from parlour.training.report.report import Report
from parlour.training.report.verdicts import together, won
from parlour.training.runs.checkpoints import State
from parlour.training.runs.progress import Stage
from parlour.training.runs.run import Run
from parlour.training.statistics import Estimate
from pydantic import Field, model_validator

EXPERIENCE, POOL, CHECKPOINT = "experience.json", "baseline.json", "practice"
_SIDES: Final = ("good", "evil")
_NEIGHBOURS: Final = 20
"""Games over which the curve is averaged."""


class PracticeConfig(Settings):
    """One run of practice."""

    games: Annotated[int, COMMON] = Field(default=200, ge=1)
    """Number of games on each side."""
    num_players: Annotated[int, COMMON] = Field(default_factory=lambda: _default("num_players"))
    """Number of players."""
    rules: Annotated[str, COMMON] = Field(default_factory=lambda: _default("rules"))
    """Preset of the rules."""
    without: tuple[str, ...] = ()
    """Modules of the agent that are switched off."""
    about: str = "all"
    """Players that the agent's analysis covers: all, teammates or adversaries."""
    seed: Annotated[int, COMMON] = Field(default=0, ge=0)
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


def practise(config: PracticeConfig, run: Run, model: Model | None = None) -> Practice:
    """Play and learn; a run is resumed after its last finished game.

    Args:
        config: What to play.
        run: Where.
        model: Who answers the agents' questions; the heuristics by default.

    Raises:
        ParlourError: The directory holds a run with another configuration, or is in use.
    """
    model = model or OfflineModel()
    with run.opened(config.plain() | {"model": model.name}) as folder:
        so_far = run.restore(_read, CHECKPOINT) or Practice()
        env = rollout.table("avalon_v0", num_players=config.num_players, rules=config.rules)
        stage = Stage("Practising", 2 * config.games, "games")
        run.progress(stage, len(so_far.won))
        for number in range(len(so_far.won), 2 * config.games):
            _one_game(env, config, so_far, number, model)
            recent = so_far.won[number % 2 :: 2][-_NEIGHBOURS:]
            run.log({f"charts/win_rate_{_SIDES[number % 2]}": fmean(recent)}, number + 1)
            so_far.experience.save(folder / EXPERIENCE)
            so_far.pool.save(folder / POOL)
            learned = {"experience": so_far.experience.plain(), "pool": so_far.pool.plain()}
            run.checkpoint({"won": so_far.won, **learned}, CHECKPOINT)
            run.progress(stage, len(so_far.won), f"win rate {fmean(so_far.won):.2f}")
        if run.path is not None:
            report(so_far, config, model).write(folder)
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
            so_far.experience.roles[role] = lesson
            taught.add(role)


def _read(state: State) -> Practice:
    experience, pool, won = (state[name] for name in ("experience", "pool", "won"))
    return Practice(Experience.from_plain(experience), Pool.from_plain(pool), won)


# -- the report ------------------------------------------------------------------------------------------------


def report(done: Practice, config: PracticeConfig, model: Model) -> Report:
    """How the agent did against the baseline while it learned; what that does not say."""
    by_side = {side: done.won[first::2] for first, side in enumerate(_SIDES)}
    rates = {side: Estimate.rate(sum(games), len(games)) for side, games in by_side.items()}
    said = [won("the agent", share, f"as {side} against the baseline") for side, share in rates.items() if share]
    games = f"{config.games} games on each side, {plots.answered_by(model)}"
    counts = ", ".join(f"{sum(own)} as {side}" for side, own in by_side.items())
    values = {f"won_as_{side}": sum(own) for side, own in by_side.items()}
    return Report(
        "Experience learning against the baseline agent",
        together([*said, "These are practice games: `parlour evaluate` compares it on held-out deals."]),
        (f"{games}: won {counts}",),
        picture=learning_curve(done.won, config, model).picture,
        values={"model": model.name, **values, "games_on_each_side": config.games},
    )


def curve(games: list[bool]) -> Iterator[CurvePoint]:
    """For each game on a side, the share won of the last `_NEIGHBOURS` on that side with its interval."""
    for n in range(1, len(games) + 1):
        last = games[max(0, n - _NEIGHBOURS) : n]
        estimate = Estimate.rate(sum(last), len(last))
        assert estimate is not None
        yield CurvePoint(n, estimate.value, *estimate.ends)


def learning_curve(won: list[bool], config: PracticeConfig, model: Model) -> LearningCurve:
    """The share won of the last games on each side."""
    return LearningCurve(
        title="Experience learning against the baseline agent",
        who=f"avalon_v0, {config.num_players} players; the six-module agent on one side, the baseline agent on the other; "
        f"{plots.answered_by(model)}",
        n=f"n = {len(won)} games, each point the last {_NEIGHBOURS} on the side or all before",
        x="practice game on the side",
        y=f"share won of the last {_NEIGHBOURS}",
        curves=[
            Curve(f"agent as {side}", list(curve(won[first::2])), style)
            for first, (side, style) in enumerate(zip(_SIDES, ("-", "--"), strict=True))
        ],
        limits=(0, 1),
    )
