"""Make the results of the players that come with parlour again: python plugins/bench/scripts/benchmark_rows.py [SUITE-PLAYER ...]

Run it after a change of the suites, the games or the players; tests/test_benchmark.py of the plugin compares docs/score.md with them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Final

from parlour.envs.common.terminal import tell
from parlour_bench.played import Candidate
from parlour_bench.results_file import REFERENCE_PLAYERS, RESULTS, reference_file
from parlour_bench.run import benchmark
from parlour_bench.suite import SUITES

TRAINED: Final = Candidate("expert", "heuristic")

wanted = sys.argv[1:] or [f"{suite}-{player}" for suite in SUITES for player in REFERENCE_PLAYERS]
for name in wanted:
    suite, _, player = name.partition("-")
    candidate = TRAINED if player == "trained" else Candidate(player)
    called = " or ".join(filter(None, (candidate.policy, candidate.otherwise)))
    with TemporaryDirectory() as folder:
        benchmark(SUITES[suite], candidate, Path(folder) / "run", called)
        copyfile(Path(folder) / "run" / RESULTS, reference_file(SUITES[suite], player))
    tell(f"{name}: made")
