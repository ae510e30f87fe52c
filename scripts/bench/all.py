"""Print how fast environments, memory and graphs are, as ratios within one run. Usage: python scripts/bench/all.py [--rounds N]"""

import argparse

import environments
import knowledge_graph
import retrieval_memory
import trust_graph
from rich.console import Console
from rich.table import Table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="rounds; the median is quoted")
    parser.add_argument("--games", type=int, default=300, help="games of Avalon in each round")
    chosen = parser.parse_args()
    out = Console(width=110)

    rates = {rate.name: rate for rate in environments.compare(chosen.rounds, chosen.games)}
    table = Table(title=f"Turns a second, median of {chosen.rounds} rounds lowest .. highest; {environments.machine()}")
    for heading in ("what", "turns/s", "range", "ratio", "to"):
        table.add_column(heading, justify="right" if heading in ("turns/s", "ratio") else "left")
    for name, rate in rates.items():
        players = name.rpartition(", ")[2]
        base = {
            "avalon_v0.raw": "tictactoe_v3.raw_env",
            "avalon_v0.env": "tictactoe_v3.env",
            "rules alone, ": f"avalon_v0.raw_env, {players}",
        }.get(name[:13], "")
        ratio = f"{rate.median / rates[base].median:.2f}" if base else ""
        table.add_row(name, f"{rate.median:,.0f}", f"{rate.low:,.0f} .. {rate.high:,.0f}", ratio, base)
    out.print(table)

    table = Table(title="SeatEnv, the other seats by heuristic")
    for heading in ("players", "steps/s", "turns a step", "opponents think", "environment", "features", "rest"):
        table.add_column(heading, justify="right")
    for players in (5, 10):
        cost = environments.seat_cost(players, 3000 if players == 5 else 800)
        shares = (cost.thinking, cost.environment, cost.features)
        table.add_row(
            str(players),
            f"{cost.steps_per_second:,.0f}",
            f"{cost.turns_per_step:.1f}",
            *(f"{share:.0%}" for share in (*shares, 1 - sum(shares))),
        )
    out.print(table)

    out.print(retrieval_memory.table())
    out.print(trust_graph.table())
    knowledge_graph.main()


if __name__ == "__main__":
    main()
