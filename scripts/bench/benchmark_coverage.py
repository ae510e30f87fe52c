"""How often the benchmark's intervals contain the score that they estimate, and which difference of two players a suite can show.

    python scripts/bench/benchmark_coverage.py [--deals 100] [--draws 2000] [--out runs/coverage]

Five players play the tables of the full suite on many deals: random, heuristic, trained, agents (Avalon's agent, GRATR and
Questum, answered by heuristics) and a mixture (random on every other deal, else trained). Their mean over all of these deals is
the true score. Then each suite is drawn from the deals many times, with replacement. Games are played once and kept in --out.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
from parlour.envs.terminal import tell_text
from parlour.policies.files import read_json, write_json
from parlour.training.measure.benchmark.played import Candidate, play_suite
from parlour.training.measure.benchmark.result import DIFFERENCE, POINTS, Floats, points_of, strata_of
from parlour.training.measure.benchmark.suite import FULL, QUICK, Suite
from parlour.training.measure.statistics import Bounds, Estimate, stratified_mean
from parlour.training.results.result_table import markdown_table
from parlour.training.results.verdicts import POWER

PLAYERS: Final = {
    "random": (Candidate("random"),),
    "heuristic": (Candidate("heuristic"),),
    "trained": (Candidate("expert", "heuristic"),),
    "agents": (Candidate("avalon_agent"), Candidate("gratr"), Candidate("questum:mode=plan")),
}
"""For all games, or for each game in the order of the suite."""
SHOWN: Final = 1.959963984540054 * POWER
"""Times the standard deviation: the difference that is shown four times in five."""
SEED: Final = 1

Points = dict[str, dict[str, dict[str, Floats]]]
"""Table -> opponent -> side -> points, deal by deal."""


def played(name: str, deals: int, out: Path) -> Points:
    """The points of a player on many deals, from the file if they were played before."""
    file = out / f"{name}-{deals}.json"
    if not file.exists():
        suite = replace(FULL, tables=tuple(replace(table, deals=deals) for table in FULL.tables))
        candidates, points = PLAYERS[name], {}
        for k, candidate in enumerate(candidates):
            games = suite.games if len(candidates) == 1 else (suite.games[k],)
            tables = [table.name for table in suite.tables if table.game in games]
            points |= points_of(play_suite(suite.only(tables), candidate))
        write_json(file, points)
    stored: dict[str, Any] = read_json(file)
    return {
        table: {opponent: {side: np.array(points) for side, points in sides.items()} for opponent, sides in by.items()}
        for table, by in stored.items()
    }


def mixed(even: Points, other: Points) -> Points:
    """A player that plays every other deal as one, the rest as the other."""
    return {
        table: {
            opponent: {
                side: np.where(np.arange(len(points)) % 2 == 0, points, other[table][opponent][side])
                for side, points in sides.items()
            }
            for opponent, sides in by.items()
        }
        for table, by in even.items()
    }


def checked(
    strata: list[Floats], weights: list[float], chosen: list[list[Floats]], bounds: Bounds
) -> tuple[float, ...]:
    """Share of intervals that contain the truth, mean half length, and standard deviation of what is estimated."""
    truth = float(np.dot(weights, [stratum.mean() for stratum in strata]))
    estimates: list[Estimate] = [
        stratified_mean([stratum[deals] for stratum, deals in zip(strata, drawn_deals, strict=True)], weights, bounds)
        for drawn_deals in chosen
    ]
    ends = np.array([estimate.ends for estimate in estimates])
    covered = (ends[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[:, 1])
    return (
        float(covered.mean()),
        float(np.ptp(ends, axis=1).mean()) / 2,
        float(np.std([estimate.value for estimate in estimates])),
    )


def report(suite: Suite, players: dict[str, Points], deals: int, draws: int) -> str:
    """Coverage of the scores and of the differences of each two players."""
    rng = np.random.default_rng(SEED)
    chosen = [[rng.integers(deals, size=table.deals) for table in suite.tables] for _ in range(draws)]
    strata_by_player = {name: strata_of(suite, points) for name, points in players.items()}
    weights = next(iter(strata_by_player.values()))[1]
    rows, pairs, shown = [], [], []
    for name, (strata, _) in strata_by_player.items():
        covered, half, _ = checked(strata, weights, chosen, POINTS)
        rows.append((name, f"{np.dot(weights, [x.mean() for x in strata]):.1f}", f"{covered:.1%}", f"{half:.1f}"))
    for first, other in combinations(strata_by_player, 2):
        less = [a - b for a, b in zip(strata_by_player[first][0], strata_by_player[other][0], strict=True)]
        covered, half, deviation = checked(less, weights, chosen, DIFFERENCE)
        shown.append(SHOWN * deviation)
        true = f"{np.dot(weights, [x.mean() for x in less]):+.1f}"
        pairs.append((f"{first} less {other}", true, f"{covered:.1%}", f"{half:.1f}", f"{shown[-1]:.1f}"))
    columns = ("score of", "true", "coverage", "half an interval")
    return "\n".join(
        [
            f"{suite}: {suite.games_played} games of a player, {draws:,} draws of {deals} deals a table",
            markdown_table(columns, rows),
            "",
            markdown_table(("difference", *columns[1:], "shown four times in five"), pairs),
            "",
            f"It shows a difference of {np.median(shown):.0f} points four times in five "
            f"({min(shown):.0f} to {max(shown):.0f} for these pairs).",
            "",
        ]
    )


def main() -> None:
    """Play what is missing, draw, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--deals", type=int, default=100, help="deals of each table that are played")
    parser.add_argument("--draws", type=int, default=2000, help="suites that are drawn")
    parser.add_argument("--out", type=Path, default=Path("runs/coverage"), help="folder for the points")
    given = parser.parse_args()
    players = {name: played(name, given.deals, given.out) for name in PLAYERS}
    players["mixture"] = mixed(players["random"], players["trained"])
    for suite in (FULL, QUICK):
        tell_text(report(suite, players, given.deals, given.draws))


if __name__ == "__main__":
    main()
