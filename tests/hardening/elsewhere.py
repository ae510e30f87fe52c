"""The same game in another process with other hashes, told by a digest. Run as `python -m hardening.elsewhere`: a request a line."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from hardening.forms import form_of
from hardening.games import table_of
from hardening.walks import Walk


def digest(walk: Walk, seed: int) -> str:
    """Of all that a walk shows."""
    steps = [walk.start(seed), *walk.play()]
    return hashlib.sha256("\n".join(steps).encode("utf-8", "surrogatepass")).hexdigest()


def elsewhere(hash_seed: str, subject: str, form: str, seed: int, steps: int) -> str:
    """The digest of the walk in a process with this PYTHONHASHSEED, which is started at the first call; or what it raised."""
    process = _process(hash_seed)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps([subject, form, seed, steps]) + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


@cache
def _process(hash_seed: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-W", "ignore", "-m", "hardening.elsewhere"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def _serve() -> None:
    for line in sys.stdin:
        subject, form, seed, steps = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            try:
                table = table_of(subject)
                print(digest(Walk(form_of(table, form), table, Path(folder), steps), seed), flush=True)
            except Exception as error:  # whatever the game raises
                print(f"{type(error).__name__}: {' '.join(str(error).split())}", flush=True)


if __name__ == "__main__":
    _serve()
