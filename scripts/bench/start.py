"""How long commands take to start: processor seconds of whole processes, beside `import gymnasium`.

python scripts/bench/start.py [--rounds N]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from functools import partial
from tempfile import TemporaryDirectory
from typing import Final

from timing import in_rounds, show_table

COMMANDS: Final = ("--help", "list", "play --help", "play avalon_v0")


def processor_seconds(arguments: list[str], folder: str) -> float:
    """User and system time of one run of Python with these arguments, in a folder of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(rounds: int) -> None:
    """Print the times."""
    with TemporaryDirectory() as folder:
        runs = {f"parlour {words}": ["-m", "parlour.training.cli", *words.split()] for words in COMMANDS}
        runs["import gymnasium"] = ["-c", "import gymnasium"]
        took = in_rounds(
            {name: partial(processor_seconds, words, folder) for name, words in runs.items()}, range(rounds)
        )
    rows = [(name, *(f"{second:.2f}" for second in spread)) for name, spread in took.items()]
    show_table("processor seconds to start", ("command", "least", "median", "most"), rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="runs of each command; 20")
    main(parser.parse_args().rounds)
