"""Runs commands in forks of a process that has imported them: a start takes milliseconds in place of seconds.

Started as `python -m tests.hardening.fork_server MODULE ...`; reads requests from standard input, a JSON object a line, and
answers each with a line. The command runs in a session of its own, and may be killed or refused room at a chosen place (`disk`).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module
from typing import Any, TextIO

from tests.hardening import disk

LIMIT = 240.0
"""Seconds after which a command is killed whatever was asked for; told as `hung`."""
_LOOK = 0.002  # seconds between two looks at a command


def serve(requests: TextIO, answers: TextIO) -> None:
    """Answer requests until there are no more: `{main, words, folder, log, place?, number?, seconds?}` each.

    `main` is `module:function`, called with `words`; `folder` is where it writes. `place`, `number` and `log` are those of
    `disk.strike_at`; `seconds`: kill it then. The answer holds the exit `code` (negative: the signal that ended it), the
    `seconds` it took, whether it `hung`, and what it `said` on standard error; standard output is dropped.
    """
    for line in requests:
        request = json.loads(line)
        hears, speaks = os.pipe()  # no file, which a limit of size would cut off
        number = os.fork()
        if not number:
            _run(request, speaks)
        os.close(speaks)
        answers.write(json.dumps(_watched(number, hears, request.get("seconds"))) + "\n")
        answers.flush()


def _run(request: dict[str, Any], speaks: int) -> None:
    """In the fork; ends it."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for wanted, opened in ((0, nothing), (1, nothing), (2, speaks)):
        os.dup2(opened, wanted)
    if request.get("place"):
        disk.strike_at(request["place"], request.get("number", 0), request["folder"], request["log"])
    module, _, function = request["main"].partition(":")
    getattr(import_module(module), function)(request["words"])
    sys.exit(0)


def _watched(number: int, hears: int, seconds: float | None) -> dict[str, Any]:
    begun, hung, said = time.monotonic(), False, b""
    os.set_blocking(hears, False)
    while not (ended := os.waitpid(number, os.WNOHANG))[0]:
        passed = time.monotonic() - begun
        if passed > LIMIT or (seconds is not None and passed > seconds):
            hung, seconds = hung or passed > LIMIT, None
            os.kill(number, signal.SIGKILL)
        said += _heard(hears)
        time.sleep(_LOOK)
    with suppress(ProcessLookupError):  # processes that it had started
        os.killpg(number, signal.SIGKILL)
    said += _heard(hears)
    os.close(hears)
    result = {"code": os.waitstatus_to_exitcode(ended[1]), "seconds": time.monotonic() - begun, "hung": hung}
    return {**result, "said": said.decode("utf-8", "replace")}


def _heard(hears: int) -> bytes:
    said = b""
    with suppress(BlockingIOError):
        while content := os.read(hears, 65536):
            said += content
    return said


if __name__ == "__main__":
    for name in sys.argv[1:]:
        import_module(name)
    serve(sys.stdin, sys.stdout)
