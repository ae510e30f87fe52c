"""The demo's section on Avalon: record games, train a seat, and measure it against random and heuristic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from parlour.envs import replay
from parlour.policies import HeuristicPolicy, RandomPolicy, TrainedSeat
from parlour.training.learn.ppo import seat as seat_training
from parlour.training.learn.ppo.phase_config import SeatConfig
from parlour.training.measure import evaluate
from parlour.training.papers.demo.section import DemoConfig, DemoPart, Picture, Section, by_heuristic, summary, tables
from parlour.training.play import rollout, seeds
from parlour.training.play.runner import GameRunner
from parlour.training.results import display
from parlour.training.results.evaluation_tables import verdict_of
from parlour.training.results.result_table import markdown_list
from parlour.wrappers import Recorder

GAME: Final = "avalon_v0"
TABLE: Final[dict[str, Any]] = {}
"""No options: the default table of the game."""
_RECORDED: Final = 5


def _section(out: Path, config: DemoConfig) -> Section:
    """Record, train, measure."""
    recorded = _record(out / "transcripts", config.seed)
    run = SeatConfig(game=GAME, options=TABLE, steps=config.steps, seed=config.seed)
    with display.progress_line() as progress:
        trained = seat_training.train(run, out / "seat", progress)
    sides, seats = _measure(out, config)
    return Section(
        "avalon",
        _markdown(recorded, run, trained, sides, seats),
        summary("Avalon, win rates on the same held-out deals", map(verdict_of, (sides, seats))),
        {"team": sides.as_json(), "single": seats.as_json()},
        tuple(out / "transcripts" / _transcript(number) for number in range(_RECORDED)),
        by_heuristic(seats, "trained", "the trained seat"),
        "Avalon, one trained seat",
        Picture(f"seat/{seat_training.PICTURE}", "Avalon: win rate of the seat while it learned"),
    )


avalon_section: Final = DemoPart(
    "Avalon: train one seat by reinforcement learning, and measure it against random and heuristic",
    _section,
    lambda config: 10 + config.steps / 3000 + config.games / 40,
)


def _record(folder: Path, seed: int) -> Sequence[str]:
    """Play games by heuristic into transcripts, and play each again from its transcript."""
    table = rollout.table(GAME, **TABLE)
    env = Recorder(table, folder / f"{GAME}-{{n}}.jsonl", header={"players": "heuristic"}, overwrite=True)
    results = []
    for number in range(_RECORDED):
        episode = rollout.play(env, [HeuristicPolicy() for _ in table.possible_agents], seed + number)
        path = folder / _transcript(number)
        steps = sum(1 for _ in replay.reenact(replay.read(path)))
        outcome = episode.outcome
        results.append(
            f"{path.name}: {episode.moves} moves, {outcome.winner} wins ({outcome.reason}); replayed {steps} steps"
        )
    env.close()
    return results


def _transcript(number: int) -> str:
    return f"{GAME}-{number + 1}.jsonl"


def _measure(out: Path, config: DemoConfig) -> tuple[evaluate.Report, evaluate.Report]:
    env = rollout.table(GAME, **TABLE)
    policy = out / "seat" / seat_training.POLICY
    deals = seeds.HELD_OUT[: config.games]
    with display.progress_line() as progress:
        few = deals[: max(10, config.games // 4)]
        sides = evaluate.team(
            env, ("heuristic", HeuristicPolicy), ("random", RandomPolicy), few, GameRunner(progress=progress)
        )
        candidates = {"trained": lambda: TrainedSeat.load(policy), "random": RandomPolicy, "heuristic": HeuristicPolicy}
        seats = evaluate.single(env, candidates, ("heuristic", HeuristicPolicy), deals, GameRunner(progress=progress))
    evaluate.write_table(sides, out / "games-team.csv")
    evaluate.write_table(seats, out / "games-single.csv")
    return sides, seats


def _markdown(
    recorded: Sequence[str],
    run: SeatConfig,
    trained: seat_training.SeatPoint,
    sides: evaluate.Report,
    seats: evaluate.Report,
) -> str:
    transcripts = markdown_list(f"transcripts/{line}" for line in recorded)
    return f"""## Avalon, the default table: six players who talk

### A team by heuristic against a random team

Each deal is played twice, with sides changed over.

{tables(sides)}

### One trained seat

`parlour train seat`: PPO, {trained.steps:,} decisions in {trained.games:,} games, the seat and so the role changing from game to game;
the other seats are played by heuristic. Measured on {len(seats.games) // 3:,} held-out deals, on which each candidate
takes the same seat against the same opponents.

{tables(seats)}

Data: [games-team.csv](games-team.csv), [games-single.csv](games-single.csv), [seat/progress.csv](seat/progress.csv),
[seat/config.json](seat/config.json); the policy: seat/{seat_training.POLICY} (seed {run.seed}).

### Transcripts

{transcripts}
"""
