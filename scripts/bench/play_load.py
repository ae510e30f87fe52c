"""`play` under load: many games in flight, their players asking an endpoint that takes its time.

What `parlour play --concurrency N` does, in this process: threads that play, one model for all, a transcript for each game.
When the time is up, the games under way end at their next turn. Then nothing may be left: no thread, no open file, no
connection; and memory must have been level. Exit code 1 if not.

python scripts/bench/play_load.py [--minutes 30] [--games 200] [--latency 1.0] [--faults 0.05] [--game werewolf_v0] [--seed 0]
"""

from __future__ import annotations

import argparse
import gc
import os
import signal
import sys
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from time import sleep

from parlour.envs import replay
from parlour.policies import ChatPlayer
from parlour.policies.llm.make import ModelConfig, make_model
from parlour.policies.llm.server.settings import FAULTS
from parlour.training.play import rollout
from parlour.training.play.parallel.concurrent_games import Job
from parlour.training.play.runner import GameRunner
from processes import Usage, Watch, measured, open_files, server


class TimeIsUp(Exception):  # noqa: N818 - nothing went wrong
    """Ends the run, as an interrupt from the keyboard would."""


def time_is_up(*_: object) -> None:
    """The signal's answer."""
    raise TimeIsUp


def played(given: argparse.Namespace, url: str, folder: Path) -> Counter[str]:
    """Play until the time is up; what was counted. The model is nobody's after that, and its connections are closed."""
    limits = {"timeout": 30.0, "concurrency": given.games, "max_retries": 3}
    model = make_model(ModelConfig(model="heuristic", base_url=url, **limits))
    env = rollout.table(given.game)
    seen = Counter[str]()

    def keep(number: int, episode: rollout.Episode) -> None:
        for decision in episode.decisions:
            seen["decisions"] += decision.decisions
            seen["by heuristic"] += sum(decision.heuristic.values())
        file = folder / f"{number}.jsonl"
        seen["whole transcripts"] += replay.read(file).outcome == episode.outcome
        file.unlink()
        seen["games"] += 1

    most = int(given.games + given.minutes * 60 * 50)
    players = (("chat", lambda: ChatPlayer(model)),) * len(env.game_env.possible_agents)
    games = [Job(given.seed + k, players, folder / f"{k}.jsonl") for k in range(most)]
    signal.signal(signal.SIGALRM, time_is_up)
    signal.setitimer(signal.ITIMER_REAL, 60 * given.minutes)
    with suppress(TimeIsUp):
        GameRunner(workers=given.games).play_each(env, games, keep)
    seen["calls"], seen["retries"] = model.meter.total.calls, model.meter.total.retries
    return seen


def main() -> None:
    """Play, and print what was held on the way and is left at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("minutes", 30.0), ("games", 200), ("latency", 1.0), ("faults", 0.05), ("seed", 0)):
        parser.add_argument(f"--{name}", type=type(default), default=default)
    parser.add_argument("--game", default="werewolf_v0")
    given = parser.parse_args()
    rates = ",".join(f"{kind}={given.faults / len(FAULTS)}" for kind in FAULTS)
    options = ("--fault", rates, "--latency", str(given.latency), "--hang", "3", "--seed", str(given.seed))
    with server(*options) as (url, pid), tempfile.TemporaryDirectory() as folder:
        before = measured(os.getpid())
        with Watch("server", pid) as serving, Watch("play", os.getpid()) as playing:
            seen = played(given, url, Path(folder))
        gc.collect()
        after = settled(before)
    show(seen, (playing, serving), before, after, given)


def settled(before: Usage) -> Usage:
    """What is held once everything has had five seconds to end."""
    for _ in range(50):
        after = measured(os.getpid())
        if after.threads <= before.threads and after.files <= before.files:
            break
        sleep(0.1)
    return after


def show(
    seen: Counter[str], watches: tuple[Watch, Watch], before: Usage, after: Usage, given: argparse.Namespace
) -> None:
    """Print, and leave with 1 if anything is not as it should be."""
    print(
        f"{given.games} games in flight, {given.minutes:g} minutes: " + ", ".join(f"{k} {n}" for k, n in seen.items())
    )
    for watch in watches:
        watch.show()
    left = after.threads - before.threads, after.files - before.files
    names = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    files = open_files(os.getpid()) if left[1] > 0 else ""
    print(f"left at the end: {left[0]} threads {names or ''}, {left[1]} open files {files}")
    whole = seen["whole transcripts"] >= seen["games"] > 0
    print("every finished game was kept whole" if whole else "NO GAME WAS FINISHED, OR ONE WAS NOT KEPT WHOLE")
    sys.exit(0 if whole and left[0] <= 0 and left[1] <= 0 and all(watch.level for watch in watches) else 1)


if __name__ == "__main__":
    main()
