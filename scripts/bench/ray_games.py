"""Print how long games of Avalon take in one process and with Ray. Usage: python scripts/bench/ray_games.py [--games N] [--kill]"""

import argparse
import os
import signal
import sys
import time

from parlour.policies import HeuristicPolicy
from parlour.training.measure import evaluate
from parlour.training.play import seeds
from parlour.training.play.parallel.ray.pool import connect
from parlour.training.play.rollout import table
from parlour.training.play.runner import GameRunner


def main() -> None:
    """Measure and print; the exit code is 1 if the tables differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--players", type=int, default=6, help="5 to 10; as `parlour evaluate avalon_v0` plays them")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kill", action="store_true", help="kill a worker a third of the way")
    chosen = parser.parse_args()
    killed: list[int] = []

    def measure(pool=None, worker=0):
        def progress(_stage, done, _note=""):
            if done == chosen.games // 3 and worker:
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)

        env, rule = table("avalon_v0", num_players=chosen.players), HeuristicPolicy
        began = time.perf_counter()
        deals = seeds.HELD_OUT[: chosen.games]
        report = evaluate.single(
            env, {"heuristic": rule}, ("heuristic", rule), deals, GameRunner(pool=pool, progress=progress)
        )
        return report, time.perf_counter() - began

    single, alone = measure()
    began = time.perf_counter()
    with connect("local", chosen.workers) as pool:
        started = time.perf_counter() - began
        worker = pool.submit(os.getpid).result() if chosen.kill else 0
        parallel, by_ray = measure(pool, worker)
    whole = time.perf_counter() - began
    print(f"{chosen.games} games of {chosen.players} heuristics; {chosen.workers} workers, {os.cpu_count()} cores")
    for what, seconds in (("one process", alone), ("Ray, once it runs", by_ray), ("Ray, from start to end", whole)):
        print(f"{what:24}{seconds:8.1f} s {chosen.games / seconds:8.1f} games/s   ratio {seconds / alone:.2f}")
    print(f"start of Ray {started:.1f} s; workers killed: {len(killed)}; tables identical: {single == parallel}")
    sys.exit(single != parallel or chosen.kill != bool(killed))


if __name__ == "__main__":
    main()
