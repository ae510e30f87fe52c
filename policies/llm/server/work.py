"""Work on a request that may be stopped in the middle, because its client has gone; and tokens, which take longest to count.

Tokens are an estimate, the same for the same text everywhere: up to six Latin letters with the blank before them, up to
three digits, up to three signs, or one character of anything else; for each message of a prompt there are four more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Final

Stopped = Callable[[], bool]
"""Whether nobody waits for the work any more."""
_TOKEN: Final = re.compile(r" ?[A-Za-z]{1,6}|[0-9]{1,3}| ?[!-/:-@\[-`{-~]{1,3}|\s+|.", re.DOTALL)
_TOKENS_AT_ONCE: Final = 8192


def never() -> bool:
    """For work that is not stopped."""
    return False


class AbandonedWork(Exception):  # noqa: N818 - what became of the work
    """Nobody waits for it any more."""


def check_wanted(stopped: Stopped) -> None:
    """Raise `AbandonedWork` if nobody waits for the work any more."""
    if stopped():
        raise AbandonedWork


def tokens(text: str) -> list[str]:
    """The text in estimated tokens; joined, they are the text again.

    >>> tokens('{"vote": true}')
    ['{"', 'vote', '":', ' true', '}']
    """
    return _TOKEN.findall(text)


def count_tokens(text: str, stopped: Stopped = never) -> int:
    """How many estimated tokens a text has. Raises `AbandonedWork` if the work is stopped meanwhile."""
    found, count = _TOKEN.finditer(text), 0
    while some := sum(1 for _ in islice(found, _TOKENS_AT_ONCE)):
        check_wanted(stopped)
        count += some
    return count
